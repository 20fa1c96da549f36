//! The elements of a document one after the other, for those who ask for their names and attributes.

use super::tree::{Document, Kind, NodeId};

/// An element.
#[derive(Clone, Copy, Debug)]
pub struct Tag<'d> {
    document: &'d Document,
    id: NodeId,
}

impl Document {
    /// All elements in the order of the text.
    pub fn tags(&self) -> impl Iterator<Item = Tag<'_>> {
        self.elements().map(|id| Tag { document: self, id })
    }
}

impl<'d> Tag<'d> {
    /// Its name in lower case.
    pub fn name(&self) -> &'d str {
        self.document.name(self.id)
    }

    /// An attribute's value.
    pub fn attribute(&self, name: &str) -> Option<&'d str> {
        self.document.attribute(self.id, name)
    }

    /// The text with which it begins.
    pub fn text(&self) -> Option<&'d str> {
        match self.document.kind(*self.document.children(self.id).first()?) {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The nearest element of a name around it.
    pub fn within(&self, name: &str) -> Option<Self> {
        let above = std::iter::successors(Some(self.id), |id| self.document.parent(*id)).skip(1);
        above.map(|id| Self { document: self.document, id }).find(|tag| tag.name() == name)
    }
}
