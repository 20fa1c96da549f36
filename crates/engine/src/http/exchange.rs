//! An HTTP request on its way out: rendered, put on a connection of the user or on a new one, sent. Hot.
//!
//! A request that cannot vary is rendered once per core; cookies are put in where a user has some.

use plan::http::{Http, Request, show_lines};
use plan::plan::{Needs, SamplerId};
use plan::text::Thrown;
use stats::Counter;
use wire::cookie::Origin;
use wire::http1::{Decoder, Limits};

use crate::core::Core;
use crate::http::assemble::{Added, assemble};
use crate::http::cache::Lookup;
use crate::http::conn::ConnId;
use crate::http::conn::{Exchange, Stash, State};
use crate::http::names;
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

/// How a request goes out.
#[derive(Clone, Copy, Debug)]
struct Sending {
    /// It can be taken from the fixed requests again.
    repeatable: bool,
    /// An answer that asks for credentials is answered.
    challenges: bool,
}

impl Core<'_> {
    pub(crate) fn begin_http(&mut self, index: UserId, id: SamplerId, http: &Http) {
        self.refresh_user(index);
        let slot = id.0 as usize;
        if self.http.fixed[slot].is_none() && http.is_fixed() {
            let mut request = Request::default();
            if self.cx.with_env(index, id, |env, _| http.render(env, &mut request)).is_ok() {
                let route = self.route_of(&request);
                let mut bytes = Vec::new();
                assemble(&request, &Added::default(), &mut bytes);
                self.http.fixed[slot] = Some(Box::new(Fixed { request, bytes, route }));
            }
        }
        // What scripts made of a request is never fixed, whatever the plan's is.
        if http.is_fixed()
            && let Some(fixed) = self.http.fixed[slot].take()
        {
            names::begin(&mut self.cx, index, id, false);
            if self.fails_by_exception(index, id, None) {
                self.http.fixed[slot] = Some(fixed);
                return;
            }
            if !http.is_plain() || self.cx.run.settings.proxy.is_some() {
                self.send_rendered(index, id, http, &fixed.request);
            } else if self.cookie_line(index, http, &fixed.request) {
                let named = Some(&fixed.request).filter(|request| !request.java);
                if self.fails_by_exception(index, id, named) {
                    self.http.fixed[slot] = Some(fixed);
                    return;
                }
                let mut out = std::mem::take(&mut self.cx.net.out);
                let cookies = std::mem::take(&mut self.http.cookie_line);
                let added = Added { cookies: Some(&cookies), ..Added::default() };
                assemble(&fixed.request, &added, &mut out);
                self.dispatch(
                    index,
                    id,
                    http,
                    &fixed.request,
                    (&out, &cookies),
                    fixed.route,
                    Sending { repeatable: false, challenges: false },
                );
                self.http.cookie_line = cookies;
                self.cx.net.out = out;
            } else {
                self.dispatch(
                    index,
                    id,
                    http,
                    &fixed.request,
                    (&fixed.bytes, b""),
                    fixed.route,
                    Sending { repeatable: true, challenges: false },
                );
            }
            self.http.fixed[slot] = Some(fixed);
            return;
        }
        let mut request = std::mem::take(&mut self.http.request);
        let rendered = self.cx.with_env(index, id, |env, _| http.render(env, &mut request));
        if self.fails_by_exception(index, id, Some(&request)) {
            self.http.request = request;
            return;
        }
        let problem = rendered.as_ref().err();
        if problem.is_none_or(|problem| !problem.no_url) {
            names::begin(&mut self.cx, index, id, problem.is_some_and(|problem| problem.no_client));
            if self.fails_by_exception(index, id, None) {
                self.http.request = request;
                return;
            }
        }
        match rendered {
            Ok(()) => self.send_rendered(index, id, http, &request),
            Err(problem) => {
                self.cx.result.clear();
                if !problem.no_url && !problem.no_client {
                    self.cx.result.url.push_str(&request.url);
                    self.cx.result.method.push_str(&request.method);
                    if self.cx.plan.samplers[id.0 as usize].needs.contains(Needs::SAMPLER_DATA) {
                        request.query_string.clear();
                        request.write_sampler_data("", &mut self.cx.result.sampler_data);
                    }
                    if request.java {
                        plan::http::show_set_lines(&request, &mut self.cx.result.request_headers);
                    }
                }
                self.unsendable(index, id, &problem.code, &problem.message, !problem.no_url);
            }
        }
        self.http.request = request;
    }

    /// Sends a request that was just rendered.
    pub(crate) fn send_rendered(
        &mut self,
        index: UserId,
        id: SamplerId,
        http: &Http,
        request: &Request,
    ) {
        if request.is_file {
            return self.begin_file(index, id, request);
        }
        let with_cookies = !request.stripped && self.cookie_line(index, http, request);
        // Out of Java's own client it comes before the sample has a name.
        if self.fails_by_exception(index, id, Some(request).filter(|request| !request.java)) {
            return;
        }
        let cookies = std::mem::take(&mut self.http.cookie_line);
        let mut out = std::mem::take(&mut self.cx.net.out);
        let cookie_line = with_cookies.then_some(&cookies[..]);
        let lookup = http.cache.map(|manager| self.look_up(index, manager, request, cookie_line));
        let conditions = match &lookup {
            Some(Lookup::Fresh) => {
                self.answer_from_cache(index, id, request, cookie_line.unwrap_or_default());
                (self.http.cookie_line, self.cx.net.out) = (cookies, out);
                return;
            }
            Some(Lookup::Send(conditions)) => Some(conditions).filter(|some| !some.is_empty()),
            None => None,
        };
        let route = self.route_of(request);
        let forwarded = self.is_forwarded(route);
        assemble(request, &Added { conditions, cookies: cookie_line, forwarded }, &mut out);
        let challenges = self.add_credentials(index, id, http, request, route, &mut out);
        self.dispatch(
            index,
            id,
            http,
            request,
            (&out, cookie_line.unwrap_or_default()),
            route,
            Sending { repeatable: false, challenges },
        );
        self.http.cookie_line = cookies;
        self.cx.net.out = out;
    }

    /// Sends `bytes` on a connection of the user, or opens one for them.
    #[allow(clippy::too_many_arguments)] // One call, told apart by one flag.
    fn dispatch(
        &mut self,
        index: UserId,
        id: SamplerId,
        http: &Http,
        request: &Request,
        (bytes, cookies): (&[u8], &[u8]),
        route: RouteId,
        Sending { repeatable, challenges }: Sending,
    ) {
        let needs = self.cx.plan.samplers[id.0 as usize].needs;
        let observed = self.cx.observes(id);
        let user = &self.cx.users[index];
        let start = self.cx.clock.now();
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
            caches: http.cache.is_some() && self.may_be_cached(&request.method),
            ..Exchange::NONE
        };
        let connection = self.idle_connection(index, route, request.java, start);
        let needs_stash = observed
            || redirected
            || connection.is_none()
            || !repeatable
            || request.follow_redirects
            || request.auto_redirects
            || !request.connection_fault.is_empty();
        let stash = needs_stash.then(|| {
            let mut stash = self.http.stashes.pop().unwrap_or_default();
            stash.clear();
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
            return self.open(index, id, route, exchange, stash.unwrap_or_default());
        };
        self.send_on(index, id, conn, exchange, stash, bytes);
    }

    /// Sends `bytes` on a kept connection of the user.
    pub(crate) fn send_on(
        &mut self,
        index: UserId,
        id: SamplerId,
        conn: ConnId,
        exchange: Exchange,
        stash: Option<Box<Stash>>,
        bytes: &[u8],
    ) {
        self.cx.recorder.add(Counter::ConnReused, 1);
        let entry = &mut self.http.conns[conn];
        entry.exchange = Exchange { reused: true, ..exchange };
        entry.opening.set_own(0);
        entry.stash = stash;
        entry.state = State::Busy;
        self.remember(index, conn);
        self.cx.users[index].wait = Wait::Exchange(id);
        if self.http.conns[conn].transport.fd.is_none() {
            return self.fail(conn, &Failure::Http(wire::http1::Error::NoResponse));
        }
        self.transmit(conn, bytes);
    }

    /// Sends a request on an established connection.
    pub(crate) fn transmit(&mut self, conn: ConnId, bytes: &[u8]) {
        let limits = Limits::default();
        let entry = &mut self.http.conns[conn];
        entry.decoder = Decoder::new(entry.exchange.is_head, limits);
        entry.exchange.sent = bytes.len() as u64;
        self.cx.recorder.add(Counter::BytesOut, bytes.len() as u64);
        let entry = &mut self.http.conns[conn];
        let failure = match entry.transport.send(bytes, &mut self.cx.net.sealed) {
            Ok(_) => None,
            Err(Unwritten::Socket(error)) => Some(Failure::Socket(error)),
            Err(Unwritten::Tls(error)) => Some(Failure::Tls(error)),
        };
        if let Some(failure) = failure {
            return self.fail(conn, &failure);
        }
        let entry = &mut self.http.conns[conn];
        // Of a reused connection the start is the sending; another look at the clock would only measure itself.
        let first = entry.exchange.reused && !entry.exchange.again;
        let now = if first { entry.exchange.start } else { self.cx.clock.now() };
        let entry = &mut self.http.conns[conn];
        entry.exchange.sent_at = now;
        let (index, limit) = (entry.user, entry.exchange.limit);
        if limit == 0 {
            self.cx.users[index].limit = Nanos::MAX;
        } else {
            self.cx.arm(index, now + limit);
        }
    }

    /// Hands bytes to the kernel as they are. False: the exchange has failed.
    pub(crate) fn send_raw(&mut self, conn: ConnId, bytes: &[u8]) -> bool {
        let sent = self.http.conns[conn].transport.send_raw(bytes);
        sent.map_err(|error| self.fail(conn, &Failure::Socket(error))).is_ok()
    }

    /// Sends what is left over. False: the exchange has failed.
    pub(crate) fn flush(&mut self, conn: ConnId) -> bool {
        let sent = self.http.conns[conn].transport.flush();
        sent.map_err(|error| self.fail(conn, &Failure::Socket(error))).is_ok()
    }

    /// Writes the user's cookies for a request into `self.http.cookie_line`. False: there are none.
    pub(crate) fn cookie_line(&mut self, index: UserId, http: &Http, request: &Request) -> bool {
        let Some(manager) = http.cookies else { return false };
        let index = self.cx.jar_around(index, manager);
        let now_ms = self.cx.clock.wall_ms(self.cx.clock.now());
        self.http.cookie_line.clear();
        let Some(jar) = self.cx.jar(index, manager) else { return false };
        let mut line = std::mem::take(&mut self.http.cookie_line);
        let path = &request.target[..request.path_len.min(request.target.len())];
        let origin = Origin { host: &request.host, path, secure: request.secure };
        let jar = match self.cx.users[index].extra.as_mut() {
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
                self.cx.texts.thrown = Some(thrown);
            }
            any
        } else {
            jar.is_some_and(|jar| jar.header(&origin, now_ms, &mut line))
        };
        self.http.cookie_line = line;
        any
    }
}

/// Whether Java's own client refuses a header's value: a line end in it is not followed by a blank.
fn ends_header(value: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', value).any(|at| !matches!(value.get(at + 1), Some(b' ' | b'\t')))
        || memchr::memchr(b'\r', value).is_some()
}
