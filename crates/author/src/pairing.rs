//! Pairs of elements that correspond in two plans.
//!
//! Children of paired elements are paired by tag and name in their order (longest common subsequence), then by tag and
//! name in another order, then by tag if most properties are the same: renamed elements. Elements left over are paired
//! with elements elsewhere in the plan: moved elements.

use std::collections::HashMap;

use jmx::ElementId;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::label::{Flat, flatten};
use crate::{Plan, layout};

/// Maximum number of pairs of siblings that are compared by their properties.
const MOST_COMPARED: usize = 10_000;

/// The pairs of elements of two plans.
pub(crate) struct Pairing<'a> {
    old: &'a Plan,
    new: &'a Plan,
    /// New element of each old one.
    forward: Vec<Option<ElementId>>,
    /// Old element of each new one.
    backward: Vec<Option<ElementId>>,
    /// True for each old element that has another order among its siblings or another parent.
    moved: Vec<bool>,
    /// Paired elements whose children are not paired yet.
    open: Vec<(ElementId, ElementId)>,
}

impl<'a> Pairing<'a> {
    pub(crate) fn new(old: &'a Plan, new: &'a Plan) -> Self {
        let mut pairing = Self {
            old,
            new,
            forward: vec![None; old.document().len()],
            backward: vec![None; new.document().len()],
            moved: vec![false; old.document().len()],
            open: Vec::new(),
        };
        pairing.pair_children(None, None);
        pairing.descend();
        pairing.pair_elsewhere();
        pairing
    }

    /// Returns the new element of an old one.
    pub(crate) fn new_of(&self, old: ElementId) -> Option<ElementId> {
        self.forward[old.index()]
    }

    /// Returns the old element of a new one.
    pub(crate) fn old_of(&self, new: ElementId) -> Option<ElementId> {
        self.backward[new.index()]
    }

    /// True if a paired element has another parent or another order among its siblings.
    pub(crate) fn is_moved(&self, old: ElementId) -> bool {
        self.moved[old.index()]
    }

    fn descend(&mut self) {
        while let Some((old, new)) = self.open.pop() {
            self.pair_children(Some(old), Some(new));
        }
    }

    fn pair(&mut self, old: ElementId, new: ElementId, moved: bool) {
        self.forward[old.index()] = Some(new);
        self.backward[new.index()] = Some(old);
        self.moved[old.index()] = moved;
        self.open.push((old, new));
    }

    fn pair_children(&mut self, old_parent: Option<ElementId>, new_parent: Option<ElementId>) {
        let (old, new) = (self.old, self.new);
        let left: Vec<_> = free(old.children(old_parent), &self.forward);
        let right: Vec<_> = free(new.children(new_parent), &self.backward);
        let left_keys: Vec<_> = left.iter().map(|id| key(old, *id)).collect();
        let right_keys: Vec<_> = right.iter().map(|id| key(new, *id)).collect();
        for op in capture_diff_slices(Algorithm::Myers, &left_keys, &right_keys) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                for at in 0..len {
                    self.pair(left[old_index + at], right[new_index + at], false);
                }
            }
        }
        for one in free(&left, &self.forward) {
            let same = |id: &ElementId| key(new, *id) == key(old, one);
            if let Some(other) = free(&right, &self.backward).into_iter().find(same) {
                self.pair(one, other, true);
            }
        }
        let (left, right) = (free(&left, &self.forward), free(&right, &self.backward));
        if left.len() * right.len() > MOST_COMPARED {
            return;
        }
        for one in left {
            let tag = &old.document().element(one).tag;
            let alike =
                |id: &ElementId| new.document().element(*id).tag == *tag && self.is_alike(one, *id);
            if let Some(other) = free(&right, &self.backward).into_iter().find(alike) {
                self.pair(one, other, false);
            }
        }
    }

    /// Pairs elements that have different parents.
    fn pair_elsewhere(&mut self) {
        let (old, new) = (self.old, self.new);
        let mut left_over: HashMap<_, Vec<ElementId>> = HashMap::new();
        for (id, _) in new.paths() {
            if self.backward[id.index()].is_none() {
                left_over.entry(key(new, id)).or_default().push(id);
            }
        }
        for (one, _) in old.paths() {
            if self.forward[one.index()].is_some() {
                continue;
            }
            let Some(candidates) = left_over.get(&key(old, one)) else { continue };
            let candidates = free(candidates, &self.backward);
            let text = layout::canonical(old.xml(), old.node(one));
            let equal = |id: &&ElementId| layout::canonical(new.xml(), new.node(**id)) == text;
            let found = candidates.iter().find(equal).copied().or_else(|| {
                let [only] = candidates[..] else { return None };
                self.is_alike(one, only).then_some(only)
            });
            if let Some(other) = found {
                self.pair(one, other, true);
                self.descend();
            }
        }
    }

    /// True if at least half of the properties are the same.
    fn is_alike(&self, old: ElementId, new: ElementId) -> bool {
        let left = flatten(self.old.xml(), self.old.node(old));
        let right = flatten(self.new.xml(), self.new.node(new));
        let known: HashMap<&str, &Flat> = right.iter().map(|one| (&*one.path, one)).collect();
        let same = left.iter().filter(|one| known.get(&*one.path) == Some(one)).count();
        2 * same >= left.len().max(right.len())
    }
}

/// Returns the elements that have no pair yet.
fn free(ids: &[ElementId], pairs: &[Option<ElementId>]) -> Vec<ElementId> {
    ids.iter().filter(|id| pairs[id.index()].is_none()).copied().collect()
}

/// Returns tag and name of an element.
fn key(plan: &Plan, id: ElementId) -> (&str, &str) {
    let element = plan.document().element(id);
    (&element.tag, &element.name)
}
