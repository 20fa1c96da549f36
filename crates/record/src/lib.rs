//! The record of a run: the measurements of each second, in mergeable form, and the facts of the run.
//!
//! Every answer (verdict, comparison, capacity, report) is a function of a [`Record`]. A record comes from the
//! folder of a run, also of a killed run, or from a result file of JMeter. A record from a result file has no
//! metrics of phases and of the generator. [`Record::has`] lists the available metrics, so that an answer can name
//! the missing ones.
//!
//! | module | holds |
//! |---|---|
//! | `frame` | the facts of a run: program, plan, machine, load, end |
//! | `second`, `labels` | the metrics of one second: by label, by phase, of the generator, of the targets |
//! | `fact`, `alert` | effective settings of watched hosts; alerts that fired |
//! | `kept` | samples kept as evidence: errors, the slowest, a few chosen at random |
//! | `recording`, `gather`, `fold` | writing the snapshots of a run as seconds; folding labels that differ only in ids |
//! | `coarse`, `sum`, `compact` | joining the seconds of a long run into intervals; sums of parts; compacting a file |
//! | `file`, `read` | the file format; reading a file |
//! | `jtl` | building a record from a result file |
//! | `memory` | a copy of the record in memory, for the end of the run |
//! | `now` | the latest complete second, for the followers of a running test |
//! | `wordings` | outcomes of failures from message texts of all operating systems and languages |
//! | `mask` | masking of secrets in stored data |
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
mod memory;
pub mod now;
pub mod read;
pub mod recording;
pub mod second;
mod shelf;
mod sum;
pub mod wordings;

pub use alert::Alert;
pub use fact::Fact;
pub use frame::{Change, Ending, Frame, Load, Mark, RatePeriod};
pub use gather::MOST_LABELS;
pub use kept::Kept;
pub use labels::Labels;
pub use memory::MemoryCopy;
pub use now::{Follower, Lamp, Now, State};
pub use read::{FILE, Given, ReadError, given};
pub use recording::{Around, Recording};
pub use second::{Checked, Class, Generator, Part, Phases, Second};
pub use stats::jtl::stream::Why as RowFault;

use std::sync::Arc;

use stats::Outcome;
use stats::grouped::things;

/// The record of a whole run. Numbers of labels, causes, classes and series are indices into the lists of this struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub frame: Frame,
    pub labels: Vec<Label>,
    pub causes: Vec<CauseName>,
    pub classes: Vec<ClassName>,
    /// Pairs of class number and label number, each once: the label had samples in the class. Empty if the pairs are
    /// unknown.
    pub served: Vec<(u32, u32)>,
    pub series: Vec<Series>,
    /// Effective settings of watched hosts. Each setting name occurs once per host.
    pub facts: Vec<Fact>,
    /// The seconds in chronological order, without gaps: a second without samples is an empty entry. In a run of more
    /// than some hours the entries are intervals of equal length, each with [`Second::coarse`].
    pub seconds: Vec<Second>,
    /// Load changes and events of the run, in chronological order.
    pub marks: Vec<Mark>,
    pub kept: Vec<Kept>,
    /// Requests and failures by thread and label, sorted by thread name. Empty if threads are unknown, as in the
    /// record of a run.
    pub threads: Vec<ThreadSum>,
    pub has: Has,
    /// Problems of the file: parts that are missing because the file is truncated or damaged, and rows that were
    /// read in an unusual way.
    pub flaws: Vec<Flaw>,
}

impl Record {
    /// Returns true if the record says which samples failed. A result file without the column `success` does not: its
    /// error counts are 0 and mean nothing.
    pub fn knows_errors(&self) -> bool {
        !self.flaws.contains(&Flaw::NoSuccess)
    }
}

/// A problem of a file: a part that could not be read, or that was read in an unusual way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The last frame or row is incomplete: the program was killed while it wrote.
    TornEnd { bytes: u64 },
    /// Damaged bytes in a number of `places`. `missing_ms` is the time of the run that the damaged bytes covered; 0
    /// if that time is unknown or nothing is missing.
    Damaged { bytes: u64, places: u64, missing_ms: i64 },
    /// The frame with the start and the plan of the run is damaged. The start of the first readable second is used as
    /// the start of the run.
    NoStart,
    /// Entries of a record with invalid content.
    OddEntries { entries: u64 },
    /// Rows of a result file without a valid time, or with an invalid format.
    Rows { rows: u64, first_line: u64, why: Option<RowFault> },
    /// The result file has rows without the column `success`, so that their errors are unknown.
    NoSuccess,
    /// Pauses between runs that were appended to one result file. Pauses do not count for the length of the run.
    Pauses { pauses: u64, longest_ms: i64 },
    /// The compressed file could not be decompressed to its end.
    DamagedArchive,
    /// The time stamps of the result file are seconds instead of milliseconds, and were read as seconds.
    InSeconds,
    /// The result file has transactions, under `labels` labels, without rows for their requests. These transactions
    /// count as requests.
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

/// A label of samples. A request and a transaction of the same name are two labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub name: Arc<str>,
    pub transaction: bool,
    /// Number of labels that differ only in digits or ids and are counted under this label; 0 if none.
    pub folded: u32,
}

/// Requests and failures of one thread under one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSum {
    pub thread: Arc<str>,
    pub label: u32,
    pub requests: u64,
    pub failed: u64,
}

/// The cause of an error: outcome, response code and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseName {
    pub outcome: Outcome,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub first_label: Arc<str>,
}

/// The property that divides exchanges into classes: the peer address, or the value of one response header.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClassName {
    Address(Arc<str>),
    Header { name: Arc<str>, value: Arc<str> },
}

/// A metric of a watched host.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name of the watched host, as the user chose it.
    pub host: Arc<str>,
    /// A common metric name (`cpu`, `memory`, `gc_pause`, `connections` …) or the exporter's own name.
    pub metric: Arc<str>,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A fraction from 0 to 1.
    Share,
    Bytes,
    Seconds,
    PerSecond,
    Count,
}

/// The metrics that a record contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Has {
    /// True if the record has the times of phases: wait in this process, DNS, TLS, send, receive, lag. A result file
    /// has only connect and wait.
    pub phases: bool,
    /// True if the record has the numbers of completed samples in slots of 100 ms.
    pub slots: bool,
    /// True if the record has response times, measured from the intended start.
    pub response: bool,
    /// True if the record has metrics of connections: opened, reused, closed, connect times, TLS handshakes.
    pub connections: bool,
    /// True if the record has metrics by peer address, and by the value of the response header that the user chose.
    pub classes: bool,
    /// True if the record has metrics of the generator process and its machine.
    pub generator: bool,
    /// True if the record has the numbers of active users.
    pub users: bool,
    /// True if the record has the requested load.
    pub load: bool,
    /// True if the record has metrics of watched hosts.
    pub targets: bool,
    pub kept: bool,
}
