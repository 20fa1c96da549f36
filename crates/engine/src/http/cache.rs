//! HTTP caches of users: decide whether a request is sent, sent conditionally or answered from the cache, and store
//! responses.
//!
//! A cache is created at its first use and belongs to one user. The caching rules are in [`wire::cache`].

use plan::http::Request;
use plan::plan::{SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::Outcome;
use wire::cache::{Cache, Conditions, Malformed};

use crate::context::Context;
use crate::http::lines::latin1;
use crate::http::{chain, page};
use crate::ids::UserId;
use crate::session::http1::{HttpExchange, Stash, is_cacheable};
use crate::settings::http::CacheHit;
use crate::time::timing::Timing;

/// The result of a cache lookup for a request.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The cached response is fresh: the request is not sent.
    Fresh,
    /// The request is sent. Contains its conditional headers, if the cache has any for the request.
    Send(Conditions),
}

/// The outcome of a request that was answered from the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The caller has nothing more to do: the sample's completion was pushed, or the resource's download has ended.
    Sample,
    /// The request has no sample, and no completion was pushed: the caller continues the user.
    Nothing,
}

/// Looks up the cached response to a request that is about to be sent. `cookies`: value of its `Cookie` header.
pub(crate) fn look_up(
    cx: &mut Context<'_>,
    index: UserId,
    manager: u32,
    request: &Request,
    cookies: Option<&[u8]>,
) -> Lookup {
    let redirect = cx.users[index].extra.as_ref().and_then(|extra| extra.redirect.as_ref());
    // If HttpClient follows redirects itself, it sends the conditional headers of the first request with each
    // redirect.
    let first = redirect.filter(|chain| chain.silent).map(|chain| chain.first_url.clone());
    let now_ms = cx.clock.wall_ms(cx.clock.now());
    let Some(cache) = cache(cx, index, manager) else {
        return Lookup::Send(Conditions::default());
    };
    let lines = &request.headers[..request.own_end];
    if let Some(url) = first {
        return Lookup::Send(cache.conditions(&url, &[lines]));
    }
    if request.method.eq_ignore_ascii_case("GET") {
        // Cookies are compared only here, not for conditional requests. A cached response that varies with cookies
        // matches only a request without cookies.
        let cookie_line: Vec<u8> =
            cookies.map_or_else(Vec::new, |cookies| [b"Cookie: ", cookies, b"\r\n"].concat());
        if cache.is_fresh(&request.url, &[lines, &cookie_line], now_ms) {
            return Lookup::Fresh;
        }
    }
    Lookup::Send(cache.conditions(&request.url, &[lines]))
}

/// Answers a request from the cache: without a sample, or with a sample that has no response, as the property
/// `cache_manager.cached_resource_mode` says. `hop`: result of the redirect that led to the request, if any; `None`
/// afterwards if it has completed its chain.
pub(crate) fn answer_from_cache(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    request: &Request,
    cookies: &[u8],
    hop: &mut Option<Box<SampleResult>>,
) -> Answered {
    let redirected = cx.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
    let (code, message) = match &cx.run.settings.http.cache_hit {
        CacheHit::NoSample if redirected => {
            let hop = hop.take().unwrap_or_else(|| cx.take_result());
            chain::conclude_chain(cx, index, id, hop);
            return Answered::Sample;
        }
        CacheHit::NoSample if cx.users.is_download(index) => {
            page::branch_left_out(cx, index);
            return Answered::Sample;
        }
        CacheHit::NoSample => return Answered::Nothing,
        CacheHit::Sample { code, message } => (code, message),
    };
    let now = cx.clock.now();
    let mut result = cx.take_named_result(index, id);
    result.code.push_str(code);
    result.message.push_str(message);
    result.url.push_str(&request.url);
    result.http = true;
    result.method.push_str(&request.method);
    result.cookies.push_str(&String::from_utf8_lossy(cookies));
    result.success = true;
    result.start_ms = cx.clock.wall_ms(now);
    request.write_sampler_data(&String::from_utf8_lossy(cookies), &mut result.sampler_data);
    let wait = (now - cx.users[index].intended).max(0) as u64;
    let timing = Timing { start: now, end: now, wait, ..Timing::default() };
    if redirected {
        chain::last_hop(cx, index, &timing, &result);
        chain::conclude_chain(cx, index, id, result);
    } else {
        cx.conclude(index, id, timing, Outcome::Ok, Some(result));
    }
    Answered::Sample
}

/// Stores a response that may be cached. Returns false if JMeter throws an exception because of its headers; the
/// result then shows the exception.
pub(crate) fn note_answer(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    exchange: &HttpExchange,
    stash: &Stash,
    result: &mut Option<Box<SampleResult>>,
) -> bool {
    let SamplerKind::Http(http) = &cx.plan.samplers[id.0 as usize].kind else {
        return true;
    };
    let Some(manager) = http.cache.filter(|_| is_cacheable(exchange.status)) else {
        return true;
    };
    let use_expires = cx.plan.cache_managers[manager as usize].use_expires;
    let now_ms = cx.clock.wall_ms(cx.clock.now());
    let Some(cache) = cache(cx, index, manager) else { return true };
    let sent = latin1(&stash.request_headers);
    let Err(malformed) = cache.note(&stash.url, &stash.head, &sent, use_expires, now_ms) else {
        return true;
    };
    let (class, message) = thrown(&malformed);
    let observed = cx.observes(id);
    let result = result.get_or_insert_with(|| cx.take_result());
    if !observed {
        result.clear();
    }
    result.code = format!("Non HTTP response code: {class}");
    result.message = format!("Non HTTP response message: {message}");
    result.success = false;
    result.data_type = "text";
    false
}

/// Returns true if responses to this method may be cached.
pub(crate) fn may_be_cached(cx: &Context<'_>, method: &str) -> bool {
    cx.run.settings.http.cacheable_methods.iter().any(|one| one.eq_ignore_ascii_case(method))
}

/// Returns the user's cache, created at its first use.
fn cache<'c>(cx: &'c mut Context<'_>, index: UserId, manager: u32) -> Option<&'c mut Cache> {
    let index = cx.users.root(index);
    let at = manager as usize;
    let known = cx.users[index].extra.as_ref().and_then(|extra| extra.caches.get(at));
    if known.is_none_or(Option::is_none) {
        let most = cx.number(index, &cx.plan.cache_managers[at].most, 0);
        let caches = &mut cx.users[index].extra().caches;
        if caches.len() <= at {
            caches.resize_with(at + 1, || None);
        }
        caches[at] = Some(Box::new(Cache::new(usize::try_from(most).unwrap_or(0))));
    }
    cx.users[index].extra().caches[at].as_deref_mut()
}

/// Returns the class and the message of the exception that JMeter throws for malformed caching headers.
fn thrown(malformed: &Malformed) -> (&'static str, String) {
    match malformed {
        Malformed::MaxAge(word) => {
            ("java.lang.NumberFormatException", format!("For input string: \"{word}\""))
        }
        Malformed::NoMaxAge => (
            "java.lang.ArrayIndexOutOfBoundsException",
            "Index 0 out of bounds for length 0".to_owned(),
        ),
        Malformed::Date | Malformed::LastModified => {
            let name = match malformed {
                Malformed::Date => "responseDate",
                _ => "lastModifiedAsDate",
            };
            let message =
                format!("Cannot invoke \"java.util.Date.getTime()\" because \"{name}\" is null");
            ("java.lang.NullPointerException", message)
        }
    }
}
