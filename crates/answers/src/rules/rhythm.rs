//! Detects slow periods at equal intervals: a job, a cache that expires, a flush.

use std::ops::Range;

use record::{Record, Second};

use super::courses::{Course, Courses, Of, PHASE_SAMPLES, SLOWER, is_longer, paused};
use super::figures::{is_of_load, mean, median, mix_differs, ms, span, variation};
use super::say::{clock, found, same_load, time, words};
use crate::verdict::{About, Confidence, Finding};

/// Smallest number of slow periods with a known start, for a finding.
const TIMES: usize = 3;
/// Largest coefficient of variation of the intervals between the starts of slow periods that count as equal.
const EVEN: f64 = 0.15;
/// Largest difference in seconds between the longest and the shortest slow period if their lengths count as equal.
const ALIKE: usize = 1;
/// Largest share of the run in slow periods, for a finding.
const MOST: f64 = 0.4;
/// Quantile of the response times that must be longer in slow periods than in other seconds, by at least the square
/// root of `SLOWER` as a factor.
const MANY: f64 = 0.75;

/// Returns the slow periods as ranges of second indexes. Returns `None` if the slow seconds are too close to the other
/// seconds, or too many. `clear`: smallest distance from the median of the other seconds, as a multiple of their
/// variation.
fn slower(values: &[Option<f64>], clear: f64) -> Option<Vec<Range<usize>>> {
    let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let limit = sorted.get(sorted.len() / 5)? + SLOWER.ln();
    let is_slow = |value: &Option<f64>| value.is_some_and(|value| value >= limit);
    let (mut found, mut from) = (Vec::new(), 0);
    for run in values.chunk_by(|a, b| is_slow(a) == is_slow(b)) {
        if is_slow(&run[0]) {
            found.push(from..from + run.len());
        }
        from += run.len();
    }
    let (inside, others): (Vec<f64>, Vec<f64>) =
        values.iter().flatten().partition(|value| **value >= limit);
    let middle = median(&others);
    let off: Vec<f64> = others.iter().map(|value| (value - middle).abs()).collect();
    let is_clear = mean(&inside) - middle >= SLOWER.ln().max(clear * 1.48 * median(&off));
    let is_part = inside.len() as f64 <= MOST * values.len() as f64;
    (is_clear && is_part).then_some(found)
}

/// True if slow periods start at even intervals and have equal lengths, as far as the run shows it.
fn is_even(times: &[Range<usize>], end: usize) -> bool {
    let apart: Vec<f64> =
        times.windows(2).map(|pair| (pair[1].start - pair[0].start) as f64).collect();
    let whole = times.iter().filter(|time| time.end < end);
    let lengths: Vec<usize> = whole.map(ExactSizeIterator::len).collect();
    let (least, most) = (lengths.iter().min(), lengths.iter().max());
    let alike = least.zip(most).is_some_and(|(least, most)| most - least <= ALIKE);
    times.len() >= TIMES && alike && variation(&apart) <= EVEN
}

/// Returns the finding on slow periods at even intervals.
pub(super) fn rhythm(courses: &Courses<'_>, course: &Course) -> Option<Finding> {
    let (record, seconds, of) = (courses.record, courses.seconds, course.of);
    let all = slower(&course.values, of.clear())?;
    // If the run begins with a slow period, the start of that period is unknown: the period counts neither as slow nor
    // as usual.
    let times: Vec<Range<usize>> = all.iter().filter(|time| time.start > 0).cloned().collect();
    if !is_even(&times, seconds.len()) {
        return None;
    }
    let pick = |is_in: &dyn Fn(&usize) -> bool| -> Vec<Second> {
        (0..seconds.len()).filter(is_in).map(|at| seconds[at].clone()).collect()
    };
    let slow = pick(&|at| times.iter().any(|time| time.contains(at)));
    let usual = pick(&|at| !all.iter().any(|time| time.contains(at)));
    // The load of the plan itself may be periodic: more requests, or different ones.
    if is_of_load(&usual, &slow) || mix_differs(record, &usual, &slow) {
        return None;
    }
    let named = courses.named(of, &slow, &usual)?;
    // Seconds at the edges of a slow period also contain many fast requests.
    let inner = pick(&|at| times.iter().any(|time| (time.start + 1..time.end - 1).contains(at)));
    let inner = if named.count(&inner) > 0 { &inner } else { &slow };
    let (a, b) = (named.mean(inner), named.mean(&usual));
    // A few long responses may fall into seconds at even intervals by chance, so many responses must be slower.
    let [late, early] = [&slow, &usual].map(|seconds| ms(&of.times(seconds), MANY));
    let is_chance = late < SLOWER.sqrt() * early;
    if of.count(&slow) < PHASE_SAMPLES
        || is_own(&slow)
        || !is_longer(named.mean(&slow), b)
        || is_chance
    {
        return None;
    }
    Some(finding(record, seconds, &times, named, a, b))
}

/// True if the generator paused in most of the slow seconds.
fn is_own(slow: &[Second]) -> bool {
    2 * slow.iter().filter(|second| paused(std::slice::from_ref(second))).count() > slow.len()
}

fn finding(
    record: &Record,
    seconds: &[Second],
    times: &[Range<usize>],
    named: Of,
    a: f64,
    b: f64,
) -> Finding {
    let begin = |time: &Range<usize>| span(&seconds[time.clone()]).0;
    let apart =
        (begin(&times[times.len() - 1]) - begin(&times[0])) as f64 / (times.len() - 1) as f64;
    let of = named.name(record);
    let (n, every, slow, usual) = (times.len(), (apart / 1000.0).round(), time(a), time(b));
    let first = clock(begin(&times[0]) - record.frame.start_ms);
    found(
        "slow_phase",
        About::Target,
        Confidence::Statistical,
        words!(rhythm_found(of, n, every, slow, usual, first)),
    )
    .with("slower", a, "ms", span(seconds))
    .with("usual", b, "ms", span(seconds))
    .with("every", apart, "ms", span(seconds))
    .rules_out(same_load())
    .advise(words!(rhythm_advice(every)))
    .explaining(&["bimodal", "warmup_unfinished", "drift", "step_change"])
}
