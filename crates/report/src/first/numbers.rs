//! The numbers of a run, each with its interval.

use answers::verdict::Words;

use crate::captions::{bytes, digits, grouped, share, time};
use crate::html::Html;
use crate::model::{Gateway, Quantile, Totals, words};

pub(super) fn section(out: &mut Html, totals: &Totals) {
    out.raw("<section><dl class=\"facts\">");
    fact(out, "Requests", "请求数", &grouped(totals.samples as f64), None);
    let (failed, note) = match totals.failed.zip(totals.error_share()) {
        Some((failed, errors)) => (grouped(failed as f64), words(share(errors), share(errors))),
        None => ("–".into(), words("unknown: no column success", "未知：没有 success 列")),
    };
    fact(out, "Failed", "失败", &failed, Some(&note));
    let margin = totals.rate_margin.map(|margin| plain(format!("± {}", digits(margin))));
    fact(out, "Rate", "速率", &format!("{}/s", digits(totals.rate_per_s)), margin.as_ref());
    fact(out, "Service time, mean", "平均服务时间", &time(totals.mean_us), None);
    for (en, zh, p) in [("p50", "p50", 0.5), ("p95", "p95", 0.95), ("p99", "p99", 0.99)] {
        if let Some(found) = totals.quantiles.iter().find(|one| one.p == p) {
            fact(out, en, zh, &time(found.us), Some(&interval(found)));
        }
    }
    fact(out, "Max", "最大", &time(totals.max_us), None);
    fact(out, "Received", "接收", &bytes(totals.received_bytes as f64), None);
    if let Some(own) = totals.own_share {
        fact(out, "Generator overhead", "负载机开销", &share(own), None);
    }
    if let Some(cut) = totals.under_way_at_end {
        let note = words("cut by the end, in no other figure", "被结束切断，不计入其他数据");
        fact(out, "In flight at the end", "结束时在途", &grouped(cut as f64), Some(&note));
    }
    for (name, value, note) in totals.gateway.iter().flat_map(Gateway::figures) {
        out.raw("<div><dt>").words(&name).raw("</dt><dd>").text(&value);
        out.raw(" <small class=\"below\">").words(&note).raw("</small></dd></div>");
    }
    out.raw("</dl></section>");
}

fn fact(out: &mut Html, en: &'static str, zh: &'static str, value: &str, note: Option<&Words>) {
    out.raw("<div><dt>").both(en, zh).raw("</dt><dd>").text(value);
    if let Some(note) = note {
        out.raw(" <small class=\"below\">").words(note).raw("</small>");
    }
    out.raw("</dd></div>");
}

pub(crate) fn interval(of: &Quantile) -> Words {
    match (of.low.map(time), of.high.map(time)) {
        // Known better than it is written.
        (Some(low), Some(high)) if low == high => plain(String::new()),
        (Some(low), Some(high)) => plain(format!("{low} – {high}")),
        _ => words("too few samples for an interval", "样本太少，无区间"),
    }
}

fn plain(text: String) -> Words {
    words(text.clone(), text)
}
