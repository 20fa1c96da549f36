//! Samples that are stored as evidence, with excerpts of their texts: the first of each error cause, the slowest of
//! each label and minute, and a few random ones.
//!
//! Choosing a sample costs a few comparisons. Each reason has its own shelf, so that no reason displaces another; a
//! sample with two reasons is stored on both shelves. Random samples are those with the smallest random numbers, so the
//! smallest numbers of several cores together are again a fair choice. Texts are cut to [`EXCERPT`] bytes. Entries of a
//! shelf are reused, so that storing allocates nothing after the first seconds.
#[cfg(test)]
mod tests;

use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::phases::Phases;
use crate::sample::{Outcome, Sample};

/// Maximum number of failed samples that are stored per core and second. If the limit is reached, a later sample with
/// the same error cause is stored instead.
const MOST_ERRORS: usize = 128;
/// Maximum number of labels per core and second whose slowest sample is stored. If the limit is reached, a later and
/// slower sample of the label is stored instead.
const MOST_SLOW: usize = 128;
/// Maximum number of stored samples per error cause, both on each core and in the merged run.
pub const OF_A_CAUSE: u32 = 5;
/// Maximum number of randomly chosen samples that are stored: per core and second, and in the whole run.
pub const AT_RANDOM: usize = 64;
/// Maximum length in bytes of each stored string, such as a request or a message.
pub const EXCERPT: usize = 2048;
/// Maximum number of error causes per core whose samples are stored.
const CAUSES: usize = 256;

/// The reason why a sample is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// Among the first failed samples with this error cause.
    #[default]
    Error,
    /// Slower than all earlier samples of this label in the same minute, on its core.
    Slow,
    /// Chosen at random with equal probability.
    Random,
}

/// A sample that is stored as evidence, with excerpts of its texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    pub why: Why,
    /// Random number of a sample that was chosen at random. The run keeps the randomly chosen samples with the smallest
    /// numbers.
    pub rank: u64,
    pub label: Arc<str>,
    pub outcome: Outcome,
    /// Start of the sample in ms since 1970.
    pub start_ms: i64,
    /// Elapsed time of the sample in nanoseconds.
    pub elapsed: u64,
    pub phases: Phases,
    /// True if the sample used a connection that was already open.
    pub reused: bool,
    pub sent: u64,
    pub received: u64,
    pub code: String,
    pub message: String,
    pub address: String,
    /// Trace identifier of the request; 0 for none.
    pub trace: u128,
    /// Request: head and first part of the body; only the request line if chosen at random.
    pub request: String,
    /// Response: head and, unless chosen at random, the first part of the body.
    pub response: String,
}

/// Texts of a sample that is to be stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    pub code: &'a str,
    pub message: &'a str,
    /// Trace identifier of the request; 0 for none.
    pub trace: u128,
    /// Consecutive parts of the request: method, space, URL, line end, and the rest.
    pub request: [&'a str; 5],
    /// Consecutive parts of the response: head, separator, body.
    pub response: [&'a str; 3],
}

/// A sample's random number, which decides whether the sample is stored: the samples with the smallest numbers of a run
/// are stored. The number is drawn when the sample begins, so that the response's head can be kept if the sample may be
/// chosen. A draw stores the number in two bytes: the number of its leading zeros, and the ten bits after its first set
/// bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(u16);

impl Draw {
    /// Value without a random number: none was drawn.
    pub const NONE: Self = Self(u16::MAX);
    /// Value of a random number that is too large for its sample to be stored.
    const LARGE: Self = Self(0x3ff);

    /// Encodes a random number, or returns [`Self::LARGE`] if it is not below `bound`.
    fn of(number: u64, bound: u64) -> Self {
        if number >= bound {
            return Self::LARGE;
        }
        let zeros = number.leading_zeros().min(63);
        let code = (zeros << 10) as u16 | (number << zeros >> 53) as u16 & 0x3ff;
        // The largest encodable number shares its code with [`Self::LARGE`], so it is reduced by one.
        Self(if code == Self::LARGE.0 { code - 1 } else { code })
    }

    /// Returns the random number. Its low bits, which the encoding omits, are taken from `others`.
    fn number(self, others: u64) -> u64 {
        let (zeros, known) = (self.0 >> 10, u64::from(self.0 & 0x3ff) | 0x400);
        (known << 53 | others >> 11) >> zeros
    }

    /// True if the sample may be chosen: its random number was below the limit when it was drawn.
    pub fn is_small(self) -> bool {
        self != Self::NONE && self != Self::LARGE
    }
}

impl Default for Draw {
    fn default() -> Self {
        Self::NONE
    }
}

/// The reasons why a sample is stored; usually none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    pub error: bool,
    pub slow: bool,
    pub random: bool,
}

impl Reasons {
    #[inline]
    pub fn any(self) -> bool {
        self.error || self.slow || self.random
    }
}

/// The samples that a core has stored in the current second for one reason: the first `used` entries of `places`.
#[derive(Debug, Default)]
struct Shelf {
    places: Vec<Example>,
    used: usize,
}

impl Shelf {
    fn kept(&self) -> &[Example] {
        &self.places[..self.used]
    }

    /// Returns the index of the stored sample of a label, if there is one.
    fn of_label(&self, label: &Arc<str>) -> Option<usize> {
        self.kept().iter().position(|kept| Arc::ptr_eq(&kept.label, label))
    }

    /// Adds an entry and returns its index.
    fn add(&mut self, label: &Arc<str>) -> usize {
        if self.used == self.places.len() {
            self.places.push(Example::none(label));
        }
        self.used += 1;
        self.used - 1
    }
}

/// Chooses the samples of a core that are stored as evidence, and stores them.
#[derive(Debug)]
pub(crate) struct Keeper {
    errors: Shelf,
    slow: Shelf,
    at_random: Shelf,
    /// State of the random number generator.
    random: u64,
    /// The random number of the sample that [`Keeper::choose`] examined last.
    number: u64,
    /// The smallest random numbers of samples in the run so far, at most [`AT_RANDOM`].
    ranks: BinaryHeap<u64>,
    /// Limit for a random choice: the largest number in `ranks` once `ranks` is full. Samples with smaller numbers are
    /// chosen.
    bound: u64,
    /// Number of stored samples by the hash of their error cause.
    causes: HashMap<u64, u32>,
    hasher: RandomState,
}

impl Default for Keeper {
    fn default() -> Self {
        let hasher = RandomState::new();
        Self {
            errors: Shelf::default(),
            slow: Shelf::default(),
            at_random: Shelf::default(),
            random: hasher.hash_one(0) | 1,
            number: 0,
            ranks: BinaryHeap::with_capacity(AT_RANDOM + 1),
            bound: u64::MAX,
            causes: HashMap::with_capacity(CAUSES),
            hasher,
        }
    }
}

impl Keeper {
    /// Draws the random number of a sample that begins. When the sample ends, [`Keeper::choose`] compares it with
    /// `bound`.
    #[inline]
    pub(crate) fn draw(&mut self) -> Draw {
        self.step();
        Draw::of(self.random, self.bound)
    }

    /// Advances the random number generator (xorshift64, whose state is never 0).
    #[inline]
    fn step(&mut self) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
    }

    /// Returns the reasons for storing a sample that has ended: it is the slowest of its label in this minute, or it is
    /// chosen at random. Updates `slowest`.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        draw: Draw,
        elapsed: u64,
        slowest: &mut u64,
        label: &Arc<str>,
    ) -> Reasons {
        self.step();
        self.number = if draw == Draw::NONE { self.random } else { draw.number(self.random) };
        if self.number >= self.bound && elapsed <= *slowest {
            return Reasons::default();
        }
        self.chosen(elapsed, slowest, label)
    }

    #[cold]
    fn chosen(&mut self, elapsed: u64, slowest: &mut u64, label: &Arc<str>) -> Reasons {
        let room = || self.slow.used < MOST_SLOW || self.slow.of_label(label).is_some();
        let slow = elapsed > *slowest && room();
        if slow {
            *slowest = elapsed;
        }
        let random = self.number < self.bound;
        if random {
            self.ranks.push(self.number);
            if self.ranks.len() > AT_RANDOM {
                self.ranks.pop();
            }
            if self.ranks.len() == AT_RANDOM {
                self.bound = self.ranks.peek().copied().unwrap_or(u64::MAX);
            }
        }
        Reasons { error: false, slow, random }
    }

    /// True if a failed sample is to be stored because it is one of the first with its error cause. Counts the sample.
    pub(crate) fn wants(&mut self, outcome: Outcome, code: &str, message: &str) -> bool {
        let hash = self.hasher.hash_one((outcome, code, message));
        let known = self.causes.len();
        match self.causes.get_mut(&hash) {
            Some(n) if *n >= OF_A_CAUSE => false,
            _ if self.errors.used >= MOST_ERRORS => false,
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

    /// Stores a sample once for each reason. Of a randomly chosen sample, only the request line and the head of the
    /// response are stored, because many are stored and soon replaced.
    pub(crate) fn keep(
        &mut self,
        reasons: Reasons,
        sample: &Sample,
        label: &Arc<str>,
        address: &str,
        texts: &Texts<'_>,
    ) {
        if reasons.error {
            let at = self.errors.add(label);
            self.errors.places[at].set(Why::Error, 0, sample, label, address, texts);
        }
        if reasons.slow {
            let at = self.slow.of_label(label).unwrap_or_else(|| self.slow.add(label));
            self.slow.places[at].set(Why::Slow, 0, sample, label, address, texts);
        }
        if reasons.random {
            // If the shelf is full, the sample with the largest random number is no longer chosen and is replaced.
            let largest = || (0..AT_RANDOM).max_by_key(|at| self.at_random.places[*at].rank);
            let is_full = self.at_random.used >= AT_RANDOM;
            let at = is_full.then(largest).flatten();
            let at = at.unwrap_or_else(|| self.at_random.add(label));
            let kept = &mut self.at_random.places[at];
            // Texts of a randomly chosen sample: the request line and the head of the response.
            let [method, space, url, end, _] = texts.request;
            let request = [method, space, url, end, ""];
            let head = Texts { request, response: [texts.response[0], "", ""], ..*texts };
            kept.set(Why::Random, self.number, sample, label, address, &head);
        }
    }

    /// Appends the stored samples of this second to `into` and empties the shelves.
    pub(crate) fn drain_into(&mut self, into: &mut Vec<Example>) {
        for shelf in [&mut self.errors, &mut self.slow, &mut self.at_random] {
            into.extend_from_slice(shelf.kept());
            shelf.used = 0;
        }
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
            trace: 0,
            request: String::new(),
            response: String::new(),
        }
    }

    fn set(
        &mut self,
        why: Why,
        rank: u64,
        sample: &Sample,
        label: &Arc<str>,
        address: &str,
        texts: &Texts<'_>,
    ) {
        (self.why, self.rank, self.label) = (why, rank, Arc::clone(label));
        (self.outcome, self.start_ms) = (sample.outcome, sample.start_ms);
        (self.elapsed, self.phases) = (sample.elapsed, sample.phases);
        // A sample that failed while connecting has no connect time in JMeter's sense.
        let opened = sample.connect > 0 || sample.phases.connect > 0 || sample.phases.dns > 0;
        self.reused = !opened && !sample.outcome.is_without_connection();
        (self.sent, self.received) = (sample.sent, sample.received);
        self.trace = texts.trace;
        fill(&mut self.code, &[texts.code]);
        fill(&mut self.message, &[texts.message]);
        fill(&mut self.address, &[address]);
        fill(&mut self.request, &texts.request);
        fill(&mut self.response, &texts.response);
    }
}

/// Replaces `text` by the joined parts, cut to [`EXCERPT`] bytes.
fn fill(text: &mut String, parts: &[&str]) {
    text.clear();
    for part in parts {
        let room = EXCERPT.saturating_sub(text.len());
        text.push_str(&part[..part.floor_char_boundary(room)]);
    }
}
