//! The second of a run whose snapshots are being merged. Each snapshot comes from a core of a process, from a thread of
//! one of several processes, or from a machine. A run in one process, coordinators, agents and relays all merge by this
//! type.
//!
//! A second ends when all its parts are merged, when a part arrives twice, or when no part has arrived for some time.
//! Merging is the only cost: the memory of a recycled snapshot is used for a later second.

use std::time::{Duration, Instant};

use crate::counter::{Counter, Counters};
use crate::snapshot::{Behind, SLOTS, Snapshot};
use crate::standstill::Standstill;

/// Maximum time after the arrival of a part for which a second waits for its next part.
const OVERDUE: Duration = Duration::from_millis(1500);
/// Length in ms of a slot, a tenth of a second.
const SLOT_MS: i64 = 100;
const SECOND_MS: i64 = SLOT_MS * SLOTS as i64;
/// Difference in ms above which a machine's snapshot belongs to an earlier second: the end of the open second minus the
/// end of the snapshot.
const LATE_MS: i64 = 700;

/// [`Snapshot::core`] of a snapshot with the losses of a worker that died. Its [`Snapshot::seq`] is the number of the
/// worker.
pub const LOST: u32 = u32::MAX;

/// The kind of the parts of a second. Each part sends one snapshot per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A core of this process, or a single worker. All parts begin their seconds at the same time.
    Core,
    /// A thread of one of several processes, which begin their seconds at different times.
    Process,
    /// A machine. Its snapshots can come seconds late, after a broken connection.
    Machine,
}

/// A second that has ended.
#[derive(Debug)]
pub struct Closed {
    pub snapshot: Box<Snapshot>,
    /// Longest time for which no thread of a process ran, in nanoseconds.
    pub stall: u64,
}

/// The second whose parts are being merged, and data of earlier seconds that later seconds need.
#[derive(Debug)]
pub struct OpenSecond {
    kind: PartKind,
    snapshot: Box<Snapshot>,
    /// The parts that were merged, by process and thread.
    merged: Vec<(u32, u32)>,
    /// Arrival of the last part.
    arrived: Instant,
    /// Time from which the slots of the second count, in epoch ms. Stays 0 for cores.
    began_ms: i64,
    /// Samples that ended after the last slot of the open second; they are counted in the next second.
    behind: Vec<Behind>,
    stalls: Standstill,
    /// The processes that died.
    lost: Vec<u32>,
    /// Latest end of a closed second in epoch ms.
    ended_ms: i64,
    spare: Option<Box<Snapshot>>,
}

impl OpenSecond {
    /// Creates the first second of a run that starts at `start_ms`, epoch ms.
    pub fn new(kind: PartKind, start_ms: i64) -> Self {
        Self {
            kind,
            snapshot: Box::default(),
            merged: Vec::new(),
            arrived: Instant::now(),
            began_ms: 0,
            behind: Vec::new(),
            stalls: Standstill::default(),
            lost: Vec::new(),
            ended_ms: start_ms,
            spare: None,
        }
    }

    pub fn set_kind(&mut self, kind: PartKind) {
        self.kind = kind;
    }

    /// Returns the measurements of the open second so far.
    pub fn so_far(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the latest end of a closed second in epoch ms, or the run's start.
    pub fn ended_ms(&self) -> i64 {
        self.ended_ms
    }

    /// Merges the snapshot of a part, which is a process and a thread, and takes the kept samples out of it. If the
    /// open second already contains a snapshot of this part, that second ends and is returned. A late snapshot is not
    /// merged but returned as a separate second.
    pub fn add(&mut self, part: (u32, u32), snapshot: &mut Snapshot) -> Option<Closed> {
        if self.is_late(snapshot) {
            let mut snapshot = Box::new(std::mem::take(snapshot));
            snapshot.settle();
            let stall = snapshot.counters.get(Counter::StallTime);
            return Some(Closed { snapshot, stall });
        }
        let before = if self.merged.contains(&part) { self.close() } else { None };
        let later = self.slots_later(snapshot.began_ms);
        self.snapshot.kept.append(&mut snapshot.kept);
        self.snapshot.merge_later(snapshot, later, &mut self.behind);
        self.stalls.add(part.0, part.1, snapshot.counters.get(Counter::StallTime));
        self.merged.push(part);
        self.arrived = Instant::now();
        before
    }

    /// Merges the losses of a process that died. The losses do not count as a part of the second and do not end it: the
    /// process may have sent its snapshot of the second already, and another part may still be missing.
    pub fn add_loss(&mut self, process: u32, snapshot: &Snapshot) {
        let at_ms = self.snapshot.at_ms;
        self.snapshot.merge(snapshot);
        if !self.merged.is_empty() {
            // The time of the second's end comes from its parts, even if the loss is noticed later.
            self.snapshot.at_ms = at_ms;
        }
        self.lost.push(process);
    }

    /// Ends the second if all its `parts` of the processes that are alive are merged.
    pub fn complete(&mut self, parts: u32) -> Option<Closed> {
        let is_alive = |part: &&(u32, u32)| !self.lost.contains(&part.0);
        let merged = self.merged.iter().filter(is_alive).count();
        if merged as u32 >= parts { self.close() } else { None }
    }

    /// Ends the second if no part has arrived within the time limit [`OVERDUE`].
    pub fn overdue(&mut self, now: Instant) -> Option<Closed> {
        let since = now.saturating_duration_since(self.arrived);
        if since > OVERDUE { self.close() } else { None }
    }

    /// Ends the last second of the run. Samples that ended after the second's last slot count in its last slot. If the
    /// last second has ended already, these samples and later losses form one more second.
    pub fn finish(&mut self) -> Option<Closed> {
        self.snapshot.add_to_last_slot(&mut self.behind);
        let Snapshot { labels, closes, counters, .. } = &*self.snapshot;
        let is_empty = labels.is_empty() && closes.is_empty() && *counters == Counters::default();
        if self.merged.is_empty() {
            if is_empty {
                return None;
            }
            if self.began_ms > 0 {
                self.began_ms += SECOND_MS;
            }
        }
        if self.snapshot.at_ms == 0 {
            self.snapshot.at_ms = self.ended_ms + 1;
        }
        Some(self.end())
    }

    /// Ends the second, if parts of it were merged.
    pub fn close(&mut self) -> Option<Closed> {
        if self.merged.is_empty() { None } else { Some(self.end()) }
    }

    /// Takes back the snapshot of a closed second for reuse.
    pub fn recycle(&mut self, mut snapshot: Box<Snapshot>) {
        snapshot.clear();
        (snapshot.at_ms, snapshot.began_ms) = (0, 0);
        self.spare = Some(snapshot);
    }

    fn end(&mut self) -> Closed {
        let next = self.spare.take().unwrap_or_default();
        let mut snapshot = std::mem::replace(&mut self.snapshot, next);
        snapshot.settle();
        snapshot.began_ms = self.began_ms;
        self.snapshot.add_behind(&mut self.behind);
        self.merged.clear();
        self.ended_ms = self.ended_ms.max(snapshot.at_ms);
        Closed { snapshot, stall: self.stalls.take() }
    }

    /// True for a machine's snapshot of an earlier second, delayed by a broken connection. The ends are compared: a
    /// machine whose processes begin at different times sends seconds of up to two seconds' length, which begin long
    /// before the seconds of other machines.
    fn is_late(&self, snapshot: &Snapshot) -> bool {
        let is_open = !self.merged.is_empty();
        let is_earlier = snapshot.at_ms < self.snapshot.at_ms - LATE_MS;
        self.kind == PartKind::Machine && is_open && is_earlier
    }

    /// Returns the number of slots by which a snapshot begins later than the open second. The open second begins with
    /// the part that arrives first, or with the end of the previous second if that is less than a second earlier.
    fn slots_later(&mut self, began_ms: i64) -> i64 {
        if self.kind == PartKind::Core || began_ms == 0 {
            return 0;
        }
        if self.merged.is_empty() {
            let expected = self.began_ms + SECOND_MS;
            let near = (began_ms - expected).abs() < SECOND_MS;
            self.began_ms = if near { expected.min(began_ms) } else { began_ms };
        }
        (began_ms - self.began_ms + SLOT_MS / 2).div_euclid(SLOT_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CloseCause, Recorder, Sample};

    /// Returns a snapshot of the second that begins at `from_ms`, with samples that end at these times.
    fn of(from_ms: i64, ends_ms: &[i64]) -> Snapshot {
        let mut recorder = Recorder::new();
        let label = recorder.intern("a");
        recorder.begin(from_ms);
        for end in ends_ms {
            recorder.record(&Sample::new(label, *end));
        }
        let mut snapshot = Snapshot::new();
        recorder.drain(&mut snapshot);
        snapshot.at_ms = from_ms + SECOND_MS;
        snapshot
    }

    /// Returns the losses of a worker with one open connection.
    fn loss(at_ms: i64) -> Snapshot {
        let mut recorder = Recorder::new();
        recorder.closed(CloseCause::WorkerLost, 0, 0);
        let mut snapshot = Snapshot::new();
        recorder.drain(&mut snapshot);
        (snapshot.at_ms, snapshot.core) = (at_ms, LOST);
        snapshot
    }

    /// Returns the start and end of a second, and its number of samples.
    fn facts(closed: Option<Closed>) -> Option<(i64, i64, u64)> {
        let snapshot = closed?.snapshot;
        Some((snapshot.began_ms, snapshot.at_ms, snapshot.brief(false).count))
    }

    fn slots(closed: Option<Closed>) -> Option<[u32; SLOTS]> {
        closed?.snapshot.labels.first().map(|label| label.slots)
    }

    #[test]
    fn a_second_ends_with_its_last_part_or_with_a_part_that_arrives_twice() {
        let mut open = OpenSecond::new(PartKind::Process, 9_000);
        assert!(open.add((0, 0), &mut of(10_000, &[10_050])).is_none());
        assert!(open.complete(2).is_none());
        assert!(open.add((1, 0), &mut of(10_010, &[10_060, 10_070])).is_none());
        assert_eq!(open.so_far().brief(false).count, 3);
        assert_eq!(facts(open.complete(2)), Some((10_000, 11_010, 3)));
        assert!(open.complete(0).is_none() && open.close().is_none(), "nothing is open");
        // The same thread number of another process is another part.
        assert!(open.add((0, 0), &mut of(11_000, &[11_050])).is_none());
        assert!(open.add((1, 0), &mut of(11_010, &[])).is_none());
        let before = open.add((0, 0), &mut of(12_000, &[12_050, 12_060]));
        assert_eq!(facts(before), Some((11_000, 12_010, 1)));
        assert_eq!(facts(open.finish()), Some((12_000, 13_000, 2)));
        assert!(open.finish().is_none());
        assert_eq!(open.ended_ms(), 13_000);
    }

    #[test]
    fn a_second_without_further_parts_is_overdue() {
        let mut open = OpenSecond::new(PartKind::Core, 9_000);
        let before = Instant::now();
        let after = || Instant::now() + OVERDUE + Duration::from_millis(1);
        assert!(open.overdue(after()).is_none(), "nothing is open");
        open.add((0, 0), &mut of(10_000, &[]));
        assert!(open.overdue(before).is_none());
        assert!(open.overdue(after()).is_some());
    }

    #[test]
    fn samples_count_in_the_slots_in_which_they_ended() {
        let two = |kind| {
            let mut open = OpenSecond::new(kind, 9_000);
            open.add((0, 0), &mut of(10_000, &[10_050]));
            open.add((1, 0), &mut of(10_300, &[10_350, 11_250]));
            let first = slots(open.close());
            open.add((1, 0), &mut of(11_300, &[]));
            [first, slots(open.close())]
        };
        // The sample after the end of the second is in slot 2 of the next second. The slots of the next second count
        // from 11 000, although its first part began at 11 300.
        let [a, b] = [[1, 0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]];
        assert_eq!(two(PartKind::Process), [Some(a), Some(b)]);
        assert_eq!(two(PartKind::Machine), [Some(a), Some(b)]);
        // The cores of a process begin together.
        assert_eq!(two(PartKind::Core), [Some([2, 0, 0, 0, 0, 0, 0, 0, 0, 1]), None]);
    }

    #[test]
    fn a_late_second_of_a_machine_stays_itself() {
        let parts = |kind| {
            let mut open = OpenSecond::new(kind, 3_000);
            open.add((0, 0), &mut of(10_000, &[10_050]));
            let late = facts(open.add((1, 0), &mut of(4_000, &[4_050, 4_060])));
            open.add((1, 0), &mut of(10_000, &[]));
            (late, facts(open.complete(2)), open.ended_ms())
        };
        assert_eq!(
            parts(PartKind::Machine),
            (Some((4_000, 5_000, 2)), Some((10_000, 11_000, 1)), 11_000)
        );
        // A process that was stopped reports all that time as one second.
        assert_eq!(parts(PartKind::Process).0, None);
    }

    #[test]
    fn a_machine_whose_seconds_begin_early_is_not_late() {
        let mut open = OpenSecond::new(PartKind::Machine, 9_000);
        open.add((0, 0), &mut of(10_900, &[]));
        // The last process of the machine reported at 12 000.
        let mut snapshot = of(10_100, &[10_150]);
        snapshot.at_ms = 12_000;
        assert!(open.add((1, 0), &mut snapshot).is_none());
        assert_eq!(facts(open.complete(2)), Some((10_900, 12_000, 1)));
    }

    #[test]
    fn losses_are_no_part_of_a_second() {
        let mut open = OpenSecond::new(PartKind::Process, 9_000);
        open.add((0, 0), &mut of(10_000, &[10_050]));
        open.add_loss(2, &loss(11_900));
        assert!(open.complete(2).is_none());
        open.add((1, 0), &mut of(10_000, &[]));
        let first = open.complete(2).expect("both parts");
        assert_eq!((first.snapshot.at_ms, first.snapshot.closes.len()), (11_000, 1));
        // A loss between two seconds does not begin the next second.
        open.add_loss(1, &loss(11_100));
        assert!(open.overdue(Instant::now() + OVERDUE * 2).is_none());
        open.add((0, 0), &mut of(11_000, &[11_050]));
        let second = open.complete(1).expect("the remaining part");
        assert_eq!((second.snapshot.began_ms, second.snapshot.closes.len()), (11_000, 1));
        assert_eq!(second.snapshot.labels[0].slots[0], 1);
        // At the end of the run, no part follows.
        open.add_loss(0, &loss(12_100));
        let last = open.finish().expect("the loss");
        assert_eq!((last.snapshot.at_ms, last.snapshot.closes.len()), (12_100, 1));
    }

    #[test]
    fn the_parts_of_a_process_that_died_do_not_count_for_others() {
        let mut open = OpenSecond::new(PartKind::Process, 9_000);
        // The first of two processes with two threads each dies after its reports.
        for thread in 0..2 {
            open.add((0, thread), &mut of(10_000, &[]));
            assert!(open.complete(4).is_none());
        }
        open.add_loss(0, &loss(11_100));
        let mut add = |thread, from_ms| {
            assert!(open.add((1, thread), &mut of(from_ms, &[])).is_none());
            facts(open.complete(2)).map(|(began_ms, at_ms, _)| (began_ms, at_ms))
        };
        assert_eq!([add(0, 10_500), add(1, 10_500)], [None, Some((10_000, 11_500))]);
        assert_eq!([add(0, 11_500), add(1, 11_500)], [None, Some((11_000, 12_500))]);
    }

    #[test]
    fn samples_after_the_last_second_are_a_second_of_their_own() {
        let mut open = OpenSecond::new(PartKind::Process, 9_000);
        open.add((0, 0), &mut of(10_000, &[10_050]));
        open.add((1, 0), &mut of(10_300, &[11_250]));
        assert_eq!(facts(open.complete(2)), Some((10_000, 11_300, 2)));
        let rest = open.finish().expect("the sample at 11 250").snapshot;
        assert_eq!((rest.began_ms, rest.at_ms, rest.brief(false).count), (11_000, 11_301, 0));
        assert_eq!(rest.labels[0].slots, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        // In the last second of the run, samples after the end count in the last slot.
        open.add((0, 0), &mut of(12_000, &[]));
        open.add((1, 0), &mut of(12_300, &[13_250]));
        assert_eq!(slots(open.finish()), Some([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
    }

    #[test]
    fn a_process_stalls_for_as_long_as_all_its_threads() {
        let mut open = OpenSecond::new(PartKind::Process, 9_000);
        for (part, stall) in [((0, 0), 70), ((0, 1), 50), ((1, 0), 20)] {
            let mut snapshot = of(10_000, &[]);
            snapshot.counters.add(Counter::StallTime, stall);
            open.add(part, &mut snapshot);
        }
        assert_eq!(open.close().map(|closed| closed.stall), Some(50));
    }

    #[test]
    fn a_recycled_snapshot_leaves_nothing_in_the_next_second() {
        let mut open = OpenSecond::new(PartKind::Core, 9_000);
        for second in 1..=3 {
            open.add((0, 0), &mut of(second * 10_000, &[second * 10_000]));
            let closed = open.complete(1).expect("the only part");
            let Snapshot { at_ms, labels, .. } = &*closed.snapshot;
            assert_eq!((*at_ms, labels[0].tally.count), (second * 10_000 + SECOND_MS, 1));
            open.recycle(closed.snapshot);
        }
        assert!(open.finish().is_none());
    }
}
