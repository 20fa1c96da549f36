//! Reads result files row by row; the memory use does not depend on their length.
//!
//! Incomplete or malformed rows are counted and skipped. A repeated heading, as in concatenated files, applies from its
//! line on. Of XML files, samples are read without their sub-results.
use std::borrow::Cow;
use std::io::Read;

use crate::grouped::things;

use super::columns::Columns;
use super::decode::{self, Text};
use super::elements::{Elements, Next, Sample};
use super::heading::{self, DELIMITERS, Heading, Places};
use super::read::{COLUMNS, LONGEST_HEADING, ReadError, field};
use super::rows::{Row, Rows, split};
use super::times::Times;

/// Columns that every row must have.
const NEEDED: [Column; 2] = [Column::TimeStamp, Column::Elapsed];

/// A column of a result file, in JMeter's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    TimeStamp,
    Elapsed,
    Label,
    ResponseCode,
    ResponseMessage,
    ThreadName,
    DataType,
    Success,
    FailureMessage,
    Bytes,
    SentBytes,
    GrpThreads,
    AllThreads,
    Url,
    Filename,
    Latency,
    Encoding,
    SampleCount,
    ErrorCount,
    Hostname,
    IdleTime,
    Connect,
}

impl Column {
    /// Returns the name of the column in a heading.
    pub fn name(self) -> &'static str {
        COLUMNS[self as usize]
    }
}

/// The fields of a row by column.
#[derive(Debug)]
pub struct Fields<'a> {
    kind: Kind<'a>,
    times: &'a Times,
}

#[derive(Debug)]
enum Kind<'a> {
    Row { row: Row<'a>, places: &'a Places, has_heading: bool },
    Sample(&'a Sample),
}

/// Counts of the rows that were not read as samples, and findings about the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Length in bytes of an incomplete row at the end of the file; 0 if the last row is complete.
    pub torn: u64,
    /// Number of unreadable rows.
    pub odd: u64,
    /// Line of the first unreadable row, from 1.
    pub first_line: u64,
    /// The reason for the first unreadable row.
    pub why: Option<Why>,
    /// True if the file is compressed, and its compressed data are damaged or truncated.
    pub is_damaged: bool,
    /// True if the file contains timestamps in seconds instead of milliseconds. These timestamps were converted to
    /// milliseconds.
    pub in_seconds: bool,
}

/// Limit in ms (2^31 - 1, more than 24 days) from which an elapsed time is invalid. Some programs write this number for
/// an unknown time.
pub const LONGEST_MS: i64 = i32::MAX as i64;

/// The reason why a row could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The number of fields in the row differs from the number of names in the heading.
    Fields(usize, usize),
    /// Quotes or tags are unbalanced: the row was not written completely.
    Torn,
    /// The row contains NUL bytes: data were lost there.
    Damaged,
    /// The timestamp is neither a number nor a date in a known format.
    Value,
    /// The timestamp, or the end of the sample, is outside the range of valid times.
    Beyond,
    /// The timestamp does not have the format that the property `jmeter.save.saveservice.timestamp_format` specifies.
    OtherFormat,
    /// The property `jmeter.save.saveservice.timestamp_format` specifies a format that is not supported.
    UnreadFormat,
    /// The timestamp is a number with an exponent, such as `1.7644E+12`, so its last digits are lost.
    Rounded,
    /// Text after the end of an XML document.
    Stray,
    /// The elapsed time is below 0.
    Negative,
    Elapsed,
    /// The elapsed time exceeds [`LONGEST_MS`].
    TooLong,
    /// A field for a number of bytes is not a number.
    Bytes,
    /// The row is a metric of a host, written by the plug-in PerfMon.
    PerfMon,
    /// The column success contains neither `true` nor `false`.
    Success,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fields(fields, names) => {
                write!(f, "it has {} instead of {names}", things(*fields as u64, "field"))
            }
            Self::Torn => f.write_str("it is incomplete"),
            Self::Damaged => f.write_str("it has NUL bytes: data is missing there"),
            Self::Value => f.write_str(
                "its timeStamp cannot be read; set its format with -J jmeter.save.saveservice.timestamp_format=FORMAT",
            ),
            Self::OtherFormat => f.write_str(
                "its timeStamp does not have the format of jmeter.save.saveservice.timestamp_format",
            ),
            Self::UnreadFormat => f.write_str(
                "its timeStamp cannot be read: jmeter.save.saveservice.timestamp_format has an unknown letter or an open quote",
            ),
            Self::Rounded => f.write_str(
                "its timeStamp is rounded, like 1.7644E+12: a spreadsheet saved the file; use the original file",
            ),
            Self::Stray => f.write_str("it is not XML: another format was appended to the file"),
            Self::Negative => f.write_str(
                "its elapsed is negative: the clock was set back while the sample ran",
            ),
            Self::Success => f.write_str(
                "its success is neither true nor false: another program wrote or changed the file",
            ),
            Self::Elapsed => f.write_str("its elapsed is not a whole number of milliseconds"),
            Self::TooLong => f.write_str("its elapsed is longer than 24 days"),
            Self::Beyond => {
                f.write_str("its timeStamp is not a time from 1990 to 2100 in milliseconds since 1970")
            }
            Self::Bytes => f.write_str("its bytes or sentBytes is not a whole number"),
            Self::PerfMon => f.write_str(
                "it is a host metric of the PerfMon plug-in, not a sample: use the result file of the test itself",
            ),
        }
    }
}

impl Left {
    /// Counts an unreadable row; the first unreadable row also sets `first_line` and `why`.
    pub fn add(&mut self, line: u64, why: Why) {
        self.odd += 1;
        if self.odd == 1 {
            (self.first_line, self.why) = (line, Some(why));
        }
    }
}

impl Fields<'_> {
    /// Returns the field of a column; `None` if the file does not contain it.
    pub fn get(&self, column: Column) -> Option<Cow<'_, str>> {
        match &self.kind {
            Kind::Row { row, places, .. } => {
                row.get(places[column as usize]? as usize).map(String::from_utf8_lossy)
            }
            Kind::Sample(sample) => field(sample, column.name()).map(Cow::Owned),
        }
    }

    /// Returns whether assertions ran on the sample, and whether one of them failed. `None` for CSV files, which do not
    /// contain the results of assertions.
    pub fn assertions(&self) -> Option<(bool, bool)> {
        match &self.kind {
            Kind::Row { .. } => None,
            Kind::Sample(sample) => Some(sample.assertions),
        }
    }

    /// Returns the line of the row in its file, from 1.
    pub fn line(&self) -> u64 {
        match &self.kind {
            Kind::Row { row, .. } => row.line,
            Kind::Sample(sample) => sample.line,
        }
    }

    /// True if the file has no heading, so that the names of its columns are taken from the properties
    /// `jmeter.save.saveservice.*`.
    pub fn is_without_heading(&self) -> bool {
        matches!(self.kind, Kind::Row { has_heading: false, .. })
    }

    /// Returns a field as an integer. Accepts `12.0`, which programs write that store tables as floating-point numbers.
    pub fn number(&self, column: Column) -> Option<i64> {
        let text = self.get(column)?;
        let text = text.trim();
        let whole = |(whole, rest): (&str, &str)| {
            rest.bytes().all(|byte| byte == b'0').then(|| whole.parse().ok()).flatten()
        };
        text.parse().ok().or_else(|| text.split_once('.').and_then(whole))
    }

    /// Returns the field `success`: true or false; `Some(None)` if it is empty or missing; `None` if it is neither
    /// `true` nor `false`.
    pub fn is_success(&self) -> Option<Option<bool>> {
        let Some(text) = self.get(Column::Success) else { return Some(None) };
        match text.trim() {
            "" => Some(None),
            yes if yes.eq_ignore_ascii_case("true") => Some(Some(true)),
            no if no.eq_ignore_ascii_case("false") => Some(Some(false)),
            _ => None,
        }
    }

    /// True if the timestamp is written like `1.7644E+12`.
    fn is_rounded(&self) -> bool {
        self.get(Column::TimeStamp).is_some_and(|text| {
            let digits = text.trim().split_once(['E', 'e']);
            digits.is_some_and(|(digits, power)| {
                digits.starts_with(|c: char| c.is_ascii_digit())
                    && power.trim_start_matches('+').parse::<u32>().is_ok()
            })
        })
    }

    /// Returns the reason why a row could not be read although it has the right number of fields.
    pub fn why(&self) -> Why {
        match (self.time_ms(), self.number(Column::Elapsed)) {
            (None, _) if self.is_rounded() => Why::Rounded,
            (None, _) if self.has_digits(Column::TimeStamp) => Why::Beyond,
            (None, _) => self.times.why(),
            (Some(_), Some(elapsed)) if elapsed < 0 => Why::Negative,
            (Some(_), None) if self.has_digits(Column::Elapsed) => Why::TooLong,
            (Some(_), None) => Why::Elapsed,
            (Some(_), Some(elapsed)) if elapsed >= LONGEST_MS => Why::TooLong,
            (Some(_), Some(_)) if self.is_success().is_none() => Why::Success,
            (Some(_), Some(_)) if self.has_odd_bytes() => Why::Bytes,
            (Some(_), Some(_)) => Why::Beyond,
        }
    }

    /// True if a field is an integer of any size.
    fn has_digits(&self, column: Column) -> bool {
        self.get(column).is_some_and(|text| {
            let text = text.trim().trim_start_matches('-');
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
        })
    }

    fn has_odd_bytes(&self) -> bool {
        [Column::Bytes, Column::SentBytes]
            .into_iter()
            .any(|column| self.get(column).is_some() && self.number(column).is_none())
    }

    /// True if the row can be a sample although its number of fields differs from the heading, because its known
    /// columns are plausible. This happens if runs with other variables were appended to the file.
    fn fits_all_the_same(&self) -> bool {
        let is_empty = |column| self.get(column).is_none_or(|text| text.trim().is_empty());
        let is_number = |column, most: i64| {
            is_empty(column) || self.number(column).is_some_and(|n| (0..=most).contains(&n))
        };
        let counts = [
            Column::GrpThreads,
            Column::AllThreads,
            Column::Latency,
            Column::IdleTime,
            Column::Connect,
            Column::SampleCount,
            Column::ErrorCount,
        ];
        let code = self.get(Column::ResponseCode).unwrap_or_default();
        let has_code = !code.contains(' ') || code.starts_with("Non HTTP");
        let has_success = match self.get(Column::Success) {
            Some(_) => matches!(self.is_success(), Some(Some(_))),
            None => !code.is_empty(),
        };
        let has_elapsed = !is_empty(Column::Elapsed);
        let most = i64::from(i32::MAX);
        has_success
            && has_code
            && has_elapsed
            && is_number(Column::Elapsed, most)
            && self.time_ms().is_some()
            && counts.into_iter().all(|column| is_number(column, most))
            && [Column::Bytes, Column::SentBytes].into_iter().all(|one| is_number(one, 1 << 40))
    }

    /// True if the line is a torn row that is directly followed by a complete row. `names` is the number of fields in a
    /// complete row.
    fn ends_with_another(&self, names: usize) -> bool {
        let Kind::Row { row, places, .. } = &self.kind else { return false };
        let Some(torn) = row.len().checked_sub(names) else { return false };
        // The last field of the torn row and the first field of the next row are joined.
        let of = |column: Column| {
            let at = places[column as usize].filter(|at| *at > 0)? as usize;
            row.get(at + torn).map(String::from_utf8_lossy)
        };
        let is_time = |text: Cow<'_, str>| self.times.read(&text).is_some();
        let is_number = |text: Cow<'_, str>| text.trim().parse::<u32>().is_ok();
        let is_bool = |text: Cow<'_, str>| {
            ["true", "false"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
        };
        of(Column::TimeStamp).is_none_or(is_time)
            && of(Column::Elapsed).is_none_or(is_number)
            && of(Column::Success).is_none_or(is_bool)
    }

    /// True if the plug-in PerfMon wrote the row: no thread, no response code, and a label like `host CPU`.
    fn is_of_perfmon(&self) -> bool {
        const METRICS: [&str; 9] =
            ["CPU", "Memory", "Swap", "Disks I/O", "Network I/O", "TCP", "JMX", "EXEC", "TAIL"];
        let is_blank = |column| self.get(column).is_some_and(|text| text.is_empty());
        if !(is_blank(Column::ThreadName) && is_blank(Column::ResponseCode)) {
            return false;
        }
        let label = self.get(Column::Label).unwrap_or_default();
        let metric = label.split_once(' ').map_or("", |(_, metric)| metric);
        METRICS.into_iter().any(|name| {
            metric.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }

    /// Passes the row to `each`. Returns the reason if `each` could not read the row, or if PerfMon wrote it.
    fn give(&self, each: &mut impl FnMut(&Fields<'_>) -> bool) -> Option<Why> {
        if self.is_of_perfmon() {
            return Some(Why::PerfMon);
        }
        (!each(self)).then(|| self.why())
    }

    /// Returns the timestamp in ms since 1970. Accepts the timestamp format of the properties and the formats that are
    /// recognized without a property ([`Times::read`]).
    pub fn time_ms(&self) -> Option<i64> {
        self.times.read(&self.get(Column::TimeStamp)?)
    }
}

/// Passes each row of a result file to `each`, which returns true if it could read the row. Without a recognizable
/// heading line the columns are those of `expected`, as in JMeter.
pub fn each(
    from: impl Read,
    expected: &Columns,
    each: impl FnMut(&Fields<'_>) -> bool,
) -> Result<Left, ReadError> {
    let Text { read, is_xml, damaged } = decode::text(from)?;
    let times = Times::of(expected);
    let mut left = if is_xml {
        each_sample(Elements::new(read), &times, each)?
    } else {
        each_row(Rows::new(read), expected, &times, each)?
    };
    left.is_damaged = damaged.get();
    left.in_seconds = times.in_seconds();
    Ok(left)
}

fn each_sample(
    mut elements: Elements<impl Read>,
    times: &Times,
    mut each: impl FnMut(&Fields<'_>) -> bool,
) -> Result<Left, ReadError> {
    let mut left = Left::default();
    loop {
        match elements.next()? {
            Next::Whole => {
                let sample = &elements.sample;
                let fields = Fields { kind: Kind::Sample(sample), times };
                if let Some(why) = fields.give(&mut each) {
                    left.add(sample.line, why);
                }
            }
            Next::Torn(line) => left.add(line, Why::Torn),
            Next::End => {
                left.torn = elements.torn();
                let stray = &elements.stray;
                if stray.lines > 0 {
                    left.add(stray.first_line, Why::Stray);
                    left.odd += stray.lines - 1;
                }
                return Ok(left);
            }
        }
    }
}

/// The format of the rows that follow a heading.
struct Form {
    names: usize,
    places: Places,
    /// True if the number of columns is known, because the file has a heading or a first row was read. Before that,
    /// columns after the known columns may be variables.
    has_heading: bool,
}

impl Form {
    fn of(heading: &Heading) -> Self {
        Self { names: heading.names.len(), places: heading.places(), has_heading: true }
    }

    fn fits(&self, row: &Row<'_>) -> bool {
        row.len() == self.names || !self.has_heading && row.len() > self.names
    }

    /// True if the row contains all known columns and only its number of variables differs from the heading.
    fn may_fit(&self, row: &Row<'_>) -> bool {
        let last = self.places.iter().flatten().max().map_or(0, |last| *last as usize);
        row.is_ended && row.len() > last && row.len() < 2 * self.names - 1
    }
}

/// An incomplete row. If no readable row follows, the row counts as the incomplete end of the file.
#[derive(Clone, Copy)]
struct Open {
    offset: u64,
    before: Left,
    /// True if a later unreadable row has a valid timestamp. Then more than an incomplete last row was lost.
    has_rows: bool,
}

/// Reads the heading; without one, returns the format of the `expected` columns.
fn first_form(rows: &mut Rows<impl Read>, expected: &Columns) -> Result<Form, ReadError> {
    let line = rows.first_line(LONGEST_HEADING)?;
    let found = Heading::of(line, expected.delimiter);
    let has_heading = found.is_some();
    let heading = found.unwrap_or_else(|| Heading::without(line, expected));
    rows.delimiter = heading.delimiter;
    let form = Form { has_heading, ..Form::of(&heading) };
    let missing = NEEDED.into_iter().filter(|column| form.places[*column as usize].is_none());
    let missing: Vec<_> = missing.map(Column::name).collect();
    if missing.is_empty() { Ok(form) } else { Err(ReadError::Missing(missing)) }
}

impl Open {
    /// Remembers the first incomplete row in `open`, because the incomplete end of the file may begin there. For a
    /// later complete but unreadable row, updates `has_rows`. `before` counts the rows that were skipped before the
    /// row.
    fn note(open: &mut Option<Self>, row: &Row<'_>, fields: &Fields<'_>, before: Left) {
        if !row.is_whole || !row.is_ended {
            open.get_or_insert(Self { offset: row.offset, before, has_rows: false });
        } else if let Some(open) = open {
            open.has_rows |= fields.time_ms().is_some();
        }
    }
}

fn each_row(
    mut rows: Rows<impl Read>,
    expected: &Columns,
    times: &Times,
    mut each: impl FnMut(&Fields<'_>) -> bool,
) -> Result<Left, ReadError> {
    let mut form = first_form(&mut rows, expected)?;
    let has_heading = form.has_heading;
    let (mut left, mut open, mut is_heading) = (Left::default(), None, has_heading);
    // Offset of the row at which the delimiter changed last. The delimiter changes at most once per row.
    let mut switched = None;
    while let Some(row) = rows.next()? {
        if std::mem::replace(&mut is_heading, false) {
            continue;
        }
        let offset = row.offset;
        if switched != Some(offset)
            && let Some(delimiter) = other_delimiter(&row, form.names)
        {
            switched = Some(offset);
            rows.delimiter = delimiter;
            rows.back();
            continue;
        }
        let is_damaged = row.has_nul();
        let fields = Fields { kind: Kind::Row { row, places: &form.places, has_heading }, times };
        let has_other_variables = || {
            form.may_fit(&row)
                && fields.fits_all_the_same()
                && !fields.ends_with_another(form.names)
        };
        let fits = row.is_whole && !is_damaged && (form.fits(&row) || has_other_variables());
        let wrong = if fits { fields.give(&mut each) } else { None };
        if fits && wrong.is_none() {
            if !form.has_heading {
                // The number of variables follows from the first row.
                (form.names, form.has_heading) = (row.len(), true);
            }
            open = None;
            continue;
        }
        if row.is_whole
            && let Some(next) = repeated(&row)
        {
            form = next;
            continue;
        }
        Open::note(&mut open, &row, &fields, left);
        let why = match () {
            () if is_damaged => Why::Damaged,
            () if !row.is_whole => Why::Torn,
            () => wrong.unwrap_or(Why::Fields(row.len(), form.names)),
        };
        left.add(row.line, why);
        if is_damaged {
            left.odd += row.rows_worth() - 1;
        }
        if row.is_whole {
            rows.back_to_second_line();
        }
    }
    if let Some(Open { offset, before, has_rows: false }) = open {
        left = Left { torn: rows.offset() - offset, ..before };
    }
    Ok(left)
}

/// Returns another delimiter that fits the row: it gives the expected number of fields, or the names of known columns.
/// Runs with different delimiters may append to the same file.
fn other_delimiter(row: &Row<'_>, names: usize) -> Option<u8> {
    let line = row.get(0).filter(|_| row.len() == 1 && names > 1)?;
    DELIMITERS.into_iter().find(|delimiter| {
        let Some(cells) = split(line, *delimiter) else { return false };
        cells.len() == names
            || cells.len() > 1 && heading::known(cells.iter().map(Vec::as_slice)).is_some()
    })
}

/// Returns the format that a repeated heading within the file defines; `None` if the row is no heading.
fn repeated(row: &Row<'_>) -> Option<Form> {
    heading::known(row.fields())?;
    let name = |cell| {
        let cell = String::from_utf8_lossy(cell);
        cell.trim_start_matches('\u{feff}').trim().to_owned()
    };
    let names: Vec<String> = row.fields().map(name).collect();
    Some(Form { names: names.len(), places: heading::places(&names), has_heading: true })
}
