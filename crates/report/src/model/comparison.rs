//! The comparison of two sides: differences beyond chance, and other changes.

use answers::compare::{
    self, CHECKS, Comparison, Difference, Doubt, Outcome, SERIES, Settings, is_share,
};
use answers::criterion::Times;
use answers::verdict::Words;
use record::Record;
use serde::Serialize;
use stats::grouped::things;
use stats::hist::Hist;

use super::loads::Loads;
use super::{About, Criterion, distribution, losses, words};
use crate::captions::comparison::{counted, differences, may_be_chance, metric, sentences};

/// Largest number of labels with a chart of their percentiles.
const MOST_TAILS: usize = 5;

/// The data that a page of a comparison is built from. A comparison of two sweeps has one entry per load.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Names of the folders of runs, or of result files.
    pub names: (&'a str, &'a str),
    pub a: &'a [Record],
    pub b: &'a [Record],
    pub doubts: &'a [Doubt],
    /// The comparison; `None` if the two sides cannot be compared.
    pub comparison: Option<&'a Comparison>,
    pub changed: &'a [compare::Changed],
    /// Criteria on changes that the user set.
    pub criteria: &'a [Criterion],
    pub settings: &'a Settings,
    /// The load of this entry in a comparison of two sweeps.
    pub at: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub struct ComparisonPage {
    pub kind: &'static str,
    pub form: u32,
    pub a: About,
    pub b: About,
    /// Sentences about the differences, the most important first.
    pub sentences: Vec<Words>,
    /// Reasons against comparing the two sides, and warnings.
    pub validity: Vec<Doubtful>,
    pub criteria: Vec<Criterion>,
    /// The kind of times that were compared.
    pub times: Times,
    pub rows: Vec<Row>,
    pub tails: Vec<Tails>,
    /// Times of both sides at each load of two sweeps, for the statistic that criteria judge, such as p95; `None` for
    /// two runs.
    pub loads: Option<Loads>,
    pub changed: Vec<Changed>,
    pub notes: Vec<Words>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Doubtful {
    pub refuses: bool,
    pub words: Words,
}

/// A metric of both sides.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The label; `None` for all requests.
    pub label: Option<String>,
    pub metric: Words,
    pub unit: &'static str,
    pub a: f64,
    pub b: f64,
    /// Change of the metric relative to side A; for error rates, the difference of both fractions. `low`, `high`,
    /// `floor` and `detectable` are expressed in the same way.
    pub change: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// True if the change is beyond chance and large enough to matter.
    pub different: bool,
    /// True if the change is beyond chance but too small to matter.
    pub small: bool,
    /// The judgement of the change, such as `worse` or `within chance`.
    pub state: Words,
    /// True if the change is neither different, too small nor within chance; `state` says why.
    #[serde(skip)]
    pub is_open: bool,
    /// True if the row is about all requests, and the runs do not decide whether its metric differs.
    #[serde(skip)]
    undecided: bool,
    /// True if a larger value is worse; `None` if unknown, as for a data series.
    pub more_is_worse: Option<bool>,
    pub floor: f64,
    pub detectable: Option<f64>,
}

/// Times of both sides at the same percentiles.
#[derive(Debug, Serialize)]
pub struct Tails {
    pub label: Option<String>,
    pub p: Vec<f64>,
    pub a_us: Vec<u64>,
    pub b_us: Vec<u64>,
}

#[derive(Debug, Serialize)]
pub struct Changed {
    pub what: Words,
    pub a: String,
    pub b: String,
}

impl ComparisonPage {
    /// Builds the page; `None` if a side has no run.
    pub fn new(points: &[Compared<'_>]) -> Option<Self> {
        let first = points.first()?;
        let mut page = Self {
            kind: "comparison",
            form: 1,
            a: About::of(first.a.first()?, first.names.0),
            b: About::of(first.b.first()?, first.names.1),
            sentences: Vec::new(),
            validity: Vec::new(),
            criteria: Vec::new(),
            times: Times::default(),
            rows: Vec::new(),
            tails: Vec::new(),
            loads: Loads::new(points),
            changed: Vec::new(),
            notes: Vec::new(),
        };
        if points.len() > 1 {
            page.a.of_several(points.iter().flat_map(|point| point.a));
            page.b.of_several(points.iter().flat_map(|point| point.b));
        }
        for point in points {
            page.add(point);
        }
        if page.sentences.is_empty() {
            page.sentences.push(words(
                "No difference that these runs can show at any load.",
                "在任何负载下，这些运行都未显示出差异。",
            ));
        }
        Some(page)
    }

    /// Adds a warning about loads that only one of two sweeps has. `sides` are names of sides with their loads.
    pub fn add_apart(&mut self, sides: &[(&str, String)]) {
        let note = |(side, loads): &(&str, String)| {
            words(
                format!("Only {side} has {loads}: not compared."),
                format!("只有 {side} 有 {loads}：未比较。"),
            )
        };
        self.notes.extend(sides.iter().map(note));
    }

    /// True if at least one metric over all requests is undecided.
    pub(crate) fn is_undecided(&self) -> bool {
        self.rows.iter().any(|row| row.undecided)
    }

    fn add(&mut self, of: &Compared<'_>) {
        for doubt in of.doubts {
            let doubtful = Doubtful {
                refuses: doubt.refuses && of.comparison.is_none(),
                words: words(doubt.words.clone(), doubt.zh.clone()),
            };
            // A warning that applies to several loads is shown once.
            if !self.validity.contains(&doubtful) {
                self.validity.push(doubtful);
            }
        }
        for changed in of.changed {
            let what = words(changed.what.clone(), changed.zh.clone());
            let what = at(of.at, what);
            self.changed.push(Changed { what, a: changed.a.clone(), b: changed.b.clone() });
        }
        self.criteria.extend(of.criteria.iter().cloned());
        let Some(comparison) = of.comparison else {
            self.sentences
                .push(at(of.at, words("These two cannot be compared.", "这两者不能比较。")));
            return;
        };
        self.times = comparison.times;
        self.rows.extend(rows(comparison, of));
        match of.at {
            None => {
                self.sentences.extend(sentences(comparison));
                self.notes.extend(repeated(of));
                self.notes.extend(counted(comparison));
                self.tails = tails(comparison, of);
            }
            Some(load) => {
                let told = differences(comparison).into_iter();
                self.sentences.extend(told.map(|words| at(Some(load), words)));
            }
        }
        self.notes.extend(notes(comparison).into_iter().map(|words| at(of.at, words)));
    }
}

/// Returns a note with the number of runs of each side if runs were repeated. The date and length shown for a side
/// are those of its first run.
fn repeated(of: &Compared<'_>) -> Option<Words> {
    let (a, b) = (of.a.len(), of.b.len());
    (a.max(b) > 1).then(|| {
        words(
            format!(
                "A is {}, B is {}; date and length are those of the first.",
                things(a as u64, "run"),
                things(b as u64, "run")
            ),
            format!("A 为 {a} 次运行，B 为 {b} 次运行；日期和时长为各自第一次运行的。"),
        )
    })
}

/// Returns a warning for each missing part of the data of a side.
pub fn lacks(side: &str, records: &[Record]) -> Vec<Doubt> {
    let doubt = |loss: Words| Doubt {
        refuses: false,
        words: format!("{side}: {}", loss.en),
        zh: format!("{side}：{}", loss.zh),
    };
    records.iter().flat_map(losses).map(doubt).collect()
}

fn at(load: Option<&str>, of: Words) -> Words {
    match load {
        Some(load) => words(format!("{load}: {}", of.en), format!("{load}：{}", of.zh)),
        None => of,
    }
}

fn rows(comparison: &Comparison, of: &Compared<'_>) -> Vec<Row> {
    let name = |label: &str| match (of.at, label.is_empty()) {
        (Some(load), true) => Some(load.to_owned()),
        (Some(load), false) => Some(format!("{load}: {label}")),
        (None, true) => None,
        (None, false) => Some(label.to_owned()),
    };
    let rows = std::iter::once(&comparison.all).chain(&comparison.labels).chain(&comparison.series);
    let each = rows.flat_map(|row| row.differences.iter().map(move |one| (row, one)));
    let times = comparison.times;
    let row = |(row, difference): (&compare::Row, &Difference)| {
        let undecided = row.label.is_empty() && is_undecided(row, difference);
        Row { undecided, ..Row::new(name(&row.label), (difference, times), of.settings) }
    };
    each.map(row).collect()
}

/// True if the runs do not decide whether a metric differs. A single metric without an interval does not count as
/// undecided: the metric has too few samples, or times of 0 ms.
fn is_undecided(of: &compare::Row, one: &Difference) -> bool {
    match one.result {
        Outcome::OtherWork | Outcome::MostlyFailed | Outcome::Unread => true,
        Outcome::Unknown => of.refusal.is_some(),
        Outcome::Different | Outcome::BelowFloor | Outcome::MayBeChance | Outcome::None => false,
    }
}

impl Row {
    fn new(label: Option<String>, (of, times): (&Difference, Times), settings: &Settings) -> Self {
        let (unit, scale) = match of.metric {
            "rate" => ("/s", 1.0),
            share if is_share(share) => ("share", 1.0),
            SERIES => ("", 1.0),
            _ => ("us", 1000.0),
        };
        let more_is_worse = (of.metric != SERIES).then_some(!matches!(of.metric, "rate" | CHECKS));
        Self {
            label,
            metric: metric(of.metric, times),
            unit,
            a: of.a * scale,
            b: of.b * scale,
            change: of.change,
            low: of.interval.map(|(low, _)| low),
            high: of.interval.map(|(_, high)| high),
            different: of.result == Outcome::Different,
            small: of.result == Outcome::BelowFloor,
            state: state(of, more_is_worse),
            is_open: matches!(
                of.result,
                Outcome::MayBeChance | Outcome::OtherWork | Outcome::MostlyFailed | Outcome::Unread
            ),
            undecided: false,
            more_is_worse,
            floor: if is_share(of.metric) { settings.error_floor } else { settings.floor },
            detectable: of.visible,
        }
    }

    /// Returns true if a significant change is for the worse.
    pub fn is_worse(&self) -> bool {
        self.more_is_worse == Some(self.change > 0.0)
    }

    /// Returns true if a significant change is for the better.
    pub fn is_better(&self) -> bool {
        self.more_is_worse == Some(self.change <= 0.0)
    }
}

/// Returns the judgement of a change.
fn state(of: &Difference, more_is_worse: Option<bool>) -> Words {
    match (of.result, more_is_worse) {
        (Outcome::Different, None) => words("different", "有差异"),
        (Outcome::Different, Some(worse)) if worse == (of.change > 0.0) => words("worse", "变差"),
        (Outcome::Different, Some(_)) => words("better", "变好"),
        (Outcome::BelowFloor, _) => words("too small to count", "太小，不计入"),
        (Outcome::MayBeChance, _) => words("may be chance", "可能是偶然"),
        (Outcome::OtherWork, _) => words("other work", "工作内容不同"),
        (Outcome::MostlyFailed, _) => words("mostly failed", "多数失败"),
        (Outcome::Unread, _) => words("undecided: unread rows", "无法判定：有行未读取"),
        (Outcome::None | Outcome::Unknown, _) if of.interval.is_none() => {
            words("too little data", "数据太少")
        }
        (Outcome::None | Outcome::Unknown, _) => words("within chance", "在偶然范围内"),
    }
}

/// Returns the percentiles of all requests, and of the labels that differ.
fn tails(comparison: &Comparison, of: &Compared<'_>) -> Vec<Tails> {
    let differs = |row: &&compare::Row| {
        row.differences.iter().any(|one| one.result == Outcome::Different && !is_share(one.metric))
    };
    let labels = comparison.labels.iter().filter(differs).take(MOST_TAILS);
    let named = labels.map(|row| Some(&*row.label));
    let both = std::iter::once(None).chain(named).filter_map(|label| {
        let times = comparison.times;
        let (a, b) = (hist(of.a, label, times), hist(of.b, label, times));
        // The side with fewer samples determines the highest percentile.
        let least = if a.total() <= b.total() { &a } else { &b };
        let p = distribution::tail(least)?.p;
        let values = |hist: &Hist| p.iter().map(|p| hist.quantile(*p)).collect();
        Some(Tails { label: label.map(str::to_owned), a_us: values(&a), b_us: values(&b), p })
    });
    both.collect()
}

/// Returns the times of a label, or of all requests, in all runs of a side.
fn hist(runs: &[Record], label: Option<&str>, times: Times) -> Hist {
    let mut all = Hist::new();
    for record in runs {
        let number = label.map(|name| record.labels.iter().position(|one| &*one.name == name));
        for second in &record.seconds {
            match number {
                None => all.add(times.of(&second.all)),
                Some(number) => {
                    if let Some(part) = number.and_then(|number| second.labels.get(number as u32)) {
                        all.add(times.of(&part));
                    }
                }
            }
        }
    }
    all
}

fn notes(comparison: &Comparison) -> Vec<Words> {
    let mut notes: Vec<Words> = may_be_chance(comparison).into_iter().collect();
    for (en, zh, names) in [
        ("Only in A", "仅在 A 中", &comparison.only_a),
        ("Only in B", "仅在 B 中", &comparison.only_b),
    ] {
        if !names.is_empty() {
            let list = names.join(", ");
            notes.push(words(format!("{en}: {list}."), format!("{zh}：{list}。")));
        }
    }
    if comparison.left_out > 0 {
        let n = comparison.left_out;
        notes.push(words(
            format!("{n} labels have too few samples to compare, or are beyond the first 100."),
            format!("{n} 个标签样本太少，或超出前 100 个，未作比较。"),
        ));
    }
    notes
}
