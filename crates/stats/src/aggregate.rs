//! JMeter's Aggregate Report with the same metrics, formulas and formats.
//!
//! Formulas: SamplingStatCalculator and StatCalculator of JMeter 5.6.3. The average is truncated to whole milliseconds.
//! Percentiles are nearest rank on whole milliseconds, with the percentage as a 32-bit float. Throughput is the number
//! of samples divided by the row's time from its first start to its last end. Table formats are those of JMeter's GUI
//! table; CSV formats are those of its "save table data" button.
use std::collections::HashMap;

use lang::decimal_format::{bare, fixed, percent};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::totals::{Row, Totals};

pub const TOTAL: &str = "TOTAL";
/// Maximum number of label characters in the table. The longest label determines the width of its column.
const LABEL_SHOWN: usize = 200;
/// Minimum number of label characters in a narrow table.
const LABEL_LEAST: usize = 12;
/// Columns that a narrow table omits, as indexes of [`Report::headings`], in order of removal: byte columns first,
/// then columns with nearly the same metrics as their neighbours.
const GIVE_WAY: [usize; 7] = [12, 11, 7, 5, 8, 4, 2];

/// The percentages of the three percentile columns: the properties `aggregate_rpt_pct1` to `aggregate_rpt_pct3`. Column
/// headings contain their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Percentages(pub [String; 3]);

impl Default for Percentages {
    fn default() -> Self {
        Self(["90", "95", "99"].map(String::from))
    }
}

impl Percentages {
    /// Reads the percentages from properties. A value that is not a number leaves the default.
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

/// One line of the report. Times in ms, error share from 0 to 1, throughput per second, transfer rates in KiB per
/// second.
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
    /// The three percentages, as the headings show them.
    pub percentages: [String; 3],
    pub lines: Vec<Line>,
    pub total: Line,
}

impl Report {
    /// Builds the report. Rows are in order of first appearance. As in JMeter, requests and transactions with the same
    /// name share a row.
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
                    // At most two rows have the same name: one for requests and one for transactions.
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

    /// Returns the table as JMeter saves it: a heading line, then the labels, then TOTAL.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        push_csv(&mut out, &self.headings());
        for line in self.lines.iter().chain([&self.total]) {
            push_csv(&mut out, &line.csv_cells());
        }
        out
    }

    /// Returns an aligned table with labels left and metrics right. If `width` is too small for all columns, the
    /// columns of [`GIVE_WAY`] are omitted. Then labels are cut, but to no less than [`LABEL_LEAST`] characters,
    /// and not within the host and port of a URL.
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
        let hosts = rows.iter().map(|row| address_width(&row[0])).max().unwrap_or(0);
        let least = LABEL_LEAST.max(hosts).min(widths[0]);
        widths[0] = widths[0].saturating_sub(over).max(least);
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

/// Returns the width in terminal columns of a URL's scheme, host and port, and of the ellipsis of a cut text; 0 for
/// labels that are not URLs.
fn address_width(label: &str) -> usize {
    let Some((scheme, rest)) = label.split_once("://") else { return 0 };
    let host = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
    scheme.width() + "://".len() + host.width() + 1
}

/// Cuts a string to `width` columns of a terminal. The last column of a cut text is `…`.
fn cut(text: &str, width: usize) -> String {
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
            // In JMeter the mean is a double that is truncated for display.
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

/// Returns a label that fits into one line of a table.
fn shown(label: &str) -> String {
    let label: String =
        label.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    cut(&label, LABEL_SHOWN + 1)
}

impl Row {
    /// Returns a percentile in ms; see [`crate::hist::Exact::percent_point`].
    fn percent_point(&self, share: f64) -> u64 {
        self.ms.percent_point(share)
    }
}

/// Formats a rate as JMeter's GUI does (RateRenderer): per second, minute or hour, the first unit in which the rate is
/// at least 1.
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
        // JMeter quotes a cell here only because of a delimiter or quote, not because of a line break.
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
