//! Alerts that fired during the run, with their begin and end.

use answers::verdict::Words;

use crate::captions::clock;
use crate::html::Html;
use crate::model::{Alert, words};

/// Largest number of alerts in the table.
const SHOWN: usize = 50;

/// Names of the columns of the table.
pub(crate) const HEADS: [(&str, &str); 5] = [
    ("Alert", "告警"),
    ("Labels", "标签"),
    ("From", "开始"),
    ("Until", "结束"),
    ("Summary", "摘要"),
];

pub(super) fn section(out: &mut Html, alerts: &[Alert]) {
    if alerts.is_empty() {
        return;
    }
    out.raw("<section><h2>").both("Alerts", "告警").raw("</h2>");
    out.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Alerts");
    out.raw("\"><table><thead><tr>");
    for (en, zh) in HEADS {
        out.raw("<th scope=\"col\">").both(en, zh).raw("</th>");
    }
    out.raw("</tr></thead><tbody>");
    for alert in alerts.iter().take(SHOWN) {
        let [from, until] = times(alert);
        out.raw("<tr><th scope=\"row\" class=\"hostile\">").text(&alert.name).raw("</th>");
        out.raw("<td class=\"hostile\">").text(&alert.labels).raw("</td>");
        out.raw("<td>").words(&from).raw("</td><td>").words(&until).raw("</td>");
        out.raw("<td class=\"hostile\">").text(&alert.summary).raw("</td></tr>");
    }
    out.raw("</tbody></table></div>");
    if alerts.len() > SHOWN {
        let more = alerts.len() - SHOWN;
        out.raw("<p class=\"note\">");
        out.words(&words(format!("{more} more are left out."), format!("另有 {more} 条未列出。")));
        out.raw("</p>");
    }
    out.raw("</section>");
}

/// Formats the start and end of an alert, relative to the start of the run.
pub(crate) fn times(alert: &Alert) -> [Words; 2] {
    let at = |ms: i64| words(clock(ms), clock(ms));
    let before = || words("before the run", "运行之前");
    let open = || words("still firing at the end", "结束时仍在触发");
    [alert.from_ms.map_or_else(before, at), alert.until_ms.map_or_else(open, at)]
}
