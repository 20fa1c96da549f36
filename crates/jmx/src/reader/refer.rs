//! Reference tags: the reader reads the target of the reference in place of the tag.
//!
//! In JMeter, one object then occurs in several places. Here the target is copied. The result is the same, because
//! JMeter clones the plan for each user. If a tree contains an element twice, it appears once, with the children given
//! last.

use super::{Builder, EventPosition, Frame};
use crate::references::{self, MAX_ADDED, Target};
use crate::{Diag, NotXml};

const NOT_LOADED: &str =
    "JMeter cannot load this file; replace the reference by the properties that it refers to";

impl Builder {
    /// Reads the target of a reference tag, or reports an error. Returns false if the tag at this position is not a
    /// reference.
    pub(super) fn refer(&mut self, source: &str, place: EventPosition) -> Result<bool, NotXml> {
        if self.skipped > 0 {
            return Ok(false);
        }
        let start = place.span.start;
        let Some(reference) = self.references.at(start) else { return Ok(false) };
        let shown: String = reference.path.chars().take(200).collect();
        let tag = references::name_at(source, start);
        let complaint = match reference.target {
            Target::There(part, line) => {
                self.added += references::length(part);
                if self.added <= MAX_ADDED {
                    let rename = reference.keeps_name.then(|| tag.to_owned());
                    let lines = super::Lines { at: part.start as usize, line };
                    let lines = std::mem::replace(&mut self.lines, lines);
                    self.rename = rename;
                    self.read(source, part)?;
                    self.lines = lines;
                    self.merge();
                    return Ok(true);
                }
                self.added = MAX_ADDED;
                let most = MAX_ADDED >> 20;
                format!("refers to too much text: references may add at most {most} MiB to a file")
            }
            Target::Around => "refers to an element that contains the reference".to_owned(),
            Target::Unfit => "refers to an element that is not allowed here".to_owned(),
            Target::Nowhere => "refers to nothing: no earlier tag has this path".to_owned(),
        };
        let message = format!("{tag} with reference=\"{shown}\" {complaint}");
        self.report_here(Diag::error("bad-xstream-reference", message).help(NOT_LOADED), place);
        Ok(true)
    }

    /// Keeps only the earlier element, if the element just read equals an earlier element of the same tree. The
    /// children of the earlier element are dropped, and the tree that follows provides new ones.
    fn merge(&mut self) {
        let Some(Frame::Tree { owner, last: Some(new) }) = self.stack.last() else { return };
        let (owner, new) = (*owner, *new);
        let siblings = match owner {
            Some(owner) => &self.elements[owner.index()].children,
            None => &self.roots,
        };
        let span = self.elements[new.index()].span;
        let same = |id: &&crate::ElementId| **id != new && self.elements[id.index()].span == span;
        let Some(old) = siblings.iter().find(same).copied() else { return };
        if new.index() + 1 != self.elements.len() {
            return;
        }
        self.elements.pop();
        match owner {
            Some(owner) => self.elements[owner.index()].children.pop(),
            None => self.roots.pop(),
        };
        // The dropped child elements stay in the arena, unreachable from the roots.
        for child in std::mem::take(&mut self.elements[old.index()].children) {
            self.elements[child.index()].enabled = false;
        }
        if let Some(Frame::Tree { last, .. }) = self.stack.last_mut() {
            *last = Some(old);
        }
    }
}

#[cfg(test)]
mod tests;
