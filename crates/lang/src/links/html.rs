//! Finds the tags of a page that load a resource, like JMeter's visitor over Lagarto's tokens.

use super::tokenizer::{self, Kind, Tag, Thrown, Visitor};
use super::{Links, version};
use crate::url;

/// State of finding the links of a page.
pub(super) struct Page<'a, 'l> {
    links: &'a mut Links<'l>,
    /// Base address of relative links; a `<base>` tag changes it for later links.
    base: String,
    /// Version of Internet Explorer, if JMeter's user agent claims to be one.
    version: Option<f32>,
    /// For each enclosing conditional comment: true if the tags in it count.
    enabled: Vec<bool>,
}

/// Adds the links in an HTML page.
pub(super) fn find(
    text: &str,
    base: &str,
    user_agent: &str,
    links: &mut Links<'_>,
) -> Result<(), Thrown> {
    let version = version::of_user_agent(user_agent)?;
    let conditional = version.is_some_and(|version| version < 10.0);
    let mut page = Page { links, base: base.to_string(), version, enabled: vec![true] };
    tokenizer::read(text, conditional, &mut page)
}

impl Visitor for Page<'_, '_> {
    const READS_ALL: bool = false;

    fn begin_condition(&mut self, expression: &str) -> Result<(), Thrown> {
        let holds = version::matches(self.version.unwrap_or(0.0), expression)?;
        self.enabled.push(holds);
        Ok(())
    }

    fn end_condition(&mut self) -> Result<(), Thrown> {
        match self.enabled.pop() {
            Some(_) => Ok(()),
            None => Err("java.util.NoSuchElementException".to_string()),
        }
    }

    fn script(&mut self, tag: &Tag<'_>, _: &str) -> Result<(), Thrown> {
        if self.counts()? { self.add(tag.value("src")) } else { Ok(()) }
    }

    fn tag(&mut self, tag: &Tag<'_>) -> Result<(), Thrown> {
        if !self.counts()? || tag.kind == Kind::End {
            return Ok(());
        }
        let loads_source = ["img", "frame", "iframe", "embed", "bgsound"];
        if tag.is("base") {
            self.rebase(tag.value("href").unwrap_or(""))?;
        } else if loads_source.iter().any(|name| tag.is(name)) {
            self.add(tag.value("src"))?;
        } else if tag.is("applet") {
            self.applet(tag)?;
        } else if tag.is("object") {
            self.add(tag.value("codebase"))?;
            self.add(tag.value("data"))?;
        } else if tag.is("input") {
            if tag.value("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) {
                self.add(tag.value("src"))?;
            }
        } else if tag.is("link") {
            let loaded = ["stylesheet", "icon", "shortcut icon", "preload"];
            let relation = tag.value("rel").unwrap_or("");
            if loaded.iter().any(|known| relation.eq_ignore_ascii_case(known)) {
                self.add(tag.value("href"))?;
            }
        } else {
            self.add(tag.value("background"))?;
        }
        match tag.value("style").and_then(quoted_url) {
            Some(link) => self.links.add(link, &self.base),
            None => Ok(()),
        }
    }

    fn text(&mut self, _: &str) {}
}

impl Page<'_, '_> {
    fn counts(&self) -> Result<bool, Thrown> {
        self.enabled.last().copied().ok_or_else(|| {
            "java.lang.NullPointerException: Cannot invoke \"java.lang.Boolean.booleanValue()\" because the return \
             value of \"java.util.Deque.peek()\" is null"
                .to_string()
        })
    }

    fn add(&mut self, value: Option<&str>) -> Result<(), Thrown> {
        let value = java_trim(value.unwrap_or(""));
        if value.contains(['\n', '\r', '\u{8}', '\u{c}']) {
            let value = value.replace(['\n', '\r', '\u{8}', '\u{c}'], "");
            return self.links.add(&value, &self.base);
        }
        self.links.add(value, &self.base)
    }

    fn rebase(&mut self, href: &str) -> Result<(), Thrown> {
        if href.is_empty() {
            return Ok(());
        }
        let mut base = String::new();
        if url::relative(&self.base, href, &mut base).is_err() {
            return Err(format!(
                "java.lang.IllegalArgumentException: Error creating relative url from {href}"
            ));
        }
        self.base = base;
        Ok(())
    }

    fn applet(&mut self, tag: &Tag<'_>) -> Result<(), Thrown> {
        let filled = |name| tag.value(name).filter(|value| !value.trim().is_empty());
        let Some(codebase) = filled("codebase") else { return self.add(tag.value("code")) };
        let file = filled("archive").or(tag.value("code")).unwrap_or("null");
        self.add(Some(&format!("{codebase}/{file}")))
    }
}

fn java_trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// Returns the text from the first `url("` to the last `")` of a `style` attribute; the quotes may be single. JMeter
/// finds no URL without quotes.
fn quoted_url(style: &str) -> Option<&str> {
    let space = |c: char| c.is_ascii_whitespace() || c == '\u{b}';
    let quote = |c: char| c == '\'' || c == '"';
    let last = style.rmatch_indices(quote).map(|(at, _)| at);
    let last =
        last.into_iter().find(|at| style[at + 1..].trim_start_matches(space).starts_with(')'))?;
    let mut from = 0;
    while let Some(at) = style.get(from..last)?.find('(').map(|at| from + at) {
        from = at + 1;
        let named = at >= 3 && style.as_bytes()[at - 3..at].eq_ignore_ascii_case(b"url");
        let inside = style[from..].trim_start_matches(space);
        let open = style.len() - inside.len();
        if named && inside.starts_with(quote) && open < last {
            return Some(&style[open + 1..last]);
        }
    }
    None
}
