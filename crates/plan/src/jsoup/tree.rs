//! The tree of an HTML document: nodes in one list, linked by their numbers.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use html5ever::interface::{Attribute, ElementFlags, NodeOrText, QualName, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{ParseOpts, TokenizerResult, local_name, ns};

/// Number of a node.
pub(crate) type NodeId = usize;

/// What a node is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The document, which jsoup takes for an element, too.
    Root,
    Element {
        name: Rc<QualName>,
        attributes: Vec<(Box<str>, Box<str>)>,
    },
    Text(String),
    /// Text of scripts and style sheets, which is no text of the document.
    Data(String),
    Comment(String),
    /// Document types and instructions.
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
    pub(crate) const ROOT: NodeId = 0;

    /// Reads a document.
    pub(crate) fn parse(text: &str) -> Self {
        let mut opts = ParseOpts::default();
        opts.tree_builder.scripting_enabled = false;
        let root = Node { kind: Kind::Root, parent: None, children: Vec::new() };
        let sink = Sink(RefCell::new(Self { nodes: vec![root] }));
        html5ever::parse_document(sink, opts).one(StrTendril::from(text))
    }

    /// Reads a document as if the tags of elements that are not known were not there; groups of rows that only HTML's rules add are
    /// [implied](Document::is_implied).
    pub(crate) fn parse_known(text: &str, is_known: fn(&str) -> bool) -> Self {
        let opts = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
        let root = Node { kind: Kind::Root, parent: None, children: Vec::new() };
        let sink = Sink(RefCell::new(Self { nodes: vec![root] }));
        let known = Known { inner: TreeBuilder::new(sink, opts), is_known };
        let tokenizer = Tokenizer::new(known, TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(text));
        // It also stops for scripts and for what a page says of its encoding.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.end();
        tokenizer.sink.inner.sink.finish()
    }

    /// Whether an element is a group of rows that is not in the text.
    pub(crate) fn is_implied(&self, id: NodeId) -> bool {
        self.name(id) == "tbody" && !self.attributes(id).iter().any(|(name, _)| **name == *WRITTEN)
    }

    /// Whether an attribute is one of the text.
    pub(crate) fn is_of_page(name: &str) -> bool {
        name != WRITTEN
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

    pub(crate) fn kind(&self, id: NodeId) -> &Kind {
        &self.nodes[id].kind
    }

    pub(crate) fn children(&self, id: NodeId) -> &[NodeId] {
        &self.nodes[id].children
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id].parent
    }

    pub(super) fn is_element(&self, id: NodeId) -> bool {
        matches!(self.nodes[id].kind, Kind::Root | Kind::Element { .. })
    }

    /// Name of an element; that of the document is none that a selector can have.
    pub(crate) fn name(&self, id: NodeId) -> &str {
        match &self.nodes[id].kind {
            Kind::Element { name, .. } => &name.local,
            _ => "#root",
        }
    }

    pub(crate) fn attributes(&self, id: NodeId) -> &[(Box<str>, Box<str>)] {
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
                    && let Kind::Text(known) | Kind::Data(known) = &mut self.nodes[before].kind
                {
                    return known.push_str(&text);
                }
                let is_data = matches!(self.name(parent), "script" | "style");
                let text = text.to_string();
                let kind = if is_data { Kind::Data(text) } else { Kind::Text(text) };
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

/// Hands on the tags of elements that are known, and marks groups of rows that are written.
struct Known {
    inner: TreeBuilder<Handle, Sink>,
    is_known: fn(&str) -> bool,
}

/// An attribute that no page can have.
const WRITTEN: &str = "=written";

impl TokenSink for Known {
    type Handle = Handle;

    fn process_token(&self, mut token: Token, line: u64) -> TokenSinkResult<Handle> {
        if let Token::TagToken(tag) = &mut token {
            if !(self.is_known)(&tag.name) {
                return TokenSinkResult::Continue;
            }
            if tag.name == local_name!("tbody") {
                let name = QualName::new(None, ns!(), WRITTEN.into());
                tag.attrs.push(Attribute { name, value: StrTendril::new() });
            }
        }
        self.inner.process_token(token, line)
    }

    fn end(&self) {
        self.inner.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.inner.adjusted_current_node_present_but_not_in_html_namespace()
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

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.nameless(Kind::Comment(text.to_string()))
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
