//! HTML documents and CSS selectors as Jodd Lagarto 5.0.13 has them, which JMeter's CSS Selector Extractor uses if its settings say so.
//!
//! Tags stand where the text has them: no element is made up, and an open one ends where Jodd's rules say. Selectors are those of
//! CSSelly, with its pseudo classes of results (`:first`, `:eq(2)`). A page may be unreadable, by an exception of Jodd's.

mod matching;
mod selector;
#[cfg(test)]
mod tests;
mod tree;

pub use selector::{Selectors, Unreadable};
pub use tree::Document;

impl Document {
    /// Passes the trimmed text, or an attribute, of each selected element to `found`, until that returns `Break`. Results of one
    /// selector follow those of the one before.
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
