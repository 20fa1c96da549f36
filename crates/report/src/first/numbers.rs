//! The numbers of a run, each with its interval.

use answers::criterion::Times;
use answers::verdict::Words;

use crate::captions::{bytes, digits, grouped, longest, mean, overhead, share, time, timed};
use crate::html::Html;
use crate::model::{Answers, Cost, Gateway, Quantile, Totals, Transactions, words};

/// The percentiles of service times that are shown beside response times, with their names.
const SHOWN: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];

/// Number of independent samples above a percentile that suffices for an interval of the percentile.
const MANY_BEYOND: f64 = 20.0;

/// A number of a run with its name.
#[derive(Debug)]
pub(crate) struct Fact {
    pub name: Words,
    pub value: String,
    pub note: Note,
}

/// The text beside a number.
#[derive(Debug)]
pub(crate) enum Note {
    None,
    /// A 95 % interval, or the reason why there is none.
    Interval(Words),
    Remark(Words),
    /// A remark that summaries leave out.
    OnPage(Words),
}

pub(super) fn section(out: &mut Html, totals: &Totals, cost: Option<&Cost>) {
    out.raw("<section><dl class=\"facts\">");
    for Fact { name, value, note } in facts(totals) {
        let note = match &note {
            Note::None => None,
            Note::Interval(words) | Note::Remark(words) | Note::OnPage(words) => Some(words),
        };
        fact(out, &name, &value, note);
    }
    for (name, value, note) in cost.into_iter().flat_map(Cost::figures) {
        fact(out, &name, &value, Some(&note));
    }
    out.raw("</dl></section>");
}

/// Returns the numbers of a run in the order in which pages and summaries show them.
pub(crate) fn facts(totals: &Totals) -> Vec<Fact> {
    let mut all = Vec::new();
    let mut add = |name: Words, value: String, note: Note| all.push(Fact { name, value, note });
    add(words("Requests", "请求数"), grouped(totals.samples as f64), Note::None);
    let (failed, note) = failures(totals.failed, totals.samples);
    add(failed_name(totals), failed, Note::Remark(note));
    if let Some(of) = totals.transactions {
        let (failed, note) = failures(of.failed, of.samples);
        let note = Note::Remark(note_of(&of, note));
        add(words("Failed transactions", "失败的事务"), failed, note);
        if of.own_failures > 0 {
            let (failed, note) = failures(Some(of.own_failures), of.samples);
            let name = words("Transactions failed by their own assertions", "因自身断言失败的事务");
            add(name, failed, Note::Remark(note_of(&of, note)));
        }
    }
    for (name, value, note) in totals.answers.iter().flat_map(Answers::figures) {
        add(name, value, Note::Remark(note));
    }
    let margin = totals.rate_margin.map(|margin| plain(format!("± {}", digits(margin))));
    let rate = format!("{}/s", digits(totals.rate_per_s));
    add(words("Rate", "速率"), rate, margin.map_or(Note::None, Note::Interval));
    add(mean(totals.times), time(totals.mean_us), Note::None);
    for found in totals.quantiles.iter().filter(|one| one.p <= 0.99) {
        let name = timed(totals.times, &format!("p{}", digits(found.p * 100.0)));
        add(name, time(found.us), Note::Interval(interval(found, totals.samples)));
    }
    add(longest(totals.times), time(totals.max_us), Note::None);
    for (name, value) in service(totals) {
        add(name, value, Note::OnPage(words("JMeter's elapsed", "JMeter 的 elapsed")));
    }
    add(words("Received", "接收"), bytes(totals.received_bytes as f64), Note::None);
    if let Some(own) = totals.own_share {
        let note = totals.own_us.map(overhead).map_or(Note::None, Note::Remark);
        add(words("Generator overhead", "负载机开销"), share(own), note);
    }
    if let Some(cut) = totals.under_way_at_end {
        let note = words("cut by the end; not counted elsewhere", "被结束切断，不计入其他数据");
        let name = words("In flight at the end", "结束时在途");
        add(name, grouped(cut as f64), Note::Remark(note));
    }
    for (name, value, note) in totals.gateway.iter().flat_map(Gateway::figures) {
        add(name, value, Note::Remark(note));
    }
    all
}

/// Returns the name of the number of failed requests. With transactions in the plan, the name says that they are not
/// counted.
fn failed_name(totals: &Totals) -> Words {
    match totals.transactions {
        Some(_) => words("Failed requests", "失败的请求"),
        None => words("Failed", "失败"),
    }
}

/// Formats a number of failures, and its share of the samples.
fn failures(failed: Option<u64>, of: u64) -> (String, Words) {
    match failed {
        Some(failed) => (grouped(failed as f64), plain(share(failed as f64 / of.max(1) as f64))),
        None => ("–".into(), words("unknown: no column success", "未知：没有 success 列")),
    }
}

fn note_of(of: &Transactions, share: Words) -> Words {
    // Without the number of failures, the note is the reason.
    if of.failed.is_none() {
        return share;
    }
    let all = grouped(of.samples as f64);
    words(format!("{} of {all}", share.en), format!("{}，共 {all} 个", share.zh))
}

/// Returns names and values of those service times that differ from the response times as displayed.
fn service(totals: &Totals) -> Vec<(Words, String)> {
    let Some(service) = &totals.service else { return Vec::new() };
    let mut out = Vec::new();
    let mut add = |name: Words, judged: f64, us: f64| {
        if time(judged) != time(us) {
            out.push((name, time(us)));
        }
    };
    add(mean(Times::Service), totals.mean_us, service.mean_us);
    for (name, p) in SHOWN {
        let of = |all: &[Quantile]| all.iter().find(|one| one.p == p).map(|one| one.us);
        if let Some((judged, us)) = of(&totals.quantiles).zip(of(&service.quantiles)) {
            add(timed(Times::Service, name), judged, us);
        }
    }
    out
}

fn fact(out: &mut Html, name: &Words, value: &str, note: Option<&Words>) {
    out.raw("<div><dt>").words(name).raw("</dt><dd>").text(value);
    if let Some(note) = note {
        out.raw(" <small class=\"below\">").words(note).raw("</small>");
    }
    out.raw("</dd></div>");
}

/// Formats the interval of a percentile of `samples` samples, or the reason why there is no interval.
fn interval(of: &Quantile, samples: u64) -> Words {
    match (of.low.map(time), of.high.map(time)) {
        // The interval of the percentile is narrower than the displayed digits.
        (Some(low), Some(high)) if low == high => plain(String::new()),
        (Some(low), Some(high)) => plain(format!("{low} – {high}")),
        _ if (samples as f64) * (1.0 - of.p) < MANY_BEYOND => {
            words("too few samples for an interval", "样本太少，无区间")
        }
        _ => words(
            "too few independent samples for an interval: samples of the same second are alike",
            "独立样本太少，无区间：同一秒内的样本彼此相似",
        ),
    }
}

fn plain(text: String) -> Words {
    words(text.clone(), text)
}
