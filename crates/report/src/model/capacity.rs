//! A search for capacity: the largest load that meets the criteria, its probes, and what limited the load.

use answers::criterion::{Criterion, Figure, Limit, Op, Stat};
use answers::lines::Scope;
use answers::scaling::concurrency;
use answers::search::{self, Limit as Bound, Purpose};
use answers::shared::Shared;
use answers::verdict::Words;
use record::Record;
use serde::Serialize;

use super::sweep::{Axis, StoppedBy};
use super::timeline::Timeline;
use super::{About, Criterion as Lamp, Verdict, words};
use crate::captions;
use crate::captions::numbers::{at_once_text, counted, load, number, percent, whole};

/// Share of failed requests from which the answer mentions failures, if no criterion covers errors.
const MUCH_FAILED: f64 = 0.01;

/// A probe of the search: a measurement at one load.
#[derive(Clone, Debug, Serialize)]
pub struct Probe {
    pub load: f64,
    pub kind: Words,
    pub verdict: Held,
    /// Number of time windows of the probe in which the criteria held.
    pub good: usize,
    /// Number of time windows of the probe in which the criteria did not hold.
    pub bad: usize,
    /// Rate of successful requests, per second.
    pub rate_per_s: f64,
    pub in_flight: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    /// The time that the page's chart shows, as [`CapacityPage::judged`] names it, µs.
    pub judged_us: Option<f64>,
    pub samples: u64,
    pub length_s: f64,
    pub stopped_by: StoppedBy,
    /// Result of the probe as text.
    pub words: Words,
    /// Folder of the probe's run.
    pub run: String,
    /// Share of the probe's requests that failed.
    #[serde(skip)]
    pub failed: f64,
    #[serde(skip)]
    pub purpose: Purpose,
    #[serde(skip)]
    pub holds: bool,
    /// True if the probe is within the limits, but has too few samples to decide a criterion.
    #[serde(skip)]
    pub undecided: bool,
    /// Results of the criteria on the probe.
    #[serde(skip)]
    pub judged: Vec<Margin>,
    /// The first finding about the generator during the probe, without its full stop.
    #[serde(skip)]
    pub generator: Option<Words>,
    /// The machine that target and generator share, if it was fully loaded during the probe.
    #[serde(skip)]
    pub shared: Option<Shared>,
}

/// Result of a criterion on a probe.
#[derive(Clone, Debug)]
pub struct Margin {
    pub criterion: String,
    pub holds: bool,
    /// Value divided by limit, for a criterion with an upper limit.
    pub margin: Option<f64>,
}

/// The time that the chart over the load shows: the metric of a criterion, with its limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedTime {
    /// Name of the time, with the label whose samples count.
    pub name: Words,
    pub limit_us: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    Good,
    Bad,
    Doubtful,
}

#[derive(Debug, Serialize)]
pub struct Bounds {
    pub lower: Option<f64>,
    pub upper: Option<f64>,
    pub at_least: bool,
}

#[derive(Debug, Serialize)]
pub struct CapacityPage {
    pub kind: &'static str,
    pub form: u32,
    pub about: About,
    /// The verdict on the run that decided the search.
    pub verdict: Verdict,
    pub axis: Axis,
    /// The criteria of the search, judged at the lower bound.
    pub criteria: Vec<Lamp>,
    pub answer: Bounds,
    pub sentences: Vec<Words>,
    pub notes: Vec<Words>,
    pub probes: Vec<Probe>,
    /// The time that decides the search; `None` if no criterion limits a time.
    pub judged: Option<JudgedTime>,
    /// Sentence that names the run whose verdict is shown.
    pub limited_by: Words,
    pub caption: Words,
}

/// The answer of a search, with its probes.
#[derive(Clone, Copy, Debug)]
pub struct Searched<'a> {
    pub axis: Axis,
    pub criteria: &'a [String],
    pub answer: &'a search::Answer,
    /// True if the search stopped early; `answer` then has the limits found so far.
    pub unfinished: bool,
    /// The load of the last probe, if the criteria did not hold at the lightest load after it.
    pub not_recovered_from: Option<f64>,
    pub probes: &'a [Probe],
}

/// The run whose verdict explains the limit.
#[derive(Debug)]
pub struct Speaking<'a> {
    pub load: f64,
    pub record: &'a Record,
    pub verdict: &'a answers::verdict::Verdict,
}

/// Returns the result of a probe: inconclusive because of the generator, the criteria that did not hold, or that all
/// held.
pub fn result(
    generator: Option<&Words>,
    holds: bool,
    broken: &[Words],
    (good, all): (usize, usize),
) -> Words {
    if let Some(subject) = generator {
        let (en, zh) = if holds {
            ("criteria held", "标准达标")
        } else {
            ("criteria did not hold", "标准未达标")
        };
        return words(
            format!("inconclusive: {} ({en})", subject.en),
            format!("无法判定：{}（{zh}）", subject.zh),
        );
    }
    match broken.is_empty() {
        true if all > 1 => words(
            format!("holds, in {good} of {all} windows"),
            format!("达标，{all} 个时段中有 {good} 个"),
        ),
        true => words("holds", "达标"),
        false => {
            let list = |of: fn(&Words) -> &str| broken.iter().map(of).collect::<Vec<_>>();
            words(list(|one| &one.en).join(", "), list(|one| &one.zh).join("，"))
        }
    }
}

/// Returns the purpose of a probe in words.
pub fn purpose(purpose: Purpose) -> Words {
    match purpose {
        Purpose::Light => words("light", "轻载"),
        Purpose::Overload => words("overload", "过载"),
        Purpose::Narrow => words("between", "居中"),
        Purpose::Confirm => words("to confirm", "确认"),
    }
}

impl CapacityPage {
    /// Builds the page. `criteria` are judged at the lower bound; `span_ms` is the time of all probes, from and to in
    /// epoch ms.
    pub fn new(
        name: &str,
        speaking: &Speaking<'_>,
        span_ms: (i64, i64),
        criteria: Vec<Lamp>,
        of: &Searched<'_>,
    ) -> Self {
        let mut about = About::of(speaking.record, name);
        about.spanning(span_ms);
        let held = of.probes.iter().filter(|probe| probe.verdict == Held::Good).count();
        let failed = of.probes.iter().filter(|probe| probe.verdict == Held::Bad).count();
        let (judged, probes) = judged(of.probes);
        Self {
            kind: "capacity",
            form: 1,
            about,
            verdict: Verdict::new(speaking.verdict, of.scope(), &Timeline::none()),
            axis: of.axis,
            criteria,
            answer: Bounds {
                lower: of.answer.lower,
                upper: of.answer.upper,
                at_least: of.at_least(),
            },
            sentences: of.sentences(),
            notes: of.notes(),
            probes,
            judged,
            limited_by: of.limited_by(speaking.load, speaking.verdict),
            caption: words(
                format!("{} probes in order: {held} held, {failed} did not.", of.probes.len()),
                format!("按顺序 {} 次试探：{held} 次达标，{failed} 次未达标。", of.probes.len()),
            ),
        }
    }
}

/// Finds the time that decides a search, and adds its value to each probe: the time of the first criterion that a
/// probe did not meet, otherwise that of the first criterion about times.
fn judged(probes: &[Probe]) -> (Option<JudgedTime>, Vec<Probe>) {
    let mut probes = probes.to_vec();
    let times: Vec<(&str, JudgedTime)> = probes.first().map_or_else(Vec::new, |probe| {
        probe
            .judged
            .iter()
            .filter_map(|one| Some((&*one.criterion, JudgedTime::of(&one.criterion)?)))
            .collect()
    });
    let is_broken = |criterion: &str| {
        let broken = |one: &Margin| one.criterion == criterion && !one.holds;
        probes.iter().any(|probe| probe.judged.iter().any(broken))
    };
    let found = times.iter().find(|(text, _)| is_broken(text)).or(times.first()).cloned();
    let Some((criterion, judged)) = found.map(|(text, time)| (text.to_owned(), time)) else {
        return (None, probes);
    };
    for probe in &mut probes {
        let of = probe.judged.iter().find(|one| one.criterion == criterion);
        probe.judged_us = of.and_then(|one| one.margin).map(|margin| margin * judged.limit_us);
    }
    (Some(judged), probes)
}

impl JudgedTime {
    /// Returns the time that a criterion limits from above; `None` for other criteria.
    pub fn of(text: &str) -> Option<Self> {
        let criterion = Criterion::parse(text).ok()?;
        let (Figure::Time(times, stat), Limit::Absolute(limit_ms)) =
            (criterion.figure, criterion.limit)
        else {
            return None;
        };
        let name = match stat {
            Stat::Mean => captions::mean(times),
            Stat::Max => captions::longest(times),
            Stat::Percentile(percent) => captions::timed(times, &format!("p{percent}")),
        };
        let name = match &criterion.label {
            Some(label) => {
                words(format!("{} for {label}", name.en), format!("{label} 的{}", name.zh))
            }
            None => name,
        };
        let is_upper = matches!(criterion.op, Op::Less | Op::AtMost);
        is_upper.then_some(Self { name, limit_us: limit_ms * 1000.0 })
    }
}

impl Searched<'_> {
    /// Returns the scope of the verdict on the run that decided, which says whether a load was too high.
    pub fn scope(&self) -> Scope {
        Scope::Search { is_limited: self.answer.upper.is_some() }
    }

    /// Returns the heading above the verdict on the run that decided, which was made at this load.
    pub fn limited_by(&self, at: f64, verdict: &answers::verdict::Verdict) -> Words {
        let (unit, unit_zh, shown) = (self.unit_of(at), self.axis.unit().zh, load(at));
        if verdict.findings.is_empty() {
            words(
                format!("Of the run at {shown} {unit}, which decided:"),
                format!("起决定作用的是 {shown} {unit_zh}的运行，其结论："),
            )
        } else {
            words(
                format!("The run at {shown} {unit} says what limited it:"),
                format!("限制因素见 {shown} {unit_zh}的运行："),
            )
        }
    }

    /// Returns true if the answer is only a lower bound of the target's capacity.
    pub fn at_least(&self) -> bool {
        let is_known = self.answer.limit == Bound::Criteria && self.shared().is_none();
        let is_known = is_known && self.not_recovered_from.is_none();
        self.answer.lower.is_some() && !is_known
    }

    /// Returns the sentences about the result. The first sentence contains the limit and the load up to which the
    /// criteria held. Reservations and the behaviour beyond that load follow.
    pub fn sentences(&self) -> Vec<Words> {
        let answer = self.answer;
        let Some(lower) = answer.lower else { return vec![self.nothing_held()] };
        let unit = self.axis.unit();
        let mut out = vec![self.first(lower)];
        out.extend(self.no_more_than_a_bound());
        if let Some((upper, probe)) = answer.upper.and_then(|upper| Some((upper, self.at(upper)?)))
            && answer.limit == Bound::Criteria
            && !self.held_on_the_whole(upper)
        {
            let (at, they) = (load(upper), &probe.words);
            out.push(words(
                format!("At {at} {}: {}.", unit.en, they.en),
                format!("{at} {}时：{}。", unit.zh, they.zh),
            ));
        }
        if let (Some(shared), Some(upper)) = (self.shared(), answer.upper) {
            let at = load(upper);
            out.push(words(
                format!(
                    "At {at} {} {}: on a machine of its own the target may take more.",
                    unit.en,
                    shared.words()
                ),
                format!(
                    "{at} {}时{}：被测系统若独占机器，可能承受更多。",
                    unit.zh,
                    shared.words_zh()
                ),
            ));
        }
        if let Some(limit) = &answer.together {
            let spread = percent(limit.spread);
            let [at, low, high] = match self.axis {
                Axis::Users => [limit.load, limit.low.floor(), limit.high.ceil()].map(whole),
                Axis::Rate => [limit.load, limit.low, limit.high].map(number),
            };
            out.push(words(
                format!(
                    "Single runs near the limit vary by chance (±{spread} of the load); all runs together put the limit at {at} (95 % interval {low} to {high})."
                ),
                format!(
                    "极限附近的各次运行有偶然差异（每次为负载的 ±{spread}）；综合来看极限为 {at}（95 % 区间 {low} 至 {high}）。"
                ),
            ));
        }
        out
    }

    /// Returns the first sentence: the limit, if it is known, and the load up to which the criteria held.
    fn first(&self, lower: f64) -> Words {
        let criteria = self.criteria.join(", ");
        let (unit, unit_zh, at) = (self.unit_of(lower), self.axis.unit().zh, load(lower));
        let held = if self.at_least() {
            words(
                format!("{criteria} held up to {at} {unit} at least"),
                format!("至少直到 {at} {unit_zh}，{criteria} 均达标"),
            )
        } else {
            words(
                format!("{criteria} held up to {at} {unit}"),
                format!("直到 {at} {unit_zh}，{criteria} 均达标"),
            )
        };
        let over = self.over();
        if let Some(Concurrency { rate, at_once, alone_ms }) = self.at_once() {
            let (rate, at_once, alone) = (number(rate), at_once_text(at_once), number(alone_ms));
            let (of, of_zh) = if self.shared().is_some() {
                ("Limit on this machine", "这台机器上的极限")
            } else {
                ("Limit", "极限")
            };
            return words(
                format!(
                    "{of}: about {rate} requests/s ({at_once} at once, {alone} ms each). {}{}.",
                    held.en, over.en
                ),
                format!(
                    "{of_zh}：约 {rate} 请求/秒（同时处理 {at_once} 个，每个 {alone} ms）。{}{}。",
                    held.zh, over.zh
                ),
            );
        }
        let (en, zh) = self.at(lower).map_or_else(Default::default, |probe| {
            let (rate, flight) = (number(probe.rate_per_s), counted(probe.in_flight));
            (
                format!(" ({rate} requests/s, {flight} in flight)"),
                format!("（{rate} 请求/秒，在途 {flight} 个）"),
            )
        });
        if self.at_least() {
            return words(
                format!("At least {at} {unit}{en}: {criteria} held{}.", over.en),
                format!("至少 {at} {unit_zh}{zh}：{criteria} 达标{}。", over.zh),
            );
        }
        words(
            format!("Limit: {at} {unit}{en}. {}{}.", held.en, over.en),
            format!("极限：{at} {unit_zh}{zh}。{}{}。", held.zh, over.zh),
        )
    }

    /// Returns the end of the first sentence, which names the load at which the criteria did not hold.
    fn over(&self) -> Words {
        let known = self.answer.upper.filter(|_| self.answer.limit == Bound::Criteria);
        let Some(upper) = known else { return words("", "") };
        let (over, it) = (load(upper), if self.criteria.len() == 1 { "it" } else { "they" });
        let unit_zh = self.axis.unit().zh;
        if self.held_on_the_whole(upper) {
            return words(
                format!("; at {over} {it} did not in part of the time"),
                format!("；{over} {unit_zh}时有一部分时间未达标"),
            );
        }
        if self.is_partial() {
            return words(
                format!("; at {over} only a part of the load was made"),
                format!("；{over} {unit_zh}时只产生了部分负载"),
            );
        }
        words(format!("; at {over} {it} did not"), format!("；{over} {unit_zh}时未达标"))
    }

    /// True if the deciding probe met all criteria of the search, and only a part of its load was missing.
    fn is_partial(&self) -> bool {
        let Some(probe) = self.decided() else { return false };
        let mut failed = probe.judged.iter().filter(|one| !one.holds).peekable();
        failed.peek().is_some() && failed.all(|one| !self.criteria.contains(&one.criterion))
    }

    /// Returns the reasons why the result is only a lower bound of the capacity.
    fn no_more_than_a_bound(&self) -> Vec<Words> {
        let Words { en: unit, zh: unit_zh } = self.axis.unit();
        match self.answer.limit {
            Bound::Criteria => self.not_recovered_from.map_or_else(Vec::new, |last| {
                let last = load(last);
                vec![words(
                    format!(
                        "The target did not recover from the probe at {last} {unit}: after it the criteria did not hold at the lightest load either, so the search ended there."
                    ),
                    format!(
                        "被测系统未从 {last} {unit_zh}的试探中恢复：此后最轻负载也未达标，搜索就此结束。"
                    ),
                )]
            }),
            Bound::Generator => self.by_generator(),
            Bound::Samples => self.by_samples(),
            Bound::Most if self.unfinished => vec![words(
                "The search ended before anything larger was tried.",
                "搜索在尝试更大负载之前结束。",
            )],
            Bound::Most => vec![words(
                "Nothing larger was to be tried (--at-most).",
                "未要求尝试更大负载（--at-most）。",
            )],
        }
    }

    /// Returns true if the criteria held over each whole probe at this load. If such a load is the upper bound, the
    /// criteria failed there only in some seconds.
    fn held_on_the_whole(&self, load: f64) -> bool {
        let mut here = self.probes.iter().filter(|probe| probe.load == load).peekable();
        here.peek().is_some() && here.all(|probe| probe.holds)
    }

    /// Returns the sentence for a search in which the generator reached its limit instead of the target.
    fn by_generator(&self) -> Vec<Words> {
        let unit = self.axis.unit();
        let why = self.decided().and_then(|probe| probe.generator.clone());
        let why = why.unwrap_or_else(|| words("", ""));
        let over = load(self.answer.upper.unwrap_or_default());
        vec![words(
            format!(
                "At {over} {} the generator or its machine was overloaded, so the target may take more. {}.",
                unit.en, why.en
            ),
            format!(
                "{over} {}时负载机或其机器过载，因此被测系统可能承受更多。{}。",
                unit.zh, why.zh
            ),
        )]
    }

    /// Returns the sentence for a search that ended because too few samples decide a larger load.
    fn by_samples(&self) -> Vec<Words> {
        let unit = self.axis.unit();
        let over = load(self.answer.upper.unwrap_or_default());
        let why = self.decided().map(|probe| probe.words.clone()).unwrap_or_default();
        vec![words(
            format!(
                "At {over} {} the samples do not decide the criteria, so the target may take more: {}. Longer probes (--probe) have more samples.",
                unit.en, why.en
            ),
            format!(
                "{over} {}时样本不足以判定标准，因此被测系统可能承受更多：{}。更长的试探（--probe）样本更多。",
                unit.zh, why.zh
            ),
        )]
    }

    /// Returns warnings about the answer of the search.
    pub fn notes(&self) -> Vec<Words> {
        let answer = self.answer;
        let mut notes = Vec::new();
        let failed = answer.lower.and_then(|lower| self.at(lower)).map_or(0.0, |held| held.failed);
        if failed > MUCH_FAILED && self.criteria.iter().all(|text| !text.contains("error")) {
            let share = percent(failed);
            notes.push(words(
                format!("{share} of the requests failed there, and no criterion is about errors: add one, as --fail 'error% < 1'."),
                format!("那里有 {share} 的请求失败，而没有关于错误的标准：请添加，例如 --fail 'error% < 1'。"),
            ));
        }
        if answer.doubtful {
            notes.push(words("The lower bound is inconclusive: nothing but the light probe held, and the generator did not keep up there.", "下限无法判定：只有轻载试探达标，而负载机在那里就跟不上。"));
        }
        if self.unfinished {
            notes.push(words(
                "The search stopped early: the limits are those found so far.",
                "搜索提前结束：极限为目前所得。",
            ));
        }
        if answer.limit == Bound::Criteria && answer.lower.is_some() && !answer.confirmed {
            notes.push(words(
                "The load that held was not confirmed by a second probe.",
                "达标的负载未经第二次试探确认。",
            ));
        }
        if self.not_recovered_from.is_some() {
            notes.push(words(
                "Let the target recover, or restart it, and search again with a smaller --at-most.",
                "请让被测系统恢复或重启，然后用更小的 --at-most 重新搜索。",
            ));
        } else if answer.upper.is_some() && answer.lower.is_some() && !answer.narrow {
            notes.push(words(
                "Less precise than requested: more probes (--probes) bring the two loads closer together.",
                "精度低于要求：更多试探（--probes）可使两个负载更接近。",
            ));
        }
        if answer.irregular {
            notes.push(words(
                "A load above the upper bound held: there is more than one limit, or chance.",
                "高于上限的某个负载达标：存在不止一个极限，或出于偶然。",
            ));
        }
        notes
    }

    /// Returns the sentence for a search in which no load met the criteria.
    fn nothing_held(&self) -> Words {
        let Some(first) = self.decided() else { return words("", "") };
        let (lightest, unit) = (load(first.load), self.unit_of(first.load));
        let zh = self.axis.unit().zh;
        if self.answer.undecided {
            let why = &first.words;
            return words(
                format!(
                    "No answer: with {lightest} {unit} the samples do not decide the criteria, and no larger load held: {}. Longer probes (--probe) have more samples.",
                    why.en
                ),
                format!(
                    "没有答案：{lightest} {zh}时样本不足以判定标准，更大的负载也未达标：{}。更长的试探（--probe）样本更多。",
                    why.zh
                ),
            );
        }
        if self.answer.limit == Bound::Generator {
            let why = first.generator.clone().unwrap_or_else(|| words("", ""));
            return words(
                format!(
                    "No answer: already with {lightest} {unit}, what was measured says little about the target. {}.",
                    why.en
                ),
                format!("没有答案：{lightest} {zh}时，测得的数据已不能说明被测系统。{}。", why.zh),
            );
        }
        let verb = if lightest == "1" { "holds" } else { "hold" };
        words(
            format!("Not even {lightest} {unit} {verb}: {}.", first.words.en),
            format!("连 {lightest} {zh}也未达标：{}。", first.words.zh),
        )
    }

    /// Returns the English unit of a load.
    pub fn unit_of(&self, load: f64) -> &'static str {
        match self.axis {
            Axis::Users if load == 1.0 => "user",
            Axis::Users => "users",
            Axis::Rate => "starts/s",
        }
    }

    /// Returns the last probe at a load.
    fn at(&self, load: f64) -> Option<&Probe> {
        self.probes.iter().rev().find(|probe| probe.load == load)
    }

    /// Returns the machine that target and generator share, if it was fully loaded in the probe that ruled out a larger
    /// load.
    pub fn shared(&self) -> Option<&Shared> {
        self.answer.upper?;
        self.decided()?.shared.as_ref()
    }

    /// Returns the probe that decided the search: the last failed probe at the upper bound, or the last probe at
    /// the lower bound if no larger load was tried.
    pub fn decided(&self) -> Option<&Probe> {
        let first = self.probes.first()?;
        let nothing_held = self.answer.lower.is_none().then_some(first.load);
        let load = nothing_held.or(self.answer.upper).or(self.answer.lower)?;
        // A second probe at this load may have met the criteria. The probe that did not meet them decided the
        // search.
        let here = || self.probes.iter().rev().filter(|probe| probe.load == load);
        let failed = |probe: &&Probe| !probe.holds && probe.verdict != Held::Doubtful;
        here().find(failed).or_else(|| here().next())
    }

    /// Returns the number of requests that the target processes at once, computed from the light probe and the overload
    /// probe.
    fn at_once(&self) -> Option<Concurrency> {
        // Few samples suffice for the rates and medians.
        let sound = |probe: &&Probe| probe.verdict != Held::Doubtful || probe.undecided;
        let find = |purpose: Purpose| {
            self.probes.iter().filter(sound).find(|probe| probe.purpose == purpose)
        };
        let (light, over) = (find(Purpose::Light)?, find(Purpose::Overload)?);
        // The successful requests of a target that broke are those of the labels that still work.
        if self.not_recovered_from.is_some() && over.failed > MUCH_FAILED {
            return None;
        }
        let best =
            self.probes.iter().filter(sound).map(|probe| probe.rate_per_s).fold(0.0, f64::max);
        let is_flat =
            !over.holds && !over.undecided && over.rate_per_s > 0.9 * best && light.samples >= 20;
        let at_once = concurrency(over.rate_per_s, light.p50_us / 1e6);
        // With more users than the target processes at once, requests of the light probe would have waited, too.
        let is_light = light.in_flight <= 1.05 || light.in_flight <= 0.8 * at_once;
        let is_known = is_flat && is_light && over.in_flight >= 1.5 * at_once;
        let alone_ms = light.p50_us / 1000.0;
        is_known.then_some(Concurrency { rate: over.rate_per_s, at_once, alone_ms })
    }
}

/// Metrics from the light probe and the overload probe together: rate beyond the limit, number of requests
/// processed at once, and processing time of one request.
struct Concurrency {
    rate: f64,
    at_once: f64,
    alone_ms: f64,
}
