//! Fills a result from an exchange, in the form that processors and listeners see. Called only if something reads the
//! result.

use std::fmt::Write;

use mgs::SessionKey;
use mgs::gzip::Gzip;
use plan::http::header_lines;
use plan::plan::{Needs, SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::gateway::UNDECRYPTABLE;
use wire::coding::{Coding, CodingError, Inflater};

use crate::context::Context;
use crate::http::lines::{push_latin1, value_of};
use crate::http::{chain, gateway, lines};
use crate::session::http1::{Encrypted, HttpExchange, KeptResponse, Stash};

/// Decoders of a core for response bodies.
pub(crate) struct Bodies {
    inflater: Inflater,
    gzip: Gzip,
    /// Buffers for an encrypted body and, in `plain`, its plain text.
    sealed: Vec<u8>,
    plain: Vec<u8>,
}

impl Bodies {
    pub(super) fn new() -> Self {
        Self {
            inflater: Inflater::new(),
            gzip: Gzip::new(1),
            sealed: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// Fills an empty result from a response.
    pub(crate) fn fill(
        &mut self,
        cx: &Context<'_>,
        response: &mut KeptResponse<'_>,
        result: &mut SampleResult,
    ) {
        begin_result(cx, response, result);
        let (id, exchange, stash) = (response.sampler, response.exchange, &mut *response.stash);
        let needs = cx.plan.samplers[id.0 as usize].needs;
        let content_type = stash.content_type.clone().map(|place| &stash.head[place]);
        let coding = stash.content_encoding.clone().map(|place| &stash.head[place]);
        if let Some(content_type) = content_type {
            push_latin1(&mut result.content_type, content_type);
            if let Some(charset) = wire::charset::charset_of(content_type) {
                result.encoding.push_str(charset);
            }
        }
        result.data_type =
            if content_type.is_some() { data_type(&result.content_type) } else { "" };
        let coding = coding
            .and_then(Coding::parse)
            .filter(|coding| *coding != Coding::Identity && !stash.body.is_empty())
            .filter(|coding| !exchange.java || *coding == Coding::Gzip);
        if needs.contains(Needs::HEADERS) {
            let lines = if exchange.java {
                write_java_headers(&stash.head, &mut result.response_headers)
            } else {
                write_headers(&stash.head, coding.is_some(), &mut result.response_headers)
            };
            // JMeter counts the length of the headers as it shows them, plus the line ends that it removed.
            result.headers_size = (result.response_headers.encode_utf16().count()
                + lines.saturating_sub(1)
                + 3) as u64;
        }
        if needs.contains(Needs::SAMPLER_DATA)
            && chain::is_redirect(exchange.status, &stash.method)
            && let Some(location) = lines::location(&stash.head)
        {
            result.has_location = true;
            push_latin1(&mut result.redirect_location, location);
        }
        if exchange.keep_body {
            self.fill_body(cx, id, exchange, stash, coding, result);
        }
    }

    /// Decodes the body of a response into a result, and converts it to a string.
    fn fill_body(
        &mut self,
        cx: &Context<'_>,
        id: SamplerId,
        exchange: &HttpExchange,
        stash: &mut Stash,
        coding: Option<Coding>,
        result: &mut SampleResult,
    ) {
        let needs = cx.plan.samplers[id.0 as usize].needs;
        let (limit, received) = cx.run.settings.bodies.most_of_body(exchange.digest);
        let mut broken = None;
        match coding {
            // The buffers are swapped, so nothing is copied.
            None => {
                stash.body.truncate(limit);
                std::mem::swap(&mut result.body, &mut stash.body);
            }
            // Bytes that were decoded before an error are kept, as a stream reader in JMeter would have received
            // them.
            Some(coding) => {
                // If the body exceeded the limit of kept bytes, its end is missing on purpose.
                let forgiving =
                    cx.run.settings.http.allows_truncated(coding) || stash.body.len() >= received;
                let ended = [CodingError::Truncated, CodingError::TruncatedTrailer].map(Some);
                broken = self.inflater.decode(coding, &stash.body, &mut result.body, limit).err();
                broken = broken.filter(|_| !(forgiving && ended.contains(&broken)));
            }
        }
        if let Some(encrypted) = &stash.encrypted {
            self.decrypt(encrypted, &stash.head, limit, result);
        }
        if let SamplerKind::Http(http) = &cx.plan.samplers[id.0 as usize].kind
            && http.md5
            // JMeter computes no digest of an empty body.
            && !result.body.is_empty()
        {
            digest(&mut result.body);
        }
        if let Some(error) = broken {
            undecodable(result, coding, error);
        }
        if result.encoding.is_empty()
            && result.content_type.starts_with("text/html")
            && let Some(charset) = wire::charset::charset_in_html(&result.body)
        {
            result.encoding.push_str(charset);
        }
        if needs.contains(Needs::TEXT) || exchange.parse {
            let charset = (!result.encoding.is_empty()).then_some(&*result.encoding);
            let charset = charset.or(Some(&*cx.run.settings.bodies.default_encoding));
            lang::charset::decode_into(charset, &result.body, &mut result.text);
        }
    }
}

impl Bodies {
    /// Replaces an encrypted body by its plain text. A body without encryption mark that cannot be decrypted stays as
    /// it is; if the gateway always encrypts, the sample fails.
    fn decrypt(
        &mut self,
        encrypted: &Encrypted,
        head: &[u8],
        limit: usize,
        result: &mut SampleResult,
    ) {
        // Gateways send errors without a body.
        if result.body.is_empty() {
            return;
        }
        let own = encrypted.key;
        let mut opened = self.open(&SessionKey { sends_vector: false, ..own }, limit, &result.body);
        // If each body has its own initialisation vector, the response may use the request's vector or its own.
        // Decompression shows which one.
        if opened.is_err() && own.sends_vector && own.gzip {
            opened = self.open(&own, limit, &result.body);
        }
        match opened {
            Ok(()) => std::mem::swap(&mut result.body, &mut self.plain),
            Err(problem) => {
                let marked = |line| value_of(line, b"x-mgs-encryption").is_some_and(|v| v != b"0");
                if encrypted.always || header_lines(head).any(marked) {
                    gateway::fail(result, format_args!("{UNDECRYPTABLE}: {problem}"));
                }
            }
        }
    }
}

impl Bodies {
    fn open(&mut self, key: &SessionKey, limit: usize, body: &[u8]) -> Result<(), String> {
        self.sealed.clear();
        self.sealed.extend_from_slice(body);
        self.plain.clear();
        mgs::sealer::open(key, &mut self.gzip, &mut self.sealed, limit, &mut self.plain)
    }
}

/// Fills a result, except for the response's headers and body.
fn begin_result(cx: &Context<'_>, response: &KeptResponse<'_>, result: &mut SampleResult) {
    let KeptResponse { user, sampler, exchange, timing, stash } = response;
    result.label.push_str(cx.sampler_name(*user, *sampler));
    result.code.push_str(itoa::Buffer::new().format(exchange.status));
    push_reason(&mut result.message, &stash.head, exchange.java);
    result.success = (200..400).contains(&exchange.status);
    show_request(result, stash);
    if let Some((_, shown)) = &cx.run.settings.http.local_address
        && !result.request_headers.is_empty()
    {
        result.request_headers.push_str("X-LocalAddress: ");
        result.request_headers.push_str(shown);
        result.request_headers.push('\n');
    }
    result.start_ms = cx.clock.wall_ms(timing.start);
    (result.elapsed, result.latency, result.connect) =
        (timing.elapsed(), timing.latency, timing.connect);
    (result.bytes, result.sent) = (timing.received, timing.sent);
}

/// Copies the description of a request from the stash to a result: URL, method, cookies, body and headers. In the
/// stash, strings that no element of the plan reads may be empty.
pub(crate) fn show_request(result: &mut SampleResult, stash: &Stash) {
    result.http = true;
    for (to, from) in [
        (&mut result.url, &stash.url),
        (&mut result.method, &stash.method),
        (&mut result.cookies, &stash.cookies),
        (&mut result.query_string, &stash.query_string),
        (&mut result.request_headers, &stash.request_headers),
        (&mut result.sampler_data, &stash.sampler_data),
    ] {
        to.push_str(from);
    }
}

/// Returns JMeter's data type for a content type: `bin` for images, audio and video.
fn data_type(content_type: &str) -> &'static str {
    const BINARY: [&str; 3] = ["image/", "audio/", "video/"];
    const TEXT_AFTER_ALL: [&str; 2] = ["image/svg+xml", "application/xml"];
    let lower = |prefix: &&str| {
        content_type.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if BINARY.iter().any(lower) && !TEXT_AFTER_ALL.iter().any(lower) { "bin" } else { "text" }
}

/// Appends the reason phrase of a response. If there is none, Java's own client reports the whole status line.
pub(crate) fn push_reason(to: &mut String, head: &[u8], java: bool) {
    let status_line = status_line(head);
    let words = match reason(status_line) {
        [] if java => status_line,
        words => words,
    };
    push_latin1(to, words);
}

/// Returns the status line without its line end.
fn status_line(head: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    head[..end].strip_suffix(b"\r").unwrap_or(&head[..end])
}

/// Returns the reason phrase of a status line.
fn reason(line: &[u8]) -> &[u8] {
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    parts.nth(2).unwrap_or_default().trim_ascii()
}

/// Replaces a body by its MD5 in hexadecimal digits.
fn digest(body: &mut Vec<u8>) {
    use std::io::Write;
    let sum = <md5::Md5 as md5::Digest>::digest(&*body);
    body.clear();
    for byte in sum {
        let _ = write!(body, "{byte:02x}");
    }
}

/// Fails the sample as JMeter does, because its body could not be decoded.
fn undecodable(result: &mut SampleResult, coding: Option<Coding>, error: CodingError) {
    let (class, message) = match error {
        CodingError::TooLarge { .. } => return,
        _ if coding == Some(Coding::Brotli) => {
            ("java.io.IOException", "Brotli stream decoding failed")
        }
        CodingError::TruncatedFrame | CodingError::TruncatedTrailer => {
            ("java.io.EOFException", "null")
        }
        CodingError::Truncated => ("java.io.EOFException", "Unexpected end of ZLIB input stream"),
        CodingError::NotGzip => ("java.util.zip.ZipException", "Not in GZIP format"),
        CodingError::BadTrailer => ("java.util.zip.ZipException", "Corrupt GZIP trailer"),
        // Java names the violated rule of the compression format. Throng does not know it.
        CodingError::Corrupt => ("java.util.zip.ZipException", "invalid compressed data"),
    };
    result.code.clear();
    result.message.clear();
    let _ = write!(result.code, "Non HTTP response code: {class}");
    let _ = write!(result.message, "Non HTTP response message: {message}");
    result.data_type = "text";
    result.success = false;
}

/// Writes response headers as JMeter shows them: lines ended by `\n`, without a blank line at the end. Headers that
/// HttpClient removes while decoding a body are appended at the end. Returns the number of lines that were not removed.
fn write_headers(head: &[u8], decoded: bool, out: &mut String) -> usize {
    const TAKEN: [&[u8]; 3] = [b"content-length", b"content-encoding", b"content-md5"];
    let taken = |line: &[u8]| decoded && TAKEN.iter().any(|name| value_of(line, name).is_some());
    for (n, line) in head.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || taken(line) {
            continue;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            // A folded line continues the value of the line before it.
            out.pop();
            out.push(' ');
        }
        push_latin1(out, line.trim_ascii_start());
        if n == 0 && reason(line).is_empty() && !line.ends_with(b" ") {
            out.push(' ');
        }
        out.push('\n');
    }
    let lines = out.bytes().filter(|byte| *byte == b'\n').count();
    for name in TAKEN.iter().filter(|_| decoded) {
        for line in head.split(|byte| *byte == b'\n').filter(|line| value_of(line, name).is_some())
        {
            push_latin1(out, line.trim_ascii_end());
            out.push('\n');
        }
    }
    lines
}

/// Writes response headers as JMeter shows them with Java's own client: names and values are trimmed.
fn write_java_headers(head: &[u8], out: &mut String) -> usize {
    for (n, line) in head.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        if n > 0 && (line.starts_with(b" ") || line.starts_with(b"\t")) {
            out.pop();
            out.push(' ');
            push_latin1(out, line.trim_ascii());
        } else if let Some(colon) = line.iter().position(|byte| n > 0 && *byte == b':') {
            push_latin1(out, line[..colon].trim_ascii());
            out.push_str(": ");
            push_latin1(out, line[colon + 1..].trim_ascii());
        } else {
            push_latin1(out, line);
        }
        out.push('\n');
    }
    out.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_taken_apart() {
        let line = status_line(b"HTTP/1.1 404 Not  Found\r\nA: b\r\n\r\n");
        assert_eq!(reason(line), b"Not  Found");
        assert_eq!(reason(b"HTTP/1.1 200"), b"");
        assert_eq!(
            value_of(b"Content-Type : text/html \r", b"content-type"),
            Some(&b"text/html"[..])
        );
        assert_eq!(value_of(b"Content-Typed: x", b"content-type"), None);
    }

    #[test]
    fn data_types() {
        assert_eq!(data_type("image/png"), "bin");
        assert_eq!(data_type("text/html;charset=utf-8"), "text");
        assert_eq!(data_type("IMAGE/SVG+xml"), "text");
        assert_eq!(data_type(""), "text");
    }
}
