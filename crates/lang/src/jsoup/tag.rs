//! Access to the elements of a document in order, with their names and attributes.

use super::tree::{Document, Kind, NodeId};

/// An element of an HTML document.
#[derive(Clone, Copy, Debug)]
pub struct Tag<'d> {
    document: &'d Document,
    id: NodeId,
}

impl Document {
    /// Returns all elements of the document in order.
    pub fn tags(&self) -> impl Iterator<Item = Tag<'_>> {
        self.elements().map(|id| Tag { document: self, id })
    }
}

impl<'d> Tag<'d> {
    /// Returns the element's name in lower case.
    pub fn name(&self) -> &'d str {
        self.document.name(self.id)
    }

    /// Returns the value of the element's attribute with that name.
    pub fn attribute(&self, name: &str) -> Option<&'d str> {
        self.document.attribute(self.id, name)
    }

    /// Returns the text node with which the element begins, if its first child is text.
    pub fn text(&self) -> Option<&'d str> {
        match self.document.kind(*self.document.children(self.id).first()?) {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the nearest element with that name that contains this element.
    pub fn within(&self, name: &str) -> Option<Self> {
        let above = std::iter::successors(Some(self.id), |id| self.document.parent(*id)).skip(1);
        above.map(|id| Self { document: self.document, id }).find(|tag| tag.name() == name)
    }
}
