//! Tests if an element matches a selector.

use std::cell::RefCell;
use std::collections::HashMap;

use super::selector::{Combinator, Comparison, Selector, Test};
use super::text;
use super::tree::{Document, Kind, NodeId, SiblingPosition};
use crate::work;

/// Cache of searches for matching siblings. A key consists of the group's number, the compound's number, the parent
/// element and the root.
#[derive(Debug, Default)]
pub(super) struct Memo(RefCell<HashMap<(usize, usize, NodeId, NodeId), Seen>>);

/// State of a search among siblings: number of siblings tested, and position of the first match.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    asked: usize,
    found: Option<usize>,
}

/// Returns true if a selector matches an element, relative to `root`.
pub(super) fn matches(
    memo: &Memo,
    document: &Document,
    selector: &Selector,
    id: NodeId,
    root: NodeId,
) -> bool {
    selector.0.iter().any(|group| chain(memo, document, group, group.len(), id, root))
}

/// Returns true if the first `count` compounds of a group match: the last of them matches the element itself, the
/// compounds before it match related elements.
fn chain(
    memo: &Memo,
    document: &Document,
    group: &[(Combinator, Vec<Test>)],
    count: usize,
    id: NodeId,
    root: NodeId,
) -> bool {
    if !work::spend(1) {
        return false;
    }
    let Some((combinator, compound)) = count.checked_sub(1).and_then(|at| group.get(at)) else {
        // Before the first compound of a group, only the root matches.
        return id == root;
    };
    if !compound.iter().all(|test| holds(memo, document, test, id, root)) {
        return false;
    }
    let goes_on = |id: NodeId| chain(memo, document, group, count - 1, id, root);
    match combinator {
        Combinator::Anywhere => true,
        // The search for ancestors does not go above the root.
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
        Combinator::Next => earlier(document, id).next_back().is_some_and(goes_on),
        Combinator::Later => {
            let Some(parent) = document.parent(id) else { return false };
            // The first matching sibling decides for all later siblings. Each sibling before the first match is tested
            // only once.
            let key = (group.as_ptr() as usize, count, parent, root);
            let Seen { asked, found } = memo.0.borrow().get(&key).copied().unwrap_or_default();
            let place = document.child_index(id);
            if found.is_none() && asked < place {
                let siblings = &document.children(parent)[asked..place];
                let mut elements =
                    siblings.iter().filter(|id| work::spend(1) && document.is_element(**id));
                let found = elements.find(|id| goes_on(**id)).map(|id| document.child_index(*id));
                memo.0.borrow_mut().insert(key, Seen { asked: place, found });
                return found.is_some();
            }
            found.is_some_and(|found| found < place)
        }
    }
}

/// Returns the sibling elements before an element.
fn earlier(document: &Document, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
    let siblings = document.parent(id).map(|parent| document.children(parent));
    let siblings = siblings.map_or(&[][..], |siblings| &siblings[..document.child_index(id)]);
    siblings.iter().copied().filter(|id| work::spend(1) && document.is_element(*id))
}

fn holds(memo: &Memo, document: &Document, test: &Test, id: NodeId, root: NodeId) -> bool {
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
            compares(value, *comparison, wanted)
        }
        Test::SiblingPosition(order, wanted) => {
            let place = i64::from(document.places(id).of_elements);
            // The document has the index 0, and `:lt` never matches it.
            let is_root = id == root;
            let found = place.cmp(wanted) == *order;
            found && !(is_root && *order == std::cmp::Ordering::Less)
        }
        Test::Nth { step, offset, from_end, of_type } => {
            let Some(parent) = document.parent(id) else { return false };
            if parent == Document::ROOT && document.kind(parent).is_root() {
                return false;
            }
            is_in_series(place_of(document.places(id), *from_end, *of_type), *step, *offset)
        }
        Test::Only { of_type } => {
            let parent = document.parent(id).filter(|parent| *parent != Document::ROOT);
            let places = document.places(id);
            parent.is_some() && (if *of_type { places.kin } else { places.elements }) == 1
        }
        Test::Empty => document.children(id).iter().all(|child| document.kind(*child).is_blank()),
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
            document.below(id, false).any(|inner| matches(memo, document, selector, inner, id))
        }
        Test::Not(selector) => !matches(memo, document, selector, id, root),
        Test::Is(selector) => matches(memo, document, selector, id, root),
    }
}

/// Returns true if an attribute's value, in lower case, has the given relation to the selector's value. `None`: the
/// element lacks the attribute.
fn compares(value: Option<String>, comparison: Comparison, wanted: &str) -> bool {
    match (comparison, value) {
        (Comparison::Unequal, value) => value.unwrap_or_default() != wanted,
        (_, None) => false,
        (Comparison::Equal, Some(value)) => value.trim_matches(|c| c <= ' ') == wanted,
        (Comparison::Start, Some(value)) => value.starts_with(wanted),
        (Comparison::End, Some(value)) => value.ends_with(wanted),
        (Comparison::Part, Some(value)) => value.contains(wanted),
    }
}

/// Returns the position of an element, from 1: among all sibling elements or, if `of_type` is true, among siblings of
/// the same name.
fn place_of(places: SiblingPosition, from_end: bool, of_type: bool) -> i64 {
    let (place, all) =
        if of_type { (places.of_kin, places.kin) } else { (places.of_elements, places.elements) };
    i64::from(if from_end { all - place } else { place + 1 })
}

/// Returns true if a position is `step * n + offset` for some `n` of 0 or more.
fn is_in_series(place: i64, step: i64, offset: i64) -> bool {
    match step {
        0 => place == offset,
        step => (place - offset) * step >= 0 && (place - offset) % step == 0,
    }
}

impl Kind {
    /// Returns true if an element whose only child is this node counts as empty.
    fn is_blank(&self) -> bool {
        match self {
            Self::Other | Self::Comment(_) => true,
            Self::Text(text) => text.chars().all(char::is_whitespace),
            _ => false,
        }
    }

    fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}
