//! SSE Sampler (`com.jmeter.sse`): sends a request and reads a stream of events for some seconds.
//!
//! This file evaluates the request; the engine sends it and reads the response. Headers are lines `Name: value`. A
//! later header replaces an earlier header of the same name, as in OkHttp.

use jmx::ElementId;
use lang::url;

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// A compiled SSE Sampler.
#[derive(Debug)]
pub struct SseSampler {
    url: Template,
    duration: Template,
    headers: Template,
}

/// Evaluated settings of one SSE exchange.
#[derive(Debug)]
pub struct SseCall {
    /// URL as evaluated from the plan.
    pub url: String,
    /// Request to send, or the failure message of a sample without a valid request.
    pub request: Result<SseRequest, String>,
    /// Seconds after which the sample ends successfully, or the failure message of a sample without a valid duration.
    pub seconds: Result<i64, String>,
}

/// A request for an event stream.
#[derive(Debug, PartialEq, Eq)]
pub struct SseRequest {
    /// True if the request uses TLS.
    pub secure: bool,
    /// Host to connect to.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// The request as bytes to send.
    pub bytes: Vec<u8>,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> SseSampler {
    SseSampler {
        url: ctx.prop(id, "SSESampler.url"),
        duration: ctx.prop_or(id, "SSESampler.duration", "10"),
        headers: ctx.prop(id, "SSESampler.headers"),
    }
}

impl SseSampler {
    /// Evaluates the settings of the next request, and its duration.
    pub fn call(&self, env: &mut Env<'_>) -> SseCall {
        let url = self.url.parsed(env, str::to_owned);
        let request = self.headers.parsed(env, |headers| request(&url, headers));
        let seconds = self.duration.parsed(env, |text| {
            text.parse().map_err(|_| format!("Invalid duration value: '{text}'"))
        });
        SseCall { url, request, seconds }
    }
}

fn request(text: &str, headers: &str) -> Result<SseRequest, String> {
    let text = text.trim();
    let text = text.split_once('#').map_or(text, |(before, _)| before);
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let secure = match scheme.as_deref() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err(format!("Error: Expected URL scheme 'http' or 'https' in {text}")),
    };
    let parts = url::split(text);
    let host = &text[parts.host.clone()];
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let odd = |byte: u8| byte <= b' ' || byte >= 0x7f;
    if bare.is_empty() || bare.bytes().any(odd) {
        return Err(format!("Error: Invalid URL host: \"{host}\""));
    }
    let usual = if secure { 443 } else { 80 };
    // The port after the host may be invalid.
    let behind = &text[parts.host.end..parts.authority.end];
    let port = match behind.strip_prefix(':') {
        None | Some("") => usual,
        Some(digits) => match digits.parse() {
            Ok(port) if port > 0 => port,
            _ => return Err(format!("Error: Invalid URL port: \"{digits}\"")),
        },
    };
    let mut lines = Lines::default();
    lines.set("Accept", "text/event-stream")?;
    lines.set("Cache-Control", "no-cache")?;
    for (name, value) in headers.split('\n').filter_map(|line| line.split_once(':')) {
        if !name.trim().is_empty() {
            lines.set(name.trim(), value.trim())?;
        }
    }
    if !lines.has("Host") {
        let shown = if port == usual { String::new() } else { format!(":{port}") };
        lines.0.insert(0, ("Host", format!("{host}{shown}")));
    }
    let mut bytes = b"GET ".to_vec();
    if !text[parts.path.clone()].starts_with('/') {
        bytes.push(b'/');
    }
    escape(&text[parts.path.start..], &mut bytes);
    bytes.extend_from_slice(b" HTTP/1.1\r\n");
    for (name, value) in &lines.0 {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    Ok(SseRequest { secure, host: bare.to_owned(), port, bytes })
}

/// Header lines, at most one per name.
#[derive(Debug, Default)]
struct Lines<'a>(Vec<(&'a str, String)>);

impl<'a> Lines<'a> {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(one, _)| one.eq_ignore_ascii_case(name))
    }

    /// Sets a header. The error is OkHttp's message about a character that is not allowed in a header.
    fn set(&mut self, name: &'a str, value: &str) -> Result<(), String> {
        let strange = |text: &str, good: fn(char) -> bool| {
            text.char_indices().find(|(_, char)| !good(*char)).map(|(at, char)| {
                format!("Error: Unexpected char 0x{:02x} at {at} in", u32::from(char))
            })
        };
        if let Some(words) = strange(name, |char| char.is_ascii_graphic() && char != ':') {
            return Err(format!("{words} header name: {name}"));
        }
        if let Some(words) = strange(value, |char| matches!(char, '\t' | ' '..='~')) {
            return Err(format!("{words} {name} value"));
        }
        self.0.retain(|(one, _)| !one.eq_ignore_ascii_case(name));
        self.0.push((name, value.to_owned()));
        Ok(())
    }
}

/// Writes a path or a query, and escapes characters that are not allowed in a request line.
fn escape(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'<' | b'>' => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            b'!'..=b'~' => out.push(byte),
            _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(url: &str, headers: &str) -> String {
        String::from_utf8(request(url, headers).expect("a request").bytes).expect("text")
    }

    #[test]
    fn a_request_has_its_own_headers_and_those_of_the_plan() {
        assert_eq!(
            lines("http://host:8080/a b?c=\u{e4}#d", "X-One: 1\r\nno header\n: nothing\nX-Two:a:b"),
            "GET /a%20b?c=%C3%A4 HTTP/1.1\r\nHost: host:8080\r\nAccept: text/event-stream\r\n\
             Cache-Control: no-cache\r\nX-One: 1\r\nX-Two: a:b\r\n\r\n"
        );
        assert_eq!(
            lines("HTTPS://host", "accept: x\nx-one: 1\nX-ONE: 2\nHost: other"),
            "GET / HTTP/1.1\r\nCache-Control: no-cache\r\naccept: x\r\nX-ONE: 2\r\nHost: other\r\n\r\n"
        );
        assert!(lines("http://host?a=1", "").starts_with("GET /?a=1 HTTP/1.1\r\n"));
    }

    #[test]
    fn addresses() {
        for (url, secure, host, port) in [
            ("http://a", false, "a", 80),
            (" https://a/ ", true, "a", 443),
            ("http://a:/", false, "a", 80),
            ("https://a:8443/x", true, "a", 8443),
            ("http://[::1]:81/", false, "::1", 81),
            ("http://user@a:82/", false, "a", 82),
        ] {
            let made = request(url, "").expect(url);
            assert_eq!((made.secure, &*made.host, made.port), (secure, host, port), "{url}");
        }
    }

    #[test]
    fn requests_that_cannot_be() {
        for (url, headers, words) in [
            ("", "", "URL scheme"),
            ("ftp://a/", "", "URL scheme"),
            ("http:///x", "", "URL host"),
            ("http://a\r\nb/", "", "URL host"),
            ("http://a:x/", "", "URL port"),
            ("http://a:0/", "", "URL port"),
            ("http://a:65536/", "", "URL port"),
            ("http://a/", "X: a\rb", "Unexpected char 0x0d at 1 in X value"),
            ("http://a/", "X Y: a", "Unexpected char 0x20 at 1 in header name: X Y"),
        ] {
            let error = request(url, headers).expect_err(url);
            assert!(error.starts_with("Error: ") && error.contains(words), "{url}: {error}");
        }
    }
}
