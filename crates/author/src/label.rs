//! Paths of properties, such as `HTTPSampler.path` or `HeaderManager.headers/Accept/Header.value`.
//!
//! A path has one label for each level. The label of a property is its name. A member of a collection without a name
//! has the text of its property that ends with `.name`, and else its position, such as `[2]`. XML inside an `objProp`
//! has its tag. If several siblings would have one label, each has its number in addition: `x[1]`, `x[2]`. An attribute
//! is `@testname`. In labels, `/`, `[`, `\` and a leading `@` are escaped by `\`.

use crate::Refusal;
use crate::tree::{NodeId, Role, Xml};

/// The part of a plan that a property path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Node(NodeId),
    /// An attribute of a node, which may be absent.
    Attribute(NodeId, String),
}

/// Returns the children of an element or property with their labels, in the order of the file.
pub(crate) fn labels(xml: Xml<'_>, id: NodeId) -> Vec<(NodeId, String)> {
    let children = &xml.node(id).children;
    let names: Vec<String> = children.iter().map(|child| name(xml, *child)).collect();
    let mut counts = std::collections::HashMap::new();
    for name in &names {
        *counts.entry(name.as_str()).or_insert(0usize) += 1;
    }
    let mut seen = std::collections::HashMap::new();
    let label = |(at, (child, name)): (usize, (&NodeId, &String))| {
        let label = if name.is_empty() {
            format!("[{}]", at + 1)
        } else if counts[name.as_str()] > 1 {
            let number = seen.entry(name.clone()).or_insert(0usize);
            *number += 1;
            format!("{}[{number}]", escape(name))
        } else {
            escape(name)
        };
        (*child, label)
    };
    children.iter().zip(&names).enumerate().map(label).collect()
}

/// Returns the name of a property without escapes; empty if it has none.
fn name(xml: Xml<'_>, id: NodeId) -> String {
    let own = xml.attribute_value(id, "name");
    match own {
        Some(name) if !name.is_empty() => name,
        Some(_) => content_name(xml, id).unwrap_or_default(),
        None => {
            let named = xml.node(id).children.iter().find(|child| xml.tag(**child) == "name");
            let inner = named.and_then(|child| xml.value(*child));
            inner.unwrap_or_else(|| xml.tag(id).to_owned())
        }
    }
}

/// Returns the name that a member of a collection holds in a property, such as `Header.name`.
fn content_name(xml: Xml<'_>, id: NodeId) -> Option<String> {
    let node = xml.node(id);
    if node.role != Role::Object {
        return None;
    }
    let is_name = |child: &&NodeId| {
        xml.attribute_value(**child, "name").is_some_and(|name| name.ends_with(".name"))
    };
    let held = node.children.iter().find(is_name).and_then(|child| xml.value(*child));
    held.filter(|name| !name.is_empty()).or_else(|| xml.attribute_value(id, "testname"))
}

/// Escapes a name for a path.
pub(crate) fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        if matches!(c, '/' | '[' | '\\') || (at == 0 && c == '@') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Splits a path at each `/` that is not escaped. The parts keep their escapes.
pub(crate) fn split(path: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in path.char_indices() {
        if c == '/' && !escaped {
            parts.push(&path[start..at]);
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    parts.push(&path[start..]);
    parts
}

/// Removes the escapes of a label.
pub(crate) fn unescape(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    let mut chars = label.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// Reads a position such as `[2]`, from 1.
pub(crate) fn position(label: &str) -> Option<usize> {
    let number: usize = label.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
    number.checked_sub(1)
}

/// Finds the property or attribute that a path names below an element.
pub(crate) fn find(xml: Xml<'_>, element: NodeId, path: &str) -> Result<Target, Refusal> {
    let parts = split(path);
    let mut at = element;
    for (level, part) in parts.iter().enumerate() {
        if let (Some(name), true) = (part.strip_prefix('@'), level + 1 == parts.len()) {
            return Ok(Target::Attribute(at, name.to_owned()));
        }
        at = child(xml, at, part).ok_or_else(|| missing(xml, at, part))?;
    }
    Ok(Target::Node(at))
}

/// Finds the child of a node that has a label, or that is at a position such as `[2]`.
pub(crate) fn child(xml: Xml<'_>, id: NodeId, label: &str) -> Option<NodeId> {
    let children = labels(xml, id);
    let found = children.iter().find(|(_, own)| own == label).map(|(child, _)| *child);
    found.or_else(|| Some(children.get(position(label)?)?.0)).or_else(|| {
        // A label with superfluous escapes, or without necessary ones.
        let plain = unescape(label);
        children.iter().find(|(_, own)| unescape(own) == plain).map(|(child, _)| *child)
    })
}

fn missing(xml: Xml<'_>, id: NodeId, part: &str) -> Refusal {
    const MOST: usize = 12;
    let known: Vec<String> = labels(xml, id).into_iter().map(|(_, label)| label).collect();
    if known.is_empty() {
        return Refusal::new(format!("no property {part}: there are none"));
    }
    let more = if known.len() > MOST { ", …" } else { "" };
    let shown = known[..known.len().min(MOST)].join(", ");
    Refusal::new(format!("no property {part}; there are: {shown}{more}"))
}

/// A property or attribute of an element with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flat {
    pub(crate) path: String,
    /// XML tag; empty for an attribute.
    pub(crate) tag: String,
    /// Decoded value; empty for a property that contains properties.
    pub(crate) value: String,
}

/// Lists the attributes and properties of an element with their paths. The attributes `testname` and `enabled` of the
/// element itself are left out.
pub(crate) fn flatten(xml: Xml<'_>, element: NodeId) -> Vec<Flat> {
    let mut out = Vec::new();
    push_flat(xml, element, "", &mut out);
    out
}

fn push_flat(xml: Xml<'_>, id: NodeId, path: &str, out: &mut Vec<Flat>) {
    let node = xml.node(id);
    let below = |label: &str| {
        if path.is_empty() { label.to_owned() } else { format!("{path}/{label}") }
    };
    for attribute in &node.attributes {
        let name = xml.slice(attribute.name.clone());
        let value = jmx::attribute_value(xml.slice(attribute.value.clone())).0;
        let is_own = path.is_empty() && matches!(name, "testname" | "enabled");
        let is_default = name == "enabled" && value == "true";
        if !is_own && !is_default && (path.is_empty() || name != "name") {
            out.push(Flat { path: below(&format!("@{name}")), tag: String::new(), value });
        }
    }
    for (child, label) in labels(xml, id) {
        let path = below(&label);
        let tag = xml.tag(child).to_owned();
        let value = match xml.node(child).role {
            Role::List | Role::Object => String::new(),
            _ => xml.value(child).unwrap_or_default(),
        };
        out.push(Flat { path: path.clone(), tag, value });
        push_flat(xml, child, &path, out);
    }
}
