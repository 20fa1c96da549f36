//! The elements that apply to a sampler, in JMeter's order.
//!
//! A thread's tree has its group at the root. The group's children are followed by the children of the Test Plan, on
//! the same level. The scope follows these rules:
//! - config elements, timers and listeners are collected from the sampler outwards, nearest first;
//! - pre-processors, post-processors and assertions run from the outermost level inwards;
//! - within one level, the order of the file applies.
//!
//! A Transaction Controller with its own sample collects its listeners and assertions from itself outwards.

use jmx::{Document, ElementId};

use crate::support::{self, Holds, Kind};

/// The elements that apply to a sampler.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) configs: Vec<ElementId>,
    pub(crate) timers: Vec<ElementId>,
    pub(crate) before: Vec<ElementId>,
    pub(crate) after: Vec<ElementId>,
    pub(crate) checks: Vec<ElementId>,
    pub(crate) listeners: Vec<ElementId>,
}

/// The elements of one level that apply to samplers, with their kinds. Samplers and controllers are left out, because a
/// level may have very many, and the search for each sampler's scope visits all entries.
pub(crate) type Level = Vec<(Kind, ElementId)>;

/// Returns the elements that apply to samplers, with their kinds.
pub(crate) fn level(doc: &Document, elements: impl IntoIterator<Item = ElementId>) -> Level {
    let applies = |kind: &Kind| {
        use Kind::{After, Assertion, Before, Config, Listener, Timer};
        matches!(kind, Config | Timer | Before | After | Assertion | Listener)
    };
    let found = elements.into_iter().map(|id| (kind(doc, id), id));
    found.filter(|(kind, _)| applies(kind)).collect()
}

/// Collects the scope of a sampler from `levels`, ordered from the group's children to the sampler's children.
pub(crate) fn collect(levels: &[Level]) -> Scope {
    let mut scope = Scope::default();
    for (kind, id) in levels.iter().rev().flatten() {
        match kind {
            Kind::Config => scope.configs.push(*id),
            Kind::Timer => scope.timers.push(*id),
            Kind::Listener => scope.listeners.push(*id),
            _ => {}
        }
    }
    for (kind, id) in levels.iter().flatten() {
        match kind {
            Kind::Before => scope.before.push(*id),
            Kind::After => scope.after.push(*id),
            Kind::Assertion => scope.checks.push(*id),
            _ => {}
        }
    }
    scope
}

/// Collects the listeners and assertions of a Transaction Controller. The last level holds its children.
pub(crate) fn of_transaction(levels: &[Level]) -> Scope {
    let mut scope = collect(levels);
    let inwards = levels.iter().rev().flatten().filter(|(kind, _)| *kind == Kind::Assertion);
    scope.checks = inwards.map(|(_, id)| *id).collect();
    scope
}

/// Returns the kind of an element, such as sampler or timer. For an unknown class, the kind is guessed from the
/// children.
pub(crate) fn kind(doc: &Document, id: ElementId) -> Kind {
    let name = class(doc, id);
    support::find(name).map_or_else(
        || {
            let element = doc.element(id);
            let kinds = || element.children.iter().map(|id| kind(doc, *id));
            let holds = if element.children.is_empty() {
                Holds::Nothing
            } else if kinds().any(|kind| matches!(kind, Kind::Sampler | Kind::Controller)) {
                Holds::Samplers
            } else {
                Holds::Others
            };
            support::guess(name, &element.gui_class, holds)
        },
        |class| class.kind,
    )
}

/// Returns the class name of an element, as written in the table of [`support`].
pub(crate) fn class(doc: &Document, id: ElementId) -> &str {
    support::class_name(&doc.element(id).test_class)
}

/// Returns the enabled children of an element, in the order of the file.
pub(crate) fn children(doc: &Document, id: ElementId) -> Vec<ElementId> {
    doc.element(id).children.iter().copied().filter(|id| doc.element(*id).enabled).collect()
}

/// True for a Test Fragment that no Module Controller has inserted.
pub(crate) fn is_unused_fragment(doc: &Document, id: ElementId) -> bool {
    let around = doc.element(id).parent;
    class(doc, id) == "TestFragmentController"
        && around.is_none_or(|id| !matches!(kind(doc, id), Kind::Controller | Kind::Group))
}
