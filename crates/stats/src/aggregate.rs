//! JMeter's Aggregate Report: the same figures, by the same formulas, in the same formats.
//!
//! Formulas: SamplingStatCalculator and StatCalculator of JMeter 5.6.3. Average is cut to a whole
//! millisecond; percentiles are nearest rank on whole milliseconds, the percentage taken as a
//! 32-bit float; throughput is samples over the row's own span from first start to last end.
//! Table formats are those of the GUI table, CSV formats those of its "save table data" button.
use std::collections::HashMap;

use lang::decimal_format::{bare, fixed, percent};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::totals::{Row, Totals};

pub const TOTAL: &str = "TOTAL";
/// Characters of a label that the table shows: the longest label is the width of its column.
const LABEL_SHOWN: usize = 200;
/// Characters of a label that a narrow table still shows.
const LABEL_LEAST: usize = 12;
/// Columns that a narrow table leaves out, by their place in [`Report::headings`], in this order: bytes first, then
/// figures whose neighbours say nearly the same.
const GIVE_WAY: [usize; 7] = [12, 11, 7, 5, 8, 4, 2];

/// The percentiles to show, in percent: `aggregate_rpt_pct1` to `3`. The text is part of the
/// column's heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Percentages(pub [String; 3]);

impl Default for Percentages {
    fn default() -> Self {
        Self(["90", "95", "99"].map(String::from))
    }
}

impl Percentages {
    /// From properties; a value that is no number keeps the default.
    pub fn from_properties(property: impl Fn(&str) -> Option<String>) -> Self {
        let mut percentages = Self::default();
        for (n, value) in percentages.0.iter_mut().enumerate() {
            let given = property(&format!("aggregate_rpt_pct{}", n + 1));
            if let Some(given) = given.filter(|text| text.trim().parse::<f32>().is_ok()) {
                *value = given;
            }
        }
        percentages
    }

    fn shares(&self) -> [f64; 3] {
        [0, 1, 2].map(|n| f64::from(self.0[n].trim().parse::<f32>().unwrap_or(0.0) / 100.0))
    }
}

/// One line of the report. Milliseconds, shares of 1, per second, KiB per second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    pub label: String,
    pub samples: u64,
    pub average: u64,
    pub median: u64,
    pub pct1: u64,
    pub pct2: u64,
    pub pct3: u64,
    pub min: u64,
    pub max: u64,
    pub error_share: f64,
    pub throughput: f64,
    pub received_kb_per_s: f64,
    pub sent_kb_per_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The three percentages, as in the headings.
    pub percentages: [String; 3],
    pub lines: Vec<Line>,
    pub total: Line,
}

impl Report {
    /// Rows in order of first appearance, requests and transactions of one name together, as
    /// JMeter has them.
    pub fn new(totals: &Totals, percentages: &Percentages) -> Self {
        let shares = percentages.shares();
        let mut lines = Vec::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for row in totals.rows() {
            match seen.get(&*row.name) {
                None => {
                    seen.insert(&row.name, lines.len());
                    lines.push(Line::new(row, shares));
                }
                Some(&at) => {
                    // At most two rows share a name: requests and transactions.
                    let mut both = row.clone();
                    let twin = |r: &&Row| r.name == row.name && r.transaction != row.transaction;
                    totals.rows().iter().find(twin).into_iter().for_each(|r| both.merge(r));
                    lines[at] = Line::new(&both, shares);
                }
            }
        }
        lines.retain(|line| line.samples > 0);
        let total = Line::new(&totals.total(TOTAL), shares);
        Self { percentages: percentages.0.clone(), lines, total }
    }

    pub fn headings(&self) -> [String; 13] {
        let pct = |n: usize| format!("{}% Line", self.percentages[n]);
        [
            "Label".into(),
            "# Samples".into(),
            "Average".into(),
            "Median".into(),
            pct(0),
            pct(1),
            pct(2),
            "Min".into(),
            "Max".into(),
            "Error %".into(),
            "Throughput".into(),
            "Received KB/sec".into(),
            "Sent KB/sec".into(),
        ]
    }

    /// As JMeter saves the table: one heading line, then the labels, then TOTAL.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        push_csv(&mut out, &self.headings());
        for line in self.lines.iter().chain([&self.total]) {
            push_csv(&mut out, &line.csv_cells());
        }
        out
    }

    /// An aligned table: labels to the left, figures to the right. Where `width` characters are too few for all columns,
    /// those of [`GIVE_WAY`] are left out, then labels are cut, but never below [`LABEL_LEAST`] characters.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut rows = vec![self.headings()];
        rows.extend(self.lines.iter().chain([&self.total]).map(Line::text_cells));
        let wide = |n: usize| rows.iter().map(|r| r[n].width()).max().unwrap_or(0);
        let mut widths: [usize; 13] = std::array::from_fn(wide);
        let mut shown = [true; 13];
        let room = width.unwrap_or(usize::MAX);
        let needed = |widths: &[usize; 13], shown: &[bool; 13]| -> usize {
            let columns = widths.iter().zip(shown).filter(|(_, shown)| **shown);
            columns.map(|(width, _)| width + 2).sum::<usize>() - 2
        };
        for column in GIVE_WAY {
            shown[column] &= needed(&widths, &shown) <= room;
        }
        let over = needed(&widths, &shown).saturating_sub(room);
        widths[0] = widths[0].saturating_sub(over).max(LABEL_LEAST.min(widths[0]));
        let mut out = String::new();
        for row in &rows {
            let mut line = cut(&row[0], widths[0]);
            line.push_str(&" ".repeat(widths[0].saturating_sub(line.width())));
            for ((cell, &width), _) in
                row.iter().zip(&widths).zip(shown).skip(1).filter(|(_, shown)| *shown)
            {
                line.push_str(&format!("  {cell:>width$}"));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        let left_out = shown.iter().filter(|shown| !**shown).count();
        if left_out > 0 {
            out.push_str(&format!("({left_out} more columns in summary.txt)\n"));
        }
        out
    }
}

/// The text in so many columns of a terminal, the last a mark where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let rest = left.checked_sub(c.width().unwrap_or(1));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

impl Line {
    fn new(row: &Row, shares: [f64; 3]) -> Self {
        let t = &row.tally;
        let span_ms = t.last_end_ms.saturating_sub(t.first_start_ms);
        let empty = t.count == 0;
        let kb = |bytes: u64| {
            if span_ms > 0 && bytes > 0 {
                bytes as f64 / (span_ms as f64 / 1000.0) / 1024.0
            } else {
                0.0
            }
        };
        let [pct1, pct2, pct3] = shares.map(|share| row.percent_point(share));
        Self {
            label: row.name.to_string(),
            samples: t.count,
            // The mean is a double in JMeter, cut when shown.
            average: if empty { 0 } else { (t.sum_ms as f64 / t.count as f64) as u64 },
            median: row.percent_point(0.5),
            pct1,
            pct2,
            pct3,
            min: if empty { 0 } else { t.min_ms },
            max: t.max_ms,
            error_share: if empty { 0.0 } else { t.errors as f64 / t.count as f64 },
            throughput: if empty { 0.0 } else { t.count as f64 / span_ms as f64 * 1000.0 },
            received_kb_per_s: kb(t.received),
            sent_kb_per_s: kb(t.sent),
        }
    }

    fn whole(&self) -> [String; 8] {
        [
            self.samples,
            self.average,
            self.median,
            self.pct1,
            self.pct2,
            self.pct3,
            self.min,
            self.max,
        ]
        .map(|n| n.to_string())
    }

    fn csv_cells(&self) -> [String; 13] {
        let [a, b, c, d, e, f, g, h] = self.whole();
        [
            self.label.clone(),
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            percent(self.error_share, 3),
            bare(self.throughput, 5),
            fixed(self.received_kb_per_s, 2),
            fixed(self.sent_kb_per_s, 2),
        ]
    }

    fn text_cells(&self) -> [String; 13] {
        let mut cells = self.csv_cells();
        cells[0] = shown(&self.label);
        cells[9] = percent(self.error_share, 2);
        cells[10] = rate(self.throughput);
        cells
    }
}

/// A label as it fits into one line of a table.
fn shown(label: &str) -> String {
    let label: String =
        label.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    cut(&label, LABEL_SHOWN + 1)
}

impl Row {
    /// See [`crate::hist::Exact::percent_point`].
    fn percent_point(&self, share: f64) -> u64 {
        self.ms.percent_point(share)
    }
}

/// A rate as the GUI shows it (RateRenderer): per second, minute or hour, the first in which it
/// is at least 1.
pub fn rate(per_second: f64) -> String {
    let (mut rate, mut unit) = (per_second, "sec");
    for next in ["min", "hour"] {
        if rate < 1.0 {
            rate *= 60.0;
            unit = next;
        }
    }
    format!("{}/{unit}", bare(rate, 1))
}

fn push_csv(out: &mut String, cells: &[String]) {
    for (n, cell) in cells.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        // JMeter quotes here only for the delimiter and the quote itself, not for line breaks.
        if cell.contains([',', '"']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(cell);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests;
