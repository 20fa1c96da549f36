//! The address of an embedded resource: escapes characters that a URI must not contain, and removes dot segments from
//! the path.

use crate::{uri, url};

/// Escapes characters that a URI must not contain. An address that is invalid even then is unchanged, and so is a
/// `file:` address.
pub fn escape(link: &mut String) {
    if link.starts_with("file:") {
        return;
    }
    if uri::verify(link).is_err() {
        let before = link.clone();
        uri::quote(link);
        if uri::verify(link).is_err() {
            *link = before;
        }
    }
}

/// Removes `.`, `..` and repeated slashes from the path, as `java.net.URI` does. Returns false if the address is not a
/// URI.
pub fn normalize(link: &mut String) -> bool {
    if uri::verify(link).is_err() {
        return false;
    }
    let path = url::split(link).path;
    let old = &link[path.clone()];
    // A URI without a slash after the scheme has no path.
    if path.start > 0 && link[..path.start].ends_with(':') && !old.starts_with('/') {
        return true;
    }
    let dotted = old.split('/').any(|segment| matches!(segment, "." | ".."));
    if !dotted && !old.contains("//") {
        return true;
    }
    // The segments to keep; `ends_open` is true if the path ends with a slash.
    let mut kept: Vec<&str> = Vec::new();
    let mut rest = old.trim_start_matches('/');
    let mut ends_open = false;
    while !rest.is_empty() {
        let end = rest.find('/').unwrap_or(rest.len());
        let segment = &rest[..end];
        let slash = end < rest.len();
        rest = rest[end..].trim_start_matches('/');
        ends_open = slash;
        match segment {
            "." => ends_open = true,
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
                ends_open = true;
            }
            _ => kept.push(segment),
        }
    }
    let mut new = String::from(if old.starts_with('/') { "/" } else { "" });
    new.push_str(&kept.join("/"));
    if ends_open && !kept.is_empty() {
        new.push('/');
    }
    link.replace_range(path, &new);
    true
}
