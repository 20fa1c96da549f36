//! The run over time: columns, charts made from them, marks and warm-up.

use answers::steady::{Steady, steady};
use answers::verdict::Words;
use record::{Change, Record};
use serde::Serialize;
use stats::grouped::things;

use super::charts::{Chart, charts};
use super::columns::Column;
use super::heat::{Heat, heat};
use super::instants::Instant;
use super::labels::Order;
use super::words;
use crate::captions::{Span, digits};

/// Largest number of marks. If there are more, the time is divided into this number of parts with one mark each.
const MOST_MARKS: i64 = 400;

#[derive(Debug, Serialize)]
pub struct Timeline {
    pub step_ms: i64,
    /// Starts of the instants, epoch ms.
    pub at_ms: Vec<i64>,
    pub marks: Vec<Mark>,
    /// Length of the warm-up from the start, ms; `None` if no warm-up was found.
    pub warmup_ms: Option<i64>,
    /// True if the run became steady; `None` if that was not tested.
    pub steady: Option<bool>,
    /// Start and end of the time under full load after the warm-up, epoch ms. `None` if that is the whole run, or if
    /// the run has no such time. Captions are about this time.
    #[serde(skip)]
    pub steady_ms: Option<(i64, i64)>,
    pub columns: Vec<Column>,
    pub charts: Vec<Chart>,
    pub heat: Option<Heat>,
}

#[derive(Debug, Serialize)]
pub struct Mark {
    pub at_ms: i64,
    pub kind: &'static str,
    pub words: Words,
}

impl Timeline {
    /// Returns the empty timeline of a page about several runs.
    pub(super) fn none() -> Self {
        Self {
            step_ms: 1000,
            at_ms: Vec::new(),
            marks: Vec::new(),
            warmup_ms: None,
            steady: None,
            steady_ms: None,
            columns: Vec::new(),
            charts: Vec::new(),
            heat: None,
        }
    }

    /// Returns the timeline of a live page, with the charts that each second extends.
    pub(crate) fn live(record: &Record) -> Self {
        let instants = super::instants::instants(&record.seconds, record.seconds.len());
        let mut timeline = Self {
            at_ms: instants.iter().map(|instant| instant.at_ms).collect(),
            marks: record.marks.iter().map(Mark::from).collect(),
            ..Self::none()
        };
        super::charts::live(record, &instants, &mut timeline);
        timeline
    }

    /// Returns the instants that captions describe.
    pub(super) fn span(&self) -> Span<'_> {
        Span { at_ms: &self.at_ms, steady_ms: self.steady_ms }
    }

    pub fn column(&self, id: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    pub fn chart(&self, id: &str) -> Option<&Chart> {
        self.charts.iter().find(|chart| chart.id == id)
    }
}

pub(super) fn timeline(record: &Record, instants: &[Instant], order: &Order) -> Timeline {
    let steady = steady(record);
    let start = instants.first().map_or(0, |first| first.at_ms);
    let warm = steady.warm_up.seconds > 0;
    let warmup_ms = (warm && steady.start() > 0)
        .then(|| record.seconds[(steady.start() - 1).min(record.seconds.len() - 1)].at_ms - start);
    let mut timeline = Timeline {
        step_ms: instants.first().map_or(1000, |first| first.ms),
        at_ms: instants.iter().map(|instant| instant.at_ms).collect(),
        marks: shown(&record.marks),
        warmup_ms,
        steady: None,
        steady_ms: steady_ms(record, &steady),
        columns: Vec::new(),
        charts: Vec::new(),
        heat: heat(record, instants),
    };
    charts(record, instants, order, &mut timeline);
    timeline
}

/// Returns the start and end of the steady part, epoch ms; `None` if it is the whole run or empty.
fn steady_ms(record: &Record, steady: &Steady) -> Option<(i64, i64)> {
    let seconds = steady.seconds(record);
    let (first, last) = (seconds.first()?, seconds.last()?);
    // The last second of a run is often partial.
    let is_whole = steady.start() == 0 && seconds.len() + 1 >= record.seconds.len();
    (!is_whole).then(|| (first.at_ms - i64::from(first.ms), last.at_ms))
}

/// Returns all marks. If there are too many, returns one mark for each part of the time, with the number of other marks
/// in that part.
fn shown(marks: &[record::Mark]) -> Vec<Mark> {
    let (Some(first), Some(last)) = (marks.first(), marks.last()) else { return Vec::new() };
    if marks.len() as i64 <= MOST_MARKS {
        return marks.iter().map(Mark::from).collect();
    }
    let step_ms = (last.at_ms - first.at_ms) / MOST_MARKS + 1;
    let part = |mark: &record::Mark| (mark.at_ms - first.at_ms) / step_ms;
    let is_end =
        |mark: &&record::Mark| matches!(mark.change, Change::Stop { .. } | Change::Lost(_));
    let of_part = |marks: &[record::Mark]| {
        let mut mark = Mark::from(marks.iter().find(is_end).unwrap_or(&marks[0]));
        let more = marks.len() - 1;
        if more > 0 {
            mark.words.en.push_str(&format!(" (and {})", things(more as u64, "more mark")));
            mark.words.zh.push_str(&format!("（另有 {more} 个标记）"));
        }
        mark
    };
    marks.chunk_by(|a, b| part(a) == part(b)).map(of_part).collect()
}

/// Translates the engine's description of a load phase. If there are several groups, the description begins with
/// the name of the group.
fn phase_in_chinese(name: &str) -> String {
    let (group, said) = name.rsplit_once(": ").map_or(("", name), |(group, said)| {
        match group.rsplit_once("step ") {
            // In the description of a step, a colon follows the number of the step, too.
            Some((before, number)) if number.contains(" of ") => (before, &name[before.len()..]),
            _ => (&name[..group.len() + 2], said),
        }
    });
    let words = [
        ("ramp down to ", "降至 "),
        ("ramp to ", "升至 "),
        ("hold ", "保持 "),
        ("step ", "第 "),
        (" of ", "/"),
        (": ", " 级："),
        (" users", " 个用户"),
        (" starts/s", " 次启动/秒"),
        (" requests/s", " 个请求/秒"),
    ];
    let said = words.iter().fold(said.to_owned(), |said, (en, zh)| said.replacen(en, zh, 1));
    format!("{group}{said}")
}

impl From<&record::Mark> for Mark {
    fn from(mark: &record::Mark) -> Self {
        let (kind, said) = match &mark.change {
            Change::Users(n) => ("users", words(things(*n, "user"), format!("{n} 个用户"))),
            Change::Rate(rate) => {
                let rate = digits(*rate);
                ("rate", words(format!("{rate}/s"), format!("{rate}/s")))
            }
            Change::Paused => ("paused", words("paused", "暂停")),
            Change::WentOn => ("went_on", words("went on", "继续")),
            Change::Phase(name) => ("phase", words(name.clone(), phase_in_chinese(name))),
            Change::Stop { at_once: false } => ("stop", words("stop", "停止")),
            Change::Stop { at_once: true } => ("stop", words("stop at once", "立即停止")),
            Change::Note(text) => ("note", words(text.clone(), text.clone())),
            Change::Lost(name) => ("lost", words(format!("lost: {name}"), format!("失去：{name}"))),
        };
        Self { at_ms: mark.at_ms, kind, words: said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_marks_are_gathered() {
        let mark = |at: i64| {
            let change = match at {
                7777 => Change::Stop { at_once: false },
                at => Change::Note(format!("note {at}")),
            };
            record::Mark { at_ms: 5_000 + at * 1000, change }
        };
        let few: Vec<_> = (0..400).map(mark).collect();
        assert_eq!(shown(&few).len(), 400);
        assert!(shown(&few).iter().all(|mark| !mark.words.en.contains("more")));
        let many: Vec<_> = (0..100_000).map(mark).collect();
        let found = shown(&many);
        assert!((390..=401).contains(&found.len()), "{}", found.len());
        assert_eq!(found[0].words.en, "note 0 (and 249 more marks)");
        assert!(found.iter().any(|mark| mark.kind == "stop"), "the stop is not hidden");
        assert!(shown(&[]).is_empty());
    }

    #[test]
    fn phases_are_named_in_chinese() {
        for (en, zh) in [
            ("ramp to 50 users", "升至 50 个用户"),
            ("Buyers: step 2 of 5: 20 users", "Buyers: 第 2/5 级：20 个用户"),
            ("step 2 of 5: 20 starts/s", "第 2/5 级：20 次启动/秒"),
            ("A: b: hold 7 requests/s", "A: b: 保持 7 个请求/秒"),
        ] {
            assert_eq!(phase_in_chinese(en), zh);
        }
    }
}
