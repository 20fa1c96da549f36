//! The three-way merge of one element's attributes and properties.
//!
//! Properties are matched by their labels. A property that only theirs changed is taken from theirs; one that both
//! changed is merged member by member if it has members, and is a conflict else.

use super::Conflict;
use crate::label::labels;
use crate::splice::Splice;
use crate::tree::{NodeId, Role, Xml};
use crate::{Plan, layout, place};

/// Replacements in ours, and the conflicts.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) splices: Vec<Splice>,
    pub(super) conflicts: Vec<Conflict>,
}

/// Merges the nodes of one element in three plans.
pub(super) fn merge(
    base: (&Plan, NodeId),
    ours: (&Plan, NodeId),
    theirs: (&Plan, NodeId),
) -> Found {
    let three = Three {
        base: base.0.xml(),
        ours: ours.0.xml(),
        theirs: theirs.0.xml(),
        line_end: ours.0.line_end(),
    };
    let mut found = Found::default();
    three.nodes(base.1, ours.1, theirs.1, "", &mut found);
    found
}

#[derive(Clone, Copy)]
struct Three<'a> {
    base: Xml<'a>,
    ours: Xml<'a>,
    theirs: Xml<'a>,
    line_end: &'static str,
}

impl Three<'_> {
    /// Merges attributes and members of a node that all three plans have.
    fn nodes(self, base: NodeId, ours: NodeId, theirs: NodeId, path: &str, found: &mut Found) {
        self.attributes(base, ours, theirs, path, found);
        let (in_base, in_ours) = (labels(self.base, base), labels(self.ours, ours));
        let in_theirs = labels(self.theirs, theirs);
        for (at, (node, label)) in in_theirs.iter().enumerate() {
            let below = join(path, label);
            let old = find(&in_base, label);
            match (old, find(&in_ours, label)) {
                (Some(old), Some(own)) => self.member(old, own, *node, &below, found),
                (None, Some(own)) if !self.is_same(own, *node) => {
                    found.conflicts.push(self.conflict(
                        [None, Some(own), Some(*node)],
                        below,
                        "both plans added the property, with different values",
                    ));
                }
                (None, Some(_)) => {}
                (Some(old), None) if layout::canonical(self.base, old) != self.text(*node) => {
                    found.conflicts.push(self.conflict(
                        [Some(old), None, Some(*node)],
                        below,
                        "theirs changed the property, ours removed it",
                    ));
                }
                (Some(_), None) => {}
                (None, None) => {
                    let mut before = in_theirs[..at].iter().rev();
                    let after = before.find_map(|(_, label)| find(&in_ours, label));
                    found.splices.push(self.added(ours, after, *node));
                }
            }
        }
        for (own, label) in &in_ours {
            if let (Some(old), None) = (find(&in_base, label), find(&in_theirs, label)) {
                if layout::canonical(self.base, old) == layout::canonical(self.ours, *own) {
                    let part = self.ours.node(*own).whole();
                    found.splices.push(place::remove(self.ours, ours, part));
                } else {
                    found.conflicts.push(self.conflict(
                        [Some(old), Some(*own), None],
                        join(path, label),
                        "theirs removed the property, ours changed it",
                    ));
                }
            }
        }
    }

    /// Merges a property that all three plans have.
    fn member(self, base: NodeId, ours: NodeId, theirs: NodeId, path: &str, found: &mut Found) {
        let (old, own) = (layout::canonical(self.base, base), layout::canonical(self.ours, ours));
        let new = self.text(theirs);
        if new == old || new == own {
            return;
        }
        if own == old {
            let text = self.reindented(ours, theirs);
            found.splices.push(Splice::new(self.ours.node(ours).whole(), text));
            return;
        }
        let roles = [self.base.node(base), self.ours.node(ours), self.theirs.node(theirs)];
        let has_members = roles.iter().all(|node| {
            matches!(node.role, Role::List | Role::Object) && !node.children.is_empty()
        });
        if has_members && self.have_one_order(base, ours, theirs) {
            return self.nodes(base, ours, theirs, path, found);
        }
        found.conflicts.push(self.conflict(
            [Some(base), Some(ours), Some(theirs)],
            path.to_owned(),
            "both plans changed the property",
        ));
    }

    /// True if members of a list can be merged one by one: each has a name of its own, and those that two plans share
    /// have the same order in both.
    fn have_one_order(self, base: NodeId, ours: NodeId, theirs: NodeId) -> bool {
        let base = names(self.base, base);
        [names(self.ours, ours), names(self.theirs, theirs)].iter().all(|other| {
            let left: Vec<_> = base.iter().filter(|name| other.contains(name)).collect();
            let right: Vec<_> = other.iter().filter(|name| base.contains(name)).collect();
            left == right && !other.iter().chain(&base).any(|name| name.ends_with(']'))
        })
    }

    fn attributes(self, base: NodeId, ours: NodeId, theirs: NodeId, path: &str, found: &mut Found) {
        let mut names: Vec<&str> = Vec::new();
        for (xml, id) in [(self.base, base), (self.ours, ours), (self.theirs, theirs)] {
            for attribute in &xml.node(id).attributes {
                let name = xml.slice(attribute.name.clone());
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        for name in names {
            let value = |xml: Xml<'_>, id| {
                let value = xml.attribute_value(id, name);
                // The absent attribute means the same as this value.
                value.filter(|value| name != "enabled" || value != "true")
            };
            let old = value(self.base, base);
            let (own, new) = (value(self.ours, ours), value(self.theirs, theirs));
            if new == old || new == own {
                continue;
            }
            if own == old {
                let written = self.theirs.attribute_value(theirs, name);
                found.splices.extend(place::attribute(self.ours, ours, name, written.as_deref()));
                continue;
            }
            found.conflicts.push(Conflict {
                path: String::new(),
                prop: join(path, &format!("@{name}")),
                base: old,
                ours: own,
                theirs: new,
                reason: "both plans changed the attribute".to_owned(),
            });
        }
    }

    /// Returns the insertion of a property of theirs.
    fn added(self, ours: NodeId, after: Option<NodeId>, theirs: NodeId) -> Splice {
        let level = self.ours.node(ours).depth + 1;
        let levels = level as isize - self.theirs.node(theirs).depth as isize;
        let text = self.with_line_ends(&place::reindented(self.theirs, &[theirs], levels));
        place::insert(self.ours, ours, after, self.line_end, &text)
    }

    /// Returns the text of a property of theirs for the level of one of ours.
    fn reindented(self, ours: NodeId, theirs: NodeId) -> String {
        let levels = self.ours.node(ours).depth as isize - self.theirs.node(theirs).depth as isize;
        self.with_line_ends(&place::reindented(self.theirs, &[theirs], levels))
    }

    fn with_line_ends(self, text: &str) -> String {
        let text = text.replace("\r\n", "\n");
        if self.line_end == "\n" { text } else { text.replace('\n', self.line_end) }
    }

    fn text(self, theirs: NodeId) -> String {
        layout::canonical(self.theirs, theirs)
    }

    fn is_same(self, ours: NodeId, theirs: NodeId) -> bool {
        layout::canonical(self.ours, ours) == self.text(theirs)
    }

    /// Returns a conflict about a property. The nodes are those of base, ours and theirs.
    fn conflict(self, nodes: [Option<NodeId>; 3], prop: String, reason: &str) -> Conflict {
        let [base, ours, theirs] = nodes;
        let shown = |xml: Xml<'_>, id: NodeId| {
            let is_scalar = xml.node(id).role == Role::Scalar;
            let value = xml.value(id).filter(|_| is_scalar);
            value.unwrap_or_else(|| layout::canonical(xml, id))
        };
        Conflict {
            path: String::new(),
            prop,
            base: base.map(|id| shown(self.base, id)),
            ours: ours.map(|id| shown(self.ours, id)),
            theirs: theirs.map(|id| shown(self.theirs, id)),
            reason: reason.to_owned(),
        }
    }
}

fn names(xml: Xml<'_>, id: NodeId) -> Vec<String> {
    labels(xml, id).into_iter().map(|(_, label)| label).collect()
}

fn find(labels: &[(NodeId, String)], label: &str) -> Option<NodeId> {
    labels.iter().find(|(_, own)| own == label).map(|(id, _)| *id)
}

fn join(path: &str, label: &str) -> String {
    if path.is_empty() { label.to_owned() } else { format!("{path}/{label}") }
}
