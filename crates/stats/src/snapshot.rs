//! The measurements of an interval: sparse, mergeable, reusable.
//!
//! A snapshot contains only labels that occurred. Merging is by name, because core-local numbers have no meaning
//! elsewhere. Merging is commutative and associative except for the order of labels. A snapshot passed to
//! `Recorder::drain` keeps the memory of its lists. Any serde format can transport it to another process, also compact
//! formats without field names (fields are in order, maps include their length). Unknown counters of a newer or older
//! program are ignored.
mod reading;

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Causes};
use crate::class::{self, ClassDelta};
use crate::close::{self, Close};
use crate::counter::Counters;
use crate::hist::Bins;
use crate::kept::Example;
use crate::number::{self, Number};
use crate::span::SpanBins;
use crate::stalled::Stalled;
use crate::tally::Tally;

pub use reading::read;

/// Number of slots into which an interval of one second is divided: 100 ms each. Samples that end after the interval
/// count in the last slot.
pub const SLOTS: usize = 10;

/// Measurements of one label in the interval. Requests and transactions of the same name are two entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelDelta {
    pub name: Arc<str>,
    pub transaction: bool,
    pub tally: Tally,
    /// Histogram of elapsed times in whole ms; the number of a bin is its time.
    pub ms: Bins,
    /// Histogram of service times in µs: elapsed, from the actual start; binned by `hist::layout`.
    pub service: Bins,
    /// Histogram of response times in µs: elapsed plus wait, from the intended start.
    pub response: Bins,
    /// Histogram of lags in µs: the part of the elapsed time that was spent in this process.
    pub lag: Bins,
    /// Histogram of elapsed times of failed samples in µs.
    pub failed: Bins,
    /// Histogram, in µs, of the times that samples in flight at the end of the run had waited; these samples are in no
    /// other metric.
    pub unanswered: Bins,
    /// Number of samples by the tenth of the interval in which they ended.
    pub slots: [u32; SLOTS],
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// End of the interval in ms since 1970; set by the caller of `drain`.
    pub at_ms: i64,
    /// Start of the interval in ms since 1970, from which slots count; 0 if unknown.
    pub began_ms: i64,
    /// Number of the core; set by the caller of `drain`.
    pub core: u32,
    /// Number of the interval on its core, from 1; each drain of the recorder increases it.
    pub seq: u64,
    pub labels: Vec<LabelDelta>,
    pub counters: Counters,
    pub causes: Vec<Cause>,
    pub spans: SpanBins,
    /// Ended connections, one entry per pair of cause and code.
    pub closes: Vec<Close>,
    /// Exchanges by class, one entry per class.
    pub classes: Vec<ClassDelta>,
    /// Samples that are stored as evidence, for any reason.
    pub kept: Vec<Example>,
    /// Counts and times of the samples that a stall made longer.
    pub stalled: Stalled,
    /// Sums of numbers that the plan extracts from responses, indexed by the number of the series.
    pub numbers: Vec<Number>,
    /// Index of `labels` by name.
    #[serde(skip)]
    places: Places,
    /// Cleared entries whose memory is reused.
    #[serde(skip)]
    spare: Vec<LabelDelta>,
    /// Cleared histograms whose memory is reused.
    #[serde(skip)]
    pub(crate) spare_bins: Vec<Bins>,
}

/// The few sums of an interval that JMeter's summariser and status lines need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    pub count: u64,
    pub errors: u64,
    pub sum_ms: u64,
    /// Smallest and largest elapsed time in ms; `None` without samples.
    pub min_max_ms: Option<(u64, u64)>,
}

impl Snapshot {
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties the snapshot and keeps its memory.
    pub fn clear(&mut self) {
        self.spare.append(&mut self.labels);
        self.places.clear();
        self.counters.clear();
        self.causes.clear();
        self.spans.clear();
        for mut close in self.closes.drain(..) {
            close.idle_ms.clear();
            self.spare_bins.push(close.idle_ms);
        }
        for mut class in self.classes.drain(..) {
            class.service.clear();
            self.spare_bins.push(class.service);
        }
        self.kept.clear();
        self.stalled.clear();
        self.numbers.clear();
    }

    /// Appends an empty entry for a label, and returns it.
    pub(crate) fn push(&mut self, name: &Arc<str>, transaction: bool) -> &mut LabelDelta {
        let mut delta = self.spare.pop().unwrap_or_else(|| LabelDelta::empty(name, transaction));
        delta.reset(name, transaction);
        self.labels.push(delta);
        self.labels.last_mut().expect("just pushed")
    }

    /// Merges another snapshot, which may be of another core, process or interval.
    pub fn merge(&mut self, other: &Self) {
        self.merge_later(other, 0, &mut Vec::new());
    }

    /// Merges a snapshot whose interval began `slots` slots later, or earlier if negative. Samples that ended before
    /// the first slot count in the first slot. Samples that ended after the last slot are appended to `behind`, for the
    /// next interval.
    pub fn merge_later(&mut self, other: &Self, slots: i64, behind: &mut Vec<Behind>) {
        self.at_ms = self.at_ms.max(other.at_ms);
        self.counters.merge(&other.counters);
        if !other.causes.is_empty() {
            let mut causes = Causes::default();
            causes.merge(&self.causes);
            causes.merge(&other.causes);
            self.causes.clear();
            causes.drain_into(&mut self.causes);
        }
        self.spans.merge(&other.spans);
        close::merge(&mut self.closes, &other.closes, &mut self.spare_bins);
        class::merge(&mut self.classes, &other.classes, &mut self.spare_bins);
        self.kept.extend_from_slice(&other.kept);
        self.stalled.merge(&other.stalled);
        number::merge(&mut self.numbers, &other.numbers);
        let mut at = usize::MAX;
        for theirs in &other.labels {
            at = self.place_of(&theirs.name, theirs.transaction, at.wrapping_add(1));
            self.labels[at].merge(theirs, slots, behind);
        }
    }

    /// Returns the index of a label's entry, which is created if it is missing. The index `near` is tried first,
    /// because cores and machines that run the same plan usually have their labels in the same order.
    fn place_of(&mut self, name: &Arc<str>, transaction: bool, near: usize) -> usize {
        if self.labels.get(near).is_some_and(|label| label.is_of(name, transaction)) {
            return near;
        }
        self.places.complete(&self.labels);
        if let Some(at) = self.places.get(&self.labels, name, transaction) {
            return at;
        }
        self.push(name, transaction);
        self.places.complete(&self.labels);
        self.labels.len() - 1
    }

    /// Sorts values that were added but not yet sorted into the histograms; required before histograms are read.
    pub fn settle(&mut self) {
        self.labels.iter_mut().flat_map(LabelDelta::bins).for_each(Bins::settle);
    }

    /// Adds `behind`: the samples of the previous interval that ended after its last slot.
    pub fn add_behind(&mut self, behind: &mut Vec<Behind>) {
        let mut at = usize::MAX;
        for Behind { name, transaction, slots } in behind.drain(..) {
            at = self.place_of(&name, transaction, at.wrapping_add(1));
            add_slots(&mut self.labels[at].slots, &slots);
        }
    }

    /// Counts the samples in `behind`, which ended after the last slot, in the last slot, because no interval follows.
    pub fn add_to_last_slot(&mut self, behind: &mut Vec<Behind>) {
        for one in &mut *behind {
            let n = total(&one.slots);
            one.slots = [0; SLOTS];
            one.slots[SLOTS - 1] = n;
        }
        self.add_behind(behind);
    }

    /// Adds `ms` to all timestamps, because the clock of the snapshot's machine is `ms` behind the reader's clock.
    pub fn shift(&mut self, ms: i64) {
        let moved = |time: &mut i64, none: i64| {
            if *time != none {
                *time = time.saturating_add(ms);
            }
        };
        moved(&mut self.at_ms, 0);
        moved(&mut self.began_ms, 0);
        for label in &mut self.labels {
            moved(&mut label.tally.first_start_ms, Tally::EMPTY.first_start_ms);
            moved(&mut label.tally.last_end_ms, Tally::EMPTY.last_end_ms);
        }
        self.causes.iter_mut().for_each(|cause| moved(&mut cause.first_ms, 0));
        self.kept.iter_mut().for_each(|kept| moved(&mut kept.start_ms, 0));
    }

    /// Returns the sums over requests, and over transactions if requested.
    pub fn brief(&self, with_transactions: bool) -> Brief {
        let mut brief = Brief::default();
        for label in self.labels.iter().filter(|l| with_transactions || !l.transaction) {
            let t = &label.tally;
            if t.count == 0 {
                continue;
            }
            brief.merge(&Brief {
                count: t.count,
                errors: t.errors,
                sum_ms: t.sum_ms,
                min_max_ms: Some((t.min_ms, t.max_ms)),
            });
        }
        brief
    }
}

impl LabelDelta {
    fn empty(name: &Arc<str>, transaction: bool) -> Self {
        Self {
            name: Arc::clone(name),
            transaction,
            tally: Tally::EMPTY,
            ms: Bins::default(),
            service: Bins::default(),
            response: Bins::default(),
            lag: Bins::default(),
            failed: Bins::default(),
            unanswered: Bins::default(),
            slots: [0; SLOTS],
        }
    }

    fn reset(&mut self, name: &Arc<str>, transaction: bool) {
        self.name = Arc::clone(name);
        self.transaction = transaction;
        self.tally = Tally::EMPTY;
        self.slots = [0; SLOTS];
        self.bins().into_iter().for_each(Bins::clear);
    }

    fn is_of(&self, name: &Arc<str>, transaction: bool) -> bool {
        self.transaction == transaction && (Arc::ptr_eq(&self.name, name) || self.name == *name)
    }

    /// Returns all six histograms of the label.
    fn bins(&mut self) -> [&mut Bins; 6] {
        let Self { ms, service, response, lag, failed, unanswered, .. } = self;
        [ms, service, response, lag, failed, unanswered]
    }

    fn merge(&mut self, other: &Self, slots: i64, behind: &mut Vec<Behind>) {
        self.tally.merge(&other.tally);
        self.ms.merge(&other.ms);
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.lag.merge(&other.lag);
        self.failed.merge(&other.failed);
        self.unanswered.merge(&other.unanswered);
        let by = usize::try_from(slots.unsigned_abs()).unwrap_or(SLOTS);
        if slots < 0 {
            let (before, here) = other.slots.split_at(by.min(SLOTS));
            add_slots(&mut self.slots, &[total(before)]);
            add_slots(&mut self.slots, here);
            return;
        }
        let (here, later) = other.slots.split_at(SLOTS.saturating_sub(by));
        add_slots(&mut self.slots[SLOTS - here.len()..], here);
        if later.iter().any(|n| *n > 0) {
            let mut slots = [0; SLOTS];
            slots[..later.len()].copy_from_slice(later);
            behind.push(Behind {
                name: Arc::clone(&self.name),
                transaction: self.transaction,
                slots,
            });
        }
    }
}

/// Index of a snapshot's labels by name, separately for requests and transactions. The index is extended as the list of
/// labels grows. Because the list may be reordered, each position found in the index is checked against the list.
#[derive(Clone, Debug, Default)]
struct Places {
    of: [HashMap<Arc<str>, usize>; 2],
    /// Number of labels in the list that the index already contains.
    known: usize,
}

impl Places {
    fn clear(&mut self) {
        self.of.iter_mut().for_each(HashMap::clear);
        self.known = 0;
    }

    fn complete(&mut self, labels: &[LabelDelta]) {
        if self.known > labels.len() {
            self.clear();
        }
        for (at, label) in labels.iter().enumerate().skip(self.known) {
            let of = &mut self.of[usize::from(label.transaction)];
            of.entry(Arc::clone(&label.name)).or_insert(at);
        }
        self.known = labels.len();
    }

    fn get(&mut self, labels: &[LabelDelta], name: &Arc<str>, transaction: bool) -> Option<usize> {
        let at = *self.of[usize::from(transaction)].get(name)?;
        if labels[at].is_of(name, transaction) {
            return Some(at);
        }
        // The list was reordered.
        self.clear();
        self.complete(labels);
        labels.iter().position(|label| label.is_of(name, transaction))
    }
}

/// Counts of a label's samples that ended after the last slot of their interval, by the slots of the next interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    name: Arc<str>,
    transaction: bool,
    slots: [u32; SLOTS],
}

fn total(slots: &[u32]) -> u32 {
    slots.iter().fold(0, |sum: u32, n| sum.saturating_add(*n))
}

fn add_slots(to: &mut [u32], from: &[u32]) {
    for (mine, theirs) in to.iter_mut().zip(from) {
        *mine = mine.saturating_add(*theirs);
    }
}

impl Brief {
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.sum_ms += other.sum_ms;
        self.min_max_ms = match (self.min_max_ms, other.min_max_ms) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (mine, theirs) => mine.or(theirs),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::ClassDelta;
    use crate::close::{Close, CloseCause};

    #[test]
    fn a_snapshot_that_is_filled_and_emptied_again_and_again_keeps_no_more_memory() {
        let mut bins = Bins::default();
        bins.add(5, 1);
        let class = |value: &str| ClassDelta {
            value: value.into(),
            count: 1,
            service: bins.clone(),
            ..ClassDelta::default()
        };
        let close = |code| Close { cause: CloseCause::PeerFin, code, idle_ms: bins.clone() };
        let mut of_core = Snapshot::new();
        of_core.classes = vec![class("a:80"), class("b:80")];
        of_core.closes = vec![close(0), close(1001)];
        let mut all = Snapshot::new();
        for _ in 0..100 {
            all.merge(&of_core);
            all.merge(&of_core);
            assert_eq!((all.classes.len(), all.classes[1].service.total()), (2, 2));
            assert_eq!((all.closes.len(), all.closes[1].idle_ms.total()), (2, 2));
            all.clear();
            assert_eq!(all.spare_bins.len(), 4);
        }
    }
}
