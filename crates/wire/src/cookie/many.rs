//! Places and ages of the cookies of a jar that holds very many.
//!
//! A jar of a few cookies keeps them in the order in which they were last set, and looks for one by looking at all. Where a
//! server sets thousands, each of both would be work in the square of them; then cookies stay where they are, and this tells
//! where one is and which was set before which.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::Cookie;

/// Cookies beyond which a jar has this.
pub(super) const FEW: usize = 64;

/// Index of a jar with many cookies: positions, and times of the last change.
#[derive(Clone, Debug, Default)]
pub(super) struct Many {
    hasher: RandomState,
    /// Places by the hash of name, domain and path.
    places: HashMap<u64, u32>,
    /// Two cookies have one hash: all are looked at, as if there were few.
    collide: bool,
    /// Time of the last change of each, by position.
    ages: Vec<u64>,
    next: u64,
}

impl Many {
    /// Of cookies in the order in which they were last set.
    pub(super) fn of(cookies: &[Cookie]) -> Self {
        let mut many = Self::default();
        for cookie in cookies {
            many.push(cookie);
        }
        many
    }

    pub(super) fn find(
        &self,
        cookies: &[Cookie],
        name: &str,
        domain: &str,
        path: &str,
    ) -> Option<usize> {
        let is = |c: &Cookie| c.name == name && c.path == path && c.domain == domain;
        if self.collide {
            return cookies.iter().position(is);
        }
        let at = *self.places.get(&self.hasher.hash_one((name, domain, path)))? as usize;
        is(&cookies[at]).then_some(at)
    }

    /// A cookie was added behind all others.
    pub(super) fn push(&mut self, cookie: &Cookie) {
        let at = self.ages.len() as u32;
        self.collide |= self.places.insert(self.hash(cookie), at).is_some();
        self.ages.push(self.next);
        self.next += 1;
    }

    /// A cookie was set again.
    pub(super) fn renew(&mut self, at: usize) {
        self.ages[at] = self.next;
        self.next += 1;
    }

    /// Takes a cookie out of its place, which gets the last of all.
    pub(super) fn remove(&mut self, cookies: &mut Vec<Cookie>, at: usize) {
        self.places.remove(&self.hash(&cookies[at]));
        self.ages.swap_remove(at);
        cookies.swap_remove(at);
        if let Some(moved) = cookies.get(at) {
            self.places.insert(self.hash(moved), at as u32);
        }
    }

    /// Time of the last change at a position: a number for comparisons only.
    pub(super) fn age(&self, at: usize) -> u64 {
        self.ages[at]
    }

    fn hash(&self, cookie: &Cookie) -> u64 {
        self.hasher.hash_one((&*cookie.name, &*cookie.domain, &*cookie.path))
    }
}
