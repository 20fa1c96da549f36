//! The table of the five labels with the most time.

use crate::captions::{grouped, share, time, timed};
use crate::html::Html;
use crate::model::{Label, RunPage, percent_text, words};

const SHOWN: usize = 5;

pub(super) fn section(out: &mut Html, page: &RunPage) {
    if page.labels.is_empty() {
        return;
    }
    out.raw("<section><h2>")
        .both("Labels with the most time", "耗时最多的标签")
        .raw("</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Labels\"><table class=\"dense\"><thead><tr>");
    let times = page.totals.times;
    let checked = page.labels.iter().any(|label| label.answers.is_some());
    let expected = checked.then(|| words("As expected", "符合预期"));
    let heads = [words("Label", "标签"), words("Samples", "样本数"), words("Errors", "错误率")];
    let times = [
        timed(times, "p50"),
        timed(times, "p95"),
        timed(times, "p99"),
        words("Share of service time", "占服务时间"),
    ];
    for (n, head) in heads.iter().chain(&expected).chain(&times).enumerate() {
        out.raw(if n == 0 { "<th scope=\"col\">" } else { "<th scope=\"col\" class=\"n\">" });
        out.words(head).raw("</th>");
    }
    out.raw("</tr></thead><tbody>");
    for label in page.labels.iter().take(SHOWN) {
        row(out, label, checked);
    }
    out.raw("</tbody></table></div>");
    if page.labels.iter().take(SHOWN).any(|label| label.transaction) {
        out.raw("<p class=\"note\">")
            .both(
                "Transactions have no share: their time is counted with their requests.",
                "事务不计占比：其时间已计入所含请求。",
            )
            .raw("</p>");
    }
    let more =
        page.labels.len().saturating_sub(SHOWN) + page.rest.as_ref().map_or(0, |rest| rest.labels);
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

/// Renders the row of a label. `checked` adds the share of responses as expected.
fn row(out: &mut Html, label: &Label, checked: bool) {
    out.raw("<tr><th scope=\"row\" class=\"hostile\">").text(&label.name);
    if label.transaction {
        out.raw(" <small class=\"tag\">").both("transaction", "事务").raw("</small>");
    }
    out.raw("</th><td class=\"n\">").text(&grouped(label.samples as f64));
    let errors = label.error_share();
    out.raw(if errors > Some(0.0) { "</td><td class=\"n bad\">" } else { "</td><td class=\"n\">" });
    match errors {
        Some(errors) => out.text(&share(errors)),
        None => out.both("unknown", "未知"),
    };
    if checked {
        let percent = label.answers.and_then(|answers| answers.percent());
        let is_bad = percent.is_some_and(|percent| percent < 100.0);
        out.raw(if is_bad { "</td><td class=\"n bad\">" } else { "</td><td class=\"n\">" });
        out.text(&percent.map_or_else(|| "–".into(), percent_text));
    }
    for p in [0.5, 0.95, 0.99] {
        let found = label.quantiles.iter().find(|one| one.p == p);
        out.raw(if found.is_some_and(|one| one.enough) {
            "</td><td class=\"n\">"
        } else {
            "</td><td class=\"n few\">"
        });
        out.text(&found.map_or_else(|| "–".into(), |one| time(one.us)));
    }
    let of_time = label.share_of_time.map_or_else(|| "–".into(), share);
    out.raw("</td><td class=\"n\">").text(&of_time).raw("</td></tr>");
}
