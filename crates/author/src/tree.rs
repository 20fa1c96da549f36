//! The XML nodes of a plan's text with their positions.
//!
//! Unlike [`jmx::Document`], the tree has the position of every property and attribute. Nodes are in one vector in
//! document order. Nesting is limited, so functions that recurse over the tree cannot exhaust the stack.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::Refusal;

/// Index of a node in its [`Tree`].
pub(crate) type NodeId = usize;

/// Maximum nesting of XML nodes: the levels of elements, and the tags within the innermost element.
const MAX_NESTING: usize = jmx::MAX_LEVELS + jmx::MAX_DEPTH;

/// The function of a node in a plan file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The `jmeterTestPlan`.
    Root,
    /// A `hashTree`.
    Tree,
    /// An element of the plan.
    Element,
    /// A property with text, such as a `stringProp`.
    Scalar,
    /// An `elementProp`.
    Object,
    /// A `collectionProp` or `mapProp`.
    List,
    /// XML that JMeter does not read as a property, such as the content of an `objProp`.
    Tagged,
}

/// An attribute of a start tag.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) name: Range<usize>,
    /// Position of the value without its quotes.
    pub(crate) value: Range<usize>,
}

/// An XML tag with its content.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) role: Role,
    pub(crate) tag: Range<usize>,
    /// Position of the start tag.
    pub(crate) start: Range<usize>,
    /// Position of the end tag; empty if the start tag ends with `/>`.
    pub(crate) end: Range<usize>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) parent: Option<NodeId>,
    pub(crate) children: Vec<NodeId>,
    /// Number of nodes around this one, which is also its level of indentation.
    pub(crate) depth: usize,
}

impl Node {
    /// True if the start tag ends with `/>`.
    pub(crate) fn is_closed(&self) -> bool {
        self.end.is_empty()
    }

    /// Position of the text between start tag and end tag.
    pub(crate) fn content(&self) -> Range<usize> {
        self.start.end..self.end.start
    }

    /// Position from the start tag to the end tag.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.start.start..self.end.end
    }
}

/// All nodes of a text in document order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
}

impl Tree {
    /// Reads the nodes of a text up to the end of its outermost node.
    pub(crate) fn read(text: &str) -> Result<Self, Refusal> {
        let mut tree = Self::default();
        let mut open: Vec<NodeId> = Vec::new();
        let mut reader = Reader::from_str(text);
        reader.config_mut().allow_dangling_amp = true;
        loop {
            let start = reader.buffer_position() as usize;
            let event = reader.read_event();
            let event = event.map_err(|error| Refusal::new(format!("not XML: {error}")))?;
            let end = reader.buffer_position() as usize;
            match event {
                Event::Start(_) | Event::Empty(_) if open.len() >= MAX_NESTING => {
                    return Err(Refusal::new("the tags of the file are nested too deep"));
                }
                Event::Start(_) => open.push(tree.push(text, start..end, open.last().copied())),
                Event::Empty(_) => {
                    tree.push(text, start..end, open.last().copied());
                }
                Event::End(_) => {
                    if let Some(id) = open.pop() {
                        tree.nodes[id].end = start..end;
                    }
                }
                Event::Eof => break,
                _ => continue,
            }
            if open.is_empty() {
                break;
            }
        }
        if !open.is_empty() || tree.nodes.is_empty() {
            return Err(Refusal::new("the file ends too early"));
        }
        Ok(tree)
    }

    fn push(&mut self, text: &str, start: Range<usize>, parent: Option<NodeId>) -> NodeId {
        let id = self.nodes.len();
        let inside = start.start + 1;
        let ends = |c: char| c.is_ascii_whitespace() || c == '/' || c == '>';
        let tag_end = text[inside..start.end].find(ends).map_or(start.end, |at| inside + at);
        let tag = inside..tag_end;
        let named = attributes(text, tag.end..start.end);
        let role = role(parent.map(|id| self.nodes[id].role), &text[tag.clone()], || {
            named.iter().any(|one| &text[one.name.clone()] == "name")
        });
        let depth = parent.map_or(0, |id| self.nodes[id].depth + 1);
        let end = start.end..start.end;
        let node =
            Node { role, tag, start, end, attributes: named, parent, children: Vec::new(), depth };
        self.nodes.push(node);
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        id
    }

    /// Returns the node whose start tag begins at a position.
    pub(crate) fn starting_at(&self, start: usize) -> Option<NodeId> {
        self.nodes.binary_search_by_key(&start, |node| node.start.start).ok()
    }
}

fn role(parent: Option<Role>, tag: &str, is_named: impl Fn() -> bool) -> Role {
    match parent {
        None => Role::Root,
        Some(Role::Root | Role::Tree) if jmx::is_tree(tag) => Role::Tree,
        Some(Role::Root | Role::Tree) => Role::Element,
        Some(Role::Scalar | Role::Tagged) => Role::Tagged,
        Some(Role::Element | Role::Object | Role::List) => {
            let plain = tag.strip_prefix("org.apache.jmeter.testelement.property.").unwrap_or(tag);
            match plain {
                "stringProp" | "StringProperty" | "boolProp" | "BooleanProperty" | "intProp"
                | "IntegerProperty" | "longProp" | "LongProperty" => Role::Scalar,
                "floatProp" | "FloatProperty" | "doubleProp" | "DoubleProperty" if is_named() => {
                    Role::Scalar
                }
                "collectionProp" | "CollectionProperty" | "mapProp" | "MapProperty" => Role::List,
                "elementProp" | "TestElementProperty" => Role::Object,
                _ => Role::Tagged,
            }
        }
    }
}

/// Finds the attributes in the part of a start tag behind its name.
fn attributes(text: &str, part: Range<usize>) -> Vec<Attribute> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = part.start;
    let blank = |at: usize| at < part.end && bytes[at].is_ascii_whitespace();
    loop {
        while blank(at) {
            at += 1;
        }
        let name = at;
        while at < part.end && !blank(at) && !matches!(bytes[at], b'=' | b'/' | b'>') {
            at += 1;
        }
        let name = name..at;
        while blank(at) {
            at += 1;
        }
        if name.is_empty() || at >= part.end || bytes[at] != b'=' {
            return found;
        }
        at += 1;
        while blank(at) {
            at += 1;
        }
        let Some(quote @ (b'"' | b'\'')) = bytes.get(at).copied() else { return found };
        let value = at + 1;
        let Some(length) = bytes[value..part.end].iter().position(|byte| *byte == quote) else {
            return found;
        };
        found.push(Attribute { name, value: value..value + length });
        at = value + length + 1;
    }
}

/// A text with its tree: the view that most functions work on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Xml<'a> {
    pub(crate) text: &'a str,
    pub(crate) tree: &'a Tree,
}

impl<'a> Xml<'a> {
    pub(crate) fn node(self, id: NodeId) -> &'a Node {
        &self.tree.nodes[id]
    }

    /// Returns the text at a position.
    pub(crate) fn slice(self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    pub(crate) fn tag(self, id: NodeId) -> &'a str {
        self.slice(self.node(id).tag.clone())
    }

    pub(crate) fn content(self, id: NodeId) -> &'a str {
        self.slice(self.node(id).content())
    }

    /// Returns the node of an attribute with this name.
    pub(crate) fn attribute(self, id: NodeId, name: &str) -> Option<&'a Attribute> {
        self.node(id).attributes.iter().find(|one| &self.text[one.name.clone()] == name)
    }

    /// Returns the decoded value of an attribute.
    pub(crate) fn attribute_value(self, id: NodeId, name: &str) -> Option<String> {
        let found = self.attribute(id, name)?;
        Some(jmx::attribute_value(self.slice(found.value.clone())).0)
    }

    /// Returns the text of a node without child nodes. Text that cannot be decoded is returned as it is.
    pub(crate) fn value(self, id: NodeId) -> Option<String> {
        let node = self.node(id);
        if !node.children.is_empty() {
            return None;
        }
        let raw = self.slice(node.content());
        Some(jmx::tag_text(raw).unwrap_or_else(|| raw.to_owned()))
    }

    /// Returns the `hashTree` that follows an element.
    pub(crate) fn tree_of(self, element: NodeId) -> Option<NodeId> {
        let siblings = &self.node(self.node(element).parent?).children;
        let at = siblings.binary_search(&element).ok()?;
        let next = *siblings.get(at + 1)?;
        (self.node(next).role == Role::Tree).then_some(next)
    }

    /// Position from an element's start tag to the end of its `hashTree`.
    pub(crate) fn extent(self, element: NodeId) -> Range<usize> {
        let last = self.tree_of(element).unwrap_or(element);
        self.node(element).start.start..self.node(last).end.end
    }

    /// Returns the texts around and between the children of a node: before the first child, between two children, and
    /// after the last child.
    pub(crate) fn gaps(self, id: NodeId) -> Vec<Range<usize>> {
        let node = self.node(id);
        let mut gaps = Vec::with_capacity(node.children.len() + 1);
        let mut at = node.start.end;
        for child in &node.children {
            let child = self.node(*child);
            gaps.push(at..child.start.start);
            at = child.end.end;
        }
        gaps.push(at..node.end.start.max(at));
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_ends_have_positions() {
        let text = "<a x = '1' y=\"b>c\"/>";
        let tree = Tree::read(text).expect("a tree");
        let xml = Xml { text, tree: &tree };
        assert_eq!(xml.attribute_value(0, "x").as_deref(), Some("1"));
        assert_eq!(xml.attribute_value(0, "y").as_deref(), Some("b>c"));
        assert!(xml.node(0).is_closed());
        assert_eq!(xml.slice(xml.node(0).whole()), text);
    }

    #[test]
    fn nesting_is_limited() {
        assert!(Tree::read(&"<a>".repeat(100_000)).is_err());
        assert!(Tree::read("<a><b></a>").is_err());
        assert!(Tree::read("").is_err());
    }
}
