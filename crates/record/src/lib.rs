//! The record of a run: what it measured each second, mergeable, and what it was.
//!
//! Every answer (verdict, comparison, capacity, report) is a function of a [`Record`]. A record comes from the folder
//! of a run, also of one that was killed, or from a result file of JMeter; the second has no phases and no generator,
//! which [`Record::has`] says, so that an answer can name what it lacks.
//!
//! | module | holds |
//! |---|---|
//! | `frame` | what was run, by what, under which load |
//! | `second`, `labels` | a second: parts by label, phases, generator, targets |
//! | `fact`, `alert` | settings in force of watched hosts; alerts that fired |
//! | `kept` | samples kept whole: errors, the slowest, a few at random |
//! | `recording`, `gather`, `fold` | a run's snapshots as seconds, written; labels that differ in ids only are one |
//! | `coarse`, `sum`, `compact` | seconds of a long run, joined into intervals; their sums; a file made shorter so |
//! | `file`, `read` | the form of the file; reading it |
//! | `jtl` | a record from a result file |
//! | `now` | the second that has just ended, for those who follow a running test |
//! | `wordings` | failures by their words, of all systems and languages |
//! | `mask` | secrets in what is kept, made unreadable |
mod alert;
pub mod coarse;
pub mod compact;
mod fact;
mod file;
pub mod fold;
pub mod frame;
mod gather;
pub mod jtl;
pub mod kept;
pub mod labels;
pub mod mask;
pub mod now;
pub mod read;
pub mod recording;
pub mod second;
mod shelf;
mod sum;
pub mod wordings;

pub use alert::Alert;
pub use fact::Fact;
pub use frame::{Change, Ending, Frame, Load, Mark};
pub use gather::MOST_LABELS;
pub use kept::Kept;
pub use labels::Labels;
pub use now::{Follower, Lamp, Now, State};
pub use read::{FILE, Given, ReadError, given};
pub use recording::{Around, Recording};
pub use second::{Checked, Class, Generator, Part, Phases, Second};
pub use stats::jtl::stream::Why as RowFault;

use std::sync::Arc;

use stats::Outcome;
use stats::grouped::things;

/// A whole run. Numbers of labels, causes, classes and series are indices into the lists here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub frame: Frame,
    pub labels: Vec<Label>,
    pub causes: Vec<CauseName>,
    pub classes: Vec<ClassName>,
    /// Classes with the labels of the samples in them, each pair once. Empty where that is not known.
    pub served: Vec<(u32, u32)>,
    pub series: Vec<Series>,
    /// Settings in force of watched hosts, each name once for a host.
    pub facts: Vec<Fact>,
    /// In order of time, without gaps: a second in which nothing happened is there and empty. Of a run of more than some
    /// hours they are intervals of one length, each with [`Second::coarse`].
    pub seconds: Vec<Second>,
    /// Changes and moments, in order of time.
    pub marks: Vec<Mark>,
    pub kept: Vec<Kept>,
    pub has: Has,
    /// Parts that are missing because the file was cut short or damaged.
    pub flaws: Vec<Flaw>,
}

impl Record {
    /// Whether the record says which samples failed. A result file without the column `success` does not: its counts of
    /// errors are 0 and mean nothing.
    pub fn knows_errors(&self) -> bool {
        !self.flaws.contains(&Flaw::NoSuccess)
    }
}

/// A part of a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The last frame or row is not whole: the program was killed while it wrote.
    TornEnd { bytes: u64 },
    /// Bytes that are not what was written, and the length of the run's time that was in them; 0 where that is not known, or
    /// no time was.
    Damaged { bytes: u64, places: u64, missing_ms: i64 },
    /// The frame that says when and of what plan the run was is damaged: its start is that of the first second.
    NoStart,
    /// Entries that are not what a record has.
    OddEntries { entries: u64 },
    /// Rows of a result file that have no time, or are of another form.
    Rows { rows: u64, first_line: u64, why: Option<RowFault> },
    /// The result file has rows without the column `success`: its errors are unknown.
    NoSuccess,
    /// Pauses between runs that were appended to one result file: no part of its length.
    Pauses { pauses: u64, longest_ms: i64 },
    /// The compressed file could not be unpacked to its end.
    DamagedArchive,
    /// The time stamps are seconds and not milliseconds; they were read as such.
    InSeconds,
    /// The result file has transactions of so many labels without their requests; they count as requests.
    Transactions { labels: u64 },
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TornEnd { bytes } => {
                write!(out, "the last {bytes} bytes are left out: they were not written whole")
            }
            Self::Damaged { bytes, places, missing_ms } => {
                let (bytes, places) = (things(*bytes, "byte"), things(*places, "place"));
                write!(out, "{bytes} in {places} could not be read and are left out")?;
                match missing_ms {
                    0 => Ok(()),
                    ms => {
                        let missing = stats::grouped::seconds(ms.unsigned_abs());
                        write!(out, ": {missing} of the run; its rates are too low by that")
                    }
                }
            }
            Self::NoStart => out.write_str(
                "the beginning is damaged: plan, settings and start of the run are unknown, and times count from the first second that could be read",
            ),
            Self::OddEntries { entries } => {
                write!(out, "{entries} entries could not be read whole")
            }
            Self::Rows { rows, first_line, why } => {
                match rows {
                    1 => write!(out, "1 row could not be read, in line {first_line}")?,
                    _ => write!(out, "{rows} rows could not be read, the first in line {first_line}")?,
                }
                why.map_or(Ok(()), |why| write!(out, ": {why}"))
            }
            Self::Pauses { pauses, longest_ms } => {
                let length = stats::grouped::seconds(longest_ms.unsigned_abs());
                match pauses {
                    1 => write!(out, "the file has a pause of {length} without samples, as between two runs that were appended; length and rates leave it out"),
                    _ => write!(out, "the file has {pauses} pauses without samples, the longest of {length}, as between runs that were appended; length and rates leave them out"),
                }
            }
            Self::DamagedArchive => out.write_str(
                "the compressed file is damaged or ends early: what could not be unpacked is left out",
            ),
            Self::InSeconds => out.write_str(
                "the time stamps are seconds and not milliseconds, and are read as such",
            ),
            Self::Transactions { labels } => write!(
                out,
                "the file has no rows of the requests in the transactions of {}: each transaction counts as one request; jmeter.save.saveservice.subresults=true writes the requests, too",
                things(*labels, "label")
            ),
            Self::NoSuccess => out.write_str(
                "the result file has no column success, or nothing in it: its errors are unknown, and counted nowhere; write it with jmeter.save.saveservice.successful=true",
            ),
        }
    }
}

/// A label. Requests and transactions of the same name are two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub name: Arc<str>,
    pub transaction: bool,
    /// Labels that differ in digits or ids only, counted as this one; 0 where nothing was folded.
    pub folded: u32,
}

/// An error's cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseName {
    pub outcome: Outcome,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub first_label: Arc<str>,
}

/// A property by which exchanges are told apart: the address they went to, or the value of one response header.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClassName {
    Address(Arc<str>),
    Header { name: Arc<str>, value: Arc<str> },
}

/// A figure of a target host that was watched.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name that the user gave to the host.
    pub host: Arc<str>,
    /// One of the common names (`cpu`, `memory`, `gc_pause`, `connections` …) or the exporter's own.
    pub metric: Arc<str>,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share, 0 to 1.
    Share,
    Bytes,
    Seconds,
    PerSecond,
    Count,
}

/// Parts of the data that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Has {
    /// Waited here, DNS, TLS, send, receive, lag; a result file has connect and wait alone.
    pub phases: bool,
    /// Completions in slots of 100 ms.
    pub slots: bool,
    /// Times from the intended start.
    pub response: bool,
    /// Connections: opened, reused, closed, their times; TLS.
    pub connections: bool,
    /// Addresses, and a header if one was chosen.
    pub classes: bool,
    /// The generator and its machine.
    pub generator: bool,
    /// The users that were active.
    pub users: bool,
    /// The load that was asked for.
    pub load: bool,
    /// Hosts that were watched.
    pub targets: bool,
    pub kept: bool,
}
