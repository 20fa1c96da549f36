//! Which parts of a document some paths can see.
//!
//! A path such as `$.data.token` looks at no other member of the document than `data`, so nothing else of it is
//! kept when it is read. Everything is still read, because any error fails the whole document.

use super::path::{Path, Token};

/// Which members of an object are kept.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// All of them, with all below.
    pub(super) whole: bool,
    members: Vec<(String, Projection)>,
}

impl Projection {
    /// Everything is kept.
    pub const WHOLE: Self = Self { whole: true, members: Vec::new() };

    /// Adds what a path can see.
    pub(super) fn add(&mut self, path: &Path) {
        // These may look at the document from its root.
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

    /// The kept part of a member; `None` if nothing is kept.
    pub(super) fn of(&self, name: &str) -> Option<&Self> {
        if self.whole {
            return Some(self);
        }
        self.members.iter().find(|(known, _)| known == name).map(|(_, below)| below)
    }
}
