//! An HTTP request on its way out: rendered, put on a connection of the user or on a new one, sent. Hot.
//!
//! A request that cannot vary is rendered once per core; cookies are put in where a user has some.

use plan::http::{Http, Request, show_lines};
use plan::plan::{Needs, SamplerId};
use plan::text::Thrown;
use stats::Counter;
use wire::cookie::Origin;
use wire::http1::{Decoder, Limits};

use crate::context::Context;
use crate::http::assemble::{Added, assemble};
use crate::http::cache::Lookup;
use crate::http::conn::{ConnId, Exchange, Stash, State};
use crate::http::requests::Requests;
use crate::http::{cache, credentials, failure, file, names, tunnel};
use crate::ids::UserId;
use crate::net::outcome::Failure;
use crate::net::routes::RouteId;
use crate::net::transport::Unwritten;
use crate::time::clock::{MS, Nanos};
use crate::users::Wait;

/// A request that never changes.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) request: Request,
    /// As sent, without cookies.
    pub(crate) bytes: Vec<u8>,
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
    /// It can be taken from the fixed requests again.
    repeatable: bool,
    /// An answer that asks for credentials is answered.
    challenges: bool,
}

/// A request that goes out on a kept connection.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) exchange: Exchange,
    pub(crate) stash: Option<Box<Stash>>,
    pub(crate) bytes: &'a [u8],
}

impl Requests {
    /// Puts the request of a user's sampler together and sends it.
    pub(crate) fn begin(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        http: &Http,
    ) -> Begun {
        self.refresh_user(cx, index);
        let slot = id.0 as usize;
        if self.fixed[slot].is_none() && http.is_fixed() {
            let mut request = Request::default();
            if cx.with_env(index, id, |env, _| http.render(env, &mut request)).is_ok() {
                let route = tunnel::route_of(cx, &request);
                let mut bytes = Vec::new();
                assemble(&request, &Added::default(), &mut bytes);
                self.fixed[slot] = Some(Box::new(Fixed { request, bytes, route }));
            }
        }
        // What scripts made of a request is never fixed, whatever the plan's is.
        if http.is_fixed()
            && let Some(fixed) = self.fixed[slot].take()
        {
            names::begin(cx, index, id, false);
            if failure::fails_by_exception(cx, index, id, None) {
                self.fixed[slot] = Some(fixed);
                return Begun::UnderWay;
            }
            let mut begun = Begun::UnderWay;
            if !http.is_plain() || cx.run.settings.proxy.server.is_some() {
                begun = self.send_rendered(cx, index, id, http, &fixed.request);
            } else if self.cookie_line(cx, index, http, &fixed.request) {
                let named = Some(&fixed.request).filter(|request| !request.java);
                if failure::fails_by_exception(cx, index, id, named) {
                    self.fixed[slot] = Some(fixed);
                    return Begun::UnderWay;
                }
                let mut out = std::mem::take(&mut cx.net.out);
                let cookies = std::mem::take(&mut self.cookie_line);
                let added = Added { cookies: Some(&cookies), ..Added::default() };
                assemble(&fixed.request, &added, &mut out);
                let sending = Sending {
                    bytes: &out,
                    cookies: &cookies,
                    route: fixed.route,
                    repeatable: false,
                    challenges: false,
                };
                self.dispatch(cx, index, id, http, &fixed.request, sending);
                self.cookie_line = cookies;
                cx.net.out = out;
            } else {
                let sending = Sending {
                    bytes: &fixed.bytes,
                    cookies: b"",
                    route: fixed.route,
                    repeatable: true,
                    challenges: false,
                };
                self.dispatch(cx, index, id, http, &fixed.request, sending);
            }
            self.fixed[slot] = Some(fixed);
            return begun;
        }
        let mut request = std::mem::take(&mut self.request);
        let rendered = cx.with_env(index, id, |env, _| http.render(env, &mut request));
        if failure::fails_by_exception(cx, index, id, Some(&request)) {
            self.request = request;
            return Begun::UnderWay;
        }
        let problem = rendered.as_ref().err();
        if problem.is_none_or(|problem| !problem.no_url) {
            names::begin(cx, index, id, problem.is_some_and(|problem| problem.no_client));
            if failure::fails_by_exception(cx, index, id, None) {
                self.request = request;
                return Begun::UnderWay;
            }
        }
        let begun = match rendered {
            Ok(()) => self.send_rendered(cx, index, id, http, &request),
            Err(problem) => {
                cx.result.clear();
                if !problem.no_url && !problem.no_client {
                    cx.result.url.push_str(&request.url);
                    cx.result.method.push_str(&request.method);
                    if cx.plan.samplers[id.0 as usize].needs.contains(Needs::SAMPLER_DATA) {
                        request.query_string.clear();
                        request.write_sampler_data("", &mut cx.result.sampler_data);
                    }
                    if request.java {
                        plan::http::show_set_lines(&request, &mut cx.result.request_headers);
                    }
                }
                failure::unsendable(
                    cx,
                    index,
                    id,
                    &problem.code,
                    &problem.message,
                    !problem.no_url,
                );
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
        index: UserId,
        id: SamplerId,
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
            repeatable: false,
            challenges,
        };
        self.dispatch(cx, index, id, http, request, sending);
        self.cookie_line = cookies;
        cx.net.out = out;
        Begun::UnderWay
    }

    /// Sends `bytes` on a connection of the user, or opens one for them.
    fn dispatch(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        http: &Http,
        request: &Request,
        sending: Sending<'_>,
    ) {
        let Sending { bytes, cookies, route, repeatable, challenges } = sending;
        let needs = cx.plan.samplers[id.0 as usize].needs;
        let observed = cx.observes(id);
        let user = &cx.users[index];
        let start = cx.clock.now();
        let intended = user.intended;
        let redirected = user.extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
        let exchange = Exchange {
            intended,
            start,
            limit: Nanos::from(request.response_timeout_ms) * MS,
            connect_limit: Nanos::from(request.connect_timeout_ms) * MS,
            is_head: request.method == "HEAD",
            java: request.java,
            // JMeter counts from the end of sending, and Java's own client shows nothing of them.
            interim_uncounted: request.java || request.expects_continue,
            want_keep_alive: request.keep_alive,
            keep_head: observed,
            keep_body: needs.intersects(Needs::BODY | Needs::TEXT),
            parse: needs.contains(Needs::PAGE),
            digest: http.md5,
            // Followed by HttpClient itself, redirects never reach the sampler.
            follow: request.follow_redirects && !request.auto_redirects,
            auto_follow: request.auto_redirects,
            cookies: http.cookies.is_some(),
            challenges,
            caches: http.cache.is_some() && cache::may_be_cached(cx, &request.method),
            ..Exchange::NONE
        };
        let connection = self.conns.idle_connection(cx, index, route, request.java, start);
        let needs_stash = observed
            || redirected
            || connection.is_none()
            || !repeatable
            || request.follow_redirects
            || request.auto_redirects
            || !request.connection_fault.is_empty();
        let stash = needs_stash.then(|| {
            let mut stash = self.conns.stashes.take();
            stash.url.push_str(&request.url);
            stash.method.push_str(&request.method);
            stash.connection_fault.push_str(&request.connection_fault);
            if needs.contains(Needs::REQUEST_HEADERS) || exchange.caches {
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
            if connection.is_none() || !repeatable {
                stash.request.extend_from_slice(bytes);
            }
            stash
        });
        let Some(conn) = connection else {
            return self.open(cx, index, id, route, exchange, stash.unwrap_or_default());
        };
        self.send_on(cx, index, id, conn, Outgoing { exchange, stash, bytes });
    }

    /// Sends `bytes` on a kept connection of the user.
    pub(crate) fn send_on(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        conn: ConnId,
        Outgoing { exchange, stash, bytes }: Outgoing<'_>,
    ) {
        cx.recorder.add(Counter::ConnReused, 1);
        let entry = &mut self.conns[conn];
        entry.exchange = Exchange { reused: true, ..exchange };
        entry.opening.set_own(0);
        entry.stash = stash;
        entry.state = State::Busy;
        self.conns.remember(cx, index, conn);
        cx.users[index].wait = Wait::Exchange(id);
        if self.conns[conn].transport.fd.is_none() {
            return self.fail(cx, conn, &Failure::Http(wire::http1::Error::NoResponse));
        }
        self.transmit(cx, conn, bytes);
    }

    /// Sends a request on an established connection.
    pub(crate) fn transmit(&mut self, cx: &mut Context<'_>, conn: ConnId, bytes: &[u8]) {
        let limits = Limits::default();
        let entry = &mut self.conns[conn];
        entry.decoder = Decoder::new(entry.exchange.is_head, limits);
        entry.exchange.sent = bytes.len() as u64;
        cx.recorder.add(Counter::BytesOut, bytes.len() as u64);
        let entry = &mut self.conns[conn];
        let failure = match entry.transport.send(bytes, &mut cx.net.sealed) {
            Ok(_) => None,
            Err(Unwritten::Socket(error)) => Some(Failure::Socket(error)),
            Err(Unwritten::Tls(error)) => Some(Failure::Tls(error)),
        };
        if let Some(failure) = failure {
            return self.fail(cx, conn, &failure);
        }
        let entry = &mut self.conns[conn];
        // Of a reused connection the start is the sending; another look at the clock would only measure itself.
        let first = entry.exchange.reused && !entry.exchange.again;
        let now = if first { entry.exchange.start } else { cx.clock.now() };
        let entry = &mut self.conns[conn];
        entry.exchange.sent_at = now;
        entry.exchange.all_sent = entry.transport.all_sent();
        let (index, limit) = (entry.user, entry.exchange.limit);
        if limit == 0 {
            cx.users[index].limit = Nanos::MAX;
        } else {
            cx.arm(index, now + limit);
        }
    }

    /// Hands bytes to the kernel as they are. False: the exchange has failed.
    pub(crate) fn send_raw(&mut self, cx: &mut Context<'_>, conn: ConnId, bytes: &[u8]) -> bool {
        let sent = self.conns[conn].transport.send_raw(bytes);
        sent.map_err(|error| self.fail(cx, conn, &Failure::Socket(error))).is_ok()
    }

    /// Sends what is left over. False: the exchange has failed.
    pub(crate) fn flush(&mut self, cx: &mut Context<'_>, conn: ConnId) -> bool {
        let sent = self.conns[conn].transport.flush();
        sent.map_err(|error| self.fail(cx, conn, &Failure::Socket(error))).is_ok()
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
