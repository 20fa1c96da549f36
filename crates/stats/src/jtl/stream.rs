//! Reads result files row by row, in little memory however long they are.
//!
//! Rows that are not whole, or of another form, are counted, and reading goes on behind them. A heading that is repeated,
//! as in appended files, counts from there on. Of XML, samples are read without what is inside of them.
use std::borrow::Cow;
use std::io::Read;

use super::columns::Columns;
use super::decode::{self, Text};
use super::elements::{Elements, Next, Sample};
use super::heading::{self, DELIMITERS, Heading, Places};
use super::read::{COLUMNS, LONGEST_HEADING, ReadError, field};
use super::rows::{Row, Rows, split};
use super::times::Times;

/// Columns without which a row is none.
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
    /// The name in a heading.
    pub fn name(self) -> &'static str {
        COLUMNS[self as usize]
    }
}

/// A row: fields by their column.
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

/// The rows that were not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Bytes of a last row that is not whole.
    pub torn: u64,
    /// Rows that could not be read, and the line of the first (from 1).
    pub odd: u64,
    pub first_line: u64,
    /// The reason of the first.
    pub why: Option<Why>,
    /// The compressed file is damaged or ends early.
    pub is_damaged: bool,
    /// Time stamps are seconds, not milliseconds; they were read as such.
    pub in_seconds: bool,
}

/// Elapsed times from here on are none that a sample had, ms: more than 24 days, and the greatest 32-bit number, which programs write
/// for a time that they do not know.
pub const LONGEST_MS: i64 = i32::MAX as i64;

/// The reason why a row could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has so many fields, and the heading so many names.
    Fields(usize, usize),
    /// Its quotes or tags do not fit: it was not written whole.
    Torn,
    /// It has bytes 0: data were lost where they are.
    Damaged,
    /// The time stamp is no number, and no date of a known format.
    Value,
    /// The time stamp, or the end of the sample, is a number that no clock shows.
    Beyond,
    /// The time stamp is a number with an exponent: its last digits are lost.
    Rounded,
    /// It is text behind the end of an XML document.
    Stray,
    /// The elapsed time is below 0, or no number.
    Negative,
    Elapsed,
    /// The elapsed time is longer than that of any sample.
    TooLong,
    /// It says neither `true` nor `false` in the column success.
    Success,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fields(1, names) => write!(f, "it has 1 field and not {names}"),
            Self::Fields(fields, names) => write!(f, "it has {fields} fields and not {names}"),
            Self::Torn => f.write_str("it was not written whole"),
            Self::Damaged => f.write_str("it has NUL bytes: data were lost there"),
            Self::Value => f.write_str(
                "its timeStamp cannot be read; a format of its own is given with -J jmeter.save.saveservice.timestamp_format=FORMAT",
            ),
            Self::Rounded => f.write_str(
                "its timeStamp is rounded, like 1.7644E+12: a spreadsheet saved the file; take the one that the test wrote",
            ),
            Self::Stray => f.write_str("it is no XML: another form was appended to the file"),
            Self::Negative => f.write_str(
                "its elapsed is negative: the clock was set back while the sample ran",
            ),
            Self::Success => f.write_str(
                "its success is neither true nor false: another program wrote or changed the file",
            ),
            Self::Elapsed => f.write_str("its elapsed is no whole number of milliseconds"),
            Self::TooLong => f.write_str("its elapsed is longer than 24 days"),
            Self::Beyond => {
                f.write_str("its timeStamp is no time from 1990 to 2100 in milliseconds since 1970")
            }
        }
    }
}

impl Left {
    /// Counts a row that is not what a row should be.
    pub fn add(&mut self, line: u64, why: Why) {
        self.odd += 1;
        if self.odd == 1 {
            (self.first_line, self.why) = (line, Some(why));
        }
    }
}

impl Fields<'_> {
    /// The field of a column; `None` where the file does not have it.
    pub fn get(&self, column: Column) -> Option<Cow<'_, str>> {
        match &self.kind {
            Kind::Row { row, places, .. } => {
                row.get(places[column as usize]? as usize).map(String::from_utf8_lossy)
            }
            Kind::Sample(sample) => field(sample, column.name()).map(Cow::Owned),
        }
    }

    /// Whether assertions ran on the sample, and whether one of them did not hold; `None`: only XML says it.
    pub fn assertions(&self) -> Option<(bool, bool)> {
        match &self.kind {
            Kind::Row { .. } => None,
            Kind::Sample(sample) => Some(sample.assertions),
        }
    }

    /// The line of the row in its file, from 1.
    pub fn line(&self) -> u64 {
        match &self.kind {
            Kind::Row { row, .. } => row.line,
            Kind::Sample(sample) => sample.line,
        }
    }

    /// Whether the names of the columns come from the properties: the file has no heading.
    pub fn is_without_heading(&self) -> bool {
        matches!(self.kind, Kind::Row { has_heading: false, .. })
    }

    /// A field that is a whole number. Programs that keep tables as floating-point numbers write `12.0`.
    pub fn number(&self, column: Column) -> Option<i64> {
        let text = self.get(column)?;
        let text = text.trim();
        let whole = |(whole, rest): (&str, &str)| {
            rest.bytes().all(|byte| byte == b'0').then(|| whole.parse().ok()).flatten()
        };
        text.parse().ok().or_else(|| text.split_once('.').and_then(whole))
    }

    /// Whether the sample succeeded: true or false, or nothing at all. `None`: the field says something else.
    pub fn is_success(&self) -> Option<Option<bool>> {
        let Some(text) = self.get(Column::Success) else { return Some(None) };
        match text.trim() {
            "" => Some(None),
            yes if yes.eq_ignore_ascii_case("true") => Some(Some(true)),
            no if no.eq_ignore_ascii_case("false") => Some(Some(false)),
            _ => None,
        }
    }

    /// Whether the time stamp is written like `1.7644E+12`.
    fn is_rounded(&self) -> bool {
        self.get(Column::TimeStamp).is_some_and(|text| {
            let digits = text.trim().split_once(['E', 'e']);
            digits.is_some_and(|(digits, power)| {
                digits.starts_with(|c: char| c.is_ascii_digit())
                    && power.trim_start_matches('+').parse::<u32>().is_ok()
            })
        })
    }

    /// The reason why a row with the right number of fields could not be read.
    fn why(&self) -> Why {
        let is_number = || {
            let text = self.get(Column::TimeStamp).unwrap_or_default();
            let digits = text.trim().trim_start_matches('-');
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        match (self.time_ms(), self.number(Column::Elapsed)) {
            (None, _) if self.is_rounded() => Why::Rounded,
            (None, _) if is_number() => Why::Beyond,
            (None, _) => Why::Value,
            (Some(_), Some(elapsed)) if elapsed < 0 => Why::Negative,
            (Some(_), None) => Why::Elapsed,
            (Some(_), Some(elapsed)) if elapsed >= LONGEST_MS => Why::TooLong,
            (Some(_), Some(_)) if self.is_success().is_none() => Why::Success,
            (Some(_), Some(_)) => Why::Beyond,
        }
    }

    /// The time stamp, ms since 1970. It may be a text of the format that the properties name, or of one that JMeter knows.
    pub fn time_ms(&self) -> Option<i64> {
        self.times.read(&self.get(Column::TimeStamp)?)
    }
}

/// Gives each row to `each`, which says whether it could be read. Without a recognisable heading line the columns are
/// `expected`'s, as in JMeter.
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
                if !each(&fields) {
                    left.add(sample.line, fields.why());
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

/// The form of the rows from a heading on.
struct Form {
    names: usize,
    places: Places,
    /// False until the first row where the file has no heading: there may be variables behind the columns.
    has_heading: bool,
}

impl Form {
    fn of(heading: &Heading) -> Self {
        Self { names: heading.names.len(), places: heading.places(), has_heading: true }
    }

    fn fits(&self, row: &Row<'_>) -> bool {
        row.len() == self.names || !self.has_heading && row.len() > self.names
    }
}

/// A loss that is the end of the file if no row follows.
#[derive(Clone, Copy)]
struct Open {
    offset: u64,
    before: Left,
}

fn each_row(
    mut rows: Rows<impl Read>,
    expected: &Columns,
    times: &Times,
    mut each: impl FnMut(&Fields<'_>) -> bool,
) -> Result<Left, ReadError> {
    let line = rows.first_line(LONGEST_HEADING)?;
    let found = Heading::of(line, expected.delimiter);
    let heading = found.clone().unwrap_or_else(|| Heading::without(line, expected));
    let has_heading = found.is_some();
    rows.delimiter = heading.delimiter;
    let mut form = Form { has_heading, ..Form::of(&heading) };
    let missing = NEEDED.into_iter().filter(|column| form.places[*column as usize].is_none());
    let missing: Vec<_> = missing.map(Column::name).collect();
    if !missing.is_empty() {
        return Err(ReadError::Missing(missing));
    }
    let (mut left, mut open, mut is_heading) = (Left::default(), None, has_heading);
    // The row at which the delimiter changed last: at a row it changes once.
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
        let fits = row.is_whole && form.fits(&row) && !is_damaged;
        let fields = Fields { kind: Kind::Row { row, places: &form.places, has_heading }, times };
        let wrong = (fits && !each(&fields)).then(|| fields.why());
        if fits && wrong.is_none() {
            // The first row says how many variables there are.
            (form.names, form.has_heading) = (row.len(), true);
            open = None;
            continue;
        }
        if row.is_whole
            && let Some(next) = repeated(&row)
        {
            form = next;
            continue;
        }
        if !row.is_whole || !row.is_ended {
            open.get_or_insert(Open { offset: row.offset, before: left });
        }
        let why = match () {
            () if is_damaged => Why::Damaged,
            () if !row.is_whole => Why::Torn,
            () => wrong.unwrap_or(Why::Fields(row.len(), form.names)),
        };
        left.add(row.line, why);
        if row.is_whole {
            rows.back_to_second_line();
        }
    }
    if let Some(Open { offset, before }) = open {
        left = Left { torn: rows.offset() - offset, ..before };
    }
    Ok(left)
}

/// The delimiter of a row, or of a heading, that another one divides than those before: runs with other properties append to
/// the same file.
fn other_delimiter(row: &Row<'_>, names: usize) -> Option<u8> {
    let line = row.get(0).filter(|_| row.len() == 1 && names > 1)?;
    DELIMITERS.into_iter().find(|delimiter| {
        let Some(cells) = split(line, *delimiter) else { return false };
        cells.len() == names
            || cells.len() > 1 && heading::known(cells.iter().map(Vec::as_slice)).is_some()
    })
}

/// The form that a heading inside of a file gives.
fn repeated(row: &Row<'_>) -> Option<Form> {
    heading::known(row.fields())?;
    let name = |cell| {
        let cell = String::from_utf8_lossy(cell);
        cell.trim_start_matches('\u{feff}').trim().to_owned()
    };
    let names: Vec<String> = row.fields().map(name).collect();
    Some(Form { names: names.len(), places: heading::places(&names), has_heading: true })
}
