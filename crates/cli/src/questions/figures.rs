//! Formatting of numbers for sweep, capacity and compare.

use answers::verdict::Words;
use report::model::words;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use report::captions::numbers::{load, number, percent};

/// Serializes only the English text, as the JSON files contain it.
#[expect(clippy::ref_option, reason = "serde calls it with the field")]
pub(crate) fn english<S: Serializer>(words: &Option<Words>, to: S) -> Result<S::Ok, S::Error> {
    words.as_ref().map(|words| &words.en).serialize(to)
}

/// Reads an English text from JSON. The Chinese text is a copy until the text is rebuilt.
pub(crate) fn from_english<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Words>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.map(|text| words(text.clone(), text)))
}

/// Formats a table. Each column is as wide as its widest cell. The first column is left-aligned, the others
/// right-aligned.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let space = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 {
                line.push_str(&format!("{cell}{space}"));
            } else {
                line.push_str(&format!("  {space}{cell}"));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        assert_eq!(table(&[row(&["a", "bb"]), row(&["ccc", "d"])]), "a    bb\nccc   d\n");
    }
}
