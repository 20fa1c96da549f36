//! The room for samples that are kept for being slow or by chance, so that a long run has them from its last hour, too.
//!
//! A sample that is slower than those before it in its minute is written at once, until [`MOST_SLOW`] bytes are full.
//! From then on each label's slowest waits here for the end of its minute, and a minute may write [`A_MINUTE`] bytes:
//! the slowest of all first, then of the labels whose last one is the longest ago. A kill loses those that wait. Samples
//! by chance have room of their own. Memory is bounded by [`MOST_WAITING`] samples, the file by its bytes and minutes.
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use stats::kept::{Example, Why};

/// Bytes before they are compressed: slow samples that are written at once, those of each minute beyond that, and
/// samples by chance.
const MOST_SLOW: usize = 16 << 20;
const A_MINUTE: usize = 64 << 10;
const MOST_RANDOM: usize = 4 << 20;
/// Labels and minutes whose slowest waits for the end of its minute.
const MOST_WAITING: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    slow_bytes: usize,
    random_bytes: usize,
    /// The minute that goes on, since 1970.
    minute: i64,
    /// The slowest of each label and minute: a second may end in one minute and have samples of the minute before.
    waiting: HashMap<(i64, Arc<str>), Example>,
    /// The last minute of each label that was written after waiting.
    last: HashMap<Arc<str>, i64>,
}

/// The room of one minute.
#[derive(Debug)]
pub(crate) struct Minute(usize);

fn minute_of(example: &Example) -> i64 {
    (example.start_ms + (example.elapsed / 1_000_000) as i64).div_euclid(60_000)
}

impl Shelf {
    /// Whether the sample is to be written now. A slow one waits where there is no room.
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

    /// A sample that was admitted took so many bytes.
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

    /// The samples that have waited for the end of their minute, if it is over at that time (epoch ms): the more
    /// urgent, the earlier. `Minute` says for how many of them there is room.
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

    /// Counts a sample of those that waited, and its bytes. `false`: the room of its minute is full.
    pub(crate) fn wrote(&mut self, example: &Example, bytes: usize, room: &mut Minute) -> bool {
        // Labels without bound would fill the memory: forgetting them changes only whose turn is next.
        if self.last.len() > MOST_WAITING {
            self.last.clear();
        }
        self.last.insert(Arc::clone(&example.label), minute_of(example));
        room.0 = room.0.saturating_sub(bytes);
        room.0 > 0
    }
}
