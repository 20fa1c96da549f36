//! XML documents as Xerces 2.12 reads them for JMeter, as trees for XPath.
//!
//! Nothing outside of a document is ever read: external entities and subsets are empty, as in JMeter without its option to download.
//! A document that is not well-formed is a [`Fault`] in Xerces' words. Expansions of entities are bounded in number, depth and size; nesting of elements
//! costs no stack. A tree is three lists and one text, however large the document.

mod cursor;
mod decode;
mod dtd;
mod entity;
mod fault;
mod read;
mod tag;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub use fault::Fault;
pub use read::{Options, read, read_for_saxon, read_text};
pub use tree::{Attribute, Builder, Kind, NodeId, Tree};
pub use write::escaped;
