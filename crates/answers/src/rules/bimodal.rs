//! Detects two kinds of responses under one label: a histogram with two peaks, and the property that distinguishes
//! them.

use std::collections::BTreeMap;

use record::{Kept, Record, Second};
use stats::grouped::percent;
use stats::hist::{Hist, layout};

use super::figures::{mix, span, steady, without};
use super::say::{found, lacks, size, time, words};
use super::{realism, run::Run};
use crate::verdict::{About, Confidence, Said, Words};

/// Number of bins of the smoothed histogram for each doubling of the time.
const PER_OCTAVE: f64 = 6.0;
/// Smallest share of the samples that each of two modes must have.
const MASS: f64 = 0.05;
/// Largest height of the valley between two modes, relative to the lower peak, at which the modes count as separate.
const VALLEY: f64 = 0.5;
/// Smallest ratio of the times of two modes at which the modes count as separate.
const APART: f64 = 2.0;
/// Smallest number of samples of a label, for a finding about the label.
const SAMPLES: u64 = 1000;
/// Smallest number of seconds under the same load, for a finding.
const SECONDS: usize = 30;
/// Shortest time in ms of the slower mode, for a finding. Below this time, schedulers and timers cause two modes.
const SLOW_LEAST: f64 = 1.0;
/// Smallest number of kept samples in which a property is searched that distinguishes the modes.
const KEPT: usize = 20;
/// Smallest share of the kept samples that a property must assign to the right mode.
const EXPLAINS: f64 = 0.9;

struct Modes {
    fast: f64,
    slow: f64,
    valley: f64,
    slow_share: f64,
}

pub(super) fn bimodal(run: &Run<'_>) -> Said {
    let (record, seconds) = (run.record(), steady(run));
    if seconds.len() < SECONDS {
        return lacks!(thirty_seconds_of_same_load);
    }
    // A cause that another rule reports is not reported again.
    if run.finds("backend_uneven") || run.finds("stalls") {
        return Said::Nothing;
    }
    for (at, whole) in good_times(record, seconds) {
        let (at, label) = (at as usize, &record.labels[at as usize]);
        // Several samplers with the same name may be of different kinds by design of the plan.
        if whole.total() < SAMPLES || realism::is_shared(record, &label.name) {
            continue;
        }
        let step_us = if record.has.phases { 0 } else { 1000 };
        let Some(modes) = modes(&whole, step_us) else { continue };
        let of = |seconds: &[Second]| {
            let (mut all, mut failed) = (Hist::new(), Hist::new());
            for part in seconds.iter().filter_map(|s| s.labels.get(at as u32)) {
                all.add(&part.service);
                failed.add(&part.failed);
            }
            without(&all, &failed)
        };
        // The second sign is that each third of the time shows both modes, so that they are not a step or a drift.
        let thirds: Vec<Option<Modes>> = seconds
            .chunks(seconds.len().div_ceil(3))
            .map(|third| self::modes(&of(third), step_us))
            .collect();
        let same = |other: &Option<Modes>| {
            other.as_ref().is_some_and(|other| {
                let near = |a: f64, b: f64| (a / b).ln().abs() < 0.35;
                near(other.fast, modes.fast)
                    && near(other.slow, modes.slow)
                    && other.slow_share > 0.5 * modes.slow_share
                    && other.slow_share < 2.0 * modes.slow_share
            })
        };
        if !thirds.iter().all(same) {
            continue;
        }
        let (fast, slow, share) = (time(modes.fast), time(modes.slow), percent(modes.slow_share));
        let name = &label.name;
        let by = distinguished(record, at, &modes).unwrap_or_default();
        return found(
            "bimodal",
            About::Target,
            Confidence::Statistical,
            words!(bimodal_found(name, fast, slow, share, by)),
        )
        .with("fast", modes.fast, "ms", span(seconds))
        .with("slow", modes.slow, "ms", span(seconds))
        .with("slow_share", modes.slow_share, "share", span(seconds))
        .advise(words!(bimodal_advice))
        .said();
    }
    Said::Nothing
}

/// Returns the times of successful responses by label, for labels that may have enough of them.
fn good_times(record: &Record, seconds: &[Second]) -> BTreeMap<u32, Hist> {
    let sums = mix(record, seconds);
    let mut times: BTreeMap<u32, (Hist, Hist)> = BTreeMap::new();
    for (label, part) in seconds.iter().flat_map(|second| &second.labels) {
        if sums.get(&label).is_some_and(|count| *count >= SAMPLES) {
            let (all, failed) = times.entry(label).or_default();
            all.add(&part.service);
            failed.add(&part.failed);
        }
    }
    times.into_iter().map(|(label, (all, failed))| (label, without(&all, &failed))).collect()
}

/// Number of equally spaced times over which the samples of one clock value are spread.
const PARTS: u64 = 64;
/// Smallest time, in clock steps, whose samples are not spread.
const STEPS: u64 = 16;

/// Returns the times in µs that a bin represents. A clock of whole milliseconds gives fast responses few values,
/// which are not modes. The true time lies between half a step below and one step above, because a clock rounds to
/// the nearest value or down.
fn times_of(us: u64, step_us: u64) -> Vec<u64> {
    if us >= STEPS * step_us {
        return vec![us];
    }
    let from = us.saturating_sub(step_us / 2);
    (0..PARTS).map(|part| from + 3 * step_us * (2 * part + 1) / (4 * PARTS)).collect()
}

/// Returns the two modes of a histogram, if it has two. `step_us`: resolution of the clock in µs, 0 if it is finer than
/// 1 µs.
fn modes(hist: &Hist, step_us: u64) -> Option<Modes> {
    let place = |us: u64| ((us as f64).max(1.0).log2() * PER_OCTAVE) as usize;
    let time_of = |place: f64| 2f64.powf((place + 0.5) / PER_OCTAVE) / 1000.0;
    let total = hist.total().max(1) as f64;
    let mut raw: Vec<f64> = Vec::new();
    for (bin, n) in hist.iter() {
        let times = times_of(layout::middle_of(bin), step_us);
        for at in times.iter().map(|us| place(*us)) {
            raw.resize(raw.len().max(at + 4), 0.0);
            raw[at] += n as f64 / times.len() as f64;
        }
    }
    let smooth: Vec<f64> = (0..raw.len())
        .map(|at| {
            let of = |at: Option<usize>| at.and_then(|at| raw.get(at)).copied().unwrap_or(0.0);
            0.5 * of(Some(at)) + 0.25 * (of(at.checked_sub(1)) + of(at.checked_add(1)))
        })
        .collect();
    let best = (0..smooth.len()).max_by(|a, b| smooth[*a].total_cmp(&smooth[*b]))?;
    let far = |at: usize| (at as f64 - best as f64).abs() >= APART.log2() * PER_OCTAVE;
    let mut found: Option<(f64, Modes)> = None;
    for other in (0..smooth.len()).filter(|at| far(*at)) {
        let (low, high) = (best.min(other), best.max(other));
        let valley = (low..=high).min_by(|a, b| smooth[*a].total_cmp(&smooth[*b]))?;
        let above: f64 = raw[valley + 1..].iter().sum::<f64>() / total;
        let deep = smooth[valley] <= VALLEY * smooth[other];
        let weighs = above >= MASS && 1.0 - above >= MASS;
        let slow = time_of(high as f64);
        // Among several candidates the highest peak is used, because small bumps between two modes are not modes.
        let higher = found.as_ref().is_none_or(|(height, _)| smooth[other] > *height);
        if deep && weighs && slow >= SLOW_LEAST && higher {
            let (fast, valley) = (time_of(low as f64), time_of(valley as f64));
            found = Some((smooth[other], Modes { fast, slow, valley, slow_share: above }));
        }
    }
    found.map(|(_, modes)| modes)
}

/// Returns a property of kept samples that distinguishes the two modes, as a phrase.
fn distinguished(record: &Record, label: usize, modes: &Modes) -> Option<Words> {
    let kept: Vec<&Kept> = record
        .kept
        .iter()
        .filter(|kept| kept.label as usize == label && kept.why == record::kept::Why::Random)
        .collect();
    let is_slow = |kept: &Kept| kept.elapsed as f64 / 1e6 > modes.valley;
    let slow = kept.iter().filter(|kept| is_slow(kept)).count();
    if kept.len() < KEPT || slow < 3 || kept.len() - slow < 3 {
        return None;
    }
    let split = |has: &dyn Fn(&Kept) -> bool| {
        let agree = kept.iter().filter(|kept| has(kept) == is_slow(kept)).count();
        agree as f64 >= EXPLAINS * kept.len() as f64
    };
    if split(&|kept| !kept.reused) {
        return Some(words!(slow_open_connection));
    }
    let first = kept.iter().find(|kept| is_slow(kept))?;
    if split(&|kept| kept.code == first.code) {
        let code = &first.code;
        return Some(words!(slow_have_code(code)));
    }
    if split(&|kept| kept.address == first.address) {
        let address = &first.address;
        return Some(words!(slow_come_from(address)));
    }
    let same_size = |kept: &Kept| kept.received.abs_diff(first.received) * 50 <= first.received;
    split(&same_size).then(|| {
        let size = size(first.received);
        words!(slow_have_size(size))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hist(of: &[(u64, u64)]) -> Hist {
        let mut hist = Hist::new();
        for (us, n) in of {
            hist.record(*us, *n);
        }
        hist
    }

    #[test]
    fn a_clock_of_milliseconds_makes_no_kinds() {
        for counts in
            [[900, 1600, 400, 80, 20], [200, 1800, 700, 200, 100], [50, 700, 1200, 800, 250]]
        {
            let of: Vec<(u64, u64)> = (0..).map(|ms| ms * 1000).zip(counts).collect();
            assert!(modes(&hist(&of), 1000).is_none(), "{counts:?}");
        }
        let fast = hist(&[(1000, 900), (2000, 1600), (3000, 500)]);
        assert!(modes(&fast, 0).is_some(), "a finer clock would have shown what is between");
        let both = hist(&[(1000, 1500), (2000, 500), (28_000, 300), (31_000, 900), (34_000, 300)]);
        let modes = modes(&both, 1000).expect("two kinds");
        assert!(
            modes.fast < 3.0 && (25.0..40.0).contains(&modes.slow),
            "{} {}",
            modes.fast,
            modes.slow
        );
    }
}
