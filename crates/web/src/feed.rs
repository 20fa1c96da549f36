//! The newest events of a run, stored once for any number of readers. A reader that is slower than the events misses
//! some and is sent an event that asks it to reload everything. No queue per reader is kept.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of stored events; older ones are dropped.
const MOST: usize = 300;
/// Maximum size of all stored events in bytes. The newest event is always stored, whatever its size.
const MOST_BYTES: usize = 4 << 20;

/// The event that asks a reader to reload everything.
pub(crate) const AGAIN: &str = "event: again\ndata: {}\n\n";

/// Event feed: the newest events, numbered from 1, for any number of readers.
#[derive(Debug, Default)]
pub struct Feed {
    kept: Mutex<Kept>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    newest: u64,
    bytes: usize,
    events: VecDeque<Arc<str>>,
    closed: bool,
    /// Number of connected readers.
    readers: usize,
    /// Number of readers that disconnected after they had received all events.
    done: usize,
}

/// Result of a reader's request for further events.
pub(crate) enum Next {
    Events(Vec<Arc<str>>),
    /// Events that the reader has not received were already dropped, so the reader must reload everything.
    Again,
    /// No new event was published within the wait.
    Nothing,
    /// The feed is closed, and the reader has received all events.
    End,
}

impl Feed {
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes an event of type `event`. `data` must be a single line.
    pub fn publish(&self, event: &str, data: &str) {
        let mut kept = self.kept();
        kept.newest += 1;
        let text: Arc<str> =
            format!("id: {}\nevent: {event}\ndata: {data}\n\n", kept.newest).into();
        kept.bytes += text.len();
        kept.events.push_back(text);
        while kept.events.len() > MOST || kept.bytes > MOST_BYTES && kept.events.len() > 1 {
            kept.bytes -= kept.events.pop_front().map_or(0, |event| event.len());
        }
        drop(kept);
        self.changed.notify_all();
    }

    /// Returns the number of the newest event.
    pub fn newest(&self) -> u64 {
        self.kept().newest
    }

    /// Returns the number of connected readers.
    pub fn readers(&self) -> usize {
        self.kept().readers
    }

    /// Closes the feed. Readers disconnect after they have received the newest event.
    pub fn close(&self) {
        self.kept().closed = true;
        self.changed.notify_all();
    }

    /// Waits at most `time` until all readers have received all events and disconnected. Returns the number of readers
    /// that received all events.
    pub fn wait_for_readers(&self, time: Duration) -> usize {
        let kept = self.kept();
        let (kept, _) = self
            .changed
            .wait_timeout_while(kept, time, |kept| kept.readers > 0)
            .unwrap_or_else(PoisonError::into_inner);
        kept.done
    }

    /// Registers a reader. Returns false if `most` readers are already connected.
    pub(crate) fn enter(&self, most: usize) -> bool {
        let mut kept = self.kept();
        let may = kept.readers < most;
        kept.readers += usize::from(may);
        may
    }

    /// Unregisters a reader. `done` is true if the reader received all events.
    pub(crate) fn leave(&self, done: bool) {
        let mut kept = self.kept();
        kept.readers -= 1;
        kept.done += usize::from(done);
        drop(kept);
        self.changed.notify_all();
    }

    /// Returns the events after `seen` and sets `seen` to the newest number. Waits at most `time` for new events.
    pub(crate) fn next(&self, seen: &mut u64, time: Duration) -> Next {
        let kept = self.kept();
        let (kept, _) = self
            .changed
            .wait_timeout_while(kept, time, |kept| kept.newest == *seen && !kept.closed)
            .unwrap_or_else(PoisonError::into_inner);
        if kept.newest == *seen {
            return if kept.closed { Next::End } else { Next::Nothing };
        }
        let before = std::mem::replace(seen, kept.newest);
        match kept.newest.checked_sub(before).map(|behind| behind as usize) {
            Some(behind) if behind <= kept.events.len() => {
                let from = kept.events.len() - behind;
                Next::Events(kept.events.range(from..).cloned().collect())
            }
            // The last event of the reader is too old, or its number comes from another server process.
            _ => Next::Again,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn events(feed: &Feed, seen: &mut u64) -> Option<usize> {
        match feed.next(seen, NOW) {
            Next::Events(events) => Some(events.len()),
            _ => None,
        }
    }

    #[test]
    fn a_reader_gets_what_is_behind_its_event() {
        let feed = Feed::new();
        for n in 1..=5 {
            feed.publish("second", &n.to_string());
        }
        let mut seen = 3;
        let Next::Events(found) = feed.next(&mut seen, NOW) else { panic!("no events") };
        let texts: Vec<&str> = found.iter().map(|event| &**event).collect();
        assert_eq!(
            texts,
            ["id: 4\nevent: second\ndata: 4\n\n", "id: 5\nevent: second\ndata: 5\n\n"]
        );
        assert!(matches!(feed.next(&mut seen, NOW), Next::Nothing));
        feed.close();
        assert!(matches!(feed.next(&mut seen, NOW), Next::End));
    }

    #[test]
    fn old_events_go_and_their_readers_begin_again() {
        let feed = Feed::new();
        for _ in 0..=MOST {
            feed.publish("second", "");
        }
        assert_eq!(events(&feed, &mut 1), Some(MOST));
        for mut gone in [0, 9999] {
            assert!(matches!(feed.next(&mut gone, NOW), Next::Again));
            assert_eq!(gone, feed.newest());
        }
        let large = "x".repeat(MOST_BYTES);
        feed.publish("second", &large);
        feed.publish("second", "small");
        assert_eq!(feed.kept().events.len(), 1, "bytes are bounded, too");
        assert_eq!(events(&feed, &mut (MOST as u64 + 2)), Some(1));
    }
}
