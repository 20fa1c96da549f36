//! URLs as in `java.net.URL`, which checks almost nothing and keeps the text unchanged.
//!
//! A URL is its external form, with ranges into it. Nothing is allocated beyond the text's own buffer.

mod absolute;

use std::ops::Range;

pub use absolute::{Absolute, NoAddress, absolute};

/// Positions of a URL's parts in its external form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Protocol such as `http`, in lower case.
    pub protocol: Range<usize>,
    /// User info, host and port; empty if the URL has no authority.
    pub authority: Range<usize>,
    /// Host without user info and port; an IPv6 address keeps its brackets.
    pub host: Range<usize>,
    /// Port of the URL, if the URL contains one.
    pub port: Option<u32>,
    /// Path of the URL.
    pub path: Range<usize>,
    /// Query of the URL, without `?`.
    pub query: Option<Range<usize>>,
}

/// A `MalformedURLException` with its message.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

const KNOWN: [&str; 7] = ["http", "https", "file", "ftp", "jar", "mailto", "jrt"];

fn known(protocol: &str) -> Result<(), Malformed> {
    if KNOWN.contains(&protocol) {
        Ok(())
    } else {
        Err(Malformed(format!("unknown protocol: {protocol}")))
    }
}

/// Writes the external form of a URL from its components; `port` is `None` if it is omitted.
pub fn assemble(
    protocol: &str,
    host: &str,
    port: Option<i32>,
    file: &str,
    out: &mut String,
) -> Result<(), Malformed> {
    out.clear();
    out.push_str(protocol);
    out.make_ascii_lowercase();
    known(out)?;
    let bracketed = host.contains(':') && !host.starts_with('[');
    if let Some(port) = port
        && port < -1
    {
        return Err(Malformed(format!("Invalid port number :{port}")));
    }
    out.push(':');
    if !host.is_empty() || port.is_some_and(|port| port != -1) {
        out.push_str("//");
        if bracketed {
            out.push('[');
        }
        out.push_str(host);
        if bracketed {
            out.push(']');
        }
        if let Some(port) = port
            && port != -1
        {
            out.push(':');
            out.push_str(itoa::Buffer::new().format(port));
        }
    }
    out.push_str(file);
    check_host(host)
}

/// Rejects a host with characters that `java.net.URL` rejects since Java 17.
#[inline]
pub fn check_host(host: &str) -> Result<(), Malformed> {
    match host.chars().find(|c| *c < ' ' || matches!(c, '/' | '\u{7f}')) {
        Some(c) => Err(Malformed(format!("Illegal character found in host: {}", describe(c)))),
        None => Ok(()),
    }
}

/// Returns the error message for a host with a character that a URI's host must not contain; `None` if the host is
/// valid. Used for a host that is given separately from its URL. The message does not contain the host.
#[inline]
pub fn host_fault(host: &str) -> Option<String> {
    let bad = host
        .chars()
        .find(|c| "#?@[]\\".contains(*c))
        .filter(|_| !host.starts_with('[') && !host.contains(':'))?;
    Some(format!("Illegal character found in host: {}", describe(bad)))
}

fn describe(c: char) -> String {
    match c {
        '\n' => "LF".to_string(),
        '\r' => "CR".to_string(),
        c if c < ' ' || c == '\u{7f}' => format!("control char (code={})", c as u32),
        c => format!("'{c}'"),
    }
}

/// Writes the external form of `spec`, resolved against `base` if `spec` is relative.
pub fn resolve(base: Option<&str>, spec: &str, out: &mut String) -> Result<(), Malformed> {
    out.clear();
    if base.is_none() && is_plain(spec) {
        let authority = spec.split_once("//").map_or("", |(_, rest)| rest);
        let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
        check_authority(&authority[..end])?;
        out.push_str(spec);
        return Ok(());
    }
    let (protocol, rest) = protocol_of(spec);
    // A base with another protocol is ignored. If the base has the same protocol, `spec` counts as relative, as if
    // `spec` had no protocol.
    let base = base
        .map(Base::of)
        .filter(|base| protocol.is_empty() || protocol == base.protocol && !base.path.is_empty());
    if protocol.is_empty() && base.is_none() {
        return Err(Malformed(format!("no protocol: {spec}")));
    }
    let has_base = base.is_some();
    let base = base.unwrap_or_default();
    let protocol = if protocol.is_empty() { base.protocol } else { &*protocol };
    known(protocol)?;
    let (spec, reference) = cut(rest, '#');
    let (rest, query) = cut(spec, '?');
    let (mut authority, mut base_path, mut file) = (base.authority, base.path, rest);
    if let Some(rest) = rest.strip_prefix("//").filter(|rest| !rest.starts_with("//")) {
        (authority, file) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        check_authority(authority)?;
        if !authority.is_empty() {
            base_path = "";
        }
    }
    let path = if rest.is_empty() && query.is_some() && has_base {
        [&base_path[..base_path.rfind('/').unwrap_or(0)], "/"].concat()
    } else {
        path_on(base_path, file, !authority.is_empty())
    };
    out.push_str(protocol);
    out.push(':');
    if !authority.is_empty() {
        out.push_str("//");
        out.push_str(authority);
    }
    out.push_str(&path);
    if let Some(query) = query.or(base.query.filter(|_| spec.is_empty())) {
        out.push('?');
        out.push_str(query);
    }
    if let Some(reference) = reference.or(base.reference.filter(|_| spec.is_empty())) {
        out.push('#');
        out.push_str(reference);
    }
    Ok(())
}

/// Returns the URL's protocol in lower case (empty if it has none), and the text after it.
fn protocol_of(spec: &str) -> (String, &str) {
    let mut spec = spec.trim_matches(|c: char| c <= ' ');
    if spec.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("url:")) {
        spec = &spec[4..];
    }
    if !spec.starts_with('#')
        && let Some(end) = spec.find([':', '/'])
        && spec.as_bytes()[end] == b':'
        && is_protocol(&spec[..end])
    {
        return (spec[..end].to_ascii_lowercase(), &spec[end + 1..]);
    }
    (String::new(), spec)
}

/// The parts of a base URL, against which relative URLs are resolved.
#[derive(Default)]
struct Base<'b> {
    protocol: &'b str,
    authority: &'b str,
    path: &'b str,
    query: Option<&'b str>,
    reference: Option<&'b str>,
}

impl<'b> Base<'b> {
    fn of(text: &'b str) -> Self {
        let parts = split(text);
        let end = parts.query.as_ref().map_or(parts.path.end, |query| query.end);
        Self {
            protocol: &text[parts.protocol],
            authority: &text[parts.authority],
            path: &text[parts.path],
            query: parts.query.map(|query| &text[query]),
            reference: text[end..].strip_prefix('#'),
        }
    }
}

/// Resolves the path `file` of a relative URL against `base`, the path of the base URL.
fn path_on(base: &str, file: &str, has_authority: bool) -> String {
    if file.is_empty() {
        return base.to_owned();
    }
    if file.starts_with('/') {
        return file.to_owned();
    }
    if base.is_empty() {
        return [if has_authority { "/" } else { "" }, file].concat();
    }
    without_dots([&base[..base.rfind('/').map_or(0, |at| at + 1)], file].concat())
}

/// Splits a string at the first `sign`; returns the text before `sign`, and the text after it (`None` without `sign`).
fn cut(text: &str, sign: char) -> (&str, Option<&str>) {
    text.split_once(sign).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

/// Returns true if an absolute URL equals its external form, as nearly all do.
fn is_plain(spec: &str) -> bool {
    let rest = spec.strip_prefix("http://").or_else(|| spec.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#']))
        && !spec.ends_with(|c: char| c <= ' ')
}

fn is_protocol(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-'))
}

fn check_authority(authority: &str) -> Result<(), Malformed> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let after = if host.starts_with('[') { check_brackets(authority, host)? } else { 0 };
    let Some(colon) = host[after..].find(':').map(|at| at + after) else { return check_host(host) };
    let port = &host[colon + 1..];
    check_host(&host[..colon])?;
    match port.parse::<i32>() {
        _ if port.is_empty() => Ok(()),
        Ok(port) if port >= -1 => Ok(()),
        Ok(port) => Err(Malformed(format!("Invalid port number :{port}"))),
        Err(_) => {
            let bad = port.find(|c: char| !c.is_ascii_digit()).unwrap_or(port.len() - 1);
            Err(Malformed(format!("Error at index {bad} in: \"{port}\"")))
        }
    }
}

/// Checks an IPv6 address in brackets, after which only a port may follow; returns the position of the closing bracket.
fn check_brackets(authority: &str, host: &str) -> Result<usize, Malformed> {
    let wrong = || Malformed(format!("Invalid authority field: {authority}"));
    let end = host.find(']').filter(|end| *end > 2).ok_or_else(wrong)?;
    let (address, zone) = host[1..end].split_once('%').unwrap_or((&host[1..end], "any"));
    if zone.is_empty() || address.parse::<std::net::Ipv6Addr>().is_err() {
        return Err(Malformed(format!("Invalid host: {}", &host[..=end])));
    }
    match host[end + 1..].chars().next() {
        None | Some(':') => Ok(end),
        Some(_) => Err(wrong()),
    }
}

/// Removes `.` and `..` like Java's `URLStreamHandler`, which keeps a `..` that leads above the root.
fn without_dots(mut path: String) -> String {
    while let Some(at) = path.find("/./") {
        path.replace_range(at..at + 2, "");
    }
    let mut from = 0;
    while let Some(at) = path[from..].find("/../").map(|at| at + from) {
        let start = path[..at].rfind('/').filter(|start| *start > 0 || !path.starts_with("/../"));
        match start {
            Some(start) => {
                path.replace_range(start..at + 3, "");
                from = 0;
            }
            None => from = at + 3,
        }
    }
    while path.ends_with("/..") {
        let first = path.find("/..").unwrap_or(0);
        match path[..first].rfind('/') {
            Some(start) => path.truncate(start + 1),
            None => break,
        }
    }
    if path.starts_with("./") && path.len() > 2 {
        path.replace_range(..2, "");
    }
    if path.ends_with("/.") {
        path.pop();
    }
    path
}

/// Finds the parts of a URL in its external form.
#[inline]
pub fn split(text: &str) -> Parts {
    use memchr::{memchr, memrchr};
    let bytes = text.as_bytes();
    let colon = memchr(b':', bytes).unwrap_or(0);
    let mut parts = Parts { protocol: 0..colon, ..Parts::default() };
    let end = memchr(b'#', bytes).unwrap_or(bytes.len());
    let query = memchr(b'?', &bytes[..end]);
    let path_end = query.unwrap_or(end);
    parts.query = query.map(|at| at + 1..end);
    let mut at = (colon + 1).min(path_end);
    if bytes[at..path_end].starts_with(b"//") {
        at += 2;
        let slash = memchr(b'/', &bytes[at..path_end]).map_or(path_end, |n| at + n);
        parts.authority = at..slash;
        let host = memrchr(b'@', &bytes[at..slash]).map_or(at, |n| at + n + 1);
        let after = memrchr(b']', &bytes[host..slash]).map_or(host, |n| host + n);
        let colon = memchr(b':', &bytes[after..slash]).map(|n| after + n);
        parts.host = host..colon.unwrap_or(slash);
        parts.port = colon.and_then(|colon| text[colon + 1..slash].parse().ok());
        at = slash;
    }
    parts.path = at..path_end;
    parts
}

/// Writes the absolute URL of a link in the page `base`. Leading `..` segments of the link that lead above the root are
/// dropped.
pub fn relative(base: &str, link: &str, out: &mut String) -> Result<(), Malformed> {
    resolve(Some(base), link, out)?;
    if !link.starts_with("../") {
        return Ok(());
    }
    let path = &out[split(out).path];
    let above = path.strip_prefix('/').unwrap_or(path);
    let steps = above.len() - above.trim_start_matches("../").len();
    if steps > 0 && link.starts_with(&above[..steps]) {
        resolve(Some(base), &link[steps..], out)?;
    }
    Ok(())
}
