//! Whether an element is what a selector selects.

use super::selector::{Combinator, Comparison, Selector, Test};
use super::text;
use super::tree::{Document, Kind, NodeId};

/// Whether a selector matches an element, seen from `root`.
pub(super) fn matches(document: &Document, selector: &Selector, id: NodeId, root: NodeId) -> bool {
    selector.0.iter().any(|group| chain(document, group, group.len(), id, root))
}

/// Whether the first `count` compounds of a group end at an element.
fn chain(
    document: &Document,
    group: &[(Combinator, Vec<Test>)],
    count: usize,
    id: NodeId,
    root: NodeId,
) -> bool {
    let Some((combinator, compound)) = count.checked_sub(1).and_then(|at| group.get(at)) else {
        // Before the first compound there is only the root.
        return id == root;
    };
    if !compound.iter().all(|test| holds(document, test, id, root)) {
        return false;
    }
    let goes_on = |id: NodeId| chain(document, group, count - 1, id, root);
    let siblings = |id: NodeId| {
        let parent = document.parent(id);
        let all: Vec<NodeId> =
            parent.map(|parent| document.elements_of(parent).collect()).unwrap_or_default();
        let at = all.iter().position(|sibling| *sibling == id).unwrap_or(0);
        all[..at].to_vec()
    };
    match combinator {
        Combinator::Anywhere => true,
        // Above the root nothing is looked at.
        _ if id == root => false,
        Combinator::Child => document.parent(id).is_some_and(goes_on),
        Combinator::Descendant => {
            let mut above = document.parent(id);
            while let Some(parent) = above {
                if goes_on(parent) {
                    return true;
                }
                if parent == root {
                    return false;
                }
                above = document.parent(parent);
            }
            false
        }
        Combinator::Next => siblings(id).last().is_some_and(|id| goes_on(*id)),
        Combinator::Later => siblings(id).into_iter().any(goes_on),
    }
}

fn holds(document: &Document, test: &Test, id: NodeId, root: NodeId) -> bool {
    match test {
        Test::All => true,
        Test::Name(name) => document.name(id).eq_ignore_ascii_case(name),
        Test::AnySpace(name) => {
            let known = document.name(id);
            known.eq_ignore_ascii_case(name)
                || known.rsplit_once(':').is_some_and(|(_, last)| last.eq_ignore_ascii_case(name))
        }
        Test::Id(wanted) => document.attribute(id, "id").unwrap_or("") == wanted,
        Test::Class(class) => document.attribute(id, "class").is_some_and(|classes| {
            let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r');
            classes.split(blank).any(|known| known.eq_ignore_ascii_case(class))
        }),
        Test::Has(name) => document.attribute(id, name).is_some(),
        Test::HasPrefix(prefix) => {
            document.attributes(id).iter().any(|(name, _)| name.to_lowercase().starts_with(prefix))
        }
        Test::Attribute(name, comparison, wanted) => {
            let value = document.attribute(id, name).map(str::to_lowercase);
            match (comparison, value) {
                (Comparison::Unequal, value) => value.unwrap_or_default() != *wanted,
                (_, None) => false,
                (Comparison::Equal, Some(value)) => value.trim_matches(|c| c <= ' ') == wanted,
                (Comparison::Start, Some(value)) => value.starts_with(wanted),
                (Comparison::End, Some(value)) => value.ends_with(wanted),
                (Comparison::Part, Some(value)) => value.contains(wanted),
            }
        }
        Test::Place(order, wanted) => {
            let place = document
                .parent(id)
                .and_then(|parent| document.elements_of(parent).position(|sibling| sibling == id));
            // The document is the first of its kind, and at no place beyond that.
            let is_root = id == root;
            let found = (place.unwrap_or(0) as i64).cmp(wanted) == *order;
            found && !(is_root && *order == std::cmp::Ordering::Less)
        }
        Test::Nth { step, offset, from_end, of_type } => {
            let Some(parent) = document.parent(id) else { return false };
            if parent == Document::ROOT && document.kind(parent).is_root() {
                return false;
            }
            let same = |other: &NodeId| !of_type || document.name(*other) == document.name(id);
            let mut alike = document.elements_of(parent).filter(same);
            let place = if *from_end {
                alike.rev().position(|sibling| sibling == id)
            } else {
                alike.position(|sibling| sibling == id)
            };
            let Some(place) = place.map(|place| place as i64 + 1) else { return false };
            match step {
                0 => place == *offset,
                step => (place - offset) * step >= 0 && (place - offset) % step == 0,
            }
        }
        Test::Only { of_type } => {
            let parent = document.parent(id).filter(|parent| *parent != Document::ROOT);
            parent.is_some_and(|parent| {
                let same = |other: &NodeId| !of_type || document.name(*other) == document.name(id);
                document.elements_of(parent).filter(same).count() == 1
            })
        }
        Test::Empty => {
            let is_nothing = |child: &NodeId| match document.kind(*child) {
                Kind::Other | Kind::Comment(_) => true,
                Kind::Text(text) => text.chars().all(char::is_whitespace),
                _ => false,
            };
            document.children(id).iter().all(is_nothing)
        }
        Test::Root => document.parent(id) == Some(Document::ROOT),
        Test::Contains(wanted) => {
            let mut found = String::new();
            text::write(document, id, &mut found);
            found.to_lowercase().contains(wanted)
        }
        Test::ContainsOwn(wanted) => {
            let mut found = String::new();
            text::write_own(document, id, &mut found);
            found.to_lowercase().contains(wanted)
        }
        Test::Within(selector) => {
            document.below(id, false).any(|inner| matches(document, selector, inner, id))
        }
        Test::Not(selector) => !matches(document, selector, id, root),
        Test::Is(selector) => matches(document, selector, id, root),
    }
}

impl Kind {
    fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}
