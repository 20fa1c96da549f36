//! Detects a run that continues after its planned end, because requests in flight were allowed to finish.

use record::{Ending, Record};
use stats::grouped::count;

use super::figures::{requests, span, stop_ms};
use super::say::{clock, found, time, words};
use crate::verdict::{About, Confidence, Said};

/// Smallest time in ms after the planned end that is reported.
const LEAST_MS: i64 = 5000;
/// Smallest time after the planned end that is reported, as a share of the planned length.
const LEAST: f64 = 0.05;
/// Time in ms after the planned end within which a second still counts as the last one under load.
const SOON_MS: i64 = 1000;

/// Returns the time that a run took beyond its schedule, and the requests that ended in that time.
pub(super) fn outlasts(record: &Record) -> Option<Said> {
    let length_ms = record.frame.load.length_ms?;
    if record.frame.ending != Ending::Completed {
        return None;
    }
    let planned = record.frame.start_ms + length_ms;
    let planned = stop_ms(record).map_or(planned, |stop| stop.min(planned));
    let seconds = &record.seconds;
    let behind = &seconds[seconds.partition_point(|second| second.at_ms <= planned + SOON_MS)..];
    let last = behind.iter().rposition(|second| second.all.count > 0)?;
    let behind = &behind[..=last];
    let over = span(behind).1 - planned;
    if over < LEAST_MS || (over as f64) < LEAST * length_ms as f64 {
        return None;
    }
    let longest = behind.iter().map(|second| second.all.longest).max()? as f64 / 1e6;
    let n = requests(behind);
    let (for_s, at) = (time(over as f64), clock(planned - record.frame.start_ms));
    let (most, late) = (time(longest), count(n));
    let (what, were) = if n == 1 { ("request", "was") } else { ("requests", "were") };
    let times = (planned, span(behind).1);
    Some(
        found(
            "cut_by_end",
            About::Run,
            Confidence::Hint,
            words!(outlasts_found(for_s, at, late, what, were, most)),
        )
        .with("overrun", over as f64, "ms", times)
        .with("ended_late", n as f64, "requests", times)
        .with("longest", longest, "ms", times)
        .advise(words!(outlasts_advice(at)))
        .said(),
    )
}
