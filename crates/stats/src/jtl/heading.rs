//! The heading line of a CSV file: names of columns in any order, with further ones.
use super::columns::Columns;
use super::read::COLUMNS;
use super::rows::split;

/// Delimiters that are tried where the properties name another one.
pub(super) const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Names and delimiter of a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) names: Vec<String>,
    pub(super) delimiter: u8,
}

/// The place of each known column; `None`: the file does not have it.
pub(super) type Places = [Option<u32>; COLUMNS.len()];

impl Heading {
    /// Reads a line; `None`: it is no heading.
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
        // Of several delimiters the first one with the most names.
        found.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|best| best.1)
    }

    fn made(cells: &[Vec<u8>], delimiter: u8) -> Self {
        let name = |cell: &Vec<u8>| String::from_utf8_lossy(cell).trim().to_owned();
        Self { names: cells.iter().map(name).collect(), delimiter }
    }

    /// The heading that the properties would have made.
    pub(super) fn expected(columns: &Columns) -> Self {
        let mut line = Vec::new();
        columns.header(&[], &mut line);
        let line = line.trim_ascii_end();
        let names = line.split(|byte| *byte == columns.delimiter);
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Self { names, delimiter: columns.delimiter }
    }

    /// The same for a file that begins with a row, with the delimiter that divides it.
    pub(super) fn without(line: &[u8], columns: &Columns) -> Self {
        let made = Self::expected(columns);
        // The line may end within quotes.
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

    pub(super) fn places(&self) -> Places {
        places(&self.names)
    }
}

/// Finds the columns by name. A variable may have the name of a column: the first one counts.
pub(super) fn places(names: &[String]) -> Places {
    COLUMNS.map(|column| {
        let at = names.iter().position(|name| name.eq_ignore_ascii_case(column))?;
        u32::try_from(at).ok()
    })
}

/// Number of known names in the cells of a heading; `None`: it is no heading. A row has a number in it, a heading none.
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
