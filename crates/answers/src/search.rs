//! The search for the largest load at which criteria hold.
//!
//! The method is MLRsearch (draft-ietf-bmwg-mlrsearch-15). A load is a lower bound, an upper bound or undecided,
//! depending on the seconds of trials that met the criteria and the seconds of trials that did not ([`classify`]).
//! A bad result is trusted; a good result at a higher load counts as chance. Loads are derived from measurements: a
//! light probe, an overload probe, then the load at which the criterion is expected to be just met. Without such an
//! expectation, the search bisects in log space, or doubles its steps. The search is a pure function of its
//! results: [`next`] returns the next probe, or the answer.
//!
//! Near the limit, the result of a probe may be wrong by chance: a single failed probe is no proof, and neither is
//! a probe in which the criteria held. The limit is then estimated from all of these probes by a line that is
//! fitted through their margins (the module `locate`). Loads with results that may be chance are no bounds
//! ([`Class::Close`]). Further probes are placed on both sides of that limit, and the last probes confirm a load
//! just below it.
//!
//! A probe with a finding about the generator is no evidence about the target, neither good nor bad
//! ([`Class::Doubtful`]). The search stays below such a load, unless the criteria certainly held at a larger load.
//! The search probes the load a second time before it ends there with "at least". The light probe only starts the
//! search: if it has a finding, it still counts if the criteria held.
//!
//! A probe with too few samples to decide a criterion is no evidence either, and is treated in the same way. The caller
//! makes further probes longer. Where even long probes are undecided, the search ends with "at least", or without an
//! answer.

mod guess;
mod locate;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use locate::Line;
pub use locate::noise;

/// Limits and targets of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The lightest load, at which requests should not wait for each other.
    pub least: f64,
    /// The largest load that the search may try.
    pub most: f64,
    /// True if loads are whole numbers: users.
    pub whole: bool,
    /// Distance between the bounds at which the search ends, as a share of the upper bound.
    pub width: f64,
    /// Largest allowed share of bad seconds of trials; 0 if no error is allowed.
    pub exceed: f64,
    /// Total length in seconds of the trials that are needed to classify a load.
    pub seconds: f64,
    /// Largest number of probes.
    pub probes: usize,
}

/// A part of a probe that the criteria judge.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Trial {
    pub seconds: f64,
    pub good: bool,
    /// True if the trial has the full length of a trial. A shorter trial counts only if it is bad.
    pub full: bool,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Probe {
    /// Load of the probe: users, or starts per second.
    pub load: f64,
    pub purpose: Purpose,
    /// Successful requests per second.
    pub rate: f64,
    /// Parts of the probe that the criteria judge.
    pub trials: Vec<Trial>,
    /// True if the criteria hold for the probe as a whole.
    pub holds: bool,
    /// True if the criteria are met by all samples of the probe, but too few samples decide one of them. `holds` is
    /// then false.
    #[serde(default)]
    pub undecided: bool,
    /// The largest ratio of value to limit among the criteria with a limit above 0. Above 1, a criterion is not
    /// met.
    pub margin: Option<f64>,
    /// Standard error of the logarithm of the margin, from the windows of the probe ([`noise`]).
    pub noise: Option<f64>,
    /// True if a criterion without a margin does not hold, so that the failure is not a matter of degree.
    pub certain: bool,
    /// True if the probe has a finding about the generator, so that its results are weak evidence about the target.
    pub generator: bool,
}

impl Probe {
    /// True if the probe is no evidence about the target: it has a finding about the generator, or too few samples.
    fn is_doubtful(&self) -> bool {
        self.generator || self.undecided
    }

    /// True if the samples of the probe are within the limits of the criteria, whatever their number.
    pub fn is_within(&self) -> bool {
        self.holds || self.undecided
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Light,
    Overload,
    Narrow,
    Confirm,
}

/// The next step of a search: a probe, or the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Probe { load: f64, purpose: Purpose },
    Done(Answer),
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Answer {
    /// The largest load at which the criteria hold. `None` if they do not even hold at the lightest load, if every
    /// measurement was doubtful ([`Limit::Generator`], [`Limit::Samples`]), or if too few samples decide the lightest
    /// load (`undecided`).
    pub lower: Option<f64>,
    /// The smallest load above the lower bound at which the criteria did not hold.
    pub upper: Option<f64>,
    /// Reason why the answer is not a larger load.
    pub limit: Limit,
    /// True if the criteria held in a run of full length at the lower bound.
    pub confirmed: bool,
    /// True if the distance between the bounds is within the configured width.
    pub narrow: bool,
    /// True if the criteria held at a load above the upper bound: there is more than one limit, or the result is
    /// chance.
    pub irregular: bool,
    /// True if the lower bound is the lightest load, and its probes have findings about the generator.
    pub doubtful: bool,
    /// True if the search found no lower bound, because the probes of the lightest load have too few samples.
    #[serde(default)]
    pub undecided: bool,
    /// The limit estimated from all probes near it, for a search in which single probes err by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
}

/// The limit estimated from several probes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Together {
    /// Load of the estimated limit.
    pub load: f64,
    /// Lower end of the 95 % interval of the limit, as a load.
    pub low: f64,
    /// Upper end of the 95 % interval of the limit, as a load.
    pub high: f64,
    /// Standard deviation of the limit that a single probe shows, as a share of the load.
    pub spread: f64,
}

/// The reason why there is no larger load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The criteria do not hold at a larger load.
    Criteria,
    /// The generator limits the search: the answer is "at least".
    Generator,
    /// Too few samples decide a larger load: the answer is "at least".
    Samples,
    /// The criteria held at the largest load that the search may try: the answer is "at least".
    Most,
}

/// Classification of a load by its trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Lower,
    Upper,
    Undecided,
    /// The load is so near the limit that its probes err by chance. It is neither a lower nor an upper bound.
    Close,
    /// All probes of the load have findings about the generator, or too few samples.
    Doubtful,
}

/// Classifies a load by the seconds of its trials, like the code of the draft. Bad seconds of short trials count only
/// as far as they exceed the number allowed for the good seconds of short trials. If the trials have fewer than `sum`
/// seconds, the missing seconds are assumed to be all good and then all bad; the load is undecided if the two results
/// differ.
pub fn classify(trials: &[Trial], exceed: f64, sum: f64) -> Class {
    let seconds = |full: bool, good: bool| -> f64 {
        trials.iter().filter(|t| t.full == full && t.good == good).map(|t| t.seconds).sum()
    };
    let balance = if exceed < 1.0 { exceed / (1.0 - exceed) } else { f64::INFINITY };
    let short_good = seconds(false, true);
    let balanced = if short_good > 0.0 { short_good * balance } else { 0.0 };
    let excess = (seconds(false, false) - balanced).max(0.0);
    let (good, bad) = (seconds(true, true), seconds(true, false) + excess);
    let whole = (good + bad).max(sum);
    let allowed = whole * exceed + 1e-9;
    match (bad <= allowed, whole - good <= allowed) {
        (true, true) => Class::Lower,
        (false, false) => Class::Upper,
        _ => Class::Undecided,
    }
}

/// Probability that the criteria hold at a load near the limit. Below this probability, a failed probe makes the load
/// an upper bound.
const UPPER: f64 = 0.2;
/// Probability that the criteria hold at a load near the limit. From this probability on, a load at which a probe held
/// is a lower bound, even if another probe failed there.
const LOWER: f64 = 0.5;

/// True if results of probes near the limit are too uncertain for the configured width of the search: the limit that a
/// single probe shows varies by more than half of the width, or the criteria held at a load that is at least as large
/// as a load at which they failed.
fn is_noisy(settings: &Settings, probes: &[Probe], line: &Line) -> bool {
    let clear = |p: &&Probe| !p.is_doubtful() && !p.certain && p.margin.is_some();
    let failed = probes.iter().filter(clear).filter(|p| !p.holds).map(|p| p.load);
    let least = failed.fold(f64::INFINITY, f64::min);
    line.spread() > 0.5 * settings.width
        || probes.iter().any(|p| p.holds && !p.is_doubtful() && p.load >= least)
}

/// True if a probe at this load is so close to the limit that chance can decide its result.
fn is_close(settings: &Settings, line: &Line, load: f64) -> bool {
    let reach = 3.0 * line.spread().clamp(settings.width, 2.0 * settings.width);
    (load.ln() - line.limit).abs() <= reach
}

/// Returns each tried load with its class, in ascending order of loads.
pub(crate) fn classes(settings: &Settings, probes: &[Probe]) -> Vec<(f64, Class)> {
    let mut loads: Vec<f64> = probes.iter().map(|probe| probe.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let line = locate::line(settings, probes);
    let class = |load: f64| {
        let here: Vec<&Probe> = probes.iter().filter(|probe| probe.load == load).collect();
        let clear: Vec<&Probe> =
            here.iter().copied().filter(|probe| !probe.is_doubtful()).collect();
        if clear.is_empty() {
            // The search needs a lower bound to start from.
            let begins = load <= settings.least && here.iter().all(|probe| probe.is_within());
            return if begins { Class::Lower } else { Class::Doubtful };
        }
        let failed = clear.iter().any(|probe| !probe.holds);
        let is_certain = clear.iter().any(|probe| probe.certain);
        let by_chance =
            |line: &Line| is_noisy(settings, probes, line) && is_close(settings, line, load);
        if let Some(line) = line.filter(|line| !is_certain && by_chance(line)) {
            let chance = line.holds(load);
            let held = clear.iter().any(|probe| probe.holds);
            match failed {
                true if chance < UPPER => return Class::Upper,
                _ if !held || chance < LOWER => return Class::Close,
                _ => return Class::Lower,
            }
        }
        if failed {
            return Class::Upper;
        }
        let trials: Vec<Trial> =
            clear.iter().flat_map(|probe| probe.trials.iter().copied()).collect();
        let class = classify(&trials, settings.exceed, settings.seconds);
        // The load was probed a second time, and the criteria held over each whole probe without a finding about the
        // generator.
        if class == Class::Undecided && here.len() > 1 { Class::Lower } else { class }
    };
    let mut classes: Vec<(f64, Class)> =
        loads.into_iter().map(|load| (load, class(load))).collect();
    if let Some(line) = line.filter(|line| is_noisy(settings, probes, line)) {
        near_is_better(settings, probes, &line, &mut classes);
    }
    classes
}

/// Corrects the classes of loads near the limit. If a confirmed lower bound is near the limit, the lower bounds above
/// it that are close to the limit become [`Class::Close`]. If no lower bound is near the limit, the nearest close load
/// at which the criteria held becomes a lower bound.
fn near_is_better(
    settings: &Settings,
    probes: &[Probe],
    line: &Line,
    classes: &mut [(f64, Class)],
) {
    let below = |load: f64| line.limit - load.ln();
    let is_near = |(load, class): &(f64, Class)| {
        *class == Class::Lower && below(*load).abs() <= 2.5 * settings.width
    };
    let confirmed = |load: f64| {
        let confirms = |p: &Probe| p.purpose == Purpose::Confirm && p.holds && !p.generator;
        probes.iter().any(|p| p.load == load && confirms(p))
    };
    // A larger load at which the criteria may have held by chance is not preferred to a confirmed load.
    if let Some(at) = classes.iter().rposition(|c| {
        c.1 == Class::Lower && confirmed(c.0) && below(c.0).abs() <= 1.75 * settings.width
    }) {
        let above = classes[at + 1..].iter_mut();
        let close = above.filter(|c| c.1 == Class::Lower && is_close(settings, line, c.0));
        close.for_each(|c| c.1 = Class::Close);
        return;
    }
    if classes.iter().any(is_near) {
        return;
    }
    let held = |load: f64| probes.iter().any(|p| p.load == load && p.holds && !p.generator);
    let nearest = classes
        .iter_mut()
        .filter(|(load, class)| *class == Class::Close && held(*load))
        .min_by(|a, b| below(a.0).abs().total_cmp(&below(b.0).abs()));
    if let Some((_, class)) = nearest {
        *class = Class::Lower;
    }
}

/// Returns the largest lower bound below the smallest load that failed. The second value is that failed load, or a
/// doubtful load between the two.
pub(crate) fn bounds(classes: &[(f64, Class)]) -> (Option<f64>, Option<f64>) {
    let failed = classes.iter().find(|(_, class)| *class == Class::Upper).map(|(load, _)| *load);
    let below = |class: Class| {
        let of = move |(_, of): &&(f64, Class)| *of == class;
        classes
            .iter()
            .filter(of)
            .map(|(load, _)| *load)
            .filter(|load| failed.is_none_or(|f| *load < f))
    };
    let lower = below(Class::Lower).next_back();
    let doubtful = below(Class::Doubtful).find(|load| lower.is_none_or(|low| *load > low));
    (lower, doubtful.or(failed))
}

/// Returns the answer that the probes so far support, for a search that is stopped.
pub fn so_far(settings: &Settings, probes: &[Probe]) -> Answer {
    let classes = classes(settings, probes);
    let (lower, upper) = bounds(&classes);
    answer(settings, probes, &classes, lower, upper)
}

/// Returns the next probe, or the answer.
pub fn next(settings: &Settings, probes: &[Probe]) -> Step {
    let probe = |load, purpose| Step::Probe { load, purpose };
    if probes.is_empty() {
        return probe(settings.least, Purpose::Light);
    }
    let classes = classes(settings, probes);
    let (lower, upper) = bounds(&classes);
    let done = |lower: Option<f64>| Step::Done(answer(settings, probes, &classes, lower, upper));
    let is_doubtful = |load: f64| classes.contains(&(load, Class::Doubtful));
    let times = |load: f64| probes.iter().filter(|probe| probe.load == load).count();
    let left = settings.probes.saturating_sub(probes.len());
    let Some(low) = lower else {
        // The lightest load failed, was undecided or was doubtful. Unless it clearly failed, it is probed a second
        // time.
        let again = upper.is_none_or(is_doubtful) && probes.len() < 2 && left > 0;
        return if again { probe(settings.least, Purpose::Light) } else { done(None) };
    };
    let Some(high) = upper else {
        let has_most = classes.iter().any(|(load, _)| *load >= settings.most);
        return match classes.last() {
            Some((load, Class::Undecided)) if probes.len() < settings.probes => {
                probe(*load, Purpose::Overload)
            }
            _ if has_most || low >= settings.most => done(lower),
            _ => probe(settings.most, Purpose::Overload),
        };
    };
    if left > 0 && probes.iter().all(|probe| probe.generator) {
        // Every measurement was doubtful, so the lightest load is probed a second time. If that does not help, the
        // search ends.
        return if times(low) < 2 { probe(low, Purpose::Light) } else { done(lower) };
    }
    if left > 0 && probes.iter().all(|probe| probe.undecided) {
        // The largest load has the most samples. If they do not suffice in a longer probe, no other load has enough.
        return if times(high) < 2 { probe(high, Purpose::Overload) } else { done(lower) };
    }
    let is_narrow = is_narrow(settings, low, high);
    if left > 0 && is_narrow && is_doubtful(high) {
        // The disturbance of the generator may have passed, and probes may be longer now, so the load is probed a
        // second time.
        return if times(high) < 2 { probe(high, Purpose::Narrow) } else { done(lower) };
    }
    if let Some(line) = locate::line(settings, probes)
        && left > 0
        && !is_doubtful(high)
        && is_noisy(settings, probes, &line)
        && (classes.iter().any(|(_, class)| *class == Class::Close)
            || (high / low).ln() <= 3.0 * line.spread().max(settings.width))
    {
        return near_limit(settings, probes, &line, low, left)
            .map_or_else(|| done(lower), |(load, purpose)| probe(load, purpose));
    }
    narrow(settings, probes, &classes, low, high)
        .map_or_else(|| done(lower), |(load, purpose)| probe(load, purpose))
}

/// Returns the next probe between two bounds; `None` if the bounds are narrow and the lower one is confirmed, or if no
/// probe is left.
fn narrow(
    settings: &Settings,
    probes: &[Probe],
    classes: &[(f64, Class)],
    low: f64,
    high: f64,
) -> Option<(f64, Purpose)> {
    let left = settings.probes.saturating_sub(probes.len());
    let is_narrow = is_narrow(settings, low, high);
    let is_confirmed = probes.iter().any(|p| p.load == low && p.purpose == Purpose::Confirm);
    if is_confirmed && is_narrow || left == 0 {
        return None;
    }
    let is_light = low <= settings.least;
    // The last two probes are reserved for confirmation where the bounds are nearly narrow.
    let is_near = (high - low) / high <= 2.5 * settings.width;
    if is_narrow || !is_light && (left == 1 || left == 2 && is_near) {
        return (!is_confirmed && !is_light).then_some((low, Purpose::Confirm));
    }
    let undecided = classes
        .iter()
        .find(|(load, class)| *class == Class::Undecided && low < *load && *load < high);
    if let Some((load, _)) = undecided {
        return Some((*load, Purpose::Narrow));
    }
    // After a failed confirming run, the search confirms a load that is one width lower.
    let failed = probes.last().is_some_and(|p| p.purpose == Purpose::Confirm && p.load == high)
        && !classes.contains(&(high, Class::Doubtful));
    let (load, purpose) = if failed {
        (high * (1.0 - settings.width), Purpose::Confirm)
    } else {
        (guess::load(settings, probes, low, high), Purpose::Narrow)
    };
    let settled = settled(settings, load, low, high).map(|load| (load, purpose));
    settled.or(Some((low, Purpose::Confirm)))
}

/// Returns the next probe where probes err by chance: around the estimated limit, and finally just below it. `None` if
/// the limit is known well enough and a load near it is confirmed.
fn near_limit(
    settings: &Settings,
    probes: &[Probe],
    line: &Line,
    low: f64,
    left: usize,
) -> Option<(f64, Purpose)> {
    let limit = line.limit.exp();
    let step = line.spread().clamp(settings.width, 1.5 * settings.width);
    let below = limit * (1.0 - 0.5 * step);
    let near = |a: f64, b: f64| (a / b).ln().abs() <= 1.25 * settings.width;
    let is_confirmed = probes
        .iter()
        .any(|p| p.load == low && p.purpose == Purpose::Confirm && p.holds && !p.generator);
    let is_confirmed = is_confirmed && near(low, below);
    if is_confirmed && line.error() <= 0.75 * settings.width {
        return None;
    }
    let round = |load: f64| {
        let load = load.clamp(settings.least, settings.most);
        if settings.whole { load.round() } else { format!("{load:.3e}").parse().unwrap_or(load) }
    };
    if left <= 3 && !is_confirmed {
        let failed = probes.iter().rev().take_while(|p| p.purpose == Purpose::Confirm);
        let failed = failed.filter(|p| !p.holds).map(|p| p.load).fold(f64::INFINITY, f64::min);
        let load = below.min(failed * (1.0 - settings.width));
        return Some((round(load), Purpose::Confirm));
    }
    // The next probe goes to the side of the limit opposite to the last probe.
    let is_above = probes.last().is_some_and(|p| p.load > limit);
    let load = if is_above { limit * (1.0 - step) } else { limit * (1.0 + step) };
    Some((round(load), Purpose::Narrow))
}

pub(crate) fn is_narrow(settings: &Settings, low: f64, high: f64) -> bool {
    // For whole numbers, adjacent loads count as within the width.
    let width = settings.width * high + 1e-9;
    high - low <= if settings.whole { width.ceil() } else { width }
}

/// Rounds a load so that it lies strictly between the bounds, and is a whole number if loads are whole; `None` if
/// no such load exists.
fn settled(settings: &Settings, load: f64, low: f64, high: f64) -> Option<f64> {
    if settings.whole {
        return (high - low >= 2.0).then(|| load.round().clamp(low + 1.0, high - 1.0));
    }
    let apart = ((high - low) * 0.05).min(settings.width * 0.25 * low);
    // Four significant digits, so that a user can type the rate.
    let load = format!("{:.3e}", load.clamp(low + apart, high - apart)).parse().unwrap_or(load);
    (low < load && load < high).then_some(load)
}

fn answer(
    settings: &Settings,
    probes: &[Probe],
    classes: &[(f64, Class)],
    lower: Option<f64>,
    upper: Option<f64>,
) -> Answer {
    let is_doubtful = |load: f64| classes.contains(&(load, Class::Doubtful));
    let in_doubt = lower.is_some_and(|low| begins_in_doubt(settings, probes, low));
    let by_generator = |load: f64| probes.iter().any(|p| p.load == load && p.generator);
    let doubtful = in_doubt && lower.is_some_and(by_generator);
    let undecided = in_doubt && !doubtful;
    let irregular = upper.is_some_and(|upper| {
        classes.iter().any(|(load, class)| *load > upper && *class == Class::Lower)
    });
    // A load that failed, even by chance, is not known to hold.
    let failed = probes.iter().filter(|probe| !probe.holds && !probe.is_doubtful());
    let failed = failed.map(|probe| probe.load).filter(|load| lower.is_none_or(|low| *load > low));
    let upper = failed.chain(upper).min_by(f64::total_cmp);
    let limit = match upper {
        None => Limit::Most,
        Some(load) if is_doubtful(load) && by_generator(load) => Limit::Generator,
        Some(load) if is_doubtful(load) => Limit::Samples,
        Some(_) => Limit::Criteria,
    };
    // Where all measurements are doubtful, the lower bound is unknown.
    let lower = lower.filter(|_| !(undecided || doubtful && limit == Limit::Generator));
    let confirmed = |low: f64| {
        let mut here = probes.iter().filter(|p| p.load == low && p.purpose == Purpose::Confirm);
        here.any(|p| p.holds && !p.generator)
    };
    Answer {
        lower,
        upper,
        limit,
        confirmed: lower.is_some_and(confirmed),
        narrow: lower.zip(upper).is_some_and(|(low, high)| is_narrow(settings, low, high)),
        irregular,
        doubtful,
        undecided,
        together: locate::line(settings, probes)
            .filter(|line| limit == Limit::Criteria && is_noisy(settings, probes, line))
            .map(|line| line.together()),
    }
}

/// True if the load is the lightest one and none of its probes is evidence about the target.
fn begins_in_doubt(settings: &Settings, probes: &[Probe], load: f64) -> bool {
    let mut here = probes.iter().filter(|probe| probe.load == load);
    load <= settings.least && here.all(Probe::is_doubtful)
}
