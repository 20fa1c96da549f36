//! Whitespace as JTidy leaves it: one blank between words, none at the edges of blocks. A blank at the edge of an
//! inline element is moved outside of it.

use super::page::{NodeKind, Page};
use super::tags;
use crate::xml::{Attribute, Builder, Kind, NodeId, Tree};

/// Collapses whitespace in a page, and moves blanks at the edges of inline elements outside of them.
pub(super) fn move_out(page: &mut Page) {
    for at in page.inside_out() {
        let name: Box<str> = page.name(at).into();
        let is_preformatted = page.nodes[at].is_preformatted;
        if !is_preformatted {
            fold_children(page, at);
        }
        place(page, at);
        if !is_preformatted {
            skip_leading(page, at, &name);
        }
        if at != 0 && name.as_ref() != "pre" {
            trim(page, at, &name);
        }
        page.remove_empty_texts(at);
    }
}

fn fold_children(page: &mut Page, at: usize) {
    for child in page.nodes[at].children.clone() {
        if let NodeKind::Text(text) = &mut page.nodes[child].what {
            *text = fold(text);
        }
    }
}

/// Replaces each run of whitespace by one blank.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        if !is_blank(c) {
            folded.push(c);
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    folded
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

/// Replaces tabs by blanks up to the next multiple of eight columns.
pub(super) fn without_tabs(text: &str) -> String {
    let (mut out, mut column) = (String::with_capacity(text.len()), 0);
    for c in text.chars() {
        match c {
            '\t' => {
                let blanks = 8 - column % 8;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            '\n' => {
                out.push(c);
                column = 0;
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    out
}

/// Removes whitespace at the beginning of blocks, and after blocks inside them.
fn skip_leading(page: &mut Page, at: usize, name: &str) {
    let mut is_skipping = !tags::is_inline(name);
    for child in page.nodes[at].children.clone() {
        let is_inline = tags::is_inline(page.name(child));
        match &mut page.nodes[child].what {
            NodeKind::Text(text) => {
                if is_skipping && text.starts_with(' ') {
                    text.remove(0);
                }
                if tags::holds_no_text(name) && text.trim_matches(is_blank).is_empty() {
                    text.clear();
                }
                is_skipping &= text.is_empty();
            }
            NodeKind::Element { name, .. } if &**name == "br" => is_skipping = true,
            NodeKind::Element { .. } => is_skipping = !is_inline,
            NodeKind::Comment(_) | NodeKind::Root => {}
        }
    }
}

/// Removes the blanks at both ends of an element.
fn trim(page: &mut Page, at: usize, name: &str) {
    let moves = tags::is_inline(name) && !tags::is_field(name);
    if let Some(first) = page.nodes[at].children.first().copied()
        && let NodeKind::Text(text) = &mut page.nodes[first].what
        && text.starts_with(' ')
    {
        text.remove(0);
        if moves {
            page.nodes[at].space_before = true;
        }
    }
    if let Some(last) = page.nodes[at].children.last().copied()
        && let NodeKind::Text(text) = &mut page.nodes[last].what
        && text.ends_with(' ')
    {
        text.pop();
        if moves {
            page.nodes[at].space_after = true;
        }
    }
}

/// Inserts the blanks that were moved out of the element's children. A blank is inserted before or after the child,
/// unless a blank is there already.
fn place(page: &mut Page, at: usize) {
    let children = std::mem::take(&mut page.nodes[at].children);
    let mut placed = Vec::with_capacity(children.len());
    let mut is_pending = false;
    for child in children {
        if std::mem::take(&mut is_pending) {
            match &mut page.nodes[child].what {
                NodeKind::Text(text) if text.starts_with(' ') => {}
                NodeKind::Text(text) => text.insert(0, ' '),
                _ => placed.push(page.add(NodeKind::Text(" ".into()), at)),
            }
        }
        if page.nodes[child].space_before {
            match placed.last().map(|last: &usize| &mut page.nodes[*last].what) {
                Some(NodeKind::Text(text)) if text.ends_with(' ') => {}
                Some(NodeKind::Text(text)) => text.push(' '),
                _ => placed.push(page.add(NodeKind::Text(" ".into()), at)),
            }
        }
        is_pending = page.nodes[child].space_after;
        placed.push(child);
    }
    if is_pending {
        placed.push(page.add(NodeKind::Text(" ".into()), at));
    }
    page.nodes[at].children = placed;
}

impl Page {
    fn remove_empty_texts(&mut self, at: usize) {
        let mut children = std::mem::take(&mut self.nodes[at].children);
        children.retain(
            |child| !matches!(&self.nodes[*child].what, NodeKind::Text(text) if text.is_empty()),
        );
        self.nodes[at].children = children;
    }
}

/// Copies an XML document with whitespace collapsed, and without whitespace at the edges of elements.
pub(super) fn folded(tree: &Tree) -> Tree {
    let mut builder = Builder::new(false);
    let mut open: Vec<NodeId> = Vec::new();
    for id in tree.descendants(NodeId::DOCUMENT) {
        while open.last().is_some_and(|last| tree.parent(id) != Some(*last)) {
            open.pop();
            builder.close();
        }
        match tree.kind(id) {
            Kind::Element => {
                let attributes: Vec<_> = tree
                    .declarations(id)
                    .filter(|id| tree.name(*id) != "xmlns:xml")
                    .chain(tree.attributes(id))
                    .map(|id| Attribute {
                        name: tree.name(id).into(),
                        value: tree.value(id).unwrap_or("").into(),
                        uri: None,
                        is_id: false,
                    })
                    .collect();
                builder.open(tree.name(id), None, &attributes);
                open.push(id);
            }
            Kind::Text => {
                let text = fold(tree.value(id).unwrap_or(""));
                let mut text = text.as_str();
                if tree.previous(id).is_none() {
                    text = text.trim_start_matches(' ');
                }
                if tree.next(id).is_none() {
                    text = text.trim_end_matches(' ');
                }
                builder.text(text);
            }
            kind => builder.leaf(kind, tree.name(id), tree.value(id).unwrap_or("")),
        }
    }
    let mut tree = builder.end();
    tree.has_element_values = true;
    tree
}
