//! Cache of sealed requests, for resending. The cache is bounded in bytes and evicts the least recently used entries.
//!
//! Each sealer has its own cache and constant settings, so operation and body are a sufficient cache key. An entry is
//! resent only while its time stamp is within the time window. A hit allocates nothing.

use std::collections::HashMap;

use crate::sealer::{Sealed, SessionKey};

/// Estimated bytes of an entry besides its strings: the entry, its slot in the table, and the allocator's overhead.
const OVERHEAD: usize = size_of::<Entry>() + 96;

/// Index that means "no entry" in the list of entries by age.
const NONE: u32 = u32::MAX;

/// Counters of the request cache and of sealing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub hits: u64,
    /// Lookups that found no entry, or an entry with a time stamp that is too old.
    pub misses: u64,
    /// Cached requests that were evicted because the cache was full.
    pub evictions: u64,
    /// Nanoseconds saved by hits: the original cost of the entries found.
    pub saved_ns: u64,
    /// Requests that were signed or encrypted, that is, not taken from the cache.
    pub sealed: u64,
    /// Nanoseconds spent on signing and encryption.
    pub spent_ns: u64,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    /// Cache key of the entry: operation followed by body.
    asked: Box<[u8]>,
    operation: usize,
    stamp: Box<str>,
    sign: Box<str>,
    body: Box<[u8]>,
    key: Option<SessionKey>,
    made_ms: u64,
    cost_ns: u64,
    newer: u32,
    older: u32,
}

impl Entry {
    fn bytes(&self) -> usize {
        OVERHEAD + self.asked.len() + self.stamp.len() + self.sign.len() + self.body.len()
    }

    fn is_for(&self, operation: &str, body: &[u8]) -> bool {
        self.operation == operation.len()
            && self.asked.len() == operation.len() + body.len()
            && self.asked.starts_with(operation.as_bytes())
            && self.asked.ends_with(body)
    }
}

/// A cache of sealed requests, bounded in bytes.
#[derive(Debug)]
pub struct Cache {
    most: usize,
    window_ms: u64,
    bytes: usize,
    entries: Vec<Entry>,
    places: HashMap<u64, u32>,
    newest: u32,
    oldest: u32,
    pub counts: Counts,
}

impl Cache {
    /// Creates a cache of sealed requests of at most `most` bytes; 0 disables it.
    pub fn new(most: usize, window_ms: u64) -> Self {
        Self {
            most: if window_ms == 0 { 0 } else { most },
            window_ms,
            bytes: 0,
            entries: Vec::new(),
            places: HashMap::new(),
            newest: NONE,
            oldest: NONE,
            counts: Counts::default(),
        }
    }

    /// Returns the memory of the cached requests in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of cached requests.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// True if the request cache is enabled.
    pub fn is_on(&self) -> bool {
        self.most > 0
    }

    /// Copies a cached sealed request into `out`. False: there is no entry, or its time stamp is too old.
    pub fn get(&mut self, operation: &str, body: &[u8], now_ms: u64, out: &mut Sealed) -> bool {
        let found = self.places.get(&hash(operation, body)).copied();
        let found = found.filter(|at| {
            let entry = &self.entries[*at as usize];
            entry.is_for(operation, body) && now_ms.abs_diff(entry.made_ms) < self.window_ms
        });
        let Some(at) = found else {
            self.counts.misses += 1;
            return false;
        };
        self.unlink(at);
        self.link_newest(at);
        let entry = &self.entries[at as usize];
        out.stamp.push_str(&entry.stamp);
        out.sign.push_str(&entry.sign);
        out.body.extend_from_slice(&entry.body);
        out.key = entry.key;
        self.counts.hits += 1;
        self.counts.saved_ns += entry.cost_ns;
        true
    }

    /// Stores a request that was just sealed; `made` is the time of sealing in milliseconds since 1970 and its cost in
    /// nanoseconds. A request larger than the cache is not stored.
    pub fn put(&mut self, operation: &str, body: &[u8], made: (u64, u64), sealed: &Sealed) {
        let hash = hash(operation, body);
        if let Some(at) = self.places.get(&hash) {
            self.remove(*at);
        }
        let entry = Entry {
            hash,
            asked: [operation.as_bytes(), body].concat().into(),
            operation: operation.len(),
            stamp: sealed.stamp.as_str().into(),
            sign: sealed.sign.as_str().into(),
            body: sealed.body.as_slice().into(),
            key: sealed.key,
            made_ms: made.0,
            cost_ns: made.1,
            newer: NONE,
            older: NONE,
        };
        let bytes = entry.bytes();
        if bytes > self.most {
            return;
        }
        while self.bytes + bytes > self.most {
            self.remove(self.oldest);
            self.counts.evictions += 1;
        }
        self.bytes += bytes;
        let at = self.entries.len() as u32;
        self.entries.push(entry);
        self.places.insert(hash, at);
        self.link_newest(at);
    }

    fn unlink(&mut self, at: u32) {
        let Entry { newer, older, .. } = self.entries[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, at: u32) {
        let entry = &mut self.entries[at as usize];
        (entry.newer, entry.older) = (NONE, self.newest);
        match self.newest {
            NONE => self.oldest = at,
            newest => self.entries[newest as usize].newer = at,
        }
        self.newest = at;
    }

    /// Removes the cached request at an index, and moves the last entry of the table to this index.
    fn remove(&mut self, at: u32) {
        self.unlink(at);
        let gone = self.entries.swap_remove(at as usize);
        self.places.remove(&gone.hash);
        self.bytes -= gone.bytes();
        let Some(moved) = self.entries.get(at as usize) else { return };
        let (hash, newer, older) = (moved.hash, moved.newer, moved.older);
        self.places.insert(hash, at);
        match newer {
            NONE => self.newest = at,
            newer => self.entries[newer as usize].older = at,
        }
        match older {
            NONE => self.oldest = at,
            older => self.entries[older as usize].newer = at,
        }
    }
}

/// Hashes a request with the function of rustc's hash tables, eight bytes at a time. Keys come from the plan, so
/// collision attacks are no concern.
fn hash(operation: &str, body: &[u8]) -> u64 {
    let step =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let text = |hash: u64, bytes: &[u8]| {
        let (words, rest) = bytes.as_chunks::<8>();
        let hash = words.iter().fold(hash, |hash, word| step(hash, u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        step(step(hash, u64::from_le_bytes(last)), bytes.len() as u64)
    };
    text(text(0, operation.as_bytes()), body)
}
