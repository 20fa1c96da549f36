//! The chunks of rows that wait for the writer, and the time that it spends in writing: whether the disk keeps up.
//!
//! Counted per chunk of 64 KiB, never per row.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// The work that lies before the writer, shared by cores, writer and coordinator.
#[derive(Debug)]
pub(crate) struct Backlog {
    chunks: AtomicUsize,
    rows: AtomicU64,
    /// Nanoseconds spent in writes that have ended.
    written: AtomicU64,
    /// The start of the write that goes on, in nanoseconds from `origin`, plus one; 0: none does.
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
    /// Chunks that wait or are being written.
    pub(crate) fn chunks(&self) -> usize {
        self.chunks.load(Relaxed)
    }

    /// Rows in them; a response that is to be a file of its own counts as a row.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }

    /// A chunk with so many rows is handed over.
    pub(crate) fn add(&self, rows: u64) {
        self.chunks.fetch_add(1, Relaxed);
        self.rows.fetch_add(rows, Relaxed);
    }

    /// Writes a chunk with so many rows, which is done with then.
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

    /// Seconds spent in writing so far, those of the write that goes on among them.
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
