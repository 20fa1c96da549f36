//! Resolution as `java.net.URL` does it, and escaping as `java.net.URI` does it.
//!
//! Only `http` and `https` are known. Runs once for each redirect, and allocates as it likes.

use super::{Error, is_scheme};

#[derive(Clone, Debug)]
pub(super) struct Url {
    scheme: String,
    authority: String,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

impl Url {
    /// Parses `text` in the context of `base`.
    pub(super) fn parse(base: Option<&Url>, text: &str) -> Result<Self, Error> {
        let mut text = text.trim_matches(|c| c <= ' ');
        if text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("url:")) {
            text = &text[4..];
        }
        let mut scheme = None;
        if let Some((before, after)) = text.split_once(':').filter(|(before, _)| is_scheme(before))
        {
            scheme = Some(before.to_ascii_lowercase());
            text = after;
        }
        let mut base = base;
        match (&scheme, base) {
            (None, None) => return Err(Error::NoScheme),
            // "http:path" is relative to an address of the same scheme, provided that it has a path.
            (Some(own), Some(other)) if *own == other.scheme && other.path.starts_with('/') => {}
            (Some(own), _) if own == "http" || own == "https" => base = None,
            (Some(_), _) => return Err(Error::UnknownScheme),
            (None, Some(_)) => {}
        }
        let (text, fragment) = match text.split_once('#') {
            Some((text, fragment)) => (text, Some(fragment.to_owned())),
            None => (text, None),
        };
        let mut url = match base {
            Some(base) => Url { query: None, fragment, ..base.clone() },
            None => Url {
                scheme: scheme.unwrap_or_default(),
                authority: String::new(),
                path: String::new(),
                query: None,
                fragment,
            },
        };
        if text.is_empty()
            && let Some(base) = base
        {
            url.query.clone_from(&base.query);
            if url.fragment.is_none() {
                url.fragment.clone_from(&base.fragment);
            }
        }
        url.apply(text);
        if url.authority.is_empty() { Err(Error::NoHost) } else { Ok(url) }
    }

    /// Lays the scheme-specific part over what the base gave.
    fn apply(&mut self, text: &str) {
        let query_only = text.starts_with('?');
        let mut rest = text;
        if let Some((before, query)) = text.split_once('?') {
            self.query = Some(query.to_owned());
            rest = before;
        }
        if let Some(after) = rest.strip_prefix("//").filter(|after| !after.starts_with("//")) {
            let end = after.find('/').unwrap_or(after.len());
            after[..end].clone_into(&mut self.authority);
            rest = &after[end..];
            if !self.authority.is_empty() {
                self.path.clear();
            }
        }
        if rest.starts_with('/') {
            rest.clone_into(&mut self.path);
        } else if !rest.is_empty() && self.path.is_empty() {
            self.path = format!("/{rest}");
        } else if !rest.is_empty() {
            let directory = self.path.rfind('/').map_or("/", |end| &self.path[..=end]);
            self.path = without_dots(format!("{directory}{rest}"));
        } else if query_only {
            self.path.truncate(self.path.rfind('/').unwrap_or(0));
            self.path.push('/');
        }
    }

    /// `../` or more of it at the start of the path, right after the first slash.
    pub(super) fn steps_above_root(&self) -> Option<&str> {
        let path = self.path.strip_prefix('/')?;
        let mut len = 0;
        while path[len..].starts_with("../") {
            len += 3;
        }
        (len > 0).then(|| &path[..len])
    }

    /// Escapes what is illegal; if anything is, percent signs too, for then nothing counts as escaped yet.
    pub(super) fn escape(&mut self) {
        let parts = [
            (Some(&self.path), false),
            (self.query.as_ref(), true),
            (self.fragment.as_ref(), true),
        ];
        if parts.iter().all(|(part, query)| part.is_none_or(|part| is_legal(part, *query))) {
            return;
        }
        // The parts are put together anew, and an empty port is lost.
        if self.authority.ends_with(':') {
            self.authority.pop();
        }
        self.path = escaped(&self.path, false);
        self.query = self.query.as_ref().map(|query| escaped(query, true));
        self.fragment = self.fragment.as_ref().map(|fragment| escaped(fragment, true));
    }

    pub(super) fn into_text(self) -> String {
        let mut text = format!("{}://{}{}", self.scheme, self.authority, self.path);
        for (mark, part) in [('?', self.query), ('#', self.fragment)] {
            if let Some(part) = part {
                text.push(mark);
                text.push_str(&part);
            }
        }
        text
    }
}

/// Removes `.` and `..` segments where they cancel something; those that lead above the root stay.
fn without_dots(mut path: String) -> String {
    while let Some(at) = path.find("/./") {
        path.replace_range(at..at + 2, "");
    }
    let mut from = 0;
    while let Some(at) = path[from..].find("/../").map(|i| from + i) {
        match path[..at].rfind('/') {
            // Java spares the first of several steps above the root, but not those after it.
            Some(parent) if parent > 0 || !path.starts_with("/../") => {
                path.replace_range(parent..at + 3, "");
                from = 0;
            }
            _ => from = at + 3,
        }
    }
    while path.ends_with("/..") {
        let at = path.find("/..").unwrap_or_default();
        let Some(parent) = path[..at].rfind('/') else { break };
        path.truncate(parent + 1);
    }
    if path.starts_with("./") && path.len() > 2 {
        path.replace_range(..2, "");
    }
    if path.ends_with("/.") {
        path.pop();
    }
    path
}

/// Collapses `segment/..` in a redirect's path before it is resolved. A path that has none stays as it is.
pub(super) fn collapse_dots(url: &str) -> String {
    let start = match url.find("://") {
        Some(scheme) => url[scheme + 3..].find('/').map(|i| scheme + 3 + i),
        None => Some(0),
    };
    let end = url
        .find('?')
        .filter(|&i| i > 0)
        .or_else(|| url.find('#').filter(|&i| i > 0))
        .unwrap_or(url.len());
    let Some(start) = start.filter(|&start| url.contains("/..") && start <= end) else {
        return url.to_owned();
    };
    let path = &url[start..end];
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        match kept.last() {
            Some(&last) if segment == ".." && last != ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut collapsed = String::from(if path.starts_with('/') { "/" } else { "" });
    collapsed.push_str(&kept.join("/"));
    if path.ends_with('/') && !kept.is_empty() {
        collapsed.push('/');
    }
    format!("{}{collapsed}{}", &url[..start], &url[end..])
}

/// Whether `java.net.URI` takes the text as it is.
fn is_legal(text: &str, query: bool) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let legal = match c {
            '%' => {
                let mut hex = || chars.next().is_some_and(|c| c.is_ascii_hexdigit());
                hex() && hex()
            }
            c => is_allowed(c, query),
        };
        if !legal {
            return false;
        }
    }
    true
}

fn is_allowed(c: char, query: bool) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => true,
        '_' | '-' | '!' | '.' | '~' | '\'' | '(' | ')' | '*' => true,
        ':' | '@' | '&' | '=' | '+' | '$' | ',' | ';' | '/' => true,
        '?' | '[' | ']' => query,
        c => !c.is_ascii() && !c.is_control() && !c.is_whitespace(),
    }
}

fn escaped(text: &str, query: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_allowed(c, query) {
            out.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}
