//! Addresses, as curl reads them, in the form that a plan can hold.
//!
//! curl guesses `http://`, removes dot segments and the fragment, and sends almost every other byte as it is. A plan's
//! address must be a valid URI, so some characters are escaped; a finding names them.

use crate::findings::Findings;
use crate::request::Address;
use crate::word;

/// Options of curl about addresses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules<'a> {
    /// Scheme of an address without one; `http` if it is empty.
    pub(crate) scheme: &'a str,
    /// True if dot segments are kept.
    pub(crate) path_as_is: bool,
}

/// An address, and the credentials in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) address: Address,
    /// `USER:PASSWORD` before the host, decoded.
    pub(crate) user: Option<String>,
}

/// Reads an address. Reports an error and returns `None` if no HTTP request can be sent to it.
pub(crate) fn parse(text: &str, rules: Rules<'_>, findings: &mut Findings) -> Option<Parsed> {
    match read(text, rules) {
        Ok((parsed, escaped, doubled)) => {
            if doubled {
                let message = format!(
                    "{}: JMeter removes doubled slashes from the path, and so does the run",
                    word::shown(text)
                );
                findings.note("doubled-slash", message);
            }
            if !escaped.is_empty() {
                let message = format!(
                    "{}: curl sends {escaped} as it is, the plan sends its %XX form",
                    word::shown(text)
                );
                findings.note("escaped-url", message);
            }
            Some(parsed)
        }
        Err(why) => {
            findings.error("bad-url", format!("{}: {why}", word::shown(text)));
            None
        }
    }
}

/// Reads an address. Also returns the characters that were escaped, and true if the path has doubled slashes.
fn read(text: &str, rules: Rules<'_>) -> Result<(Parsed, String, bool), String> {
    if let Some(c) = text.chars().find(|c| *c == ' ' || c.is_ascii_control()) {
        let name = if c == ' ' { "a space".to_owned() } else { format!("{c:?}") };
        return Err(format!("the URL contains {name}, which curl refuses; write %20 for a space"));
    }
    let (scheme, rest) = scheme(text, rules.scheme)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(decoded(user)), place),
        None => (None, authority),
    };
    let (host, port) = host_and_port(place)?;
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let path = if rules.path_as_is { path.to_owned() } else { without_dots(path) };
    let mut target = if path.is_empty() { "/".to_owned() } else { path };
    if let Some(query) = query {
        target.push('?');
        target.push_str(query);
    }
    let default = if scheme == "https" { 443 } else { 80 };
    let doubled = target.split('?').next().is_some_and(|path| path.contains("//"));
    let mut escaped = String::new();
    let address = Address {
        scheme,
        host,
        port: port.filter(|port| *port != default),
        target: valid(&target, &mut escaped),
    };
    Ok((Parsed { address, user }, escaped, doubled))
}

/// Splits the scheme from the rest of the address.
fn scheme<'a>(text: &'a str, default: &str) -> Result<(String, &'a str), String> {
    if let Some((scheme, rest)) = text.split_once("://") {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        if !scheme.is_empty() && scheme.chars().all(is_name) {
            let scheme = scheme.to_ascii_lowercase();
            return match scheme.as_str() {
                // curl accepts one slash too many.
                "http" | "https" => Ok((scheme, rest.strip_prefix('/').unwrap_or(rest))),
                _ => Err(format!("{scheme} is not HTTP: only http:// and https:// are imported")),
            };
        }
    }
    let default = if default.is_empty() { "http" } else { default };
    let lower = text.to_ascii_lowercase();
    let other = ["ftp.", "dict.", "ldap.", "imap.", "smtp.", "pop3."];
    if let Some(name) = other.iter().find(|name| lower.starts_with(**name)) {
        return Err(format!(
            "curl guesses {} from the host's name: write http:// before it",
            name.trim_end_matches('.')
        ));
    }
    match default {
        "http" | "https" => Ok((default.to_owned(), text)),
        other => Err(format!("{other} is not HTTP: only http:// and https:// are imported")),
    }
}

fn host_and_port(place: &str) -> Result<(String, Option<u16>), String> {
    let end = if place.starts_with('[') {
        place.find(']').map(|at| at + 1).ok_or("the bracket of an IPv6 address is not closed")?
    } else {
        place.find(':').unwrap_or(place.len())
    };
    let (host, port) = place.split_at(end);
    if host.is_empty() {
        return Err("the URL has no host".to_owned());
    }
    let bad = |c: char| "\\^`{|}<>\"%'!$&*+,;=()".contains(c);
    if word::pieces(host)
        .iter()
        .any(|piece| matches!(piece, word::Piece::Text(text) if text.contains(bad)))
    {
        return Err(format!("{} is not the name of a host", word::shown(host)));
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some("") => None,
        Some(digits) => match digits.parse::<u16>() {
            Ok(port) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(port),
            _ if word::has_reference(digits) => {
                return Err("the port is a variable: write its number, or import the command with a number and change the plan".to_owned());
            }
            _ => return Err(format!("{digits} is not a port")),
        },
        None => return Err(format!("{port} follows the host")),
    };
    Ok((host.to_owned(), port))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Decodes `%XX`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let digits = pair.filter(|pair| is_hex(pair));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Removes the segments `.` and `..` of a path (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    if !path.contains("/.") {
        return path.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let last = segments.len().saturating_sub(1);
    for (at, segment) in segments.into_iter().enumerate() {
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if at == last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

/// Escapes the characters that the URL of a plan cannot hold. `escaped` gets these characters, each once.
fn valid(target: &str, escaped: &mut String) -> String {
    let mut found = Vec::new();
    let mut out = String::with_capacity(target.len());
    let mut in_query = false;
    for piece in word::pieces(target) {
        let text = match piece {
            word::Piece::Text(text) => text,
            word::Piece::Reference(name) => {
                word::push_reference(&mut out, name);
                continue;
            }
        };
        for (at, c) in text.char_indices() {
            in_query |= c == '?';
            let invalid = match c {
                '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => true,
                '[' | ']' => !in_query,
                '%' => !text.get(at + 1..at + 3).is_some_and(is_hex),
                c => !c.is_ascii(),
            };
            if !invalid {
                out.push(c);
                continue;
            }
            // In a path, curl escapes them, too.
            if !found.contains(&c) && (in_query || c.is_ascii()) {
                found.push(c);
            }
            // curl writes its escape sequences in lower case.
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02x}"));
            }
        }
    }
    let names: Vec<String> = found.iter().take(5).map(char::to_string).collect();
    escaped.push_str(&names.join(" "));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Parsed, String> {
        read(text, Rules::default()).map(|(parsed, ..)| parsed)
    }

    fn line(text: &str) -> String {
        let Parsed { address, user } = of(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let port = address.port.map_or_else(String::new, |port| format!(":{port}"));
        let user = user.map_or_else(String::new, |user| format!(" {user}"));
        format!("{}://{}{port} {}{user}", address.scheme, address.host, address.target)
    }

    #[test]
    fn addresses_are_read_as_by_curl() {
        for (text, expected) in [
            ("h", "http://h /"),
            ("localhost:8080/a", "http://localhost:8080 /a"),
            ("HTTPS://H:443/a?b#c", "https://H /a?b"),
            ("http://h:80", "http://h /"),
            ("https://h:80?x=1", "https://h:80 /?x=1"),
            ("http://h:/a", "http://h /a"),
            ("http:///h/a", "http://h /a"),
            ("http://[::1]:8080/a", "http://[::1]:8080 /a"),
            ("http://me:p%40ss@h/", "http://h / me:p@ss"),
            ("http://me@h/", "http://h / me"),
            ("http://h/a/../b/./c/..", "http://h /b/"),
            ("http://h/../../a", "http://h /a"),
            ("http://h/a//b", "http://h /a//b"),
            ("http://h/.well-known/x", "http://h /.well-known/x"),
            ("http://h/a/...", "http://h /a/..."),
            ("http://h/?u=http://x/../y", "http://h /?u=http://x/../y"),
            ("http://h/a|b{c}?d=[1]", "http://h /a%7cb%7bc%7d?d=[1]"),
            ("http://h/[1]", "http://h /%5b1%5d"),
            ("http://h/100%/%zz/%20/%4", "http://h /100%25/%25zz/%20/%254"),
            ("http://h/\u{e9}", "http://h /%c3%a9"),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn addresses_without_http_are_refused() {
        for (text, words) in [
            ("", "no host"),
            ("http://", "no host"),
            ("ftp://h/", "not HTTP"),
            ("ws://h/", "ws is not HTTP"),
            ("ftp.example.com", "guesses ftp"),
            ("http://h/a b", "a space"),
            ("http://h:x/", "not a port"),
            ("http://h:70000/", "not a port"),
            ("http://[::1", "not closed"),
            ("http://a{b}/", "not the name"),
        ] {
            let error = of(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
