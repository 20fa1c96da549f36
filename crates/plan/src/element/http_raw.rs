//! jp@gc HTTP Raw Request: sends a request as raw bytes, optionally followed by a file, and reads until the server
//! closes the connection.
//!
//! This file evaluates the request and parses the response; the engine sends and receives. The parser splits the
//! response as the plug-in does, with `java.util.Scanner` and the delimiter `\r\n`. Of the body, only the part
//! before its first `\r\n` is kept.

use std::sync::Arc;

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::result::SampleResult;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// A compiled HTTP Raw Request.
#[derive(Debug)]
pub struct HttpRaw {
    host: Template,
    port: Template,
    data: Template,
    file: Template,
    timeout: Template,
    keep: Flag,
    parse: Flag,
    /// Maximum number of response bytes to keep.
    limit: usize,
    buffer: usize,
}

/// Evaluated settings of one HTTP Raw exchange.
#[derive(Debug)]
pub struct RawCall {
    /// Host to connect to.
    pub host: String,
    /// Port to connect to, or the message of a Java exception.
    pub port: Result<u16, String>,
    /// Request data to send first.
    pub data: String,
    /// Content of the file to send after the data, or the message of a Java exception.
    pub file: Option<Result<Arc<[u8]>, String>>,
    /// Timeout in milliseconds for connecting and between two reads; 0 means no limit.
    pub timeout_ms: u32,
    /// True if the connection stays open for the next sample.
    pub keep: bool,
    /// True if the response is parsed.
    pub parse: bool,
    /// Number of response bytes after which further bytes are dropped.
    pub limit: usize,
    /// Number of bytes per read.
    pub buffer: usize,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> HttpRaw {
    let limit = ctx.settings.number("kg.apc.jmeter.samplers.ResultDataLimit", i32::MAX);
    HttpRaw {
        host: ctx.prop(id, "hostname"),
        port: ctx.prop(id, "port"),
        data: ctx.prop(id, "data"),
        file: ctx.prop(id, "fileName"),
        timeout: ctx.prop(id, "timeout"),
        keep: flag::compile(ctx, id, "keepalive", false),
        parse: flag::compile(ctx, id, "parse", false),
        limit: usize::try_from(limit).unwrap_or(0),
        buffer: buffer_size(ctx),
    }
}

/// Returns the number of bytes per read in samplers of jp@gc (`kg.apc.jmeter.samplers.ReceiveBufferSize`).
pub(super) fn buffer_size(ctx: &Context<'_>) -> usize {
    ctx.settings.number("kg.apc.jmeter.samplers.ReceiveBufferSize", 4096_usize).max(1)
}

impl HttpRaw {
    /// Evaluates the settings for the next exchange.
    pub fn call(&self, env: &mut Env<'_>) -> RawCall {
        let host = self.host.parsed(env, str::to_owned);
        let file = self.file.parsed(env, str::to_owned);
        RawCall {
            host,
            // A value that is not a number means port 80.
            port: self.port.parsed(env, |text| port(text.parse().unwrap_or(80))),
            data: self.data.parsed(env, str::to_owned),
            file: (!file.is_empty()).then(|| content(&file, env)),
            timeout_ms: u32::try_from(self.timeout.int(env)).unwrap_or(0),
            keep: self.keep.get(env),
            parse: self.parse.get(env),
            limit: self.limit,
            buffer: self.buffer,
        }
    }
}

/// Returns the port, or the message of Java's exception if it is out of range.
pub(super) fn port(number: i32) -> Result<u16, String> {
    u16::try_from(number)
        .map_err(|_| format!("java.lang.IllegalArgumentException: port out of range:{number}"))
}

/// Returns the content of a file; relative paths start in the working directory.
fn content(path: &str, env: &mut Env<'_>) -> Result<Arc<[u8]>, String> {
    crate::http::file_content(path, env).map_err(|error| {
        let words = error.to_string();
        let reason = words.split(" (os error").next().unwrap_or(&words);
        format!("java.io.FileNotFoundException: {path} ({reason})")
    })
}

/// Splits the response text of the result: sets code, message and headers, and reduces the text to the body up to its
/// first `\r\n`. Returns false and changes nothing if the response is not valid.
pub fn take_apart(result: &mut SampleResult) -> bool {
    let text = std::mem::take(&mut result.text);
    let body = parse(&text, result);
    result.text = text;
    let Some(body) = body else { return false };
    result.text.drain(..body.0);
    result.text.truncate(body.1);
    true
}

/// Returns the start and the length of the body; `None` if the response is not valid.
fn parse(text: &str, result: &mut SampleResult) -> Option<(usize, usize)> {
    let (status, mut rest) = next_line(text)?;
    let first = status.find(' ')?;
    let second = first + 1 + status[first + 1..].find(' ')?;
    let code = trim(&status[first..second]);
    if !(100..=599).contains(&code.parse::<i32>().ok()?) {
        return None;
    }
    result.code.clear();
    result.code.push_str(code);
    result.message.clear();
    result.message.push_str(trim(&status[second..]));
    if rest.is_empty() {
        return None;
    }
    while let Some((line, after)) = next_line(rest) {
        rest = after;
        if line.is_empty() {
            break;
        }
        result.response_headers.push_str(line);
        result.response_headers.push_str("\r\n");
    }
    let body = rest.strip_prefix("\r\n").unwrap_or(rest);
    let end = body.find("\r\n").unwrap_or(body.len());
    Some((text.len() - body.len(), end))
}

/// Removes leading and trailing characters as Java's `String.trim` does.
fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// Returns the first line and the rest, with the line separators of `Scanner`; `None` at the end.
fn next_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let ends = ['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}'];
    let Some((at, end)) = text.char_indices().find(|(_, c)| ends.contains(c)) else {
        return Some((text, ""));
    };
    let rest = &text[at + end.len_utf8()..];
    let rest = if end == '\r' { rest.strip_prefix('\n').unwrap_or(rest) } else { rest };
    Some((&text[..at], rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(text: &str) -> (bool, SampleResult) {
        let mut result = SampleResult::default();
        result.code.push_str("200");
        result.text.push_str(text);
        let done = take_apart(&mut result);
        (done, result)
    }

    #[test]
    fn answers_are_taken_apart() {
        let (done, result) =
            apart("HTTP/1.1 404  Not Here \r\nA: b\r\nC: d\r\n\r\nfirst\nsecond\r\nthird");
        assert!(done);
        assert_eq!((&*result.code, &*result.message), ("404", "Not Here"));
        assert_eq!(result.response_headers, "A: b\r\nC: d\r\n");
        assert_eq!(result.text, "first\nsecond");
    }

    #[test]
    fn what_is_no_answer_stays_as_it_is() {
        for text in
            ["", "HTTP/1.1 200", "HTTP/1.1 2OO OK\r\n\r\nx", "HTTP/1.1 600 No\r\n\r\nx", "one two"]
        {
            let (done, result) = apart(text);
            assert!(!done, "{text}");
            assert_eq!((&*result.code, &*result.text), ("200", text));
        }
    }

    #[test]
    fn a_status_line_alone_gives_its_code_only() {
        let (done, result) = apart("HTTP/1.1 503 Busy\r\n");
        assert!(!done);
        assert_eq!((&*result.code, &*result.text), ("503", "HTTP/1.1 503 Busy\r\n"));
    }

    #[test]
    fn bodies_end_where_the_scanner_sees_their_end() {
        for (body, kept) in
            [("", ""), ("\r\n", ""), ("\r\nabc", "abc"), ("a\rb", "a\rb"), ("x\r\n", "x")]
        {
            let (done, result) = apart(&format!("HTTP/1.0 200 OK\r\n\r\n{body}"));
            assert!(done);
            assert_eq!(result.text, kept, "{body:?}");
        }
    }

    #[test]
    fn lines_end_as_in_java() {
        assert_eq!(next_line("a\r\nb"), Some(("a", "b")));
        assert_eq!(next_line("a\rb"), Some(("a", "b")));
        assert_eq!(next_line("a\u{2028}b"), Some(("a", "b")));
        assert_eq!(next_line("ab"), Some(("ab", "")));
        assert_eq!(next_line(""), None);
    }

    #[test]
    fn ports() {
        assert_eq!(port(80), Ok(80));
        assert!(port(70_000).unwrap_err().ends_with("port out of range:70000"));
    }
}
