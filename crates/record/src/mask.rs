//! Masking of secrets in requests, responses, URLs and properties, because records, reports and logs are shared.
//!
//! All masking functions use the same lists of names. The whole value is masked; the name remains.

use std::borrow::Cow;

/// The string that replaces a secret.
pub const MASK: &str = "***";

/// Names of headers whose value is a secret.
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

/// Parts of secret names. A value is secret if its name contains one of these strings: the name of a header, parameter,
/// form field, JSON member or property.
const PARTS: [&str; 19] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "bearer",
    "authorization",
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "sessionid",
    "session_id",
    "signature",
    "private_key",
    "jwt",
    "samlresponse",
];

/// Last words of secret names. A value is secret if the last word of its name is one of these.
const WORDS: [&str; 10] =
    ["pass", "pw", "pin", "sid", "otp", "sig", "auth", "jws", "hmac", "session"];

/// Endings of secret names in URLs, forms and properties. In JSON and headers, names with these endings also have other
/// meanings, such as the code of an error.
const ENDINGS: [&str; 3] = ["pass", "pw", "key"];

/// Last words of secret names in URLs, forms and properties only.
const PARAMETERS: [&str; 3] = ["code", "assertion", "ticket"];

fn is_secret(name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    PARTS.iter().any(|part| small.contains(part)) || WORDS.contains(&&*last_word(name))
}

/// Returns true if the value of this name is a secret in a URL, a form or a property.
pub fn is_secret_parameter(name: &str) -> bool {
    let name = decoded(name);
    let name = name.trim_end_matches([']', '[']);
    let small = name.to_ascii_lowercase();
    is_secret(name)
        || ENDINGS.iter().any(|ending| small.ends_with(ending))
        || PARAMETERS.contains(&&*last_word(name))
}

/// Returns the last word of `api_key`, `X-Amz-Key`, `client.key` or `accessKey`, in lower case.
fn last_word(name: &str) -> String {
    let word = name.rsplit(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or(name);
    let mixed = word.bytes().any(|byte| byte.is_ascii_lowercase());
    let from = word.rfind(|char: char| mixed && char.is_ascii_uppercase()).unwrap_or(0);
    word[from..].to_ascii_lowercase()
}

/// Decodes the percent escapes of ASCII characters in a name.
fn decoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let byte = rest.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out + rest
}

/// Masks the secrets of a request or a response: head, empty line, body.
pub fn text(text: &str) -> String {
    let end = ["\r\n\r\n", "\n\n"].iter().filter_map(|end| Some(text.find(end)? + end.len())).min();
    let (before, behind) = text.split_at(end.unwrap_or(text.len()));
    head(before) + &body(behind)
}

/// Masks the user information and the values of secret parameters in a URL or a form (`a=1&b=2`).
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
        let is_secret = |name: &str| is_secret_parameter(name.rsplit('/').next().unwrap_or(name));
        match secret_at(part, is_secret) {
            Some(at) => {
                out.push_str(&part[..=at]);
                out.push_str(MASK);
                if let Some(last) = part.chars().last().filter(|c| "?&;#".contains(*c)) {
                    out.push(last);
                }
            }
            None => out.push_str(part),
        }
        rest = behind;
    }
    out
}

/// Masks the secrets of all URLs in a string, of paths and forms without a scheme (`/x?token=1`), of `token=1`, and
/// the user and password of `user:password@host`.
pub fn urls(text: &str) -> Cow<'_, str> {
    if !text.contains(['=', '@']) {
        return Cow::Borrowed(text);
    }
    let is_end = |char: char| char.is_whitespace() || "\"'<>`\\".contains(char);
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(is_end) {
        let word = part.trim_end_matches(is_end);
        out.push_str(&masked_word(word));
        out.push_str(&part[word.len()..]);
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Masks the secrets of a word without blanks and quotes.
fn masked_word(word: &str) -> String {
    let word = users(word);
    let start = match word.find("://") {
        Some(at) => {
            let is_scheme = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
            word[..at].trim_end_matches(is_scheme).len()
        }
        None if word.contains(['?', '&']) => 0,
        None => word.len(),
    };
    let (before, behind) = word.split_at(start);
    let is_secret: fn(&str) -> bool =
        if before.contains(['?', '&']) { is_secret_parameter } else { is_secret };
    match secret_at(before, is_secret) {
        Some(at) => format!("{}={MASK}", &before[..at]),
        None => before.to_owned() + &url(behind),
    }
}

/// Returns the position of the first `=` after the name of a secret. A name begins after `?`, `&`, `,` or the `=`
/// before.
fn secret_at(text: &str, is_secret: impl Fn(&str) -> bool) -> Option<usize> {
    let mut from = 0;
    text.match_indices('=').map(|(at, _)| at).find(|at| {
        let name = &text[from..*at];
        from = at + 1;
        is_secret(name.rsplit(['?', '&', ',']).next().unwrap_or(name))
    })
}

/// Masks the user part of URLs, and the user and password of each `user:password@host` in a word.
fn users(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(first) = rest.find('@') {
        // A password may contain an `@`: the host follows the last one before the path.
        let end = rest[first..].find(['/', '?', '#']).map_or(rest.len(), |length| first + length);
        let at = rest[..end].rfind('@').unwrap_or(first);
        let (before, host) = (&rest[..at], &rest[at + 1..]);
        match user_at(before, host) {
            Some(start) => {
                out.push_str(&before[..start]);
                out.push_str(MASK);
            }
            None => out.push_str(before),
        }
        out.push('@');
        rest = host;
    }
    out.push_str(rest);
    out
}

/// Schemes of addresses whose user has no password, as in `mailto:user@host`.
const ADDRESSES: [&str; 3] = ["mailto", "sip", "sips"];

/// Returns the position at which a user and password begin that end before the `@` of a host.
fn user_at(before: &str, host: &str) -> Option<usize> {
    let of_url = before.rfind("://").map(|at| at + 3);
    if let Some(start) = of_url.filter(|start| !before[*start..].contains(['/', '?', '#'])) {
        return Some(start);
    }
    if !is_host(host) {
        return None;
    }
    // In a path or query, a colon may belong to an earlier part.
    let is_query = before.contains('=') && before.contains(['?', '&']);
    let part = if of_url.is_some() || is_query {
        before.rsplit(['/', '?', '#', '&', '=', ',', ';']).next().unwrap_or(before)
    } else {
        before
    };
    let is_name = |char: char| char.is_alphanumeric() || "._-+%".contains(char);
    let start = part.match_indices(':').find_map(|(colon, _)| {
        let start = part[..colon].trim_end_matches(is_name).len();
        let user = &part[start..colon];
        let is_user = !user.is_empty()
            && !ADDRESSES.iter().any(|scheme| scheme.eq_ignore_ascii_case(user))
            && (start == 0 || part[..start].ends_with(BEFORE_USERS));
        (is_user && colon + 1 < part.len()).then_some(start)
    })?;
    Some(before.len() - part.len() + start)
}

/// Characters that may precede a user name inside a word.
const BEFORE_USERS: [char; 9] = ['(', '[', '{', ',', ';', '=', '|', ':', '/'];

/// True if a string begins with the name or address of a host, which may have a port and a path. The digest of a
/// container image (`name@sha256:…`) is no host.
fn is_host(text: &str) -> bool {
    let text = text.strip_prefix("//").unwrap_or(text);
    let is_name = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    let behind = text.trim_start_matches(is_name);
    let host = &text[..text.len() - behind.len()];
    match host {
        "" => text.starts_with('['),
        "sha256" => false,
        _ => host == "localhost" || host.contains('.') || behind.starts_with(':'),
    }
}

/// Masks a line of a plan, or a message about such a line: the secrets of its URLs and the values of secret
/// properties.
pub fn source(text: &str) -> String {
    let is_end = |char: char| char.is_whitespace() || "\"'<>`\\".contains(char);
    let mut out = String::with_capacity(text.len());
    // The previous word, the name of the current property, and whether its value has begun.
    let (mut last, mut name, mut is_value) = ("", "", false);
    for part in text.split_inclusive(is_end) {
        let word = part.trim_end_matches(is_end);
        let mark = &part[word.len()..];
        match mark {
            "\"" if last == "name=" => name = word,
            "<" => name = "",
            _ => {}
        }
        if is_value && !word.is_empty() {
            out.push_str(MASK);
        } else if word.contains(['?', '@', '&', ';', '=']) {
            out.push_str(&url(&users(word)));
        } else {
            out.push_str(word);
        }
        out.push_str(mark);
        is_value = match mark {
            ">" => is_secret_parameter(name) && !word.ends_with('/'),
            "<" => false,
            _ => is_value,
        };
        last = word;
    }
    out
}

/// Masks the secret values in a head: request line or status line, and header lines.
pub fn head(head: &str) -> String {
    let mut out = String::with_capacity(head.len());
    for (at, line) in head.split_inclusive('\n').enumerate() {
        let text = line.trim_end_matches(['\r', '\n']);
        let end = &line[text.len()..];
        match text.split_once(':') {
            Some((name, _)) if at > 0 && secret_header(name) => {
                out.push_str(name);
                out.push_str(": ");
                match route(text) {
                    Some(route) => out.push_str(&route),
                    None => out.push_str(MASK),
                }
            }
            Some((name, value)) if at > 0 && LINKS.iter().any(|link| is_named(name, link)) => {
                out.push_str(name);
                out.push(':');
                out.push_str(&url(value));
            }
            _ if at > 0 => out.push_str(&urls(text)),
            _ => out.push_str(&first_line(text)),
        }
        out.push_str(end);
    }
    out
}

/// Masks the URL of a request line, which is between the method and the version.
fn first_line(line: &str) -> String {
    match (line.split_once(' '), line.rfind(" HTTP/")) {
        (Some((method, _)), Some(end)) if method.len() < end => {
            format!("{method} {}{}", url(&line[method.len() + 1..end]), &line[end..])
        }
        (Some((method, rest)), _) if !method.contains(['=', ':']) => {
            format!("{method} {}", url(rest))
        }
        _ => url(line),
    }
}

/// Names of headers whose value is a URL.
const LINKS: [&str; 4] = ["location", "referer", "content-location", "refresh"];

fn is_named(name: &str, known: &str) -> bool {
    name.trim().eq_ignore_ascii_case(known)
}

/// Names of cookies whose whole value names a backend.
const ROUTES: [&str; 5] = ["routeid", "serverid", "server_id", "route", "srv"];
/// Names of session cookies. Only the part of the value after the last dot names a backend.
const SESSIONS: [&str; 2] = ["jsessionid", "sessionid"];
/// Longest name of a backend in bytes. A longer value may be a secret.
const ROUTE: usize = 32;

/// Returns the backend that a `Set-Cookie` header names, without the session id: `JSESSIONID=***.node1`.
fn route(line: &str) -> Option<String> {
    let (header, cookie) = line.split_once(':')?;
    if !header.trim().eq_ignore_ascii_case("set-cookie") {
        return None;
    }
    let (name, value) = cookie.split(';').next()?.trim().split_once('=')?;
    let lower = name.to_ascii_lowercase();
    let (before, route) = match &*lower {
        known if ROUTES.contains(&known) => ("", value),
        known if SESSIONS.contains(&known) => ("***.", value.rsplit_once('.')?.1),
        _ => return None,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:|".contains(c);
    let is_name = !route.is_empty() && route.len() <= ROUTE && route.chars().all(plain);
    is_name.then(|| format!("{name}={before}{route}"))
}

fn secret_header(name: &str) -> bool {
    HEADERS.iter().any(|header| is_named(name, header)) || is_secret(name.trim())
}

/// Masks a body: form fields and the values of secret names in JSON, XML and `name: value`.
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
        let is_parameter = bytes.get(end) == Some(&b'=');
        if !(is_secret(name) || is_parameter && is_secret_parameter(name)) {
            continue;
        }
        if let Some((from, to)) = value_behind(bytes, end) {
            out.push_str(&body[copied..from]);
            out.push_str(MASK);
            (at, copied) = (to, to);
        }
    }
    out.push_str(&body[copied..]);
    urls(&out).into_owned()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Finds the range of the value after a name: `"name": "value"`, `name=value`, `<name>value<`.
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
            if matches!(bytes.get(at), Some(b'{' | b'[')) {
                // The names inside of the object or array decide which of its values are secrets.
                return None;
            }
            let from = at + usize::from(quote.is_some());
            let ends = |byte: &u8| match quote {
                Some(quote) => *byte == quote,
                None => {
                    matches!(byte, b'&' | b',' | b'}' | b']' | b';' | b'<' | b' ' | b'\r' | b'\n')
                        || matches!(byte, b'"' | b'\'' | b'>')
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
    fn secrets_in_lines_of_plans_are_masked() {
        for (text, expected) in [
            (
                "<stringProp name=\"HTTPSampler.path\">/x?token=a1&amp;b=2&amp;key=c3</stringProp>",
                "<stringProp name=\"HTTPSampler.path\">/x?token=***&amp;b=2&amp;key=***</stringProp>",
            ),
            (
                "<stringProp name=\"Authorization.password\">one two</stringProp><a>b</a>",
                "<stringProp name=\"Authorization.password\">*** ***</stringProp><a>b</a>",
            ),
            ("<p name=\"password\"/><q>b</q>", "<p name=\"password\"/><q>b</q>"),
            (
                "holds \"http://me:pw@h/?sid=1\", no number",
                "holds \"http://***@h/?sid=***\", no number",
            ),
            (
                "Plan > GET /a?api_key=1 > ü, did you mean this?",
                "Plan > GET /a?api_key=*** > ü, did you mean this?",
            ),
        ] {
            assert_eq!(source(text), expected);
        }
    }

    #[test]
    fn secrets_of_urls_are_masked() {
        for (text, expected) in [
            ("http://a/b?x=1&password=s3&y=2", "http://a/b?x=1&password=***&y=2"),
            ("http://me:pw@a/b", "http://***@a/b"),
            ("http://a/b;jsessionid=AB12?x=1", "http://a/b;jsessionid=***?x=1"),
            ("access_token=abc", "access_token=***"),
            ("http://a/b?q=a@b.c", "http://a/b?q=a@b.c"),
            ("user=a&pass=b", "user=a&pass=***"),
            (
                "http://a/?pw=1&jwt=2&sig=3&code=4&session=5",
                "http://a/?pw=***&jwt=***&sig=***&code=***&session=***",
            ),
            (
                "http://a/?accessKey=1&api%5Fkey=2&user[pass]=3",
                "http://a/?accessKey=***&api%5Fkey=***&user[pass]=***",
            ),
            (
                "http://a/?X-Amz-Signature=1&zipcode=2&keyword=3",
                "http://a/?X-Amz-Signature=***&zipcode=2&keyword=3",
            ),
            ("ws://u:p@a?ticket=t#code=5", "ws://***@a?ticket=***#code=***"),
        ] {
            assert_eq!(url(text), expected);
        }
    }

    #[test]
    fn secrets_of_heads_are_masked() {
        let text = "GET /a?token=x HTTP/1.1\r\nHost: a:80\r\nauthorization: Basic abc\r\nCookie: a=b\r\nX-Auth-Token: 9\r\nSet-Cookie: c\r\nAccept: */*\r\n";
        let expected = "GET /a?token=*** HTTP/1.1\r\nHost: a:80\r\nauthorization: ***\r\nCookie: ***\r\nX-Auth-Token: ***\r\nSet-Cookie: ***\r\nAccept: */*\r\n";
        assert_eq!(head(text), expected);
        let redirect = "HTTP/1.1 302 Found\nLocation: /back?code=4&x=1\nX: see http://u:p@h/\n";
        let masked = "HTTP/1.1 302 Found\nLocation: /back?code=***&x=1\nX: see http://***@h/\n";
        assert_eq!(head(redirect), masked);
        assert_eq!(head("GET http://u:p@h/?sig=1"), "GET http://***@h/?sig=***");
    }

    #[test]
    fn secrets_of_urls_in_a_text_are_masked() {
        for (text, expected) in [
            ("no URL", "no URL"),
            ("Connect to http://u:p@h:1/a?x=1 failed", "Connect to http://***@h:1/a?x=1 failed"),
            (
                "ü\u{a0}https://h/?pw=1, \"ws://h/?sig=2\"",
                "ü\u{a0}https://h/?pw=*** \"ws://h/?sig=***\"",
            ),
            ("://", "://"),
            ("GET /x?token=1&n=2 of a shop", "GET /x?token=***&n=2 of a shop"),
            ("login token=1", "login token=***"),
            ("unknown host bob:pw@db.internal:5432", "unknown host ***@db.internal:5432"),
            ("bob:pw@db.internal:5432/x?ssl=true", "***@db.internal:5432/x?ssl=true"),
            ("bob:p@ss@db.internal/x", "***@db.internal/x"),
            ("bob:pw@a.x/?next=http://b/?pin=1", "***@a.x/?next=http://b/?pin=***"),
            ("http://a/,http://bob:pw@b/", "http://a/,http://***@b/"),
            ("jdbc:oracle:thin:bob/pw@//db.x:1521/s", "***@//db.x:1521/s"),
            ("(bob:pw@host.x) [bob:pw@host.x:80]", "(***@host.x) [***@host.x:80]"),
            ("user=bob:pw@h.x/,password=a:b@h.x", "user=***@h.x/,password=***"),
            ("status=401,token=abc", "status=401,token=***"),
            ("token=a,b status=401", "token=*** status=401"),
            ("mailto:bob@example.com sip:bob@h.x:5060", "mailto:bob@example.com sip:bob@h.x:5060"),
            ("sip:bob:pw@h.x", "sip:***@h.x"),
            ("nginx:1.2@sha256:ab12", "nginx:1.2@sha256:ab12"),
            ("http://a:80/x@b.c", "http://a:80/x@b.c"),
            ("index 19: http://[bob:pw@127.0.0.1]:80/", "index 19: http://***@127.0.0.1]:80/"),
            (
                "status code=500, a@b.example, java.lang.Object@1f",
                "status code=500, a@b.example, java.lang.Object@1f",
            ),
        ] {
            assert_eq!(urls(text), expected);
        }
    }

    #[test]
    fn routes_of_cookies_are_kept() {
        for (cookie, expected) in [
            ("JSESSIONID=8E2A91.node2; Path=/; HttpOnly", "JSESSIONID=***.node2"),
            ("SERVERID=s2; path=/", "SERVERID=s2"),
            ("JSESSIONID=8E2A91", "***"),
            ("SERVERID=0123456789abcdef0123456789abcdef0", "***"),
            ("AWSALB=kq83/8a==", "***"),
            ("id=1.node2", "***"),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\nSet-Cookie: {cookie}\r\n");
            assert_eq!(head(&text), format!("HTTP/1.1 200 OK\r\nSet-Cookie: {expected}\r\n"));
        }
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
            ("pw=1&code=2&x=3", "pw=***&code=***&x=3"),
            (r#"{"code": 404, "auth": {"pin": 1}}"#, r#"{"code": 404, "auth": {"pin": ***}}"#),
            ("<a href=\"/x?sig=1\">y</a>", "<a href=\"/x?sig=***\">y</a>"),
            ("größe password=ü&x", "größe password=***&x"),
        ] {
            assert_eq!(body(text), expected);
        }
    }
}
