//! The rows of result files in file order, and the sums over them.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use record::Record;
use stats::jtl::read::ReadError;
use stats::jtl::source::{Source, is_stream};
use stats::jtl::stream::{self, Column, Fields, Left, Why};

use super::settings::{Refused, Settings};
use super::statistics::{Figure, Statistics, Sum};
use super::{Figures, TOTAL, apdex, errors};
use crate::model::{Words, words};

/// Prefix of the response message of a transaction; the number of its samples follows.
const TRANSACTION: &str = "Number of samples in transaction";
/// Beginning of the response message of a transaction without samples.
const EMPTY_TRANSACTION: &str = "Number of samples in transaction : 0";
/// Columns that a result file must contain.
const NEEDED: [Column; 4] = [Column::TimeStamp, Column::Elapsed, Column::Label, Column::Success];
/// Columns that count as 0 or empty if a result file does not contain them.
const WANTED: [Column; 5] = [
    Column::ResponseCode,
    Column::ResponseMessage,
    Column::FailureMessage,
    Column::Bytes,
    Column::SentBytes,
];

/// A note about a result file, for readers of its metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The last row is incomplete and was left out.
    Torn { file: PathBuf, bytes: u64 },
    /// Invalid rows, with the line of the first.
    Odd { file: PathBuf, rows: u64, first_line: u64 },
    /// The file has no header row. As in JMeter, its first row is not counted.
    NoHeading { file: PathBuf },
    /// Columns that are missing and count as 0 or empty.
    Missing { file: PathBuf, columns: Vec<&'static str> },
    /// The compressed file could not be decompressed to its end.
    DamagedArchive { file: PathBuf },
    /// The file is a further part of the result file.
    Part { file: PathBuf },
    /// A message about an unusable value of a property.
    Property(String),
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Torn { file, bytes } => {
                write!(
                    f,
                    "{}: the last row is not whole and is left out ({bytes} bytes)",
                    file.display()
                )
            }
            Self::Odd { file, rows, first_line } => {
                let (rows, are) = if *rows == 1 {
                    ("1 row".into(), "is")
                } else {
                    (format!("{rows} rows"), "are")
                };
                write!(
                    f,
                    "{}: {rows} that {are} no sample {are} left out, first in line {first_line}",
                    file.display()
                )
            }
            Self::NoHeading { file } => write!(
                f,
                "{}: it has no heading, and is read with the columns that jmeter.save.saveservice.* say; its first row is \
                 not counted, as in JMeter",
                file.display()
            ),
            Self::Missing { file, columns } => {
                write!(
                    f,
                    "{}: columns that it does not have count as 0 or empty: {}",
                    file.display(),
                    columns.join(", ")
                )
            }
            Self::DamagedArchive { file } => write!(
                f,
                "{}: the compressed file is damaged or ends early; what could not be unpacked is left out",
                file.display()
            ),
            Self::Part { file } => write!(f, "{} is read as a further part", file.display()),
            Self::Property(words) => words.fmt(f),
        }
    }
}

impl Note {
    /// Returns the note in both languages.
    pub fn words(&self) -> Words {
        let zh = match self {
            Self::Torn { file, bytes } => {
                format!("{}：最后一行不完整（{bytes} 字节），已略去", file.display())
            }
            Self::Odd { file, rows, first_line } => {
                format!("{}：{rows} 行不是样本，已略去，首行为第 {first_line} 行", file.display())
            }
            Self::NoHeading { file } => {
                format!(
                    "{}：没有表头，按 jmeter.save.saveservice.* 的列读取；与 JMeter 相同，首行不计",
                    file.display()
                )
            }
            Self::Missing { file, columns } => {
                format!("{}：缺少的列按 0 或空计：{}", file.display(), columns.join("、"))
            }
            Self::DamagedArchive { file } => {
                format!("{}：压缩文件已损坏或不完整，无法解压的部分已略去", file.display())
            }
            Self::Part { file } => format!("{} 作为后续部分一并读取", file.display()),
            Self::Property(words) => words.clone(),
        };
        words(self.to_string(), zh)
    }
}

/// The sums over the rows of a label.
#[derive(Debug)]
struct Label {
    name: Box<str>,
    /// True if the label is a transaction according to its first row.
    controller: bool,
    sum: Sum,
    apdex: apdex::Count,
    errors: errors::Count,
}

/// Reads the rows of result files and computes the metrics of JMeter's dashboard.
#[derive(Debug)]
pub struct Gatherer<'s> {
    settings: &'s Settings,
    /// Index of each label in `labels`; `None` for a label that is filtered out.
    places: HashMap<Box<str>, Option<usize>>,
    labels: Vec<Label>,
    total: Sum,
    apdex: apdex::Count,
    top: errors::Count,
    errors: errors::Count,
    requests: (u64, u64),
    span_ms: Option<(i64, i64)>,
    /// True if any row was counted.
    some: bool,
    notes: Vec<Note>,
    /// Line of the first invalid row, and the reason.
    odd: Option<(u64, Why)>,
    /// Builder for the record of the counted rows, if requested.
    rows: Option<record::jtl::Rows>,
}

impl<'s> Gatherer<'s> {
    pub fn new(settings: &'s Settings) -> Self {
        Self {
            settings,
            places: HashMap::new(),
            labels: Vec::new(),
            total: Sum::default(),
            apdex: apdex::Count::new(None, settings),
            top: errors::Count::default(),
            errors: errors::Count::default(),
            requests: (0, 0),
            span_ms: None,
            some: false,
            notes: settings.warnings.iter().cloned().map(Note::Property).collect(),
            odd: None,
            rows: None,
        }
    }

    /// Adds the record of the rows, which is built in the same pass.
    pub fn with_record(self) -> Self {
        Self { rows: Some(record::jtl::Rows::default()), ..self }
    }

    /// Reads a file; `name` is for notes and errors.
    pub fn read(&mut self, name: &Path, from: impl io::Read) -> Result<(), Refused> {
        let mut first = true;
        let mut missing = Vec::new();
        let left = stream::each(from, &self.settings.columns, |fields| {
            if std::mem::replace(&mut first, false) {
                let lacks = |column: &Column| fields.get(*column).is_none();
                missing.extend(NEEDED.into_iter().filter(lacks).map(Column::name));
                if missing.is_empty() {
                    self.begin(name, fields);
                }
                if fields.is_without_heading() {
                    self.notes.push(Note::NoHeading { file: name.to_owned() });
                    return true;
                }
            }
            !missing.is_empty() || self.add(fields).is_some()
        });
        let left = left.or_else(|error| match error {
            ReadError::Missing(columns) => {
                missing.extend(columns);
                Ok(Left::default())
            }
            error => Err(Refused(format!("Cannot read {}: {error}", name.display()))),
        })?;
        if let Some(column) = missing.first() {
            return Err(Refused(format!(
                "No column <{column}> found in {}, check jmeter.save.saveservice.* properties to add the missing column",
                name.display()
            )));
        }
        self.left_out(name, left);
        Ok(())
    }

    fn begin(&mut self, name: &Path, fields: &Fields<'_>) {
        let columns: Vec<_> =
            WANTED.into_iter().filter(|column| fields.get(*column).is_none()).collect();
        if !columns.is_empty() {
            let columns = columns.into_iter().map(Column::name).collect();
            self.notes.push(Note::Missing { file: name.to_owned(), columns });
        }
    }

    fn left_out(&mut self, name: &Path, left: Left) {
        if left.torn > 0 {
            self.notes.push(Note::Torn { file: name.to_owned(), bytes: left.torn });
        }
        if left.odd > 0 {
            let (rows, first_line) = (left.odd, left.first_line);
            self.odd = self.odd.or(left.why.map(|why| (first_line, why)));
            self.notes.push(Note::Odd { file: name.to_owned(), rows, first_line });
        }
        if left.is_damaged {
            self.notes.push(Note::DamagedArchive { file: name.to_owned() });
        }
        if let Some(rows) = &mut self.rows {
            rows.leave_out(&left);
        }
    }

    /// Adds a row. Returns `None` if the row is not a valid sample.
    pub fn add(&mut self, fields: &Fields<'_>) -> Option<()> {
        let row = self.figure(fields)?;
        let settings = self.settings;
        let (from, to) = (settings.from_ms.unwrap_or(i64::MIN), settings.to_ms.unwrap_or(i64::MAX));
        if row.start_ms < from || row.start_ms > to {
            return Some(());
        }
        let (first, last) = self.span_ms.unwrap_or((row.start_ms, row.end_ms));
        self.span_ms = Some((first.min(row.start_ms), last.max(row.end_ms)));
        let name = fields.get(Column::Label)?;
        let message = fields.get(Column::ResponseMessage).unwrap_or_default();
        let controller = message.starts_with(TRANSACTION);
        let empty = controller && message.starts_with(EMPTY_TRANSACTION);
        let Some(at) = self.place(&name, controller) else { return Some(()) };
        self.some = true;
        // As in JMeter, a row with an impossible time counts here.
        if let Some(rows) = &mut self.rows
            && rows.add(fields, row.start_ms).is_none()
        {
            let mut left = Left::default();
            left.add(fields.line(), fields.why());
            rows.leave_out(&left);
        }
        let error = (!row.success).then(|| {
            let code = fields.get(Column::ResponseCode).unwrap_or_default();
            let failure = fields.get(Column::FailureMessage).unwrap_or_default();
            errors::key(&code, &message, &failure, settings.failure_messages)
        });
        let error = error.as_deref();
        if !controller {
            self.requests.0 += 1;
            self.requests.1 += u64::from(!row.success);
            self.errors.add(error);
        }
        if empty {
            return Some(());
        }
        let label = &mut self.labels[at];
        label.sum.add(&row, settings.window);
        label.apdex.add(&row);
        self.apdex.add(&row);
        if !(controller && settings.top5_without_transactions) {
            label.errors.add(error);
        }
        if !controller {
            self.total.add(&row, settings.window);
            self.top.add(error);
        }
        Some(())
    }

    fn place(&mut self, name: &str, controller: bool) -> Option<usize> {
        if let Some(at) = self.places.get(name) {
            return *at;
        }
        let settings = self.settings;
        let passes = settings.filter.as_ref().is_none_or(|filter| filter.is_found_in(name));
        let at = passes.then_some(self.labels.len());
        self.places.insert(name.into(), at);
        if passes {
            self.labels.push(Label {
                name: name.into(),
                controller,
                sum: Sum::default(),
                apdex: apdex::Count::new(Some(name), settings),
                errors: errors::Count::default(),
            });
        }
        at
    }

    fn figure(&self, fields: &Fields<'_>) -> Option<Figure> {
        let at = fields.time_ms()?;
        // A time of 24 days or more does not fit JMeter's range.
        let elapsed_ms = i32::try_from(fields.number(Column::Elapsed)?).ok()?;
        let elapsed = i64::from(elapsed_ms);
        let (start_ms, end_ms) = if self.settings.starts {
            (at, at.checked_add(elapsed)?)
        } else {
            (at.checked_sub(elapsed)?, at)
        };
        let bytes = |column| match fields.get(column) {
            Some(text) => text.trim().parse().ok(),
            None => Some(0),
        };
        Some(Figure {
            start_ms,
            end_ms,
            elapsed_ms,
            success: fields.get(Column::Success)?.eq_ignore_ascii_case("true"),
            received: bytes(Column::Bytes)?,
            sent: bytes(Column::SentBytes)?,
        })
    }

    /// Returns the metrics, and the record if requested. Returns an error if no row was counted.
    pub fn end(mut self) -> Result<Read, Refused> {
        let rows = self.rows.take();
        let figures = self.figures()?;
        Ok(Read { figures, record: rows.map(record::jtl::Rows::record) })
    }

    fn figures(self) -> Result<Figures, Refused> {
        if !self.some {
            let why = match (self.span_ms, self.odd) {
                (Some(_), _) => {
                    "no label of the result file matches jmeter.reportgenerator.sample_filter".into()
                }
                (None, None) => {
                    "there is no whole row of a sample in the result file, or within the range of dates".into()
                }
                (None, Some((line, why))) => format!(
                    "no row of the result file is a sample within the range of dates; line {line}: {why}"
                ),
            };
            return Err(Refused(why));
        }
        let settings = self.settings;
        let shown = |label: &Label| settings.shown.shows(&label.name, label.controller, true);
        let of_labels = self.labels.iter().filter(|label| shown(label));
        let apdex = of_labels.filter_map(|label| label.apdex.row(&label.name));
        let apdex = self.apdex.row(TOTAL).into_iter().chain(apdex).collect();
        let failing = self.labels.iter().filter(|label| label.errors.errors > 0);
        let failing =
            failing.filter(|label| settings.shown.shows(&label.name, label.controller, false));
        let failing = failing.map(|label| label.errors.top(&label.name));
        let top5 = std::iter::once(self.top.top(TOTAL)).chain(failing).collect();
        let mut errors = self.errors.rows();
        errors.retain(|row| settings.shown.shows(&row.message, false, false));
        let table = self.labels.iter().map(shown).collect();
        let rows = self.labels.into_iter();
        let statistics = Statistics {
            total: self.total.row(TOTAL, false, settings),
            labels: rows
                .map(|label| label.sum.row(&label.name, label.controller, settings))
                .collect(),
            shown: table,
        };
        Ok(Figures {
            statistics,
            apdex,
            errors,
            top5,
            requests: self.requests,
            window: settings.window,
            percentages: settings.percentages.each_ref().map(|(text, _)| text.clone()),
            span_ms: self.span_ms,
            title: settings.title.clone(),
            notes: self.notes,
        })
    }
}

/// Returns the further parts of a result file, sorted by number: `name-1.jtl`, `name-2.jtl` … in the same folder as
/// `name.jtl`.
pub fn parts(file: &Path) -> Vec<PathBuf> {
    if is_stream(file) {
        return Vec::new();
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (root, end) = name.rsplit_once('.').unwrap_or((&name, ""));
    let folder =
        file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = entry.file_name().to_string_lossy().into_owned();
        let number = other.strip_prefix(root).and_then(|rest| rest.strip_prefix('-'));
        let number = number.and_then(|rest| rest.strip_suffix(end)?.strip_suffix('.'));
        let digits =
            |number: &&str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(number) = number.filter(digits)
            && entry.path().is_file()
        {
            found.insert((number.len(), number.to_owned()), file.with_file_name(&other));
        }
    }
    found.into_values().collect()
}

/// The metrics of result files, and the record of the counted rows.
#[derive(Debug)]
pub struct Read {
    pub figures: Figures,
    pub record: Option<Record>,
}

/// Opens a result file for [`read`]. The error is JMeter's message with the reason.
pub fn open(path: &Path) -> Result<Source, Refused> {
    Source::open(path).map_err(|error| {
        Refused(format!("Cannot read test results file : {}: {error}", path.display()))
    })
}

/// Reads an opened result file and its further parts, once. With `record`, also builds the record of the rows.
pub fn read(
    (file, source): (&Path, Source),
    further: &[PathBuf],
    settings: &Settings,
    record: bool,
) -> Result<Read, Refused> {
    let mut gatherer = Gatherer::new(settings);
    if record {
        gatherer = gatherer.with_record();
    }
    gatherer.read(file, source)?;
    for path in further {
        gatherer.notes.push(Note::Part { file: path.to_owned() });
        gatherer.read(path, open(path)?)?;
    }
    gatherer.end()
}
