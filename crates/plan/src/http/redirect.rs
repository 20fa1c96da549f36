//! Computes the target of a redirect from a `Location` header, as JMeter does.

use lang::{uri, url};

use super::Unsendable;

/// Returns the method of the request after a redirect: JMeter uses GET for any status, unless the method was HEAD.
pub fn method_after_redirect(method: &str) -> &str {
    if method.eq_ignore_ascii_case("HEAD") { method } else { "GET" }
}

/// Writes the absolute URL of a `Location` in the response to `base`. If `resolves` is true, `/segment/..` in its
/// path is resolved first.
pub fn location(
    base: &str,
    location: &str,
    resolves: bool,
    out: &mut String,
) -> Result<(), Unsendable> {
    let location = location.trim();
    let location = if resolves { remove_dot_dot(location) } else { location.to_owned() };
    let location = location.replace(' ', "%20");
    url::relative(base, &location, out).map_err(|url::Malformed(message)| {
        Unsendable::new("java.net.MalformedURLException", &message)
    })?;
    if uri::verify(out).is_err() {
        uri::quote(out);
    }
    Ok(())
}

/// Writes the absolute URL of a `Location` in the way in which HttpClient computes it when it follows redirects
/// itself. `base` is the URL of the last request. For JMeter's own computation, see [`location`].
pub fn client_location(base: &str, location: &str, out: &mut String) -> Result<(), Unsendable> {
    let location = location.trim();
    let (rest, fragment) = location.split_at(location.find('#').unwrap_or(location.len()));
    let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let from = url::split(base);
    let scheme = rest.find(':').filter(|at| !rest[..*at].contains('/'));
    let (scheme, rest) = match scheme {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (&base[from.protocol.clone()], rest),
    };
    let Some(named) = rest.strip_prefix("//") else {
        if scheme.len() < location.len() - rest.len() - query.len() - fragment.len() {
            // For a scheme without a host, the error has the message of JMeter's own computation.
            return self::location(base, location, false, out);
        }
        write_root(scheme, &base[from.authority.clone()], out);
        write_sent_path(&from, base, rest, query, out);
        out.push_str(fragment);
        return Ok(());
    };
    let (authority, path) = named.split_at(named.find('/').unwrap_or(named.len()));
    write_root(scheme, authority, out);
    uri::normal_path(path, out);
    out.push_str(query);
    out.push_str(fragment);
    Ok(())
}

/// Writes scheme and authority in lower case, except for the user name.
fn write_root(scheme: &str, authority: &str, out: &mut String) {
    let host = authority.rfind('@').map_or(0, |at| at + 1);
    out.push_str(&scheme.to_ascii_lowercase());
    out.push_str("://");
    out.push_str(&authority[..host]);
    out.push_str(&authority[host..].to_ascii_lowercase());
}

/// Writes path and query of a location that has no host. `base` is the previous URL.
fn write_sent_path(from: &url::Parts, base: &str, path: &str, query: &str, out: &mut String) {
    // HttpClient resolves the location against the request line that it sent.
    let (mut sent, mut room) = (String::new(), Vec::new());
    let asked = from.query.clone().map(|query| &base[query]);
    uri::target(&base[from.path.clone()], asked, &mut room, &mut sent);
    let (sent, asked) = sent.split_at(sent.find('?').unwrap_or(sent.len()));
    if path.is_empty() && !query.is_empty() {
        out.push_str(sent);
        out.push_str(query);
    } else if path.is_empty() {
        uri::normal_path(sent, out);
        out.push_str(asked);
    } else if path.starts_with('/') {
        uri::normal_path(path, out);
        out.push_str(query);
    } else {
        let folder = &sent[..sent.rfind('/').map_or(0, |at| at + 1)];
        let joined = format!("{folder}{path}");
        // Java resolves dot segments before HttpClient does; a final dot segment leaves a trailing slash.
        let ends = joined.ends_with("/.") || joined.ends_with("/..");
        uri::normal_path(&format!("{joined}{}", if ends { "/" } else { "" }), out);
        out.push_str(query);
    }
}

/// Writes the absolute URL of a `Location` that Java's own client follows. Characters are not escaped.
pub fn java_location(base: &str, location: &str, out: &mut String) -> Result<(), Unsendable> {
    url::resolve(Some(base), location, out).map_err(|url::Malformed(message)| {
        Unsendable::new("java.net.MalformedURLException", &message)
    })
}

/// True if a `Location` in the response to `base` is a URI, which HttpClient requires when it follows redirects
/// itself.
pub fn is_uri(base: &str, location: &str) -> bool {
    // In Java, a scheme without anything after it is invalid, even in places where a URL allows it.
    if location.split_once(':').is_some_and(|(_, rest)| rest.trim_start_matches('/').is_empty()) {
        return false;
    }
    let mut url = String::new();
    url::resolve(Some(base), location, &mut url).is_err() || uri::verify(&url).is_ok()
}

/// Resolves `/segment/..` in the path of an absolute or relative location.
fn remove_dot_dot(location: &str) -> String {
    if location.len() < 4 || !location.contains("/..") {
        return location.to_string();
    }
    let start = match location.find("://") {
        Some(at) => match location[at + 3..].find('/') {
            Some(slash) => at + 3 + slash,
            None => return location.to_string(),
        },
        None => 0,
    };
    let end = match (location.find('?'), location.find('#')) {
        (Some(at), _) if at > 0 => at,
        (None | Some(0), Some(at)) if at > 0 => at,
        _ => location.len(),
    };
    let Some(path) = location.get(start..end) else { return location.to_string() };
    let mut tokens: Vec<&str> = Vec::new();
    for token in path.split('/').filter(|token| !token.is_empty()) {
        match tokens.last() {
            Some(last) if token == ".." && *last != ".." => {
                tokens.pop();
            }
            _ => tokens.push(token),
        }
    }
    let mut clean = String::from(if path.starts_with('/') { "/" } else { "" });
    clean.push_str(&tokens.join("/"));
    if path.ends_with('/') && !tokens.is_empty() {
        clean.push('/');
    }
    format!("{}{clean}{}", &location[..start], &location[end..])
}
