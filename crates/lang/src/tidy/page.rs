//! An HTML page with nodes that can be changed and removed: the step between html5ever's tree and XPath's tree.

use super::spaces::{fold, without_tabs};
use super::tags;
use crate::jsoup::{Document, Kind as Parsed};
use crate::xml::{Attribute, Builder, Kind, Tree};

/// An HTML page whose nodes can be changed.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) nodes: Vec<Node>,
}

/// A node of an HTML page.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) what: NodeKind,
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
    /// True if whitespace in the element is preserved.
    pub(super) is_preformatted: bool,
    /// True if a leading blank was removed from the element, to be inserted before the element.
    pub(super) space_before: bool,
    /// True if a trailing blank was removed from the element, to be inserted after the element.
    pub(super) space_after: bool,
}

/// The kind of a node in an HTML page.
#[derive(Debug)]
pub(super) enum NodeKind {
    Root,
    Element { name: Box<str>, attributes: Vec<(Box<str>, Box<str>)> },
    Text(String),
    Comment(String),
}

/// Returns an attribute's value with whitespace collapsed, or escaped if the value is a link. An empty value of a
/// Boolean or `data-` attribute is replaced by the attribute's name, as JTidy does for attributes without `=`.
fn as_written(name: &str, value: &str) -> Box<str> {
    let is_bare = value.is_empty()
        && (name.starts_with("data-")
            || matches!(
                name,
                "async"
                    | "autofocus"
                    | "autoplay"
                    | "checked"
                    | "compact"
                    | "controls"
                    | "declare"
                    | "default"
                    | "defer"
                    | "disabled"
                    | "formnovalidate"
                    | "hidden"
                    | "ismap"
                    | "loop"
                    | "multiple"
                    | "muted"
                    | "nohref"
                    | "noresize"
                    | "noshade"
                    | "novalidate"
                    | "nowrap"
                    | "open"
                    | "readonly"
                    | "required"
                    | "reversed"
                    | "selected"
            ));
    if is_bare {
        return name.into();
    }
    let is_link = matches!(
        name,
        "action"
            | "background"
            | "cite"
            | "classid"
            | "codebase"
            | "data"
            | "href"
            | "longdesc"
            | "profile"
            | "src"
            | "usemap"
    );
    if is_link { escaped(value.trim()).into() } else { fold(value).into() }
}

/// Returns a link with all characters escaped that links must not contain.
fn escaped(link: &str) -> String {
    let mut out = String::with_capacity(link.len());
    for c in link.chars() {
        if c <= ' ' || c > '~' || matches!(c, '<' | '>') {
            out.push_str(&format!("%{:02X}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

/// Content of the `<meta name="generator">` that JTidy adds to the head of a page.
const MARK: &str = "HTML Tidy for Java (vers. 2009-12-01), see jtidy.sourceforge.net";

impl Page {
    /// Copies a parsed document to a page, without the `tbody` elements that only the HTML parser inserted.
    pub(super) fn of(document: &Document) -> Self {
        let mut page = Self::default();
        page.add(NodeKind::Root, 0);
        let mut todo: Vec<(usize, usize)> =
            document.children(Document::ROOT).iter().rev().map(|id| (*id, 0)).collect();
        while let Some((id, parent)) = todo.pop() {
            let what = match document.kind(id) {
                Parsed::Element { .. } if document.is_implied(id) => {
                    todo.extend(document.children(id).iter().rev().map(|child| (*child, parent)));
                    continue;
                }
                Parsed::Element { .. } => NodeKind::Element {
                    name: document.name(id).into(),
                    attributes: document
                        .attributes(id)
                        .iter()
                        .rev()
                        .filter(|(name, _)| Document::is_of_page(name))
                        .map(|(name, value)| (name.clone(), as_written(name, value)))
                        .collect(),
                },
                Parsed::Text(text) | Parsed::Data(text) => NodeKind::Text(without_tabs(text)),
                Parsed::Comment(text) => NodeKind::Comment(text.clone()),
                Parsed::Root | Parsed::Other => continue,
            };
            let at = page.add(what, parent);
            page.nodes[parent].children.push(at);
            todo.extend(document.children(id).iter().rev().map(|child| (*child, at)));
        }
        page.mark();
        page
    }

    pub(super) fn add(&mut self, what: NodeKind, parent: usize) -> usize {
        let own = match &what {
            NodeKind::Element { name, .. } => tags::is_preformatted(name),
            _ => false,
        };
        let is_preformatted =
            own || self.nodes.get(parent).is_some_and(|node| node.is_preformatted);
        let (space_before, space_after) = (false, false);
        let children = Vec::new();
        self.nodes.push(Node {
            what,
            parent,
            children,
            is_preformatted,
            space_before,
            space_after,
        });
        self.nodes.len() - 1
    }

    /// Returns an element's name; empty for other nodes.
    pub(super) fn name(&self, at: usize) -> &str {
        match &self.nodes[at].what {
            NodeKind::Element { name, .. } => name,
            _ => "",
        }
    }

    /// Returns all elements, each after the elements that it contains.
    pub(super) fn inside_out(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            if !matches!(self.nodes[at].what, NodeKind::Text(_) | NodeKind::Comment(_)) {
                order.push(at);
            }
            open.extend(&self.nodes[at].children);
        }
        order.reverse();
        order
    }

    /// Adds JTidy's `<meta name="generator">` to the head, and an empty title if the head has none.
    fn mark(&mut self) {
        let Some(head) = (0..self.nodes.len()).find(|at| self.name(*at) == "head") else { return };
        let attributes = vec![("content".into(), MARK.into()), ("name".into(), "generator".into())];
        let meta = self.add(NodeKind::Element { name: "meta".into(), attributes }, head);
        self.nodes[head].children.insert(0, meta);
        let has_title = self.nodes[head].children.iter().any(|child| self.name(*child) == "title");
        if !has_title {
            let what = NodeKind::Element { name: "title".into(), attributes: Vec::new() };
            let title = self.add(what, head);
            self.nodes[head].children.push(title);
        }
    }

    /// Converts the page to the tree that XPath uses.
    pub(super) fn tree(&self) -> Tree {
        let mut builder = Builder::new(false);
        let mut todo: Vec<Option<usize>> =
            self.nodes[0].children.iter().rev().map(|at| Some(*at)).collect();
        while let Some(next) = todo.pop() {
            let Some(at) = next else {
                builder.close();
                continue;
            };
            match &self.nodes[at].what {
                NodeKind::Text(text) => builder.text(text),
                NodeKind::Comment(text) => builder.leaf(Kind::Comment, "", text),
                NodeKind::Element { name, attributes } => {
                    let attribute = |(name, value): &(Box<str>, Box<str>)| Attribute {
                        name: name.clone(),
                        value: value.to_string(),
                        uri: None,
                        is_id: false,
                    };
                    let attributes: Vec<_> = attributes.iter().map(attribute).collect();
                    builder.open(name, None, &attributes);
                    todo.push(None);
                    todo.extend(self.nodes[at].children.iter().rev().map(|at| Some(*at)));
                }
                NodeKind::Root => {}
            }
        }
        let mut tree = builder.end();
        tree.has_element_values = true;
        tree
    }
}
