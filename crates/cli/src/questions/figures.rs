//! Formatting of numbers for sweep, capacity and compare.

use answers::verdict::Words;
use report::model::words;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::judge::verdict::wrapped;
use crate::print::tty;

pub(crate) use report::captions::numbers::{load, number, percent};

/// Serializes only the English sentence, for the JSON files.
#[expect(clippy::ref_option, reason = "serde calls it with the field")]
pub(crate) fn english<S: Serializer>(words: &Option<Words>, to: S) -> Result<S::Ok, S::Error> {
    words.as_ref().map(|words| &words.en).serialize(to)
}

/// Reads an English sentence from JSON. The Chinese sentence is a copy of it until both are rebuilt.
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

/// Minimum width of the last column if it contains sentences, which are wrapped.
const WORDS: usize = 24;

/// Formats a table within the terminal's width; in a file or a pipe, there is room for all columns. The first
/// column and the last are left-aligned, the others right-aligned. If there is not enough room, the columns
/// `give_way` are left out in that order, then the last one is wrapped. `file` is the name of a file that contains
/// all columns.
pub(crate) fn fitted(rows: &[Vec<String>], give_way: &[usize], file: &str) -> String {
    fitted_to(tty::output_width().unwrap_or(usize::MAX), rows, give_way, file)
}

fn fitted_to(room: usize, rows: &[Vec<String>], give_way: &[usize], file: &str) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let Some(last) = columns.checked_sub(1) else { return String::new() };
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let wide = |column: usize| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let mut shown = vec![true; columns];
    let before_last = |shown: &[bool]| -> usize {
        (0..last).filter(|column| shown[*column]).map(|column| widths[column] + 2).sum()
    };
    for column in give_way {
        if before_last(&shown) + widths[last].min(WORDS) > room {
            shown[*column] = false;
        }
    }
    let indent = before_last(&shown);
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for column in (0..last).filter(|column| shown[*column]) {
            let cell = row.get(column).map_or("", String::as_str);
            let space = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 {
                line.push_str(&format!("{cell}{space}  "));
            } else {
                line.push_str(&format!("{space}{cell}  "));
            }
        }
        let words = row.get(last).map_or("", String::as_str);
        let words = wrapped(&" ".repeat(indent), words, room.max(indent + WORDS));
        line.push_str(words.trim_start());
        out.push_str(line.trim_end());
        out.push('\n');
    }
    match shown.iter().filter(|shown| !**shown).count() {
        0 => {}
        1 => out.push_str(&format!("(1 more column in {file})\n")),
        more => out.push_str(&format!("({more} more columns in {file})\n")),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_give_way_and_words_are_wrapped() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let words = "doubtful: the generator was full (criteria held)";
        let rows = [row(&["a", "b", "c", "why"]), row(&["1", "22", "333", words])];
        let wide =
            "a   b    c  why\n1  22  333  doubtful: the generator was full (criteria held)\n";
        for room in [80, usize::MAX] {
            assert_eq!(fitted_to(room, &rows, &[1], "x.json"), wide);
        }
        let narrow = "a    c  why\n1  333  doubtful: the generator\n        was full (criteria held)\n(1 more column in x.json)\n";
        assert_eq!(fitted_to(32, &rows, &[1, 2], "x.json"), narrow);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        assert_eq!(table(&[row(&["a", "bb"]), row(&["ccc", "d"])]), "a    bb\nccc   d\n");
    }
}
