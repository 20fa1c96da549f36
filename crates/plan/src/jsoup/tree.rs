//! The tree of an HTML document: nodes in one list, linked by their numbers.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use html5ever::interface::{Attribute, ElementFlags, NodeOrText, QualName, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{ParseOpts, local_name, ns};

/// Number of a node.
pub(super) type NodeId = usize;

/// What a node is.
#[derive(Debug)]
pub(super) enum Kind {
    /// The document, which jsoup takes for an element, too.
    Root,
    Element {
        name: Rc<QualName>,
        attributes: Vec<(Box<str>, Box<str>)>,
    },
    Text(String),
    /// Text of scripts and style sheets, which is no text of the document.
    Data,
    /// Comments and document types.
    Other,
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
}

/// A document.
#[derive(Debug)]
pub(crate) struct Document {
    nodes: Vec<Node>,
}

impl Document {
    pub(super) const ROOT: NodeId = 0;

    /// Reads a document.
    pub(crate) fn parse(text: &str) -> Self {
        let mut opts = ParseOpts::default();
        opts.tree_builder.scripting_enabled = false;
        let root = Node { kind: Kind::Root, parent: None, children: Vec::new() };
        let sink = Sink(RefCell::new(Self { nodes: vec![root] }));
        html5ever::parse_document(sink, opts).one(StrTendril::from(text))
    }

    /// The document and all elements, in the order of the text.
    pub(super) fn elements(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.below(Self::ROOT, true)
    }

    /// The elements below one, and itself if asked for.
    pub(super) fn below(&self, id: NodeId, itself: bool) -> impl Iterator<Item = NodeId> + '_ {
        let mut open = vec![id];
        let mut first = !itself;
        std::iter::from_fn(move || {
            loop {
                let id = open.pop()?;
                open.extend(self.nodes[id].children.iter().rev());
                let skipped = std::mem::take(&mut first);
                if !skipped && self.is_element(id) {
                    return Some(id);
                }
            }
        })
    }

    pub(super) fn kind(&self, id: NodeId) -> &Kind {
        &self.nodes[id].kind
    }

    pub(super) fn children(&self, id: NodeId) -> &[NodeId] {
        &self.nodes[id].children
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id].parent
    }

    pub(super) fn is_element(&self, id: NodeId) -> bool {
        matches!(self.nodes[id].kind, Kind::Root | Kind::Element { .. })
    }

    /// Name of an element; that of the document is none that a selector can have.
    pub(super) fn name(&self, id: NodeId) -> &str {
        match &self.nodes[id].kind {
            Kind::Element { name, .. } => &name.local,
            _ => "#root",
        }
    }

    pub(super) fn attributes(&self, id: NodeId) -> &[(Box<str>, Box<str>)] {
        match &self.nodes[id].kind {
            Kind::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }

    /// The value of an attribute; the case of its name does not count.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let mut all = self.attributes(id).iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }

    /// Children that are elements.
    pub(super) fn elements_of(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.nodes[id].children.iter().copied().filter(|id| self.is_element(*id))
    }

    fn add(&mut self, kind: Kind) -> NodeId {
        self.nodes.push(Node { kind, parent: None, children: Vec::new() });
        self.nodes.len() - 1
    }

    fn detach(&mut self, id: NodeId) {
        if let Some(parent) = self.nodes[id].parent.take() {
            self.nodes[parent].children.retain(|child| *child != id);
        }
    }

    /// Puts a node or a text at a place among the children of another.
    fn insert(&mut self, parent: NodeId, at: usize, child: NodeOrText<Handle>) {
        let id = match child {
            NodeOrText::AppendNode(node) => {
                self.detach(node.id);
                node.id
            }
            NodeOrText::AppendText(text) => {
                let before = at.checked_sub(1).map(|at| self.nodes[parent].children[at]);
                if let Some(before) = before
                    && let Kind::Text(known) = &mut self.nodes[before].kind
                {
                    return known.push_str(&text);
                }
                let is_data = matches!(self.name(parent), "script" | "style");
                let kind = if is_data { Kind::Data } else { Kind::Text(text.to_string()) };
                self.add(kind)
            }
        };
        self.nodes[id].parent = Some(parent);
        let at = at.min(self.nodes[parent].children.len());
        self.nodes[parent].children.insert(at, id);
    }

    fn place(&self, id: NodeId) -> Option<(NodeId, usize)> {
        let parent = self.nodes[id].parent?;
        let at = self.nodes[parent].children.iter().position(|child| *child == id)?;
        Some((parent, at))
    }
}

/// A node as the parser knows it, with its name, which the parser asks for often.
#[derive(Clone, Debug)]
struct Handle {
    id: NodeId,
    name: Rc<QualName>,
}

struct Sink(RefCell<Document>);

impl Sink {
    fn nameless(&self, kind: Kind) -> Handle {
        Handle { id: self.0.borrow_mut().add(kind), name: nobody() }
    }
}

/// The name of nodes that have none.
fn nobody() -> Rc<QualName> {
    Rc::new(QualName::new(None, ns!(), local_name!("")))
}

fn of_attributes(attributes: Vec<Attribute>) -> Vec<(Box<str>, Box<str>)> {
    let pair = |attribute: Attribute| {
        let name = match &attribute.name.prefix {
            Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", attribute.name.local),
            _ => attribute.name.local.to_string(),
        };
        (name.into(), attribute.value.to_string().into())
    };
    attributes.into_iter().map(pair).collect()
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Document;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> Document {
        self.0.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: Document::ROOT, name: nobody() }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        &target.name
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> Handle {
        let name = Rc::new(name);
        let kind = Kind::Element { name: Rc::clone(&name), attributes: of_attributes(attributes) };
        Handle { id: self.0.borrow_mut().add(kind), name }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        self.nameless(Kind::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.nameless(Kind::Other)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let mut document = self.0.borrow_mut();
        if let NodeOrText::AppendNode(node) = &child {
            document.detach(node.id);
        }
        let end = document.nodes[parent.id].children.len();
        document.insert(parent.id, end, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let has_parent = self.0.borrow().nodes[element.id].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {
        let mut document = self.0.borrow_mut();
        let id = document.add(Kind::Other);
        document.nodes[id].parent = Some(Document::ROOT);
        document.nodes[Document::ROOT].children.push(id);
    }

    // jsoup keeps what is in a template where it stands.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, two: &Handle) -> bool {
        one.id == two.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let mut document = self.0.borrow_mut();
        if let NodeOrText::AppendNode(node) = &child {
            document.detach(node.id);
        }
        if let Some((parent, at)) = document.place(sibling.id) {
            document.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, added: Vec<Attribute>) {
        let mut document = self.0.borrow_mut();
        if let Kind::Element { attributes, .. } = &mut document.nodes[target.id].kind {
            for (name, value) in of_attributes(added) {
                if !attributes.iter().any(|(known, _)| *known == name) {
                    attributes.push((name, value));
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.0.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut document = self.0.borrow_mut();
        let moved = std::mem::take(&mut document.nodes[node.id].children);
        for child in &moved {
            document.nodes[*child].parent = Some(new_parent.id);
        }
        document.nodes[new_parent.id].children.extend(moved);
    }
}
