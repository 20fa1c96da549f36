//! The latest complete second of a running test, as all its followers get it: the terminal, a live page, exporters.
//!
//! There is one source: `cli` gathers the snapshots of all cores and processes, and calls every [`Follower`] once
//! for each second of the run, in order. If a follower needs a metric that [`Now`] lacks, add the metric to `Now`
//! instead of taking it from elsewhere. So all followers see the same metrics.

use stats::Snapshot;
use stats::snapshot_file;
use stats::totals::Totals;

use crate::{CauseName, ClassName, Frame, Label, Mark, Second, Series};

/// A receiver of every second of a running test.
///
/// The call runs on the thread that gathers the snapshots. It must take a few milliseconds at most, and must not
/// wait for a disk, a network or a lock that is held for long. A slow follower copies the data it needs and passes
/// it to a separate thread.
pub trait Follower: Send {
    fn second(&mut self, now: &Now<'_>);
}

/// The latest complete second, and the totals of the run so far.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Plan, requested load, requested length and processors. `frame.ending` is not known yet.
    pub frame: &'a Frame,
    /// The second as the record of the run stores it, complete with histograms. Above [`crate::MOST_LABELS`] labels,
    /// labels that differ only in ids are folded into one.
    pub second: &'a Second,
    /// Labels of the run. Label numbers in `second` are indices into this list.
    pub labels: &'a [Label],
    /// Causes of errors. Cause numbers in `second` are indices into this list.
    pub causes: &'a [CauseName],
    /// Classes of exchanges. Class numbers in `second` are indices into this list.
    pub classes: &'a [ClassName],
    /// Metrics of watched hosts. Series numbers in `second` are indices into this list.
    pub series: &'a [Series],
    /// The current second as written to `seconds.jsonl`: percentiles, CPU, memory, connections, marks.
    pub line: &'a snapshot_file::Second,
    /// The current second with each label under its original name, even if the record folds labels.
    pub snapshot: &'a Snapshot,
    /// Totals of the run up to the end of this second, by label; errors by cause; counters.
    pub totals: &'a Totals,
    /// Current state of the criteria in the order of the command line: `--fail`, then `--abort-if`.
    pub criteria: &'a [Lamp],
    pub state: State,
    /// Load changes and events since the previous second.
    pub marks: &'a [Mark],
    /// Currently requested number of users, if the number can be changed during the run.
    pub users: Option<u64>,
}

/// The state of a test that its user can pause or stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Running,
    Paused,
    /// The stop was requested; samples in flight finish.
    Stopping,
}

/// The current state of a criterion during the test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lamp {
    /// The criterion as the user wrote it, in normalized notation.
    pub criterion: String,
    /// Current value of the criterion with its unit, or `no samples`.
    pub value: String,
    /// The current value, formatted in Chinese.
    pub value_zh: String,
    /// True if the condition of the criterion holds now; `None` until its window is full, or without a sample.
    pub holds: Option<bool>,
    /// True for `--abort-if`: the run ends when the condition holds. False for `--fail`: the condition must hold.
    pub ends: bool,
    /// True if a window of the criterion has failed, so that the run misses the criterion whatever follows.
    pub lost: bool,
}

impl Lamp {
    /// Returns true if the criterion is in the state that the user wants; `None` if that is not known yet.
    pub fn is_good(&self) -> Option<bool> {
        if self.lost { Some(false) } else { self.holds.map(|holds| holds != self.ends) }
    }
}

impl Now<'_> {
    /// Returns the milliseconds from the start of the run to the end of this second.
    pub fn elapsed_ms(&self) -> i64 {
        (self.second.at_ms - self.frame.start_ms).max(0)
    }

    /// Returns the milliseconds that remain of the requested length; `None` if the run has no requested length.
    pub fn remaining_ms(&self) -> Option<i64> {
        self.frame.load.length_ms.map(|length| (length - self.elapsed_ms()).max(0))
    }
}
