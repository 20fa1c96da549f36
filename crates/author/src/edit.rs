//! One edit of a plan, with its undo.
//!
//! An edit changes only the bytes of what it changes. Its undo restores the bytes before it. Elements get new ids by an
//! edit that adds, removes or moves elements; [`Applied::element`] is the edited element's new id.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jmx::ElementId;
use jmx::writer::{self, NewElement};

use crate::label::{self, Target};
use crate::splice::Splice;
use crate::tree::{NodeId, Role};
use crate::{Plan, Refusal, layout, place};

/// The tag of a property that [`Op::Set`] creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewKind {
    /// A `stringProp`.
    String,
    /// A `boolProp`.
    Bool,
    /// An `intProp`.
    Int,
    /// A `longProp`.
    Long,
}

/// One edit of a plan.
#[derive(Debug, Clone)]
pub enum Op {
    /// Sets a property or attribute, such as `HTTPSampler.path` or `@guiclass`.
    Set {
        /// The element.
        element: ElementId,
        /// Path of the property below the element.
        prop: String,
        /// New value, without escapes.
        value: String,
        /// Tag of the property if it does not exist; `None` to fail in that case.
        create: Option<NewKind>,
    },
    /// Removes a property.
    Unset {
        /// The element.
        element: ElementId,
        /// Path of the property below the element.
        prop: String,
    },
    /// Inserts an element with its `hashTree`, in canonical form.
    Insert {
        /// The new parent; `None` for the top level.
        parent: Option<ElementId>,
        /// Position among the children of the parent, from 0. A greater number than there are children is the end.
        index: usize,
        /// XML of the element, optionally followed by its `hashTree`.
        text: String,
    },
    /// Moves an element with its children.
    Move {
        /// The element.
        element: ElementId,
        /// The new parent; `None` for the top level.
        parent: Option<ElementId>,
        /// Position among the children of the new parent, from 0, without the element itself.
        index: usize,
    },
    /// Removes an element with its children.
    Remove {
        /// The element.
        element: ElementId,
    },
    /// Enables or disables an element.
    Enable {
        /// The element.
        element: ElementId,
        /// True to enable the element.
        enabled: bool,
    },
    /// Renames an element.
    Rename {
        /// The element.
        element: ElementId,
        /// New name.
        name: String,
    },
    /// Puts siblings into a new controller.
    Wrap {
        /// The first element of the siblings.
        first: ElementId,
        /// Number of siblings, at least 1.
        count: usize,
        /// The controller, without children.
        controller: NewElement,
    },
}

impl Op {
    /// Returns the edit that inserts a new element.
    pub fn insert(parent: Option<ElementId>, index: usize, element: &NewElement) -> Self {
        Self::Insert { parent, index, text: writer::write_element(element, 0) }
    }
}

/// The result of an edit.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The element that was edited, inserted, moved or wrapped around others; `None` after its removal.
    pub element: Option<ElementId>,
    /// The undo of the edit.
    pub undo: Undo,
    /// Changes of ids, in order.
    pub(crate) shifts: Vec<Shift>,
}

/// The undo of an edit. It fits the plan directly after the edit.
#[derive(Debug, Clone, Default)]
pub struct Undo {
    steps: Vec<Vec<Splice>>,
    /// Hash of the text after the edit.
    after: u64,
}

/// A change of the ids of elements: `count` elements at the position `at` in document order were added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    Removed { at: usize, count: usize },
    Inserted { at: usize, count: usize },
}

impl Plan {
    /// Makes one edit. On failure the plan is unchanged.
    pub fn apply(&mut self, op: &Op) -> Result<Applied, Refusal> {
        self.check_editable()?;
        let is_structural =
            matches!(op, Op::Insert { .. } | Op::Move { .. } | Op::Remove { .. } | Op::Wrap { .. });
        if is_structural && self.has_references() {
            return Err(Refusal::new(
                "the file has tags that refer to others by position (reference=): open it in \
                 JMeter and save it, then add, move or remove elements",
            ));
        }
        match op {
            Op::Set { element, prop, value, create } => {
                let splices = self.set(*element, prop, value, *create)?;
                self.in_place(*element, splices)
            }
            Op::Unset { element, prop } => {
                let splices = self.unset(*element, prop)?;
                self.in_place(*element, splices)
            }
            Op::Enable { element, enabled } => {
                let splices = self.enable(*element, *enabled)?;
                self.in_place(*element, splices)
            }
            Op::Rename { element, name } => {
                let splices = self.rename(*element, name)?;
                self.in_place(*element, splices)
            }
            Op::Insert { parent, index, text } => self.insert(*parent, *index, text),
            Op::Remove { element } => self.remove(*element),
            Op::Move { element, parent, index } => self.relocate(*element, *parent, *index),
            Op::Wrap { first, count, controller } => self.wrap(*first, *count, controller),
        }
    }

    /// Undoes an edit. Fails if the plan has changed since.
    pub fn undo(&mut self, undo: Undo) -> Result<(), Refusal> {
        if self.hash() != undo.after {
            return Err(Refusal::new("the plan has changed since the edit"));
        }
        for step in undo.steps.into_iter().rev() {
            self.splice(step)?;
        }
        Ok(())
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.text().hash(&mut hasher);
        hasher.finish()
    }

    fn applied(
        &self,
        element: Option<usize>,
        steps: Vec<Vec<Splice>>,
        shifts: Vec<Shift>,
    ) -> Applied {
        let element = element.and_then(|index| self.document().id(index));
        Applied { element, undo: Undo { steps, after: self.hash() }, shifts }
    }

    /// Makes replacements that change no ids.
    pub(crate) fn in_place(
        &mut self,
        element: ElementId,
        splices: Vec<Splice>,
    ) -> Result<Applied, Refusal> {
        let steps = if splices.is_empty() { Vec::new() } else { vec![self.splice(splices)?] };
        Ok(self.applied(Some(element.index()), steps, Vec::new()))
    }

    pub(crate) fn set(
        &self,
        element: ElementId,
        prop: &str,
        value: &str,
        create: Option<NewKind>,
    ) -> Result<Vec<Splice>, Refusal> {
        let xml = self.xml();
        match (label::find(xml, self.node(element), prop), create) {
            (Ok(Target::Node(id)), _) => place::value(xml, id, value, self.line_end()),
            (Ok(Target::Attribute(id, name)), _) => {
                if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
                    return Err(Refusal::new(format!("@{name} is not the name of an attribute")));
                }
                Ok(place::attribute(xml, id, &name, Some(value)).into_iter().collect())
            }
            (Err(_), Some(kind)) => Ok(vec![self.create(element, prop, value, kind)?]),
            (Err(refusal), None) => Err(refusal),
        }
    }

    /// Adds a property behind the last one of its parent.
    fn create(
        &self,
        element: ElementId,
        prop: &str,
        value: &str,
        kind: NewKind,
    ) -> Result<Splice, Refusal> {
        let xml = self.xml();
        let parts = label::split(prop);
        let (name, above) = parts.split_last().unwrap_or((&"", &[]));
        let mut at = self.node(element);
        if !above.is_empty() {
            match label::find(xml, at, &above.join("/"))? {
                Target::Node(id) => at = id,
                Target::Attribute(..) => {
                    return Err(Refusal::new("an attribute has no properties"));
                }
            }
        }
        if !matches!(xml.node(at).role, Role::Element | Role::Object | Role::List) {
            return Err(Refusal::new(format!("{} has no properties", above.join("/"))));
        }
        let tag = match kind {
            NewKind::String => "stringProp",
            NewKind::Bool => "boolProp",
            NewKind::Int => "intProp",
            NewKind::Long => "longProp",
        };
        let mut text = format!("<{tag} name=\"");
        writer::push_attribute_value(&mut text, &label::unescape(name));
        text.push_str("\">");
        writer::push_text(&mut text, value);
        text.push_str(&format!("</{tag}>"));
        let last = xml.node(at).children.last().copied();
        Ok(place::insert(xml, at, last, self.line_end(), &text))
    }

    fn unset(&self, element: ElementId, prop: &str) -> Result<Vec<Splice>, Refusal> {
        let xml = self.xml();
        match label::find(xml, self.node(element), prop)? {
            Target::Attribute(id, name) => {
                Ok(place::attribute(xml, id, &name, None).into_iter().collect())
            }
            Target::Node(id) => {
                let parent = xml.node(id).parent.unwrap_or_default();
                Ok(vec![place::remove(xml, parent, xml.node(id).whole())])
            }
        }
    }

    pub(crate) fn enable(&self, id: ElementId, enabled: bool) -> Result<Vec<Splice>, Refusal> {
        let element = self.document().element(id);
        if element.enabled == enabled {
            return Ok(Vec::new());
        }
        let (xml, node) = (self.xml(), self.node(id));
        // Files of JMeter before 5.6 have the attribute on all elements, newer ones only on disabled elements.
        let is_written = || {
            let all = self.document().ids().map(|id| self.node(id));
            all.into_iter()
                .any(|node| xml.attribute_value(node, "enabled").as_deref() == Some("true"))
        };
        let value = if enabled { is_written().then_some("true") } else { Some("false") };
        let mut splices: Vec<_> =
            place::attribute(xml, node, "enabled", value).into_iter().collect();
        splices.extend(self.own_value(id, "TestElement.enabled", &enabled.to_string())?);
        Ok(splices)
    }

    pub(crate) fn rename(&self, id: ElementId, name: &str) -> Result<Vec<Splice>, Refusal> {
        let attribute = place::attribute(self.xml(), self.node(id), "testname", Some(name));
        let mut splices: Vec<_> = attribute.into_iter().collect();
        splices.extend(self.own_value(id, "TestElement.name", name)?);
        Ok(splices)
    }

    /// Sets a property that overrides an attribute, if the element has it.
    fn own_value(&self, id: ElementId, name: &str, value: &str) -> Result<Vec<Splice>, Refusal> {
        let xml = self.xml();
        match label::child(xml, self.node(id), name) {
            Some(prop) => place::value(xml, prop, value, self.line_end()),
            None => Ok(Vec::new()),
        }
    }

    fn insert(
        &mut self,
        parent: Option<ElementId>,
        index: usize,
        text: &str,
    ) -> Result<Applied, Refusal> {
        let level = self.level(parent);
        let text = format!("<jmeterTestPlan><hashTree>{}</hashTree></jmeterTestPlan>", text.trim());
        let new = Plan::read("new element", text.into_bytes())?;
        let error = new.diags().iter().find(|diag| diag.severity == jmx::Severity::Error);
        if let Some(error) = error {
            return Err(Refusal::new(format!("the new element is invalid: {}", error.message)));
        }
        let [root] = new.document().roots() else {
            return Err(Refusal::new("the text must be one element with its hashTree"));
        };
        let (xml, node) = (new.xml(), new.node(*root));
        let own = layout::fragment(xml, node, level, true);
        let tree = match xml.tree_of(node) {
            Some(tree) => layout::fragment(xml, tree, level, true),
            None => "<hashTree/>".to_owned(),
        };
        let fragment = format!("{own}\n{}{tree}", "  ".repeat(level));
        self.insert_fragment(parent, index, &fragment, new.size(*root))
    }

    /// Level of indentation of an element's children.
    fn level(&self, parent: Option<ElementId>) -> usize {
        parent.map_or(2, |id| self.xml().node(self.node(id)).depth + 1)
    }

    /// Inserts an element with its `hashTree`, whose text is made for its level. `count` is its number of elements.
    pub(crate) fn insert_fragment(
        &mut self,
        parent: Option<ElementId>,
        index: usize,
        fragment: &str,
        count: usize,
    ) -> Result<Applied, Refusal> {
        let children = self.children(parent);
        let index = index.min(children.len());
        // Position of the new element in document order.
        let at = match (children.get(index), parent) {
            (Some(next), _) => next.index(),
            (None, Some(parent)) => parent.index() + self.size(parent),
            (None, None) => self.document().len(),
        };
        let line_end = self.line_end();
        let mut fragment = fragment.replace("\r\n", "\n");
        if line_end != "\n" {
            fragment = fragment.replace('\n', line_end);
        }
        let xml = self.xml();
        let splice = match (self.tree_node(parent), parent) {
            (Some(tree), _) => {
                let before = index.checked_sub(1).map(|before| self.node(children[before]));
                let before = before.map(|node| xml.tree_of(node).unwrap_or(node));
                place::insert(xml, tree, before, line_end, &fragment)
            }
            (None, Some(parent)) => {
                let node = self.node(parent);
                let own = "  ".repeat(xml.node(node).depth);
                let tree =
                    format!("<hashTree>{line_end}{own}  {fragment}{line_end}{own}</hashTree>");
                let around = xml.node(node).parent.unwrap_or_default();
                place::insert(xml, around, Some(node), line_end, &tree)
            }
            (None, None) => return Err(Refusal::new("the file has no hashTree")),
        };
        let steps = vec![self.splice(vec![splice])?];
        Ok(self.applied(Some(at), steps, vec![Shift::Inserted { at, count }]))
    }

    fn remove(&mut self, element: ElementId) -> Result<Applied, Refusal> {
        let (at, count) = (element.index(), self.size(element));
        let (xml, node) = (self.xml(), self.node(element));
        let around = xml.node(node).parent.unwrap_or_default();
        let splice = place::remove(xml, around, xml.extent(node));
        let steps = vec![self.splice(vec![splice])?];
        Ok(self.applied(None, steps, vec![Shift::Removed { at, count }]))
    }

    /// Moves an element: removes its text and inserts it elsewhere, with the indentation of its new level.
    fn relocate(
        &mut self,
        element: ElementId,
        parent: Option<ElementId>,
        index: usize,
    ) -> Result<Applied, Refusal> {
        let (at, count) = (element.index(), self.size(element));
        let target = parent.map(ElementId::index);
        if target.is_some_and(|target| (at..at + count).contains(&target)) {
            return Err(Refusal::new("an element cannot be moved into itself"));
        }
        let fragment = self.moved_text(element, self.level(parent));
        let before = self.clone();
        let mut applied = self.remove(element)?;
        let target = target.map(|target| if target > at { target - count } else { target });
        let parent = target.and_then(|target| self.document().id(target));
        match self.insert_fragment(parent, index, &fragment, count) {
            Ok(inserted) => {
                applied.element = inserted.element;
                applied.undo.steps.extend(inserted.undo.steps);
                applied.undo.after = inserted.undo.after;
                applied.shifts.extend(inserted.shifts);
                Ok(applied)
            }
            Err(refusal) => {
                *self = before;
                Err(refusal)
            }
        }
    }

    /// Returns the text of an element with its `hashTree` for another level of indentation.
    pub(crate) fn moved_text(&self, element: ElementId, level: usize) -> String {
        let (xml, node) = (self.xml(), self.node(element));
        let top: Vec<NodeId> = [Some(node), xml.tree_of(node)].into_iter().flatten().collect();
        let levels = level as isize - xml.node(node).depth as isize;
        let mut text = place::reindented(xml, &top, levels);
        if top.len() == 1 {
            text.push_str(&format!("\n{}<hashTree/>", "  ".repeat(level)));
        }
        text
    }

    fn wrap(
        &mut self,
        first: ElementId,
        count: usize,
        controller: &NewElement,
    ) -> Result<Applied, Refusal> {
        if !controller.children.is_empty() || count == 0 {
            return Err(Refusal::new(
                "the controller must be empty, and wrap at least one element",
            ));
        }
        let siblings = self.children(self.document().element(first).parent);
        let from = siblings.iter().position(|id| *id == first).unwrap_or_default();
        let Some(wrapped) = siblings.get(from..from + count) else {
            return Err(Refusal::new("there are fewer siblings than to be wrapped"));
        };
        let xml = self.xml();
        let node = self.node(first);
        let level = xml.node(node).depth;
        let mut top = Vec::new();
        for id in wrapped {
            let node = self.node(*id);
            top.push(node);
            top.extend(xml.tree_of(node));
        }
        let inside = place::reindented(xml, &top, 1);
        let end = top.last().map_or(0, |last| xml.node(*last).end.end);
        let line_end = self.line_end();
        let own = "  ".repeat(level);
        let written = writer::write_element(controller, level).replace('\n', line_end);
        let start = written.trim_start().trim_end().trim_end_matches("<hashTree/>");
        let text = format!("{start}<hashTree>{line_end}{own}  {inside}{line_end}{own}</hashTree>");
        let splice = Splice::new(xml.node(node).start.start..end, text);
        let steps = vec![self.splice(vec![splice])?];
        let at = first.index();
        Ok(self.applied(Some(at), steps, vec![Shift::Inserted { at, count: 1 }]))
    }
}

#[cfg(test)]
mod tests;
