//! Pages as JTidy r938 passes them to XPath: the tree that the HTML standard builds (html5ever), changed as JTidy would
//! have changed it.
//!
//! Unknown elements are removed and their content stays. Whitespace is collapsed and moved out of elements, and empty
//! elements are removed. Tables get no implied `tbody`, and the head gets JTidy's mark. A page that declares itself as
//! XML is parsed as XML. On very broken pages the trees differ, because both parsers guess.

mod page;
mod prune;
mod spaces;
mod style;
mod tags;
#[cfg(test)]
mod tests;

use crate::jsoup;
use crate::work;
use crate::xml::{Builder, Options, Tree, read_text};

/// Parses a page as JTidy does. Never fails: every page has a tree.
pub fn read(text: &str) -> Tree {
    let is_xml = text.starts_with("<?xml");
    if is_xml && let Ok(tree) = read_text(text, Options::default()) {
        return spaces::folded(&tree);
    }
    let document = jsoup::Document::parse_known(text, tags::is_known);
    if work::gave_up().is_some() {
        return Builder::new(false).end();
    }
    let mut page = page::Page::of(&document);
    spaces::move_out(&mut page);
    prune::prune(&mut page);
    style::clean(&mut page);
    page.tree()
}
