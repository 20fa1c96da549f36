//! Pages as JTidy r938 hands them to XPath: the tree of HTML's own rules (html5ever), made what JTidy would have made of it.
//!
//! Elements that JTidy does not know are gone and what is in them stays, blanks are folded and moved out of elements, empty elements are left out,
//! tables get no rows' groups, and the head gets JTidy's mark. A page that says to be XML is read as such. Where a page is so wrong that the two guess
//! differently, the trees differ.

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

/// Reads a page. None is so wrong that it could not be read.
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
