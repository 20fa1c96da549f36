//! Cookies from a file, in the format that curl and browsers' extensions write (Netscape's).

use super::Reading;
use crate::request::Cookie;
use crate::word;

/// Reads the cookies of a file. As in curl, a missing file has none.
pub(super) fn read(file: &str, reading: &mut Reading<'_>) -> Vec<Cookie> {
    let known = !word::has_reference(file);
    let content = known.then(|| (reading.files)(file).ok()).flatten();
    let Some(content) = content else {
        let message = format!(
            "-b {}: the file cannot be read: the run begins without cookies",
            word::shown(file)
        );
        reading.findings.note("curl-cookies", message);
        return Vec::new();
    };
    let text = word::plain(&String::from_utf8_lossy(&content));
    let mut cookies = Vec::new();
    let mut unread = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
        if line.starts_with('#') {
            continue;
        }
        match cookie(line) {
            Some(cookie) => cookies.push(cookie),
            None => unread += 1,
        }
    }
    if unread > 0 {
        let message = format!(
            "-b {file}: lines without the 7 fields of a cookie: {unread}; they are left out"
        );
        reading.findings.warn("curl-cookies", message);
    }
    cookies
}

/// Reads a line: domain, subdomains, path, secure, expiry, name, value.
fn cookie(line: &str) -> Option<Cookie> {
    let fields: Vec<&str> = line.split('\t').collect();
    let (domain, path, secure, name, value) = match fields[..] {
        [domain, _, path, secure, _, name, value] => (domain, path, secure, name, value),
        [domain, _, path, secure, _, name] => (domain, path, secure, name, ""),
        _ => return None,
    };
    Some(Cookie {
        name: name.to_owned(),
        value: value.trim_end_matches('\r').to_owned(),
        domain: domain.trim_start_matches('.').to_owned(),
        path: path.to_owned(),
        secure: secure.eq_ignore_ascii_case("true"),
    })
}
