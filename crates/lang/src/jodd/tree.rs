//! The tree of a page as Jodd builds it: a list of nodes that refer to each other by index.

use crate::links::tokenizer::{self, Kind, Tag, Thrown, Visitor};
use crate::work;

/// Index of a node in the tree of a page.
pub(super) type NodeId = usize;

/// An attribute's name in lower case, and its value if it has one.
type Attribute = (String, Option<String>);

#[derive(Debug)]
enum Content {
    Element { name: String, attributes: Vec<Attribute> },
    Text(String),
}

#[derive(Debug)]
struct Node {
    content: Content,
    parent: NodeId,
    children: Vec<NodeId>,
}

/// A page that was parsed as Jodd does.
#[derive(Debug)]
pub struct Document {
    nodes: Vec<Node>,
}

const VOID: [&str; 16] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "menuitem",
    "meta", "param", "source", "track", "wbr",
];

/// Table of elements that end when certain sibling elements begin.
const ENDED_BY_START: [(&[&str], &[&str]); 12] = [
    (
        &["p"],
        &[
            "address",
            "article",
            "aside",
            "blockquote",
            "center",
            "details",
            "dir",
            "div",
            "dl",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "header",
            "hgroup",
            "menu",
            "nav",
            "ol",
            "p",
            "section",
            "summary",
            "ul",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "pre",
            "listing",
            "form",
            "li",
            "dd",
            "dt",
            "plaintext",
            "table",
            "hr",
            "xmp",
        ],
    ),
    (&["dd", "dt"], &["dd", "dt"]),
    (&["li"], &["li"]),
    (&["td"], &["td"]),
    (&["th"], &["th"]),
    (&["tr", "td", "th", "colgroup"], &["tr"]),
    (&["thead", "tr", "td", "th", "colgroup"], &["tbody"]),
    (&["tbody", "tr", "td", "th"], &["tfoot"]),
    (&["colgroup"], &["thead"]),
    (&["colgroup"], &["colgroup"]),
    (&["optgroup"], &["optgroup"]),
    (&["head"], &["body"]),
];

/// Table of elements that end when certain parent elements end.
const ENDED_BY_END: [(&[&str], &[&str]); 6] = [
    (&["dl"], &["dd", "dt"]),
    (&["ul", "ol"], &["li"]),
    (&["table"], &["th", "td", "tr", "tbody", "tfoot", "thead"]),
    (&["select"], &["optgroup"]),
    (
        &["body"],
        &[
            "dd", "dt", "li", "optgroup", "option", "p", "tbody", "td", "tfoot", "th", "thead",
            "tr", "html",
        ],
    ),
    (
        &["html"],
        &[
            "dd", "dt", "li", "optgroup", "option", "p", "tbody", "td", "tfoot", "th", "thead",
            "tr", "body",
        ],
    ),
];

fn starts_after(open: &str, new: &str) -> bool {
    ENDED_BY_START.iter().any(|(ended, by)| ended.contains(&open) && by.contains(&new))
}

fn ends_with(open: &str, end: &str) -> bool {
    ENDED_BY_END.iter().any(|(by, ended)| by.contains(&end) && ended.contains(&open))
}

impl Document {
    /// The document's root, which is not an element.
    pub(super) const ROOT: NodeId = 0;

    /// Parses a page as Jodd does.
    pub fn parse(text: &str) -> Result<Self, Thrown> {
        let root = Node {
            content: Content::Element { name: String::new(), attributes: Vec::new() },
            parent: Self::ROOT,
            children: Vec::new(),
        };
        let mut builder = Builder { document: Self { nodes: vec![root] }, open: Self::ROOT };
        tokenizer::read(text, false, &mut builder)?;
        Ok(builder.document)
    }

    pub(super) fn is_element(&self, id: NodeId) -> bool {
        id != Self::ROOT && matches!(self.nodes[id].content, Content::Element { .. })
    }

    /// Returns an element's name in lower case; empty for the document and for text nodes.
    pub(super) fn name(&self, id: NodeId) -> &str {
        match &self.nodes[id].content {
            Content::Element { name, .. } => name,
            Content::Text(_) => "",
        }
    }

    fn found(&self, id: NodeId, name: &str) -> Option<&Attribute> {
        let Content::Element { attributes, .. } = &self.nodes[id].content else { return None };
        attributes.iter().find(|(known, _)| known == name)
    }

    /// Returns true if an element has an attribute, given by its name in lower case.
    pub(super) fn has_attribute(&self, id: NodeId, name: &str) -> bool {
        self.found(id, name).is_some()
    }

    /// Returns an attribute's value, if it exists and has one.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.found(id, name)?.1.as_deref()
    }

    pub(super) fn parent(&self, id: NodeId) -> NodeId {
        self.nodes[id].parent
    }

    pub(super) fn children(&self, id: NodeId) -> &[NodeId] {
        &self.nodes[id].children
    }

    /// Returns the children of a node that are elements.
    pub(super) fn elements_of(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.nodes[id].children.iter().copied().filter(|id| self.is_element(*id))
    }

    /// Appends all text of a node, including that of scripts.
    pub(super) fn write_text(&self, id: NodeId, out: &mut String) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if let Content::Text(text) = &self.nodes[id].content {
                out.push_str(text);
                work::spend(text.len() as u64 / 4);
            }
            if !work::spend(1) {
                return;
            }
            open.extend(self.nodes[id].children.iter().rev());
        }
    }
}

fn element(tag: &Tag<'_>) -> Content {
    let name = String::from_utf8_lossy(tag.name).to_lowercase();
    Content::Element { name, attributes: tag.attributes().to_vec() }
}

struct Builder {
    document: Document,
    /// The element to which the next nodes of the page are added.
    open: NodeId,
}

impl Builder {
    fn add(&mut self, parent: NodeId, content: Content) -> NodeId {
        let nodes = &mut self.document.nodes;
        nodes.push(Node { content, parent, children: Vec::new() });
        let id = nodes.len() - 1;
        nodes[parent].children.push(id);
        id
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let content = element(tag);
        let name = String::from_utf8_lossy(tag.name).to_lowercase();
        while starts_after(self.document.name(self.open), &name) {
            self.open = self.document.parent(self.open);
        }
        let id = self.add(self.open, content);
        if !VOID.contains(&&*name) {
            self.open = id;
        }
    }

    fn end(&mut self, name: &str) {
        let document = &mut self.document;
        let mut matching = self.open;
        while matching != Document::ROOT && document.name(matching) != name && work::spend(1) {
            matching = document.parent(matching);
        }
        if matching == Document::ROOT {
            return;
        }
        while self.open != matching && ends_with(document.name(self.open), name) {
            self.open = document.parent(self.open);
        }
        while self.open != matching {
            let parent = document.parent(self.open);
            if starts_after(document.name(parent), document.name(self.open)) {
                // Jodd restructures the tree here: the element moves behind its parent.
                let above = document.parent(parent);
                let open = self.open;
                document.nodes[parent].children.retain(|child| *child != open);
                document.nodes[above].children.push(open);
                document.nodes[open].parent = above;
            }
            self.open = parent;
        }
        self.open = document.parent(matching);
    }
}

impl Visitor for Builder {
    const READS_ALL: bool = true;

    fn tag(&mut self, tag: &Tag<'_>) -> Result<(), Thrown> {
        match tag.kind {
            Kind::Start => self.start(tag),
            Kind::End => self.end(&String::from_utf8_lossy(tag.name).to_lowercase()),
            Kind::SelfClosing => {
                let content = element(tag);
                self.add(self.open, content);
            }
        }
        Ok(())
    }

    fn script(&mut self, tag: &Tag<'_>, body: &str) -> Result<(), Thrown> {
        let content = element(tag);
        let id = self.add(self.open, content);
        if !body.is_empty() {
            self.add(id, Content::Text(body.to_owned()));
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.add(self.open, Content::Text(text.to_owned()));
    }

    fn begin_condition(&mut self, _: &str) -> Result<(), Thrown> {
        Ok(())
    }

    fn end_condition(&mut self) -> Result<(), Thrown> {
        Ok(())
    }
}
