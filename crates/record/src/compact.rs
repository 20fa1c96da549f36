//! Compacting the file of a record: old seconds become intervals ([`crate::coarse`]); everything else stays.
//!
//! The file is read and written frame by frame; memory holds one interval and the slow samples kept in it. From the
//! first second that is too young on, the file is copied unchanged. In intervals of a minute and more, only the slowest
//! sample of each label is kept, up to [`KEPT`] bytes per interval. All marks, failed samples and names are kept.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use stats::kept::Why;

use crate::coarse::{Joiner, step_of};
use crate::file::bytes::{In, Out};
use crate::file::columns::Columns;
use crate::file::entries::{self, Kind};
use crate::file::{Found, Frames, MAGIC, parts, push_frame};
use crate::kept::Kept;
use crate::second::Second;
use crate::sum::Sum;

/// Limit for the slow samples that are kept in one interval, in bytes before compression.
const KEPT: usize = 64 << 10;
/// Shortest interval, in ms, to which the limit [`KEPT`] applies.
const KEPT_FROM_MS: u32 = 60_000;
/// Size of the pending entries above which a frame is written, in bytes before compression.
const FRAME: usize = 64 << 10;

/// Ages at which seconds are joined: those of [`crate::coarse::LEVELS`], halved `tight` times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ages {
    /// End of the newest second, epoch ms.
    pub now_ms: i64,
    pub tight: u32,
}

/// Copies the file of a record, and joins seconds into intervals that are longer the older the seconds are. The last
/// frame of `from` must be complete.
pub fn compact(from: &mut impl Read, to: &mut impl Write, ages: Ages) -> io::Result<()> {
    let mut magic = Vec::new();
    from.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    if magic != MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not the record of a run"));
    }
    to.write_all(MAGIC)?;
    let mut compaction = Compaction { ages, ..Compaction::default() };
    entries::push(&mut compaction.out, Kind::Columns, |out| Columns::known().write(out));
    let mut frames = Frames::new(from);
    while let Some(found) = frames.next()? {
        match found {
            Found::Frame(entries) if !compaction.is_young(&entries) => {
                compaction.take(&entries);
                compaction.write(to, FRAME)?;
            }
            Found::Damaged(_) => {
                compaction.write(to, 0)?;
                to.write_all(frames.last())?;
            }
            Found::Frame(_) | Found::Torn(_) => {
                compaction.end();
                compaction.write(to, 0)?;
                to.write_all(frames.last())?;
                return frames.copy_rest(to);
            }
        }
    }
    compaction.end();
    compaction.write(to, 0)
}

/// State of compacting a file.
#[derive(Default)]
struct Compaction {
    ages: Ages,
    start_ms: i64,
    columns: Columns,
    /// The entry with the names of metrics, which the copied rest of the file needs.
    columns_entry: Vec<u8>,
    /// True for each label that is a transaction, by label number.
    transactions: Vec<bool>,
    joiner: Joiner,
    sum: Sum,
    /// True after the first second of the file was read.
    begun: bool,
    /// Slow samples of the current interval, with their encoded entries.
    slow: Vec<(Kept, Vec<u8>)>,
    out: Out,
}

impl Compaction {
    /// Returns true if the frame contains a second that is too young to be joined.
    fn is_young(&self, entries: &[u8]) -> bool {
        let mut from = In::new(entries);
        let mut start_ms = self.start_ms;
        while let Some((kind, mut body)) = entries::next(&mut from) {
            match Kind::of(kind) {
                Some(Kind::Frame) => start_ms = entries::read_frame(&mut body).start_ms,
                Some(Kind::Second) => {
                    let Ages { now_ms, tight } = self.ages;
                    return step_of(body.signed(), start_ms, now_ms, tight) == 0;
                }
                _ => {}
            }
        }
        false
    }

    fn take(&mut self, frame: &[u8]) {
        let mut from = In::new(frame);
        let mut rest = frame.len();
        while let Some((kind, mut body)) = entries::next(&mut from) {
            let entry = &frame[frame.len() - rest..frame.len() - from.len()];
            rest = from.len();
            match Kind::of(kind) {
                Some(Kind::Second) => self.second(&mut body),
                Some(Kind::Columns) => {
                    self.columns = Columns::read(&mut body);
                    self.columns_entry = entry.to_vec();
                }
                Some(Kind::Kept) => self.kept(&mut body, entry),
                known => {
                    match known {
                        Some(Kind::Label) => self.label(&mut body),
                        Some(Kind::Frame) => {
                            self.start_ms = entries::read_frame(&mut body).start_ms;
                            if !self.begun {
                                self.joiner = Joiner::new(self.start_ms);
                            }
                        }
                        _ => {}
                    }
                    self.out.0.extend_from_slice(entry);
                }
            }
        }
    }

    fn label(&mut self, body: &mut In<'_>) {
        let (number, label) = entries::read_label(body);
        let at = number as usize;
        if at < crate::read::MOST_NUMBER as usize {
            if at >= self.transactions.len() {
                self.transactions.resize(at + 1, false);
            }
            self.transactions[at] = label.transaction;
        }
    }

    fn second(&mut self, body: &mut In<'_>) {
        let transactions = &self.transactions;
        let transaction =
            |number: u32| transactions.get(number as usize).copied().unwrap_or_default();
        let mut second = parts::read_second(body, &self.columns, &transaction, &mut self.sum);
        crate::read::in_order(&mut second.labels);
        let Ages { now_ms, tight } = self.ages;
        let step_ms = step_of(second.at_ms, self.start_ms, now_ms, tight);
        let before = self.joiner.add(second, step_ms);
        self.push(before);
        self.begun = true;
    }

    /// Writes an interval and the slow samples that it keeps.
    fn push(&mut self, second: Option<Second>) {
        let Some(second) = second else { return };
        entries::push(&mut self.out, Kind::Second, |out| parts::write_second(&second, out));
        self.slow.sort_by_key(|one| std::cmp::Reverse(one.0.elapsed));
        let step_ms = second.coarse.as_ref().map_or(0, |coarse| coarse.step_ms);
        let (mut labels, mut bytes) = (HashSet::new(), 0);
        for (kept, entry) in self.slow.drain(..) {
            let has_room = step_ms < KEPT_FROM_MS || labels.insert(kept.label) && bytes < KEPT;
            if has_room {
                bytes += entry.len();
                self.out.0.extend_from_slice(&entry);
            }
        }
    }

    fn kept(&mut self, body: &mut In<'_>, entry: &[u8]) {
        let (kept, _) = entries::read_kept(body);
        if kept.why == Why::Slow {
            self.slow.push((kept, entry.to_vec()));
        } else {
            self.out.0.extend_from_slice(entry);
        }
    }

    fn end(&mut self) {
        let last = self.joiner.end();
        self.push(last);
        for (_, entry) in self.slow.drain(..) {
            self.out.0.extend_from_slice(&entry);
        }
        self.out.0.append(&mut self.columns_entry);
    }

    /// Writes the pending entries as a frame if they have more than `least` bytes.
    fn write(&mut self, to: &mut impl Write, least: usize) -> io::Result<()> {
        if self.out.0.len() <= least {
            return Ok(());
        }
        let mut frame = Vec::new();
        push_frame(&mut frame, &self.out.0);
        self.out.0.clear();
        to.write_all(&frame)
    }
}
