//! Tags that are references: what they stand for is read in their place.
//!
//! Their target is copied, where JMeter has one object in several places: it clones the plan for each user, so
//! nothing tells the two apart. An element that a tree holds twice stands there once, with the children that are
//! named last.

use super::{Builder, Frame, Place};
use crate::references::{self, MAX_ADDED, Target};
use crate::{Diag, NotXml};

const NOT_LOADED: &str =
    "JMeter cannot load this file; write the properties out in place of the reference";

impl Builder {
    /// Whether the tag at a place is a reference. If so, what it stands for has been read, or it is reported why not.
    pub(super) fn refer(&mut self, source: &str, place: Place) -> Result<bool, NotXml> {
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
                format!("refers to too much text: references may add {most} MiB to a file")
            }
            Target::Around => "refers to an element around itself, without end".to_owned(),
            Target::Unfit => "refers to something that is not allowed here".to_owned(),
            Target::Nowhere => "stands for nothing: no tag before it has this path".to_owned(),
        };
        let message = format!("{tag} with reference=\"{shown}\" {complaint}");
        self.report_here(Diag::error("bad-xstream-reference", message).help(NOT_LOADED), place);
        Ok(true)
    }

    /// The element just read, if its tree has it already: the tree that follows takes the place of what is below it.
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
        // They stay among all elements, out of reach.
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
