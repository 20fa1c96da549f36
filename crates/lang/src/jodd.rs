//! HTML documents and CSS selectors of Jodd Lagarto 5.0.13, which JMeter's CSS Selector Extractor uses if its settings
//! choose Jodd.
//!
//! The tree contains only the elements of the text: none is inserted, and Jodd's rules decide where an open element
//! ends. Selectors are those of CSSelly, with its pseudo classes for positions among results (`:first`, `:eq(2)`). A
//! page may be unreadable; then Jodd throws an exception.

mod matching;
mod selector;
#[cfg(test)]
mod tests;
mod tree;

pub use selector::{Selectors, Unreadable};
pub use tree::Document;

impl Document {
    /// Passes the trimmed text, or an attribute, of each selected element to `found` until it returns `Break`. The
    /// results of each selector follow those of the previous selector.
    pub fn select(
        &self,
        selectors: &Selectors,
        attribute: Option<&str>,
        mut found: impl FnMut(Option<&str>) -> std::ops::ControlFlow<()>,
    ) {
        for id in matching::select(self, Document::ROOT, selectors) {
            let goes_on = match attribute {
                Some(name) => found(self.attribute(id, &name.to_lowercase())),
                None => {
                    let mut text = String::new();
                    self.write_text(id, &mut text);
                    found(Some(text.trim_matches(|c| c <= ' ')))
                }
            };
            if goes_on.is_break() {
                return;
            }
        }
    }
}
