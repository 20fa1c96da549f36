//! A plan in canonical form: the form in which JMeter 5.6.3 saves a new plan.
//!
//! Two spaces per level, XStream's escapes, `<hashTree/>`, line feeds, no byte order mark, and no `enabled="true"`, which
//! JMeter adds and drops without a reason. The order of attributes, properties and elements stays. Comments stay, on
//! lines of their own. XML that JMeter reads in another way once it is written anew, such as text beside tags, stays as
//! it is. The result has the same elements and properties, and formatting it again changes nothing.

use jmx::writer;

use crate::tree::{NodeId, Role, Xml};
use crate::{Plan, Refusal};

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// Returns the canonical text of a plan. Fails if the file is not UTF-8, or is so broken that its canonical text would be
/// another plan.
pub fn format(plan: &Plan) -> Result<String, Refusal> {
    plan.check_editable()?;
    let text = write(plan);
    let name = plan.document().name();
    let written = Plan::read(name, text.clone().into_bytes());
    let is_same = written.is_ok_and(|written| {
        written.document().len() == plan.document().len() && write(&written) == text
    });
    if is_same {
        Ok(text)
    } else {
        Err(Refusal::new(format!("{name} cannot be formatted: throng check shows what is wrong")))
    }
}

fn write(plan: &Plan) -> String {
    let xml = plan.xml();
    let whole = xml.node(0).whole();
    let mut out = String::with_capacity(xml.text.len());
    out.push_str(DECLARATION);
    out.push('\n');
    push_outside(&mut out, &xml.text[..whole.start]);
    Layout { xml, keep_enabled: false }.push(0, 0, &mut out);
    push_outside(&mut out, &xml.text[whole.end..]);
    out
}

/// Returns the canonical text of a node, indented for a level, without a line end at its end.
pub(crate) fn fragment(xml: Xml<'_>, id: NodeId, level: usize, keep_enabled: bool) -> String {
    let mut out = String::new();
    Layout { xml, keep_enabled }.push(id, level, &mut out);
    out.trim().to_owned()
}

/// Returns the canonical text of a node: the same for two nodes with the same meaning.
pub(crate) fn canonical(xml: Xml<'_>, id: NodeId) -> String {
    fragment(xml, id, 0, false)
}

/// Appends what is before or after the outermost tag, without the XML declaration.
fn push_outside(out: &mut String, text: &str) {
    let mut rest = text.trim();
    if rest.starts_with("<?xml") {
        rest = rest.split_once("?>").map_or("", |(_, rest)| rest.trim());
    }
    match notes(rest) {
        Some(notes) => {
            for note in notes {
                push_line(out, note, 0);
            }
        }
        None => push_line(out, rest, 0),
    }
}

/// Divides text between tags into comments and processing instructions; `None` if it has other content.
fn notes(text: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = if let Some(comment) = rest.strip_prefix("<!--") {
            4 + comment.find("-->")? + 3
        } else if rest.starts_with("<?") {
            rest.find("?>")? + 2
        } else {
            return None;
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    Some(found)
}

fn push_line(out: &mut String, text: &str, level: usize) {
    indent(out, level);
    out.push_str(text);
    out.push('\n');
}

fn indent(out: &mut String, level: usize) {
    for _ in 0..level {
        out.push_str("  ");
    }
}

#[derive(Clone, Copy)]
struct Layout<'a> {
    xml: Xml<'a>,
    /// True if `enabled="true"` is written.
    keep_enabled: bool,
}

impl Layout<'_> {
    fn push(self, id: NodeId, level: usize, out: &mut String) {
        let xml = self.xml;
        let node = xml.node(id);
        let is_container = matches!(node.role, Role::Root | Role::Tree | Role::Element)
            || matches!(node.role, Role::Object | Role::List);
        let raw = xml.content(id);
        if node.children.is_empty() && !is_container {
            return self.push_leaf(id, level, out);
        }
        let gaps: Option<Vec<Vec<&str>>> =
            xml.gaps(id).into_iter().map(|gap| notes(xml.slice(gap))).collect();
        let Some(gaps) = gaps.filter(|_| node.role != Role::Scalar) else {
            return push_line(out, xml.slice(node.whole()), level);
        };
        indent(out, level);
        self.push_start(id, out);
        if raw.trim().is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n");
        for (at, notes) in gaps.iter().enumerate() {
            for note in notes {
                push_line(out, note, level + 1);
            }
            if let Some(child) = node.children.get(at) {
                self.push(*child, level + 1, out);
            }
        }
        indent(out, level);
        self.push_end(id, out);
    }

    /// Appends a node with text.
    fn push_leaf(self, id: NodeId, level: usize, out: &mut String) {
        let (xml, node) = (self.xml, self.xml.node(id));
        let Some(text) = jmx::tag_text(xml.content(id)) else {
            return push_line(out, xml.slice(node.whole()), level);
        };
        indent(out, level);
        self.push_start(id, out);
        if text.is_empty() && node.role == Role::Tagged && node.is_closed() {
            out.push_str("/>\n");
            return;
        }
        out.push('>');
        writer::push_text(out, &text);
        self.push_end(id, out);
    }

    /// Appends a start tag without its closing `>`.
    fn push_start(self, id: NodeId, out: &mut String) {
        let (xml, node) = (self.xml, self.xml.node(id));
        out.push('<');
        out.push_str(xml.tag(id));
        let has_switch = matches!(node.role, Role::Element | Role::Object);
        for attribute in &node.attributes {
            let name = xml.slice(attribute.name.clone());
            let raw = attribute.value.clone();
            let (value, is_bad) = jmx::attribute_value(xml.slice(raw.clone()));
            if has_switch && name == "enabled" && value == "true" && !self.keep_enabled {
                continue;
            }
            out.push(' ');
            out.push_str(name);
            out.push('=');
            if is_bad {
                out.push_str(&xml.text[raw.start - 1..=raw.end]);
                continue;
            }
            out.push('"');
            writer::push_attribute_value(out, &value);
            out.push('"');
        }
    }

    fn push_end(self, id: NodeId, out: &mut String) {
        out.push_str("</");
        out.push_str(self.xml.tag(id));
        out.push_str(">\n");
    }
}
