//! The parts of a document that a set of paths can read.
//!
//! A path such as `$.data.token` reads no member of the document other than `data`, so the parser keeps nothing else.
//! Everything is still parsed, because any error fails the whole document.

use super::path::{Path, Token};

/// The members of a JSON object that the parser keeps, each with the projection of its value.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// True if all members of the object are kept, with everything below them.
    pub(super) whole: bool,
    members: Vec<(String, Projection)>,
}

impl Projection {
    /// The projection that keeps the whole document.
    pub const WHOLE: Self = Self { whole: true, members: Vec::new() };

    /// Adds the parts of a document that a path can read to the projection.
    pub(super) fn add(&mut self, path: &Path) {
        // A filter, a function or a scan may read any part of the document.
        let looks_anywhere = |token: &Token| {
            matches!(token, Token::Filter(_) | Token::Function { .. } | Token::Scan)
        };
        if path.tokens.iter().any(looks_anywhere) {
            self.whole = true;
        } else {
            self.add_tokens(&path.tokens);
        }
    }

    fn add_tokens(&mut self, tokens: &[Token]) {
        match tokens {
            [Token::Property { names, .. }, rest @ ..] => {
                for name in names {
                    let at = self.members.iter().position(|(known, _)| known == name);
                    let at = at.unwrap_or_else(|| {
                        self.members.push((name.clone(), Self::default()));
                        self.members.len() - 1
                    });
                    self.members[at].1.add_tokens(rest);
                }
            }
            _ => self.whole = true,
        }
    }

    /// Returns the projection that applies to a member; `None` if nothing of the member is kept.
    pub(super) fn of(&self, name: &str) -> Option<&Self> {
        if self.whole {
            return Some(self);
        }
        self.members.iter().find(|(known, _)| known == name).map(|(_, below)| below)
    }
}
