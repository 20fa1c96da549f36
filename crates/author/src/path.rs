//! Paths of elements, such as `Users/Login`.
//!
//! A path has the names of the elements below the Test Plan. With a leading `/` it begins at the top level, such as
//! `/Test Plan`. An element without a name has its tag. If siblings have the same name, each has its number among them:
//! `Login[2]`. In names, `/`, `[` and `\` are escaped by `\`.

use std::collections::HashMap;

use jmx::ElementId;

use crate::label::{escape, split, unescape};
use crate::{Plan, Refusal};

impl Plan {
    /// Returns the path of an element, which [`Plan::find`] finds.
    pub fn path(&self, id: ElementId) -> String {
        let mut parts = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at {
            let parent = self.document().element(id).parent;
            parts.push(self.part(id, self.children(parent)));
            at = parent;
        }
        parts.reverse();
        self.joined(parts)
    }

    /// Returns the paths of all elements that are in the tree, in document order.
    pub fn paths(&self) -> Vec<(ElementId, String)> {
        let mut out = Vec::new();
        let mut open: Vec<(ElementId, Vec<String>)> = self.below(None, &[]);
        while let Some((id, parts)) = open.pop() {
            open.extend(self.below(Some(id), &parts));
            out.push((id, self.joined(parts)));
        }
        out
    }

    /// Returns the children of an element with the parts of their paths, the last child first.
    fn below(&self, parent: Option<ElementId>, parts: &[String]) -> Vec<(ElementId, Vec<String>)> {
        let children = self.children(parent);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for child in children {
            *counts.entry(self.name(*child)).or_default() += 1;
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut out = Vec::with_capacity(children.len());
        for child in children {
            let name = self.name(*child);
            let number = seen.entry(name).or_default();
            *number += 1;
            let part = if counts[name] > 1 {
                format!("{}[{number}]", escape_name(name))
            } else {
                escape_name(name)
            };
            out.push((*child, parts.iter().cloned().chain([part]).collect()));
        }
        out.reverse();
        out
    }

    fn joined(&self, parts: Vec<String>) -> String {
        // Below the first element of the top level, paths leave out that element.
        let first = self.document().roots().first();
        let own = first.map(|id| self.part(*id, self.document().roots()));
        if parts.len() > 1 && parts.first() == own.as_ref() {
            parts[1..].join("/")
        } else {
            format!("/{}", parts.join("/"))
        }
    }

    fn part(&self, id: ElementId, siblings: &[ElementId]) -> String {
        let name = self.name(id);
        let same: Vec<_> = siblings.iter().filter(|one| self.name(**one) == name).collect();
        match same.iter().position(|one| **one == id) {
            Some(at) if same.len() > 1 => format!("{}[{}]", escape_name(name), at + 1),
            _ => escape_name(name),
        }
    }

    /// Returns the name of an element; its tag if it has none.
    pub(crate) fn name(&self, id: ElementId) -> &str {
        let element = self.document().element(id);
        if element.name.is_empty() { &element.tag } else { &element.name }
    }

    /// Finds the element with a path. Fails if there is none, or if the path leaves open which of several is meant.
    pub fn find(&self, path: &str) -> Result<ElementId, Refusal> {
        let (mut at, rest) = match path.strip_prefix('/') {
            Some(rest) => (None, rest),
            None => (self.document().roots().first().copied(), path),
        };
        for part in split(rest) {
            at = Some(self.step(at, part).map_err(|problem| self.not_found(path, problem))?);
        }
        at.ok_or_else(|| Refusal::new("the plan has no elements"))
    }

    /// Finds the child that a part of a path names.
    fn step(&self, parent: Option<ElementId>, part: &str) -> Result<ElementId, String> {
        let (name, number) = numbered(part);
        let same = |name: &str| -> Vec<ElementId> {
            let children = self.children(parent).iter();
            children.filter(|id| self.name(**id) == name).copied().collect()
        };
        let found = same(&unescape(name));
        match (number, found.len()) {
            (Some(number), _) => {
                let one = number.checked_sub(1).and_then(|at| found.get(at));
                one.copied().ok_or_else(|| format!("no element {part}"))
            }
            (None, 1) => Ok(found[0]),
            (None, 0) => Err(format!("no element {part}")),
            (None, count) => Err(format!(
                "{count} elements are named {part}: write {part}[1] to {part}[{count}]"
            )),
        }
    }

    fn not_found(&self, path: &str, problem: String) -> Refusal {
        const MOST: usize = 5;
        let last = split(path).pop().map(|part| unescape(numbered(part).0)).unwrap_or_default();
        let alike: Vec<String> = self
            .document()
            .ids()
            .filter(|id| self.name(*id) == last)
            .take(MOST)
            .map(|id| self.path(id))
            .collect();
        if alike.is_empty() || problem.contains("are named") {
            return Refusal::new(format!("{problem} (in {path})"));
        }
        Refusal::new(format!("{problem} (in {path}); there is: {}", alike.join(", ")))
    }
}

/// Escapes a name as one part of a path.
fn escape_name(name: &str) -> String {
    let escaped = escape(name);
    escaped.strip_prefix("\\@").map(|rest| format!("@{rest}")).unwrap_or(escaped)
}

/// Divides a part such as `Login[2]` into name and number.
fn numbered(part: &str) -> (&str, Option<usize>) {
    let numbered = part.strip_suffix(']').and_then(|rest| {
        let is_plain =
            |before: &str| before.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 0;
        let at = rest.rfind('[').filter(|at| is_plain(&rest[..*at]))?;
        Some((&part[..at], rest[at + 1..].parse().ok()?))
    });
    numbered.map_or((part, None), |(name, number)| (name, Some(number)))
}
