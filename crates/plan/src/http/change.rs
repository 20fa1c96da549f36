//! Pre-processors that change the request of one sample: HTTP URL Re-writing Modifier, RegEx User Parameters, and
//! HTML Link Parser (in module `link`).
//!
//! HTTP URL Re-writing Modifier copies a session id from the last response into the path or the parameters of the
//! next request. If a plan has this element, the id is saved for the user at the end of each sample. Requests with
//! such elements in scope are rendered anew each time and may allocate.

use std::ops::ControlFlow;

use jmx::ElementId;
use lang::charset::Charset;
use lang::percent;
use lang::regexp::Regexp;

use super::link::Target;
use super::{Argument, Http, Request};
use crate::compile::Context;
use crate::env::Env;
use crate::evaluation;
use crate::result::SampleResult;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// A compiled HTTP URL Re-writing Modifier.
#[derive(Debug)]
pub struct Session {
    name: Template,
    /// True if the session id goes into the path instead of the parameters.
    path: Flag,
    /// True if the path has no `=` between the name and the session id.
    no_equals: Flag,
    /// True if a question mark ends the session id in the path.
    no_question_mark: Flag,
    /// True if the previous session id is kept when a response has none.
    cache: Flag,
    encode: Flag,
}

/// The session ids that an HTTP URL Re-writing Modifier keeps for a user: the id in the last response, and the id that
/// is saved if caching is on.
#[derive(Debug, Default)]
pub(crate) struct SessionId {
    /// Session id in the last response, empty if it has none; `None` before the first response.
    last: Option<String>,
    saved: String,
}

/// Compiled RegEx User Parameters, which set parameters to values that a Regular Expression Extractor has found.
#[derive(Debug)]
pub(crate) struct Fields {
    reference: Template,
    names: Template,
    values: Template,
}

/// A modification that a pre-processor makes to a request.
#[derive(Debug)]
pub(crate) enum Change {
    /// HTTP URL Re-writing Modifier, with the index of its [`SessionId`] in the state of each user.
    Session(u32, Session),
    Fields(Fields),
    Link,
}

/// Compiles an HTTP URL Re-writing Modifier.
pub(crate) fn session(ctx: &mut Context<'_>, id: ElementId) -> Session {
    Session {
        name: ctx.prop(id, "argument_name"),
        path: flag::compile(ctx, id, "path_extension", false),
        no_equals: flag::compile(ctx, id, "path_extension_no_equals", false),
        no_question_mark: flag::compile(ctx, id, "path_extension_no_questionmark", false),
        cache: flag::compile(ctx, id, "cache_value", true),
        encode: flag::compile(ctx, id, "encode", false),
    }
}

/// Compiles RegEx User Parameters.
pub(crate) fn fields(ctx: &mut Context<'_>, id: ElementId) -> Fields {
    Fields {
        reference: ctx.prop(id, "RegExUserParameters.regex_ref_name"),
        names: ctx.prop(id, "RegExUserParameters.param_names_gr_nr"),
        values: ctx.prop(id, "RegExUserParameters.param_values_gr_nr"),
    }
}

impl Session {
    /// Saves the session id of a response for later samplers.
    pub(crate) fn note(&self, at: usize, result: &SampleResult, env: &mut Env<'_>) {
        let mut name = env.core.take();
        self.name.eval(env, &mut name);
        let pattern = self.pattern(&quoted(&name), env);
        env.core.give(name);
        let noted = env.notes.session(at);
        let last = noted.last.get_or_insert_default();
        last.clear();
        let Ok(pattern) = Regexp::remembered(&pattern) else { return };
        let find = |env: &mut Env<'_>| {
            let last = env.notes.session(at).last.get_or_insert_default();
            pattern.each(&result.text, |found| {
                last.push_str((1..=3).find_map(|group| found.group(group)).unwrap_or(""));
                ControlFlow::Break(())
            });
        };
        evaluation::watched("HTTP URL Re-writing Modifier", env, find);
    }

    fn pattern(&self, name: &str, env: &mut Env<'_>) -> String {
        if self.path.get(env) {
            let equals = if self.no_equals.get(env) { "" } else { "=" };
            let end = if self.no_question_mark.get(env) { "?" } else { "" };
            return format!(";{name}{equals}([^\"'<>&\\s;{end}]*)");
        }
        let attribute = |name: &str, value: &str| format!("\\s{name}\\s*=\\s*[\"']{value}[\"']");
        let (field, value) = (attribute("[Nn][Aa][Mm][Ee]", name), "[vV][Aa][Ll][Uu][Ee]");
        let value = attribute(value, "([^\"']*)");
        format!("[;\\?&]{name}=([^\"'<>&\\s;\\\\]*)|{field}[^>]*{value}|{value}[^>]*{field}")
    }

    /// Writes the session id into a request, if the user has received a response before.
    fn apply(
        &self,
        at: u32,
        own: &[Argument],
        env: &mut Env<'_>,
        path: &mut String,
        out: &mut Request,
    ) {
        let cache = self.cache.get(env);
        let noted = env.notes.session(at as usize);
        let Some(last) = &noted.last else { return };
        if cache && !last.is_empty() {
            noted.saved.clone_from(last);
        }
        let value = if cache { noted.saved.clone() } else { last.clone() };
        let mut name = String::new();
        self.name.eval(env, &mut name);
        if !self.path.get(env) {
            out.changed.remove(&name, own, env);
            name.clear();
            self.name.eval(env, &mut name);
            let value = if self.encode.get(env) { value } else { decoded(value) };
            let name = if self.encode.get(env) { name } else { decoded(name) };
            out.changed.added.push(Added { name, value, equals: true, encode: true });
            return;
        }
        if let Some(start) = path.find(&format!(";{name}")) {
            let end = path.find('?').unwrap_or(path.len());
            // If a question mark precedes the old id, the path up to the id is kept, and the part after the id is
            // repeated.
            let rest = path[end..].to_string();
            path.truncate(start);
            path.push_str(&rest);
        }
        path.push(';');
        path.push_str(&name);
        if !self.no_equals.get(env) {
            path.push('=');
        }
        path.push_str(&value);
        let whole = path.starts_with("http://") || path.starts_with("https://");
        if !whole
            && matches!(out.method.as_str(), "GET" | "DELETE")
            && let Some(mark) = path.find('?')
        {
            let query = path.split_off(mark);
            for piece in query[1..].split('&') {
                let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
                if !name.is_empty() {
                    out.changed.added.push(Added {
                        name: decoded(name.to_string()),
                        value: decoded(value.to_string()),
                        equals: piece.contains('='),
                        encode: true,
                    });
                }
            }
        }
    }
}

/// Decodes a string as Java's `URLDecoder` does. A string with invalid escapes stays unchanged.
fn decoded(text: String) -> String {
    decoded_or_none(&text).unwrap_or(text)
}

/// Decodes a string as Java's `URLDecoder` does; `None` if Java would throw an exception.
pub(super) fn decoded_or_none(text: &str) -> Option<String> {
    let mut out = String::new();
    percent::decode(text, Charset::Utf8, &mut Vec::new(), &mut out).ok()?;
    Some(out)
}

/// Escapes all characters of a name that have a meaning in patterns.
fn quoted(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() && c != '_' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

impl Fields {
    /// Appends the new value of a parameter. Returns false if the parameter keeps its value.
    fn value(&self, name: &str, env: &mut Env<'_>, out: &mut String) -> bool {
        let mut reference = env.core.take();
        self.reference.eval(env, &mut reference);
        let mut groups = [String::new(), String::new()];
        self.names.eval(env, &mut groups[0]);
        self.values.eval(env, &mut groups[1]);
        let variable = |nth: &str, env: &Env<'_>| {
            env.vars.get_named(env.names, &format!("{reference}_{nth}")).map(str::to_string)
        };
        let count = variable("matchNr", env).and_then(|text| text.parse::<i32>().ok());
        let of = |nth: i32, group: &str, env: &Env<'_>| variable(&format!("{nth}_g{group}"), env);
        let known = groups.iter().all(|group| of(1, group, env).is_some());
        let mut found = None;
        if known {
            // If several matches have this parameter name, the last match is used.
            let matches = (1..=count.unwrap_or(0)).rev();
            let nth =
                matches.into_iter().find(|nth| of(*nth, &groups[0], env).as_deref() == Some(name));
            found = nth.and_then(|nth| of(nth, &groups[1], env));
        }
        env.core.give(reference);
        if let Some(found) = &found {
            out.push_str(found);
        }
        found.is_some()
    }
}

/// Modifications of the parameters and the target of one request.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    added: Vec<Added>,
    /// Indexes of parameters of the plan's request that are not sent.
    removed: Vec<usize>,
    /// Target that replaces the target of the plan's request.
    pub(super) target: Option<Target>,
    /// True if no parameter of the plan's request is sent.
    no_own: bool,
    /// New names and values for parameters of the plan's request, by their index.
    replaced: Vec<(usize, Added)>,
}

#[derive(Debug)]
pub(super) struct Added {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) equals: bool,
    /// True if the parameter is escaped when it is sent.
    pub(super) encode: bool,
}

impl Changed {
    pub(super) fn clear(&mut self) {
        self.added.clear();
        self.removed.clear();
        self.replaced.clear();
        (self.target, self.no_own) = (None, false);
    }

    pub(super) fn adds(&self) -> bool {
        !self.added.is_empty()
    }

    /// Removes all parameters with a name. As in JMeter, each name is evaluated for the comparison, and once more
    /// when it is sent.
    fn remove(&mut self, name: &str, own: &[Argument], env: &mut Env<'_>) {
        let of_name = |at: &usize| {
            if self.no_own || self.removed.contains(at) {
                return false;
            }
            let Some(replaced) = self.replacement(*at) else {
                let mut known = String::new();
                own[*at].name.eval(env, &mut known);
                return known == name;
            };
            replaced.name == name
        };
        let found: Vec<usize> = (0..own.len()).filter(of_name).collect();
        self.removed.extend(found);
        self.added.retain(|added| added.name != name);
    }

    /// Replaces all parameters of the request.
    pub(super) fn replace_all(&mut self, arguments: Vec<Added>) {
        self.no_own = true;
        self.added = arguments;
    }

    /// Replaces the name and value of a parameter of the plan's request.
    pub(super) fn replace(&mut self, at: usize, argument: Added) {
        self.replaced.retain(|(known, _)| *known != at);
        self.replaced.push((at, argument));
    }

    fn replacement(&self, at: usize) -> Option<&Added> {
        self.replaced.iter().find(|(known, _)| *known == at).map(|(_, added)| added)
    }
}

/// A parameter of one request: from the plan, or added by a pre-processor.
#[derive(Clone, Copy)]
pub(super) enum Parameter<'a> {
    Own(&'a Argument, usize, &'a Changed, &'a [Change]),
    Added(&'a Added, &'a [Change]),
}

impl Http {
    pub(super) fn apply_changes(&self, env: &mut Env<'_>, path: &mut String, out: &mut Request) {
        for change in &*self.changes {
            match change {
                Change::Session(at, session) => {
                    session.apply(*at, &self.arguments, env, path, out);
                }
                Change::Link => self.follow(env, path, &mut out.changed),
                Change::Fields(_) => {}
            }
        }
    }

    /// Returns the parameters to send: first the parameters of the plan, then the parameters that pre-processors added.
    pub(super) fn parameters<'a>(
        &'a self,
        changed: &'a Changed,
    ) -> impl Iterator<Item = Parameter<'a>> {
        let own = self.arguments.iter().enumerate();
        let own = own.filter(|(at, _)| !changed.no_own && !changed.removed.contains(at));
        own.map(move |(at, argument)| Parameter::Own(argument, at, changed, &self.changes))
            .chain(changed.added.iter().map(|added| Parameter::Added(added, &self.changes)))
    }
}

impl Parameter<'_> {
    /// Appends the name of the parameter.
    pub(super) fn name(self, env: &mut Env<'_>, out: &mut String) {
        match self {
            Self::Own(argument, at, changed, _) => match changed.replacement(at) {
                Some(added) => out.push_str(&added.name),
                None => argument.name.eval(env, out),
            },
            Self::Added(added, _) => out.push_str(&added.name),
        }
    }

    /// Replaces the content of `name` by the name of the parameter. Returns false if a body must omit the
    /// parameter, because the name is blank or a reference to an undefined variable.
    pub(super) fn has_name(self, env: &mut Env<'_>, name: &mut String) -> bool {
        name.clear();
        self.name(env, name);
        let undefined = name.trim().starts_with("${") && name.ends_with('}');
        !name.trim().is_empty() && !undefined
    }

    /// Appends the value of the parameter, which has the given name.
    pub(super) fn value(self, name: &str, env: &mut Env<'_>, out: &mut String) {
        let (Self::Own(_, _, _, changes) | Self::Added(_, changes)) = self;
        for change in changes.iter().rev() {
            if let Change::Fields(fields) = change
                && fields.value(name, env, out)
            {
                return;
            }
        }
        match self {
            Self::Own(argument, at, changed, _) => match changed.replacement(at) {
                Some(added) => out.push_str(&added.value),
                None => argument.value.eval(env, out),
            },
            Self::Added(added, _) => out.push_str(&added.value),
        }
    }

    pub(super) fn encode(self, env: &mut Env<'_>) -> bool {
        match self {
            Self::Own(argument, ..) => argument.encode.get(env),
            Self::Added(added, _) => added.encode,
        }
    }

    pub(super) fn separator(self, env: &mut Env<'_>, out: &mut String) {
        match self {
            Self::Own(argument, ..) => argument.separator.eval(env, out),
            Self::Added(added, _) => out.push_str(if added.equals { "=" } else { "" }),
        }
    }

    pub(super) fn content_type(self, env: &mut Env<'_>, out: &mut String) {
        match self {
            Self::Own(argument, ..) => argument.content_type.eval(env, out),
            Self::Added(..) => out.push_str("text/plain"),
        }
    }
}
