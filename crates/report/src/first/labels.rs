//! The table of the labels with the largest total service time.

use stats::grouped::things;

use super::table::{Cell, Head, Table};
use crate::captions::{digits, grouped, longest, mean, share, time, timed};
use crate::html::Html;
use crate::model::{Label, RunPage, percent_text, words};

/// Number of labels on the first screen.
const SHOWN: usize = 5;

pub(super) fn section(out: &mut Html, page: &RunPage) {
    if page.labels.is_empty() {
        return;
    }
    let shown = &page.labels[..page.labels.len().min(SHOWN)];
    out.raw("<section>");
    table(page, shown, false).render(out);
    if shown.iter().any(|label| label.transaction) {
        out.raw("<p class=\"note\">")
            .both(
                "Transactions have no share: their time is counted with their requests.",
                "事务不计占比：其时间已计入所含请求。",
            )
            .raw("</p>");
    }
    let more = page.labels.len() - shown.len() + page.rest.as_ref().map_or(0, |rest| rest.labels);
    if more > 0 {
        out.raw("<p class=\"note\">");
        out.words(&words(
            format!("{more} more on the page of labels."),
            format!("另有 {more} 个，见标签页。"),
        ))
        .raw("</p>");
    }
    out.raw("</section>");
}

/// Returns the table of these labels. A summary has their rate, mean and largest time in place of their share of the
/// service time.
pub(crate) fn table(page: &RunPage, labels: &[Label], is_summary: bool) -> Table {
    let times = page.totals.times;
    let checked = page.labels.iter().any(|label| label.answers.is_some());
    let mut heads = vec![
        Head::text(words("Label", "标签")),
        Head::number(words("Samples", "样本数")),
        Head::number(words("Errors", "错误率")),
    ];
    if checked {
        heads.push(Head::number(words("As expected", "符合预期")));
    }
    if is_summary {
        heads.extend([words("Rate", "速率"), mean(times)].map(Head::number));
    }
    heads.extend(["p50", "p95", "p99"].map(|name| Head::number(timed(times, name))));
    heads.push(Head::number(if is_summary {
        longest(times)
    } else {
        words("Share of service time", "占服务时间")
    }));
    Table {
        name: "Labels",
        title: words("Labels with the most time", "耗时最多的标签"),
        heads,
        rows: labels.iter().map(|label| row(label, checked, is_summary)).collect(),
    }
}

/// Returns the row of a label. `checked` adds the share of responses as expected.
fn row(label: &Label, checked: bool, is_summary: bool) -> Vec<Cell> {
    let mut name = Cell::name(&label.name);
    if label.transaction {
        name.tags.push(words("transaction", "事务"));
    }
    if label.folded > 0 {
        let n = u64::from(label.folded);
        name.tags.push(words(things(n, "label"), format!("{n} 个标签")));
    }
    let mut cells = vec![name, Cell::number(label.samples as f64, grouped(label.samples as f64))];
    cells.push(match label.error_share() {
        Some(errors) => {
            Cell::number(errors, share(errors)).class(if errors > 0.0 { "n bad" } else { "n" })
        }
        None => Cell::words(words("unknown", "未知")).class("n"),
    });
    if checked {
        let percent = label.answers.and_then(|answers| answers.percent());
        cells.push(match percent {
            Some(percent) => Cell::number(percent, percent_text(percent))
                .class(if percent < 100.0 { "n bad" } else { "n" }),
            None => Cell::text("–").class("n"),
        });
    }
    if is_summary {
        cells.push(Cell::number(label.rate_per_s, format!("{}/s", digits(label.rate_per_s))));
        cells.push(Cell::number(label.mean_us, time(label.mean_us)));
    }
    cells.extend([0.5, 0.95, 0.99].map(|p| {
        let found = label.quantiles.iter().find(|one| one.p == p);
        Cell { interval: None, ..Cell::quantile(found, time) }
    }));
    cells.push(match label.share_of_time {
        _ if is_summary => Cell::number(label.max_us, time(label.max_us)),
        Some(of) => Cell::number(of, share(of)),
        None => Cell::text("–").class("n"),
    });
    cells
}
