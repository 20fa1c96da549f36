//! Selects elements step by step: each step starts from the results of the previous one.
//!
//! A step searches below or beside each result of the previous step, keeps each element once, and then filters by
//! position among its results.

use std::collections::HashSet;

use super::selector::{Combinator, Match, PseudoClass, Selectors, Step, Test};
use super::tree::{Document, NodeId};
use crate::work;

/// Returns the selected nodes, in the order in which they were found.
pub(super) fn select(document: &Document, root: NodeId, selectors: &Selectors) -> Vec<NodeId> {
    let mut results = Vec::new();
    let mut known = HashSet::new();
    for steps in &selectors.0 {
        let mut nodes = vec![root];
        for step in steps {
            nodes = go(document, &nodes, step);
        }
        results.extend(nodes.into_iter().filter(|id| known.insert(*id)));
    }
    results
}

fn go(document: &Document, nodes: &[NodeId], step: &Step) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    // Nodes whose descendants, or whose later siblings, the search has visited already.
    let mut done = HashSet::new();
    let mut add = |id: NodeId| {
        if !known.contains(&id) && accepts(document, step, id) {
            known.insert(id);
            found.push(id);
        }
    };
    for node in nodes {
        match step.from {
            Combinator::Descendant => {
                let mut open: Vec<_> = document.children(*node).iter().rev().copied().collect();
                if !done.insert(*node) {
                    continue;
                }
                while let Some(id) = open.pop() {
                    if !work::spend(1) {
                        return Vec::new();
                    }
                    add(id);
                    if done.insert(id) {
                        open.extend(document.children(id).iter().rev());
                    }
                }
            }
            Combinator::Child => document.elements_of(*node).for_each(&mut add),
            Combinator::Next => later(document, *node).take(1).for_each(&mut add),
            Combinator::Later => {
                if done.insert(*node) {
                    for id in later(document, *node) {
                        add(id);
                        if !done.insert(id) {
                            break;
                        }
                    }
                }
            }
        }
    }
    let count = found.len();
    let mut at = 0;
    found.retain(|_| {
        at += 1;
        step.tests.iter().all(|test| is_placed(test, at - 1, count))
    });
    found
}

/// Returns the siblings of an element that come after it.
fn later(document: &Document, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let siblings = document.elements_of(document.parent(id));
    let behind = siblings.skip_while(move |other| work::spend(1) && *other != id).skip(1);
    behind.take_while(|_| work::spend(1))
}

/// Returns true if an element's position among the results satisfies a test.
fn is_placed(test: &Test, at: usize, count: usize) -> bool {
    let (at, count) = (at as i64, count as i64);
    match test {
        Test::Class(PseudoClass::First) => at == 0,
        Test::Class(PseudoClass::Last) => at + 1 == count,
        Test::Class(PseudoClass::Even) => at % 2 == 0,
        Test::Class(PseudoClass::Odd) => at % 2 != 0,
        Test::Eq(wanted) if *wanted >= 0 => at == i64::from(*wanted),
        Test::Eq(wanted) => at == count + i64::from(*wanted),
        Test::Greater(than) => at > i64::from(*than),
        Test::Less(than) => at < i64::from(*than),
        _ => true,
    }
}

fn accepts(document: &Document, step: &Step, id: NodeId) -> bool {
    document.is_element(id)
        && step.element.as_ref().is_none_or(|name| name == document.name(id))
        && step.tests.iter().all(|test| holds(document, test, id))
}

fn holds(document: &Document, test: &Test, id: NodeId) -> bool {
    if !work::spend(1) {
        return false;
    }
    match test {
        Test::Attribute { name, value: None } => document.has_attribute(id, name),
        Test::Attribute { name, value: Some((kind, wanted)) } => {
            document.attribute(id, name).is_some_and(|actual| matches(*kind, actual, wanted))
        }
        Test::Class(class) => is_of(document, *class, id),
        Test::NthChild(nth) => nth.holds(place(siblings(document, id), id) + 1),
        Test::NthLastChild(nth) => nth.holds(place(siblings(document, id).rev(), id) + 1),
        Test::NthOfType(nth) => nth.holds(place(alike(document, id), id) + 1),
        Test::NthLastOfType(nth) => nth.holds(place(alike(document, id).rev(), id) + 1),
        Test::Contains(wanted) => {
            let mut text = String::new();
            document.write_text(id, &mut text);
            text.contains(wanted)
        }
        Test::Has(selectors) => !select(document, id, selectors).is_empty(),
        // As in Jodd, `:not` tests all steps of all its selectors on this one element.
        Test::Not(selectors) => {
            !selectors.0.iter().flatten().all(|step| accepts(document, step, id))
        }
        Test::Eq(_) | Test::Greater(_) | Test::Less(_) => true,
    }
}

fn siblings(document: &Document, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
    document.elements_of(document.parent(id)).filter(|_| work::spend(1))
}

/// Returns the siblings of an element with the same name, including the element itself.
fn alike(document: &Document, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
    siblings(document, id).filter(move |other| document.name(*other) == document.name(id))
}

fn place(mut among: impl Iterator<Item = NodeId>, id: NodeId) -> i32 {
    among.position(|other| other == id).map_or(-1, |at| at as i32)
}

fn is_of(document: &Document, class: PseudoClass, id: NodeId) -> bool {
    let is_first = |mut among: Box<dyn Iterator<Item = NodeId> + '_>| among.next() == Some(id);
    let name = document.name(id);
    match class {
        PseudoClass::Empty => document.children(id).is_empty(),
        PseudoClass::Parent => !document.children(id).is_empty(),
        PseudoClass::FirstChild => is_first(Box::new(siblings(document, id))),
        PseudoClass::LastChild => is_first(Box::new(siblings(document, id).rev())),
        PseudoClass::FirstOfType => is_first(Box::new(alike(document, id))),
        PseudoClass::LastOfType => is_first(Box::new(alike(document, id).rev())),
        PseudoClass::OnlyChild => siblings(document, id).count() == 1,
        PseudoClass::OnlyOfType => alike(document, id).count() == 1,
        PseudoClass::Root => document.parent(id) == Document::ROOT,
        PseudoClass::Type(wanted) => document.attribute(id, "type") == Some(wanted),
        PseudoClass::Input => matches!(name, "button" | "input" | "select" | "textarea"),
        PseudoClass::Header => {
            name.len() == 2 && name.starts_with('h') && name.ends_with(|c| ('1'..='6').contains(&c))
        }
        PseudoClass::Selected => document.has_attribute(id, "selected"),
        PseudoClass::Checked => document.has_attribute(id, "checked"),
        PseudoClass::First | PseudoClass::Last | PseudoClass::Even | PseudoClass::Odd => true,
    }
}

fn matches(kind: Match, actual: &str, wanted: &str) -> bool {
    match kind {
        Match::Equals => actual == wanted,
        Match::Includes if wanted.is_empty() || actual.len() < wanted.len() => false,
        Match::Includes if actual.len() == wanted.len() => actual == wanted,
        Match::Includes => actual.split([' ', '\t']).any(|word| word == wanted),
        Match::Dash => {
            actual.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        Match::Prefix => !wanted.is_empty() && actual.starts_with(wanted),
        Match::Suffix => !wanted.is_empty() && actual.ends_with(wanted),
        Match::Substring => !wanted.is_empty() && actual.contains(wanted),
    }
}
