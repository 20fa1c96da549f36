//! Index of positions and ages of the cookies in a large jar.
//!
//! A small jar keeps its cookies in the order in which they were last set, and finds a cookie by linear search. With
//! thousands of cookies, both would cost quadratic time. A large jar leaves cookies at their positions; this index
//! finds a cookie and says which of two cookies was set first.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::Cookie;

/// Number of cookies above which a jar has an index.
pub(super) const FEW: usize = 64;

/// Index of a jar with many cookies: the position of each cookie, and the time at which it was last set.
#[derive(Clone, Debug, Default)]
pub(super) struct CookieIndex {
    hasher: RandomState,
    /// Positions of cookies by the hash of name, domain and path.
    places: HashMap<u64, u32>,
    /// True if two cookies have the same hash. Cookies are then found by linear search.
    collide: bool,
    /// Time at which each cookie was last set, by position, as a count of changes. Only comparisons of two times have a
    /// meaning.
    ages: Vec<u64>,
    /// Time of the next change, as a count of changes.
    next: u64,
}

impl CookieIndex {
    /// Builds the index of cookies that are in the order in which they were last set.
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

    /// Adds a cookie at the last position of the index.
    pub(super) fn push(&mut self, cookie: &Cookie) {
        let at = self.ages.len() as u32;
        self.collide |= self.places.insert(self.hash(cookie), at).is_some();
        self.ages.push(self.next);
        self.next += 1;
    }

    /// Marks the cookie at a position as the most recently set.
    pub(super) fn renew(&mut self, at: usize) {
        self.ages[at] = self.next;
        self.next += 1;
    }

    /// Removes the cookie at a position; the last cookie moves to that position.
    pub(super) fn remove(&mut self, cookies: &mut Vec<Cookie>, at: usize) {
        self.places.remove(&self.hash(&cookies[at]));
        self.ages.swap_remove(at);
        cookies.swap_remove(at);
        if let Some(moved) = cookies.get(at) {
            self.places.insert(self.hash(moved), at as u32);
        }
    }

    /// Returns the time at which the cookie at a position was last set, as a count of changes. Only comparisons of two
    /// times have a meaning.
    pub(super) fn age(&self, at: usize) -> u64 {
        self.ages[at]
    }

    fn hash(&self, cookie: &Cookie) -> u64 {
        self.hasher.hash_one((&*cookie.name, &*cookie.domain, &*cookie.path))
    }
}
