//! Secrets in requests and answers, made unreadable: samples that are kept are shown to people.

/// Stands for a secret.
pub const MASK: &str = "***";

/// Headers whose value is a secret.
const HEADERS: [&str; 10] = [
    "authorization",
    "proxy-authorization",
    "authentication-info",
    "cookie",
    "cookie2",
    "set-cookie",
    "set-cookie2",
    "www-authenticate",
    "x-api-key",
    "x-csrf-token",
];

/// Parts of names whose value is a secret, in headers, parameters, forms and JSON.
const NAMES: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "sessionid",
    "session_id",
    "jsessionid",
    "signature",
    "private_key",
];

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|part| name.contains(part)) || matches!(&*name, "pass" | "pin" | "sid" | "otp")
}

/// A request or an answer: a head, an empty line, a body.
pub fn text(text: &str) -> String {
    let end = ["\r\n\r\n", "\n\n"].iter().filter_map(|end| Some(text.find(end)? + end.len())).min();
    let (before, behind) = text.split_at(end.unwrap_or(text.len()));
    head(before) + &body(behind)
}

/// A URL or a form (`a=1&b=2`), with the values of secret parameters and the user's part masked.
pub fn url(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut rest = url;
    if let Some((scheme, behind)) = url.split_once("://") {
        let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
        if let Some(at) = behind[..end].rfind('@') {
            out.push_str(scheme);
            out.push_str("://");
            out.push_str(MASK);
            rest = &behind[at..];
        }
    }
    while !rest.is_empty() {
        let end = rest.find(['?', '&', ';', '#']).map_or(rest.len(), |at| at + 1);
        let (part, behind) = rest.split_at(end);
        match part.split_once('=') {
            Some((name, value)) if is_secret(name.rsplit('/').next().unwrap_or(name)) => {
                out.push_str(name);
                out.push('=');
                out.push_str(MASK);
                if let Some(last) = value.chars().last().filter(|c| "?&;#".contains(*c)) {
                    out.push(last);
                }
            }
            _ => out.push_str(part),
        }
        rest = behind;
    }
    out
}

/// A head (request or status line, header lines) with secret values masked.
pub fn head(head: &str) -> String {
    let mut out = String::with_capacity(head.len());
    for (at, line) in head.split_inclusive('\n').enumerate() {
        let text = line.trim_end_matches(['\r', '\n']);
        let end = &line[text.len()..];
        match text.split_once(':') {
            Some((name, _)) if at > 0 && secret_header(name) => {
                out.push_str(name);
                out.push_str(": ");
                out.push_str(MASK);
            }
            Some(_) if at > 0 => out.push_str(text),
            _ => out.push_str(&url(text)),
        }
        out.push_str(end);
    }
    out
}

fn secret_header(name: &str) -> bool {
    let name = name.trim();
    HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header)) || is_secret(name)
}

/// A body: forms and the values of JSON, XML and `name: value` whose names are those of secrets.
pub fn body(body: &str) -> String {
    let bytes = body.as_bytes();
    let mut out = String::with_capacity(body.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let end =
            at + bytes[at..].iter().position(|byte| !is_word(*byte)).unwrap_or(bytes.len() - at);
        let name = &body[at..end];
        at = end;
        if !is_secret(name) {
            continue;
        }
        if let Some((from, to)) = value_behind(bytes, end) {
            out.push_str(&body[copied..from]);
            out.push_str(MASK);
            (at, copied) = (to, to);
        }
    }
    out.push_str(&body[copied..]);
    out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The place of the value behind a name: `"name": "value"`, `name=value`, `<name>value<`.
fn value_behind(bytes: &[u8], end: usize) -> Option<(usize, usize)> {
    let skip = |mut at: usize, what: &[u8]| {
        while bytes.get(at).is_some_and(|byte| what.contains(byte)) {
            at += 1;
        }
        at
    };
    let at = skip(end, b"\"' \\");
    match bytes.get(at)? {
        b':' | b'=' => {
            let at = skip(at + 1, b" \t\\");
            let quote = bytes.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\''));
            let from = at + usize::from(quote.is_some());
            let ends = |byte: &u8| match quote {
                Some(quote) => *byte == quote,
                None => {
                    matches!(byte, b'&' | b',' | b'}' | b']' | b';' | b'<' | b' ' | b'\r' | b'\n')
                }
            };
            let length = bytes.get(from..)?.iter().position(ends).unwrap_or(bytes.len() - from);
            (length > 0).then_some((from, from + length))
        }
        b'>' => {
            let from = at + 1;
            let length = bytes.get(from..)?.iter().position(|byte| *byte == b'<');
            let length = length.unwrap_or(bytes.len() - from);
            (length > 0).then_some((from, from + length))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_urls_are_masked() {
        for (text, expected) in [
            ("http://a/b?x=1&password=s3&y=2", "http://a/b?x=1&password=***&y=2"),
            ("http://me:pw@a/b", "http://***@a/b"),
            ("http://a/b;jsessionid=AB12?x=1", "http://a/b;jsessionid=***?x=1"),
            ("access_token=abc", "access_token=***"),
            ("http://a/b?q=a@b.c", "http://a/b?q=a@b.c"),
            ("user=a&pass=b", "user=a&pass=***"),
        ] {
            assert_eq!(url(text), expected);
        }
    }

    #[test]
    fn secrets_of_heads_are_masked() {
        let text = "GET /a?token=x HTTP/1.1\r\nHost: a:80\r\nauthorization: Basic abc\r\nCookie: a=b\r\nX-Auth-Token: 9\r\nSet-Cookie: c\r\nAccept: */*\r\n";
        let expected = "GET /a?token=***\r\nHost: a:80\r\nauthorization: ***\r\nCookie: ***\r\nX-Auth-Token: ***\r\nSet-Cookie: ***\r\nAccept: */*\r\n";
        assert_eq!(head(text).replace(" HTTP/1.1", ""), expected);
    }

    #[test]
    fn secrets_of_bodies_are_masked() {
        for (text, expected) in [
            (
                r#"{"user": "a", "Password": "b\"", "n": 1}"#,
                r#"{"user": "a", "Password": "***"", "n": 1}"#,
            ),
            (r#"{"access_token":"x","expires":5}"#, r#"{"access_token":"***","expires":5}"#),
            (r#"{"pin": 1234}"#, r#"{"pin": ***}"#),
            ("user=a&password=b&x=1", "user=a&password=***&x=1"),
            ("<login><password>b</password></login>", "<login><password>***</password></login>"),
            ("password", "password"),
            ("größe password=ü&x", "größe password=***&x"),
        ] {
            assert_eq!(body(text), expected);
        }
    }
}
