//! HTML documents and CSS selectors as jsoup 1.17 has them, which JMeter's CSS Selector Extractor uses.
//!
//! The tree is what HTML's own rules make of the text (html5ever); selectors are jsoup's dialect. Nothing here fails on a document;
//! a selector that cannot be read, or that is not known here, is an [`Unreadable`].

mod element;
mod matching;
mod selector;
mod tag;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use crate::work;

pub use selector::{Selector, Unreadable};
pub use tag::Tag;
pub use tree::{Document, Kind, NodeId};

impl Document {
    /// Appends to `found` the text, or an attribute, of each element that the selector matches, in the order of the document, until told to stop.
    pub fn select(
        &self,
        selector: &Selector,
        attribute: Option<&str>,
        mut found: impl FnMut(&str) -> std::ops::ControlFlow<()>,
    ) {
        let memo = matching::Memo::default();
        let mut value = String::new();
        for id in self.elements() {
            if !work::spend(1) {
                return;
            }
            if !matching::matches(&memo, self, selector, id, Document::ROOT) {
                continue;
            }
            value.clear();
            match attribute {
                Some(name) => value.push_str(self.attribute(id, name).unwrap_or("")),
                None => {
                    let mut text = String::new();
                    text::write(self, id, &mut text);
                    value.push_str(text.trim_matches(|c| c <= ' '));
                }
            }
            if found(&value).is_break() {
                return;
            }
        }
    }
}
