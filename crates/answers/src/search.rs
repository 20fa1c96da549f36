//! The search for the largest load at which criteria hold.
//!
//! The method is that of MLRsearch (draft-ietf-bmwg-mlrsearch-15): a load is a lower bound, an upper bound or undecided by
//! the seconds of trials that met the criteria and of those that did not ([`classify`]); a bad result is believed, and a
//! good one above it is chance. Loads come from what is measured: a light probe, an overload probe, then the load at
//! which the criterion is expected to be just met; where nothing is expected, halves in log space, and steps that double.
//! The search is a pure function of its results: [`next`] says what to run, or the answer.
//!
//! Where probes near the limit err by chance, one that failed is no proof and one that held neither: believed is the
//! limit that all of them show together, a line through their margins (the module `locate`). Loads that chance may have
//! decided are no bounds ([`Class::Close`]), further probes go to both sides of that limit, and the last ones confirm a
//! load just below it.
//!
//! A probe with a finding on the generator says nothing about the target, neither good nor bad ([`Class::Doubtful`]). The
//! search stays below such a load, unless a larger one held beyond doubt, and measures it again before it ends there with
//! "at least". The light probe is only where the search begins: with a finding it does if the criteria held.

mod guess;
mod locate;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use locate::Line;
pub use locate::noise;

/// The frame of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The lightest load, at which requests should not wait for each other.
    pub least: f64,
    /// The largest load to try.
    pub most: f64,
    /// Loads are whole numbers: users.
    pub whole: bool,
    /// Width between the bounds at which the search ends, as a share of the upper one.
    pub width: f64,
    /// Share of the seconds of trials that may be bad; 0 where no error is allowed.
    pub exceed: f64,
    /// Seconds of trials that decide on a load.
    pub seconds: f64,
    /// Probes, at most.
    pub probes: usize,
}

/// A part of a probe, judged by the criteria.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Trial {
    pub seconds: f64,
    pub good: bool,
    /// As long as a trial has to be; a shorter one counts if it is bad.
    pub full: bool,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Probe {
    pub load: f64,
    pub purpose: Purpose,
    /// Requests per second that succeeded.
    pub rate: f64,
    pub trials: Vec<Trial>,
    /// The criteria hold on the probe as a whole.
    pub holds: bool,
    /// The largest of value by limit, of criteria with a limit above 0: above 1 it is broken.
    pub margin: Option<f64>,
    /// Error of the margin's logarithm, by the windows of the probe ([`noise`]).
    pub noise: Option<f64>,
    /// A criterion without a margin does not hold: a failure that is no matter of degree.
    pub certain: bool,
    /// There is a finding on the generator: what was measured says little about the target.
    pub generator: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Light,
    Overload,
    Narrow,
    Confirm,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Probe { load: f64, purpose: Purpose },
    Done(Answer),
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Answer {
    /// The largest load that holds; `None`: even the lightest does not, or none was measured beyond doubt
    /// ([`Limit::Generator`]).
    pub lower: Option<f64>,
    /// The smallest load above it that did not.
    pub upper: Option<f64>,
    pub limit: Limit,
    /// The criteria held in a run of full length at the lower bound.
    pub confirmed: bool,
    /// The bounds are as close as they should be.
    pub narrow: bool,
    /// A load above the upper bound passed: more than one limit, or chance.
    pub irregular: bool,
    /// The lower bound is the lightest load, and its probes have findings on the generator.
    pub doubtful: bool,
    /// The limit as the probes near it show it together, where each of them errs by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
}

/// The limit by several probes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Together {
    pub load: f64,
    /// 95 % interval.
    pub low: f64,
    pub high: f64,
    /// Deviation of the limit that a single probe shows, as a share of the load.
    pub spread: f64,
}

/// The reason for which there is no larger load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The criteria.
    Criteria,
    /// The generator: the answer is "at least".
    Generator,
    /// Nothing above was to be tried: the answer is "at least".
    Most,
}

/// A load by its trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Lower,
    Upper,
    Undecided,
    /// So near the limit that its probes err by chance: no bound on either side.
    Close,
    /// All its probes have findings on the generator.
    Doubtful,
}

/// Classifies a load by the seconds of its trials, as the draft's code does: bad seconds of short trials count as far as
/// good ones do not balance them, and what is missing to `sum` is taken once as good and once as bad.
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

/// Chance that a load holds, below which a failed probe makes it an upper bound, and from which on one that held is
/// believed though another failed.
const UPPER: f64 = 0.2;
const LOWER: f64 = 0.5;

/// Whether probes near the limit err by chance as far as it matters for the width: by their errors, or because a load
/// held that is no lighter than one that did not.
fn is_noisy(settings: &Settings, probes: &[Probe], line: &Line) -> bool {
    let clear = |p: &&Probe| !p.generator && !p.certain && p.margin.is_some();
    let failed = probes.iter().filter(clear).filter(|p| !p.holds).map(|p| p.load);
    let least = failed.fold(f64::INFINITY, f64::min);
    line.spread() > 0.5 * settings.width
        || probes.iter().any(|p| p.holds && !p.generator && p.load >= least)
}

/// Whether chance can decide what a probe at that load shows.
fn is_close(settings: &Settings, line: &Line, load: f64) -> bool {
    let reach = 3.0 * line.spread().clamp(settings.width, 2.0 * settings.width);
    (load.ln() - line.limit).abs() <= reach
}

/// Each load that was tried, with its class, ascending.
pub(crate) fn classes(settings: &Settings, probes: &[Probe]) -> Vec<(f64, Class)> {
    let mut loads: Vec<f64> = probes.iter().map(|probe| probe.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let line = locate::line(settings, probes);
    let class = |load: f64| {
        let here: Vec<&Probe> = probes.iter().filter(|probe| probe.load == load).collect();
        let clear: Vec<&Probe> = here.iter().copied().filter(|probe| !probe.generator).collect();
        if clear.is_empty() {
            // Something has to be where the search begins.
            let begins = load <= settings.least && here.iter().all(|probe| probe.holds);
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
        // Measured twice it is decided: the whole held, each time that was not doubtful.
        if class == Class::Undecided && here.len() > 1 { Class::Lower } else { class }
    };
    let mut classes: Vec<(f64, Class)> =
        loads.into_iter().map(|load| (load, class(load))).collect();
    if let Some(line) = line.filter(|line| is_noisy(settings, probes, line)) {
        near_is_better(settings, probes, &line, &mut classes);
    }
    classes
}

/// A load that held and is close to the limit is a lower bound, too, if there is none but far below.
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
    // What chance may have let hold is no better than what was confirmed.
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

/// The largest lower bound below the smallest load that failed; and that one, or a doubtful one between them.
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

/// The answer that the probes so far give, for a search that is ended.
pub fn so_far(settings: &Settings, probes: &[Probe]) -> Answer {
    let classes = classes(settings, probes);
    let (lower, upper) = bounds(&classes);
    answer(settings, probes, &classes, lower, upper)
}

/// The next probe, or the answer.
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
        // The lightest load failed; or it was not clear, or doubtful, and is tried again.
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
        // Nothing was measured beyond doubt: the lightest load again, and if that does not help, no more.
        return if times(low) < 2 { probe(low, Purpose::Light) } else { done(lower) };
    }
    let is_narrow = is_narrow(settings, low, high);
    if left > 0 && is_narrow && is_doubtful(high) {
        // What disturbed the generator may have passed.
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
    narrow(settings, probes, &classes, (low, high))
        .map_or_else(|| done(lower), |(load, purpose)| probe(load, purpose))
}

/// The next probe between two bounds; `None` if they are narrow and the lower one is confirmed, or no probe is left.
fn narrow(
    settings: &Settings,
    probes: &[Probe],
    classes: &[(f64, Class)],
    (low, high): (f64, f64),
) -> Option<(f64, Purpose)> {
    let left = settings.probes.saturating_sub(probes.len());
    let is_narrow = is_narrow(settings, low, high);
    let is_confirmed = probes.iter().any(|p| p.load == low && p.purpose == Purpose::Confirm);
    if is_confirmed && is_narrow || left == 0 {
        return None;
    }
    let is_light = low <= settings.least;
    // The last two probes are kept for confirming where the bounds are nearly narrow.
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
    // A confirming run that failed: one width lower, as the confirming run of that load.
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

/// The next probe where probes err by chance: around the limit that they show together, at last just below it; `None` if
/// it is known well enough, and a load near it is confirmed.
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
    // On the other side of the last one.
    let is_above = probes.last().is_some_and(|p| p.load > limit);
    let load = if is_above { limit * (1.0 - step) } else { limit * (1.0 + step) };
    Some((round(load), Purpose::Narrow))
}

pub(crate) fn is_narrow(settings: &Settings, low: f64, high: f64) -> bool {
    // Of whole numbers the next one counts as within the width.
    let width = settings.width * high + 1e-9;
    high - low <= if settings.whole { width.ceil() } else { width }
}

/// A load strictly between the bounds; whole where loads are; `None` where there is none.
fn settled(settings: &Settings, load: f64, low: f64, high: f64) -> Option<f64> {
    if settings.whole {
        return (high - low >= 2.0).then(|| load.round().clamp(low + 1.0, high - 1.0));
    }
    let apart = ((high - low) * 0.05).min(settings.width * 0.25 * low);
    // Four digits: a rate that can be typed again.
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
    let doubtful = lower.is_some_and(|low| begins_in_doubt(settings, probes, low));
    let irregular = upper.is_some_and(|upper| {
        classes.iter().any(|(load, class)| *load > upper && *class == Class::Lower)
    });
    // A load that failed, be it by chance, is none that is known to hold.
    let failed = probes.iter().filter(|probe| !probe.holds && !probe.generator);
    let failed = failed.map(|probe| probe.load).filter(|load| lower.is_none_or(|low| *load > low));
    let upper = failed.chain(upper).min_by(f64::total_cmp);
    let limit = match upper {
        None => Limit::Most,
        Some(load) if is_doubtful(load) => Limit::Generator,
        Some(_) => Limit::Criteria,
    };
    // Where all that was measured is doubtful, nothing is known.
    let lower = lower.filter(|_| !(doubtful && limit == Limit::Generator));
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
        together: locate::line(settings, probes)
            .filter(|line| limit == Limit::Criteria && is_noisy(settings, probes, line))
            .map(|line| line.together()),
    }
}

/// Whether that load is the lightest, and all its probes have findings on the generator.
fn begins_in_doubt(settings: &Settings, probes: &[Probe], load: f64) -> bool {
    let mut here = probes.iter().filter(|probe| probe.load == load);
    load <= settings.least && here.all(|probe| probe.generator)
}
