//! Detects a slow period under constant load: at the beginning, or in the middle of the run.
//!
//! At the beginning, empty caches, connections being opened and code that is not compiled yet make a target slow.
//! Later, an emptied cache or a job makes it slow for a while, once or periodically.

use std::ops::Range;

use record::{Record, Second};

use super::courses::{
    Course, Courses, Of, PHASE_SAMPLES, SAMPLES, SLOWER, SMOOTH, STRAY, is_longer, knows_load,
    paused,
};
use super::errors::per_second;
use super::figures::{is_of_load, length_s, mean, median, requests, seconds_in, span, steady};
use super::rhythm::rhythm;
use super::run::Run;
use super::same_work;
use super::say::{clock, found, lacks, same_load, time, words};
use super::storm::storm;
use crate::verdict::{About, Confidence, Finding, Said, Words};

const ID: &str = "slow_phase";

/// Smallest number of seconds under the same load, for a finding.
const SECONDS: usize = 12;
/// Smallest length of a slow period in seconds.
const LEAST_S: f64 = 3.0;
/// Smallest length of a slow period as a share of the run.
const LEAST: f64 = 0.03;
/// Largest share of the run in slow periods, for a finding.
const MOST: f64 = 0.7;
/// Smallest number of seconds with the usual speed after a slow period, and before it, for a finding.
const AROUND_S: f64 = 4.0;
/// Largest ratio of two times that count as equal: of the mean times before and after a slow period, and of the median
/// times of the two halves of the time after it.
const ALIKE: f64 = 1.25;
/// Smallest ratio of mean times, from the first third of a slow period to its last third, at which responses become
/// faster gradually. From each third to the next, the ratio must be at least the square root of it.
const FASTER: f64 = 1.5;
/// Returns the slow periods as ranges of second indexes: one or two periods if all other seconds are similar, otherwise
/// none.
fn slower(seconds: &[Second], values: &[f64], clear: f64) -> Vec<Range<usize>> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    // If just over a quarter of the run is fast, the 20th percentile still lies in the fast seconds.
    let Some(usual) = sorted.get(sorted.len() / 5) else { return Vec::new() };
    let limit = usual + SLOWER.ln();
    let all = length_s(seconds);
    let (mut found, mut from) = (Vec::new(), 0);
    for run in values.chunk_by(|a, b| (*a >= limit) == (*b >= limit)) {
        let range = from..from + run.len();
        from = range.end;
        if run[0] >= limit && length_s(&seconds[range.clone()]) >= LEAST_S.max(LEAST * all) {
            found.push(range);
        }
    }
    let is_in = |at: &usize| found.iter().any(|range| range.contains(at));
    let (inside, others): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(is_in);
    let of = |places: &[usize]| places.iter().map(|at| values[*at]).collect::<Vec<_>>();
    let (inside, others) = (of(&inside), of(&others));
    let stray = others.iter().filter(|value| **value >= limit).count();
    let middle = median(&others);
    // The median absolute deviation is robust: a slow period fades out at its end.
    let off: Vec<f64> = others.iter().map(|value| (value - middle).abs()).collect();
    let is_clear = mean(&inside) - middle >= SLOWER.ln().max(clear * 1.48 * median(&off));
    let is_part = inside.len() as f64 <= MOST * values.len() as f64;
    let is_sound = is_part && is_clear && stray as f64 <= STRAY * others.len() as f64;
    if is_sound && (1..=2).contains(&found.len()) { found } else { Vec::new() }
}

pub(super) fn slow_phase(run: &Run<'_>) -> Said {
    if !knows_load(run) {
        return lacks!(number_of_users);
    }
    let all = steady(run);
    if seconds_in(all) < SECONDS || requests(all) < SAMPLES {
        return lacks!(twelve_seconds_of_same_load);
    }
    run.courses()
        .and_then(|courses| {
            let phase = courses.each.iter().find_map(|course| phase(courses, course));
            phase.or_else(|| courses.each.iter().find_map(|course| rhythm(courses, course)))
        })
        .or_else(|| storm(ID, run.record()))
        .map_or(Said::Nothing, Finding::said)
}

fn phase(courses: &Courses<'_>, course: &Course) -> Option<Finding> {
    let (record, seconds, of) = (courses.record, courses.seconds, course.of);
    let values = course.smooth();
    let phases = slower(seconds, &values, of.clear());
    let first = phases.first()?.clone();
    let second = phases.get(1).cloned();
    let end = second.as_ref().map_or(seconds.len(), |range| range.start);
    let last = second.as_ref().unwrap_or(&first).end;
    let behind = &values[first.end..end];
    // The slow period has not ended while response times still fall.
    let (early, late) = behind.split_at(behind.len() / 2);
    if median(early) - median(late) > ALIKE.ln() || length_s(&seconds[last..]) < AROUND_S {
        return None;
    }
    let parts = Parts {
        before: &seconds[..first.start],
        during: &seconds[first.clone()],
        behind: &seconds[first.end..end],
        again: second.map_or(&[], |range| &seconds[range]),
        of: courses.named(of, &seconds[first.clone()], &seconds[first.end..end])?,
    };
    let asked = [parts.during, parts.behind].map(span);
    if is_of_load(parts.behind, parts.during)
        || same_work::asks_for_other_work(record, parts.of.label().map(|label| label as u32), asked)
        || of.count(parts.during) < PHASE_SAMPLES
        || [parts.during, parts.again].map(paused) != [false; 2]
    {
        return None;
    }
    let others = [parts.inner(parts.during, SMOOTH), parts.behind];
    if let Some(sizes) = same_work::other_sizes(parts.of, others) {
        let times = others.map(|seconds| parts.of.mean(seconds));
        return Some(same_work::other_answers(ID, record, parts.of.label(), others, sizes, times));
    }
    let begin = record.seconds.iter().find(|second| second.all.count > 0)?;
    if span(parts.during).0 - (begin.at_ms - i64::from(begin.ms)) <= 2000 {
        parts.at_first(record)
    } else {
        parts.in_the_middle(record)
    }
}

/// A slow period, with the parts of the run before and after it.
struct Parts<'s> {
    before: &'s [Second],
    during: &'s [Second],
    behind: &'s [Second],
    /// A second slow period, if there is one.
    again: &'s [Second],
    /// Requests whose times the sentence names.
    of: Of,
}

impl Parts<'_> {
    /// Returns the request rate of the named requests as text.
    fn rate(&self, seconds: &[Second]) -> String {
        per_second(self.of.count(seconds) as f64 / length_s(seconds).max(1e-3))
    }

    /// Returns a slow period without its last seconds and without `from` first seconds. Averages over neighbouring
    /// seconds decide where a period begins and ends, so the seconds at its edges also contain many fast requests.
    fn inner<'s>(&self, period: &'s [Second], from: usize) -> &'s [Second] {
        let inner = period.get(from..period.len().saturating_sub(SMOOTH)).unwrap_or_default();
        if self.of.count(inner) > 0 { inner } else { period }
    }

    /// Returns a phrase about response times that become shorter within the slow period.
    fn fading(&self) -> Words {
        let third = self.during.len() / 3;
        let (first, rest) = self.during.split_at(third);
        let (middle, last) = rest.split_at(rest.len() - third);
        let falls =
            |from: &[Second], to: &[Second]| self.of.mean(from) >= FASTER.sqrt() * self.of.mean(to);
        // The last second of the period may be half fast.
        let fades = third > 0 && falls(first, middle) && falls(middle, last);
        if fades { words!(got_faster) } else { Words::default() }
    }

    /// Returns a phrase about a second slow period.
    fn again(&self, record: &Record) -> Words {
        if self.again.is_empty() {
            return Words::default();
        }
        let slow = time(self.of.mean(self.inner(self.again, SMOOTH)));
        let n = length_s(self.again).round();
        let at = clock(span(self.again).0 - record.frame.start_ms);
        words!(slow_phase_again(n, at, slow))
    }

    fn at_first(&self, record: &Record) -> Option<Finding> {
        // A period that begins with the run has no edge there.
        let inner = self.inner(self.during, 0);
        let (slow, fast) = (self.of.mean(inner), self.of.mean(self.behind));
        let is_sound = length_s(self.before) <= 1.5 && is_longer(self.of.mean(self.during), fast);
        let again = self.again(record);
        let (of, fading) = (self.of.name(record), self.fading());
        let n = length_s(self.during).round();
        let (a, b) = (time(slow), time(fast));
        let (r, q) = (self.rate(inner), self.rate(self.behind));
        let said = words!(slow_phase_at_first(of, a, n, r, b, q, fading, again));
        let advice = words!(slow_phase_at_first_advice);
        is_sound.then(|| self.finding(inner, fast, said, advice))
    }

    fn in_the_middle(&self, record: &Record) -> Option<Finding> {
        let inner = self.inner(self.during, SMOOTH);
        let [before, slow, behind] =
            [self.before, inner, self.behind].map(|part| self.of.mean(part));
        let alike = before.max(behind) <= ALIKE * before.min(behind).max(1e-3)
            && length_s(self.before) >= AROUND_S;
        let again = self.again(record);
        let is_sound = alike && is_longer(self.of.mean(self.during), before.max(behind));
        let (of, fading) = (self.of.name(record), self.fading());
        let (n, at) =
            (length_s(self.during).round(), clock(span(self.during).0 - record.frame.start_ms));
        let (a, b) = (time(slow), time(before));
        let (r, q) = (self.rate(inner), self.rate(self.before));
        let said = words!(slow_phase_found(of, n, at, a, b, r, q, fading, again));
        let advice = words!(slow_phase_advice);
        is_sound.then(|| self.finding(inner, before, said, advice))
    }

    /// Builds the finding. `inner`: the slow period without its edges; `usual`: usual mean time in ms.
    fn finding(&self, inner: &[Second], usual: f64, said: Words, advice: Words) -> Finding {
        let at = span(self.during);
        found(ID, About::Target, Confidence::Statistical, said)
            .with("slower", self.of.mean(inner), "ms", span(inner))
            .with("usual", usual, "ms", span(self.behind))
            .with("length", length_s(self.during), "s", at)
            .rules_out(same_load())
            .advise(advice)
            .explaining(&["bimodal", "warmup_unfinished", "drift", "step_change"])
    }
}
