//! Chunks of rows that wait for the writer thread, and the time that it spends writing. Both show whether the disk
//! keeps up.
//!
//! The backlog is counted per chunk of 64 KiB, never per row.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// The writer's backlog, shared by cores, writer and coordinator.
#[derive(Debug)]
pub(crate) struct Backlog {
    chunks: AtomicUsize,
    rows: AtomicU64,
    /// Time spent in completed writes, in nanoseconds.
    written: AtomicU64,
    /// The start of the current write, in nanoseconds since `origin`, plus one; 0: no write is running.
    writing: AtomicU64,
    origin: Instant,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            chunks: AtomicUsize::new(0),
            rows: AtomicU64::new(0),
            written: AtomicU64::new(0),
            writing: AtomicU64::new(0),
            origin: Instant::now(),
        }
    }
}

impl Backlog {
    /// Returns the number of chunks that wait or are being written.
    pub(crate) fn chunks(&self) -> usize {
        self.chunks.load(Relaxed)
    }

    /// Returns the number of rows in the chunks that wait or are being written. A response that is written to a
    /// separate file counts as a row.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }

    /// Counts a chunk that is handed to the writer, with its number of rows.
    pub(crate) fn add(&self, rows: u64) {
        self.chunks.fetch_add(1, Relaxed);
        self.rows.fetch_add(rows, Relaxed);
    }

    /// Writes a chunk with this number of rows by calling `write`, and removes the chunk from the backlog.
    pub(crate) fn write<T>(&self, rows: u64, write: impl FnOnce() -> T) -> T {
        let begun = self.now();
        self.writing.store(begun + 1, Relaxed);
        let written = write();
        self.writing.store(0, Relaxed);
        self.written.fetch_add(self.now() - begun, Relaxed);
        self.chunks.fetch_sub(1, Relaxed);
        self.rows.fetch_sub(rows, Relaxed);
        written
    }

    /// Returns the seconds spent writing so far, including the current write.
    pub(crate) fn write_s(&self) -> f64 {
        let open = self.writing.load(Relaxed).checked_sub(1);
        let open = open.map_or(0, |begun| self.now().saturating_sub(begun));
        (self.written.load(Relaxed) + open) as f64 / 1e9
    }

    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_goes_on_counts() {
        let backlog = Backlog::default();
        backlog.add(7);
        backlog.add(2);
        let during = backlog.write(7, || {
            std::thread::sleep(std::time::Duration::from_millis(3));
            (backlog.rows(), backlog.chunks(), backlog.write_s())
        });
        assert_eq!((during.0, during.1), (9, 2));
        assert!(during.2 >= 0.003 && backlog.write_s() >= during.2);
        assert_eq!((backlog.rows(), backlog.chunks()), (2, 1));
    }
}
