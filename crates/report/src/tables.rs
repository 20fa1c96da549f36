//! The tables of a page as CSV and JSON, for spreadsheets and programs.
//!
//! Names of tables and columns are the same in every language and include the unit: `_ms`, `_s`, `_per_s`, `_bytes`.
//! Shares are fractions from 0 to 1; times of day are ISO 8601 in UTC. The page's own buttons write the same tables
//! (`ui/src/parts/saved.ts`); a test compares both. CSV follows RFC 4180.

mod agents;
mod answers;
mod run;

pub use self::answers::{capacity, comparison, sweep};
pub use run::run;

use crate::first;

/// A table with its name, column names and rows.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    None,
    Text(String),
    Number(f64),
    Truth(bool),
}

impl Cell {
    /// Returns a cell with a number of at most six decimals.
    pub(crate) fn number(value: impl Into<Option<f64>>) -> Self {
        rounded(value.into(), 1e6)
    }

    /// Returns a cell with a duration, converted from µs to ms.
    pub(crate) fn ms(us: impl Into<Option<f64>>) -> Self {
        rounded(us.into().map(|us| us / 1000.0), 1e3)
    }

    pub(crate) fn count(n: u64) -> Self {
        Self::Number(n as f64)
    }

    /// Returns a cell with a time of day from epoch ms.
    pub(crate) fn at(ms: i64) -> Self {
        let utc = first::utc(ms).replacen(' ', "T", 1);
        let seconds = utc.trim_end_matches(" UTC");
        Self::Text(format!("{seconds}.{:03}Z", ms.rem_euclid(1000)))
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

fn rounded(value: Option<f64>, scale: f64) -> Cell {
    match value {
        // Adding 0.0 turns -0 into 0.
        Some(value) if value.is_finite() => Cell::Number((value * scale).round() / scale + 0.0),
        _ => Cell::None,
    }
}

impl Table {
    fn new(name: &'static str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        Self { name, columns, rows: Vec::new() }
    }

    fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.name);
        self.rows.push(row);
    }

    /// Renders the table as CSV with a heading; lines end with CR LF. A string that a spreadsheet would take for a
    /// formula is prefixed with an apostrophe.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        let heading: Vec<Cell> = self.columns.iter().map(Cell::text).collect();
        for row in std::iter::once(&heading).chain(&self.rows) {
            for (n, cell) in row.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                push_csv(&mut out, cell);
            }
            out.push_str("\r\n");
        }
        out
    }

    /// Renders the table as JSON: a list of objects, one per line. Texts are not prefixed.
    pub fn json(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|column| quoted(column)).collect();
        let mut out = String::from("[");
        for (n, row) in self.rows.iter().enumerate() {
            out.push_str(if n > 0 { ",\n{" } else { "\n{" });
            for (n, (name, cell)) in names.iter().zip(row).enumerate() {
                if n > 0 {
                    out.push(',');
                }
                out.push_str(name);
                out.push(':');
                match cell {
                    Cell::None => out.push_str("null"),
                    Cell::Text(text) => out.push_str(&quoted(text)),
                    Cell::Number(number) => out.push_str(&number.to_string()),
                    Cell::Truth(is) => out.push_str(&is.to_string()),
                }
            }
            out.push('}');
        }
        out.push_str("\n]\n");
        out
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn push_csv(out: &mut String, cell: &Cell) {
    let text = match cell {
        Cell::None => return,
        Cell::Number(number) => return out.push_str(&number.to_string()),
        Cell::Truth(is) => return out.push_str(&is.to_string()),
        Cell::Text(text) => text,
    };
    let formula = text.starts_with(FORMULA);
    let quote = text.contains(['"', ',', '\n', '\r']);
    if quote {
        out.push('"');
    }
    if formula {
        out.push('\'');
    }
    if quote {
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

/// First characters of a string that spreadsheets take for a formula or skip before one, including full-width
/// characters.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

#[cfg(test)]
mod tests {
    use super::*;

    fn table(texts: &[&str]) -> Table {
        let mut table = Table::new("names", &["name", "n_ms"]);
        for text in texts {
            table.push(vec![Cell::text(*text), Cell::ms(-1234.4)]);
        }
        table
    }

    #[test]
    fn csv_is_quoted_and_no_formula() {
        for (text, cell) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
            ("=1+1", "'=1+1"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            ("-", "'-"),
            ("\tx", "'\tx"),
            ("＝1", "'＝1"),
            ("", ""),
        ] {
            assert_eq!(table(&[text]).csv(), format!("name,n_ms\r\n{cell},-1.234\r\n"));
        }
    }

    /// A CSV parser reads the written texts, except for the apostrophes.
    #[test]
    fn csv_is_read_as_it_was_written() {
        let texts = ["a\"b,c\r\nd", "\"", ",", "\n", "=\"x\"", "Ä 中 🙂", " blank "];
        let csv = table(&texts).csv();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let read: Vec<String> =
            reader.records().map(|row| row.unwrap().get(0).unwrap().to_owned()).collect();
        let guarded = |text: &&str| {
            if text.starts_with(FORMULA) { format!("'{text}") } else { (*text).to_owned() }
        };
        assert_eq!(read, texts.iter().map(guarded).collect::<Vec<_>>());
    }

    #[test]
    fn json_has_the_texts_as_they_are() {
        let json = table(&["=1+1", "\"\u{1}\u{2028}"]).json();
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read[0]["name"], "=1+1");
        assert_eq!(read[1]["name"], "\"\u{1}\u{2028}");
        assert_eq!(read[1]["n_ms"], -1.234);
        assert_eq!(Table::new("none", &["a"]).json(), "[\n]\n");
    }

    #[test]
    fn numbers_are_whole_or_short() {
        assert_eq!(Cell::number(f64::NAN), Cell::None);
        assert_eq!(Cell::number(1.0 / 3.0), Cell::Number(0.333_333));
        assert_eq!(Cell::at(1_795_392_061_042), Cell::text("2026-11-23T00:01:01.042Z"));
    }
}
