//! Building a record from a result file of JMeter or Throng, CSV or XML.
//!
//! The file is read once, row by row. Memory grows with the number of labels and of seconds that have rows, not with
//! the number of rows or the range of dates. A row counts in the second in which its sample ended. As in a run, seconds
//! are counted from the start of the first row's sample, not from full seconds of the wall clock. A second is closed
//! and packed when rows some seconds later arrive; rows that come later are still added. Rows of redirects and embedded
//! resources are not requests, as in XML and in a run: the row of their sampler includes them. Transactions without
//! rows for their requests count as requests.

mod groups;
mod inside;
mod pauses;
mod servers;
mod threads;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use stats::hist::layout;
use stats::jtl::Columns;
use stats::jtl::source::Source;
use stats::jtl::stream::{self, Column, Fields, LONGEST_MS, Left, Why as Cause};
use stats::{Outcome, Phases};

use self::servers::{NO_GROUP, Users};

use crate::frame::Frame;
use crate::gather::Names;
use crate::kept::{Kept, Why};
use crate::labels::Labels;
use crate::mask;
use crate::read::{Given, ReadError, fold, given, in_order};
use crate::second::{Checked, Part, SLOTS, Second, settle};
use crate::{Flaw, Has, Record, wordings};

/// Plausible start times of samples, ms since 1970: from 1990 to 2100. Rows with other times are left out, unless the
/// file has no row with a plausible time. JMeter writes the time 0 for samples that never started.
const TIMES: Range<i64> = 631_152_000_000..4_102_444_800_000;
/// Accepted times of a row, ms since 1970. The range, up to 2255, allows for a clock that started at 0 or ran
/// ahead.
const READ: Range<i64> = 0..9_000_000_000_000;
/// Largest number of failed samples kept for each cause of errors.
const KEPT_OF_A_CAUSE: usize = 5;
/// Largest number of samples kept from a result file.
const KEPT: usize = 20_000;
/// Longest excerpt of a kept sample, bytes.
const EXCERPT: usize = 500;
/// Number of seconds before the second of the newest row that still accept rows.
const SETTLED: i64 = 5;
/// Limit for the number of rows that come for a closed second. Beyond it no second is closed any more, because the
/// rows of the file are in no order.
const MOST_LATE: u32 = 10_000;
/// Number of nanoseconds in a millisecond.
const MS: u64 = 1_000_000;
/// End of the response message of a transaction in which no sample failed.
const NONE_FAILING: &str = "number of failing samples : 0";
/// Prefix of the response message that JMeter writes for a transaction.
const TRANSACTION: &str = "Number of samples in transaction : ";
/// Smallest number of rows from which time stamps without fractions are taken as whole seconds.
const LEAST_ROWS: u64 = 10;
/// Shortest length of the last second, ms.
const LEAST_MS: i64 = 100;
/// Shortest first second, ms. A shorter one is joined to the next second.
const PIECE_MS: i64 = 500;

impl Record {
    /// Reads the folder of a run, a record or a result file; `-` is standard input. `columns` are the columns of a
    /// result file without a header row, and the format of its time stamps.
    pub fn open(path: &Path, columns: &Columns) -> Result<Self, ReadError> {
        match given(path)? {
            Given::Run(record) => Ok(*record),
            Given::Rows(source) => Self::of_source(path, source, columns),
        }
    }

    /// Builds a record from a result file. `path` is for error messages.
    fn of_source(path: &Path, mut source: Source, columns: &Columns) -> Result<Self, ReadError> {
        use stats::jtl::read::ReadError as Refused;
        let no_rows = |why: String| ReadError::NoRows(path.to_owned(), why);
        let head = source.peek(1).map_err(|error| ReadError::Io(path.to_owned(), error))?;
        if head.is_empty() {
            return Err(no_rows("the file is empty".into()));
        }
        let record = Self::of_rows_with(source, columns).map_err(|error| match error {
            Refused::Io(error) => ReadError::Io(path.to_owned(), error),
            error => no_rows(error.to_string()),
        })?;
        if !record.seconds.is_empty() {
            return Ok(record);
        }
        let odd = |flaw: &Flaw| match flaw {
            Flaw::Rows { first_line, why: Some(why), .. } => Some((*first_line, *why)),
            _ => None,
        };
        Err(no_rows(match record.flaws.iter().find_map(odd) {
            Some((line, why @ Cause::PerfMon)) => format!("no row is a sample; line {line}: {why}"),
            Some((line, why @ Cause::Success)) => {
                format!("no row says true or false in the column success; line {line}: {why}")
            }
            Some((line, why @ (Cause::Beyond | Cause::TooLong))) => {
                format!("no row has a time that a test can have; line {line}: {why}")
            }
            Some((line, why)) => format!(
                "not a result file of JMeter or Throng: no row has the columns timeStamp and elapsed; line {line}: {why}"
            ),
            None if head == b"<" => "there is no whole sample in it: those of JMeter 2.1 and later are elements httpSample and sample".into(),
            None => "there is no whole row in it: no sample had ended when it was written".into(),
        }))
    }

    /// Builds a record from the rows of a result file. The default columns apply where the header row of the file does
    /// not name them.
    pub fn of_rows(from: impl Read) -> Result<Self, stats::jtl::read::ReadError> {
        Self::of_rows_with(from, &Columns::default())
    }

    /// Builds a record from the rows of a result file. `columns` apply where the header row of the file does not
    /// name them.
    pub fn of_rows_with(
        from: impl Read,
        columns: &Columns,
    ) -> Result<Self, stats::jtl::read::ReadError> {
        let mut rows = Rows::default();
        let left = stream::each(from, columns, |fields| {
            fields.time_ms().and_then(|start_ms| rows.add(fields, start_ms)).is_some()
        })?;
        rows.leave_out(&left);
        Ok(rows.record())
    }
}

/// Collects the rows of result files one by one, and builds their record.
#[derive(Debug, Default)]
pub struct Rows {
    near: Gathered,
    /// Sums over the rows with implausible times.
    far: Option<Box<Gathered>>,
    /// Number of the rows with implausible times, and the line of the first.
    left_out: (u64, u64),
    /// True if a row in `far` has a start time other than 0.
    has_started: bool,
    left: Left,
    /// True if any row so far states whether its sample succeeded.
    says_success: bool,
}

/// The sums over a set of rows. Rows with plausible times and all other rows have separate sums.
#[derive(Debug, Default)]
struct Gathered {
    names: Names,
    /// Start of the first row's sample, from which seconds are counted.
    origin_ms: Option<i64>,
    seconds: BTreeMap<i64, Open>,
    closed: BTreeMap<i64, Closed>,
    late: u32,
    /// Start of the first sample and end of the last, ms since 1970.
    span_ms: Option<(i64, i64)>,
    rows: u64,
    /// True if any time stamp has a fraction of a second.
    fractions: bool,
    users: bool,
    groups: groups::Groups,
    threads: threads::Threads,
    inside: inside::Inside,
    /// Errors of failed transactions without rows for their samples, by second, label and cause.
    failed: BTreeMap<(i64, u32, u32), u64>,
    kept: Vec<Kept>,
    of_causes: HashMap<u32, usize>,
    /// The slowest sample of each label and minute, as an index into `kept`.
    slowest: HashMap<(u32, i64), usize>,
    /// True if any row does not state whether its sample succeeded.
    errors_unknown: bool,
}

/// A second that rows are added to.
#[derive(Debug)]
struct Open {
    labels: HashMap<u32, Part>,
    checks: HashMap<u32, Checked>,
    causes: HashMap<u32, u64>,
    users: Users,
    /// Earliest start of the samples in the second, ms since 1970.
    start_ms: i64,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            labels: HashMap::new(),
            checks: HashMap::new(),
            causes: HashMap::new(),
            users: Users::default(),
            start_ms: i64::MAX,
        }
    }
}

/// A second for which no more rows are expected.
#[derive(Debug)]
struct Closed {
    labels: Labels,
    checks: Vec<(u32, Checked)>,
    causes: Vec<(u32, u64)>,
    users: Users,
    start_ms: i64,
}

/// The fields of a parsed row.
struct Row {
    start_ms: i64,
    end_ms: i64,
    /// Service time of the sample, ns.
    elapsed: u64,
    phases: Phases,
    samples: u64,
    errors: u64,
    errors_known: bool,
    sent: u64,
    received: u64,
}

impl Row {
    /// Parses a row. With `empty_fails`, an empty field `success` means a failure, as in JMeter. Without it, an
    /// empty field says nothing: the field is empty in all rows so far, so that the file does not say which samples
    /// failed.
    fn of(fields: &Fields<'_>, start_ms: i64, empty_fails: bool) -> Option<Self> {
        let natural = |column| fields.number(column).and_then(|n| u64::try_from(n).ok());
        let elapsed_ms = natural(Column::Elapsed).filter(|ms| *ms < LONGEST_MS as u64)?;
        let ms = |column| natural(column).unwrap_or(0).saturating_mul(MS);
        let elapsed = elapsed_ms.checked_mul(MS)?;
        let idle = fields.number(Column::IdleTime).unwrap_or(0);
        let samples = natural(Column::SampleCount).unwrap_or(1);
        let has_field = fields.get(Column::Success).is_some();
        let success = fields.is_success()?.or((empty_fails && has_field).then_some(false));
        let failed = success.map(|success| !success);
        let errors = natural(Column::ErrorCount).or(failed.map(u64::from));
        let end_ms = start_ms.checked_add_unsigned(elapsed_ms)?.checked_add(idle)?;
        if !READ.contains(&start_ms) || !READ.contains(&end_ms) {
            return None;
        }
        Some(Self {
            start_ms,
            end_ms,
            elapsed,
            phases: Phases::of_times(elapsed, ms(Column::Latency), ms(Column::Connect)),
            samples,
            errors: errors.unwrap_or(0).min(samples),
            errors_known: errors.is_some(),
            sent: natural(Column::SentBytes).unwrap_or(0),
            received: natural(Column::Bytes).unwrap_or(0),
        })
    }

    /// Adds the row to the metrics of a second. `in_second_ms` is the time from the start of the second to the end
    /// of the sample.
    fn add_to(&self, part: &mut Part, in_second_ms: i64) {
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
        let slot = (in_second_ms / 100) as usize;
        part.slots[slot.min(SLOTS - 1)] += self.samples.min(u64::from(u32::MAX)) as u32;
    }
}

impl Rows {
    /// Adds the row of a sample that started at `start_ms`, ms since 1970. Returns `None` if the row has no valid time.
    pub fn add(&mut self, fields: &Fields<'_>, start_ms: i64) -> Option<()> {
        let row = Row::of(fields, start_ms, self.says_success)?;
        self.says_success |= row.errors_known;
        if TIMES.contains(&row.end_ms) {
            self.near.add(fields, &row);
        } else {
            let far = self.far.get_or_insert_default();
            far.add(fields, &row);
            self.has_started |= row.start_ms != 0;
            self.left_out.0 += 1;
            if self.left_out.0 == 1 {
                self.left_out.1 = fields.line();
            }
        }
        Some(())
    }

    /// Counts rows that the parser left out.
    pub fn leave_out(&mut self, left: &Left) {
        if self.left.odd == 0 {
            (self.left.first_line, self.left.why) = (left.first_line, left.why);
        }
        self.left.odd += left.odd;
        self.left.torn += left.torn;
        self.left.is_damaged |= left.is_damaged;
        self.left.in_seconds |= left.in_seconds;
    }

    pub fn record(mut self) -> Record {
        let gathered = match self.far {
            // Without plausible rows, the record is built from rows with implausible times. If these all start at 0,
            // they are samples that never started, and are used only if every other row of the file is readable.
            Some(far)
                if self.near.span_ms.is_none() && (self.has_started || self.left.odd == 0) =>
            {
                *far
            }
            Some(_) => {
                let (rows, line) = self.left_out;
                let left = &mut self.left;
                if left.odd == 0 || line < left.first_line {
                    (left.first_line, left.why) = (line, Some(Cause::Beyond));
                }
                left.odd += rows;
                self.near
            }
            None => self.near,
        };
        let mut record = gathered.record();
        let Left { torn, odd, first_line, why, is_damaged, in_seconds } = self.left;
        if torn > 0 {
            record.flaws.push(Flaw::TornEnd { bytes: torn });
        }
        if is_damaged {
            record.flaws.push(Flaw::DamagedArchive);
        }
        if in_seconds {
            record.flaws.push(Flaw::InSeconds);
        }
        if odd > 0 {
            record.flaws.push(Flaw::Rows { rows: odd, first_line, why });
        }
        record
    }
}

impl Gathered {
    fn add(&mut self, fields: &Fields<'_>, row: &Row) {
        let name = fields.get(Column::Label).unwrap_or_default();
        let message = fields.get(Column::ResponseMessage).unwrap_or_default();
        let transaction = message.starts_with(TRANSACTION);
        let thread = fields.get(Column::ThreadName);
        let times = inside::Times { start: row.start_ms, end: row.end_ms };
        if let Some(thread) = thread.as_deref().filter(|_| !transaction && row.samples == 1)
            && self.inside.is_download(thread, &name, times)
        {
            return;
        }
        let origin_ms = *self.origin_ms.get_or_insert(row.start_ms);
        let ended_ms = row.end_ms - origin_ms;
        let second = ended_ms.div_euclid(1000);
        let (start, end) = self.span_ms.unwrap_or((row.start_ms, row.end_ms));
        self.span_ms = Some((start.min(row.start_ms), end.max(row.end_ms)));
        self.errors_unknown |= !row.errors_known;
        self.rows += 1;
        self.fractions |= row.start_ms % 1000 != 0;
        let label = self.names.number(&name, transaction);
        if transaction {
            // A transaction row without the time of its timers does not show when the transaction ended.
            let thread = thread.as_deref().filter(|_| fields.get(Column::IdleTime).is_some());
            self.inside.add_transaction(thread, label, &message, times);
        }
        let group = thread.as_deref().map_or(NO_GROUP, |name| self.groups.add(name, row.start_ms));
        let open = self.open(second);
        open.start_ms = open.start_ms.min(row.start_ms);
        row.add_to(open.labels.entry(label).or_default(), ended_ms.rem_euclid(1000));
        let checked = if transaction {
            checked_transaction(fields, row, &message)
        } else {
            checked(fields, row, &message)
        };
        if checked != Checked::default() {
            open.checks.entry(label).or_default().merge(&checked);
        }
        if let Some(users) = fields.number(Column::AllThreads) {
            open.users.add(group, row.end_ms, users.max(0) as u64);
            self.users = true;
        }
        if !transaction {
            self.threads.add(thread.as_deref(), label, row.samples, row.errors);
        }
        if row.errors > 0 && transaction {
            self.fail_transaction(fields, row, second, label, &message);
        } else if row.errors > 0 {
            self.fail(fields, row, second, label, &message);
        } else {
            self.keep_slow(fields, row, (label, second.div_euclid(60)));
        }
    }

    /// Returns the open second with this number, and closes older seconds.
    fn open(&mut self, second: i64) -> &mut Open {
        if self.late < MOST_LATE && !self.seconds.contains_key(&second) {
            let still_open = self.seconds.split_off(&(second - SETTLED));
            self.close(still_open);
        }
        self.seconds.entry(second).or_default()
    }

    /// Closes all seconds except `still_open`.
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

    fn fail(&mut self, fields: &Fields<'_>, row: &Row, second: i64, label: u32, message: &str) {
        let code = fields.get(Column::ResponseCode).unwrap_or_default();
        let failure = fields.get(Column::FailureMessage).unwrap_or_default();
        let outcome = outcome(&code, message, &failure);
        let message = if failure.is_empty() { message } else { &failure };
        let cause = self.names.cause_of(outcome, &code, message, label);
        let open = self.seconds.entry(second).or_default();
        *open.causes.entry(cause).or_default() += row.errors;
        let kept = self.of_causes.entry(cause).or_default();
        if *kept < KEPT_OF_A_CAUSE {
            *kept += 1;
            let kept = kept_of(fields, row, Why::Error, outcome, label, Some(cause));
            self.kept.push(kept);
        }
    }

    /// Stores the cause of a failed transaction. The cause counts only if the transactions of its label turn out to be
    /// requests.
    fn fail_transaction(
        &mut self,
        fields: &Fields<'_>,
        row: &Row,
        second: i64,
        label: u32,
        message: &str,
    ) {
        if self.inside.has_rows(label) {
            return;
        }
        let code = fields.get(Column::ResponseCode).unwrap_or_default();
        let cause = self.names.cause_of(outcome(&code, message, ""), &code, message, label);
        *self.failed.entry((second, label, cause)).or_default() += row.errors;
    }

    /// Turns transactions without rows of their requests into requests. Returns the number of their labels.
    fn promote(&mut self) -> u64 {
        let alone = self.names.labels.iter().all(|label| label.transaction);
        let stands = self.inside.stand_alone(alone, &self.names.folded);
        let mut labels = 0;
        for (number, label) in (0u32..).zip(&mut self.names.labels) {
            if label.transaction && stands(number) {
                label.transaction = false;
                labels += 1;
            }
        }
        for ((second, label, cause), errors) in std::mem::take(&mut self.failed) {
            if let Some(closed) = self.closed.get_mut(&second).filter(|_| stands(label)) {
                closed.add(Closed::from(Open {
                    causes: HashMap::from([(cause, errors)]),
                    ..Open::default()
                }));
            }
        }
        labels
    }

    /// Keeps the sample if it is the slowest of its label and minute.
    fn keep_slow(&mut self, fields: &Fields<'_>, row: &Row, key: (u32, i64)) {
        let at = self.slowest.get(&key).copied();
        if at.is_some_and(|at| self.kept[at].elapsed >= row.elapsed) {
            return;
        }
        let make = || kept_of(fields, row, Why::Slow, Outcome::Ok, key.0, None);
        match at {
            Some(at) => self.kept[at] = make(),
            None if self.kept.len() < KEPT => {
                self.slowest.insert(key, self.kept.len());
                self.kept.push(make());
            }
            None => {}
        }
    }

    fn record(mut self) -> Record {
        self.close(BTreeMap::new());
        let stand_alone = self.promote();
        let (start_ms, mut end_ms) = self.span_ms.unwrap_or_default();
        if !self.fractions && self.rows >= LEAST_ROWS {
            // The time stamps are whole seconds, so that the last sample may have ended anywhere in its second.
            end_ms = end_ms.div_euclid(1000) * 1000 + 1000;
        }
        let origin_ms = self.origin_ms.unwrap_or_default();
        let mut closed = std::mem::take(&mut self.closed);
        self.groups.sum_users(&mut closed);
        begin(&mut closed, start_ms - origin_ms, end_ms - origin_ms);
        let (mut seconds, pauses) = pauses::seconds(closed, origin_ms);
        fit(&mut seconds, start_ms, end_ms);
        let pause_ms: i64 = pauses.iter().sum();
        let mut record = Record {
            frame: Frame {
                start_ms,
                length_ms: (end_ms - start_ms - pause_ms).max(0),
                ..Frame::default()
            },
            kept: self.kept,
            marks: self.groups.marks(),
            threads: self.threads.sums(),
            has: Has { slots: true, users: self.users, kept: true, ..Has::default() },
            seconds,
            ..Record::default()
        };
        // Seconds before the first row get the number of users of that row.
        let mut users = record.seconds.iter().find(|s| !s.labels.is_empty()).map_or(0, |s| s.users);
        for second in &mut record.seconds {
            let requests = second
                .labels
                .iter()
                .filter(|label| !self.names.labels[label.0 as usize].transaction);
            for (_, part) in requests {
                second.all.merge(&part);
            }
            second.all.shrink();
            // A second without rows gets the number of users of the previous second.
            if second.labels.is_empty() {
                second.users = users;
            }
            users = second.users;
        }
        crate::coarse::bound(&mut record);
        record.labels = self.names.labels;
        record.causes = self.names.causes;
        fold(&mut record, &self.names.folded);
        record.has.kept = !record.kept.is_empty();
        if self.errors_unknown {
            record.flaws.push(Flaw::NoSuccess);
        }
        if stand_alone > 0 {
            record.flaws.push(Flaw::Transactions { labels: stand_alone });
        }
        if let Some(longest_ms) = pauses.iter().max() {
            let pauses = pauses.len() as u64;
            record.flaws.push(Flaw::Pauses { pauses, longest_ms: *longest_ms });
        }
        record
    }
}

/// Lets the first second begin with the first sample's start, and joins a short partial second there to the next
/// one. `start_ms` and `end_ms` delimit the samples, ms from the origin.
fn begin(closed: &mut BTreeMap<i64, Closed>, start_ms: i64, end_ms: i64) {
    if closed.is_empty() {
        return;
    }
    let (first, last) = (start_ms.div_euclid(1000), end_ms.div_euclid(1000));
    let nothing = || Closed::from(Open { start_ms, ..Open::default() });
    closed.entry(first).or_insert_with(nothing);
    if 1000 - start_ms.rem_euclid(1000) < PIECE_MS && first < last {
        let piece = closed.remove(&first).unwrap_or_else(nothing);
        match closed.entry(first + 1) {
            Entry::Vacant(place) => {
                place.insert(piece);
            }
            Entry::Occupied(mut known) => known.get_mut().add(piece),
        }
    }
}

/// Sets the lengths of the first and the last second to the time that their samples took.
fn fit(seconds: &mut [Second], start_ms: i64, end_ms: i64) {
    if let Some(first) = seconds.first_mut().filter(|first| first.ms <= 1000) {
        first.ms = (first.at_ms - start_ms).clamp(1, 2 * 1000) as u32;
    }
    if let Some(last) = seconds.last_mut() {
        let begin = last.at_ms - i64::from(last.ms);
        last.ms = (end_ms - begin).clamp(LEAST_MS, i64::from(last.ms).max(LEAST_MS)) as u32;
        last.at_ms = begin + i64::from(last.ms);
    }
}

impl From<Open> for Closed {
    fn from(open: Open) -> Self {
        let mut labels: Labels = open.labels.into_iter().collect::<Vec<_>>().into();
        in_order(&mut labels);
        labels.pack();
        let mut causes: Vec<_> = open.causes.into_iter().collect();
        causes.sort_unstable();
        let mut checks: Vec<_> = open.checks.into_iter().collect();
        checks.sort_unstable_by_key(|one| one.0);
        let Open { users, start_ms, .. } = open;
        Self { labels, checks, causes, users, start_ms }
    }
}

impl Closed {
    /// Adds rows that came after the second was closed.
    fn add(&mut self, late: Self) {
        self.users.merge(&late.users);
        self.start_ms = self.start_ms.min(late.start_ms);
        let known = std::mem::take(&mut self.labels).into_list();
        self.labels = [known, late.labels.into_list()].concat().into();
        in_order(&mut self.labels);
        self.labels.pack();
        self.checks.extend(late.checks);
        settle(&mut self.checks);
        self.causes.extend(late.causes);
        self.causes.sort_unstable();
        self.causes.dedup_by(|next, one| {
            let same = one.0 == next.0;
            one.1 += if same { next.1 } else { 0 };
            same
        });
    }

    fn second(self, number: i64, origin_ms: i64) -> Second {
        Second {
            at_ms: origin_ms + (number + 1) * 1000,
            ms: 1000,
            users: self.users.last(),
            labels: self.labels,
            checks: self.checks,
            causes: self.causes,
            ..Second::default()
        }
    }
}

fn kept_of(
    fields: &Fields<'_>,
    row: &Row,
    why: Why,
    outcome: Outcome,
    label: u32,
    cause: Option<u32>,
) -> Kept {
    let text = |column| {
        let text = fields.get(column).unwrap_or_default();
        Arc::<str>::from(&text[..text.floor_char_boundary(EXCERPT)])
    };
    let (failure, message) = (text(Column::FailureMessage), text(Column::ResponseMessage));
    Kept {
        why,
        label,
        cause,
        outcome,
        start_ms: row.start_ms,
        elapsed: row.elapsed,
        phases: row.phases,
        code: text(Column::ResponseCode),
        message: mask::urls(if failure.is_empty() { &message } else { &failure }).into(),
        address: "".into(),
        reused: row.phases.connect == 0 && !outcome.is_without_connection(),
        sent: row.sent,
        received: row.received,
        trace: 0,
        request: mask::url(&text(Column::Url)).into(),
        response: "".into(),
    }
}

/// Returns the results of a row's assertions, as far as the file contains them. CSV contains only the failed
/// assertions.
fn checked(fields: &Fields<'_>, row: &Row, message: &str) -> Checked {
    let failure = fields.get(Column::FailureMessage).unwrap_or_default();
    let (ran, is_bad) = fields.assertions().unwrap_or((false, !failure.is_empty()));
    if !ran && !is_bad {
        return Checked::default();
    }
    let code = fields.get(Column::ResponseCode).unwrap_or_default();
    let reason = if is_bad && failure.is_empty() { "-" } else { &failure };
    let outcome = if row.errors > 0 { outcome(&code, message, reason) } else { Outcome::Ok };
    if !outcome.is_answered() {
        return Checked::default();
    }
    let bad = match row.samples {
        _ if !is_bad => 0,
        1 => 1,
        _ => row.errors,
    };
    Checked {
        checked: if ran { row.samples } else { 0 },
        unexpected: bad,
        by_content: if outcome == Outcome::Assertion { row.errors as i64 } else { 0 },
    }
}

/// Returns the results of a transaction's own assertions. A failed transaction without a failing sample has failed by
/// them, whatever the file contains of their messages. `message` is the response message, which has both numbers.
fn checked_transaction(fields: &Fields<'_>, row: &Row, message: &str) -> Checked {
    let is_own = row.errors > 0 && message.ends_with(NONE_FAILING);
    let (ran, is_bad) = fields.assertions().unwrap_or((false, is_own));
    let bad = if row.samples == 1 { 1 } else { row.errors };
    Checked {
        checked: if ran { row.samples } else { 0 },
        unexpected: if is_bad || is_own { bad } else { 0 },
        by_content: if is_own { row.errors as i64 } else { 0 },
    }
}

/// Determines the outcome of a failure from JMeter's response code and message.
fn outcome(code: &str, message: &str, failure: &str) -> Outcome {
    if code.parse::<u16>().is_ok_and(|code| code >= 400) {
        return Outcome::Status;
    }
    // With an HTTP status code, the message was written by the server.
    let is_answer = code.parse::<u16>().is_ok();
    if let Some(outcome) = wordings::outcome(code, message).filter(|_| !is_answer) {
        return outcome;
    }
    let by_check = if failure.is_empty() { Outcome::Other } else { Outcome::Assertion };
    wordings::outcome_within(code, message).unwrap_or(by_check)
}
