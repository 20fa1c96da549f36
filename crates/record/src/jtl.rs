//! A record from a result file, as far as its rows allow: of JMeter or of Throng, CSV or XML.
//!
//! The file is read once, row by row; memory follows the seconds and labels, not the rows. A row counts in the second in
//! which its sample ended. Rows come as samples end: a second is closed and packed some seconds later, and takes rows that
//! come late nevertheless.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use stats::hist::layout;
use stats::jtl::Columns;
use stats::jtl::stream::{self, Fields, Left};
use stats::{Outcome, Phase, Phases};

use crate::frame::Frame;
use crate::gather::Names;
use crate::kept::{Kept, Why};
use crate::labels::Labels;
use crate::mask;
use crate::read::{ReadError, fold, in_order};
use crate::second::{Part, SLOTS, Second};
use crate::{Flaw, Has, Record};

/// Seconds between the first row and any other, at most: 31 days. A row beyond has no time that can be.
const MOST_SECONDS: i64 = 31 * 86_400;
/// Samples kept of each cause, and of all of them.
const KEPT_OF_A_CAUSE: usize = 5;
const KEPT: usize = 20_000;
/// Longest text of a kept sample, bytes.
const EXCERPT: usize = 500;
/// Seconds after which no more rows of a second are expected.
const SETTLED: i64 = 5;
/// Seconds that may have been closed too early, each time: in a file whose rows are in no order none is closed any more.
const MOST_LATE: u32 = 10_000;
const MS: u64 = 1_000_000;
/// Length of the last second, at least, ms.
const LEAST_MS: i64 = 100;

impl Record {
    /// Reads a result file.
    pub fn from_jtl(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| ReadError::Io(path.to_owned(), error))?;
        let size = file.metadata().map_or(0, |about| about.len());
        let record = Self::of_rows(BufReader::with_capacity(1 << 20, file))
            .map_err(|error| ReadError::NoRows(path.to_owned(), error.to_string()))?;
        if record.seconds.is_empty() {
            let why = if size == 0 { "the file is empty" } else { "there is no whole row in it" };
            return Err(ReadError::NoRows(path.to_owned(), why.to_owned()));
        }
        Ok(record)
    }

    /// Reads a folder of a run, a record or a result file, whichever it is.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        match Self::read(path) {
            Err(ReadError::NotARecord(_)) => Self::from_jtl(path),
            other => other,
        }
    }

    /// Reads the rows of a result file.
    pub fn of_rows(from: impl BufRead) -> Result<Self, stats::jtl::read::ReadError> {
        let mut rows = Rows::default();
        let left = stream::each(from, &Columns::default(), |fields| {
            fields.time_ms().and_then(|start_ms| rows.add(fields, start_ms)).is_some()
        })?;
        rows.leave_out(&left);
        Ok(rows.record())
    }
}

/// Takes the rows of result files one by one, and gives their record.
#[derive(Debug, Default)]
pub struct Rows {
    names: Names,
    /// By their number since 1970.
    seconds: BTreeMap<i64, Open>,
    closed: BTreeMap<i64, Closed>,
    late: u32,
    /// The second of the first row.
    first: Option<i64>,
    start_ms: Option<i64>,
    end_ms: i64,
    users: bool,
    kept: Vec<Kept>,
    of_causes: HashMap<u32, usize>,
    /// The slowest of each label and minute: its place among those kept.
    slowest: HashMap<(u32, i64), usize>,
    left: Left,
    /// Some row did not say whether its sample succeeded.
    errors_unknown: bool,
}

/// A second that rows are added to.
#[derive(Debug, Default)]
struct Open {
    labels: HashMap<u32, Part>,
    causes: HashMap<u32, u64>,
    users: u64,
    users_at_ms: i64,
}

/// A second for which no more rows are expected.
#[derive(Debug)]
struct Closed {
    labels: Labels,
    causes: Vec<(u32, u64)>,
    users: u64,
    users_at_ms: i64,
}

/// A row, read.
struct Row {
    start_ms: i64,
    end_ms: i64,
    /// Nanoseconds.
    elapsed: u64,
    phases: Phases,
    samples: u64,
    errors: u64,
    errors_known: bool,
    sent: u64,
    received: u64,
}

impl Row {
    fn of(fields: &Fields<'_>, start_ms: i64) -> Option<Self> {
        let natural = |column| fields.number(column).and_then(|n| u64::try_from(n).ok());
        let elapsed_ms = natural("elapsed")?;
        let ms = |column| natural(column).unwrap_or(0).saturating_mul(MS);
        let elapsed = elapsed_ms.checked_mul(MS)?;
        let idle = fields.number("IdleTime").unwrap_or(0);
        let samples = natural("SampleCount").unwrap_or(1);
        let failed = fields.get("success").map(|success| !success.eq_ignore_ascii_case("true"));
        let errors = natural("ErrorCount").or(failed.map(u64::from));
        Some(Self {
            start_ms,
            end_ms: start_ms.checked_add_unsigned(elapsed_ms)?.checked_add(idle)?,
            elapsed,
            phases: Phases::of_times(elapsed, ms("Latency"), ms("Connect")),
            samples,
            errors: errors.unwrap_or(0).min(samples),
            errors_known: errors.is_some(),
            sent: natural("sentBytes").unwrap_or(0),
            received: natural("bytes").unwrap_or(0),
        })
    }

    fn add_to(&self, part: &mut Part) {
        let bin = layout::index_of(self.elapsed / self.samples.max(1) / 1000);
        part.count += self.samples;
        part.errors += self.errors;
        part.sent = part.sent.saturating_add(self.sent);
        part.received = part.received.saturating_add(self.received);
        part.elapsed = part.elapsed.saturating_add(self.elapsed);
        part.longest = part.longest.max(self.elapsed);
        part.service.add(bin, self.samples);
        part.failed.add(bin, self.errors);
        part.phases.add(&self.phases);
        let slot = self.end_ms.rem_euclid(1000) as usize / 100;
        part.slots[slot.min(SLOTS - 1)] += self.samples.min(u64::from(u32::MAX)) as u32;
    }
}

impl Rows {
    /// Adds the row of a sample that started at that time, ms since 1970; `None`: it has no time that can be.
    pub fn add(&mut self, fields: &Fields<'_>, start_ms: i64) -> Option<()> {
        let row = Row::of(fields, start_ms)?;
        let second = row.end_ms.div_euclid(1000);
        let first = *self.first.get_or_insert(second);
        if (second - first).abs() > MOST_SECONDS {
            return None;
        }
        self.start_ms = Some(self.start_ms.map_or(row.start_ms, |start| start.min(row.start_ms)));
        self.end_ms = self.end_ms.max(row.end_ms);
        self.errors_unknown |= !row.errors_known;
        let name = fields.get("label").unwrap_or_default();
        let message = fields.get("responseMessage").unwrap_or_default();
        let transaction = message.starts_with("Number of samples in transaction : ");
        let label = self.names.number(&name, transaction);
        let open = self.open(second);
        row.add_to(open.labels.entry(label).or_default());
        if let Some(users) = fields.number("allThreads") {
            if row.end_ms >= open.users_at_ms {
                (open.users, open.users_at_ms) = (users.max(0) as u64, row.end_ms);
            }
            self.users = true;
        }
        if row.errors > 0 && !transaction {
            self.fail(fields, &row, second, label, &message);
        } else if row.errors == 0 {
            self.keep_slow(fields, &row, label);
        }
        Some(())
    }

    /// The second of that number.
    fn open(&mut self, second: i64) -> &mut Open {
        if self.late < MOST_LATE && !self.seconds.contains_key(&second) {
            let still_open = self.seconds.split_off(&(second - SETTLED));
            self.close(still_open);
        }
        self.seconds.entry(second).or_default()
    }

    /// Closes all seconds but those.
    fn close(&mut self, still_open: BTreeMap<i64, Open>) {
        for (number, open) in std::mem::replace(&mut self.seconds, still_open) {
            match self.closed.entry(number) {
                Entry::Vacant(place) => {
                    place.insert(Closed::from(open));
                }
                Entry::Occupied(mut known) => {
                    known.get_mut().add(Closed::from(open));
                    self.late += 1;
                }
            }
        }
    }

    /// Counts rows that were not given.
    pub fn leave_out(&mut self, left: &Left) {
        if self.left.odd == 0 {
            self.left.first_line = left.first_line;
        }
        self.left.odd += left.odd;
        self.left.torn += left.torn;
    }

    fn fail(&mut self, fields: &Fields<'_>, row: &Row, second: i64, label: u32, message: &str) {
        let code = fields.get("responseCode").unwrap_or_default();
        let failure = fields.get("failureMessage").unwrap_or_default();
        let outcome = outcome(&code, message, &failure);
        let message = if failure.is_empty() { message } else { &failure };
        let cause = self.names.cause_of(outcome, &code, message, label);
        let open = self.seconds.entry(second).or_default();
        *open.causes.entry(cause).or_default() += row.errors;
        let kept = self.of_causes.entry(cause).or_default();
        if *kept < KEPT_OF_A_CAUSE {
            *kept += 1;
            let kept = kept_of(fields, row, (Why::Error, outcome), label, Some(cause));
            self.kept.push(kept);
        }
    }

    fn keep_slow(&mut self, fields: &Fields<'_>, row: &Row, label: u32) {
        let key = (label, row.end_ms.div_euclid(60_000));
        let at = self.slowest.get(&key).copied();
        if at.is_some_and(|at| self.kept[at].elapsed >= row.elapsed) {
            return;
        }
        let make = || kept_of(fields, row, (Why::Slow, Outcome::Ok), label, None);
        match at {
            Some(at) => self.kept[at] = make(),
            None if self.kept.len() < KEPT => {
                self.slowest.insert(key, self.kept.len());
                self.kept.push(make());
            }
            None => {}
        }
    }

    pub fn record(mut self) -> Record {
        self.close(BTreeMap::new());
        let start_ms = self.start_ms.unwrap_or_default();
        let mut record = Record {
            frame: Frame {
                start_ms,
                length_ms: (self.end_ms - start_ms).max(0),
                ..Frame::default()
            },
            kept: self.kept,
            has: Has { slots: true, users: self.users, kept: true, ..Has::default() },
            ..Record::default()
        };
        let numbers = self.closed.keys().next().zip(self.closed.keys().next_back());
        if let Some((first, last)) = numbers.map(|(first, last)| (*first, *last)) {
            // What started long before the first answer is no second without samples.
            record.seconds.reserve_exact((last - first) as usize + 1);
            for number in first..=last {
                let nothing = || Closed::from(Open::default());
                let closed = self.closed.remove(&number).unwrap_or_else(nothing);
                record.seconds.push(closed.second(number));
            }
        }
        // The time of the rows ends with the last of them: a whole second there would make the rate too low.
        if let Some(last) = record.seconds.last_mut() {
            let begin = last.at_ms - 1000;
            last.ms = (self.end_ms - begin).clamp(LEAST_MS, 1000) as u32;
            last.at_ms = begin + i64::from(last.ms);
        }
        let mut users = 0;
        for second in &mut record.seconds {
            let requests = second
                .labels
                .iter()
                .filter(|label| !self.names.labels[label.0 as usize].transaction);
            for (_, part) in requests {
                second.all.merge(&part);
            }
            second.all.shrink();
            // Without a row nobody said that users have ended.
            if second.labels.is_empty() {
                second.users = users;
            }
            users = second.users;
        }
        record.labels = self.names.labels;
        record.causes = self.names.causes;
        fold(&mut record, &self.names.folded);
        record.has.kept = !record.kept.is_empty();
        if self.errors_unknown {
            record.flaws.push(Flaw::NoSuccess);
        }
        let Left { torn, odd, first_line } = self.left;
        if torn > 0 {
            record.flaws.push(Flaw::TornEnd { bytes: torn });
        }
        if odd > 0 {
            record.flaws.push(Flaw::Rows { rows: odd, first_line });
        }
        record
    }
}

impl From<Open> for Closed {
    fn from(open: Open) -> Self {
        let mut labels: Labels = open.labels.into_iter().collect::<Vec<_>>().into();
        in_order(&mut labels);
        labels.pack();
        let mut causes: Vec<_> = open.causes.into_iter().collect();
        causes.sort_unstable();
        Self { labels, causes, users: open.users, users_at_ms: open.users_at_ms }
    }
}

impl Closed {
    /// Adds rows that came late.
    fn add(&mut self, late: Self) {
        if late.users_at_ms >= self.users_at_ms {
            (self.users, self.users_at_ms) = (late.users, late.users_at_ms);
        }
        let known = std::mem::take(&mut self.labels).into_list();
        self.labels = [known, late.labels.into_list()].concat().into();
        in_order(&mut self.labels);
        self.labels.pack();
        self.causes.extend(late.causes);
        self.causes.sort_unstable();
        self.causes.dedup_by(|next, one| {
            let same = one.0 == next.0;
            one.1 += if same { next.1 } else { 0 };
            same
        });
    }

    fn second(self, number: i64) -> Second {
        Second {
            at_ms: (number + 1) * 1000,
            ms: 1000,
            users: self.users,
            labels: self.labels,
            causes: self.causes,
            ..Second::default()
        }
    }
}

fn kept_of(
    fields: &Fields<'_>,
    row: &Row,
    (why, outcome): (Why, Outcome),
    label: u32,
    cause: Option<u32>,
) -> Kept {
    let text = |column| {
        let text = fields.get(column).unwrap_or_default();
        Arc::<str>::from(&text[..text.floor_char_boundary(EXCERPT)])
    };
    let (failure, message) = (text("failureMessage"), text("responseMessage"));
    Kept {
        why,
        label,
        cause,
        outcome,
        start_ms: row.start_ms,
        elapsed: row.elapsed,
        phases: row.phases,
        code: text("responseCode"),
        message: mask::urls(if failure.is_empty() { &message } else { &failure }).into(),
        address: "".into(),
        reused: row.phases.connect == 0 && !outcome.is_without_connection(),
        sent: row.sent,
        received: row.received,
        request: mask::url(&text("URL")).into(),
        response: "".into(),
    }
}

/// The kind of a failure, from the words that JMeter has for it.
fn outcome(code: &str, message: &str, failure: &str) -> Outcome {
    if code.parse::<u16>().is_ok_and(|code| code >= 400) {
        return Outcome::Status;
    }
    let words = format!("{code} {message}").to_ascii_lowercase();
    let has = |part: &str| words.contains(part);
    let known = [
        (has("cannot assign requested address"), Outcome::PortsExhausted),
        (has("too many open files"), Outcome::FilesExhausted),
        (has("unknownhostexception"), Outcome::Dns),
        (
            has("connecttimeoutexception") || has("connect timed out"),
            Outcome::Timeout(Phase::Connect),
        ),
        (has("sockettimeoutexception") || has("timed out"), Outcome::Timeout(Phase::Response)),
        (has("connection refused"), Outcome::Refused),
        (has("noroutetohost") || has("unreachable"), Outcome::Unreachable),
        (has("connection reset") || has("broken pipe"), Outcome::Reset),
        (has("nohttpresponseexception") || has("connectionclosedexception"), Outcome::Closed),
        (has("premature end") || has("failed to respond"), Outcome::Closed),
        (has("javax.net.ssl"), Outcome::Tls),
        (has("org.apache.http") && has("exception"), Outcome::Protocol),
        (has("filenotfoundexception"), Outcome::File),
        (!failure.is_empty(), Outcome::Assertion),
    ];
    known.into_iter().find(|known| known.0).map_or(Outcome::Other, |known| known.1)
}
