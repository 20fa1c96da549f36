//! The tables as one plain page: opens offline, has no script, and takes labels and messages as text.

use std::fmt::Write as _;

use super::{Figures, StatisticsRow, TOTAL};

const STYLE: &str = ":root{color-scheme:light dark;font:15px/1.4 system-ui,sans-serif}body{margin:2rem auto;max-width:80rem;\
padding:0 1rem}.wide{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0 2rem}th,td{border:1px solid #8886;\
padding:.25rem .5rem;text-align:right}th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}\
tbody tr:first-child{font-weight:600}";

/// The page of the figures; `source` names the result file.
pub fn page(figures: &Figures, source: &str) -> String {
    let mut out =
        String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let title = figures.title.as_deref().unwrap_or("JMeter's figures");
    let _ = write!(
        out,
        "<title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        text(title)
    );
    let (all, failed) = figures.requests;
    let _ = writeln!(out, "<p>{}: {all} requests, {failed} failed.</p>", text(source));
    if !figures.notes.is_empty() {
        out.push_str("<ul>\n");
        for note in &figures.notes {
            let _ = writeln!(out, "<li>{}</li>", text(&note.to_string()));
        }
        out.push_str("</ul>\n");
    }
    out.push_str(
        "<p>These are the figures of JMeter's dashboard, by its formulas: percentiles are of the last rows of each label \
         (jmeter.reportgenerator.statistic_window), not of all.</p>\n",
    );
    statistics(&mut out, figures);
    apdex(&mut out, figures);
    errors(&mut out, figures);
    top(&mut out, figures);
    out.push_str("</body>\n</html>\n");
    out
}

/// A text for HTML.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

fn table(
    out: &mut String,
    title: &str,
    headings: &[String],
    rows: impl Iterator<Item = Vec<String>>,
) {
    let row = |cell: &str, cells: &[String]| {
        let mut row = String::from("<tr>");
        for words in cells {
            let _ = write!(row, "<{cell}>{}</{cell}>", text(words));
        }
        row + "</tr>\n"
    };
    let _ = write!(
        out,
        "<h2>{}</h2>\n<div class=\"wide\"><table>\n<thead>\n{}</thead>\n<tbody>\n",
        text(title),
        row("th", headings)
    );
    rows.for_each(|cells| out.push_str(&row("td", &cells)));
    out.push_str("</tbody>\n</table></div>\n");
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "–".into() }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn statistics(out: &mut String, figures: &Figures) {
    let mut headings =
        owned(&["Label", "Samples", "Failed", "Error %", "Average ms", "Min", "Max", "Median"]);
    headings.extend(figures.percentages.iter().map(|percent| format!("p{percent}")));
    headings.extend(owned(&["Per second", "Received KB/s", "Sent KB/s"]));
    let row = |row: &StatisticsRow| {
        let mut cells =
            vec![row.transaction.clone(), row.samples.to_string(), row.errors.to_string()];
        let least_most = [row.min, row.max]
            .map(|ms| if row.samples > 0 { format!("{ms:.0}") } else { "–".into() });
        cells.extend([number(row.error_percent.into()), number(row.mean)]);
        cells.extend(least_most);
        let rest = [row.median].into_iter().chain(row.percentiles).chain([
            row.throughput,
            row.received_kb,
            row.sent_kb,
        ]);
        cells.extend(rest.map(number));
        cells
    };
    let all = &figures.statistics;
    let labels =
        all.labels.iter().zip(&all.shown).filter(|(_, shown)| **shown).map(|(label, _)| row(label));
    table(out, "Statistics", &headings, std::iter::once(row(&all.total)).chain(labels));
}

fn apdex(out: &mut String, figures: &Figures) {
    let headings = owned(&["Label", "Apdex", "Satisfied up to ms", "Tolerated up to ms"]);
    let rows = figures.apdex.iter().map(|row| {
        vec![
            row.label.clone(),
            format!("{:.3}", row.apdex),
            row.satisfied_ms.to_string(),
            row.tolerated_ms.to_string(),
        ]
    });
    table(out, "APDEX", &headings, rows);
}

fn errors(out: &mut String, figures: &Figures) {
    if figures.errors.is_empty() {
        return;
    }
    let headings = owned(&["Error", "Number", "% of errors", "% of all samples"]);
    let rows = figures.errors.iter();
    let rows = rows.map(|row| {
        vec![row.message.clone(), row.count.to_string(), number(row.of_errors), number(row.of_all)]
    });
    table(out, "Errors", &headings, rows);
}

fn top(out: &mut String, figures: &Figures) {
    let mut rows = figures.top5.iter().filter(|top| top.errors > 0).peekable();
    if rows.peek().is_none_or(|first| first.label != TOTAL) {
        return;
    }
    let headings = owned(&["Label", "Samples", "Errors", "Most frequent"]);
    let rows = rows.map(|top| {
        let most: Vec<_> =
            top.top.iter().map(|(message, count)| format!("{message}: {count}")).collect();
        vec![top.label.clone(), top.samples.to_string(), top.errors.to_string(), most.join("; ")]
    });
    table(out, "Top 5 errors by label", &headings, rows);
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::Path;

    use crate::jmeter::{Gatherer, Settings};

    #[test]
    fn labels_and_messages_are_text() {
        let settings = Settings::from_properties(|_| None).unwrap();
        let mut gatherer = Gatherer::new(&settings);
        let rows = "timeStamp,elapsed,label,responseCode,responseMessage,success,bytes\n\
                    1000,5,<script>alert(1)</script>,500,</table><img src=x>,false,1\n";
        gatherer.read(Path::new("<b>.jtl"), Cursor::new(rows)).unwrap();
        let page = super::page(&gatherer.figures().unwrap(), "<b>.jtl");
        assert!(
            !page.contains("<script") && !page.contains("<img") && !page.contains("<b>"),
            "{page}"
        );
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    }
}
