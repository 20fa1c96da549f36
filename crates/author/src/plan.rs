//! The text of a plan file with its elements and XML nodes.
//!
//! Reading keeps every byte: [`Plan::bytes`] of an unchanged plan are the bytes that were read. Each edit parses the
//! text anew, so the cost of an edit grows with the size of the file.

use std::borrow::Cow;

use jmx::{Diag, Document, ElementId, Severity};

use crate::Refusal;
use crate::splice::{self, Splice};
use crate::tree::{NodeId, Role, Tree, Xml};

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A plan file: its text, elements and XML nodes.
#[derive(Debug, Clone)]
pub struct Plan {
    document: Document,
    diags: Vec<Diag>,
    tree: Tree,
    /// XML node of each element of the document.
    nodes: Vec<NodeId>,
    /// True if the file begins with a byte order mark.
    has_mark: bool,
    /// Bytes of a file that is not UTF-8, which cannot be edited.
    foreign: Option<Vec<u8>>,
}

impl Plan {
    /// Reads a plan file. `name` is used only in messages. Fails if the bytes are not a plan.
    pub fn read(name: &str, bytes: Vec<u8>) -> Result<Self, Refusal> {
        let has_mark = bytes.starts_with(MARK);
        let original = bytes.clone();
        let (document, diags) = jmx::parse(name, bytes)
            .map_err(|error| Refusal::new(format!("{name}: {}", error.0.message)))?;
        let kept = original.strip_prefix(MARK).unwrap_or(&original);
        let foreign = (document.source().as_bytes() != kept).then(|| original.clone());
        let tree = Tree::read(document.source())
            .map_err(|error| Refusal::new(format!("{name}: {}", error.message)))?;
        let node_of = |id: ElementId| tree.starting_at(document.element(id).span.start as usize);
        let nodes: Option<Vec<_>> = document.ids().map(node_of).collect();
        let Some(nodes) = nodes else {
            return Err(Refusal::new(format!("{name}: elements without a position")));
        };
        Ok(Self { document, diags, tree, nodes, has_mark, foreign })
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        let text = self.text().as_bytes();
        match &self.foreign {
            Some(bytes) => Cow::Borrowed(bytes),
            None if self.has_mark => Cow::Owned([MARK, text].concat()),
            None => Cow::Borrowed(text),
        }
    }

    /// Returns the text of the file as UTF-8, without a byte order mark.
    pub fn text(&self) -> &str {
        self.document.source()
    }

    /// Returns the elements of the plan.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the findings of reading the text.
    pub fn diags(&self) -> &[Diag] {
        &self.diags
    }

    pub(crate) fn xml(&self) -> Xml<'_> {
        Xml { text: self.text(), tree: &self.tree }
    }

    /// Returns the XML node of an element.
    pub(crate) fn node(&self, id: ElementId) -> NodeId {
        self.nodes[id.index()]
    }

    /// Returns the children of an element; those at the top level for `None`.
    pub(crate) fn children(&self, parent: Option<ElementId>) -> &[ElementId] {
        parent.map_or(self.document.roots(), |id| &self.document.element(id).children)
    }

    /// Returns the `hashTree` with the children of an element; the outermost one for `None`.
    pub(crate) fn tree_node(&self, parent: Option<ElementId>) -> Option<NodeId> {
        let xml = self.xml();
        match parent {
            Some(id) => xml.tree_of(self.node(id)),
            None => {
                let is_tree = |id: &&NodeId| xml.node(**id).role == Role::Tree;
                xml.node(0).children.iter().find(is_tree).copied()
            }
        }
    }

    /// Returns the number of elements in a subtree, the top one included.
    pub(crate) fn size(&self, id: ElementId) -> usize {
        let mut size = 0;
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            size += 1;
            open.extend(&self.document.element(id).children);
        }
        size
    }

    /// Returns the line end of the file: `\r\n` if the first line has it.
    pub(crate) fn line_end(&self) -> &'static str {
        let text = self.text();
        let first = text.find('\n');
        if first.is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
    }

    /// True if the file has tags that refer to other tags by their position.
    pub(crate) fn has_references(&self) -> bool {
        let xml = self.xml();
        self.text().contains("reference=")
            && (0..self.tree.nodes.len()).any(|id| xml.attribute(id, "reference").is_some())
    }

    /// Fails if the file cannot be edited at all.
    pub(crate) fn check_editable(&self) -> Result<(), Refusal> {
        let name = self.document.name();
        if self.foreign.is_some() {
            return Err(Refusal::new(format!(
                "{name} is not UTF-8: open it in JMeter and save it, then edit it"
            )));
        }
        if self.document.version().version == "1.0" {
            return Err(Refusal::new(format!(
                "{name} has plan format 1.0: open it in JMeter and save it, then edit it"
            )));
        }
        Ok(())
    }

    /// Makes replacements in the text. Returns the replacements that undo them. On failure the plan is unchanged.
    pub(crate) fn splice(&mut self, splices: Vec<Splice>) -> Result<Vec<Splice>, Refusal> {
        self.check_editable()?;
        let Some((text, inverse)) = splice::apply(self.text(), splices) else {
            return Err(Refusal::new("two changes overlap"));
        };
        let errors =
            |diags: &[Diag]| diags.iter().filter(|diag| diag.severity == Severity::Error).count();
        let mut changed = Self::read(self.document.name(), text.into_bytes())?;
        if errors(&changed.diags) > errors(&self.diags) {
            let error = changed.diags.iter().find(|diag| diag.severity == Severity::Error);
            let message = error.map_or(String::new(), |diag| diag.message.clone());
            return Err(Refusal::new(format!("the plan would become invalid: {message}")));
        }
        changed.has_mark = self.has_mark;
        *self = changed;
        Ok(inverse)
    }
}
