//! The heading line of a CSV file: column names in any order, including unknown ones.
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::columns::Columns;
use super::read::{COLUMNS, LONGEST_HEADING};
use super::rows::split;

/// Delimiters that are tried in addition to the delimiter in the properties.
pub(super) const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Names and delimiter of a heading line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) names: Vec<String>,
    pub(super) delimiter: u8,
}

/// The position of each known column; `None` if the file does not contain it.
pub(super) type Places = [Option<u32>; COLUMNS.len()];

impl Heading {
    /// Parses a line; `None` if it is not a heading.
    pub(super) fn of(line: &[u8], preferred: u8) -> Option<Self> {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let is_name =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'"' | b' ');
        let other = line.iter().copied().find(|byte| !is_name(byte) && byte.is_ascii());
        let all = [preferred].into_iter().chain(DELIMITERS).chain(other);
        let found = all.filter_map(|delimiter| {
            let cells = split(line, delimiter)?;
            Some((known(cells.iter().map(Vec::as_slice))?, Self::made(&cells, delimiter)))
        });
        // The delimiter with the most known names wins; among equal delimiters, the first one.
        found.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|best| best.1)
    }

    fn made(cells: &[Vec<u8>], delimiter: u8) -> Self {
        let name = |cell: &Vec<u8>| String::from_utf8_lossy(cell).trim().to_owned();
        Self { names: cells.iter().map(name).collect(), delimiter }
    }

    /// Returns the heading that a file with the configured properties would have.
    pub(super) fn expected(columns: &Columns) -> Self {
        let mut line = Vec::new();
        columns.header(&[], &mut line);
        let line = line.trim_ascii_end();
        let names = line.split(|byte| *byte == columns.delimiter);
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Self { names, delimiter: columns.delimiter }
    }

    /// Returns the expected heading for a file that begins with a row instead of a heading. Chooses the delimiter that
    /// divides this row best.
    pub(super) fn without(line: &[u8], columns: &Columns) -> Self {
        let made = Self::expected(columns);
        // The line may end inside quotes.
        let count = |delimiter: u8| {
            let outside = line.split(|byte| *byte == b'"').step_by(2);
            outside.map(|part| memchr::memchr_iter(delimiter, part).count()).sum::<usize>()
        };
        let most = DELIMITERS.into_iter().max_by_key(|delimiter| count(*delimiter));
        let delimiter = most.filter(|most| {
            count(made.delimiter) + 1 < made.names.len() && count(*most) > count(made.delimiter)
        });
        Self { delimiter: delimiter.unwrap_or(made.delimiter), ..made }
    }

    /// Returns the heading of rows with these columns and variables.
    fn of_columns(columns: &Columns, variables: &[&str]) -> Option<Self> {
        let mut line = Vec::new();
        columns.header(variables, &mut line);
        let cells = split(line.trim_ascii_end(), columns.delimiter)?;
        Some(Self::made(&cells, columns.delimiter))
    }

    /// Reads the first line of a file; `None` if it is not a heading.
    fn of_file(path: &Path, preferred: u8) -> Option<Self> {
        let mut line = Vec::new();
        let file = File::open(path).ok()?.take(LONGEST_HEADING as u64);
        BufReader::new(file).read_until(b'\n', &mut line).ok()?;
        Self::of(line.trim_ascii_end(), preferred)
    }

    pub(super) fn places(&self) -> Places {
        places(&self.names)
    }
}

/// Describes how the heading of an existing result file differs from rows with these columns and variables; `None` if
/// it matches. As in JMeter, rows that are appended to a file get no new heading.
pub fn unlike_rows(path: &Path, columns: &Columns, variables: &[&str]) -> Option<String> {
    if columns.xml || !path.is_file() {
        return None;
    }
    let found = Heading::of_file(path, columns.delimiter)?;
    let own = Heading::of_columns(columns, variables)?;
    if found.delimiter != own.delimiter {
        let (found, own) = (found.delimiter as char, own.delimiter as char);
        return Some(format!(
            "the file has the delimiter {found:?}, and the rows of this run have {own:?}"
        ));
    }
    let words = difference(&found, &own, "the rows of this run")?;
    Some(format!("the heading of the file has other columns: {words}"))
}

/// Describes how the columns of `second` differ from those of `first`, for two listeners that write into one file;
/// `None` if they match.
pub fn unlike_columns(first: &Columns, second: &Columns, variables: &[&str]) -> Option<String> {
    if first.xml || second.xml {
        return (first.xml != second.xml).then(|| "one writes XML, the other CSV".to_owned());
    }
    let [first, second] = [first, second].map(|columns| Heading::of_columns(columns, variables));
    let (first, second) = (first?, second?);
    if first.delimiter != second.delimiter {
        let (first, second) = (first.delimiter as char, second.delimiter as char);
        return Some(format!("one has the delimiter {first:?}, the other {second:?}"));
    }
    difference(&first, &second, "the rows of the second")
}

/// Describes how the columns of rows differ from a heading; `None` if they are the same.
fn difference(found: &Heading, own: &Heading, rows: &str) -> Option<String> {
    let lacks = |names: &[String], of: &[String]| {
        let lacking = of.iter().filter(|name| !names.contains(name)).cloned();
        lacking.collect::<Vec<_>>().join(", ")
    };
    let (more, fewer) = (lacks(&found.names, &own.names), lacks(&own.names, &found.names));
    match (more.is_empty(), fewer.is_empty()) {
        _ if found.names == own.names => None,
        (true, true) => Some("the columns have another order".to_owned()),
        (false, true) => Some(format!("{rows} also have {more}")),
        (true, false) => Some(format!("{rows} do not have {fewer}")),
        (false, false) => Some(format!("{rows} have {more}, but not {fewer}")),
    }
}

/// Finds the columns by name. If a variable has the name of a column, the first of both is used.
pub(super) fn places(names: &[String]) -> Places {
    COLUMNS.map(|column| {
        let at = names.iter().position(|name| name.eq_ignore_ascii_case(column))?;
        u32::try_from(at).ok()
    })
}

/// Returns the number of known names in the cells of a line; `None` if it is not a heading. Unlike a heading, a row has
/// a cell that starts with a digit.
pub(super) fn known<'c>(cells: impl Iterator<Item = &'c [u8]>) -> Option<usize> {
    let (mut known, mut all) = (0, 0);
    for cell in cells {
        let cell = cell.strip_prefix("\u{feff}".as_bytes()).unwrap_or(cell).trim_ascii();
        if cell.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        all += 1;
        known += usize::from(COLUMNS.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes())));
    }
    (known >= 2 || known == all && all == 1).then_some(known)
}
