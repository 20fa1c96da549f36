//! Detects responses that a target sends in two parts while it waits for an acknowledgement (Nagle's algorithm),
//! which the receiving kernel delays.
//!
//! Linux acknowledges the first segments of a connection immediately. It acknowledges later ones 40 ms after their
//! arrival (`TCP_DELACK_MIN`), unless a request or further data carries the acknowledgement. A target without
//! `TCP_NODELAY` that writes a head and then a body holds the body back until then. So each small response takes 40 ms
//! longer, whatever the load.

use record::kept::Why;
use record::{Kept, Second};
use stats::grouped::count;

use super::figures::{median, span, whole};
use super::run::Run;
use super::say::{found, lacks, time, words};
use crate::verdict::{About, Confidence, Said};

/// Smallest number of randomly kept responses, for a finding.
const ANSWERS: usize = 20;
/// Range of the receive time in ms of a response that was held up by a delayed acknowledgement: the kernel's delay,
/// plus the delay of a busy machine.
const DELAY_MS: (f64, f64) = (38.0, 50.0);
/// Longest time in ms from the first byte to the last byte of a response that counts as not delayed.
const AT_ONCE_MS: f64 = 10.0;
/// Smallest share of responses that were held up, for a finding.
const HELD: f64 = 0.5;
/// Smallest share of responses that were either held up or not delayed at all, for a finding.
const EITHER: f64 = 0.95;
/// Size in bytes up to which a response is small; a larger one may take long to send.
const SMALL: u64 = 16 << 10;
/// Largest ratio of the receive time in the first second to that of the other seconds: responses on a new connection
/// are not delayed at first.
const SOONER: f64 = 0.9;

fn receive_ms(kept: &Kept) -> f64 {
    kept.phases.receive as f64 / 1e6
}

/// True if responses arrived faster in the first second, when connections were new.
fn begins_at_once(seconds: &[Second]) -> bool {
    let mean = |part: &[Second]| {
        let (receive, n) = part.iter().fold((0, 0), |(receive, n), second| {
            (receive + second.all.phases.receive, n + second.all.count)
        });
        receive as f64 / n.max(1) as f64
    };
    let Some(first) = seconds.iter().position(|second| second.all.count > 0) else { return false };
    mean(&seconds[first..=first]) <= SOONER * mean(&seconds[first + 1..])
}

pub(super) fn delayed_ack(record: &Run<'_>) -> Said {
    let random = record.kept.iter().filter(|kept| kept.why == Why::Random);
    let answers: Vec<&Kept> = random.filter(|kept| kept.outcome == stats::Outcome::Ok).collect();
    if !record.has.phases {
        return lacks!(run: twenty_answers_with_phases);
    }
    if answers.len() < ANSWERS {
        return lacks!(twenty_answers_with_phases);
    }
    let all = answers.len();
    let held: Vec<&Kept> = answers
        .iter()
        .copied()
        .filter(|kept| (DELAY_MS.0..=DELAY_MS.1).contains(&receive_ms(kept)))
        .filter(|kept| kept.received <= SMALL)
        .collect();
    let at_once = answers.iter().filter(|kept| receive_ms(kept) < AT_ONCE_MS).count();
    let share = held.len() as f64 / all as f64;
    if share < HELD || ((held.len() + at_once) as f64) < EITHER * all as f64 {
        return Said::Nothing;
    }
    let middle =
        |of: fn(&Kept) -> f64| median(&held.iter().map(|kept| of(kept)).collect::<Vec<_>>());
    let (late, of) = (middle(receive_ms), middle(|kept| kept.elapsed as f64 / 1e6));
    let bytes = middle(|kept| kept.received as f64);
    let (n, size) = (held.len(), count(bytes as u64));
    let (late_text, of_text) = (time(late), time(of));
    let confidence =
        if begins_at_once(&record.seconds) { Confidence::Statistical } else { Confidence::Hint };
    found(
        "delayed_ack",
        About::Target,
        confidence,
        words!(delayed_ack_found(late_text, of_text, size, n, all)),
    )
    .with("receive", late, "ms", span(whole(record)))
    .with("held_back", share, "share", span(whole(record)))
    .rules_out(words!(delayed_ack_not_load))
    .advise(words!(delayed_ack_advice))
    .explaining(&["bimodal"])
    .said()
}
