//! Builds the bytes of a request from the rendered template and the user's own headers. Hot.
//!
//! The header lines are in HttpClient's order: the plan's headers, conditional headers of a cache, cookies, headers
//! of the body, `Host`, `User-Agent`, credentials. A line that the user adds replaces the plan's line of the same
//! name.

use plan::http::Request;
use wire::cache::Conditions;

use crate::http::lines::{latin1, value_of};

/// The headers that a user adds to a rendered request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Added<'a> {
    /// Conditional headers from the user's cache.
    pub(crate) conditions: Option<&'a Conditions>,
    /// Value of the request's `Cookie` header.
    pub(crate) cookies: Option<&'a [u8]>,
    /// True if the request goes through a forwarding proxy, so that its request line contains the whole URL.
    pub(crate) forwarded: bool,
}

/// Builds the bytes of a request, with the headers that the user adds.
pub(crate) fn assemble(request: &Request, added: &Added<'_>, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(request.method.as_bytes());
    out.push(b' ');
    if added.forwarded && request.java {
        let end = request.url.find('#').unwrap_or(request.url.len());
        out.extend_from_slice(&request.url.as_bytes()[..end]);
    } else if added.forwarded {
        put_whole_url(&request.url, out);
    } else {
        out.extend_from_slice(request.target.as_bytes());
    }
    out.extend_from_slice(b" HTTP/1.1\r\n");
    let begun = out.len();
    match (added.conditions, added.cookies) {
        (Some(conditions), cookies) => put_lines(request, conditions, cookies, out),
        (None, Some(cookies)) => {
            // The user's cookies replace a cookie line of the plan.
            let own = &request.own_cookie;
            let (before, after) = if own.is_empty() {
                (request.cookie_at, request.cookie_at)
            } else {
                (own.start, own.end)
            };
            out.extend_from_slice(&request.headers[..before]);
            put(b"Cookie", cookies, out);
            out.extend_from_slice(&request.headers[after..]);
        }
        (None, None) => out.extend_from_slice(&request.headers),
    }
    if added.forwarded {
        // Lines for the proxy come before `User-Agent`, the only header that may follow them.
        let at = out.len() - (request.headers.len() - request.agent_at);
        let known = |line| value_of(line, b"proxy-connection").is_some();
        if !out[begun..].split(|byte| *byte == b'\n').any(known) {
            let line: &[u8; 30] = if request.java {
                b"Proxy-Connection: keep-alive\r\n"
            } else {
                b"Proxy-Connection: Keep-Alive\r\n"
            };
            out.splice(at..at, *line);
        }
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&request.body);
}

/// Writes a URL in the form of a request line for a proxy: lower-case host, without user information and fragment,
/// non-ASCII characters escaped.
fn put_whole_url(url: &str, out: &mut Vec<u8>) {
    if !url.is_ascii() {
        let mut escaped = String::new();
        lang::percent::beyond_ascii(url, &mut escaped);
        return put_whole_url(&escaped, out);
    }
    let parts = lang::url::split(url);
    out.extend_from_slice(url[parts.protocol.clone()].as_bytes());
    out.extend_from_slice(b"://");
    out.extend_from_slice(url[parts.host.clone()].to_lowercase().as_bytes());
    if let Some(port) = parts.port {
        out.extend_from_slice(format!(":{port}").as_bytes());
    }
    let path = &url[parts.path.clone()];
    out.extend_from_slice(if path.is_empty() { b"/" } else { path.as_bytes() });
    if let Some(query) = parts.query {
        out.push(b'?');
        out.extend_from_slice(url[query].as_bytes());
    }
}

/// Writes the header lines of a request, including the conditional headers and the cookies that the user adds.
fn put_lines(
    request: &Request,
    conditions: &Conditions,
    cookies: Option<&[u8]>,
    out: &mut Vec<u8>,
) {
    let mut modified_since = conditions.modified_since.as_deref().map(latin1);
    let mut none_match = conditions.none_match.as_deref().map(latin1);
    let mut cookies = cookies;
    for line in request.headers[..request.own_end].split_inclusive(|byte| *byte == b'\n') {
        if let Some(value) = take_if_named(&mut modified_since, line, b"if-modified-since") {
            put(b"If-Modified-Since", &value, out);
        } else if let Some(value) = take_if_named(&mut none_match, line, b"if-none-match") {
            put(b"If-None-Match", &value, out);
        } else if let Some(value) = take_if_named(&mut cookies, line, b"cookie") {
            put(b"Cookie", value, out);
        } else {
            out.extend_from_slice(line);
        }
    }
    if let Some(value) = modified_since {
        put(b"If-Modified-Since", &value, out);
    }
    if let Some(value) = none_match {
        put(b"If-None-Match", &value, out);
    }
    if let Some(value) = cookies {
        put(b"Cookie", value, out);
    }
    out.extend_from_slice(&request.headers[request.own_end..]);
}

/// Takes the value of an added header if `line` has the same name. An added header replaces only the first line of its
/// name.
fn take_if_named<T>(value: &mut Option<T>, line: &[u8], name: &[u8]) -> Option<T> {
    if value.is_some() && value_of(line, name).is_some() { value.take() } else { None }
}

fn put(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(plan: &str, rest: &str) -> Request {
        let mut request = Request::default();
        request.method.push_str("GET");
        request.target.push('/');
        request.headers.extend_from_slice(plan.as_bytes());
        (request.own_end, request.cookie_at) = (plan.len(), plan.len());
        request.headers.extend_from_slice(rest.as_bytes());
        request
    }

    fn sent(request: &Request, added: &Added<'_>) -> String {
        let mut out = Vec::new();
        assemble(request, added, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn conditions_stand_behind_the_plans_lines_and_before_cookies() {
        let request = request("Connection: keep-alive\r\nA: b\r\n", "Host: h\r\n");
        let conditions =
            Conditions { modified_since: Some("then".into()), none_match: Some("\"tag\"".into()) };
        let added =
            Added { conditions: Some(&conditions), cookies: Some(b"a=b"), ..Added::default() };
        assert_eq!(
            sent(&request, &added),
            "GET / HTTP/1.1\r\nConnection: keep-alive\r\nA: b\r\nIf-Modified-Since: then\r\n\
             If-None-Match: \"tag\"\r\nCookie: a=b\r\nHost: h\r\n\r\n"
        );
    }

    #[test]
    fn a_proxy_is_told_the_whole_url() {
        let mut request = request("A: b\r\n", "Host: h\r\nUser-Agent: x\r\n");
        request.url.push_str("http://me@Host:81/a//b?c#d");
        request.agent_at = request.headers.len() - "User-Agent: x\r\n".len();
        let added = Added { forwarded: true, ..Added::default() };
        assert_eq!(
            sent(&request, &added),
            "GET http://host:81/a//b?c HTTP/1.1\r\nA: b\r\nHost: h\r\nProxy-Connection: Keep-Alive\r\n\
             User-Agent: x\r\n\r\n"
        );
    }

    #[test]
    fn an_added_line_takes_the_place_of_the_plans() {
        let request = request("IF-none-match: x\r\nA: b\r\nIf-None-Match: y\r\n", "Host: h\r\n");
        let conditions = Conditions { modified_since: None, none_match: Some("z".into()) };
        let added = Added { conditions: Some(&conditions), ..Added::default() };
        assert_eq!(
            sent(&request, &added),
            "GET / HTTP/1.1\r\nIf-None-Match: z\r\nA: b\r\nIf-None-Match: y\r\nHost: h\r\n\r\n"
        );
    }
}
