//! Detects periods in which a target answers nothing and later continues: all requests wait, until it continues or
//! until the plan's time limit.
//!
//! Start and end are those of slots of 100 ms with a response, so the length is known to a tenth of a second.
//! Silence does not count if users pause, or if responses always take that long.

use record::second::SLOTS;
use record::{Record, Second};
use stats::grouped::count;
use stats::hist::layout;

use super::chance::{SURE, at_most, by_chance};
use super::down::is_down;
use super::figures::{requests, span, sum, times_of, whole};
use super::hang::{errors, is_limit};
use super::say::{clock, counted_things, found, time, words};
use crate::verdict::{About, Confidence, Finding, Words};

/// Smallest length of a silence in slots of 100 ms, for a finding.
const LEAST: usize = 20;
/// Smallest number of responses before a silence, for a finding.
const BEFORE: u64 = 10;
/// Smallest number of responses that are missing during a silence at the rate around it, for a finding.
const MISSING: f64 = 12.0;
/// Number of slots of 100 ms on each side of a silence from which the usual rate of responses is taken.
const AROUND: usize = 50;
/// Smallest number of requests that waited during a silence, whether answered later or given up, for a finding.
const WAITED: u64 = 3;
/// Smallest mean number of requests that waited at the same time during a silence, for a finding.
const AT_A_TIME: f64 = 2.5;
/// Smallest excess of a response time over the usual time for a request that waited, as a share of the usual time.
/// `LONGER_MS` is added.
const LONGER: f64 = 0.5;
/// Smallest excess of a response time over the usual time for a request that waited, in ms. `LONGER` of the usual time
/// is added.
const LONGER_MS: f64 = 100.0;
/// Excess of a response time over the usual time, as a share of the silence, from which requests after the silence are
/// compared with requests before it.
const HALF: f64 = 0.5;
/// Smallest number of requests before the silence that shows how often requests take longer than usual anyway.
const KNOWN: u64 = 100;
/// Largest share of the silence in which the generator was paused, and largest share of the lag in the requests' time
/// after the silence.
const OWN: f64 = 0.1;
/// Largest rate of reached time limits at other times at which silences count, as a share of the rate during the
/// silences.
const USUAL: f64 = 0.1;

/// A period without a response.
struct Silence {
    from_ms: i64,
    to_ms: i64,
    /// Number of requests that were answered after the silence.
    answered: u64,
    /// Number of requests that hit the plan's time limit.
    gave_up: u64,
    /// Indexes of the seconds of the silence.
    seconds: std::ops::RangeInclusive<usize>,
}

/// Returns the finding about periods without a response.
pub(super) fn silence(record: &Record) -> Option<Finding> {
    let seconds = whole(record);
    if !record.has.slots || seconds.iter().any(|second| second.coarse.is_some()) {
        return None;
    }
    let mut silences = silences(record, seconds);
    leave_out_usual(record, seconds, &mut silences);
    let longest = silences.iter().max_by_key(|silence| silence.to_ms - silence.from_ms)?;
    let shown = |at_ms: i64| clock(at_ms - record.frame.start_ms);
    let (from, to) = (shown(longest.from_ms), shown(longest.to_ms));
    let length = (longest.to_ms - longest.from_ms) as f64;
    // The silence may be up to one slot longer at each end.
    let for_s = time(length + 100.0);
    let times = match silences.len() {
        1 => Words::default(),
        n => words!(times_the_longest(n)),
    };
    let sum = |of: fn(&Silence) -> u64| silences.iter().map(of).sum::<u64>();
    let (answered, gave_up) = (sum(|s| s.answered), sum(|s| s.gave_up));
    let waited = waited(answered, gave_up);
    let or = or_the_generator(record);
    let at = (longest.from_ms, longest.to_ms);
    let mut finding = found(
        "stalls",
        About::Run,
        Confidence::Arithmetic,
        words!(silence_found(times, from, to, for_s, waited, or)),
    )
    .with("stalls", silences.len() as f64, "times", span(seconds))
    .with("length", length, "ms", at)
    .with("waited", (answered + gave_up) as f64, "requests", at)
    .advise(words!(silence_advice))
    .explaining(explains(record, gave_up));
    if record.has.generator {
        finding = finding.rules_out(words!(generator_did_not_stall));
    }
    Some(finding)
}

/// Returns the sentence that a pause of the generator's machine would look the same. Returns an empty sentence if the
/// record has metrics of the generator, which exclude a pause.
fn or_the_generator(record: &Record) -> Words {
    if record.has.generator {
        return Words::default();
    }
    words!(or_generator_stalled)
}

/// Returns the rules whose findings follow from the silence. Rules on errors belong to them if most errors are requests
/// that waited.
fn explains(record: &Record, gave_up: u64) -> &'static [&'static str] {
    const ALL: &[&str] = &["errors_named", "fixed_timeout", "bimodal", "step_change", "slow_phase"];
    let is_most = 2 * gave_up >= sum(&record.seconds, |second| second.all.errors);
    if is_most { ALL } else { &ALL[2..] }
}

/// Describes how the requests that waited ended.
fn waited(answered: u64, gave_up: u64) -> Words {
    let all = counted_things(answered + gave_up, "request");
    let (gave_up_words, were) = (count(gave_up), if answered == 1 { "was" } else { "were" });
    match (answered, gave_up) {
        (_, 0) => {
            words!(waited_and_answered(all, were))
        }
        (0, _) => {
            words!(all_waited_until_time_limit(all))
        }
        _ => words!(some_waited_until_time_limit(all, gave_up_words)),
    }
}

/// Removes all silences if the plan's time limits are reached about as often at other times.
fn leave_out_usual(record: &Record, seconds: &[Second], silences: &mut Vec<Silence>) {
    let is_in = |at: usize| silences.iter().any(|silence| silence.seconds.contains(&at));
    // Number of reached time limits and of seconds, inside and outside of silences.
    let (mut inside, mut outside) = ((0, 0), (0, 0));
    for (at, second) in seconds.iter().enumerate() {
        let place = if is_in(at) { &mut inside } else { &mut outside };
        *place = (place.0 + errors(record, second, is_limit), place.1 + 1);
    }
    let each = |(limits, seconds): (u64, u64)| limits as f64 / seconds.max(1) as f64;
    if inside.0 > 0 && each(outside) > USUAL * each(inside) {
        silences.clear();
    }
}

fn silences(record: &Record, seconds: &[Second]) -> Vec<Silence> {
    let limits: Vec<u64> = seconds.iter().map(|s| errors(record, s, is_limit)).collect();
    // In a second with responses and time limits, the slots of the responses are unknown, so all slots are used.
    let answers = |(second, limits): (&Second, &u64)| {
        if second.all.count <= *limits { [0; SLOTS] } else { second.all.slots }
    };
    let slots: Vec<u32> = seconds.iter().zip(&limits).flat_map(answers).collect();
    let (mut out, mut from) = (Vec::new(), 0);
    for run in slots.chunk_by(|a, b| (*a == 0) == (*b == 0)) {
        let range = from..from + run.len();
        from = range.end;
        if run[0] == 0 && run.len() >= LEAST {
            out.extend(silence_of(record, seconds, &slots, range));
        }
    }
    out
}

/// Returns the silence in a range of slots, if requests waited in it for a target that continued later.
fn silence_of(
    record: &Record,
    seconds: &[Second],
    slots: &[u32],
    range: std::ops::Range<usize>,
) -> Option<Silence> {
    let is_end = range.end == slots.len();
    let before: u64 = slots[..range.start].iter().map(|n| u64::from(*n)).sum();
    if is_end || before < BEFORE {
        return None;
    }
    let around = [
        &slots[range.start.saturating_sub(AROUND)..range.start],
        &slots[range.end..(range.end + AROUND).min(slots.len())],
    ];
    let (near, n) = around.iter().fold((0, 0), |(sum, n), slots| {
        (sum + slots.iter().map(|n| u64::from(*n)).sum::<u64>(), n + slots.len())
    });
    if near as f64 / n.max(1) as f64 * (range.len() as f64) < MISSING {
        return None;
    }
    let (first, last) = (range.start / SLOTS, range.end / SLOTS);
    let during = &seconds[first..=last];
    let length_ms = 100.0 * range.len() as f64;
    let stood_ms = sum(during, |second| second.generator.stall) as f64 / 1e6;
    let is_gone = during.iter().any(|second| errors(record, second, is_down) > 0);
    if is_gone || stood_ms > OWN * length_ms {
        return None;
    }
    let behind = &seconds[last..(last + 2).min(seconds.len())];
    let lag = sum(behind, |second| second.all.phases.lag) as f64;
    if lag > OWN * sum(behind, |second| second.all.elapsed) as f64 {
        return None;
    }
    let gave_up = during.iter().map(|second| errors(record, second, is_limit)).sum();
    let (answered, answered_ms) = answered_late(record, seconds, behind, length_ms, 0.0);
    // Requests that hit their time limit waited for the whole silence together, each for the length of its limit.
    let given_up_ms = sum(during, failed_ms) as f64;
    let at_a_time = (answered_ms + given_up_ms) / length_ms;
    let is_chance = by_chance(record, seconds, &range, slots) > SURE;
    if answered + gave_up < WAITED || at_a_time < AT_A_TIME || is_chance {
        return None;
    }
    // Users that send at the same moments leave gaps, too. Then as many requests take longer than usual at other times.
    let earlier = &seconds[..first];
    if gave_up == 0 && requests(earlier) >= KNOWN {
        let is_usual = |longer_ms: f64| {
            let of = |part: &[Second]| answered_late(record, seconds, part, length_ms, longer_ms).0;
            let (waited, long) = (of(behind), of(earlier));
            let usual = ((long + 1) as f64 / (requests(earlier) + 1) as f64).min(1.0);
            let all = requests(behind).max(waited);
            waited == 0 || 1.0 - at_most(waited - 1, all, usual) > SURE
        };
        // Where times vary widely, only few requests take as long as those that waited for a long time.
        if is_usual(0.0) && is_usual(HALF * length_ms) {
            return None;
        }
    }
    let at_ms = |slot: usize| {
        let second = &seconds[slot / SLOTS];
        second.at_ms - i64::from(second.ms) + 100 * (slot % SLOTS) as i64
    };
    let (from_ms, to_ms) = (at_ms(range.start), at_ms(range.end));
    Some(Silence { from_ms, to_ms, answered, gave_up, seconds: first..=last })
}

/// Returns the total time of failed requests in ms.
fn failed_ms(second: &Second) -> u64 {
    second.all.failed.iter().map(|(bin, n)| layout::middle_of(bin) / 1000 * n).sum()
}

/// Returns the number of successful responses after a silence that took longer than usual for their label, and their
/// total wait in ms within the silence. `longer_ms`: smallest excess over the usual time in ms, if it is larger than
/// the excess by `LONGER` and `LONGER_MS`.
fn answered_late(
    record: &Record,
    seconds: &[Second],
    behind: &[Second],
    length_ms: f64,
    longer_ms: f64,
) -> (u64, f64) {
    let is_request =
        |label: &u32| record.labels.get(*label as usize).is_none_or(|label| !label.transaction);
    let usual = times_of(seconds, is_request);
    let (mut n, mut waited_ms) = (0, 0.0);
    for (label, part) in behind.iter().flat_map(|second| &second.labels) {
        let Some(usual) = usual.get(&label) else { continue };
        let usual = super::figures::ms(usual, 0.5);
        let least = usual + (LONGER * usual + LONGER_MS).max(longer_ms);
        let failed: std::collections::BTreeMap<u32, u64> = part.failed.iter().collect();
        for (bin, all) in part.service.iter() {
            let took = layout::middle_of(bin) as f64 / 1000.0;
            let good = all.saturating_sub(failed.get(&bin).copied().unwrap_or(0));
            if took >= least {
                n += good;
                waited_ms += good as f64 * (took - usual).min(length_ms);
            }
        }
    }
    (n, waited_ms)
}
