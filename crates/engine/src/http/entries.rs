//! Entries of Authorization Managers: builds the strings that are compared with the URLs of the entries.

use plan::http::Request;

/// Returns the strings that are compared with the URLs of entries: with and without the default port. The path is
/// unescaped and the query is missing, because JMeter rebuilds the URL from the request.
pub(crate) fn names_of(request: &Request, whole: bool) -> Vec<String> {
    let parts = lang::url::split(&request.url);
    let protocol = &request.url[parts.protocol.clone()];
    let host = &request.url[parts.host.clone()];
    let path = unescaped(&request.target[..request.path_len.min(request.target.len())]);
    let usual = if request.secure { 443 } else { 80 };
    if whole {
        // With a forwarding proxy, JMeter does not rebuild the URL.
        let end = parts.query.as_ref().map_or(parts.path.end, |query| query.end);
        let (path, rest) = (&request.url[parts.path.clone()], &request.url[parts.path.start..end]);
        return match parts.port {
            None => {
                vec![
                    format!("{protocol}://{host}{rest}"),
                    format!("{protocol}://{host}:{usual}{path}"),
                ]
            }
            Some(port) => vec![format!("{protocol}://{host}:{port}{rest}")],
        };
    }
    match parts.port {
        None => {
            vec![format!("{protocol}://{host}{path}"), format!("{protocol}://{host}:{usual}{path}")]
        }
        Some(port) if port == usual => {
            vec![format!("{protocol}://{host}:{port}{path}"), format!("{protocol}://{host}{path}")]
        }
        Some(port) => vec![format!("{protocol}://{host}:{port}{path}")],
    }
}

fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_compared_with_and_without_the_usual_port() {
        let names = |url: &str, target: &str, secure| {
            let mut request = Request::default();
            request.secure = secure;
            request.url.push_str(url);
            request.target.push_str(target);
            request.path_len = target.find('?').unwrap_or(target.len());
            names_of(&request, false)
        };
        assert_eq!(
            names("http://host/a%20b?c", "/a%20b?c", false),
            ["http://host/a b", "http://host:80/a b"]
        );
        assert_eq!(names("https://h:443/", "/", true), ["https://h:443/", "https://h/"]);
        assert_eq!(names("http://h:443/%zz", "/%zz", false), ["http://h:443/%zz"]);
    }
}
