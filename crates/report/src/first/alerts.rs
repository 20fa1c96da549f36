//! Alerts that fired during the run, with their begin and end.

use answers::verdict::Words;

use super::table::{Cell, Head, Table};
use crate::captions::clock;
use crate::html::Html;
use crate::model::{Alert, words};

/// Largest number of alerts in the table.
const SHOWN: usize = 50;

pub(super) fn section(out: &mut Html, alerts: &[Alert]) {
    if alerts.is_empty() {
        return;
    }
    out.raw("<section>");
    table(&alerts[..alerts.len().min(SHOWN)]).render(out);
    if alerts.len() > SHOWN {
        let more = alerts.len() - SHOWN;
        out.raw("<p class=\"note\">");
        out.words(&words(format!("{more} more are left out."), format!("另有 {more} 条未列出。")));
        out.raw("</p>");
    }
    out.raw("</section>");
}

/// Returns the table of alerts.
pub(crate) fn table(alerts: &[Alert]) -> Table {
    let heads = [
        ("Alert", "告警"),
        ("Labels", "标签"),
        ("From", "开始"),
        ("Until", "结束"),
        ("Summary", "摘要"),
    ];
    let row = |alert: &Alert| {
        let [from, until] = times(alert).map(Cell::words);
        let [name, labels, summary] =
            [&alert.name, &alert.labels, &alert.summary].map(|text| Cell::name(text));
        vec![name, labels, from, until, summary]
    };
    Table {
        name: "Alerts",
        title: words("Alerts", "告警"),
        heads: heads.map(|(en, zh)| Head::text(words(en, zh))).into(),
        rows: alerts.iter().map(row).collect(),
    }
}

/// Formats the start and end of an alert, relative to the start of the run.
fn times(alert: &Alert) -> [Words; 2] {
    let at = |ms: i64| words(clock(ms), clock(ms));
    let before = || words("before the run", "运行之前");
    let open = || words("still firing at the end", "结束时仍在触发");
    [alert.from_ms.map_or_else(before, at), alert.until_ms.map_or_else(open, at)]
}
