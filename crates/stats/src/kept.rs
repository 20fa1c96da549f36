//! Samples kept whole, as evidence: the first of each cause of errors, the slowest of each label and minute, and a few
//! at random.
//!
//! A sample is chosen by a few comparisons. Each reason has a shelf of its own, so that no reason crowds out another; a
//! sample with two reasons is on both. Those at random are the ones with the smallest of random numbers: the smallest of
//! several cores' are again a fair choice. Texts are cut to [`EXCERPT`]. Places of a shelf are used again, so that keeping
//! allocates nothing once warm.
#[cfg(test)]
mod tests;

use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::phases::Phases;
use crate::sample::{Outcome, Sample};

/// Failed samples of a core and second. A cause that finds no room keeps its next samples instead.
const MOST_ERRORS: usize = 128;
/// Labels of a core and second whose slowest is kept. One that finds no room keeps its next sample that is slower.
const MOST_SLOW: usize = 128;
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
    /// The number of its trace; 0 is none.
    pub trace: u128,
    /// Head and the first part of the body.
    pub request: String,
    pub response: String,
}

/// Texts of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    pub code: &'a str,
    pub message: &'a str,
    /// The number of its trace; 0 is none.
    pub trace: u128,
    /// Parts that stand behind each other.
    pub request: [&'a str; 5],
    pub response: [&'a str; 3],
}

/// The number by which chance chooses a sample, drawn when it begins, so that the head of its answer is there at its end: the
/// samples with the smallest numbers of a run are kept. A draw has two bytes of the number: how many zeros it begins with, and
/// the ten bits behind the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(u16);

impl Draw {
    /// None was drawn.
    pub const NONE: Self = Self(u16::MAX);
    /// One that is too large to be kept.
    const LARGE: Self = Self(0x3ff);

    /// A number that would be kept if its sample ended now, or one that is too large.
    fn of(number: u64, bound: u64) -> Self {
        if number >= bound {
            return Self::LARGE;
        }
        let zeros = number.leading_zeros().min(63);
        let code = (zeros << 10) as u16 | (number << zeros >> 53) as u16 & 0x3ff;
        // The largest numbers of all have the code of those that are too large.
        Self(if code == Self::LARGE.0 { code - 1 } else { code })
    }

    /// The number, with other bits in the places that are not known.
    fn number(self, others: u64) -> u64 {
        let (zeros, known) = (self.0 >> 10, u64::from(self.0 & 0x3ff) | 0x400);
        (known << 53 | others >> 11) >> zeros
    }

    /// Whether chance may choose the sample.
    pub fn is_small(self) -> bool {
        self != Self::NONE && self != Self::LARGE
    }
}

impl Default for Draw {
    fn default() -> Self {
        Self::NONE
    }
}

/// The reasons for which a sample is kept; mostly none.
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

/// The samples of a second that are kept for one reason: the first `used` places.
#[derive(Debug, Default)]
struct Shelf {
    places: Vec<Example>,
    used: usize,
}

impl Shelf {
    fn kept(&self) -> &[Example] {
        &self.places[..self.used]
    }

    /// The place of the slowest sample of a label, if it has one.
    fn of_label(&self, label: &Arc<str>) -> Option<usize> {
        self.kept().iter().position(|kept| Arc::ptr_eq(&kept.label, label))
    }

    /// A new place.
    fn add(&mut self, label: &Arc<str>) -> usize {
        if self.used == self.places.len() {
            self.places.push(Example::none(label));
        }
        self.used += 1;
        self.used - 1
    }
}

/// Chooses and keeps the samples of a core.
#[derive(Debug)]
pub(crate) struct Keeper {
    errors: Shelf,
    slow: Shelf,
    at_random: Shelf,
    random: u64,
    /// The number of the last sample that was looked at.
    number: u64,
    /// The smallest random numbers so far.
    ranks: BinaryHeap<u64>,
    /// All numbers from here on are too large.
    bound: u64,
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
    /// Draws the number of a sample that begins.
    #[inline]
    pub(crate) fn draw(&mut self) -> Draw {
        self.step();
        Draw::of(self.random, self.bound)
    }

    /// xorshift64, which never is 0.
    #[inline]
    fn step(&mut self) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
    }

    /// The reasons for keeping a sample of a label: it is the slowest of that label so far, or chance.
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

    /// Whether a failed sample is kept, as one of the first of its cause.
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

    /// Keeps a sample for each of its reasons. Those at random are many at first: they have the head of the answer alone.
    pub(crate) fn keep(
        &mut self,
        reasons: Reasons,
        sample: &Sample,
        (label, address): (&Arc<str>, &str),
        texts: &Texts<'_>,
    ) {
        if reasons.error {
            let at = self.errors.add(label);
            self.errors.places[at].set((Why::Error, 0), sample, (label, address), texts);
        }
        if reasons.slow {
            let at = self.slow.of_label(label).unwrap_or_else(|| self.slow.add(label));
            self.slow.places[at].set((Why::Slow, 0), sample, (label, address), texts);
        }
        if reasons.random {
            // As many as there are in all: where it is full, the largest number has left the choice.
            let largest = || (0..AT_RANDOM).max_by_key(|at| self.at_random.places[*at].rank);
            let is_full = self.at_random.used >= AT_RANDOM;
            let at = is_full.then(largest).flatten();
            let at = at.unwrap_or_else(|| self.at_random.add(label));
            let kept = &mut self.at_random.places[at];
            // What was asked for, and the head of the answer.
            let [method, space, url, end, _] = texts.request;
            let request = [method, space, url, end, ""];
            let head = Texts { request, response: [texts.response[0], "", ""], ..*texts };
            kept.set((Why::Random, self.number), sample, (label, address), &head);
        }
    }

    /// Gives those of this second.
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
        (why, rank): (Why, u64),
        sample: &Sample,
        (label, address): (&Arc<str>, &str),
        texts: &Texts<'_>,
    ) {
        (self.why, self.rank, self.label) = (why, rank, Arc::clone(label));
        (self.outcome, self.start_ms) = (sample.outcome, sample.start_ms);
        (self.elapsed, self.phases) = (sample.elapsed, sample.phases);
        // One that failed while it connected has no time of connecting as JMeter counts it.
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

/// Makes a text of parts, of bounded length.
fn fill(text: &mut String, parts: &[&str]) {
    text.clear();
    for part in parts {
        let room = EXCERPT.saturating_sub(text.len());
        text.push_str(&part[..part.floor_char_boundary(room)]);
    }
}
