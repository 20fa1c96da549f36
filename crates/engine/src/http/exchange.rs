//! Sends HTTP requests: renders a request, chooses or opens a connection of the user, and sends it. Hot.
//!
//! A request that cannot vary is rendered once per core; a user's cookies are inserted.

use std::sync::Arc;

use plan::http::{Http, Request, Unsendable};
use plan::plan::{Needs, Plan, SamplerId};
use plan::result::SampleResult;
use plan::template::Thrown;
use wire::cache::Conditions;
use wire::cookie::Origin;

use crate::context::Context;
use crate::http::assemble::{Added, assemble};
use crate::http::cache::{Answered, Lookup};
use crate::http::chain;
use crate::http::fixed::{Fixed, FixedRequests, show};
use crate::http::gateway::Gateways;
use crate::http::opening::{self, PoolFinder};
use crate::http::{cache, cookies, credentials, failure, file, names, page, proxy};
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::session::Sessions;
use crate::session::exchange::{Call, Limit, Rendered};
use crate::session::http1::{HttpCall, HttpExchange};
use crate::time::timing::TraceId;

/// The result of beginning a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BeginResult {
    /// The request is in flight, or has ended already and pushed its completion.
    InFlight,
    /// The user's cache has the response, and the plan wants no sample for cached responses.
    LeftOut,
}

/// A rendered request of a user's sampler.
#[derive(Clone, Copy)]
pub(crate) struct SamplerRequest<'a> {
    pub(crate) user: UserId,
    pub(crate) sampler: SamplerId,
    pub(crate) http: &'a Http,
    pub(crate) request: &'a Request,
}

/// An assembled request for which no connection is chosen yet.
#[derive(Clone, Copy, Debug)]
struct Sending<'a> {
    bytes: &'a [u8],
    /// Value of the request's `Cookie` header.
    cookies: &'a [u8],
    route: RouteId,
    /// The constant request that is sent unchanged; `None` for a request that was assembled for this sample.
    fixed: Option<&'a Fixed>,
    trace: TraceId,
    /// True if a challenge in the response will be answered.
    challenges: bool,
}

/// Headers to add to a rendered request.
#[derive(Clone, Copy, Debug)]
struct ExtraHeaders<'a> {
    route: RouteId,
    /// True if the request carries the user's cookies, which are in [`Outgoing::cookie_line`].
    cookies: bool,
    /// Conditional headers from the user's cache.
    conditions: Option<&'a Conditions>,
}

/// State of a core for sending requests.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Buffer in which the current request is rendered.
    pub(super) request: Request,
    /// Buffer for the value of a request's `Cookie` header.
    cookie_line: Vec<u8>,
    pub(super) fixed: FixedRequests,
    pub(super) gateways: Gateways,
    pub(super) places: PoolFinder,
}

impl Outgoing {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            request: Request::default(),
            cookie_line: Vec::new(),
            fixed: FixedRequests::new(plan.samplers.len()),
            gateways: Gateways::new(plan),
            places: PoolFinder::new(plan),
        }
    }

    /// Builds the request of a user's sampler and sends it.
    pub(crate) fn begin(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        index: UserId,
        id: SamplerId,
        http: &Http,
    ) -> BeginResult {
        cookies::refresh_user(cx, sessions, index);
        if !http.is_fixed() {
            return self.begin_varying(cx, sessions, index, id, http);
        }
        if self.fixed.of(id).is_none() {
            let mut request = Request::default();
            if cx.with_env(index, id, |env| http.render(env, &mut request)).is_ok() {
                let route = proxy::route_of(cx, &request);
                let mut bytes = Vec::new();
                assemble(&request, &Added::default(), &mut bytes);
                cx.tags.put(TraceId::NONE, &mut bytes);
                let bytes = Arc::new(Rendered(bytes.into()));
                let facts = HttpExchange { fixed: true, ..facts_of(cx, id, http, &request, false) };
                self.fixed.put(id, Box::new(Fixed { request, bytes, route, facts }));
            }
        }
        // A request that scripts have changed is never constant, even if the plan's request is.
        let Some(fixed) = self.fixed.take(id) else {
            return self.begin_varying(cx, sessions, index, id, http);
        };
        let begun = self.begin_fixed(cx, sessions, index, id, http, &fixed);
        self.fixed.put(id, fixed);
        begun
    }

    /// Sends a constant request.
    #[inline]
    fn begin_fixed(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        index: UserId,
        id: SamplerId,
        http: &Http,
        fixed: &Fixed,
    ) -> BeginResult {
        names::begin(cx, index, id, false);
        if failure::fails_by_exception(cx, index, id, None) {
            return BeginResult::InFlight;
        }
        let request = &fixed.request;
        let of = SamplerRequest { user: index, sampler: id, http, request };
        if !http.is_plain() || cx.run.settings.proxy.server.is_some() {
            return self.send_rendered(cx, sessions, of, &mut None);
        }
        let route = fixed.route;
        let cookies = self.cookie_line(cx, index, http, request);
        if !cookies && !cx.tags.vary() {
            let (bytes, fixed, trace) = (&fixed.bytes.0, Some(fixed), TraceId::NONE);
            let sending = Sending { bytes, cookies: b"", route, fixed, trace, challenges: false };
            self.dispatch(cx, sessions, of, sending);
            return BeginResult::InFlight;
        }
        let named = Some(request).filter(|request| !request.java);
        if failure::fails_by_exception(cx, index, id, named) {
            return BeginResult::InFlight;
        }
        let additions = ExtraHeaders { route, cookies, conditions: None };
        self.send_with(cx, sessions, of, additions);
        BeginResult::InFlight
    }

    /// Renders a request and sends it.
    fn begin_varying(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        index: UserId,
        id: SamplerId,
        http: &Http,
    ) -> BeginResult {
        let mut request = std::mem::take(&mut self.request);
        let rendered = cx.with_env(index, id, |env| http.render(env, &mut request));
        let problem = rendered.as_ref().err();
        let named = problem.is_none_or(|problem| !problem.no_url);
        let mut fails = failure::fails_by_exception(cx, index, id, Some(&request));
        if !fails && named {
            names::begin(cx, index, id, problem.is_some_and(|problem| problem.no_client));
            fails = failure::fails_by_exception(cx, index, id, None);
        }
        let begun = if fails {
            BeginResult::InFlight
        } else if let Err(problem) =
            rendered.and_then(|()| self.gateways.seal(cx, index, id, http, &mut request))
        {
            end_unrendered(cx, index, id, &mut request, &problem);
            BeginResult::InFlight
        } else {
            let of = SamplerRequest { user: index, sampler: id, http, request: &request };
            let begun = self.send_rendered(cx, sessions, of, &mut None);
            // A response from the user's cache needs no decryption key.
            self.gateways.encrypted = None;
            begun
        };
        self.request = request;
        begun
    }

    /// Sends a rendered request. `hop`: result of the redirect that led to the request, if any; `None` afterwards if
    /// the user's cache had the response and the hop has completed the sample.
    pub(crate) fn send_rendered(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        of: SamplerRequest<'_>,
        hop: &mut Option<Box<SampleResult>>,
    ) -> BeginResult {
        let SamplerRequest { user: index, sampler: id, http, request } = of;
        if request.is_file {
            file::begin_file(cx, index, id, request);
            return BeginResult::InFlight;
        }
        let with_cookies = !request.stripped && self.cookie_line(cx, index, http, request);
        // With Java's own client, JMeter throws the exception before the sample has a name.
        if failure::fails_by_exception(cx, index, id, Some(request).filter(|request| !request.java))
        {
            return BeginResult::InFlight;
        }
        let line = with_cookies.then_some(&self.cookie_line[..]);
        let lookup = http.cache.map(|manager| cache::look_up(cx, index, manager, request, line));
        let conditions = match &lookup {
            Some(Lookup::Fresh) => {
                let cookies = line.unwrap_or_default();
                return match cache::answer_from_cache(cx, index, id, request, cookies, hop) {
                    Answered::Sample => BeginResult::InFlight,
                    Answered::Nothing => BeginResult::LeftOut,
                };
            }
            Some(Lookup::Send(conditions)) => Some(conditions).filter(|some| !some.is_empty()),
            None => None,
        };
        let route = proxy::route_of(cx, request);
        let additions = ExtraHeaders { route, cookies: with_cookies, conditions };
        self.send_with(cx, sessions, of, additions);
        BeginResult::InFlight
    }

    /// Assembles a request that needs additional headers or other changes, and sends it.
    fn send_with(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        of: SamplerRequest<'_>,
        ExtraHeaders { route, cookies, conditions }: ExtraHeaders<'_>,
    ) {
        let SamplerRequest { user: index, sampler: id, http, request } = of;
        let line = std::mem::take(&mut self.cookie_line);
        let mut out = std::mem::take(&mut cx.net.out);
        let cookies = cookies.then_some(&line[..]);
        let forwarded = proxy::is_forwarded(cx, route);
        assemble(request, &Added { conditions, cookies, forwarded }, &mut out);
        let challenges =
            credentials::add_credentials(cx, index, id, http, request, route, &mut out);
        let trace = sample_trace(cx, index);
        let trace = cx.tags.put(trace, &mut out);
        let sending = Sending {
            bytes: &out,
            cookies: cookies.unwrap_or_default(),
            route,
            fixed: None,
            trace,
            challenges,
        };
        self.dispatch(cx, sessions, of, sending);
        self.cookie_line = line;
        cx.net.out = out;
    }

    /// Sends a request on an idle connection of the user, or opens a connection for it.
    fn dispatch(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        of: SamplerRequest<'_>,
        sending: Sending<'_>,
    ) {
        let SamplerRequest { user: index, sampler: id, http, request } = of;
        let start = cx.clock.now();
        let (place, route) = (self.places.of(cx, index, request.java), sending.route);
        let line = opening::idle_line(cx, sessions, index, place, route, start);
        let ticket = sessions.exchange(index, id);
        let exchange = &mut sessions.exchanges[ticket];
        (exchange.place, exchange.route) = (place, route);
        exchange.start = start;
        exchange.limit = Limit::of_ms(request.response_timeout_ms);
        exchange.connect_limit = Limit::of_ms(request.connect_timeout_ms);
        exchange.call.make_http();
        let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else { return };
        *facts = match sending.fixed {
            Some(fixed) => fixed.facts,
            None => facts_of(cx, id, http, request, sending.challenges),
        };
        facts.draw = cx.recorder.draw();
        facts.keep_head |= facts.draw.is_small();
        *stash = None;
        if !facts.fixed || !request.connection_fault.is_empty() {
            let needs = cx.plan.samplers[id.0 as usize].needs;
            let stash = stash.insert(sessions.stashes.take());
            stash.trace = sending.trace;
            stash.encrypted = self.gateways.encrypted.take();
            facts.keep_body |= stash.encrypted.is_some_and(|encrypted| encrypted.always);
            show(stash, needs, facts, request, sending.bytes, sending.cookies);
        }
        match sending.fixed {
            Some(fixed) if line.is_none() => exchange.fixed = Some(fixed.bytes.clone()),
            Some(_) => {}
            None => exchange.request.extend_from_slice(sending.bytes),
        }
        match line {
            Some(line) => sessions.start_on(&mut cx.around(), ticket, line, sending.bytes),
            None => opening::open(cx, sessions, ticket, 0),
        }
    }

    /// Writes the user's cookies for a request into `self.cookie_line`. Returns false if there are none.
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
        let mut origin = Origin { host: &request.host, path, secure: request.secure };
        // If HttpClient follows redirects itself, it sends the cookies of its first request with each redirect.
        let first = chain::first_url(cx, index);
        if let Some(url) = first.as_deref().and_then(|url| lang::url::absolute(url).ok()) {
            let path = url.path_and_query.split('?').next().unwrap_or("/");
            let path = if path.is_empty() { "/" } else { path };
            let secure = url.scheme.eq_ignore_ascii_case("https");
            origin = Origin { host: url.host, path, secure };
        }
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

/// Returns the trace for a user's next request: the trace of its redirect chain or page, or a new trace.
#[inline]
fn sample_trace(cx: &mut Context<'_>, index: UserId) -> TraceId {
    if !cx.tags.vary() {
        return TraceId::NONE;
    }
    let known = chain::open_trace(cx, index).or_else(|| page::page_trace(cx, index));
    known.unwrap_or_else(|| cx.tags.begin())
}

/// Returns true if Java's own client refuses a header value, because it contains a line end without a following
/// blank.
fn ends_header(value: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', value).any(|at| !matches!(value.get(at + 1), Some(b' ' | b'\t')))
        || memchr::memchr(b'\r', value).is_some()
}

/// Returns the properties of a request that decide how its response is handled.
#[inline]
fn facts_of(
    cx: &Context<'_>,
    id: SamplerId,
    http: &Http,
    request: &Request,
    challenges: bool,
) -> HttpExchange {
    let needs = cx.plan.samplers[id.0 as usize].needs;
    HttpExchange {
        is_head: request.method == "HEAD",
        java: request.java,
        // JMeter counts received bytes from the end of sending, and Java's own client does not expose interim
        // responses.
        interim_uncounted: request.java || request.expects_continue,
        want_keep_alive: request.keep_alive,
        keep_head: cx.observes(id)
            || http.gateway.is_some()
            || cx.run.settings.http.record_header.is_some()
            || cx.run.settings.series.reads_heads(),
        keep_body: needs.intersects(Needs::BODY | Needs::TEXT),
        parse: needs.contains(Needs::PAGE),
        digest: http.md5,
        // Redirects that HttpClient follows itself never reach the sampler.
        follow: request.follow_redirects && !request.auto_redirects,
        auto_follow: request.auto_redirects,
        cookies: http.cookies.is_some(),
        challenges,
        caches: http.cache.is_some() && cache::may_be_cached(cx, &request.method),
        ..HttpExchange::NONE
    }
}

/// Fails the sample of a request whose templates could not be evaluated.
fn end_unrendered(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    request: &mut Request,
    problem: &Unsendable,
) {
    let mut result = cx.take_result();
    if problem.no_url && cx.plan.samplers[id.0 as usize].needs.contains(Needs::SAMPLER_DATA) {
        // JMeter uses a new result in this case, which has no method.
        result.sampler_data.push_str("null");
    }
    if !problem.no_url && !problem.no_client {
        result.url.push_str(&request.url);
        result.method.push_str(&request.method);
        if cx.plan.samplers[id.0 as usize].needs.contains(Needs::SAMPLER_DATA) {
            request.query_string.clear();
            request.write_sampler_data("", &mut result.sampler_data);
        }
        if request.java {
            plan::http::show_set_lines(request, &mut result.request_headers);
        }
    }
    let Unsendable { code, message, no_url, .. } = problem;
    failure::unsendable(cx, index, id, code, message, !no_url, result);
}
