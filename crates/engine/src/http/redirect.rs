//! Redirects: each hop is a separate exchange. The sample is the whole chain, with its hops as sub-results. If the
//! HTTP client follows the chain itself, the chain is one sample without sub-results.

use plan::http::Unsendable;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::Counter;
use std::fmt::Write;

use crate::context::Context;
use crate::http::chain::{add_hop, begin_chain, is_redirect};
use crate::http::exchange::{Outgoing, SamplerRequest};
use crate::http::lines::{first_location, location, text_of};
use crate::http::proxy::is_forwarded;
use crate::http::{failure, names};
use crate::ids::UserId;
use crate::net::outcome::{Failure, describe, describe_java};
use crate::net::routes::RouteId;
use crate::session::Sessions;
use crate::session::http1::{HttpExchange, KeptResponse, Stash};
use crate::time::clock::Nanos;
use crate::time::timing::Timing;
use crate::users::Redirect;

/// Maximum number of requests that Java's own client sends for one sample.
const JAVA_HOPS: u32 = 20;

/// The part of JMeter that follows a redirect. Each part has its own rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follower {
    /// JMeter itself follows the redirect, and each hop is a sub-result.
    JMeter,
    /// HttpClient follows the redirect, and no sub-result is reported for it.
    HttpClient,
    /// `HttpURLConnection` follows the redirect, and no sub-result is reported for it.
    Java,
}

/// The next request of a redirect chain.
#[derive(Debug)]
struct Hop {
    by: Follower,
    /// The error if the URL cannot be used for a request.
    target: Result<(), Unsendable>,
    url: String,
    method: String,
    /// True if the headers and body of the sampler are not sent.
    stripped: bool,
    /// Intended start: the end of the previous hop.
    start: Nanos,
}

/// The last request of a chain, which the sample shows if HttpClient gives up.
struct SentRequest {
    headers: String,
    query_string: String,
    is_http: bool,
}

impl SentRequest {
    fn take(result: &mut SampleResult) -> Self {
        Self {
            headers: std::mem::take(&mut result.request_headers),
            query_string: std::mem::take(&mut result.query_string),
            is_http: result.http,
        }
    }

    fn put(self, result: &mut SampleResult) {
        result.request_headers = self.headers;
        result.query_string = self.query_string;
        result.http = self.is_http;
    }
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

    /// Returns true if the follower treats the response as a redirect.
    fn follows(self, status: u16, stash: &Stash) -> bool {
        match self {
            Self::JMeter => is_redirect(status, &stash.method),
            Self::HttpClient => is_followed_silently(status, &stash.method),
            Self::Java => matches!(status, 301..=303 | 305 | 307) && java_follows(stash),
        }
    }

    /// Returns true if the request to the redirect's target keeps the method and the body of the redirected request.
    fn repeats(self, status: u16, method: &str) -> bool {
        match self {
            Self::JMeter => false,
            Self::HttpClient => status == 307 || status == 308,
            Self::Java => status == 307 || method != "POST",
        }
    }

    /// Returns the maximum number of redirects for a sample; for Java's own client, the maximum number of requests.
    fn most(self, cx: &Context<'_>) -> u32 {
        if self == Self::Java { JAVA_HOPS } else { cx.run.settings.http.max_redirects }
    }

    /// Fails a result with "too many redirects".
    fn gives_up(self, cx: &Context<'_>, id: SamplerId, most: u32, result: &mut SampleResult) {
        // The failure has no connection, so an empty route is used.
        let route = crate::net::routes::Route::forgotten();
        let failure = Failure::TooManyRedirects(most);
        let java = self == Self::Java;
        let describe = if java { describe_java } else { describe };
        describe(&failure, &route, &mut result.code, &mut result.message);
        result.success = false;
        result.data_type = "text";
        if java {
            result.response_headers.clear();
        }
        result.text.clear();
        failure::put_exception_text(cx, id, result);
    }

    /// Resolves a `Location` against the last URL of the chain. Returns the URL, and an error if it cannot be used
    /// for a request.
    fn target(
        self,
        cx: &Context<'_>,
        chain: &mut Redirect,
        mut text: String,
    ) -> (Result<(), Unsendable>, String) {
        let client = self == Self::HttpClient;
        if client && !text.is_ascii() {
            // HttpClient decodes response heads as ASCII.
            text = text.replace(|c: char| !c.is_ascii(), "%EF%BF%BD");
        }
        let mut url = String::new();
        let mut target = if self == Self::Java {
            plan::http::java_location(&chain.url, &text, &mut url)
        } else if client {
            plan::http::client_location(&chain.url, &text, &mut url)
        } else {
            plan::http::location(&chain.url, &text, cx.run.settings.http.remove_dots, &mut url)
        };
        if client {
            if target.is_ok() && chain.visited.contains(&url) {
                target = Err(circular());
            }
            chain.visited.push(url.clone());
            url.truncate(url.find('#').unwrap_or(url.len()));
        }
        (target, url)
    }

    /// Returns the `Location` of a response. If the response has several `Location` lines, HttpClient takes the first
    /// line; JMeter and Java take the last line.
    fn location(self, head: &[u8]) -> Option<&[u8]> {
        match self {
            Self::HttpClient => first_location(head),
            Self::JMeter | Self::Java => location(head),
        }
    }
}

/// Handles the response of one hop and sends the request for its `Location`. Returns false if no request follows.
/// `shown`: result of the hop; `None` afterwards if it has completed the sample.
pub(crate) fn follow(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    response: &KeptResponse<'_>,
    shown: &mut Option<Box<SampleResult>>,
) -> bool {
    let Some(result) = shown.as_deref_mut() else { return false };
    let KeptResponse { user: index, sampler: id, exchange, mut timing, ref stash } = *response;
    let chain = cx.users[index].extra().redirect.take();
    let by = Follower::of(exchange);
    let goes_on = by.follows(exchange.status, stash);
    let location = if goes_on { by.location(&stash.head) } else { None };
    if exchange.java && by == Follower::JMeter && goes_on && location.is_none() {
        cx.spare_results.extend(chain.map(|unused| unused.result));
        names_no_location(cx, index, id);
        return true;
    }
    // HttpClient checks the location before JMeter does.
    let refused = by == Follower::HttpClient
        && match location {
            Some(location) => !plan::http::is_uri(&stash.url, &text_of(location)),
            None => goes_on && exchange.status != 302,
        };
    let location = location.filter(|_| !refused);
    if location.is_none() {
        let first = chain.as_ref().filter(|_| by.is_silent()).map(|chain| &**chain);
        let fails = if refused {
            refused_by_client(cx, id, result);
            true
        } else {
            fail_without_location(cx, id, exchange, stash, first, result)
        };
        if chain.is_none() {
            return false;
        }
        if fails {
            (timing.sent, result.sent) = (0, 0);
        }
    }
    let mut chain = chain
        .unwrap_or_else(|| Box::new(begin_chain(cx, &timing, &stash.url, &stash.method, result)));
    let repeats = by.repeats(exchange.status, &stash.method);
    chain.java = by == Follower::Java;
    chain.stripped |= chain.java && !repeats;
    add_hop(cx, &mut chain, &timing, by.is_silent(), result);
    let most = by.most(cx);
    let Some(location) = location else {
        cx.users[index].extra().redirect = Some(chain);
        return false;
    };
    if chain.hops + u32::from(chain.java) >= most {
        by.gives_up(cx, id, most, result);
        add_hop(cx, &mut chain, &timing, by.is_silent(), result);
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
    let (method, stripped, start) = (method.to_owned(), chain.stripped, timing.end);
    let next = Hop { by, target, url, method, stripped, start };
    cx.users[index].extra().redirect = Some(chain);
    send_hop(outgoing, cx, sessions, index, id, next, shown)
}

/// Returns true if an HTTP client follows the redirect itself, so that JMeter does not see the cookies of this
/// response.
pub(crate) fn is_passed_over(exchange: &HttpExchange, stash: &Stash) -> bool {
    let by = Follower::of(exchange);
    by.is_silent() && by.follows(exchange.status, stash)
}

/// Replaces the URL of the last response of a chain by the URL that HttpClient sent, without a fragment: JMeter shows
/// this URL if HttpClient follows redirects automatically.
pub(crate) fn name_sent_url(
    cx: &Context<'_>,
    exchange: &HttpExchange,
    route: RouteId,
    stash: &mut Stash,
) {
    let nowhere = is_redirect(exchange.status, &stash.method) && location(&stash.head).is_none();
    if Follower::of(exchange) != Follower::HttpClient || nowhere || is_passed_over(exchange, stash)
    {
        return;
    }
    let parts = lang::url::split(&stash.url);
    let path = &stash.url[parts.path.clone()];
    let host = stash.url[parts.authority.clone()].rsplit('@').next().unwrap_or_default();
    let protocol = &stash.url[parts.protocol];
    let root = format!("{protocol}://{host}");
    // Unlike on the wire, non-ASCII characters are not escaped in this URL.
    let mut sent = String::new();
    if is_forwarded(cx, route) {
        let _ = write!(sent, "{protocol}://{}{path}", host.to_lowercase());
    } else if path.contains("//") {
        lang::uri::target(path, None, &mut Vec::new(), &mut sent);
    } else {
        sent.push_str(path);
    }
    if path.is_empty() {
        sent.push('/');
    }
    if let Some(query) = parts.query {
        sent.push('?');
        sent.push_str(&stash.url[query]);
    }
    let mut url = String::new();
    if lang::url::resolve(Some(&root), &sent, &mut url).is_ok() {
        stash.url = url;
    }
}

/// Sends the next request of a redirect chain. Returns false if it cannot be sent; then the chain is complete.
fn send_hop(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    id: SamplerId,
    next: Hop,
    shown: &mut Option<Box<SampleResult>>,
) -> bool {
    let own = cx.own_sampler(index).cloned();
    let kind = own.as_deref().unwrap_or(&cx.plan.samplers[id.0 as usize].kind);
    let SamplerKind::Http(http) = kind else { return false };
    let mut request = std::mem::take(&mut outgoing.request);
    // Only HttpClient uses the first method of the chain.
    let first = match &cx.users[index].extra().redirect {
        Some(chain) if next.by == Follower::HttpClient => chain.result.method.clone(),
        _ => String::new(),
    };
    let rendered = next.target.and_then(|()| {
        cx.with_env(index, id, |env| {
            if next.stripped {
                http.render_stripped(&next.url, env, &mut request)
            } else if next.by == Follower::HttpClient {
                http.render_silent_redirect(&next.url, &next.method, &first, env, &mut request)
            } else {
                http.render_redirect(&next.url, &next.method, env, &mut request)
            }
        })
    });
    let sent = match rendered {
        Ok(()) => {
            cx.users[index].intended = next.start;
            if next.by == Follower::JMeter {
                names::read(cx, index, id);
            }
            let of = SamplerRequest { user: index, sampler: id, http, request: &request };
            outgoing.send_rendered(cx, sessions, of, shown);
            true
        }
        Err(problem) => {
            let result = shown.get_or_insert_with(|| cx.take_result());
            let asked = (next.by == Follower::HttpClient).then(|| SentRequest::take(result));
            result.clear();
            if let Some(asked) = asked {
                asked.put(result);
            }
            result.url.push_str(&next.url);
            (result.code, result.message) = (problem.code, problem.message);
            (result.success, result.data_type) = (false, "text");
            failure::put_exception_text(cx, id, result);
            let hop = Timing { start: next.start, end: next.start, ..Timing::default() };
            if let Some(mut chain) = cx.users[index].extra().redirect.take() {
                add_hop(cx, &mut chain, &hop, next.by.is_silent(), result);
                cx.users[index].extra().redirect = Some(chain);
            }
            false
        }
    };
    outgoing.request = request;
    sent
}

/// Fails a result if it is a redirect without `Location` and HttpClient is used. Returns false otherwise. If HttpClient
/// reached this response by a redirect, JMeter has only the data of the `first` request.
pub(crate) fn fail_without_location(
    cx: &Context<'_>,
    id: SamplerId,
    exchange: &HttpExchange,
    stash: &Stash,
    first: Option<&Redirect>,
    result: &mut SampleResult,
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
        // Only the cause of the failure is read from this result.
        result.clear();
    }
    fail_hop(result, "java.lang.IllegalArgumentException", &words);
    show_exception(cx, id, result);
    true
}

/// Fails a result because HttpClient refuses to follow the redirect: `Location` is missing, or is not a valid URI.
fn refused_by_client(cx: &Context<'_>, id: SamplerId, result: &mut SampleResult) {
    fail_hop(result, "org.apache.http.client.ClientProtocolException", "null");
    result.response_headers.clear();
    result.redirect_location.clear();
    result.has_location = false;
    show_exception(cx, id, result);
}

/// Replaces the body of the result with the exception's message.
fn show_exception(cx: &Context<'_>, id: SamplerId, result: &mut SampleResult) {
    result.body.clear();
    result.text.clear();
    failure::put_exception_text(cx, id, result);
}

/// Fails the result of a hop with a Java exception.
fn fail_hop(result: &mut SampleResult, class: &str, message: &str) {
    result.code.clear();
    let _ = write!(result.code, "Non HTTP response code: {class}");
    result.message.clear();
    let _ = write!(result.message, "Non HTTP response message: {message}");
    result.success = false;
    result.data_type = "text";
}

/// Fails a redirect without `Location` if Java's own client is used. JMeter would follow it, and reports only the
/// exception.
fn names_no_location(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let code = "Non HTTP response code: java.lang.NullPointerException";
    let message = "Non HTTP response message: Cannot invoke \"String.indexOf(int)\" because \"source\" is null";
    let result = cx.take_result();
    failure::unsendable(cx, index, id, code, message, false, result);
}

/// Returns the failure of a redirect chain in which HttpClient reached a URL for the second time.
fn circular() -> Unsendable {
    Unsendable::new("org.apache.http.client.ClientProtocolException", "null")
}

/// Returns true if HttpClient itself follows the redirect.
fn is_followed_silently(status: u16, method: &str) -> bool {
    match status {
        303 => true,
        301 | 302 | 307 | 308 => matches!(method, "GET" | "POST" | "HEAD" | "DELETE"),
        _ => false,
    }
}

/// Returns true if Java's own client follows the redirect: only to a URL with the same protocol.
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
