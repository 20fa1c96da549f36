//! The tree of an HTML document: a list of nodes that refer to each other by index.

use std::borrow::Cow;
use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::rc::Rc;

use html5ever::interface::{Attribute, ElementFlags, NodeOrText, QualName, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{ParseOpts, TokenizerResult, local_name, ns};

use crate::work;

/// Index of a node in the tree of an HTML document.
pub type NodeId = usize;

/// The kind of a node in an HTML document.
#[derive(Debug)]
pub enum Kind {
    /// The document, which jsoup treats as an element, too.
    Root,
    Element {
        name: Rc<QualName>,
        attributes: Vec<(Box<str>, Box<str>)>,
    },
    Text(String),
    /// Content of scripts and style sheets, which is not part of the document's text.
    Data(String),
    Comment(String),
    /// A node that is neither element, text nor comment, such as a document type or a processing instruction.
    Other,
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    /// Positions of the node among its siblings, known once the document is parsed.
    place: SiblingPosition,
}

/// Positions of a node among its siblings, counted from 0, and the numbers of those siblings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SiblingPosition {
    /// Position of the node among all its siblings.
    of_nodes: u32,
    /// Position of the node among the siblings that are elements.
    pub(super) of_elements: u32,
    /// Number of the siblings that are elements, including the node.
    pub(super) elements: u32,
    /// Position of the node among the sibling elements of the same name.
    pub(super) of_kin: u32,
    /// Number of the sibling elements of the same name, including the node.
    pub(super) kin: u32,
}

/// Work units that each node costs. The work limit therefore also limits the memory of a page.
const NODE: u64 = 20;
/// Number of bytes of a page that are parsed before the work limit is checked again.
const PART: usize = 2048;

/// A parsed HTML document.
#[derive(Debug)]
pub struct Document {
    nodes: Vec<Node>,
}

impl Document {
    pub const ROOT: NodeId = 0;

    /// Parses an HTML document.
    pub fn parse(text: &str) -> Self {
        let mut opts = ParseOpts::default();
        opts.tree_builder.scripting_enabled = false;
        let mut parser = html5ever::parse_document(Sink::new(), opts);
        for part in parts(text) {
            parser.process(StrTendril::from(part));
        }
        parser.finish()
    }

    /// Parses a document, ignoring the tags of unknown elements. A `tbody` that only the HTML rules insert is
    /// [implied](Document::is_implied).
    pub fn parse_known(text: &str, is_known: fn(&str) -> bool) -> Self {
        let opts = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
        let known = Known { inner: TreeBuilder::new(Sink::new(), opts), is_known };
        let tokenizer = Tokenizer::new(known, TokenizerOpts::default());
        let input = BufferQueue::default();
        for part in parts(text) {
            input.push_back(StrTendril::from(part));
            // The tokenizer also stops at scripts and at encoding declarations.
            while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        }
        tokenizer.end();
        tokenizer.sink.inner.sink.finish()
    }

    /// Returns true if an element is a `tbody` that is not in the text.
    pub fn is_implied(&self, id: NodeId) -> bool {
        self.name(id) == "tbody" && !self.attributes(id).iter().any(|(name, _)| **name == *WRITTEN)
    }

    /// Returns true if the page contains the attribute; false if the parser added the attribute as a mark.
    pub fn is_of_page(name: &str) -> bool {
        name != WRITTEN
    }

    /// Returns the document and all elements in document order.
    pub(super) fn elements(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.below(Self::ROOT, true)
    }

    /// Returns the elements below a node; with `itself`, also the node.
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

    pub fn kind(&self, id: NodeId) -> &Kind {
        &self.nodes[id].kind
    }

    pub fn children(&self, id: NodeId) -> &[NodeId] {
        &self.nodes[id].children
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id].parent
    }

    pub(super) fn is_element(&self, id: NodeId) -> bool {
        matches!(self.nodes[id].kind, Kind::Root | Kind::Element { .. })
    }

    /// Returns an element's name. The document has a name that no selector can match.
    pub fn name(&self, id: NodeId) -> &str {
        match &self.nodes[id].kind {
            Kind::Element { name, .. } => &name.local,
            _ => "#root",
        }
    }

    pub fn attributes(&self, id: NodeId) -> &[(Box<str>, Box<str>)] {
        match &self.nodes[id].kind {
            Kind::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }

    /// Returns an attribute's value; the name is compared ignoring case.
    pub(super) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let mut all = self.attributes(id).iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }

    fn add(&mut self, kind: Kind) -> NodeId {
        self.nodes.push(Node {
            kind,
            parent: None,
            children: Vec::new(),
            place: SiblingPosition::default(),
        });
        self.nodes.len() - 1
    }

    fn detach(&mut self, id: NodeId) {
        if let Some((parent, at)) = self.find(id) {
            self.nodes[parent].children.remove(at);
        }
        self.nodes[id].parent = None;
    }

    /// Returns the node's positions among its siblings.
    pub(super) fn places(&self, id: NodeId) -> SiblingPosition {
        self.nodes[id].place
    }

    /// Returns the node's index among its parent's children.
    pub(super) fn child_index(&self, id: NodeId) -> usize {
        self.nodes[id].place.of_nodes as usize
    }

    /// Returns the next sibling of a node.
    pub(super) fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[self.parent(id)?].children.get(self.child_index(id) + 1).copied()
    }

    fn note_places(&mut self) {
        for parent in 0..self.nodes.len() {
            let children = std::mem::take(&mut self.nodes[parent].children);
            let mut kin: HashMap<String, u32> = HashMap::new();
            let mut elements = 0;
            for (at, child) in children.iter().enumerate() {
                let mut place =
                    SiblingPosition { of_nodes: at as u32, ..SiblingPosition::default() };
                if self.is_element(*child) {
                    place.of_elements = elements;
                    elements += 1;
                    if let Some(count) = kin.get_mut(self.name(*child)) {
                        place.of_kin = *count;
                        *count += 1;
                    } else {
                        kin.insert(self.name(*child).to_owned(), 1);
                    }
                }
                self.nodes[*child].place = place;
            }
            for child in &children {
                let kin = kin.get(self.name(*child)).copied().unwrap_or(0);
                let place = &mut self.nodes[*child].place;
                (place.elements, place.kin) = (elements, kin);
            }
            self.nodes[parent].children = children;
        }
    }

    /// Inserts a node or a text node at a position among the children of a node.
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

    /// Returns a node's parent and its index among the children, while the document is being parsed. Searches from the
    /// last child.
    fn find(&self, id: NodeId) -> Option<(NodeId, usize)> {
        let parent = self.nodes[id].parent?;
        let children = &self.nodes[parent].children;
        let at = children.iter().rposition(|child| *child == id)?;
        work::spend((children.len() - at) as u64);
        Some((parent, at))
    }
}

/// Reference of the HTML parser to a node, with the node's name, which the parser reads often.
#[derive(Clone, Debug)]
struct Handle {
    id: NodeId,
    name: Rc<QualName>,
}

/// Receives the nodes that the HTML parser creates. After the work limit is reached, nothing is stored, because the
/// document will not be used.
struct Sink {
    document: RefCell<Document>,
    /// The element whose name the parser read last, and the number of consecutive reads by which the parser has climbed
    /// one level each.
    asked: Cell<(NodeId, u32)>,
    /// The name that the parser gets for elements beyond [`FARTHEST`] levels.
    border: QualName,
}

/// Maximum number of levels that the parser searches upwards through the open elements. Each tag causes such a search,
/// so without a limit the work would grow with the square of the depth. jsoup has the same limit. For elements beyond
/// the limit, the parser gets the name of an element that ends a scope and has no other effect. Elements of tables and
/// of the page itself, to which the parser returns, keep their names.
const FARTHEST: u32 = 100;

impl Sink {
    fn new() -> Self {
        let root = Node {
            kind: Kind::Root,
            parent: None,
            children: Vec::new(),
            place: SiblingPosition::default(),
        };
        Self {
            document: RefCell::new(Document { nodes: vec![root] }),
            asked: Cell::default(),
            border: QualName::new(None, ns!(html), local_name!("object")),
        }
    }

    fn nameless(&self, kind: Kind) -> Handle {
        Handle { id: self.add(kind), name: unnamed() }
    }

    fn add(&self, kind: Kind) -> NodeId {
        if !work::spend(NODE) {
            return Document::ROOT;
        }
        self.document.borrow_mut().add(kind)
    }

    /// Returns the document to store nodes in; `None` if the evaluation has exceeded its work limit.
    fn open(&self) -> Option<RefMut<'_, Document>> {
        work::gave_up().is_none().then(|| self.document.borrow_mut())
    }
}

/// Splits a page into parts of [`PART`] bytes. Ends early once the evaluation has exceeded its work limit.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let (mut rest, mut tags) = (text, Tags::default());
    std::iter::from_fn(move || {
        if rest.is_empty() || work::gave_up().is_some() {
            return None;
        }
        let (part, behind) = rest.split_at(rest.floor_char_boundary(PART));
        rest = behind;
        tags.go_over(part).then_some(part)
    })
}

/// Counts the work of parsing attributes, because the parser compares each attribute with those before it in its tag.
#[derive(Default)]
struct Tags {
    last: u8,
    is_in_tag: bool,
    quote: Option<u8>,
    attributes: u64,
}

impl Tags {
    /// Counts the work for a part of a page. Returns false if the work limit is reached.
    fn go_over(&mut self, part: &str) -> bool {
        let mut compared = 0;
        for byte in part.bytes() {
            match byte {
                _ if !self.is_in_tag => {
                    self.is_in_tag = self.last == b'<' && byte.is_ascii_alphabetic();
                    self.attributes = 0;
                }
                quote if self.quote.is_some() => {
                    self.quote = self.quote.filter(|open| *open != quote);
                }
                b'>' => self.is_in_tag = false,
                b'"' | b'\'' if self.last == b'=' => self.quote = Some(byte),
                b' ' | b'\t' | b'\n' | b'\r' | b'/' | b'"' | b'\'' => {
                    self.attributes += 1;
                    compared += self.attributes;
                }
                _ => {}
            }
            self.last = byte;
        }
        work::spend(compared / 4)
    }
}

/// Forwards the tags of known elements to the parser, and marks each `tbody` that the page itself contains.
struct Known {
    inner: TreeBuilder<Handle, Sink>,
    is_known: fn(&str) -> bool,
}

/// Name of the marking attribute. No page can contain an attribute of that name.
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

/// Returns the empty name, for nodes that have no name.
fn unnamed() -> Rc<QualName> {
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
        let mut document = self.document.into_inner();
        document.note_places();
        document
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: Document::ROOT, name: unnamed() }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        // The parser reads the name of each open element that it searches.
        work::spend(1);
        let (last, far) = self.asked.get();
        let far = match target.id {
            id if id == last => far,
            id if self.document.borrow().nodes[last].parent == Some(id) => far + 1,
            _ => 0,
        };
        self.asked.set((target.id, far));
        let stays = || {
            let local = &*target.name.local;
            matches!(
                local,
                "html"
                    | "head"
                    | "body"
                    | "frameset"
                    | "template"
                    | "select"
                    | "caption"
                    | "colgroup"
            ) || matches!(local, "table" | "tbody" | "thead" | "tfoot" | "tr" | "td" | "th")
        };
        if far > FARTHEST && !stays() { &self.border } else { &target.name }
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> Handle {
        let name = Rc::new(name);
        let kind = Kind::Element { name: Rc::clone(&name), attributes: of_attributes(attributes) };
        Handle { id: self.add(kind), name }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.nameless(Kind::Comment(text.to_string()))
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.nameless(Kind::Other)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let Some(mut document) = self.open() else { return };
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
        let has_parent = self.document.borrow().nodes[element.id].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {
        let Some(mut document) = self.open() else { return };
        let id = document.add(Kind::Other);
        document.nodes[id].parent = Some(Document::ROOT);
        document.nodes[Document::ROOT].children.push(id);
    }

    // jsoup keeps the content of a template as normal children.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, two: &Handle) -> bool {
        // The parser calls this for each element of a list that it searches.
        work::spend(1);
        one.id == two.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let Some(mut document) = self.open() else { return };
        if let NodeOrText::AppendNode(node) = &child {
            document.detach(node.id);
        }
        if let Some((parent, at)) = document.find(sibling.id) {
            document.insert(parent, at, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, added: Vec<Attribute>) {
        let Some(mut document) = self.open() else { return };
        if let Kind::Element { attributes, .. } = &mut document.nodes[target.id].kind {
            for (name, value) in of_attributes(added) {
                if !attributes.iter().any(|(known, _)| *known == name) {
                    attributes.push((name, value));
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        if let Some(mut document) = self.open() {
            document.detach(target.id);
        }
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let Some(mut document) = self.open() else { return };
        let moved = std::mem::take(&mut document.nodes[node.id].children);
        for child in &moved {
            document.nodes[*child].parent = Some(new_parent.id);
        }
        document.nodes[new_parent.id].children.extend(moved);
    }
}
