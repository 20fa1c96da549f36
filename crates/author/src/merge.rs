//! A three-way merge: the changes of two plans since a third.
//!
//! The result is "ours" with the changes of "theirs". Changes of different properties, members of collections or elements
//! do not conflict. In a conflict the result keeps ours, and [`Merged::conflicts`] lists both values, so the result is
//! always a plan. Bytes that theirs did not change are those of ours.

use std::collections::HashMap;

use jmx::ElementId;
use serde::Serialize;

use crate::edit::{Applied, Op, Shift};
use crate::pairing::Pairing;
use crate::{Plan, Refusal, layout};

mod props;

/// The result of a merge.
#[derive(Debug, Clone)]
pub struct Merged {
    /// Ours with the changes of theirs.
    pub plan: Plan,
    /// Changes of theirs that were not made.
    pub conflicts: Vec<Conflict>,
}

/// A change of theirs that was not made, because ours changed the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Path of the element, in ours if it exists there, else in the base or in theirs.
    pub path: String,
    /// Path of the property; empty for a conflict about the whole element.
    pub prop: String,
    /// Value in the base; absent if the property does not exist there.
    pub base: Option<String>,
    /// Value in ours, which the result has.
    pub ours: Option<String>,
    /// Value in theirs.
    pub theirs: Option<String>,
    /// Sentence about the two changes.
    pub reason: String,
}

/// Merges the changes of `theirs` since `base` into `ours`. Fails if `ours` cannot be edited.
pub fn merge(base: &Plan, ours: &Plan, theirs: &Plan) -> Result<Merged, Refusal> {
    ours.check_editable()?;
    if ours.text() == theirs.text() || base.text() == theirs.text() {
        return Ok(Merged { plan: ours.clone(), conflicts: Vec::new() });
    }
    let mut merge = Merge {
        base,
        ours,
        theirs,
        to_ours: Pairing::new(base, ours),
        to_theirs: Pairing::new(base, theirs),
        plan: ours.clone(),
        current: ours.document().ids().map(|id| Some(id.index())).collect(),
        added: HashMap::new(),
        added_at: HashMap::new(),
        conflicts: Vec::new(),
    };
    merge.props()?;
    merge.additions();
    merge.moves();
    merge.removals();
    Ok(Merged { plan: merge.plan, conflicts: merge.conflicts })
}

struct Merge<'a> {
    base: &'a Plan,
    ours: &'a Plan,
    theirs: &'a Plan,
    to_ours: Pairing<'a>,
    to_theirs: Pairing<'a>,
    /// The result so far.
    plan: Plan,
    /// Index in the result of each element of ours; `None` once it is removed.
    current: Vec<Option<usize>>,
    /// Element of ours that stands for an element that theirs added, too.
    added: HashMap<ElementId, ElementId>,
    /// Index in the result of each element that was added from theirs.
    added_at: HashMap<ElementId, usize>,
    conflicts: Vec<Conflict>,
}

impl Merge<'_> {
    /// Merges attributes and properties of elements that all three plans have.
    fn props(&mut self) -> Result<(), Refusal> {
        let mut splices = Vec::new();
        for (id, _) in self.base.paths() {
            let (Some(ours), Some(theirs)) = (self.to_ours.new_of(id), self.to_theirs.new_of(id))
            else {
                continue;
            };
            let mut found = props::merge(
                (self.base, self.base.node(id)),
                (self.ours, self.ours.node(ours)),
                (self.theirs, self.theirs.node(theirs)),
            );
            splices.append(&mut found.splices);
            for conflict in found.conflicts {
                self.conflicts.push(Conflict { path: self.ours.path(ours), ..conflict });
            }
        }
        self.plan.splice(splices)?;
        Ok(())
    }

    /// Returns the element of the result that corresponds to an element of theirs.
    fn counterpart(&self, theirs: ElementId) -> Option<ElementId> {
        if let Some(at) = self.added_at.get(&theirs) {
            return self.plan.document().id(*at);
        }
        let ours = match self.added.get(&theirs) {
            Some(ours) => *ours,
            None => self.to_ours.new_of(self.to_theirs.old_of(theirs)?)?,
        };
        self.plan.document().id(self.current[ours.index()]?)
    }

    /// Returns the parent and the position in the result for an element of theirs: behind the nearest sibling before it
    /// that the result has under the same parent. `None` if the result does not have the parent.
    fn place(&self, theirs: ElementId) -> Option<(Option<ElementId>, usize)> {
        let above = self.theirs.document().element(theirs).parent;
        let parent = match above {
            Some(above) => Some(self.counterpart(above)?),
            None => None,
        };
        let own = self.counterpart(theirs);
        let children: Vec<_> =
            self.plan.children(parent).iter().filter(|id| Some(**id) != own).collect();
        let siblings = self.theirs.children(above);
        let at = siblings.iter().position(|id| *id == theirs).unwrap_or_default();
        let before = siblings[..at].iter().rev().find_map(|sibling| {
            let found = self.counterpart(*sibling)?;
            children.iter().position(|id| **id == found)
        });
        Some((parent, before.map_or(0, |at| at + 1)))
    }

    /// Inserts the elements that theirs added.
    fn additions(&mut self) {
        let mut done = 0;
        for (id, path) in self.theirs.paths() {
            if id.index() < done || self.to_theirs.old_of(id).is_some() {
                continue;
            }
            if let Some(twin) = self.twin(id) {
                self.added.insert(id, twin);
                let text = |plan: &Plan, id| layout::canonical(plan.xml(), plan.node(id));
                if text(self.ours, twin) != text(self.theirs, id) {
                    self.conflict(path, "both plans added the element, with different properties");
                }
                continue;
            }
            let Some((parent, index)) = self.place(id) else {
                let parent = self.theirs.document().element(id).parent;
                let is_reported = parent.is_some_and(|id| self.to_theirs.old_of(id).is_none());
                if !is_reported {
                    self.conflict(path, "theirs added the element, ours removed its parent");
                }
                continue;
            };
            let size = self.theirs.size(id);
            // A subtree without elements of the base is inserted at once, any other element by element.
            let is_whole = (id.index()..id.index() + size).all(|index| {
                let below = self.theirs.document().id(index);
                below.is_some_and(|id| self.to_theirs.old_of(id).is_none())
            });
            let fragment = self.fragment(id, parent, is_whole);
            let count = if is_whole { size } else { 1 };
            match self.plan.insert_fragment(parent, index, &fragment, count) {
                Ok(applied) => {
                    self.shift(&applied.shifts, None);
                    let at = applied.element.map_or(0, ElementId::index);
                    for offset in 0..count {
                        if let Some(id) = self.theirs.document().id(id.index() + offset) {
                            self.added_at.insert(id, at + offset);
                        }
                    }
                    done = id.index() + count;
                }
                Err(refusal) => self.conflict(path, &refusal.message),
            }
        }
    }

    /// Returns the element that ours added with the tag, name and parent of an element that theirs added.
    fn twin(&self, theirs: ElementId) -> Option<ElementId> {
        let element = self.theirs.document().element(theirs);
        let parent = match element.parent {
            None => None,
            Some(above) => Some(match self.added.get(&above) {
                Some(ours) => *ours,
                None => self.to_ours.new_of(self.to_theirs.old_of(above)?)?,
            }),
        };
        let taken: Vec<_> = self.added.values().collect();
        let is_twin = |id: &&ElementId| {
            let other = self.ours.document().element(**id);
            let is_free = self.to_ours.old_of(**id).is_none() && !taken.contains(id);
            is_free && other.tag == element.tag && other.name == element.name
        };
        self.ours.children(parent).iter().find(is_twin).copied()
    }

    /// Returns the text of an element of theirs for its place in the result.
    fn fragment(&self, id: ElementId, parent: Option<ElementId>, is_whole: bool) -> String {
        let xml = self.plan.xml();
        let level = parent.map_or(2, |id| xml.node(self.plan.node(id)).depth + 1);
        if is_whole {
            return self.theirs.moved_text(id, level);
        }
        let own = layout::fragment(self.theirs.xml(), self.theirs.node(id), level, true);
        format!("{own}\n{}<hashTree/>", "  ".repeat(level))
    }

    /// Moves the elements that theirs moved.
    fn moves(&mut self) {
        for (theirs, _) in self.theirs.paths() {
            let Some(base) = self.to_theirs.old_of(theirs) else { continue };
            if !self.to_theirs.is_moved(base) {
                continue;
            }
            let path = self.base.path(base);
            let Some(ours) = self.to_ours.new_of(base) else {
                self.conflict(path, "theirs moved the element, ours removed it");
                continue;
            };
            let (Some(place), Some(element)) = (self.place(theirs), self.counterpart(theirs))
            else {
                self.conflict(path, "theirs moved the element below one that ours removed");
                continue;
            };
            let (parent, index) = place;
            if self.to_ours.is_moved(base) {
                if self.plan.document().element(element).parent != parent {
                    self.conflict(self.ours.path(ours), "both plans moved the element");
                }
                continue;
            }
            match self.plan.apply(&Op::Move { element, parent, index }) {
                Ok(applied) => self.moved(&applied),
                Err(refusal) => self.conflict(path, &refusal.message),
            }
        }
    }

    /// Removes the elements that theirs removed, unless ours changed them.
    fn removals(&mut self) {
        for (base, path) in self.base.paths() {
            if self.to_theirs.new_of(base).is_some() {
                continue;
            }
            let parent = self.base.document().element(base).parent;
            if parent.is_some_and(|parent| self.to_theirs.new_of(parent).is_none()) {
                continue;
            }
            let Some(ours) = self.to_ours.new_of(base) else { continue };
            let Some(element) = self.current[ours.index()] else { continue };
            let Some(element) = self.plan.document().id(element) else { continue };
            if !self.is_untouched(ours, element) {
                self.conflict(path, "theirs removed the element, ours changed it");
                continue;
            }
            match self.plan.apply(&Op::Remove { element }) {
                Ok(applied) => self.shift(&applied.shifts, None),
                Err(refusal) => self.conflict(path, &refusal.message),
            }
        }
    }

    /// True if a subtree of ours that theirs removed has nothing new: every element still in it is one that theirs
    /// removed, too, and equals its element of the base.
    fn is_untouched(&self, ours: ElementId, element: ElementId) -> bool {
        let inside = element.index()..element.index() + self.plan.size(element);
        let known: HashMap<usize, ElementId> = self
            .ours
            .document()
            .ids()
            .filter_map(|id| Some((self.current[id.index()]?, id)))
            .collect();
        debug_assert_eq!(known.get(&element.index()), Some(&ours));
        inside.into_iter().all(|index| {
            let Some(ours) = known.get(&index) else { return false };
            let Some(base) = self.to_ours.old_of(*ours) else { return false };
            let text = |plan: &Plan, id| layout::canonical(plan.xml(), plan.node(id));
            self.to_theirs.new_of(base).is_none() && text(self.ours, *ours) == text(self.base, base)
        })
    }

    fn moved(&mut self, applied: &Applied) {
        let Some(Shift::Removed { at, count }) = applied.shifts.first().copied() else { return };
        self.shift(&applied.shifts, Some(at..at + count));
    }

    /// Adapts the indices in the result to an edit. `moved` are the indices of elements that the edit moved.
    fn shift(&mut self, shifts: &[Shift], moved: Option<std::ops::Range<usize>>) {
        let shifted = |index: usize| {
            let mut at = Some(index);
            for shift in shifts {
                at = match (*shift, at) {
                    (Shift::Removed { at: from, count }, Some(at)) if at >= from + count => {
                        Some(at - count)
                    }
                    (Shift::Removed { at: from, .. }, Some(at)) if at >= from => None,
                    (Shift::Inserted { at: from, count }, Some(at)) if at >= from => {
                        Some(at + count)
                    }
                    (Shift::Inserted { at: from, .. }, None) => moved
                        .as_ref()
                        .filter(|moved| moved.contains(&index))
                        .map(|moved| from + index - moved.start),
                    (_, at) => at,
                };
            }
            at
        };
        for place in &mut self.current {
            *place = place.and_then(shifted);
        }
        self.added_at =
            self.added_at.iter().filter_map(|(id, index)| Some((*id, shifted(*index)?))).collect();
    }

    fn conflict(&mut self, path: String, reason: &str) {
        self.conflicts.push(Conflict {
            path,
            prop: String::new(),
            base: None,
            ours: None,
            theirs: None,
            reason: reason.to_owned(),
        });
    }
}

impl Conflict {
    /// Returns the conflict as lines for people.
    pub fn text(&self) -> String {
        if self.prop.is_empty() {
            return format!("conflict  {}: {}\n", self.path, self.reason);
        }
        let shown = |value: &Option<String>| {
            value.as_ref().map_or("absent".to_owned(), |value| format!("{value:?}"))
        };
        format!(
            "conflict  {}: {}: {}\n  base    {}\n  ours    {}\n  theirs  {}\n",
            self.path,
            self.prop,
            self.reason,
            shown(&self.base),
            shown(&self.ours),
            shown(&self.theirs)
        )
    }
}
