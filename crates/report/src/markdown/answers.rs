//! Summaries of a sweep and of a search for capacity.

use answers::criterion::Times;
use answers::verdict::Language;

use super::text::sentence;
use super::{NAME, Page, doubts_generator};
use crate::captions::numbers::{load, number};
use crate::captions::{grouped, mean, share, time, timed};
use crate::first;
use crate::model::capacity::{Held, Probe};
use crate::model::sweep::Point;
use crate::model::{CapacityPage, Quantile, SweepPage, Words, words};

/// Largest number of rows for points or probes. `MOST_NOTES` is the largest number of notes.
const MOST_ROWS: usize = 60;
const MOST_NOTES: usize = 12;

/// Renders the summary of a sweep as Markdown.
pub fn sweep(page: &SweepPage, language: Language) -> String {
    let mut out = Page::new(language);
    let sign = if doubts_generator(&page.verdict) { "⚠️" } else { "📈" };
    out.title(sign, ("Sweep", "阶梯测试"), &page.about.title, "");
    out.paragraph(&first::line(&page.about));
    out.list(
        page.sentences.iter().chain([&page.model.words]).collect::<Vec<_>>().into_iter(),
        MOST_NOTES,
    );
    out.verdict(&page.verdict);
    points(&mut out, page);
    out.notes(&page.notes);
    out.out
}

fn points(out: &mut Page, page: &SweepPage) {
    out.heading("Points", "测点");
    let heads = [
        (page.axis.name(), true),
        (words("Rate", "速率"), true),
        (words("95 % interval", "95 % 区间"), false),
        (mean(Times::Response), true),
        (timed(Times::Response, "p50"), true),
        (timed(Times::Response, "p95"), true),
        (timed(Times::Response, "p99"), true),
        (words("Errors", "错误率"), true),
        (words("In flight", "在途"), true),
        (words("Seconds", "秒数"), true),
    ];
    let rows: Vec<Vec<String>> = page.points.iter().take(MOST_ROWS).map(point).collect();
    out.table(&heads, rows);
    let left = page.points.len().saturating_sub(MOST_ROWS);
    if left > 0 {
        let left = out.left_out(left);
        out.add(&format!("{left}\n\n"));
    }
    out.paragraph(&words(
        "In parentheses: too few independent samples for that percentile. ○: not used for the model.",
        "括号内：独立样本太少。○：模型未采用。",
    ));
}

fn point(of: &Point) -> Vec<String> {
    let range = match of.rate_low.zip(of.rate_high) {
        Some((low, high)) => format!("{} – {}", number(low), number(high)),
        None => "–".to_owned(),
    };
    let excluded = if of.excluded.is_some() { " ○" } else { "" };
    let mut cells = vec![
        format!("{}{excluded}", load(of.load)),
        format!("{}/s", number(of.rate_per_s)),
        range,
        time(of.mean_us),
    ];
    cells.extend([0.5, 0.95, 0.99].map(|p| quantile(of.quantile(p))));
    let rest = [share(of.error_share), number(of.in_flight), format!("{:.0}", of.length_s)];
    cells.extend(rest.map(|text| sentence(&text, NAME)));
    cells
}

fn quantile(of: Option<&Quantile>) -> String {
    match of {
        Some(found) if found.enough => time(found.us),
        Some(found) => format!("({})", time(found.us)),
        None => "–".to_owned(),
    }
}

/// Renders the summary of a search for capacity as Markdown.
pub fn capacity(page: &CapacityPage, language: Language) -> String {
    let mut out = Page::new(language);
    let sign = match page.answer.lower {
        None => "❌",
        Some(_) if doubts_generator(&page.verdict) => "⚠️",
        Some(_) => "✅",
    };
    out.title(sign, ("Capacity", "容量"), &page.about.title, "");
    out.paragraph(&first::line(&page.about));
    out.list(page.sentences.iter(), MOST_NOTES);
    bounds(&mut out, page);
    out.criteria(&page.criteria, first::STATES);
    out.paragraph(&page.limited_by);
    out.verdict(&page.verdict);
    probes(&mut out, page);
    out.notes(&page.notes);
    out.out
}

fn bounds(out: &mut Page, page: &CapacityPage) {
    let shown = |bound: Option<f64>| bound.map_or_else(|| words("–", "–"), |at| page.axis.at(at));
    let holds = if page.answer.at_least {
        words("Holds, at least", "达标，至少")
    } else {
        words("Holds up to", "达标上限")
    };
    let heads = [(holds, true), (words("Does not hold at", "未达标"), true)];
    let cells = [page.answer.lower, page.answer.upper].map(|bound| out.say(&shown(bound)));
    out.table(&heads, [cells.to_vec()]);
}

fn probes(out: &mut Page, page: &CapacityPage) {
    out.heading("Probes", "试探");
    let heads = [
        (words("Probe", "试探"), false),
        (page.axis.name(), true),
        (words("Succeeded", "成功"), true),
        (words("In flight", "在途"), true),
        (timed(Times::Response, "p50"), true),
        (timed(Times::Response, "p99"), true),
        (words("Samples", "样本数"), true),
        (words("Seconds", "秒数"), true),
        (words("Result", "结果"), false),
    ];
    let row = |out: &Page, n: usize, probe: &Probe| -> Vec<String> {
        let sign = match probe.verdict {
            Held::Good => "✅",
            Held::Bad => "❌",
            Held::Doubtful => "⚠️",
        };
        vec![
            format!("{} {}", n + 1, out.say(&probe.kind)),
            load(probe.load),
            format!("{}/s", number(probe.rate_per_s)),
            number(probe.in_flight),
            time(probe.p50_us),
            time(probe.p99_us),
            grouped(probe.samples as f64),
            format!("{:.0}", probe.length_s),
            format!("{sign} {}", out.say(&probe.words)),
        ]
    };
    let probes = page.probes.iter().enumerate().take(MOST_ROWS);
    let rows: Vec<Vec<String>> = probes.map(|(n, probe)| row(out, n, probe)).collect();
    out.table(&heads, rows);
}

impl Page {
    pub(super) fn notes(&mut self, notes: &[Words]) {
        if !notes.is_empty() {
            self.heading("Notes", "说明");
            self.list(notes.iter(), MOST_NOTES);
        }
    }
}
