//! The tree of a document: nodes in document order, so that a node's number is its position.
//!
//! An element is followed by its namespace declarations, its attributes (from Xerces sorted by name), and its content.
//! An element stores the number after its last descendant, from which all axes are derived. Names and values are ranges
//! of one text node.

use std::ops::Range;

use crate::work;

/// Number of a node in an XML document; the document itself has the first number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// The kind of a node in an XML document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Document,
    Element,
    /// A namespace declaration: `xmlns`, or `xmlns:` and a prefix.
    Namespace,
    Attribute,
    Text,
    /// Text of a CDATA section: a separate node in the DOM, but in XPath one text node together with adjacent text
    /// nodes.
    CData,
    Comment,
    Instruction,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    const NONE: Self = Self { start: 0, end: 0 };
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    parent: u32,
    /// Number of the first node after this node and its descendants.
    end: u32,
    /// The previous sibling, or the node's own number if it is the first.
    previous: u32,
    name: Span,
    value: Span,
    /// Index of the namespace in `uris` plus 1; 0 means no namespace.
    uri: u32,
}

/// The tree of an XML document.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    text: String,
    uris: Vec<Box<str>>,
    ids: Vec<u32>,
    /// True if the document was parsed with namespaces; otherwise a prefix is a part of the name.
    pub has_namespaces: bool,
    /// True if an element's DOM value is the empty string, as in JTidy; false if an element has no value, as in Xerces.
    pub has_element_values: bool,
}

impl NodeId {
    pub const DOCUMENT: Self = Self(0);

    fn at(self) -> usize {
        self.0 as usize
    }
}

impl Tree {
    pub fn kind(&self, id: NodeId) -> Kind {
        self.nodes[id.at()].kind
    }

    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        (id.0 != 0).then(|| NodeId(self.nodes[id.at()].parent))
    }

    /// Returns the root element of the document.
    pub fn root(&self) -> Option<NodeId> {
        self.children(NodeId::DOCUMENT).find(|id| self.kind(*id) == Kind::Element)
    }

    /// Returns the name as written, with its prefix; for a processing instruction, its target.
    pub fn name(&self, id: NodeId) -> &str {
        self.slice(self.nodes[id.at()].name)
    }

    /// Returns a node's name without its prefix.
    pub fn local_name(&self, id: NodeId) -> &str {
        let name = self.name(id);
        match self.kind(id) {
            Kind::Element | Kind::Attribute | Kind::Namespace => {
                name.split_once(':').map_or(name, |(_, local)| local)
            }
            _ => name,
        }
    }

    /// Returns the prefix that a namespace declaration declares; empty for the default namespace.
    pub fn declared_prefix(&self, id: NodeId) -> &str {
        self.name(id).strip_prefix("xmlns:").unwrap_or("")
    }

    /// Returns the namespace of a node's name; empty if there is none.
    pub fn uri(&self, id: NodeId) -> &str {
        match self.nodes[id.at()].uri {
            0 => "",
            at => &self.uris[at as usize - 1],
        }
    }

    /// Returns a node's value as in the DOM: elements and documents have no value, except in JTidy's DOM.
    pub fn value(&self, id: NodeId) -> Option<&str> {
        match self.kind(id) {
            Kind::Document | Kind::Element => self.has_element_values.then_some(""),
            _ => Some(self.slice(self.nodes[id.at()].value)),
        }
    }

    /// Returns the children of a node in document order, without attributes.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.nodes[id.at()].end;
        let mut next = if self.is_inner(id) { self.content(id).0 } else { end };
        std::iter::from_fn(move || {
            let child = (next < end).then_some(NodeId(next))?;
            next = self.nodes[child.at()].end;
            Some(child)
        })
    }

    /// Returns the namespace declarations of an element.
    pub fn declarations(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.leading(id).filter(|id| self.kind(*id) == Kind::Namespace)
    }

    /// Returns the attributes of an element, without namespace declarations.
    pub fn attributes(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.leading(id).filter(|id| self.kind(*id) == Kind::Attribute)
    }

    /// Returns all descendants of a node in document order, without attributes and namespaces.
    pub fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = if self.is_inner(id) { self.nodes[id.at()].end } else { id.0 };
        (id.0 + 1..end).map(NodeId).filter(|id| self.is_on_axes(*id))
    }

    /// Returns all nodes after a node's end, without attributes and namespaces.
    pub fn following(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        // An element's content comes after its attributes.
        let from =
            if self.is_on_axes(id) || id.0 == 0 { self.nodes[id.at()].end } else { id.0 + 1 };
        (from..self.nodes.len() as u32).map(NodeId).filter(|id| self.is_on_axes(*id))
    }

    /// Returns all nodes before a node that do not contain it, nearest first.
    pub fn preceding(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        (1..id.0)
            .rev()
            .map(NodeId)
            .filter(move |before| self.is_on_axes(*before) && self.nodes[before.at()].end <= id.0)
    }

    /// Returns the previous sibling of a node.
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        let previous = self.nodes[id.at()].previous;
        (previous != id.0 && self.is_on_axes(id)).then_some(NodeId(previous))
    }

    /// Returns the next sibling of a node.
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        let parent = self.parent(id).filter(|_| self.is_on_axes(id))?;
        let next = self.nodes[id.at()].end;
        (next < self.nodes[parent.at()].end).then_some(NodeId(next))
    }

    /// Returns the first element with an attribute of type ID that has the value `value`.
    pub fn with_id(&self, value: &str) -> Option<NodeId> {
        let mut attributes = self.ids.iter().map(|id| NodeId(*id)).take_while(|_| work::spend(1));
        self.parent(attributes.find(|id| self.value(*id) == Some(value))?)
    }

    /// Appends a node's string-value as XPath defines it.
    pub fn write_string(&self, id: NodeId, out: &mut String) {
        match self.kind(id) {
            Kind::Document | Kind::Element => {
                for below in self.descendants(id).take_while(|_| work::spend(1)) {
                    if self.is_text(below) {
                        let text = self.value(below).unwrap_or("");
                        work::spend(text.len() as u64 / 16);
                        out.push_str(text);
                    }
                }
            }
            Kind::Text | Kind::CData => {
                let mut part = Some(id);
                while let Some(at) = part.filter(|at| self.is_text(*at)) {
                    out.push_str(self.value(at).unwrap_or(""));
                    part = self.next(at);
                }
            }
            _ => out.push_str(self.value(id).unwrap_or("")),
        }
    }

    pub fn is_text(&self, id: NodeId) -> bool {
        matches!(self.kind(id), Kind::Text | Kind::CData)
    }

    /// Returns true if a text node, together with the text nodes directly after it, has a part outside of CDATA
    /// sections.
    pub fn has_plain_text(&self, id: NodeId) -> bool {
        let parts = std::iter::successors(Some(id), |id| self.next(*id));
        let mut parts = parts.take_while(|id| self.is_text(*id) && work::spend(1));
        parts.any(|id| self.kind(id) == Kind::Text)
    }

    /// Returns true if a text node directly follows another text node; XPath treats both as one.
    pub fn continues(&self, id: NodeId) -> bool {
        self.is_text(id) && self.previous(id).is_some_and(|before| self.is_text(before))
    }

    fn is_inner(&self, id: NodeId) -> bool {
        matches!(self.kind(id), Kind::Document | Kind::Element)
    }

    fn is_on_axes(&self, id: NodeId) -> bool {
        !matches!(self.kind(id), Kind::Document | Kind::Attribute | Kind::Namespace)
    }

    fn leading(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let range = match self.kind(id) {
            Kind::Element => id.0 + 1..self.content(id).0,
            _ => 0..0,
        };
        range.map(NodeId)
    }

    /// Returns the first node of an element's content.
    fn content(&self, id: NodeId) -> NodeId {
        let end = self.nodes[id.at()].end;
        let mut at = id.0 + 1;
        while at < end && !self.is_on_axes(NodeId(at)) {
            at += 1;
        }
        NodeId(at)
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }
}

/// An attribute before it is added to the tree.
#[derive(Debug)]
pub struct Attribute {
    pub name: Box<str>,
    pub value: String,
    pub uri: Option<Box<str>>,
    pub is_id: bool,
}

/// Builds the tree of a document from its start to its end.
#[derive(Debug)]
pub struct Builder {
    tree: Tree,
    /// The document and the open elements, outermost first, each with its last child so far.
    open: Vec<(u32, Option<u32>)>,
}

impl Builder {
    /// Maximum size of a document in bytes: positions are 32-bit numbers.
    pub const MAX_TEXT: usize = 1 << 28;

    pub fn new(has_namespaces: bool) -> Self {
        let mut made = Self { tree: Tree { has_namespaces, ..Tree::default() }, open: Vec::new() };
        made.push(Kind::Document, Span::NONE, Span::NONE, 0);
        made.open.push((0, None));
        made
    }

    /// Returns the nesting depth: the number of open elements.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// Returns the size of the text in the tree in bytes.
    pub fn size(&self) -> usize {
        self.tree.text.len()
    }

    /// Returns the name of the innermost open element.
    pub fn open_name(&self) -> &str {
        self.open.last().map_or("", |(id, _)| self.tree.name(NodeId(*id)))
    }

    /// Opens an element; its attributes keep their order.
    pub fn open(&mut self, name: &str, uri: Option<&str>, attributes: &[Attribute]) {
        let (name, uri) = (self.keep(name), self.uri(uri));
        let id = self.add(Kind::Element, name, Span::NONE, uri);
        let is_first = self.depth() == 0;
        self.open.push((id, None));
        for is_declaration in [true, false] {
            if is_first && !is_declaration {
                let name = self.keep("xmlns:xml");
                let value = self.keep("http://www.w3.org/XML/1998/namespace");
                self.push_below(id, Kind::Namespace, name, value, 0);
            }
            for attribute in attributes {
                let name = &*attribute.name;
                if (name == "xmlns" || name.starts_with("xmlns:")) != is_declaration {
                    continue;
                }
                let kind = if is_declaration { Kind::Namespace } else { Kind::Attribute };
                let (name, value) = (self.keep(name), self.keep(&attribute.value));
                let uri = self.uri(attribute.uri.as_deref());
                let at = self.push_below(id, kind, name, value, uri);
                if attribute.is_id {
                    self.tree.ids.push(at);
                }
            }
        }
        self.tree.nodes[id as usize].end = self.tree.nodes.len() as u32;
    }

    /// Closes the innermost element.
    pub fn close(&mut self) {
        if self.depth() == 0 {
            return;
        }
        if let Some((id, _)) = self.open.pop() {
            self.tree.nodes[id as usize].end = self.tree.nodes.len() as u32;
        }
    }

    /// Adds text; directly after another text node, it extends that text node.
    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let last = self.open.last().and_then(|(_, last)| *last).map(|last| last as usize);
        let span = self.keep(text);
        match last.filter(|last| self.tree.nodes[*last].kind == Kind::Text) {
            // The tree has stored nothing after the last text node, so that text node can be extended.
            Some(last) => self.tree.nodes[last].value.end = span.end,
            None => {
                self.add(Kind::Text, Span::NONE, span, 0);
            }
        }
    }

    /// Adds a CDATA section, a comment or a processing instruction.
    pub fn leaf(&mut self, kind: Kind, name: &str, value: &str) {
        let (name, value) = (self.keep(name), self.keep(value));
        self.add(kind, name, value, 0);
    }

    /// Returns the finished tree; closes elements that are still open.
    pub fn end(mut self) -> Tree {
        while self.depth() > 0 {
            self.close();
        }
        self.tree.nodes[0].end = self.tree.nodes.len() as u32;
        self.tree
    }

    fn keep(&mut self, text: &str) -> Span {
        let range: Range<usize> = self.tree.text.len()..self.tree.text.len() + text.len();
        self.tree.text.push_str(text);
        Span { start: range.start as u32, end: range.end as u32 }
    }

    fn uri(&mut self, uri: Option<&str>) -> u32 {
        let Some(uri) = uri.filter(|uri| !uri.is_empty()) else { return 0 };
        work::spend(self.tree.uris.len() as u64 / 4);
        let known = self.tree.uris.iter().position(|known| **known == *uri);
        let at = known.unwrap_or_else(|| {
            self.tree.uris.push(uri.into());
            self.tree.uris.len() - 1
        });
        at as u32 + 1
    }

    /// Adds a child to the innermost open element.
    fn add(&mut self, kind: Kind, name: Span, value: Span, uri: u32) -> u32 {
        let id = self.tree.nodes.len() as u32;
        let previous = match self.open.last_mut() {
            Some((_, last)) => last.replace(id).unwrap_or(id),
            None => id,
        };
        self.push(kind, name, value, uri);
        self.tree.nodes[id as usize].previous = previous;
        id
    }

    fn push(&mut self, kind: Kind, name: Span, value: Span, uri: u32) {
        let id = self.tree.nodes.len() as u32;
        let parent = self.open.last().map_or(0, |(id, _)| *id);
        self.tree.nodes.push(Node { kind, parent, end: id + 1, previous: id, name, value, uri });
    }

    fn push_below(&mut self, parent: u32, kind: Kind, name: Span, value: Span, uri: u32) -> u32 {
        let id = self.tree.nodes.len() as u32;
        self.push(kind, name, value, uri);
        self.tree.nodes[id as usize].parent = parent;
        id
    }
}
