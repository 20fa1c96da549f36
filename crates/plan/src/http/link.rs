//! HTML Link Parser: changes the request to follow a matching link, form or frame of the last response.
//!
//! Protocol, domain, path and parameter names are patterns; one of several matches is chosen at random. A link
//! replaces the request's parameters by its own. A form sets the parameters whose names and values match. If a plan
//! has such an element, the page of the last response is kept for each user, and parsed anew for each request that
//! uses it.

use std::fmt::Write;

use lang::jsoup::{Document, Tag};
use lang::regexp::Regexp;
use lang::url;

use super::Http;
use super::change::{Added, Changed, decoded_or_none};
use crate::env::Env;
use crate::evaluation;
use crate::result::SampleResult;
use crate::template::Template;

/// The page of the user's last HTTP Request, kept for the HTML Link Parser. Not used if the last sample was no HTTP
/// Request.
#[derive(Debug, Default)]
pub(crate) struct Page {
    is_http: bool,
    url: String,
    text: String,
}

/// Target of a link or form, which replaces the target of the plan's request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) protocol: String,
    pub(super) domain: String,
    path: String,
}

/// A link, form or frame of a page.
struct Link {
    target: Target,
    arguments: Vec<Added>,
    is_form: bool,
}

impl Page {
    /// Saves a response for the HTML Link Parser.
    pub(crate) fn note(&mut self, result: &SampleResult) {
        self.is_http = result.http;
        if result.http {
            self.url.clone_from(&result.url);
            self.text.clone_from(&result.text);
        }
    }

    /// Returns all links, then all forms, then all frames.
    fn links(&self) -> Vec<Link> {
        let text = &self.text[self.text.find('<').unwrap_or(0)..];
        let document = Document::parse(text);
        let (mut links, mut forms, mut frames) = (Vec::new(), Vec::new(), Vec::new());
        let base = document.tags().find(|tag| tag.name() == "base");
        let mut context = String::new();
        let base = address(base.and_then(|tag| tag.attribute("href")).unwrap_or(""));
        if url::relative(&self.url, &base, &mut context).is_err() {
            context.clear();
        }
        let mut in_form = false;
        for tag in document.tags() {
            match tag.name() {
                "a" => {
                    let href = tag.attribute("href").map(address);
                    let href = href.filter(|href| !href.starts_with("javascript:"));
                    links.extend(href.and_then(|href| Link::to(&context, &href)));
                }
                "frame" => {
                    frames.extend(
                        tag.attribute("src").and_then(|src| Link::to(&context, &address(src))),
                    );
                }
                "form" => {
                    let form =
                        tag.attribute("action").and_then(|to| Link::to(&self.url, &address(to)));
                    in_form = form.is_some();
                    forms.extend(form.map(|form| Link { is_form: true, ..form }));
                }
                _ => {
                    if let Some(form) = forms.last_mut().filter(|_| in_form) {
                        form.arguments.extend(field(&tag));
                    }
                }
            }
        }
        links.append(&mut forms);
        links.append(&mut frames);
        links
    }
}

/// Replaces each sequence of white space by one blank.
fn spaced(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\t' | '\n' | '\r' | ' ' if out.ends_with(' ') => {}
            '\t' | '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

/// Returns the content of a `textarea` with its blanks as JTidy leaves them: at most one at the start, none at the end.
fn written(text: &str) -> String {
    let text = text.trim_end_matches(' ');
    let start = text.trim_start_matches(' ');
    let blank = if start.len() < text.len() { " " } else { "" };
    format!("{blank}{start}")
}

/// Returns the URL in an attribute as JTidy corrects it.
fn address(text: &str) -> String {
    let mut out = String::new();
    for c in spaced(&text.replace(['\r', '\n'], "")).trim().chars() {
        match c {
            '\\' => out.push('/'),
            '\0'..=' ' | '<' | '>' | '\u{7F}'.. => {
                let _ = write!(out, "%{:X}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// Returns the parameter that a form field sends; `None` for any other element.
fn field(tag: &Tag<'_>) -> Option<Added> {
    let attribute = |name: &str| spaced(tag.attribute(name).unwrap_or(""));
    let (name, value) = match tag.name() {
        "input" => (attribute("name"), attribute("value")),
        "textarea" => (attribute("name"), written(tag.text().unwrap_or(""))),
        // An option without a value attribute sends an empty value, whatever its content.
        "option" => {
            (spaced(tag.within("select")?.attribute("name").unwrap_or("")), attribute("value"))
        }
        _ => return None,
    };
    Some(Added {
        name: decoded_or_none(name.trim())?,
        value: decoded_or_none(&value)?,
        equals: true,
        encode: true,
    })
}

impl Link {
    fn to(context: &str, location: &str) -> Option<Self> {
        let mut link = String::new();
        url::relative(context, location, &mut link).ok()?;
        let parts = url::split(&link);
        let mut arguments = Vec::new();
        let query = parts.query.map_or("", |query| &link[query]);
        for piece in query.split('&').filter(|piece| !piece.is_empty()) {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            if !name.is_empty() {
                arguments.push(Added {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    equals: piece.contains('='),
                    encode: false,
                });
            }
        }
        let target = Target {
            protocol: link[parts.protocol].to_owned(),
            domain: link[parts.host].to_owned(),
            path: link[parts.path].replace(' ', "%20"),
        };
        Some(Self { target, arguments, is_form: false })
    }

    /// Returns the query of the link with its escapes decoded, for comparison with patterns. `None` if an escape
    /// sequence is invalid.
    fn query(&self) -> Option<String> {
        let mut out = String::new();
        for argument in self.arguments.iter().filter(|argument| !argument.name.is_empty()) {
            let shown = |text: &str| {
                if argument.encode { Some(text.to_owned()) } else { decoded_or_none(text) }
            };
            if !out.is_empty() {
                out.push('&');
            }
            out.push_str(&shown(&argument.name)?);
            if argument.equals {
                out.push('=');
            }
            out.push_str(&shown(&argument.value)?);
        }
        Some(out)
    }
}

/// True if a string equals the pattern or matches it completely.
fn fits(text: &str, pattern: &str) -> bool {
    text == pattern || Regexp::remembered(pattern).is_ok_and(|pattern| pattern.matches(text))
}

impl Http {
    /// Changes the request to follow a matching link, if there is one.
    pub(super) fn follow(&self, env: &mut Env<'_>, path: &mut String, changed: &mut Changed) {
        let page = std::mem::take(env.notes.page());
        if page.is_http {
            evaluation::watched("HTML Link Parser", env, |env| {
                self.follow_from(&page, env, path, changed);
            });
        }
        *env.notes.page() = page;
    }

    fn follow_from(
        &self,
        page: &Page,
        env: &mut Env<'_>,
        path: &mut String,
        changed: &mut Changed,
    ) {
        let path_pattern = path.replace(' ', "%20");
        // As in JMeter, the request's templates are evaluated for each link until one of them does not match. Only
        // functions with side effects show how often they are evaluated.
        let mut fitting = |link: &Link| {
            let Some(query) = link.query() else { return false };
            let to = &link.target;
            let protocol = evaluated(&self.protocol, env);
            if !fits(&to.protocol, if protocol.is_empty() { "http" } else { &protocol }) {
                return false;
            }
            let domain = evaluated(&self.domain, env);
            (domain.is_empty() || fits(&to.domain, &domain))
                && (to.path == path_pattern || fits(&to.path, &format!("[/]*{path_pattern}")))
                && self.arguments.iter().all(|argument| {
                    let name = evaluated(&argument.name, env);
                    query.contains(&format!("{name}="))
                        || Regexp::remembered(&name).is_ok_and(|name| name.is_found_in(&query))
                })
        };
        let mut links: Vec<Link> = page.links().into_iter().filter(|link| fitting(link)).collect();
        if links.is_empty() {
            return;
        }
        let chosen = env.core.random.below(links.len() as u64) as usize;
        let Link { target, mut arguments, is_form } = links.swap_remove(chosen);
        path.clear();
        path.push_str(&target.path);
        changed.target = Some(target);
        if !is_form {
            return changed.replace_all(arguments);
        }
        for (at, own) in self.arguments.iter().enumerate() {
            let mut fitting = Vec::new();
            for (at, argument) in arguments.iter().enumerate() {
                if fits(&argument.name, &evaluated(&own.name, env))
                    && fits(&argument.value, &evaluated(&own.value, env))
                {
                    fitting.push(at);
                }
            }
            if !fitting.is_empty() {
                let chosen = fitting[env.core.random.below(fitting.len() as u64) as usize];
                changed.replace(at, arguments.remove(chosen));
            }
        }
    }
}

fn evaluated(text: &Template, env: &mut Env<'_>) -> String {
    let mut out = String::new();
    text.eval(env, &mut out);
    out
}

#[cfg(test)]
mod tests;
