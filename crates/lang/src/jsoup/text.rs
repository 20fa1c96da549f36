//! The text of an element as jsoup returns it: consecutive whitespace becomes one blank, and blocks are separated by
//! blanks.

use super::element::{is_block, is_formatted_as_block, keeps_blanks};
use super::tree::{Document, Kind, NodeId};
use crate::work;

/// Number of a text's innermost ancestors that are checked for preserved whitespace.
const LEVELS: usize = 6;

/// Appends the text of an element and of everything in it.
pub(super) fn write(document: &Document, id: NodeId, out: &mut String) {
    // A stack of nodes to enter, or to leave if the flag is true.
    let mut open = vec![(id, false)];
    let mut inner = String::new();
    while let Some((node, leaves)) = open.pop() {
        if !work::spend(1) {
            return;
        }
        match document.kind(node) {
            Kind::Text(text) => push_text(document, node, text, &mut inner),
            Kind::Root | Kind::Element { .. } if leaves => {
                let next = document.next_sibling(node).filter(|_| node != id);
                let stands_apart = next.is_some_and(|next| match document.kind(next) {
                    Kind::Text(_) => true,
                    Kind::Element { .. } => !is_formatted_as_block(document.name(next)),
                    _ => false,
                });
                if is_block(document.name(node)) && stands_apart && !inner.ends_with(' ') {
                    inner.push(' ');
                }
            }
            Kind::Root | Kind::Element { .. } => {
                let name = document.name(node);
                if !inner.is_empty() && (is_block(name) || name == "br") && !inner.ends_with(' ') {
                    inner.push(' ');
                }
                open.push((node, true));
                open.extend(document.children(node).iter().rev().map(|child| (*child, false)));
            }
            Kind::Data(_) | Kind::Comment(_) | Kind::Other => {}
        }
    }
    out.push_str(inner.trim_matches(|c| c <= ' '));
}

/// Appends only the text nodes that are direct children of an element.
pub(super) fn write_own(document: &Document, id: NodeId, out: &mut String) {
    let mut inner = String::new();
    for child in document.children(id) {
        match document.kind(*child) {
            Kind::Text(text) => push_text(document, *child, text, &mut inner),
            Kind::Element { .. } if document.name(*child) == "br" && !inner.ends_with(' ') => {
                inner.push(' ');
            }
            _ => {}
        }
    }
    out.push_str(inner.trim_matches(|c| c <= ' '));
}

fn push_text(document: &Document, id: NodeId, text: &str, out: &mut String) {
    work::spend(text.len() as u64 / 4);
    let ancestors = std::iter::successors(document.parent(id), |id| document.parent(*id));
    if ancestors.take(LEVELS).any(|id| keeps_blanks(document.name(id))) {
        return out.push_str(text);
    }
    push_normalised(text, out);
}

/// Appends a text node with consecutive whitespace replaced by one blank; adds no blank after a blank.
pub(super) fn push_normalised(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\n' | '\u{c}' | '\r' | '\u{a0}' => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            // These characters have no width and are dropped.
            '\u{200b}' | '\u{ad}' => {}
            c => out.push(c),
        }
    }
}
