//! Redirects: each hop is an exchange of its own; the sample is the whole chain with its hops as sub-results.
//! Followed silently (`auto`), the chain is one sample without parts.

use plan::http::Unsendable;
use plan::plan::{SamplerId, SamplerKind};
use stats::{Counter, Outcome, Phases};
use std::fmt::Write;

use crate::context::Context;
use crate::http::fill::value_of;
use crate::http::requests::Requests;
use crate::http::{failure, names};
use crate::ids::UserId;
use crate::net::outcome::{Failure, describe, describe_java};
use crate::session::Sessions;
use crate::session::http1::{HttpExchange, Stash};
use crate::time::timing::Timing;
use crate::users::Redirect;

/// How many requests Java's own client sends for one, at most.
const JAVA_HOPS: u32 = 20;

/// The part of JMeter that follows a redirect, each by rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follower {
    /// JMeter itself: each hop is a sub-result.
    JMeter,
    /// HttpClient, silently.
    HttpClient,
    /// Java's own client, silently.
    Java,
}

/// The next request of a chain.
#[derive(Debug)]
struct Hop {
    by: Follower,
    url: String,
    method: String,
    /// It has lost what the sampler had set.
    stripped: bool,
}

impl Follower {
    fn of(exchange: &HttpExchange) -> Self {
        match exchange.auto_follow && !exchange.follow {
            false => Self::JMeter,
            true if exchange.java => Self::Java,
            true => Self::HttpClient,
        }
    }

    fn is_silent(self) -> bool {
        self != Self::JMeter
    }

    /// Whether it follows an answer.
    fn follows(self, status: u16, stash: &Stash) -> bool {
        match self {
            Self::JMeter => is_redirect(status, &stash.method),
            Self::HttpClient => is_followed_silently(status, &stash.method),
            Self::Java => matches!(status, 301..=303 | 305 | 307) && java_follows(stash),
        }
    }

    /// Whether the next request has the method and the body of this one.
    fn repeats(self, status: u16, method: &str) -> bool {
        match self {
            Self::JMeter => false,
            Self::HttpClient => status == 307 || status == 308,
            Self::Java => status == 307 || method != "POST",
        }
    }

    /// The redirects that it follows at most.
    fn most(self, cx: &Context<'_>) -> u32 {
        if self == Self::Java { JAVA_HOPS } else { cx.run.settings.http.max_redirects }
    }

    /// Fails the core's result: there were too many redirects.
    fn gives_up(self, cx: &mut Context<'_>, id: SamplerId, most: u32) {
        // No connection led there.
        let route = crate::net::routes::Route::forgotten();
        let failure = Failure::TooManyRedirects(most);
        let java = self == Self::Java;
        let describe = if java { describe_java } else { describe };
        let result = &mut *cx.result;
        describe(&failure, &route, &mut result.code, &mut result.message);
        result.success = false;
        result.data_type = "text";
        if java {
            result.response_headers.clear();
        }
        result.text.clear();
        failure::put_exception_text(cx, id);
    }

    /// The URL that a location leads to from the last of the chain, and whether it may be asked for.
    fn target(
        self,
        cx: &Context<'_>,
        chain: &mut Redirect,
        mut text: String,
    ) -> (Result<(), Unsendable>, String) {
        let client = self == Self::HttpClient;
        if client && !text.is_ascii() {
            // HttpClient reads heads as ASCII.
            text = text.replace(|c: char| !c.is_ascii(), "%EF%BF%BD");
        }
        let mut url = String::new();
        let mut target = if self == Self::Java {
            plan::http::java_location(&chain.url, &text, &mut url)
        } else if client && text.trim().starts_with("//") {
            plan::http::host_location(&chain.url, &text, &mut url)
        } else {
            plan::http::location(&chain.url, &text, cx.run.settings.http.remove_dots, &mut url)
        };
        if client {
            if target.is_ok() && chain.visited.contains(&url) {
                target = Err(circular());
            }
            chain.visited.push(url.clone());
        }
        (target, url)
    }
}

impl Requests {
    /// Takes one hop's answer (in the core's result) and goes on to where it points.
    /// False: the chain, if there is one, is complete.
    pub(crate) fn follow(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        (index, id): (UserId, SamplerId),
        timing: &Timing,
        exchange: &HttpExchange,
        stash: &Stash,
    ) -> bool {
        let chain = cx.users[index].extra().redirect.take();
        let by = Follower::of(exchange);
        let goes_on = by.follows(exchange.status, stash);
        let location = goes_on.then(|| location(&stash.head)).flatten();
        if exchange.java && by == Follower::JMeter && goes_on && location.is_none() {
            if let Some(unused) = chain {
                cx.spare_results.push(unused.result);
            }
            names_no_location(cx, index, id);
            return true;
        }
        // What HttpClient itself makes of it comes first.
        let refused = by == Follower::HttpClient
            && match location {
                Some(location) => !plan::http::is_uri(&stash.url, &text_of(location)),
                None => goes_on && exchange.status != 302,
            };
        let location = location.filter(|_| !refused);
        let mut timing = *timing;
        if location.is_none() {
            let first = chain.as_ref().filter(|_| by.is_silent()).map(|chain| &**chain);
            let fails = if refused {
                refused_by_client(cx, id);
                true
            } else {
                leads_nowhere(cx, id, exchange, stash, first)
            };
            if chain.is_none() {
                return false;
            }
            if fails {
                (timing.sent, cx.result.sent) = (0, 0);
            }
        }
        let mut chain =
            chain.unwrap_or_else(|| Box::new(begin_chain(cx, &timing, &stash.url, &stash.method)));
        let repeats = by.repeats(exchange.status, &stash.method);
        chain.java = by == Follower::Java;
        chain.stripped |= chain.java && !repeats;
        add_hop(cx, &mut chain, &timing, by.is_silent());
        let most = by.most(cx);
        let Some(location) = location else {
            cx.users[index].extra().redirect = Some(chain);
            return false;
        };
        if chain.hops + u32::from(chain.java) >= most {
            by.gives_up(cx, id, most);
            add_hop(cx, &mut chain, &timing, by.is_silent());
            cx.users[index].extra().redirect = Some(chain);
            return false;
        }
        chain.hops += 1;
        cx.recorder.add(Counter::Redirects, 1);
        let (target, url) = by.target(cx, &mut chain, text_of(location));
        let method =
            if repeats { &*stash.method } else { plan::http::method_after_redirect(&stash.method) };
        chain.url.clone_from(&url);
        method.clone_into(&mut chain.method);
        let next = Hop { by, url, method: method.to_owned(), stripped: chain.stripped };
        cx.users[index].extra().redirect = Some(chain);
        self.send_hop(cx, sessions, (index, id), &timing, target, &next)
    }

    /// Sends the next request of a chain. False: it cannot be sent, and the chain is complete.
    fn send_hop(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        (index, id): (UserId, SamplerId),
        timing: &Timing,
        target: Result<(), Unsendable>,
        next: &Hop,
    ) -> bool {
        let own = cx.own_sampler(index).cloned();
        let kind = own.as_deref().unwrap_or(&cx.plan.samplers[id.0 as usize].kind);
        let SamplerKind::Http(http) = kind else { return false };
        let mut request = std::mem::take(&mut self.request);
        let rendered = target.and_then(|()| {
            cx.with_env(index, id, |env, _| {
                if next.stripped {
                    http.render_stripped(&next.url, env, &mut request)
                } else {
                    http.render_redirect(&next.url, &next.method, env, &mut request)
                }
            })
        });
        let sent = match rendered {
            Ok(()) => {
                cx.users[index].intended = timing.end;
                if next.by == Follower::JMeter {
                    names::read(cx, index, id);
                }
                self.send_rendered(cx, sessions, (index, id), http, &request);
                true
            }
            Err(problem) => {
                let result = &mut *cx.result;
                result.clear();
                result.url.push_str(&next.url);
                (result.code, result.message) = (problem.code, problem.message);
                (result.success, result.data_type) = (false, "text");
                failure::put_exception_text(cx, id);
                let hop = Timing { start: timing.end, end: timing.end, ..Timing::default() };
                if let Some(mut chain) = cx.users[index].extra().redirect.take() {
                    add_hop(cx, &mut chain, &hop, next.by.is_silent());
                    cx.users[index].extra().redirect = Some(chain);
                }
                false
            }
        };
        self.request = request;
        sent
    }
}

/// Fails the core's result where it is a redirect that does not say where to, by HttpClient. False: it is not. Where HttpClient itself has come
/// there, JMeter knows of its `first` request only.
pub(crate) fn leads_nowhere(
    cx: &mut Context<'_>,
    id: SamplerId,
    exchange: &HttpExchange,
    stash: &Stash,
    first: Option<&Redirect>,
) -> bool {
    let (method, url) = (&stash.method, &stash.url);
    if exchange.java || !is_redirect(exchange.status, method) || location(&stash.head).is_some() {
        return false;
    }
    let (method, url) =
        first.map_or((method, url), |first| (&first.result.method, &first.first_url));
    let mut words = format!("Missing location header in redirect for {method} ");
    // The request line has the URL in ASCII.
    for c in url.chars() {
        if c.is_ascii() {
            words.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(words, "%{byte:02X}");
            }
        }
    }
    words.push_str(" HTTP/1.1");
    if !cx.observes(id) {
        // Nobody looks at it but at why it failed.
        cx.result.clear();
    }
    fail_hop(cx, "java.lang.IllegalArgumentException", &words);
    true
}

/// HttpClient does not follow: it has no `Location`, or one that is no URI.
fn refused_by_client(cx: &mut Context<'_>, id: SamplerId) {
    fail_hop(cx, "org.apache.http.client.ClientProtocolException", "null");
    cx.result.response_headers.clear();
    cx.result.body.clear();
    cx.result.text.clear();
    failure::put_exception_text(cx, id);
}

/// Fails the core's result with an exception.
fn fail_hop(cx: &mut Context<'_>, class: &str, message: &str) {
    let result = &mut *cx.result;
    result.code.clear();
    let _ = write!(result.code, "Non HTTP response code: {class}");
    result.message.clear();
    let _ = write!(result.message, "Non HTTP response message: {message}");
    result.success = false;
    result.data_type = "text";
}

/// An answer by Java's own client that does not say where to is to be followed by JMeter, which has no sample of that then.
fn names_no_location(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    cx.result.clear();
    let code = "Non HTTP response code: java.lang.NullPointerException";
    let message = "Non HTTP response message: Cannot invoke \"String.indexOf(int)\" because \"source\" is null";
    failure::unsendable(cx, index, id, code, message, false);
}

fn begin_chain(cx: &mut Context<'_>, timing: &Timing, url: &str, method: &str) -> Redirect {
    let mut result = cx.spare_results.pop().unwrap_or_default();
    result.clear();
    result.start_ms = cx.result.start_ms;
    (result.latency, result.connect) = (timing.latency, timing.connect);
    result.label.push_str(&cx.result.label);
    for (to, from) in [
        (&mut result.method, &cx.result.method),
        (&mut result.cookies, &cx.result.cookies),
        (&mut result.request_headers, &cx.result.request_headers),
        (&mut result.query_string, &cx.result.query_string),
        (&mut result.redirect_location, &cx.result.redirect_location),
    ] {
        to.push_str(from);
    }
    Redirect {
        result,
        hops: 0,
        start: timing.start,
        lag: 0,
        phases: Phases::default(),
        classes: timing.classes,
        wait: timing.wait,
        first_url: url.to_owned(),
        silent: false,
        java: false,
        stripped: false,
        visited: Vec::new(),
        url: url.to_owned(),
        method: method.to_owned(),
    }
}

/// Adds the core's result, which nobody was asked for, to the chain under way.
pub(crate) fn last_hop(cx: &mut Context<'_>, index: UserId, timing: &Timing) {
    if let Some(mut chain) = cx.users[index].extra().redirect.take() {
        add_hop(cx, &mut chain, timing, false);
        cx.users[index].extra().redirect = Some(chain);
    }
}

/// Adds the core's result to the chain.
fn add_hop(cx: &mut Context<'_>, chain: &mut Redirect, timing: &Timing, silent: bool) {
    chain.lag += timing.lag;
    chain.phases.add(&timing.phases);
    chain.classes = timing.classes;
    chain.silent = silent;
    let whole = &mut chain.result;
    whole.elapsed = (timing.end - chain.start).max(0) as u64;
    if silent {
        (whole.bytes, whole.sent) = (timing.received, timing.sent);
        whole.headers_size = cx.result.headers_size;
    } else {
        whole.bytes += timing.received;
        whole.sent += timing.sent;
        whole.headers_size += cx.result.headers_size;
        let n = whole.sub_count;
        let mut label = std::mem::take(&mut whole.label);
        let length = label.len();
        let _ = write!(label, "-{n}");
        let sub = whole.add_sub();
        cx.result.show_in(sub);
        sub.raw = n == 0;
        sub.label.clear();
        sub.label.push_str(if cx.run.settings.results.keep_sub_labels { &sub.url } else { &label });
        label.truncate(length);
        whole.label = label;
    }
}

/// The last hop was taken: the chain becomes the sample.
pub(crate) fn conclude_chain(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let outcome = if cx.result.success { Outcome::Ok } else { Outcome::Status };
    end_chain(cx, index, id, outcome);
}

/// A hop failed: the chain fails with it.
pub(crate) fn fail_chain(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    timing: Timing,
    outcome: Outcome,
) {
    let Some(mut chain) = cx.users[index].extra().redirect.take() else { return };
    cx.result.elapsed = timing.elapsed();
    cx.result.connect = timing.connect;
    let silent = chain.silent;
    add_hop(cx, &mut chain, &timing, silent);
    cx.users[index].extra().redirect = Some(chain);
    end_chain(cx, index, id, outcome);
}

fn end_chain(cx: &mut Context<'_>, index: UserId, id: SamplerId, outcome: Outcome) {
    let Some(mut chain) = cx.users[index].extra().redirect.take() else { return };
    if chain.silent && cx.result.code.starts_with("Non HTTP") {
        // The exception came out of HttpClient: the sampler knows of its first request only.
        chain.result.sent = 0;
        cx.result.url.clone_from(&chain.first_url);
    }
    let whole = &mut chain.result;
    // The first request's cookies and location stand for the whole, and if HttpClient itself went on, all of it.
    std::mem::swap(&mut cx.result.cookies, &mut whole.cookies);
    std::mem::swap(&mut cx.result.redirect_location, &mut whole.redirect_location);
    if chain.silent {
        std::mem::swap(&mut cx.result.method, &mut whole.method);
        std::mem::swap(&mut cx.result.query_string, &mut whole.query_string);
        cx.result.redirect_location.clear();
    }
    if chain.java {
        std::mem::swap(&mut cx.result.request_headers, &mut whole.request_headers);
    }
    let timing = Timing {
        start: chain.start,
        end: chain.start + whole.elapsed as i64,
        idle: 0,
        latency: whole.latency,
        connect: whole.connect,
        lag: chain.lag,
        wait: chain.wait,
        sent: whole.sent,
        received: whole.bytes,
        phases: chain.phases,
        classes: chain.classes,
    };
    // What the last hop tells, the whole tells; its parts and sums stay.
    std::mem::swap(&mut cx.result.subs, &mut whole.subs);
    cx.result.sub_count = whole.sub_count;
    cx.result.start_ms = whole.start_ms;
    cx.result.headers_size = whole.headers_size;
    cx.result.label.clear();
    cx.result.label.push_str(&whole.label);
    cx.spare_results.push(chain.result);
    cx.conclude(index, id, timing, outcome);
}

/// Whether JMeter takes an answer for a redirect.
pub(crate) fn is_redirect(status: u16, method: &str) -> bool {
    match status {
        301..=303 | 308 => true,
        307 => method == "GET" || method == "HEAD",
        _ => false,
    }
}

/// HttpClient has been led to where it was before.
fn circular() -> Unsendable {
    Unsendable::new("org.apache.http.client.ClientProtocolException", "null")
}

/// Whether HttpClient itself follows.
fn is_followed_silently(status: u16, method: &str) -> bool {
    match status {
        303 => true,
        301 | 302 | 307 | 308 => matches!(method, "GET" | "POST" | "HEAD" | "DELETE"),
        _ => false,
    }
}

/// Whether Java's own client follows a redirect: it does to a URL of the protocol that it came by.
pub(crate) fn java_follows(stash: &Stash) -> bool {
    let Some(location) = location(&stash.head) else { return false };
    let protocol = stash.url.split(':').next().unwrap_or_default();
    match location.iter().position(|byte| *byte == b':') {
        Some(colon) if location[colon..].starts_with(b"://") => {
            location[..colon].eq_ignore_ascii_case(protocol.as_bytes())
        }
        _ => true,
    }
}

/// A header's value as text, a character for each byte.
fn text_of(value: &[u8]) -> String {
    value.iter().map(|byte| *byte as char).collect()
}

/// The last `Location` of a head.
pub(crate) fn location(head: &[u8]) -> Option<&[u8]> {
    head.split(|byte| *byte == b'\n').filter_map(|line| value_of(line, b"location")).next_back()
}
