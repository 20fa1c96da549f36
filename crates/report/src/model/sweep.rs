//! A sweep: rate and response times over a series of loads, and the model that describes them, if any.

mod errors;

use answers::lines::Scope;
use answers::scaling::{self, Choice, Model, Refusal};
use answers::verdict::Words;
use record::Record;
use serde::Serialize;

use super::timeline::Timeline;
use super::{About, Quantile, Verdict, words};
use crate::captions::numbers::{at_once_text, counted, load, number, percent, whole};

/// Number of loads at which the line of the model is drawn.
const STEPS: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    Users,
    Rate,
}

/// The reason why a point or a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    Precision,
    Time,
}

#[derive(Clone, Debug, Serialize)]
pub struct Point {
    pub load: f64,
    /// Mean number of requests in flight at the point.
    pub in_flight: f64,
    pub rate_per_s: f64,
    pub rate_low: Option<f64>,
    pub rate_high: Option<f64>,
    pub mean_us: f64,
    pub mean_low: Option<f64>,
    pub mean_high: Option<f64>,
    pub quantiles: Vec<Quantile>,
    pub error_share: f64,
    /// Length in seconds of the evaluated part of the point.
    pub length_s: f64,
    /// Time in seconds in which users were started.
    pub ramp_s: f64,
    /// Length in seconds of the warm-up after the ramp.
    pub warmup_s: f64,
    /// True if the point became steady; `None` if that was not tested.
    pub steady: Option<bool>,
    pub stopped_by: StoppedBy,
    /// The reason why the model does not use the point.
    pub excluded: Option<Words>,
    /// Further notes on the point.
    pub notes: Vec<Words>,
    /// Folder of the point's run.
    pub run: String,
    /// True if the verdict on the point doubts the generator.
    #[serde(skip)]
    pub is_generator: bool,
}

#[derive(Debug, Serialize)]
pub struct Fitted {
    pub name: &'static str,
    pub words: Words,
    /// Points of the model's line: load and rate.
    pub curve: Vec<(f64, f64)>,
}

#[derive(Debug, Serialize)]
pub struct SweepPage {
    pub kind: &'static str,
    pub form: u32,
    pub about: About,
    pub verdict: Verdict,
    pub axis: Axis,
    /// The answer in sentences.
    pub sentences: Vec<Words>,
    pub points: Vec<Point>,
    pub model: Fitted,
    pub caption: Words,
    pub notes: Vec<Words>,
}

/// The data that a page of a sweep is built from.
#[derive(Debug)]
pub struct Swept<'a> {
    /// Name of the sweep's folder.
    pub name: &'a str,
    /// The record of the sweep's last run.
    pub record: &'a Record,
    /// Time of all runs, from and to in epoch ms.
    pub span_ms: (i64, i64),
    pub axis: Axis,
    pub points: Vec<Point>,
    pub choice: &'a Choice,
    /// The verdict on all points.
    pub verdict: &'a answers::verdict::Verdict,
    /// Loads that were requested but not run.
    pub not_run: &'a [f64],
}

impl Axis {
    pub fn unit(self) -> Words {
        match self {
            Self::Users => words("users", "个用户"),
            Self::Rate => words("starts/s", "次启动/秒"),
        }
    }

    /// Formats a load with its unit.
    pub fn at(self, at: f64) -> Words {
        let (unit, text) = (self.unit(), load(at));
        let en = if self == Self::Users && at == 1.0 { "user" } else { &*unit.en };
        words(format!("{text} {en}"), format!("{text} {}", unit.zh))
    }

    pub fn name(self) -> Words {
        match self {
            Self::Users => words("Users", "用户数"),
            Self::Rate => words("Starts per second", "每秒启动次数"),
        }
    }
}

impl Point {
    pub fn quantile(&self, p: f64) -> Option<&Quantile> {
        self.quantiles.iter().find(|one| one.p == p)
    }
}

impl SweepPage {
    pub fn new(of: Swept<'_>) -> Self {
        let sentences = sentences(&of.points, of.choice, of.axis);
        let mut about = About::of(of.record, of.name);
        about.spanning(of.span_ms);
        Self {
            kind: "sweep",
            form: 1,
            about,
            verdict: Verdict::new(of.verdict, Scope::Points, &Timeline::none()),
            axis: of.axis,
            sentences,
            model: fitted(of.choice, &of.points),
            caption: caption(&of.points, of.axis),
            notes: notes(&of),
            points: of.points,
        }
    }
}

/// Returns the answer from the measured points: the load at which errors begin, and the throughput. The effect that
/// begins at the lower load comes first.
pub fn sentences(points: &[Point], choice: &Choice, axis: Axis) -> Vec<Words> {
    let mut out = of_throughput(points, choice, axis);
    let knee = choice.chosen.and_then(|fit| fit.model.knee().or(fit.model.peak()));
    if let Some(begin) = errors::begin(points, knee, axis) {
        let place = if begin.is_knee { 0 } else { out.len() };
        out.insert(place, begin.words);
    }
    out
}

fn of_throughput(points: &[Point], choice: &Choice, axis: Axis) -> Vec<Words> {
    let counted: Vec<&Point> = points.iter().filter(|point| point.excluded.is_none()).collect();
    let Some(best) = counted.iter().max_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s)) else {
        return vec![none_counts(points, axis)];
    };
    let (unit, rate, at) = (axis.unit(), number(best.rate_per_s), load(best.load));
    let most = words(
        format!("most measured: {rate}/s at {at} {}", unit.en),
        format!("实测最高：{at} {} 时 {rate}/s", unit.zh),
    );
    let light = counted
        .iter()
        .min_by(|a, b| a.in_flight.total_cmp(&b.in_flight))
        .filter(|light| light.in_flight <= 2.0);
    let Some(fit) = choice.chosen else {
        return vec![words(
            format!(
                "Highest throughput: {rate}/s at {at} {} (no model describes these points).",
                unit.en
            ),
            format!("最高吞吐量：{at} {} 时 {rate}/s（没有模型能描述这些测点）。", unit.zh),
        )];
    };
    let within = percent(fit.error);
    match fit.model {
        Model::Linear { .. } => vec![words(
            format!(
                "Throughput grows with the load up to the largest tested ({}; a line fits with an error of {within}).",
                most.en
            ),
            format!("吞吐量随负载增长，直至所测最大负载（{}；直线拟合误差 {within}）。", most.zh),
        )],
        model @ Model::Plateau { limit, .. } => {
            let knee = crate::captions::numbers::counted(model.knee().unwrap_or(0.0));
            plateau(limit, &knee, (&most, &within), light.and_then(|light| light.quantile(0.5)))
        }
        Model::Usl { .. } => vec![usl(choice, &most, &within)],
    }
}

/// Returns the sentence for a sweep with no point that counts. The sentence names the highest rate of successful
/// requests, which is not a limit.
fn none_counts(points: &[Point], axis: Axis) -> Words {
    let good = |point: &Point| point.rate_per_s * (1.0 - point.error_share);
    let most = points.iter().max_by(|a, b| good(a).total_cmp(&good(b)));
    let Some(most) = most.filter(|most| good(most) > 0.0) else {
        return words(
            "No answer: no request succeeded at any load (see the notes below).",
            "没有答案：任何负载下都没有请求成功（见下方说明）。",
        );
    };
    let (rate, at) = (number(good(most)), axis.at(most.load));
    words(
        format!(
            "No answer: no point counts (see the notes below). The most that succeeded was {rate} requests/s, at {}.",
            at.en
        ),
        format!(
            "没有答案：没有可计入的测点（见下方说明）。成功的最高速率为 {} 时的 {rate} 请求/秒。",
            at.zh
        ),
    )
}

fn plateau(
    limit: f64,
    knee: &str,
    (most, within): (&Words, &str),
    alone: Option<&Quantile>,
) -> Vec<Words> {
    let shown = number(limit);
    let mut out = vec![words(
        format!(
            "Limit: about {shown} requests/s, reached with about {knee} requests in flight; further requests only wait ({}; a plateau fits with an error of {within}).",
            most.en
        ),
        format!(
            "极限：约 {shown} 请求/秒，在途约 {knee} 个时达到，更多请求只会等待（{}；平台模型拟合误差 {within}）。",
            most.zh
        ),
    )];
    if let Some(p50) = alone {
        let at_once = at_once_text(scaling::concurrency(limit, p50.us / 1e6));
        let alone = number(p50.us / 1000.0);
        out.push(words(
            format!(
                "So the target works on about {at_once} requests at once: {shown}/s times {alone} ms, the time of a request that does not wait."
            ),
            format!(
                "因此被测系统同时处理约 {at_once} 个请求：{shown}/s 乘以 {alone} ms（无需等待的请求所用时间）。"
            ),
        ));
    }
    out
}

fn usl(choice: &Choice, most: &Words, within: &str) -> Words {
    let Some(peak) = choice.peak.filter(|peak| !peak.extrapolated) else {
        return words(
            format!(
                "Throughput grows ever more slowly, and no peak was reached ({}; the USL fits with an error of {within}).",
                most.en
            ),
            format!("吞吐量增长越来越慢，未达到峰值（{}；USL 拟合误差 {within}）。", most.zh),
        );
    };
    let (en, zh) = peak.interval.map_or_else(Default::default, |(low, high)| {
        let (low, high) = (whole(low.floor()), whole(high.ceil()));
        (format!(", 95 % interval {low} to {high}"), format!("，95 % 区间 {low} 至 {high}"))
    });
    let at = counted(peak.load);
    words(
        format!(
            "Throughput peaks near {at} requests in flight{en} and falls beyond ({}; the USL fits with an error of {within}).",
            most.en
        ),
        format!(
            "吞吐量在约 {at} 个在途请求时达到峰值{zh}，之后下降（{}；USL 拟合误差 {within}）。",
            most.zh
        ),
    )
}

/// Returns the reason why there is no model, or no peak.
pub fn refusal(of: &Refusal) -> Words {
    match of {
        Refusal::FewPoints { points } => words(
            match points {
                1 => "1 point counts, 6 are needed".to_owned(),
                _ => format!("{points} points count, 6 are needed"),
            },
            format!("可计入的测点有 {points} 个，需要 6 个"),
        ),
        Refusal::NarrowSpan { span } => words(
            format!("the largest load is {span:.1} times the smallest, 8 times is needed"),
            format!("最大负载是最小负载的 {span:.1} 倍，需要 8 倍"),
        ),
        Refusal::PoorFit { error } => words(
            format!("the best is off by {}, 5 % is allowed", percent(*error)),
            format!("最好的模型误差 {}，允许 5 %", percent(*error)),
        ),
        Refusal::UnsteadyPeak { shift } if shift.is_finite() => words(
            format!("the USL's peak moves by {} when one point is left out", percent(*shift)),
            format!("去掉一个测点后 USL 的峰值移动 {}", percent(*shift)),
        ),
        Refusal::UnsteadyPeak { .. } => {
            words("the USL's peak hangs on one point", "USL 的峰值取决于单个测点")
        }
        Refusal::NoFall => words(
            "the USL has no peak beyond chance: flat within what was tested",
            "USL 没有超出偶然的峰值：在所测范围内持平",
        ),
    }
}

/// Computes the line of the model over the axis of loads. The model is a function of the requests in flight, which
/// are known only at the points. Between points, the number in flight is interpolated.
fn fitted(choice: &Choice, points: &[Point]) -> Fitted {
    let Some(fit) = choice.chosen else {
        let (en, zh): (Vec<String>, Vec<String>) = choice
            .refusals
            .iter()
            .map(|one| {
                let Words { en, zh } = refusal(one);
                (en, zh)
            })
            .unzip();
        return Fitted {
            name: "none",
            words: words(
                format!("Model: none. {}.", en.join("; ")),
                format!("模型：无。{}。", zh.join("；")),
            ),
            curve: Vec::new(),
        };
    };
    let name = match fit.model {
        Model::Linear { .. } => "linear",
        Model::Plateau { .. } => "plateau",
        Model::Usl { .. } => "usl",
    };
    let zh = match fit.model {
        Model::Linear { .. } => "直线",
        Model::Plateau { .. } => "平台",
        Model::Usl { .. } => "USL",
    };
    let within = percent(fit.error);
    let mut known: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.excluded.is_none() && point.load > 0.0)
        .map(|point| (point.load, point.in_flight))
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut curve = Vec::new();
    for pair in known.windows(2) {
        let [(from, flight), (to, next)] = [pair[0], pair[1]];
        let steps = (STEPS / known.len().max(1)).max(4);
        curve.extend((0..steps).map(|step| {
            let share = step as f64 / steps as f64;
            let at = from * (to / from).powf(share);
            let along = (at - from) / (to - from).max(f64::MIN_POSITIVE);
            (at, fit.model.rate(flight + (next - flight) * along))
        }));
    }
    curve.extend(known.last().map(|(load, flight)| (*load, fit.model.rate(*flight))));
    Fitted {
        name,
        words: words(
            format!("Model: {}, which fits with an error of {within}.", fit.model.name()),
            format!("模型：{zh}，拟合误差 {within}。"),
        ),
        curve,
    }
}

fn caption(points: &[Point], axis: Axis) -> Words {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return words("", "");
    };
    let (at, end) = (axis.at(first.load), load(last.load));
    let (from, to) = (number(first.rate_per_s), number(last.rate_per_s));
    words(
        format!("From {from}/s at {} to {to}/s at {end}.", at.en),
        format!("从 {}时的 {from}/s 到 {end} 时的 {to}/s。", at.zh),
    )
}

/// Groups equal notes about several loads: the loads, and the note.
pub fn grouped(notes: impl IntoIterator<Item = (f64, Words)>) -> Vec<(Vec<f64>, Words)> {
    let mut groups: Vec<(Vec<f64>, Words)> = Vec::new();
    for (at, words) in notes {
        match groups.iter_mut().find(|group| group.1 == words) {
            Some(group) => group.0.push(at),
            None => groups.push((vec![at], words)),
        }
    }
    groups
}

/// Lists loads with their unit: "1, 2 and 4 users".
fn at_loads(axis: Axis, loads: &[f64]) -> Words {
    if let [one] = loads {
        return axis.at(*one);
    }
    let (unit, shown) = (axis.unit(), loads.iter().copied().map(load).collect::<Vec<_>>());
    let [first @ .., last] = &shown[..] else { return words("", "") };
    words(
        format!("{} and {last} {}", first.join(", "), unit.en),
        format!("{} {}", shown.join("、"), unit.zh),
    )
}

fn notes(of: &Swept<'_>) -> Vec<Words> {
    let mut out = Vec::new();
    let excluded = of.points.iter().filter_map(|p| Some((p.load, p.excluded.clone()?)));
    for (loads, why) in grouped(excluded) {
        let (at, verb) = (at_loads(of.axis, &loads), if loads.len() == 1 { "is" } else { "are" });
        out.push(words(
            format!("{} (○) {verb} not used for the model: {}.", at.en, why.en),
            format!("{}（○）模型未采用：{}。", at.zh, why.zh),
        ));
    }
    let unsteady = words("the run did not become steady", "运行未达到稳定");
    let own = of.points.iter().flat_map(|point| {
        let own = point.notes.iter().cloned();
        let steady = (point.steady == Some(false)).then(|| unsteady.clone());
        own.chain(steady).map(|note| (point.load, note))
    });
    for (loads, note) in grouped(own) {
        let at = at_loads(of.axis, &loads);
        out.push(words(format!("{}: {}.", at.en, note.en), format!("{}：{}。", at.zh, note.zh)));
    }
    if of.points.iter().any(|point| point.steady.is_none()) {
        out.push(words(
            "No warm-up was looked for in points shorter than 20 s.",
            "短于 20 秒的测点未查找预热阶段。",
        ));
    }
    if !of.not_run.is_empty() {
        let loads: Vec<String> = of.not_run.iter().copied().map(load).collect();
        let list = loads.join(", ");
        out.push(words(format!("Not run: {list}."), format!("未运行：{list}。")));
    }
    out
}
