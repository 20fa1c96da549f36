//! The entries of a frame: names, seconds, marks, kept samples.
//!
//! A name gets its number before the number is used. The same definition may be written several times, because a
//! recording rewrites all names after it failed to write a frame.

use std::sync::Arc;

use stats::{Outcome, Phase, Phases};

use super::bytes::{In, Out};
use crate::frame::{Change, Ending, Frame, Load, Mark, RatePeriod};
use crate::kept::{Kept, Why};
use crate::{CauseName, ClassName, Fact, Label, Series, Unit};

/// The kind of an entry. The value 0 is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The entry with the facts of the run.
    Frame = 1,
    /// The names of metrics of the generator, of its machine, and of counters.
    Columns = 2,
    Label = 3,
    Cause = 4,
    Class = 5,
    Series = 6,
    Second = 7,
    Mark = 8,
    Kept = 9,
    /// The entry with the end of the run.
    Ending = 10,
    /// Folding of a label into another, which applies to all seconds of the file.
    Folded = 11,
    /// A pair of numbers, of a class of exchanges and of a label that had samples in the class.
    Served = 12,
    /// An effective setting of a watched host.
    Fact = 13,
}

impl Kind {
    pub(crate) fn of(byte: u8) -> Option<Self> {
        use Kind::{
            Cause, Class, Columns, Ending, Fact, Folded, Frame, Kept, Label, Mark, Second, Series,
            Served,
        };
        let all = [
            Frame, Columns, Label, Cause, Class, Series, Second, Mark, Kept, Ending, Folded,
            Served, Fact,
        ];
        all.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Appends an entry to the entries of a frame.
pub(crate) fn push(out: &mut Out, kind: Kind, body: impl FnOnce(&mut Out)) {
    let mut inside = Out::default();
    body(&mut inside);
    out.0.push(kind as u8);
    out.number(inside.0.len() as u64);
    out.0.extend_from_slice(&inside.0);
}

/// Reads the next entry: the byte of its kind, and its body.
pub(crate) fn next<'a>(from: &mut In<'a>) -> Option<(u8, In<'a>)> {
    if from.is_empty() {
        return None;
    }
    let kind = from.byte();
    let length = from.number();
    Some((kind, In::new(from.some(length))))
}

pub(crate) fn write_frame(frame: &Frame, out: &mut Out) {
    out.text(&frame.version);
    out.text(&frame.plan);
    out.number(frame.plan_hash);
    out.signed(frame.start_ms);
    out.signed(frame.length_ms);
    out.number(u64::from(frame.processors));
    out.number(frame.memory);
    out.number(u64::from(frame.threads));
    out.number(frame.load.users);
    out.truth(frame.load.rate.is_some());
    out.float(frame.load.rate.unwrap_or_default());
    out.truth(frame.load.length_ms.is_some());
    out.signed(frame.load.length_ms.unwrap_or_default());
    out.truth(frame.load.open);
    out.truth(frame.target_is_here);
    out.number(frame.ports);
    out.list(&frame.settings, |out, (name, value)| {
        out.text(name);
        out.text(value);
    });
    out.list(&frame.load.schedule, |out, period| {
        out.signed(period.length_ms);
        out.float(period.begin);
        out.float(period.end);
    });
}

pub(crate) fn read_frame(from: &mut In<'_>) -> Frame {
    let mut frame = Frame {
        version: from.text(),
        plan: from.text(),
        plan_hash: from.number(),
        start_ms: from.signed(),
        length_ms: from.signed(),
        processors: from.small(),
        memory: from.number(),
        threads: from.small(),
        ..Frame::default()
    };
    let users = from.number();
    let (has_rate, rate) = (from.truth(), from.float());
    let (has_length, length) = (from.truth(), from.signed());
    frame.load = Load {
        users,
        rate: has_rate.then_some(rate),
        length_ms: has_length.then_some(length),
        open: from.truth(),
        schedule: Vec::new(),
    };
    frame.target_is_here = from.truth();
    frame.ports = from.number();
    frame.settings = from.list(|from| (from.text(), from.text()));
    // Files of older versions end before this field.
    frame.load.schedule = from.list(|from| RatePeriod {
        length_ms: from.signed(),
        begin: from.float(),
        end: from.float(),
    });
    frame
}

pub(crate) fn write_label(number: u32, label: &Label, out: &mut Out) {
    out.number(u64::from(number));
    out.text(&label.name);
    out.truth(label.transaction);
    out.number(u64::from(label.folded));
}

pub(crate) fn read_label(from: &mut In<'_>) -> (u32, Label) {
    let number = from.small();
    (number, Label { name: shared(from), transaction: from.truth(), folded: from.small() })
}

pub(crate) fn write_cause(number: u32, cause: &CauseName, out: &mut Out) {
    out.number(u64::from(number));
    out.text(cause.outcome.as_str());
    out.text(&cause.code);
    out.text(&cause.message);
    out.text(&cause.first_label);
}

pub(crate) fn read_cause(from: &mut In<'_>) -> (u32, CauseName) {
    let number = from.small();
    let outcome = outcome(&from.text());
    let cause =
        CauseName { outcome, code: shared(from), message: shared(from), first_label: shared(from) };
    (number, cause)
}

pub(crate) fn write_class(number: u32, class: &ClassName, out: &mut Out) {
    out.number(u64::from(number));
    let (name, value): (&str, &str) = match class {
        ClassName::Address(address) => ("", address),
        ClassName::Header { name, value } => (name, value),
    };
    out.text(name);
    out.text(value);
}

pub(crate) fn read_class(from: &mut In<'_>) -> (u32, ClassName) {
    let number = from.small();
    let (name, value) = (shared(from), shared(from));
    let class =
        if name.is_empty() { ClassName::Address(value) } else { ClassName::Header { name, value } };
    (number, class)
}

pub(crate) fn write_series(number: u32, series: &Series, out: &mut Out) {
    out.number(u64::from(number));
    out.text(&series.host);
    out.text(&series.metric);
    out.number(match series.unit {
        Unit::Share => 0,
        Unit::Bytes => 1,
        Unit::Seconds => 2,
        Unit::PerSecond => 3,
        Unit::Count => 4,
    });
}

pub(crate) fn read_series(from: &mut In<'_>) -> (u32, Series) {
    let number = from.small();
    let (host, metric) = (shared(from), shared(from));
    let unit = match from.number() {
        0 => Unit::Share,
        1 => Unit::Bytes,
        2 => Unit::Seconds,
        3 => Unit::PerSecond,
        _ => Unit::Count,
    };
    (number, Series { host, metric, unit })
}

pub(crate) fn write_fact(fact: &Fact, out: &mut Out) {
    for text in [&fact.host, &fact.name, &fact.value] {
        out.text(text);
    }
}

pub(crate) fn read_fact(from: &mut In<'_>) -> Fact {
    Fact { host: shared(from), name: shared(from), value: shared(from) }
}

pub(crate) fn write_mark(mark: &Mark, out: &mut Out) {
    out.signed(mark.at_ms);
    let (kind, number, text): (u64, f64, &str) = match &mark.change {
        Change::Users(users) => (0, *users as f64, ""),
        Change::Rate(rate) => (1, *rate, ""),
        Change::Paused => (2, 0.0, ""),
        Change::WentOn => (3, 0.0, ""),
        Change::Phase(name) => (4, 0.0, name),
        Change::Stop { at_once } => (5, f64::from(u8::from(*at_once)), ""),
        Change::Note(text) => (6, 0.0, text),
        Change::Lost(what) => (7, 0.0, what),
    };
    out.number(kind);
    out.float(number);
    out.text(text);
}

/// Reads a mark. A mark of unknown kind becomes a note.
pub(crate) fn read_mark(from: &mut In<'_>) -> Mark {
    let at_ms = from.signed();
    let (kind, number, text) = (from.number(), from.float(), from.text());
    let change = match kind {
        0 => Change::Users(number as u64),
        1 => Change::Rate(number),
        2 => Change::Paused,
        3 => Change::WentOn,
        4 => Change::Phase(text),
        5 => Change::Stop { at_once: number != 0.0 },
        7 => Change::Lost(text),
        _ => Change::Note(text),
    };
    Mark { at_ms, change }
}

pub(crate) fn write_ending(length_ms: i64, ran_ms: i64, ending: &Ending, out: &mut Out) {
    out.signed(length_ms);
    let (kind, text): (u64, &str) = match ending {
        Ending::Unknown => (0, ""),
        Ending::Completed => (1, ""),
        Ending::Interrupted => (2, ""),
        Ending::StoppedByPlan => (3, ""),
        Ending::Aborted(reason) => (4, reason),
    };
    out.number(kind);
    out.text(text);
    out.signed(ran_ms);
}

/// Reads the end of a run: its length in ms, the ending, and the time in ms during which users ran. Older records
/// have 0 for the time with users.
pub(crate) fn read_ending(from: &mut In<'_>) -> (i64, Ending, i64) {
    let length_ms = from.signed();
    let (kind, text) = (from.number(), from.text());
    let ending = match kind {
        1 => Ending::Completed,
        2 => Ending::Interrupted,
        3 => Ending::StoppedByPlan,
        4 => Ending::Aborted(text),
        _ => Ending::Unknown,
    };
    let ran_ms = if from.is_empty() { 0 } else { from.signed() };
    (length_ms, ending, ran_ms)
}

/// Writes a kept sample with its rank. The rank of a randomly chosen sample is the random number that selected it.
pub(crate) fn write_kept(kept: &Kept, rank: u64, out: &mut Out) {
    out.number(match kept.why {
        Why::Error => 0,
        Why::Slow => 1,
        Why::Random => 2,
    });
    out.number(u64::from(kept.label));
    out.number(kept.cause.map_or(0, |cause| u64::from(cause) + 1));
    out.text(kept.outcome.as_str());
    out.signed(kept.start_ms);
    out.number(kept.elapsed);
    kept.phases.to_array().iter().for_each(|nanos| out.number(*nanos));
    out.truth(kept.reused);
    out.number(kept.sent);
    out.number(kept.received);
    for text in [&kept.code, &kept.message, &kept.address, &kept.request, &kept.response] {
        out.text(text);
    }
    out.number(rank);
    if kept.trace != 0 {
        out.number((kept.trace >> 64) as u64);
        out.number(kept.trace as u64);
    }
}

/// Reads a kept sample and its rank.
pub(crate) fn read_kept(from: &mut In<'_>) -> (Kept, u64) {
    let why = match from.number() {
        0 => Why::Error,
        1 => Why::Slow,
        _ => Why::Random,
    };
    let label = from.small();
    let cause = u32::try_from(from.number()).unwrap_or_default().checked_sub(1);
    let mut kept = Kept {
        why,
        label,
        cause,
        outcome: outcome(&from.text()),
        start_ms: from.signed(),
        elapsed: from.number(),
        phases: Phases::from_array([(); 9].map(|()| from.number())),
        reused: from.truth(),
        sent: from.number(),
        received: from.number(),
        code: shared(from),
        message: shared(from),
        address: shared(from),
        request: shared(from),
        response: shared(from),
        trace: 0,
    };
    let rank = from.number();
    // Samples without a trace, and samples of older files, end before this field.
    if !from.is_empty() {
        kept.trace = u128::from(from.number()) << 64 | u128::from(from.number());
    }
    (kept, rank)
}

fn shared(from: &mut In<'_>) -> Arc<str> {
    from.text().into()
}

/// Returns the outcome with this name; an unknown name becomes [`Outcome::Other`].
pub(crate) fn outcome(name: &str) -> Outcome {
    use Outcome::{
        Assertion, Closed, CutByEnd, Dns, File, FilesExhausted, Ok, Other, PortsExhausted,
        Protocol, Refused, Reset, Script, Status, Timeout, Tls, Unreachable,
    };
    let all = [
        Ok,
        Status,
        Assertion,
        Dns,
        Refused,
        Reset,
        Closed,
        Tls,
        Timeout(Phase::Connect),
        Timeout(Phase::Tls),
        Timeout(Phase::Response),
        PortsExhausted,
        FilesExhausted,
        Unreachable,
        Protocol,
        Script,
        File,
        CutByEnd,
    ];
    all.into_iter().find(|outcome| outcome.as_str() == name).unwrap_or(Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_sample_has_its_rank_and_its_trace_apart() {
        let text: Arc<str> = "x".into();
        let kept = |trace| Kept {
            why: Why::Random,
            label: 3,
            cause: None,
            outcome: Outcome::Ok,
            start_ms: 5,
            elapsed: 7,
            phases: Phases::default(),
            code: Arc::clone(&text),
            message: Arc::clone(&text),
            address: Arc::clone(&text),
            reused: true,
            sent: 1,
            received: 2,
            trace,
            request: Arc::clone(&text),
            response: Arc::clone(&text),
        };
        for trace in [0, 1, u128::from(u64::MAX) << 64, u128::MAX] {
            for rank in [0, 9, u64::MAX] {
                let mut out = Out::default();
                write_kept(&kept(trace), rank, &mut out);
                let mut from = In::new(&out.0);
                assert_eq!(read_kept(&mut from), (kept(trace), rank));
                assert!(from.is_empty());
            }
        }
    }
}
