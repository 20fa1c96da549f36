//! Samples kept whole, as evidence: the first of each cause of errors, the slowest of each label and minute, and a few
//! at random.
//!
//! A sample is chosen by a few comparisons. Those at random are the ones with the smallest of random numbers: the
//! smallest of several cores' are again a fair choice. At most [`MOST`] are kept of a core and second; texts are cut to
//! [`EXCERPT`]. Places are used again, so that keeping allocates nothing once warm.
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::phases::Phases;
use crate::sample::{Outcome, Sample};

/// Samples of a core and second.
pub const MOST: usize = 64;
/// Samples of each cause of a core and of a run.
pub const OF_A_CAUSE: u32 = 5;
/// Samples chosen at random.
pub const AT_RANDOM: usize = 64;
/// Bytes of a text.
pub const EXCERPT: usize = 2048;
/// Causes that samples are kept of.
const CAUSES: usize = 256;

/// The reason for which a sample is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// One of the first of its cause.
    #[default]
    Error,
    /// One of the slowest of its label in its minute.
    Slow,
    /// Chosen at random, with the same chance for all.
    Random,
}

/// A sample kept whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    pub why: Why,
    /// Of those at random: the smaller, the sooner it is kept.
    pub rank: u64,
    pub label: Arc<str>,
    pub outcome: Outcome,
    /// Epoch ms.
    pub start_ms: i64,
    /// Nanoseconds.
    pub elapsed: u64,
    pub phases: Phases,
    pub reused: bool,
    pub sent: u64,
    pub received: u64,
    pub code: String,
    pub message: String,
    pub address: String,
    /// Head and the first part of the body.
    pub request: String,
    pub response: String,
}

/// Texts of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    pub code: &'a str,
    pub message: &'a str,
    /// Parts that stand behind each other.
    pub request: [&'a str; 5],
    pub response: [&'a str; 3],
}

/// Chooses and keeps the samples of a core.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// The first `used` are of this second.
    kept: Vec<Example>,
    used: usize,
    random: u64,
    rank: u64,
    /// The smallest random numbers so far.
    ranks: BinaryHeap<u64>,
    /// All numbers from here on are too large.
    bound: u64,
    causes: HashMap<u64, u32>,
    hasher: RandomState,
    minute: i64,
}

impl Default for Keeper {
    fn default() -> Self {
        let hasher = RandomState::new();
        Self {
            kept: Vec::new(),
            used: 0,
            random: hasher.hash_one(0) | 1,
            rank: 0,
            ranks: BinaryHeap::with_capacity(AT_RANDOM + 1),
            bound: u64::MAX,
            causes: HashMap::with_capacity(CAUSES),
            hasher,
            minute: 0,
        }
    }
}

impl Keeper {
    /// Whether a sample is kept, as the slowest of its label so far or by chance.
    #[inline]
    pub(crate) fn choose(&mut self, elapsed: u64, slowest: &mut u64) -> Option<Why> {
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        if self.random >= self.bound && elapsed <= *slowest {
            return None;
        }
        self.chosen(elapsed, slowest)
    }

    #[cold]
    fn chosen(&mut self, elapsed: u64, slowest: &mut u64) -> Option<Why> {
        if self.used >= MOST {
            return None;
        }
        if elapsed > *slowest {
            *slowest = elapsed;
            return Some(Why::Slow);
        }
        self.rank = self.random;
        self.ranks.push(self.random);
        if self.ranks.len() > AT_RANDOM {
            self.ranks.pop();
        }
        if self.ranks.len() == AT_RANDOM {
            self.bound = self.ranks.peek().copied().unwrap_or(u64::MAX);
        }
        Some(Why::Random)
    }

    /// Whether a failed sample is kept, as one of the first of its cause.
    pub(crate) fn wants(&mut self, outcome: Outcome, code: &str, message: &str) -> bool {
        let hash = self.hasher.hash_one((outcome, code, message));
        let known = self.causes.len();
        match self.causes.get_mut(&hash) {
            Some(n) if *n >= OF_A_CAUSE => false,
            _ if self.used >= MOST => false,
            Some(n) => {
                *n += 1;
                true
            }
            None if known < CAUSES => {
                self.causes.insert(hash, 1);
                true
            }
            None => false,
        }
    }

    /// Keeps a sample.
    pub(crate) fn keep(
        &mut self,
        why: Why,
        sample: &Sample,
        (label, address): (&Arc<str>, &str),
        texts: &Texts<'_>,
    ) {
        let before = self.kept[..self.used].iter().position(|kept| {
            why == Why::Slow && kept.why == why && Arc::ptr_eq(&kept.label, label)
        });
        let at = before.unwrap_or(self.used);
        if at == self.kept.len() {
            self.kept.push(Example::none(label));
        }
        self.used = self.used.max(at + 1);
        let kept = &mut self.kept[at];
        (kept.why, kept.rank, kept.label) = (why, self.rank, Arc::clone(label));
        (kept.outcome, kept.start_ms) = (sample.outcome, sample.start_ms);
        (kept.elapsed, kept.phases) = (sample.elapsed, sample.phases);
        // One that failed while it connected has no time of connecting as JMeter counts it.
        let opened = sample.connect > 0 || sample.phases.connect > 0 || sample.phases.dns > 0;
        kept.reused = !opened && !sample.outcome.is_without_connection();
        (kept.sent, kept.received) = (sample.sent, sample.received);
        fill(&mut kept.code, &[texts.code]);
        fill(&mut kept.message, &[texts.message]);
        fill(&mut kept.address, &[address]);
        fill(&mut kept.request, &texts.request);
        fill(&mut kept.response, &texts.response);
    }

    /// Gives those of this second; true: a new minute has begun.
    pub(crate) fn drain_into(&mut self, into: &mut Vec<Example>, now_ms: i64) -> bool {
        into.extend_from_slice(&self.kept[..self.used]);
        self.used = 0;
        let minute = now_ms.div_euclid(60_000);
        std::mem::replace(&mut self.minute, minute) != minute
    }
}

impl Example {
    fn none(label: &Arc<str>) -> Self {
        Self {
            why: Why::Error,
            rank: 0,
            label: Arc::clone(label),
            outcome: Outcome::Ok,
            start_ms: 0,
            elapsed: 0,
            phases: Phases::default(),
            reused: false,
            sent: 0,
            received: 0,
            code: String::new(),
            message: String::new(),
            address: String::new(),
            request: String::new(),
            response: String::new(),
        }
    }
}

/// Makes a text of parts, of bounded length.
fn fill(text: &mut String, parts: &[&str]) {
    text.clear();
    for part in parts {
        let room = EXCERPT.saturating_sub(text.len());
        text.push_str(&part[..part.floor_char_boundary(room)]);
    }
}
