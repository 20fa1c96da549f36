//! The differences of two plans: added, removed, moved and changed elements, and the changed properties.
//!
//! White space, escapes and `enabled="true"` are no differences. [`Diff::text`] is for people, [`Diff::json`] for
//! programs.

use std::collections::{HashMap, HashSet};

use jmx::ElementId;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::Plan;
use crate::label::{Flat, flatten};
use crate::pairing::Pairing;

/// The differences of two plans. Removed elements come first, the others in the order of the new plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// The differences.
    pub changes: Vec<Change>,
}

/// One difference of two plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub enum Change {
    /// An element that only the new plan has.
    Added {
        /// Path of the element in the new plan.
        path: String,
        /// XML tag of the element.
        class: String,
        /// Number of added elements in the subtree, the top one included.
        elements: usize,
    },
    /// An element that only the old plan has.
    Removed {
        /// Path of the element in the old plan.
        path: String,
        /// XML tag of the element.
        class: String,
        /// Number of removed elements in the subtree, the top one included.
        elements: usize,
    },
    /// An element with another parent or another order among its siblings.
    Moved {
        /// Path of the element in the old plan.
        from: String,
        /// Path of the element in the new plan.
        path: String,
        /// XML tag of the element.
        class: String,
    },
    /// An element with another name, state or property.
    Changed {
        /// Path of the element in the new plan.
        path: String,
        /// XML tag of the element.
        class: String,
        /// Differences of its properties.
        props: Vec<PropChange>,
    },
}

/// A difference of one property or attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PropChange {
    /// Path of the property. The name of an element is `@testname`, its state `@enabled`.
    pub prop: String,
    /// Value in the old plan; absent if the old plan does not have the property.
    pub before: Option<String>,
    /// Value in the new plan; absent if the new plan does not have the property.
    pub after: Option<String>,
    /// XML tags of the property in the old and the new plan, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<(String, String)>,
}

/// Returns the differences of two plans.
pub fn diff(old: &Plan, new: &Plan) -> Diff {
    let pairing = Pairing::new(old, new);
    let mut changes = Vec::new();
    let removed: Vec<_> = old.paths();
    let gone: HashSet<ElementId> =
        removed.iter().map(|(id, _)| *id).filter(|id| pairing.new_of(*id).is_none()).collect();
    for (id, path) in removed.iter().filter(|(id, _)| is_top(old, *id, &gone)) {
        let (class, elements) = (tag(old, *id), count(old, *id, &gone));
        changes.push(Change::Removed { path: path.clone(), class, elements });
    }
    let before: HashMap<ElementId, String> = removed.into_iter().collect();
    let all = new.paths();
    let fresh: HashSet<ElementId> =
        all.iter().map(|(id, _)| *id).filter(|id| pairing.old_of(*id).is_none()).collect();
    for (id, path) in all {
        let class = tag(new, id);
        let Some(from) = pairing.old_of(id) else {
            if is_top(new, id, &fresh) {
                changes.push(Change::Added { path, class, elements: count(new, id, &fresh) });
            }
            continue;
        };
        if pairing.is_moved(from) {
            let from = before.get(&from).cloned().unwrap_or_default();
            changes.push(Change::Moved { from, path: path.clone(), class: class.clone() });
        }
        let props = compare(old, from, new, id);
        if !props.is_empty() {
            changes.push(Change::Changed { path, class, props });
        }
    }
    Diff { changes }
}

fn tag(plan: &Plan, id: ElementId) -> String {
    plan.document().element(id).tag.clone()
}

/// True if an element is in a set and its parent is not.
fn is_top(plan: &Plan, id: ElementId, set: &HashSet<ElementId>) -> bool {
    let parent = plan.document().element(id).parent;
    set.contains(&id) && !parent.is_some_and(|parent| set.contains(&parent))
}

/// Returns the number of elements of a set in a subtree.
fn count(plan: &Plan, id: ElementId, set: &HashSet<ElementId>) -> usize {
    let mut found = 0;
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        found += usize::from(set.contains(&id));
        open.extend(&plan.document().element(id).children);
    }
    found
}

/// Compares name, state and properties of two elements.
fn compare(old: &Plan, from: ElementId, new: &Plan, to: ElementId) -> Vec<PropChange> {
    let (left, right) = (old.document().element(from), new.document().element(to));
    let mut changes = Vec::new();
    let mut own = |prop: &str, before: &str, after: &str| {
        if before != after {
            changes.push(PropChange {
                prop: prop.to_owned(),
                before: Some(before.to_owned()),
                after: Some(after.to_owned()),
                tags: None,
            });
        }
    };
    own("@testname", &left.name, &right.name);
    own("@enabled", &left.enabled.to_string(), &right.enabled.to_string());
    let (left, right) = (flatten(old.xml(), old.node(from)), flatten(new.xml(), new.node(to)));
    let known: HashMap<&str, &Flat> = left.iter().map(|one| (&*one.path, one)).collect();
    let kept: HashSet<&str> = right.iter().map(|one| &*one.path).collect();
    for one in left.iter().filter(|one| !kept.contains(&*one.path)) {
        changes.push(PropChange {
            prop: one.path.clone(),
            before: Some(one.value.clone()),
            after: None,
            tags: None,
        });
    }
    for one in &right {
        let before = known.get(&*one.path);
        if before.is_some_and(|before| before.value == one.value && before.tag == one.tag) {
            continue;
        }
        let tags = before.filter(|before| before.tag != one.tag);
        changes.push(PropChange {
            prop: one.path.clone(),
            before: before.map(|before| before.value.clone()),
            after: Some(one.value.clone()),
            tags: tags.map(|before| (before.tag.clone(), one.tag.clone())),
        });
    }
    changes
}

impl Diff {
    /// True if the plans mean the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the differences as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Returns the differences as lines for people; values of several lines as a line diff.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for change in &self.changes {
            match change {
                Change::Added { path, class, elements } => {
                    out.push_str(&format!("added    {path} ({class}{})\n", more(*elements)));
                }
                Change::Removed { path, class, elements } => {
                    out.push_str(&format!("removed  {path} ({class}{})\n", more(*elements)));
                }
                Change::Moved { from, path, class } if from == path => {
                    out.push_str(&format!("moved    {path} ({class}): new order\n"));
                }
                Change::Moved { from, path, class } => {
                    out.push_str(&format!("moved    {from} ({class}) to {path}\n"));
                }
                Change::Changed { path, class, props } => {
                    out.push_str(&format!("changed  {path} ({class})\n"));
                    for prop in props {
                        push_prop(&mut out, prop);
                    }
                }
            }
        }
        out
    }
}

fn more(elements: usize) -> String {
    if elements > 1 { format!(", {elements} elements") } else { String::new() }
}

fn push_prop(out: &mut String, change: &PropChange) {
    let prop = &change.prop;
    let tags = change.tags.as_ref().map(|(from, to)| format!(" ({from} to {to})"));
    let tags = tags.unwrap_or_default();
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if before.contains('\n') || after.contains('\n') => {
            out.push_str(&format!("  ~ {prop}{tags}:\n"));
            push_lines(out, before, after);
        }
        (Some(before), Some(after)) => {
            out.push_str(&format!("  ~ {prop}{tags}: {} -> {}\n", shown(before), shown(after)));
        }
        (Some(before), None) => out.push_str(&format!("  - {prop}: {}\n", shown(before))),
        (None, after) => {
            let after = after.as_deref().unwrap_or_default();
            out.push_str(&format!("  + {prop}: {}\n", shown(after)));
        }
    }
}

/// Returns a value on one line.
fn shown(value: &str) -> String {
    if value.is_empty() || value.contains('\n') || value.trim() != value {
        format!("{value:?}")
    } else {
        value.to_owned()
    }
}

/// Appends the changed lines of a value, each with two unchanged lines around it.
fn push_lines(out: &mut String, before: &str, after: &str) {
    const AROUND: usize = 2;
    let lines = TextDiff::from_lines(before, after);
    for (at, group) in lines.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 {
            out.push_str("      …\n");
        }
        for change in group.iter().flat_map(|op| lines.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            out.push_str(&format!("      {sign} {}\n", change.value().trim_end_matches('\n')));
        }
    }
}
