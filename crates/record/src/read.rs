//! Reading a record from its file.

use std::collections::HashSet;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::coarse::Seconds;
use crate::file::bytes::In;
use crate::file::columns::Columns;
use crate::file::entries::{self, Kind};
use crate::file::{Found, Frames, MAGIC, parts};
use stats::jtl::source::Source;
use stats::kept::{AT_RANDOM, Why};

use crate::frame::Ending;
use crate::kept::Kept;
use crate::labels::Labels;
use crate::second::settle;
use crate::sum::Sum;
use crate::{CauseName, ClassName, Flaw, Has, Label, Record, Series, Unit};

/// Name of the record's file in the folder of a run.
pub const FILE: &str = "record";

/// Exclusive upper limit for the number that identifies a label, cause, class or series.
pub(crate) const MOST_NUMBER: u32 = 1 << 20;

/// The reason why a record could not be read.
#[derive(Debug)]
pub enum ReadError {
    Io(PathBuf, io::Error),
    /// The folder contains no record.
    NoRun(PathBuf),
    /// The record is empty: the run ended before its first second was complete.
    NoSecond(PathBuf),
    /// The file is not a record, or has a version that this program does not support.
    NotARecord(PathBuf),
    /// The file is a result file without any row that has a time.
    NoRows(PathBuf, String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(out, "cannot read {}: {error}", path.display()),
            Self::NoRun(path) => write!(
                out,
                "{} is not the folder of a run: there is no {FILE:?} in it",
                path.display()
            ),
            Self::NoSecond(path) => write!(
                out,
                "{}: no second was recorded; the run was killed, or ended, within its first second",
                path.display()
            ),
            Self::NotARecord(path) => write!(
                out,
                "{} is not the record of a run, or one of a newer version of Throng",
                path.display()
            ),
            Self::NoRows(path, why) => write!(out, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for ReadError {}

/// Returns true if the file name of the path is that of a run's record.
fn is_record(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == FILE)
}

/// The opened content of a path.
#[derive(Debug)]
pub enum Given {
    /// The record of a run.
    Run(Box<Record>),
    /// A file of another kind, positioned at its beginning: the rows of a result file, or any other data.
    Rows(Source),
}

/// Opens the folder of a run, a record or a result file. The file is opened only once, because it may be a pipe.
pub fn given(path: &Path) -> Result<Given, ReadError> {
    let is_folder = path.is_dir();
    let file = if is_folder { path.join(FILE) } else { path.to_owned() };
    if is_folder && !file.exists() {
        return Err(ReadError::NoRun(path.to_owned()));
    }
    let failed = |error| ReadError::Io(file.clone(), error);
    let mut source = Source::open(&file).map_err(failed)?;
    let head = source.peek(MAGIC.len()).map_err(failed)?;
    if head.len() < MAGIC.len() && MAGIC.starts_with(&head) && is_record(&file) {
        return Err(ReadError::NoSecond(file));
    }
    if head != MAGIC {
        return Ok(Given::Rows(source));
    }
    let mut source = BufReader::new(source);
    io::copy(&mut source.by_ref().take(MAGIC.len() as u64), &mut io::sink()).map_err(failed)?;
    Ok(Given::Run(Box::new(Record::of_frames(&mut source).map_err(failed)?)))
}

impl Record {
    /// Reads the record of a run from the run's folder or from the file itself.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        match given(path)? {
            Given::Run(record) => Ok(*record),
            Given::Rows(_) if path.is_dir() => Err(ReadError::NotARecord(path.join(FILE))),
            Given::Rows(_) => Err(ReadError::NotARecord(path.to_owned())),
        }
    }

    /// Reads a record from the bytes of its file. Returns `None` if the bytes are not a record. Damaged parts are left
    /// out and listed in [`Record::flaws`].
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut frames = bytes.strip_prefix(MAGIC)?;
        // Reading from memory does not fail.
        Self::of_frames(&mut frames).ok()
    }

    /// Reads a record from the bytes of its file without joining seconds: seconds and intervals keep their lengths.
    pub fn as_written(bytes: &[u8]) -> Option<Self> {
        let mut frames = bytes.strip_prefix(MAGIC)?;
        let reading = Reading { as_written: true, ..Reading::default() };
        reading.of_frames(&mut frames).ok()
    }

    fn of_frames(from: &mut impl Read) -> io::Result<Self> {
        Reading::default().of_frames(from)
    }
}

impl Reading {
    fn of_frames(mut self, from: &mut impl Read) -> io::Result<Record> {
        let (mut frames, mut is_damaged) = (Frames::new(from), false);
        while let Some(found) = frames.next()? {
            let was_damaged =
                std::mem::replace(&mut is_damaged, matches!(found, Found::Damaged(_)));
            match found {
                Found::Frame(entries) => self.take(&entries),
                Found::Damaged(bytes) => self.damage.add(bytes, !was_damaged),
                Found::Torn(bytes) => self.record.flaws.push(Flaw::TornEnd { bytes }),
            }
        }
        Ok(self.end())
    }
}

impl Record {
    /// Reads the decompressed entries of one frame.
    #[doc(hidden)]
    pub fn of_entries(entries: &[u8]) -> Self {
        let mut reading = Reading::default();
        reading.take(entries);
        reading.end()
    }
}

/// State of reading a record.
#[derive(Default)]
struct Reading {
    record: Record,
    seconds: Seconds,
    /// True to keep the lengths of seconds as they are in the file.
    as_written: bool,
    columns: Columns,
    sum: Sum,
    /// Pairs of labels: the number of a folded label, and of the label that it is counted under.
    folded: Vec<(u32, u32)>,
    /// True if the entry with the facts of the run was read.
    framed: bool,
    damage: Damage,
    odd: u64,
    length_ms: Option<i64>,
    /// Samples kept as evidence, with their ranks. Of the random samples, those with the smallest ranks are selected.
    kept: Vec<(Kept, u64)>,
}

/// Bytes of a file that could not be read, and the time of the run that they covered.
#[derive(Default)]
struct Damage {
    bytes: u64,
    places: u64,
    missing_ms: i64,
    /// End of the last second that was read, epoch ms.
    last_ms: Option<i64>,
    /// True if bytes were damaged after the second that ended at `last_ms`.
    is_open: bool,
}

impl Damage {
    fn add(&mut self, bytes: u64, is_new: bool) {
        self.bytes += bytes;
        self.places += u64::from(is_new);
        self.is_open = true;
    }

    /// Takes note of valid data from `begin_ms` to `end_ms`. If the bytes before this data were damaged, the time from
    /// the previous valid second to `begin_ms` counts as missing.
    fn goes_on(&mut self, begin_ms: i64, end_ms: i64) {
        let last_ms = self.last_ms.replace(end_ms);
        if std::mem::take(&mut self.is_open) {
            let gap_ms = last_ms.map_or(0, |last| begin_ms.saturating_sub(last).max(0));
            self.missing_ms = self.missing_ms.saturating_add(gap_ms);
        }
    }

    fn flaw(&self) -> Option<Flaw> {
        let Self { bytes, places, missing_ms, .. } = *self;
        (bytes > 0).then_some(Flaw::Damaged { bytes, places, missing_ms })
    }
}

impl Reading {
    fn take(&mut self, entries: &[u8]) {
        let mut from = In::new(entries);
        while let Some((kind, mut body)) = entries::next(&mut from) {
            let Some(kind) = Kind::of(kind) else { continue };
            self.entry(kind, &mut body);
            self.odd += u64::from(body.is_odd());
        }
        self.odd += u64::from(from.is_odd());
    }

    fn entry(&mut self, kind: Kind, body: &mut In<'_>) {
        let record = &mut self.record;
        match kind {
            Kind::Columns => self.columns = Columns::read(body),
            Kind::Frame => {
                let (ending, ran_ms) =
                    (std::mem::take(&mut record.frame.ending), record.frame.ran_ms);
                record.frame = entries::read_frame(body);
                self.framed = true;
                self.damage.last_ms.get_or_insert(record.frame.start_ms);
                (record.frame.ending, record.frame.ran_ms) = (ending, ran_ms);
            }
            Kind::Label => {
                let (number, label) = entries::read_label(body);
                put(&mut record.labels, number, label, no_label);
            }
            Kind::Cause => {
                let (number, cause) = entries::read_cause(body);
                put(&mut record.causes, number, cause, no_cause);
            }
            Kind::Class => {
                let (number, class) = entries::read_class(body);
                put(&mut record.classes, number, class, || ClassName::Address("".into()));
            }
            Kind::Series => {
                let (number, series) = entries::read_series(body);
                put(&mut record.series, number, series, no_series);
            }
            Kind::Second => {
                let labels = &record.labels;
                let transaction = |number: u32| {
                    labels.get(number as usize).is_some_and(|label| label.transaction)
                };
                let second = parts::read_second(body, &self.columns, &transaction, &mut self.sum);
                let begin_ms = second.at_ms.saturating_sub(i64::from(second.ms));
                self.damage.goes_on(begin_ms, second.at_ms);
                if self.as_written {
                    record.seconds.push(second);
                } else {
                    self.seconds.push(second, record.frame.start_ms);
                }
            }
            Kind::Mark => record.marks.push(entries::read_mark(body)),
            Kind::Fact => {
                entries::read_fact(body).put(&mut record.facts);
            }
            Kind::Kept => self.kept.push(entries::read_kept(body)),
            Kind::Ending => {
                let (length_ms, ending, ran_ms) = entries::read_ending(body);
                (self.length_ms, record.frame.ending) = (Some(length_ms), ending);
                record.frame.ran_ms = ran_ms;
                let end_ms = record.frame.start_ms.saturating_add(length_ms);
                self.damage.goes_on(end_ms, end_ms);
            }
            Kind::Served => record.served.push((body.small(), body.small())),
            Kind::Folded => self.folded.push((body.small(), body.small())),
        }
    }

    fn end(mut self) -> Record {
        let record = &mut self.record;
        record.flaws.extend(self.damage.flaw());
        if self.odd > 0 {
            record.flaws.push(Flaw::OddEntries { entries: self.odd });
        }
        if self.as_written {
            record.seconds.sort_by_key(|second| second.at_ms);
        } else {
            record.seconds = self.seconds.end(record.frame.start_ms);
        }
        if let Some(first) = record.seconds.first().filter(|_| !self.framed) {
            record.frame.start_ms = first.at_ms - i64::from(first.ms);
            record.flaws.push(Flaw::NoStart);
        }
        record.seconds.iter_mut().for_each(|second| in_order(&mut second.labels));
        record.marks.sort_by_key(|mark| mark.at_ms);
        let last = record.seconds.last().map_or(0, |last| last.at_ms - record.frame.start_ms);
        record.frame.length_ms = match &record.frame.ending {
            Ending::Unknown => last.max(0),
            _ => self.length_ms.unwrap_or(last),
        };
        record.kept = chosen(std::mem::take(&mut self.kept));
        refer(record);
        fold(record, &self.folded);
        let (classes, labels) = (record.classes.len(), record.labels.len());
        record.served.retain(|pair| (pair.0 as usize) < classes && (pair.1 as usize) < labels);
        record.served.sort_unstable();
        record.served.dedup();
        record.has = Has::of_run(record);
        self.record
    }
}

/// Selects from the samples that were kept during the run: all errors, the slowest of each label and minute, and the
/// random samples with the smallest ranks. A sample that was the slowest at the beginning of a minute may not be the
/// slowest of the whole minute.
fn chosen(mut all: Vec<(Kept, u64)>) -> Vec<Kept> {
    all.sort_by_key(|one| one.1);
    let mut random = 0;
    all.retain(|(kept, _)| {
        random += usize::from(kept.why == Why::Random);
        kept.why != Why::Random || random <= AT_RANDOM
    });
    all.sort_by_key(|one| std::cmp::Reverse(one.0.elapsed));
    let mut slow: HashSet<(u32, i64)> = HashSet::new();
    all.retain(|(kept, _)| {
        if kept.why != Why::Slow {
            return true;
        }
        let end_ms = kept.start_ms + (kept.elapsed / 1_000_000) as i64;
        slow.insert((kept.label, end_ms.div_euclid(60_000)))
    });
    all.sort_by_key(|one| one.0.start_ms);
    all.into_iter().map(|one| one.0).collect()
}

fn no_label() -> Label {
    Label { name: "".into(), transaction: false, folded: 0 }
}

fn no_cause() -> CauseName {
    let nothing = || "".into();
    CauseName {
        outcome: stats::Outcome::Other,
        code: nothing(),
        message: nothing(),
        first_label: nothing(),
    }
}

fn no_series() -> Series {
    Series { host: "".into(), metric: "".into(), unit: Unit::Count }
}

fn put<T>(list: &mut Vec<T>, number: u32, value: T, none: impl Fn() -> T) {
    if number >= MOST_NUMBER {
        return;
    }
    let at = number as usize;
    if at >= list.len() {
        // Numbers are assigned in ascending order. The definition of a skipped number may have been in a damaged frame.
        list.resize_with(at + 1, none);
    }
    list[at] = value;
}

/// Adds an empty name for every used number without a name, because a damaged frame may have contained the name.
fn refer(record: &mut Record) {
    let bound = |list: &mut Vec<u32>| list.retain(|number| *number < MOST_NUMBER);
    let mut most = [0usize; 4];
    for second in &mut record.seconds {
        if second.labels.numbers().any(|number| number >= MOST_NUMBER) {
            let mut labels = std::mem::take(&mut second.labels).into_list();
            labels.retain(|label| label.0 < MOST_NUMBER);
            second.labels = labels.into();
        }
        second.causes.retain(|part| part.0 < MOST_NUMBER);
        second.classes.retain(|part| part.0 < MOST_NUMBER);
        second.watched.retain(|part| part.0 < MOST_NUMBER);
        second.checks.retain(|part| part.0 < MOST_NUMBER);
        let numbers = [
            second.labels.numbers().chain(second.checks.iter().map(|part| part.0)).max(),
            second.causes.iter().map(|part| part.0).max(),
            second.classes.iter().map(|part| part.0).max(),
            second.watched.iter().map(|part| part.0).max(),
        ];
        for (most, number) in most.iter_mut().zip(numbers) {
            *most = (*most).max(number.map_or(0, |number| number as usize + 1));
        }
    }
    let mut labels: Vec<u32> = record.kept.iter().map(|kept| kept.label).collect();
    bound(&mut labels);
    most[0] = most[0].max(labels.iter().max().map_or(0, |number| *number as usize + 1));
    record.kept.retain(|kept| kept.label < MOST_NUMBER);
    let causes = record.causes.len().max(most[1]);
    for kept in &mut record.kept {
        kept.cause = kept.cause.filter(|cause| (*cause as usize) < causes);
    }
    if record.labels.len() < most[0] {
        record.labels.resize_with(most[0], no_label);
    }
    if record.causes.len() < most[1] {
        record.causes.resize_with(most[1], no_cause);
    }
    if record.classes.len() < most[2] {
        record.classes.resize_with(most[2], || ClassName::Address("".into()));
    }
    if record.series.len() < most[3] {
        record.series.resize_with(most[3], no_series);
    }
}

/// Folds labels into others, and renumbers the remaining labels.
pub(crate) fn fold(record: &mut Record, folded: &[(u32, u32)]) {
    if folded.is_empty() {
        return;
    }
    let count = record.labels.len();
    let mut into: Vec<u32> = (0..count as u32).collect();
    for (from, to) in folded {
        if let Some(place) = into.get_mut(*from as usize)
            && (*to as usize) < count
        {
            *place = *to;
        }
    }
    let mut new = vec![u32::MAX; count];
    let mut kept = Vec::new();
    for (number, label) in std::mem::take(&mut record.labels).into_iter().enumerate() {
        if into[number] as usize == number {
            new[number] = kept.len() as u32;
            kept.push(label);
        }
    }
    record.labels = kept;
    let number = |old: u32| new.get(*into.get(old as usize)? as usize).copied();
    let number = |old: u32| number(old).filter(|number| *number != u32::MAX).unwrap_or(0);
    for second in &mut record.seconds {
        merge_labels(&mut second.labels, number);
        second.checks.iter_mut().for_each(|checks| checks.0 = number(checks.0));
        settle(&mut second.checks);
    }
    record.kept.iter_mut().for_each(|kept| kept.label = number(kept.label));
    record.threads.iter_mut().for_each(|sum| sum.label = number(sum.label));
    record.served.iter_mut().for_each(|pair| pair.1 = number(pair.1));
}

/// Sorts the labels of a second by number, and merges labels with the same number.
pub(crate) fn in_order(labels: &mut Labels) {
    let mut before = None;
    if !labels.numbers().all(|number| before.replace(number) < Some(number)) {
        merge_labels(labels, |number| number);
    }
}

/// Renumbers the labels of a second, and merges labels that get the same number.
fn merge_labels(labels: &mut Labels, number: impl Fn(u32) -> u32) {
    let old = std::mem::take(labels).into_list();
    let mut new: Vec<_> = old.into_iter().map(|(old, part)| (number(old), part)).collect();
    new.sort_by_key(|label| label.0);
    new.dedup_by(|next, one| {
        let same = one.0 == next.0;
        if same {
            one.1.merge(&next.1);
        }
        same
    });
    *labels = new.into();
    labels.pack();
}

impl Has {
    /// Returns which metrics the record of a run contains.
    pub fn of_run(record: &Record) -> Has {
        Has {
            phases: true,
            slots: record.seconds.iter().all(|second| second.coarse.is_none()),
            response: true,
            connections: true,
            classes: !record.classes.is_empty(),
            generator: true,
            users: true,
            load: record.frame.load != crate::Load::default(),
            targets: !record.series.is_empty(),
            kept: !record.kept.is_empty(),
        }
    }
}
