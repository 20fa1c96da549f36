//! Errors of `java.net.URI` with its messages, and the request target that HttpClient derives from a URI.
//!
//! JMeter converts each URL into a URI before sending: an unencoded character fails the sample with
//! `java.net.URISyntaxException`. HttpClient then rewrites the path, segment by segment.

use crate::{percent, url};

/// The error for a string that is not a URI: the reason, and the position in UTF-16 units (`None` if Java gives no
/// position).
#[derive(Debug, PartialEq, Eq)]
pub struct BadUri {
    reason: String,
    at: Option<usize>,
}

impl BadUri {
    /// Returns the message of Java's `URISyntaxException`.
    pub fn message(&self, input: &str) -> String {
        match self.at {
            Some(at) => format!("{} at index {at}: {input}", self.reason),
            None => format!("{}: {input}", self.reason),
        }
    }
}

fn fail<T>(input: &str, at: usize, reason: impl Into<String>) -> Result<T, BadUri> {
    let units = input.get(..at).map_or(at, |text| text.encode_utf16().count());
    Err(BadUri { reason: reason.into(), at: Some(units) })
}

fn unreserved(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-!.~'()*".contains(c)
}

/// Returns true for characters of user info, hosts and registry names.
fn registry(c: char) -> bool {
    unreserved(c) || "$,;:@&=+".contains(c)
}

fn server(c: char) -> bool {
    unreserved(c) || ";:&=+$,.@[]".contains(c)
}

fn path(c: char) -> bool {
    unreserved(c) || ":@&=+$,;/".contains(c)
}

fn uric(c: char) -> bool {
    unreserved(c) || ";/?:@&=+$,[]".contains(c)
}

/// For each byte: true if it is allowed in paths, queries and fragments.
const ANYWHERE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'_' | b'-'
                    | b'.'
                    | b'~'
                    | b'/'
                    | b'&'
                    | b'='
                    | b'+'
                    | b':'
                    | b','
                    | b';'
                    | b'@'
                    | b'$'
            );
        byte += 1;
    }
    table
};

/// Returns true for non-ASCII characters that Java allows: all except whitespace and controls.
fn other(c: char) -> bool {
    !c.is_ascii()
        && !c.is_control()
        && !c.is_whitespace()
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{a0}' | '\u{202f}' | '\u{2007}')
}

/// Returns the end of the `allowed` characters and escapes from `from` on. An invalid escape is an error.
fn scan(input: &str, from: usize, to: usize, allowed: fn(char) -> bool) -> Result<usize, BadUri> {
    let mut at = from;
    while at < to {
        let Some(c) = input[at..to].chars().next() else { break };
        if c == '%' {
            let digits = input.as_bytes().get(at + 1..at + 3).filter(|_| at + 3 <= to);
            if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                return fail(input, at, "Malformed escape pair");
            }
            at += 3;
        } else if allowed(c) || other(c) {
            at += c.len_utf8();
        } else {
            break;
        }
    }
    Ok(at)
}

fn check(
    input: &str,
    from: usize,
    to: usize,
    allowed: fn(char) -> bool,
    what: &str,
) -> Result<(), BadUri> {
    // Nearly all paths and queries consist of characters that are allowed in any part.
    if input.as_bytes()[from..to].iter().all(|byte| ANYWHERE[*byte as usize]) {
        return Ok(());
    }
    let end = scan(input, from, to, allowed)?;
    if end < to { fail(input, end, format!("Illegal character in {what}")) } else { Ok(()) }
}

/// Verifies that Java's `new URI(input)` accepts `input`, the external form of a URL. Fails with Java's error.
#[inline]
pub fn verify(input: &str) -> Result<(), BadUri> {
    let Some(colon) = input.find([':', '/', '?', '#']).filter(|at| input.as_bytes()[*at] == b':')
    else {
        return Ok(());
    };
    let n = input.len();
    let mut at = colon + 1;
    if input[at..].starts_with("//") {
        at += 2;
        let end = input[at..].find(['/', '?', '#']).map_or(n, |found| at + found);
        if end > at {
            authority(input, at, end)?;
            at = end;
        } else if end == n {
            return fail(input, at, "Expected authority");
        }
    } else if !input[at..].starts_with('/') {
        let end = input[at..].find('#').map_or(n, |found| at + found);
        if end <= at {
            return fail(input, at, "Expected scheme-specific part");
        }
        check(input, at, end, uric, "opaque part")?;
        at = end;
    }
    let end = input[at..].find(['?', '#']).map_or(n, |found| at + found);
    check(input, at, end, path, "path")?;
    at = end;
    if input[at..].starts_with('?') {
        at += 1;
        let end = input[at..].find('#').map_or(n, |found| at + found);
        check(input, at, end, uric, "query")?;
        at = end;
    }
    if input[at..].starts_with('#') {
        check(input, at + 1, n, uric, "fragment")?;
    }
    Ok(())
}

fn authority(input: &str, from: usize, to: usize) -> Result<(), BadUri> {
    let text = &input[from..to];
    if is_plain_authority(text) {
        return Ok(());
    }
    let bracket = text.find(']').is_some_and(|at| at > 0);
    let server_chars = if bracket {
        text.chars().all(|c| server(c) || c == '%')
    } else {
        text.chars().all(server)
    };
    let registry_end = scan(input, from, to, registry)?;
    let registry_chars = registry_end == to;
    if !server_chars {
        return if registry_chars {
            Ok(())
        } else {
            fail(input, from, "Illegal character in authority")
        };
    }
    match parse_server(input, from, to) {
        Ok(()) => Ok(()),
        Err(_) if registry_chars => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns true if a string consists of letters, digits, dots and inner hyphens, with an optional port. Such a string
/// is a valid server or a valid registry name.
fn is_plain_authority(text: &str) -> bool {
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    port.bytes().all(|byte| byte.is_ascii_digit())
        && host.starts_with(|c: char| c.is_ascii_alphanumeric())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

fn parse_server(input: &str, from: usize, to: usize) -> Result<(), BadUri> {
    let host = input[from..to].find('@').map_or(from, |at| from + at + 1);
    let mut at = host;
    if input[host..to].starts_with('[') {
        let Some(end) =
            input[host + 1..to].find([']', '/', '?', '#']).map(|found| host + 1 + found)
        else {
            return fail(input, to, "Expected closing bracket for IPv6 address");
        };
        if input.as_bytes()[end] != b']' {
            return fail(input, end, "Expected closing bracket for IPv6 address");
        }
        if end == host + 1 {
            return fail(input, end, "Expected closing bracket for IPv6 address");
        }
        let address = &input[host + 1..end];
        let plain = address.split('%').next().unwrap_or("");
        if plain.parse::<std::net::Ipv6Addr>().is_err() {
            let groups = plain.split(':').collect::<Vec<_>>();
            let is_group = |group: &&str| {
                (1..=4).contains(&group.len()) && group.bytes().all(|b| b.is_ascii_hexdigit())
            };
            if groups.len() < 8 && groups.iter().all(is_group) {
                return fail(input, host + 1, "IPv6 address too short");
            }
            let bad = plain.find(|c: char| !c.is_ascii_hexdigit() && c != ':' && c != '.');
            return fail(input, host + 1 + bad.unwrap_or(0), "Malformed IPv6 address");
        }
        at = end + 1;
    } else {
        let end = input[host..to].find(':').map_or(to, |found| host + found);
        if !is_host(&input[host..end]) {
            return fail(input, host, "Illegal character in hostname");
        }
        at = at.max(end);
    }
    if input[at..to].starts_with(':') {
        let digits = input[at + 1..to].bytes().take_while(u8::is_ascii_digit).count();
        at += 1 + digits;
    }
    if at < to { fail(input, at, "Expected port number") } else { Ok(()) }
}

/// Returns true for a valid host name (labels of letters, digits and inner hyphens, the last one starting with a
/// letter) or an IPv4 address.
fn is_host(host: &str) -> bool {
    if host.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let label = |label: &str| {
        !label.is_empty()
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.split('.').all(label)
        && host
            .rsplit('.')
            .next()
            .is_some_and(|last| last.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Escapes characters that a URI must not contain, like the constructor of `java.net.URI` that takes components.
pub fn quote(text: &mut String) {
    let parts = url::split(text);
    let mut quoted = text[..parts.path.start].to_string();
    let query_or_end = |c: char| c.is_ascii_alphanumeric() || "_-!.~'()*;/?:@&=+$,[]#".contains(c);
    for (at, c) in text[parts.path.start..].char_indices() {
        let in_path = parts.path.start + at < parts.path.end && "[]".contains(c);
        if (query_or_end(c) && !in_path) || (!c.is_ascii() && !c.is_control() && !c.is_whitespace())
        {
            quoted.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                quoted.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    *text = quoted;
}

/// Appends the request target for a verified path and query. If a path has empty segments before its last segment, the
/// empty segments are removed, and the other segments are decoded and encoded. In any other path, and in the query,
/// only non-ASCII characters are escaped. `bytes` is a scratch buffer.
#[inline]
pub fn target(path: &str, query: Option<&str>, bytes: &mut Vec<u8>, out: &mut String) {
    if path.is_empty() {
        out.push('/');
    } else if path.contains("//") {
        let mut segments = path.split('/').skip(1).peekable();
        while let Some(segment) = segments.next() {
            if !segment.is_empty() || segments.peek().is_none() {
                out.push('/');
                bytes.clear();
                decode_segment(segment, bytes);
                // Bytes that are not UTF-8 become replacement characters.
                percent::segment(String::from_utf8_lossy(bytes).as_bytes(), out);
            }
        }
    } else {
        percent::beyond_ascii(path, out);
    }
    if let Some(query) = query {
        out.push('?');
        percent::beyond_ascii(query, out);
    }
}

/// Appends a path as HttpClient normalizes it for a redirect: dot segments are removed, and segments are decoded and
/// encoded. As in HttpClient, a path that ends in `/` then ends in `//`; [`target`] reduces it to one slash.
pub fn normal_path(path: &str, out: &mut String) {
    let mut segments: Vec<String> = Vec::new();
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut bytes = Vec::new();
    for segment in path.split('/') {
        bytes.clear();
        decode_segment(segment, &mut bytes);
        match &bytes[..] {
            b"." => {}
            b".." => {
                segments.pop();
            }
            bytes => {
                let mut segment = String::new();
                percent::segment(String::from_utf8_lossy(bytes).as_bytes(), &mut segment);
                segments.push(segment);
            }
        }
    }
    if path.ends_with('/') {
        segments.push(String::new());
    }
    for segment in segments {
        out.push('/');
        out.push_str(&segment);
    }
}

/// Decodes a segment like HttpClient, which truncates each non-ASCII character to its lowest byte. The result is mostly
/// garbage.
fn decode_segment(segment: &str, bytes: &mut Vec<u8>) {
    let mut rest = segment;
    while let Some(c) = rest.chars().next() {
        let escaped = rest.strip_prefix('%').and_then(|digits| digits.get(..2));
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| *unit as u8));
                rest = &rest[c.len_utf8()..];
            }
        }
    }
}
