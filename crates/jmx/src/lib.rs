//! The text of a `.jmx` file as a tree with spans.
//!
//! [`parse`] turns bytes into a [`Document`] and a list of [`Diag`]s. It fails only for text that is not XML or has no
//! `jmeterTestPlan` root. The crate knows the structure of the file (`hashTree` pairs and property tags), but no
//! element names.
//!
//! | module | holds |
//! |---|---|
//! | `reader` | the one pass over the text; property tags, references |
//! | `references` | the targets of XStream's references |
//! | `document`, `props` | the arena of elements, and their properties |
//! | `graft` | copies of subtrees |
//! | [`writer`] | new elements as text, in the form in which JMeter saves them |
//! | `decode`, `text` | encodings; character references and line ends |
//! | `diag` | [`Diag`], the finding that every layer above uses |

mod decode;
mod diag;
mod document;
mod graft;
mod props;
mod reader;
mod references;
mod text;
pub mod writer;

pub use diag::{Diag, NotXml, Severity, Span};
pub use document::{Document, Element, ElementId, FileVersion, Included};
pub use props::{Kind, Object, Prop, Props, Tagged, Value};
pub use reader::{MAX_DEPTH, MAX_LEVELS, is_tree, parse};
pub use text::{attribute_value, tag_text};
