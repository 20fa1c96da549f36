//! Removes elements that are empty and have no effect, innermost elements first.

use super::page::{NodeKind, Page};
use super::tags;

/// Removes the empty elements of a page.
pub(super) fn prune(page: &mut Page) {
    for at in page.inside_out() {
        let mut children = std::mem::take(&mut page.nodes[at].children);
        children.retain(|child| !is_pruned(page, *child));
        page.nodes[at].children = children;
    }
}

fn is_pruned(page: &Page, at: usize) -> bool {
    let node = &page.nodes[at];
    let NodeKind::Element { name, attributes } = &node.what else { return false };
    let has = |wanted: &str| attributes.iter().any(|(name, _)| **name == *wanted);
    let stays = tags::stays_empty(name)
        || ["id", "name", "datafld"].into_iter().any(has)
        || &**name == "script" && has("src");
    node.children.is_empty()
        && !stays
        && (attributes.is_empty() || !tags::stays_with_attributes(name))
}
