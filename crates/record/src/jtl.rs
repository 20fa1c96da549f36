//! A record from a result file, as far as its rows allow: of JMeter or of Throng, CSV or XML.
//!
//! The file is read once, row by row; memory follows the seconds and labels, not the rows. A row counts in the second in
//! which its sample ended.

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
use crate::read::{ReadError, fold};
use crate::second::{Part, SLOTS, Second};
use crate::{Flaw, Has, Record};

/// Seconds between the first row and any other, at most: 31 days. A row beyond has no time that can be.
const MOST_SECONDS: i64 = 31 * 86_400;
/// Samples kept of each cause, and of all of them.
const KEPT_OF_A_CAUSE: usize = 5;
const KEPT: usize = 20_000;
/// Longest text of a kept sample, bytes.
const EXCERPT: usize = 500;
const MS: u64 = 1_000_000;

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
        let left = stream::each(from, &Columns::default(), |fields| rows.add(fields).is_some())?;
        Ok(rows.end(&left))
    }
}

#[derive(Default)]
struct Rows {
    names: Names,
    /// By their number since 1970.
    seconds: BTreeMap<i64, Open>,
    /// The second of the first row.
    first: Option<i64>,
    start_ms: Option<i64>,
    end_ms: i64,
    users: bool,
    kept: Vec<Kept>,
    of_causes: HashMap<u32, usize>,
    /// The slowest of each label and minute: its place among those kept.
    slowest: HashMap<(u32, i64), usize>,
}

/// A second that rows are added to.
#[derive(Default)]
struct Open {
    labels: HashMap<u32, Part>,
    causes: HashMap<u32, u64>,
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
    sent: u64,
    received: u64,
}

impl Row {
    fn of(fields: &Fields<'_>) -> Option<Self> {
        let natural = |column| fields.number(column).and_then(|n| u64::try_from(n).ok());
        let start_ms = fields.time_ms()?;
        let elapsed_ms = natural("elapsed")?;
        let ms = |column| natural(column).unwrap_or(0).saturating_mul(MS);
        let elapsed = elapsed_ms.checked_mul(MS)?;
        let idle = fields.number("IdleTime").unwrap_or(0);
        let samples = natural("SampleCount").unwrap_or(1);
        let failed =
            fields.get("success").is_some_and(|success| !success.eq_ignore_ascii_case("true"));
        let errors = natural("ErrorCount").unwrap_or(u64::from(failed));
        Some(Self {
            start_ms,
            end_ms: start_ms.checked_add_unsigned(elapsed_ms)?.checked_add(idle)?,
            elapsed,
            phases: Phases::of_times(elapsed, ms("Latency"), ms("Connect")),
            samples,
            errors: errors.min(samples),
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
    /// Adds a row; `None`: it has no time.
    fn add(&mut self, fields: &Fields<'_>) -> Option<()> {
        let row = Row::of(fields)?;
        let second = row.end_ms.div_euclid(1000);
        let first = *self.first.get_or_insert(second);
        if (second - first).abs() > MOST_SECONDS {
            return None;
        }
        self.start_ms = Some(self.start_ms.map_or(row.start_ms, |start| start.min(row.start_ms)));
        self.end_ms = self.end_ms.max(row.end_ms);
        let name = fields.get("label").unwrap_or_default();
        let message = fields.get("responseMessage").unwrap_or_default();
        let transaction = message.starts_with("Number of samples in transaction : ");
        let label = self.names.number(&name, transaction);
        let open = self.seconds.entry(second).or_default();
        row.add_to(open.labels.entry(label).or_default());
        if let Some(users) = fields.number("allThreads") {
            self.users = true;
            if row.end_ms >= open.users_at_ms {
                (open.users, open.users_at_ms) = (users.max(0) as u64, row.end_ms);
            }
        }
        if row.errors > 0 && !transaction {
            self.fail(fields, &row, second, label, &message);
        } else if row.errors == 0 {
            self.keep_slow(fields, &row, label);
        }
        Some(())
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

    fn end(self, left: &Left) -> Record {
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
        let numbers = self.seconds.first_key_value().zip(self.seconds.last_key_value());
        if let Some(((first, _), (last, _))) = numbers {
            // What started long before the first answer is no second without samples.
            for number in *first..=*last {
                record.seconds.push(closed(number, self.seconds.get(&number)));
            }
        }
        let mut users = 0;
        for second in &mut record.seconds {
            let requests = second
                .labels
                .iter()
                .filter(|label| !self.names.labels[label.0 as usize].transaction);
            for (_, part) in requests {
                second.all.merge(part);
            }
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
        if left.torn > 0 {
            record.flaws.push(Flaw::TornEnd { bytes: left.torn });
        }
        if left.odd > 0 {
            record.flaws.push(Flaw::Rows { rows: left.odd, first_line: left.first_line });
        }
        record
    }
}

fn closed(number: i64, open: Option<&Open>) -> Second {
    let mut second = Second { at_ms: (number + 1) * 1000, ms: 1000, ..Second::default() };
    let Some(open) = open else { return second };
    second.users = open.users;
    second.labels = open.labels.iter().map(|(label, part)| (*label, part.clone())).collect();
    for (_, part) in &mut second.labels {
        part.response = part.service.clone();
    }
    second.labels.sort_by_key(|label| label.0);
    second.causes = open.causes.iter().map(|(cause, n)| (*cause, *n)).collect();
    second.causes.sort_unstable();
    second
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
    let failure = text("failureMessage");
    Kept {
        why,
        label,
        cause,
        outcome,
        start_ms: row.start_ms,
        elapsed: row.elapsed,
        phases: row.phases,
        code: text("responseCode"),
        message: if failure.is_empty() { text("responseMessage") } else { failure },
        address: "".into(),
        reused: row.phases.connect == 0 && !outcome.is_without_connection(),
        sent: row.sent,
        received: row.received,
        request: crate::mask::url(&text("URL")).into(),
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
