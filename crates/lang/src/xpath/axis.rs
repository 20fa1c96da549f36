//! Visits the nodes along an axis, in the order of the axis, and tests whether a step selects a node.

use super::expr::{Axis, Step, Test};
use crate::xml::{Kind, NodeId, Tree};

/// Passes the nodes along an axis to `visit`, nearest first, as long as `visit` returns true. Adjacent text nodes count
/// as one node: only the first is passed.
pub(super) fn each(tree: &Tree, axis: Axis, from: NodeId, mut visit: impl FnMut(NodeId) -> bool) {
    let mut all = |nodes: &mut dyn Iterator<Item = NodeId>| {
        nodes.filter(|id| !tree.continues(*id)).all(&mut visit)
    };
    match axis {
        Axis::Self_ => all(&mut std::iter::once(from)),
        Axis::Parent => all(&mut tree.parent(from).into_iter()),
        Axis::Ancestor => all(&mut ancestors(tree, tree.parent(from))),
        Axis::AncestorOrSelf => all(&mut ancestors(tree, Some(from))),
        Axis::Child => all(&mut tree.children(from)),
        Axis::Descendant => all(&mut tree.descendants(from)),
        Axis::DescendantOrSelf => all(&mut std::iter::once(from).chain(tree.descendants(from))),
        Axis::Following => all(&mut tree.following(from)),
        Axis::Preceding => all(&mut tree.preceding(from)),
        Axis::FollowingSibling => {
            all(&mut std::iter::successors(tree.next(from), |id| tree.next(*id)))
        }
        Axis::PrecedingSibling => {
            all(&mut std::iter::successors(tree.previous(from), |id| tree.previous(*id)))
        }
        Axis::Attribute => all(&mut tree.attributes(from)),
        Axis::Namespace => all(&mut namespaces(tree, from).into_iter()),
    };
}

fn ancestors(tree: &Tree, from: Option<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
    std::iter::successors(from, |id| tree.parent(*id))
}

/// Returns the namespace declarations in scope of an element: first the declarations of the element itself.
fn namespaces(tree: &Tree, from: NodeId) -> Vec<NodeId> {
    let mut found: Vec<NodeId> = Vec::new();
    if tree.kind(from) != Kind::Element {
        return found;
    }
    for element in ancestors(tree, Some(from)) {
        for declaration in tree.declarations(element) {
            let prefix = tree.declared_prefix(declaration);
            if !found.iter().any(|known| tree.declared_prefix(*known) == prefix) {
                found.push(declaration);
            }
        }
    }
    found.retain(|id| tree.value(*id).is_some_and(|uri| !uri.is_empty()));
    found
}

/// Returns true if a step along an axis selects a node; `uris` are the namespaces of the expression's prefixes.
pub(super) fn fits(tree: &Tree, step: &Step, uris: &[String], id: NodeId) -> bool {
    let kind = tree.kind(id);
    match &step.test {
        Test::Node => true,
        // For a path that consists of this step only, Xalan finds no text or comment in JTidy's DOM.
        Test::Text | Test::Comment
            if step.whole_name && step.axis == Axis::Descendant && tree.has_element_values =>
        {
            false
        }
        // If the path consists of this step only, Xalan does not find a text node that consists only of CDATA sections.
        Test::Text if step.whole_name && step.axis == Axis::Descendant => tree.has_plain_text(id),
        Test::Text => tree.is_text(id),
        Test::Comment => kind == Kind::Comment,
        Test::Instruction(target) => {
            kind == Kind::Instruction
                && target.as_ref().is_none_or(|target| tree.name(id) == &**target)
        }
        Test::Name(prefix, local) => {
            let principal = match step.axis {
                Axis::Attribute => Kind::Attribute,
                Axis::Namespace => Kind::Namespace,
                _ => Kind::Element,
            };
            if kind != principal {
                return false;
            }
            let name = match kind {
                Kind::Namespace => tree.declared_prefix(id),
                _ if step.whole_name && !tree.has_namespaces => tree.name(id),
                _ => tree.local_name(id),
            };
            let is_named = local.as_ref().is_none_or(|local| name == &**local);
            match prefix {
                Some(prefix) => is_named && tree.uri(id) == uris[*prefix],
                None => is_named && (local.is_none() || tree.uri(id).is_empty()),
            }
        }
    }
}
