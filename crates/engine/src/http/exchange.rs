//! An HTTP request on its way out: rendered, put on a line of the user or on a new one, sent. Hot.
//!
//! A request that cannot vary is rendered once per core; cookies are put in where a user has some.

use std::sync::Arc;

use plan::http::{Http, Request, Unsendable, show_lines};
use plan::plan::{Needs, SamplerId};
use plan::text::Thrown;
use wire::cookie::Origin;

use crate::context::Context;
use crate::http::assemble::{Added, assemble};
use crate::http::cache::Lookup;
use crate::http::requests::Requests;
use crate::http::{cache, cookies, credentials, failure, file, names, opening, tunnel};
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::session::Sessions;
use crate::session::exchange::{Call, Limit, Rendered};
use crate::session::http1::{HttpCall, HttpExchange, Stash};

/// A request that never changes.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) request: Request,
    /// As sent, without cookies.
    pub(crate) bytes: Arc<Rendered>,
    pub(crate) route: RouteId,
}

/// Beginnings of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// It is under way, or has ended already: a completion says so.
    UnderWay,
    /// The user's cache has the answer, and there is no sample of it.
    LeftOut,
}

/// A request that was put together, on its way to a connection.
#[derive(Clone, Copy, Debug)]
struct Sending<'a> {
    bytes: &'a [u8],
    /// The value of its cookie line.
    cookies: &'a [u8],
    route: RouteId,
    /// The bytes once more, if they are those of a request that never changes.
    fixed: Option<&'a Arc<Rendered>>,
    /// An answer that asks for credentials is answered.
    challenges: bool,
}

impl Requests {
    /// Puts the request of a user's sampler together and sends it.
    pub(crate) fn begin(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        (index, id): (UserId, SamplerId),
        http: &Http,
    ) -> Begun {
        cookies::refresh_user(cx, sessions, index);
        let slot = id.0 as usize;
        if !http.is_fixed() {
            return self.begin_varying(cx, sessions, (index, id), http);
        }
        if self.fixed[slot].is_none() {
            let mut request = Request::default();
            if cx.with_env(index, id, |env, _| http.render(env, &mut request)).is_ok() {
                let route = tunnel::route_of(cx, &request);
                let mut bytes = Vec::new();
                assemble(&request, &Added::default(), &mut bytes);
                let bytes = Arc::new(Rendered(bytes.into()));
                self.fixed[slot] = Some(Box::new(Fixed { request, bytes, route }));
            }
        }
        // What scripts made of a request is never fixed, whatever the plan's is.
        let Some(fixed) = self.fixed[slot].take() else {
            return self.begin_varying(cx, sessions, (index, id), http);
        };
        let begun = self.begin_fixed(cx, sessions, (index, id), http, &fixed);
        self.fixed[slot] = Some(fixed);
        begun
    }

    /// Sends a request that never changes.
    #[inline]
    fn begin_fixed(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        (index, id): (UserId, SamplerId),
        http: &Http,
        fixed: &Fixed,
    ) -> Begun {
        names::begin(cx, index, id, false);
        if failure::fails_by_exception(cx, index, id, None) {
            return Begun::UnderWay;
        }
        let request = &fixed.request;
        if !http.is_plain() || cx.run.settings.proxy.server.is_some() {
            return self.send_rendered(cx, sessions, (index, id), http, request);
        }
        let mut sending = Sending {
            bytes: &fixed.bytes.0,
            cookies: b"",
            route: fixed.route,
            fixed: Some(&fixed.bytes),
            challenges: false,
        };
        if !self.cookie_line(cx, index, http, request) {
            self.dispatch(cx, sessions, (index, id), http, request, sending);
            return Begun::UnderWay;
        }
        let named = Some(request).filter(|request| !request.java);
        if failure::fails_by_exception(cx, index, id, named) {
            return Begun::UnderWay;
        }
        let mut out = std::mem::take(&mut cx.net.out);
        let cookies = std::mem::take(&mut self.cookie_line);
        let added = Added { cookies: Some(&cookies), ..Added::default() };
        assemble(request, &added, &mut out);
        (sending.bytes, sending.cookies, sending.fixed) = (&out, &cookies, None);
        self.dispatch(cx, sessions, (index, id), http, request, sending);
        self.cookie_line = cookies;
        cx.net.out = out;
        Begun::UnderWay
    }

    /// Renders a request and sends it.
    fn begin_varying(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        (index, id): (UserId, SamplerId),
        http: &Http,
    ) -> Begun {
        let mut request = std::mem::take(&mut self.request);
        let rendered = cx.with_env(index, id, |env, _| http.render(env, &mut request));
        let problem = rendered.as_ref().err();
        let named = problem.is_none_or(|problem| !problem.no_url);
        let mut fails = failure::fails_by_exception(cx, index, id, Some(&request));
        if !fails && named {
            names::begin(cx, index, id, problem.is_some_and(|problem| problem.no_client));
            fails = failure::fails_by_exception(cx, index, id, None);
        }
        let begun = match &rendered {
            _ if fails => Begun::UnderWay,
            Ok(()) => self.send_rendered(cx, sessions, (index, id), http, &request),
            Err(problem) => {
                end_unrendered(cx, (index, id), &mut request, problem);
                Begun::UnderWay
            }
        };
        self.request = request;
        begun
    }

    /// Sends a request that was just rendered.
    pub(crate) fn send_rendered(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        (index, id): (UserId, SamplerId),
        http: &Http,
        request: &Request,
    ) -> Begun {
        if request.is_file {
            file::begin_file(cx, index, id, request);
            return Begun::UnderWay;
        }
        let with_cookies = !request.stripped && self.cookie_line(cx, index, http, request);
        // Out of Java's own client it comes before the sample has a name.
        if failure::fails_by_exception(cx, index, id, Some(request).filter(|request| !request.java))
        {
            return Begun::UnderWay;
        }
        let cookies = std::mem::take(&mut self.cookie_line);
        let mut out = std::mem::take(&mut cx.net.out);
        let cookie_line = with_cookies.then_some(&cookies[..]);
        let lookup =
            http.cache.map(|manager| cache::look_up(cx, index, manager, request, cookie_line));
        let conditions = match &lookup {
            Some(Lookup::Fresh) => {
                let cookies_sent = cookie_line.unwrap_or_default();
                let begun = cache::answer_from_cache(cx, index, id, request, cookies_sent);
                (self.cookie_line, cx.net.out) = (cookies, out);
                return begun;
            }
            Some(Lookup::Send(conditions)) => Some(conditions).filter(|some| !some.is_empty()),
            None => None,
        };
        let route = tunnel::route_of(cx, request);
        let forwarded = tunnel::is_forwarded(cx, route);
        assemble(request, &Added { conditions, cookies: cookie_line, forwarded }, &mut out);
        let challenges =
            credentials::add_credentials(cx, index, id, http, request, route, &mut out);
        let sending = Sending {
            bytes: &out,
            cookies: cookie_line.unwrap_or_default(),
            route,
            fixed: None,
            challenges,
        };
        self.dispatch(cx, sessions, (index, id), http, request, sending);
        self.cookie_line = cookies;
        cx.net.out = out;
        Begun::UnderWay
    }

    /// Sends a request on an idle line of the user, or opens one for it.
    fn dispatch(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        (index, id): (UserId, SamplerId),
        http: &Http,
        request: &Request,
        sending: Sending<'_>,
    ) {
        let start = cx.clock.now();
        let (place, route) = (self.place(cx, index, request.java), sending.route);
        let line = opening::idle_line(cx, sessions, index, (place, route), start);
        let ticket = sessions.exchange(index, id);
        let exchange = &mut sessions.exchanges[ticket];
        (exchange.place, exchange.route) = (place, route);
        exchange.start = start;
        exchange.limit = Limit::of_ms(request.response_timeout_ms);
        exchange.connect_limit = Limit::of_ms(request.connect_timeout_ms);
        exchange.call.make_http();
        let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else { return };
        *facts = facts_of(cx, id, http, request, &sending);
        *stash = None;
        if !facts.fixed || !request.connection_fault.is_empty() {
            let needs = cx.plan.samplers[id.0 as usize].needs;
            let stash = stash.insert(sessions.stashes.take());
            show(stash, needs, facts, request, (sending.bytes, sending.cookies));
        }
        match sending.fixed {
            Some(fixed) if line.is_none() => exchange.fixed = Some(fixed.clone()),
            Some(_) => {}
            None => exchange.request.extend_from_slice(sending.bytes),
        }
        match line {
            Some(line) => sessions.start_on(&mut cx.around(), ticket, line, sending.bytes),
            None => opening::open(cx, sessions, ticket, 0),
        }
    }

    /// Shows a request that never changes beside what came of it. Until then nothing of it is kept for each user.
    pub(super) fn show_fixed(
        &self,
        cx: &Context<'_>,
        id: SamplerId,
        facts: &HttpExchange,
        stash: &mut Stash,
    ) {
        if let Some(fixed) = self.fixed[id.0 as usize].as_deref().filter(|_| stash.url.is_empty()) {
            let needs = cx.plan.samplers[id.0 as usize].needs;
            show(stash, needs, facts, &fixed.request, (&fixed.bytes.0, b""));
        }
    }

    /// Writes the user's cookies for a request into `self.cookie_line`. False: there are none.
    pub(crate) fn cookie_line(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        http: &Http,
        request: &Request,
    ) -> bool {
        let Some(manager) = http.cookies else { return false };
        let index = cx.jar_around(index, manager);
        let now_ms = cx.clock.wall_ms(cx.clock.now());
        self.cookie_line.clear();
        let Some(jar) = cx.jar(index, manager) else { return false };
        let mut line = std::mem::take(&mut self.cookie_line);
        let path = &request.target[..request.path_len.min(request.target.len())];
        let origin = Origin { host: &request.host, path, secure: request.secure };
        let jar = match cx.users[index].extra.as_mut() {
            Some(extra) => extra.jars[jar].as_mut(),
            None => None,
        };
        let any = if request.java {
            let any = jar.is_some_and(|jar| jar.header_as_it_is(&origin, now_ms, &mut line));
            if ends_header(&line) {
                let words = "Illegal character(s) in message header value";
                let value = String::from_utf8_lossy(&line);
                let thrown =
                    Thrown::new("java.lang.IllegalArgumentException", format!("{words}: {value}"));
                cx.texts.thrown = Some(thrown);
            }
            any
        } else {
            jar.is_some_and(|jar| jar.header(&origin, now_ms, &mut line))
        };
        self.cookie_line = line;
        any
    }
}

/// Whether Java's own client refuses a header's value: a line end in it is not followed by a blank.
fn ends_header(value: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', value).any(|at| !matches!(value.get(at + 1), Some(b' ' | b'\t')))
        || memchr::memchr(b'\r', value).is_some()
}

/// The facts of a request that decide what becomes of its answer.
#[inline]
fn facts_of(
    cx: &Context<'_>,
    id: SamplerId,
    http: &Http,
    request: &Request,
    sending: &Sending<'_>,
) -> HttpExchange {
    let needs = cx.plan.samplers[id.0 as usize].needs;
    HttpExchange {
        is_head: request.method == "HEAD",
        java: request.java,
        // JMeter counts from the end of sending, and Java's own client shows nothing of them.
        interim_uncounted: request.java || request.expects_continue,
        want_keep_alive: request.keep_alive,
        keep_head: cx.observes(id) || cx.run.settings.http.record_header.is_some(),
        keep_body: needs.intersects(Needs::BODY | Needs::TEXT),
        parse: needs.contains(Needs::PAGE),
        digest: http.md5,
        // Followed by HttpClient itself, redirects never reach the sampler.
        follow: request.follow_redirects && !request.auto_redirects,
        auto_follow: request.auto_redirects,
        cookies: http.cookies.is_some(),
        challenges: sending.challenges,
        fixed: sending.fixed.is_some(),
        caches: http.cache.is_some() && cache::may_be_cached(cx, &request.method),
        ..HttpExchange::NONE
    }
}

/// Notes of a request what is shown of it.
fn show(
    stash: &mut Stash,
    needs: Needs,
    facts: &HttpExchange,
    request: &Request,
    (bytes, cookies): (&[u8], &[u8]),
) {
    stash.url.push_str(&request.url);
    stash.method.push_str(&request.method);
    stash.connection_fault.push_str(&request.connection_fault);
    if needs.contains(Needs::REQUEST_HEADERS) || facts.caches {
        if request.java {
            plan::http::show_set_lines(request, &mut stash.request_headers);
            crate::http::basic::show(bytes, &mut stash.request_headers);
        } else {
            show_lines(bytes, &mut stash.request_headers);
        }
    }
    if needs.contains(Needs::SAMPLER_DATA) {
        stash.cookies.push_str(&String::from_utf8_lossy(cookies));
        if cookies.is_empty() {
            request.write_own_cookie(&mut stash.cookies);
        }
        stash.query_string.push_str(&request.query_string);
        request.write_sampler_data(&stash.cookies, &mut stash.sampler_data);
    }
}

/// Ends the sample of a request that could not be rendered.
fn end_unrendered(
    cx: &mut Context<'_>,
    (index, id): (UserId, SamplerId),
    request: &mut Request,
    problem: &Unsendable,
) {
    cx.result.clear();
    if !problem.no_url && !problem.no_client {
        cx.result.url.push_str(&request.url);
        cx.result.method.push_str(&request.method);
        if cx.plan.samplers[id.0 as usize].needs.contains(Needs::SAMPLER_DATA) {
            request.query_string.clear();
            request.write_sampler_data("", &mut cx.result.sampler_data);
        }
        if request.java {
            plan::http::show_set_lines(request, &mut cx.result.request_headers);
        }
    }
    failure::unsendable(cx, index, id, &problem.code, &problem.message, !problem.no_url);
}
