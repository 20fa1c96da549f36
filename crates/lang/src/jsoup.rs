//! HTML documents and CSS selectors of jsoup 1.17, which JMeter's CSS Selector Extractor uses by default.
//!
//! The HTML standard's rules build the tree (html5ever); selectors are jsoup's dialect. Parsing never fails on a
//! document. A selector that cannot be parsed, or is not supported, is an [`Unreadable`].

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
    /// Passes the text, or an attribute, of each element that matches the selector to `found`, in document order, until
    /// `found` returns `Break`.
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
