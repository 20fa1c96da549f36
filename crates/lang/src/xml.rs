//! XML documents as Xerces 2.12 parses them for JMeter, as trees for XPath.
//!
//! Nothing outside of a document is ever read: external entities and subsets are empty, as in JMeter without its option
//! to download. An error in a document is a [`Fault`] with Xerces's message. Entity expansions are limited in number,
//! depth and size; nested elements use no stack. A tree consists of three lists and one string, however large the
//! document.

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
