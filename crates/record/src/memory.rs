//! A copy of the record in memory. Thanks to it, the end of a run need not read the file that the run has just
//! written, and even a run without a folder has a verdict.

use crate::compact::{Ages, compact};
use crate::file::MAGIC;
use crate::{Record, Recording};

/// Largest size of the copy in bytes: enough for about two hours of a run with one label.
const LIMIT: usize = 4 << 20;
/// Largest number of times that the age limits of intervals are halved.
const MOST_TIGHT: u32 = 16;

/// Frames of the record that is being written. Above [`LIMIT`], the copy is dropped if a file has the whole record;
/// otherwise old seconds are joined into intervals.
#[derive(Debug)]
pub struct MemoryCopy {
    frames: Vec<u8>,
    limit: usize,
    /// True if a file contains all frames so far.
    is_stored: bool,
    is_dropped: bool,
}

impl Default for MemoryCopy {
    fn default() -> Self {
        Self { frames: Vec::new(), limit: LIMIT, is_stored: true, is_dropped: false }
    }
}

impl MemoryCopy {
    /// Appends the bytes that [`Recording::take`] returned. `is_stored` is true if they were also written to a file.
    pub fn push(&mut self, bytes: &[u8], is_stored: bool, recording: &Recording) {
        self.is_stored &= is_stored || bytes.is_empty();
        if self.is_dropped {
            return;
        }
        // After a failed write to an empty file, the recording begins the file a second time.
        let has_begun = !self.frames.is_empty();
        let frames = bytes.strip_prefix(MAGIC).filter(|_| has_begun).unwrap_or(bytes);
        self.frames.extend_from_slice(frames);
        if self.frames.len() <= self.limit {
            return;
        }
        if self.is_stored {
            (self.frames, self.is_dropped) = (Vec::new(), true);
        } else {
            self.shorten(recording.last().at_ms);
        }
    }

    /// Returns the record so far, or `None` if the copy was dropped and the file must be read.
    pub fn record(&self) -> Option<Record> {
        if self.frames.is_empty() {
            return (!self.is_dropped).then(Record::default);
        }
        Record::of_bytes(&self.frames)
    }

    /// Joins old seconds until the copy has at most half the size of its limit. If names and failed samples alone
    /// take more, the limit grows.
    fn shorten(&mut self, now_ms: i64) {
        for tight in 0..=MOST_TIGHT {
            let mut shorter = Vec::new();
            // Reading from memory and writing to memory do not fail.
            let made = compact(&mut &*self.frames, &mut shorter, Ages { now_ms, tight });
            if made.is_ok() {
                self.frames = shorter;
            }
            if self.frames.len() <= self.limit / 2 {
                return;
            }
        }
        self.limit = self.limit.max(2 * self.frames.len());
    }
}

#[cfg(test)]
mod tests {
    use stats::Snapshot;

    use super::*;
    use crate::{Around, Frame};

    /// Records a number of seconds. Returns the copy, which has at most `limit` bytes, and the bytes of the file.
    fn recorded(seconds: i64, limit: usize, is_stored: bool) -> (MemoryCopy, Vec<u8>) {
        let mut recording = Recording::new(Frame { start_ms: 1000, ..Frame::default() });
        let (mut copy, mut file) = (MemoryCopy { limit, ..MemoryCopy::default() }, Vec::new());
        for second in 1..=seconds {
            let mut snapshot = Snapshot::default();
            snapshot.at_ms = 1000 + 1000 * second;
            recording.second(&snapshot, Around { users: second as u64, ..Around::default() });
            let bytes = recording.take();
            file.extend_from_slice(&bytes);
            copy.push(&bytes, is_stored, &recording);
        }
        (copy, file)
    }

    #[test]
    fn the_copy_is_the_record_of_the_file() {
        let (copy, file) = recorded(30, LIMIT, true);
        assert_eq!(copy.record(), Record::of_bytes(&file));
        assert_eq!(MemoryCopy::default().record(), Some(Record::default()));
    }

    #[test]
    fn a_large_copy_is_dropped_only_if_a_file_has_it() {
        assert_eq!(recorded(4000, 1000, true).0.record(), None);
        let (copy, _) = recorded(20_000, 40_000, false);
        let record = copy.record().expect("a record");
        assert!(copy.frames.len() <= 40_000, "{}", copy.frames.len());
        let length_ms: i64 = record.seconds.iter().map(|second| i64::from(second.ms)).sum();
        assert_eq!((length_ms, record.flaws), (20_000_000, vec![]));
        assert_eq!(record.seconds.last().map(|last| last.users), Some(20_000));
    }

    #[test]
    fn a_frame_that_no_file_has_is_in_the_copy_once() {
        let mut recording = Recording::new(Frame { start_ms: 1000, ..Frame::default() });
        let mut copy = MemoryCopy::default();
        for second in 1..=3 {
            let mut snapshot = Snapshot::default();
            snapshot.at_ms = 1000 + 1000 * second;
            recording.second(&snapshot, Around::default());
            let bytes = recording.take();
            copy.push(&bytes, second > 1, &recording);
            if second == 1 {
                recording.lost(true);
            }
        }
        let record = copy.record().expect("a record");
        assert_eq!((record.seconds.len(), record.flaws), (3, vec![]));
    }
}
