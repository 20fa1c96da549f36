//! Space limits for slow and randomly chosen samples, so that a long run keeps samples from its last hour, too.
//!
//! A sample that is slower than the earlier ones of its minute is written at once until [`MOST_SLOW`] bytes are
//! used. After that, the slowest sample of each label waits for the end of its minute. Each minute may write
//! [`A_MINUTE`] bytes: the slowest sample of all first, then samples of the labels that were written least
//! recently. If the process is killed, waiting samples are lost. Random samples have a separate limit.
//! At most [`MOST_WAITING`] samples wait in memory.
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use stats::kept::{Example, Why};

/// Limit for slow samples that are written at once, in bytes before compression.
const MOST_SLOW: usize = 16 << 20;
/// Limit for the slow samples of each minute once [`MOST_SLOW`] is used up, in bytes before compression.
const A_MINUTE: usize = 64 << 10;
/// Limit for random samples, in bytes before compression.
const MOST_RANDOM: usize = 4 << 20;
/// Largest number of pairs of label and minute whose slowest sample waits for the end of the minute.
const MOST_WAITING: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    slow_bytes: usize,
    random_bytes: usize,
    /// The current minute, in minutes since 1970.
    minute: i64,
    /// The slowest sample of each minute and label. Two minutes can be waiting, because a second may end in one minute
    /// and contain samples of the previous minute.
    waiting: HashMap<(i64, Arc<str>), Example>,
    /// For each label, the last minute whose slowest sample was written after waiting.
    last: HashMap<Arc<str>, i64>,
}

/// The number of bytes that may still be written for one minute.
#[derive(Debug)]
pub(crate) struct Minute(usize);

fn minute_of(example: &Example) -> i64 {
    (example.start_ms + (example.elapsed / 1_000_000) as i64).div_euclid(60_000)
}

impl Shelf {
    /// Returns true if the sample is to be written now. A slow sample waits if the space is used up.
    pub(crate) fn admits(&mut self, example: &Example) -> bool {
        match example.why {
            Why::Error => true,
            Why::Random => self.random_bytes <= MOST_RANDOM,
            Why::Slow if self.slow_bytes <= MOST_SLOW => true,
            Why::Slow => {
                self.wait(example);
                false
            }
        }
    }

    /// Counts the bytes of a sample that was admitted and written.
    pub(crate) fn took(&mut self, why: Why, bytes: usize) {
        match why {
            Why::Error => {}
            Why::Slow => self.slow_bytes += bytes,
            Why::Random => self.random_bytes += bytes,
        }
    }

    fn wait(&mut self, example: &Example) {
        let key = (minute_of(example), Arc::clone(&example.label));
        if let Some(before) = self.waiting.get_mut(&key) {
            if before.elapsed < example.elapsed {
                before.clone_from(example);
            }
        } else if self.waiting.len() < MOST_WAITING {
            self.waiting.insert(key, example.clone());
        }
    }

    /// Returns the slow samples that have waited for the end of their minute, if that minute is over at `now_ms` (epoch
    /// ms), most urgent first. The `Minute` holds the space for them.
    pub(crate) fn ended(&mut self, now_ms: i64) -> (Vec<Example>, Minute) {
        let minute = now_ms.div_euclid(60_000);
        if minute == self.minute {
            return (Vec::new(), Minute(0));
        }
        self.minute = minute;
        let over = self.waiting.extract_if(|(of, _), _| *of < minute);
        let mut all: Vec<Example> = over.map(|one| one.1).collect();
        all.sort_by_key(|one| Reverse(one.elapsed));
        if let Some((_, others)) = all.split_first_mut() {
            others.sort_by_key(|one| self.last.get(&one.label).copied());
        }
        (all, Minute(A_MINUTE))
    }

    /// Counts a waiting sample that was written, and its bytes. Returns false if the space of the minute is used up.
    pub(crate) fn wrote(&mut self, example: &Example, bytes: usize, room: &mut Minute) -> bool {
        // Clearing the list bounds memory for any number of labels. It only affects which label is written next.
        if self.last.len() > MOST_WAITING {
            self.last.clear();
        }
        self.last.insert(Arc::clone(&example.label), minute_of(example));
        room.0 = room.0.saturating_sub(bytes);
        room.0 > 0
    }
}
