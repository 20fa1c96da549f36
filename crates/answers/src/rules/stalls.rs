//! Detects moments in which the target answers no request: garbage collections, flushes, failovers.

use std::collections::BTreeMap;
use std::ops::Range;

use record::second::SLOTS;
use record::{Record, Second};
use stats::Outcome;
use stats::grouped::count;
use stats::hist::{Bins, layout};

use super::chance::{SURE, at_most, by_chance};
use super::down::downs;
use super::figures::{mean, median, ms, requests, span, sum, times_of, variation, whole};
use super::say::{clock, found, lacks, time, words};
use super::silence::silence;
use crate::verdict::{About, Confidence, Said, Words};

/// Largest number of completions in a slot of 100 ms that counts as quiet, as a share of the usual number.
const QUIET: f64 = 0.2;
/// Smallest number of missing completions for a gap, so that it is not chance.
const MISSING: f64 = 12.0;
/// Largest number of consecutive quiet slots in a gap: gaps take 100 ms to 5 s.
const LONGEST: usize = 50;
/// Number of slots after a gap in which the completions resume.
const BURST: usize = 3;
/// Smallest share of the usual completions in the slots after a gap: users in step leave some slots empty.
const AGAIN: f64 = 0.6;
/// Number of slots after a gap in which the waiting requests complete.
const AT_ONCE: usize = 2;
/// Smallest share of the waiting requests that must complete in the first slots after a gap. Each user that gets a
/// response then sends the next request.
const WAITED: f64 = 0.8;
/// Smallest length of the silence before the last responses before a gap, as a share of the gap, for a gap that only
/// repeats it: users in step wait for one slow response after the other.
const REPEATED: f64 = 0.6;
/// Largest number of responses for each user between such a silence and the gap: one, and some that came late.
const ONE_ROUND: f64 = 1.2;
/// Smallest number of responses in the seconds after a gap that took longer than usual, for requests to count as having
/// waited during the gap.
const HELD: u64 = 3;
/// Smallest excess of a response's time over the median, as a share of the gap's length, for a response that waited
/// during the gap.
const HELD_PART: f64 = 0.5;
/// Smallest number of seconds without gaps from which the usual number of slow requests is known.
const OTHERS: usize = 5;
/// Smallest number of requests in the seconds without gaps from which the usual number of slow requests is known.
const OTHER_REQUESTS: u64 = 100;
/// Share of the users' time in waiting for responses from which gaps count even without seconds for comparison.
/// Below this share, users may leave gaps by pausing in step.
const IN_WAITS: f64 = 0.9;
/// Smallest ratio of the length of a gap to the longest gap in which no request waited, for the gap to count where gaps
/// without waiting requests are common.
const LONGER: usize = 2;
/// Smallest number of gaps for a finding.
const GAPS: usize = 5;
/// Smallest number of gaps at even intervals for a finding.
const EVEN_GAPS: usize = 4;
/// Length in slots from which a single gap is enough for a finding.
const LONG: usize = 8;
/// Largest variation of the intervals between gaps with which they count as equal.
const EVEN: f64 = 0.15;
/// Length in ns from which a pause of the generator explains a gap.
const OWN: u64 = 50_000_000;
/// Processor use of the generator's machine, as a share, from which its saturated processors also explain a gap:
/// requests may have waited for a processor.
const FULL: f64 = 0.95;
/// Length in slots from which saturated processors do not explain a gap: a scheduler lets no thread wait for so long.
const FULL_SLOTS: usize = 4;
/// Smallest number of samples for findings about short gaps.
const SAMPLES: u64 = 1000;
/// Smallest number of samples for findings about long gaps.
const FEW_SAMPLES: u64 = 200;

struct Gap {
    at_ms: i64,
    slots: usize,
}

/// Removes gaps during outages: a target that is gone sends no responses either, and no burst of responses afterwards.
fn leave_out_down(record: &Record, gaps: &mut Vec<Gap>) {
    for down in downs(record) {
        let begin = &record.seconds[down.first];
        // The first failed request had waited for its whole time limit.
        let waited_ms = i64::from(begin.ms) + (begin.all.longest / 1_000_000) as i64;
        let away = begin.at_ms - waited_ms - 1000..=record.seconds[down.last].at_ms;
        gaps.retain(|gap| !away.contains(&gap.at_ms));
    }
}

pub(super) fn stalls(record: &Record) -> Said {
    if !record.has.slots {
        return lacks!(run: completions_of_100_ms);
    }
    let seconds = whole(record);
    let several = stops(record, seconds, is_full);
    // Repeated stops are reported together.
    match silence(record).filter(|_| several.len() < EVEN_GAPS) {
        Some(finding) => finding.said(),
        None if !several.is_empty() => stood_still(record, seconds, &several),
        None if stops(record, seconds, |_| false).is_empty() => Said::Nothing,
        None => lacks!(generator_with_free_processors),
    }
}

/// True if the processors of the generator's machine were full.
fn is_full(second: &Second) -> bool {
    second.machine.as_ref().is_some_and(|machine| machine.cpu >= FULL)
}

/// Returns the gaps in completions that count as stops of the target. `is_full` returns true for a second in which
/// saturated processors of the generator's machine explain short gaps.
fn stops(record: &Record, seconds: &[Second], is_full: fn(&Second) -> bool) -> Vec<Gap> {
    if requests(seconds) < FEW_SAMPLES {
        return Vec::new();
    }
    let mut gaps = gaps(record, seconds, is_full);
    leave_out_down(record, &mut gaps);
    let least = if variation(&apart(&gaps)) <= EVEN { EVEN_GAPS } else { GAPS };
    if gaps.len() < least || requests(seconds) < SAMPLES {
        gaps.retain(|gap| gap.slots >= LONG);
    }
    gaps
}

fn stood_still(record: &Record, seconds: &[Second], gaps: &[Gap]) -> Said {
    let apart = apart(gaps);
    let lengths: Vec<f64> = gaps.iter().map(|gap| gap.slots as f64 * 100.0).collect();
    let length = time(median(&lengths));
    let times = match gaps.len() {
        1 => Words::default(),
        n => words!(stall_times(n = count(n as u64))),
    };
    let first = clock(gaps[0].at_ms - record.frame.start_ms);
    let every = median(&apart);
    let rhythm = if apart.len() >= 2 && variation(&apart) <= EVEN {
        words!(stall_every(every = time(every)))
    } else if apart.is_empty() {
        words!(stall_at(first))
    } else {
        words!(first_stall_at(first))
    };
    let when = words!(stall_when(times, length, rhythm));
    let (about, said) = sentence(record, &when);
    let mut finding = found("stalls", about, Confidence::Statistical, said)
        .with("stalls", gaps.len() as f64, "times", span(seconds))
        .with("length", median(&lengths), "ms", span(seconds))
        .advise(words!(stalls_advice))
        .explaining(&["bimodal", "step_change"]);
    if apart.len() >= 2 {
        finding = finding.with("every", every, "ms", span(seconds));
    }
    if record.has.generator {
        finding = finding.rules_out(words!(generator_did_not_stall));
    }
    finding.said()
}

/// Returns the sentence about stops and the part of the test that it concerns. A result file does not show whether
/// the machine that sent the requests paused.
fn sentence(record: &Record, when: &Words) -> (About, Words) {
    if record.has.generator {
        let said = words!(stalls_of_target(when));
        return (About::Target, said);
    }
    let said = words!(stalls_of_target_or_generator(when));
    (About::Run, said)
}

/// Returns the times from one gap in completions to the next, in ms.
fn apart(gaps: &[Gap]) -> Vec<f64> {
    gaps.windows(2).map(|pair| (pair[1].at_ms - pair[0].at_ms) as f64).collect()
}

/// Returns the median response time of each label in ms. Transactions are left out, as they include the times of their
/// requests.
fn typical(record: &Record, seconds: &[Second]) -> BTreeMap<u32, f64> {
    let is_request =
        |label: &u32| record.labels.get(*label as usize).is_none_or(|label| !label.transaction);
    let times = times_of(seconds, is_request);
    times.into_iter().map(|(label, times)| (label, ms(&times, 0.5))).collect()
}

/// True if a request with the given outcome got no response.
fn has_no_answer(outcome: Outcome) -> bool {
    use Outcome::{Closed, Refused, Reset, Timeout, Unreachable};
    matches!(outcome, Timeout(_) | Reset | Closed | Refused | Unreachable)
}

/// Returns the number of responses in a second that took `longer` ms longer than usual for their label. Requests that
/// were given up got no response.
fn held(record: &Record, second: &Second, typical: &BTreeMap<u32, f64>, longer: f64) -> u64 {
    let mut sum = 0;
    let is_lost = |(cause, _): &(u32, u64)| {
        record.causes.get(*cause as usize).is_some_and(|cause| has_no_answer(cause.outcome))
    };
    let has_lost = second.causes.iter().any(is_lost);
    for (label, part) in &second.labels {
        let Some(usual) = typical.get(&label) else { continue };
        let long = usual + longer;
        let is_held = |bin: u32| layout::middle_of(bin) as f64 / 1000.0 >= long;
        let count = |bins: &Bins| -> u64 {
            bins.iter().filter(|(bin, _)| is_held(*bin)).map(|(_, n)| n).sum()
        };
        let lost = if has_lost { count(&part.failed) } else { 0 };
        sum += count(&part.service).saturating_sub(lost);
    }
    sum
}

/// Requests that waited during gaps, compared with requests that take as long although there is no gap.
struct Held<'r> {
    record: &'r Record,
    seconds: &'r [Second],
    /// Median response times of the labels in ms.
    typical: BTreeMap<u32, f64>,
    /// Number of gaps that are examined.
    gaps: usize,
    /// True if users hardly pause, so that no pause of all users leaves a gap.
    users_wait: bool,
    /// Seconds for comparison: all except the seconds of gaps in which requests may have waited, and except the seconds
    /// after such gaps in which these requests end.
    others: Vec<&'r Second>,
    /// Probability that a request outside of gaps takes as long as one that waited, by the length of the gap in slots;
    /// `None` if there are too few requests.
    usual: BTreeMap<usize, Option<f64>>,
}

impl<'r> Held<'r> {
    fn new(record: &'r Record, seconds: &'r [Second], gaps: &[Range<usize>]) -> Self {
        let users_ms = sum(seconds, |s| s.users * u64::from(s.ms)) as f64;
        let waits_ms = sum(seconds, |s| s.all.elapsed) as f64 / 1e6;
        let users_wait =
            record.frame.load.open || record.has.users && waits_ms >= IN_WAITS * users_ms;
        let (typical, others, usual) = (typical(record, seconds), Vec::new(), BTreeMap::new());
        let mut held =
            Self { record, seconds, typical, gaps: gaps.len(), users_wait, others, usual };
        let mut is_other = vec![true; seconds.len()];
        for gap in gaps {
            let behind = behind(gap, seconds.len());
            if held.count(&seconds[behind.clone()], gap.len()) >= HELD {
                is_other[gap.start / SLOTS..behind.end].fill(false);
            }
        }
        let others = seconds.iter().zip(is_other).filter(|(_, is_other)| *is_other);
        held.others = others.map(|(second, _)| second).collect();
        held
    }

    /// Returns the number of responses in the given seconds that took longer than usual by at least half of the length
    /// of a gap of `slots` slots, and by at least 50 ms.
    fn count<'s>(&self, seconds: impl IntoIterator<Item = &'s Second>, slots: usize) -> u64 {
        // Requests in flight took as long as the gap; a pause of all users does not change times.
        let longer = (HELD_PART * slots as f64 * 100.0).max(50.0);
        seconds.into_iter().map(|second| held(self.record, second, &self.typical, longer)).sum()
    }

    /// True if more requests waited during a gap than take as long by chance.
    fn waited(&mut self, gap: &Range<usize>) -> bool {
        let behind = &self.seconds[behind(gap, self.seconds.len())];
        let (n, all) = (self.count(behind, gap.len()), requests(behind));
        if n < HELD {
            return false;
        }
        if self.users_wait {
            return true;
        }
        let usual = self.usual.get(&gap.len()).copied().unwrap_or_else(|| {
            let others: u64 = self.others.iter().map(|second| second.all.count).sum();
            let long = self.count(self.others.iter().copied(), gap.len());
            let is_enough = self.others.len() >= OTHERS && others >= OTHER_REQUESTS;
            is_enough.then(|| (long + 1) as f64 / (others + 1) as f64)
        });
        self.usual.insert(gap.len(), usual);
        let is_sure = |usual| 1.0 - at_most(n - 1, all.max(n), usual) <= SURE / self.gaps as f64;
        usual.is_some_and(is_sure)
    }
}

/// True if a gap only repeats the silence before it: users who send in step get all responses of a round together, so
/// that each round leaves a gap in a time in which the target is slow. Between two stops of the target, users get more
/// than one response each. `quiet`: largest number of responses in a silent slot.
fn repeats_round(slots: &[f64], gap: &Range<usize>, quiet: f64, users: f64) -> bool {
    let is_quiet = |slot: &usize| slots[*slot] <= quiet;
    let round = (0..gap.start).rev().take_while(|slot| !is_quiet(slot)).count();
    let answered: f64 = slots[gap.start - round..gap.start].iter().sum();
    let silent = (0..gap.start - round).rev().take_while(is_quiet).count();
    round > 0 && answered <= ONE_ROUND * users && silent as f64 >= REPEATED * gap.len() as f64
}

/// Returns the indexes of the seconds in which requests end that waited during the gap. The gap is a range of slots;
/// `seconds` is the number of all seconds.
fn behind(gap: &Range<usize>, seconds: usize) -> Range<usize> {
    gap.end / SLOTS..((gap.end + BURST - 1) / SLOTS + 1).min(seconds)
}

fn gaps(record: &Record, seconds: &[Second], is_full: fn(&Second) -> bool) -> Vec<Gap> {
    let ended: Vec<u32> = seconds.iter().flat_map(|s| s.all.slots).collect();
    let slots: Vec<f64> = ended.iter().copied().map(f64::from).collect();
    let second = |slot: usize| &seconds[slot / SLOTS];
    // In the first second users still start.
    let (mut gaps, mut at) = (Vec::new(), SLOTS.min(slots.len()));
    while at < slots.len() {
        // The usual rate over ten seconds around the slot.
        let (from, to) = (at.saturating_sub(50), (at + 50).min(slots.len()));
        let usual = mean(&slots[from..to]).max(median(&slots[from..to]));
        let quiet = |slot: &usize| slots[*slot] <= QUIET * usual;
        let end = (at..slots.len()).find(|slot| !quiet(slot)).unwrap_or(slots.len());
        let length = end - at;
        if length == 0 || end == slots.len() || at == 0 {
            at = end.max(at) + 1;
            continue;
        }
        let lost = usual * length as f64 - slots[at..end].iter().sum::<f64>();
        let own = seconds[at / SLOTS..=end / SLOTS]
            .iter()
            .any(|s| s.generator.stall >= OWN || length < FULL_SLOTS && is_full(s));
        // After a stop, all waiting requests complete in a burst. Users that each wait for a slow response do not.
        let burst = &slots[end..(end + BURST).min(slots.len())];
        // As many requests wait as would start during the gap, but in a closed load at most one per user.
        let is_closed = record.has.users && !record.frame.load.open;
        let users = if is_closed { second(end).users as f64 } else { 0.0 };
        let waiting = lost.min(users);
        let is_round = repeats_round(&slots, &(at..end), QUIET * usual, users);
        let answered = |slots: &[f64]| slots.iter().sum::<f64>();
        let at_once = answered(burst) >= AGAIN * usual * burst.len() as f64
            && answered(&burst[..burst.len().min(AT_ONCE)]) >= WAITED * waiting;
        if lost >= MISSING && length <= LONGEST && at_once && !is_round && !own {
            gaps.push(at..end);
        }
        at = end + 1;
    }
    if gaps.is_empty() {
        return Vec::new();
    }
    let mut held = Held::new(record, seconds, &gaps);
    // Gaps in which no request waited. Users that act simultaneously leave such gaps.
    let (waited, idle): (Vec<_>, Vec<_>) = gaps.into_iter().partition(|gap| held.waited(gap));
    let is_sure = |gap: &Range<usize>| by_chance(record, seconds, gap, &ended) <= SURE;
    let begin_ms =
        |slot: usize| second(slot).at_ms - i64::from(second(slot).ms) + (slot % SLOTS) as i64 * 100;
    let sure = waited.into_iter().filter(is_sure);
    let mut found: Vec<Gap> =
        sure.map(|gap| Gap { at_ms: begin_ms(gap.start), slots: gap.len() }).collect();
    // If gaps without waiting requests are common, a gap next to some long responses is no evidence.
    if idle.len() > found.len() {
        let longest = idle.iter().map(Range::len).max().unwrap_or(0);
        found.retain(|gap| gap.slots > LONGER * longest);
    }
    found
}
