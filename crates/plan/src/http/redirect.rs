//! Where a redirect leads, as JMeter works it out from a `Location`.

use lang::{uri, url};

use super::Unsendable;

/// The method of the request that follows: JMeter makes it GET, whatever the status, unless it was HEAD.
pub fn method_after_redirect(method: &str) -> &str {
    if method.eq_ignore_ascii_case("HEAD") { method } else { "GET" }
}

/// Writes the absolute URL of a `Location` found in the answer to `base`. `resolves`: steps up in its path are taken first.
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

/// Writes the absolute URL of a `Location` that begins with a host (`//host/path`), as HttpClient itself works it out. JMeter's own way, in
/// [`location`], takes the host for a step of the path where there are steps up.
pub fn host_location(base: &str, location: &str, out: &mut String) -> Result<(), Unsendable> {
    let rest = location.trim().trim_start_matches('/');
    let path = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let tail = rest[path..].find(['?', '#']).map_or(rest.len(), |at| path + at);
    let mut steps: Vec<&str> = Vec::new();
    for step in rest[path..tail].split('/').skip(1) {
        match step {
            "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    let slash = if path < tail { "/" } else { "" };
    let absolute = format!("//{}{slash}{}{}", &rest[..path], steps.join("/"), &rest[tail..]);
    self::location(base, &absolute, false, out)
}

/// Writes the absolute URL of a `Location` that Java's own client follows: nothing is escaped.
pub fn java_location(base: &str, location: &str, out: &mut String) -> Result<(), Unsendable> {
    url::resolve(Some(base), location, out).map_err(|url::Malformed(message)| {
        Unsendable::new("java.net.MalformedURLException", &message)
    })
}

/// Whether a `Location` found in the answer to `base` is a URI, which HttpClient asks for where it follows itself.
pub fn is_uri(base: &str, location: &str) -> bool {
    // A scheme with nothing behind it is none to Java, whatever a URL makes of it.
    if location.split_once(':').is_some_and(|(_, rest)| rest.trim_start_matches('/').is_empty()) {
        return false;
    }
    let mut url = String::new();
    url::resolve(Some(base), location, &mut url).is_err() || uri::verify(&url).is_ok()
}

/// Resolves `/segment/..` in the path of a location, relative or not.
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
