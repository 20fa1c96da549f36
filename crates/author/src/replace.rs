//! Search and replacement in the values of properties and in names of elements.
//!
//! [`hits`] is the preview: each value with its replacement. [`replace`] makes the same replacements.

use jmx::ElementId;
use regex_automata::meta::Regex;
use regex_automata::util::{interpolate, syntax};
use serde::Serialize;

use crate::splice::Splice;
use crate::tree::{NodeId, Role, Xml};
use crate::{Applied, Plan, Refusal, label, place};

/// A search with its replacement.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Text or regular expression to find; not empty.
    pub pattern: String,
    /// True if the pattern is a regular expression. `$1` or `${name}` in the replacement is then a group.
    pub is_regex: bool,
    /// True if upper and lower case are the same.
    pub ignore_case: bool,
    /// Replacement of each match.
    pub replacement: String,
    /// True if names of elements are searched, too.
    pub names: bool,
    /// Name of the only property that is searched, at any depth, such as `HTTPSampler.path`; `None` for all.
    pub prop: Option<String>,
    /// Element whose subtree is searched; `None` for the whole plan.
    pub under: Option<ElementId>,
}

/// A value with at least one match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Path of the element.
    pub path: String,
    /// Path of the property; `@testname` for the element's name.
    pub prop: String,
    /// Value before the replacement.
    pub before: String,
    /// Value after the replacement.
    pub after: String,
    /// Line of the property or element in the file, from 1.
    pub line: usize,
}

/// Returns the values that a replacement would change. Fails if the pattern is invalid.
pub fn hits(plan: &Plan, search: &Search) -> Result<Vec<Hit>, Refusal> {
    Ok(found(plan, search)?.into_iter().map(|(hit, _)| hit).collect())
}

/// Replaces all matches. Returns the changed values, and the edit with its undo; no edit without a match.
pub fn replace(plan: &mut Plan, search: &Search) -> Result<(Vec<Hit>, Option<Applied>), Refusal> {
    plan.check_editable()?;
    let (mut splices, mut hits, mut first) = (Vec::new(), Vec::new(), None);
    for (hit, place) in found(plan, search)? {
        match place {
            Place::Name(id) => splices.extend(plan.rename(id, &hit.after)?),
            Place::Prop(id, node) => {
                first = first.or(Some(id));
                splices.extend(value_splices(plan, node, &hit)?);
            }
        }
        if let Place::Name(id) = place {
            first = first.or(Some(id));
        }
        hits.push(hit);
    }
    let applied = match first {
        Some(id) => Some(plan.in_place(id, splices)?),
        None => None,
    };
    Ok((hits, applied))
}

fn value_splices(plan: &Plan, node: NodeId, hit: &Hit) -> Result<Vec<Splice>, Refusal> {
    place::value(plan.xml(), node, &hit.after, plan.line_end())
        .map_err(|refusal| Refusal::new(format!("{}: {}: {refusal}", hit.path, hit.prop)))
}

/// The part of the plan that holds a value.
enum Place {
    Name(ElementId),
    Prop(ElementId, NodeId),
}

fn found(plan: &Plan, search: &Search) -> Result<Vec<(Hit, Place)>, Refusal> {
    if search.pattern.is_empty() {
        return Err(Refusal::new("the text to find is empty"));
    }
    let escaped = escape(&search.pattern);
    let pattern = if search.is_regex { &search.pattern } else { &escaped };
    let regex = Regex::builder()
        .syntax(syntax::Config::new().case_insensitive(search.ignore_case))
        .build(pattern)
        .map_err(|error| Refusal::new(format!("the pattern is invalid: {error}")))?;
    let finder = Finder { xml: plan.xml(), search, regex };
    let below = search.under.map(|id| id.index()..id.index() + plan.size(id));
    let mut out = Vec::new();
    for (id, path) in plan.paths() {
        if below.as_ref().is_some_and(|below| !below.contains(&id.index())) {
            continue;
        }
        let node = plan.node(id);
        let element = plan.document().element(id);
        let name = &element.name;
        if let (true, Some(after)) = (search.names, finder.replaced(name)) {
            let hit = Hit {
                path: path.clone(),
                prop: "@testname".to_owned(),
                before: name.clone(),
                after,
                line: element.line as usize,
            };
            out.push((hit, Place::Name(id)));
        }
        finder.push(node, "", &mut |prop, node, before, after| {
            let line = 1 + plan.text()[..finder.xml.node(node).start.start].matches('\n').count();
            out.push((
                Hit { path: path.clone(), prop, before, after, line },
                Place::Prop(id, node),
            ));
        });
    }
    Ok(out)
}

struct Finder<'a> {
    xml: Xml<'a>,
    search: &'a Search,
    regex: Regex,
}

impl Finder<'_> {
    /// Passes each property below a node that has a match: path, node, value, and value after the replacement.
    fn push(&self, id: NodeId, path: &str, out: &mut impl FnMut(String, NodeId, String, String)) {
        for (child, label) in label::labels(self.xml, id) {
            let below = if path.is_empty() { label } else { format!("{path}/{label}") };
            match self.xml.node(child).role {
                Role::List | Role::Object => self.push(child, &below, out),
                Role::Scalar => {
                    let name = self.xml.attribute_value(child, "name");
                    // The property overrides the element's name, which is searched as such.
                    let is_name = name.as_deref() == Some("TestElement.name");
                    let is_other = self.search.prop.is_some() && name != self.search.prop;
                    let value = self.xml.value(child).filter(|_| !is_other && !is_name);
                    let Some(before) = value else { continue };
                    if let Some(after) = self.replaced(&before) {
                        out(below, child, before, after);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns a text with all matches replaced; `None` if nothing changes.
    fn replaced(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for captures in self.regex.captures_iter(text) {
            let whole = captures.get_match()?;
            out.push_str(&text[at..whole.start()]);
            if self.search.is_regex {
                interpolate::string(
                    &self.search.replacement,
                    |index, out| {
                        if let Some(group) = captures.get_group(index) {
                            out.push_str(&text[group]);
                        }
                    },
                    |name| captures.group_info().to_index(whole.pattern(), name),
                    &mut out,
                );
            } else {
                out.push_str(&self.search.replacement);
            }
            at = whole.end();
        }
        out.push_str(&text[at..]);
        (out != text).then_some(out)
    }
}

/// Escapes a text as a regular expression.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
