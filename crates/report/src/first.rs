//! The first screen of a page: the part that is visible without script, on paper and on a phone.
//!
//! The order is fixed: whether the results can be trusted, what ended the run, criteria, numbers with their
//! intervals, three charts, labels, alerts that fired. A run on several machines also shows the metrics of each
//! machine.
mod agents;
pub(crate) mod alerts;
mod answer;
pub(crate) mod capacity;
pub(crate) mod comparison;
pub(crate) mod labels;
mod numbers;
pub(crate) mod sweep;
mod table;
mod verdict;

use answers::verdict::Words;
use stats::grouped::things;

use crate::captions::{clock, digits};
use crate::html::Html;
use crate::model::{About, Criterion, RunPage, is_series, words};
use crate::svg;

pub(crate) use numbers::{Fact, Note, facts};
pub(crate) use table::{Cell, Table};
pub(crate) use verdict::section as verdict;

/// Largest number of charts of data series on the first screen. The page with the timeline shows all.
const MOST_SERIES: usize = 6;

/// Renders the first screen of a run.
pub fn run(page: &RunPage) -> Html {
    let mut out = Html::new();
    for flaw in &page.about.flaws {
        out.raw("<p class=\"doubt hostile\">").both("Warning: ", "注意：").words(flaw).raw("</p>");
    }
    verdict(&mut out, &page.verdict);
    criteria(&mut out, &page.criteria);
    numbers::section(&mut out, &page.totals, page.cost.as_ref());
    out.raw("<section class=\"pictures\">");
    let first = ["load", "response", "errors"].into_iter().filter_map(|id| page.timeline.chart(id));
    let series = page.timeline.charts.iter().filter(|chart| is_series(&chart.id));
    for chart in first.chain(series.take(MOST_SERIES)) {
        svg::picture(&mut out, &page.timeline, chart);
    }
    out.raw("</section>");
    labels::section(&mut out, page);
    alerts::section(&mut out, &page.alerts);
    agents::section(&mut out, &page.agents);
    out
}

/// Renders the heading of a run's page: the title, and a line with the plan, the machine and the length of the run.
pub(crate) fn heading(out: &mut Html, about: &About) {
    out.raw("<div><h1 class=\"hostile\">")
        .text(&about.title)
        .raw("</h1><p>")
        .words(&line(about))
        .raw("</p></div>");
}

pub(crate) fn line(about: &About) -> Words {
    let length = clock(about.length_ms);
    let (mut en, mut zh) = (Vec::new(), Vec::new());
    en.push(utc(about.start_ms));
    zh.push(utc(about.start_ms));
    en.push(format!("{length} long"));
    zh.push(format!("时长 {length}"));
    if about.load.users > 0 {
        en.push(things(about.load.users, "user"));
        zh.push(format!("{} 个用户", about.load.users));
    }
    if let Some(rate) = about.load.rate {
        en.push(format!("{} starts/s asked for", digits(rate)));
        zh.push(format!("要求每秒启动 {} 次", digits(rate)));
    }
    let (end_en, end_zh) = match about.ending.kind {
        "interrupted" => ("interrupted", "被中断"),
        "stopped_by_plan" => ("stopped by the plan", "被计划停止"),
        "aborted" => ("aborted", "被中止"),
        "unknown" if !about.has.generator => ("from a result file", "来自结果文件"),
        "unknown" => ("end not recorded", "未记录结束"),
        "running" => ("running", "运行中"),
        _ => ("completed", "已完成"),
    };
    en.push(end_en.into());
    zh.push(end_zh.into());
    let Words { en: reason, zh: reason_zh } = &about.ending.reason;
    if !reason.is_empty() {
        en.push(reason.clone());
        zh.push(reason_zh.clone());
    }
    en.push(about.program.clone());
    zh.push(about.program.clone());
    words(en.join(" · "), zh.join(" · "))
}

/// Formats date and time in UTC, because the file may be read in any time zone.
pub(crate) fn utc(ms: i64) -> String {
    let days = ms.div_euclid(86_400_000);
    let s = ms.rem_euclid(86_400_000) / 1000;
    // The calculation uses Howard Hinnant's algorithm `civil_from_days`.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", s / 3600, s / 60 % 60, s % 60)
}

/// Words for the states of a criterion that a run must meet: met, not met, undecided.
pub(crate) const STATES: [(&str, &str); 3] =
    [("met", "达标"), ("not met", "未达标"), ("undecided", "无法判定")];

/// Renders criteria as lamps: a sign and a word in addition to the colour.
pub(crate) fn criteria(out: &mut Html, criteria: &[Criterion]) {
    lamps(out, criteria, STATES);
}

/// Renders criteria as lamps, with the given words for met, not met and undecided.
fn lamps(out: &mut Html, criteria: &[Criterion], words: [(&'static str, &'static str); 3]) {
    if criteria.is_empty() {
        return;
    }
    out.raw("<ul class=\"lamps\">");
    for one in criteria {
        let (class, sign, (en, zh)) = match one.met {
            Some(true) => ("<li class=\"lamp met\">", "✓", words[0]),
            Some(false) => ("<li class=\"lamp not_met\">", "✗", words[1]),
            None => ("<li class=\"lamp open\">", "○", words[2]),
        };
        out.raw(class).raw("<span class=\"light\" aria-hidden=\"true\">").raw(sign).raw("</span> ");
        out.raw("<span class=\"hostile\">").text(&one.text).raw("</span> <small>").both(en, zh);
        if !one.shown.en.is_empty() {
            out.raw(": ").words(&one.shown);
        }
        if let Some(reason) = &one.reason {
            out.raw("; ").words(reason);
        }
        out.raw("</small></li>");
    }
    out.raw("</ul>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (ms, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399_999, "2000-02-28 23:59:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_795_392_061_000, "2026-11-23 00:01:01 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(ms), text);
        }
    }
}
