//! The second of a running test that has just ended, as everybody gets it who follows the test: the terminal, a live
//! page, exporters.
//!
//! There is one source: `cli` gathers the snapshots of all cores and processes, and calls every [`Follower`] once for
//! each second of the run, in order. A figure that a follower needs and [`Now`] does not have is added here, not taken
//! from elsewhere, so that all who look at a running test see the same.

use stats::Snapshot;
use stats::snapshot_file;
use stats::totals::Totals;

use crate::{CauseName, ClassName, Frame, Label, Mark, Second, Series};

/// One who is told of each second of a running test.
///
/// The call comes on the thread that gathers the snapshots: it must take a few milliseconds at most, and must not wait
/// for a disk, a network or a lock that is held for long. A slow follower copies what it needs and hands it to a thread
/// of its own.
pub trait Follower: Send {
    fn second(&mut self, now: &Now<'_>);
}

/// The second that has just ended, and the run so far.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Plan, load asked for, length asked for, processors. `frame.ending` is not known yet.
    pub frame: &'a Frame,
    /// The second as the record of the run has it: all of it, with histograms. Labels that differ in ids only are one
    /// from [`crate::MOST_LABELS`] on.
    pub second: &'a Second,
    /// Names of the numbers in `second`.
    pub labels: &'a [Label],
    pub causes: &'a [CauseName],
    pub classes: &'a [ClassName],
    pub series: &'a [Series],
    /// The same second as `seconds.jsonl` has it: percentiles, CPU, memory, connections, marks.
    pub line: &'a snapshot_file::Second,
    /// The same second with every label by its own name, however many there are.
    pub snapshot: &'a Snapshot,
    /// The run up to the end of this second, by label; errors by cause; counters.
    pub totals: &'a Totals,
    /// Criteria by now, in the order in which they were given: `--fail`, then `--abort-if`.
    pub criteria: &'a [Lamp],
    pub state: State,
    /// Changes and moments since the second before.
    pub marks: &'a [Mark],
    /// Users that are asked for by now, where their number can be changed.
    pub users: Option<u64>,
}

/// The test as its user left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Running,
    Paused,
    /// It was asked to end: samples in flight finish.
    Stopping,
}

/// A criterion of a running test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lamp {
    /// As the user wrote it, in its normal form.
    pub criterion: String,
    /// Its value by now with its unit, or `no samples`.
    pub value: String,
    /// Whether its condition holds by now; `None` until its window is full, or without a sample.
    pub holds: Option<bool>,
    /// `--abort-if`: the run ends when the condition holds. Without it (`--fail`) the condition must hold.
    pub ends: bool,
    /// A window of it has failed: the run misses it, whatever comes.
    pub lost: bool,
}

impl Lamp {
    /// Whether it is as its user wants it; `None` where that is not known yet.
    pub fn is_good(&self) -> Option<bool> {
        if self.lost { Some(false) } else { self.holds.map(|holds| holds != self.ends) }
    }
}

impl Now<'_> {
    /// Milliseconds from the start of the run to the end of this second.
    pub fn elapsed_ms(&self) -> i64 {
        (self.second.at_ms - self.frame.start_ms).max(0)
    }

    /// Milliseconds that remain of the length asked for; `None` where the run has no such length.
    pub fn remaining_ms(&self) -> Option<i64> {
        self.frame.load.length_ms.map(|length| (length - self.elapsed_ms()).max(0))
    }
}
