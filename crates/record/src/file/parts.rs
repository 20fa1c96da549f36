//! Encoding of seconds and of their parts.

use stats::close::Close;
use stats::hist::{Bins, layout};
use stats::{CloseCause, Number, Phases};

use super::bytes::{In, Out};
use super::columns::Columns;
use crate::coarse::{Coarse, Range};
use crate::labels::Packing;
use crate::second::{Checked, Class, Part, SLOTS, Second};
use crate::sum::{Sum, Times};

/// Largest number of bins in a histogram of all requests. Neighbouring bins of a larger histogram are merged.
const MOST_OF_ALL: usize = 1024;
/// Largest number of bins in the histograms of all labels of a second together. A single histogram may always have
/// [`LEAST`] bins.
const MOST_OF_LABELS: usize = 4096;
/// Number of bins that every histogram may have, however many labels share [`MOST_OF_LABELS`].
const LEAST: usize = 32;

/// Flags for data that is not written because it follows from other data.
mod flag {
    pub(super) const RESPONSE_IS_SERVICE: u64 = 1;
    pub(super) const FAILED_IS_NONE: u64 = 2;
    pub(super) const FAILED_IS_SERVICE: u64 = 4;
    pub(super) const NO_PHASES: u64 = 8;
    pub(super) const NO_SLOTS: u64 = 16;
}

pub(crate) fn write_part(part: &Part, most: usize, out: &mut Out) {
    let is = |flag: u64, is: bool| if is { flag } else { 0 };
    let flags =
        is(flag::RESPONSE_IS_SERVICE, part.response.is_empty() || part.response == part.service)
            | is(flag::FAILED_IS_NONE, part.failed.is_empty())
            | is(flag::FAILED_IS_SERVICE, part.failed == part.service)
            | is(flag::NO_PHASES, part.phases == Phases::default())
            | is(flag::NO_SLOTS, part.slots == [0; SLOTS]);
    out.number(flags);
    let numbers = [part.count, part.errors, part.cut, part.sent, part.received];
    for n in numbers {
        out.number(n);
    }
    out.number(part.elapsed);
    out.number(part.longest);
    write_bins(&part.service, most, out);
    if flags & flag::RESPONSE_IS_SERVICE == 0 {
        write_bins(&part.response, most, out);
    }
    if flags & (flag::FAILED_IS_NONE | flag::FAILED_IS_SERVICE) == 0 {
        write_bins(&part.failed, most, out);
    }
    if flags & flag::NO_PHASES == 0 {
        part.phases.to_array().iter().for_each(|nanos| out.number(nanos / 1000));
    }
    if flags & flag::NO_SLOTS == 0 {
        part.slots.iter().for_each(|n| out.number(u64::from(*n)));
    }
}

/// Reads the flags of a part, and its numeric fields that precede the histograms.
fn read_numbers(from: &mut In<'_>) -> (u64, Part) {
    let flags = from.number();
    let part = Part {
        count: from.number(),
        errors: from.number(),
        cut: from.number(),
        sent: from.number(),
        received: from.number(),
        elapsed: from.number(),
        longest: from.number(),
        ..Part::default()
    };
    (flags, part)
}

/// Reads the numeric fields of a part that follow the histograms.
fn read_rest(flags: u64, from: &mut In<'_>, part: &mut Part) {
    if flags & flag::NO_PHASES == 0 {
        part.phases = Phases::from_array([(); 9].map(|()| from.number().saturating_mul(1000)));
    }
    if flags & flag::NO_SLOTS == 0 {
        part.slots = [(); SLOTS].map(|()| from.small());
    }
}

pub(crate) fn read_part(from: &mut In<'_>) -> Part {
    let (flags, mut part) = read_numbers(from);
    part.service = from.bins();
    if flags & flag::RESPONSE_IS_SERVICE == 0 {
        part.response = from.bins();
    }
    if flags & flag::FAILED_IS_NONE == 0 {
        part.failed = match flags & flag::FAILED_IS_SERVICE {
            0 => from.bins(),
            _ => part.service.clone(),
        };
    }
    read_rest(flags, from, &mut part);
    part
}

/// Skips a part and returns its bytes. They have the format of a packed label unless they are malformed.
fn pass_part<'b>(from: &mut In<'b>) -> &'b [u8] {
    let begin = from.clone();
    let (flags, mut part) = read_numbers(from);
    from.pass_bins();
    if flags & flag::RESPONSE_IS_SERVICE == 0 {
        from.pass_bins();
    }
    if flags & (flag::FAILED_IS_NONE | flag::FAILED_IS_SERVICE) == 0 {
        from.pass_bins();
    }
    read_rest(flags, from, &mut part);
    begin.up_to(from)
}

/// Adds the part of a packed label to a sum.
pub(crate) fn add_part(mut from: In<'_>, sum: &mut Sum) {
    let (flags, mut part) = read_numbers(&mut from);
    let is = |flag: u64| flags & flag > 0;
    let Times { service, mut response, failed } = sum.times(!is(flag::RESPONSE_IS_SERVICE));
    let also = response.as_deref_mut().filter(|_| is(flag::RESPONSE_IS_SERVICE));
    let has_failed = is(flag::FAILED_IS_SERVICE) && !is(flag::FAILED_IS_NONE);
    from.add_bins([Some(service), also, has_failed.then_some(&mut *failed)].into_iter().flatten());
    if !is(flag::RESPONSE_IS_SERVICE) {
        from.add_bins(response);
    }
    if !is(flag::FAILED_IS_NONE | flag::FAILED_IS_SERVICE) {
        from.add_bins([failed]);
    }
    read_rest(flags, &mut from, &mut part);
    sum.numbers.add_numbers(&part);
}

/// Reads the number of samples and the number of errors of a part.
pub(crate) fn read_counts(from: &mut In<'_>) -> (u64, u64) {
    let _flags = from.number();
    (from.number(), from.number())
}

/// Writes a histogram with at most `most` bins.
fn write_bins(bins: &Bins, most: usize, out: &mut Out) {
    out.bins(fewer(bins, most).as_ref().unwrap_or(bins));
}

/// Returns a copy of the histogram with at most `most` bins: groups of 2, 4, 8 … neighbours are counted in their middle
/// bin. Returns `None` if the histogram is small enough already.
pub(crate) fn fewer(bins: &Bins, most: usize) -> Option<Bins> {
    if bins.len() <= most {
        return None;
    }
    // Two neighbouring bins remain distinct until the highest bit in which they differ is shifted away.
    let (mut apart, mut before) = ([0_usize; 33], None);
    for (bin, _) in bins.iter() {
        let bits =
            before.replace(bin).map_or(32, |before: u32| 32 - (before ^ bin).leading_zeros());
        apart[bits as usize] += 1;
    }
    let count = |shift: u32| apart[shift as usize + 1..].iter().sum::<usize>();
    let mut shift = 0;
    while count(shift) > most && shift < 15 {
        shift += 1;
    }
    let half = if shift == 0 { 0 } else { 1 << (shift - 1) };
    let mut fewer: Vec<(u32, u64)> = Vec::with_capacity(count(shift));
    for (bin, n) in bins.iter() {
        let bin = ((bin >> shift << shift) + half).min(layout::BINS - 1);
        match fewer.last_mut().filter(|last| last.0 == bin) {
            Some(last) => last.1 = last.1.saturating_add(n),
            None => fewer.push((bin, n)),
        }
    }
    Bins::try_from(fewer).ok()
}

/// Returns true if the sum of all samples must be written. It is omitted where it follows from the labels: in a second
/// without shortened histograms, and in an interval with one label.
fn has_sum(second: &Second, most: usize) -> bool {
    let mut labels = second.labels.iter();
    if second.coarse.is_some() {
        return second.labels.len() != 1 || labels.any(|(_, part)| *part != second.all);
    }
    let bins = |part: &Part| part.service.len().max(part.response.len()).max(part.failed.len());
    labels.any(|(_, part)| bins(&part) > most)
}

pub(crate) fn write_second(second: &Second, out: &mut Out) {
    out.signed(second.at_ms);
    let numbers = [second.users, second.started, second.due, second.missed];
    out.number(u64::from(second.ms));
    for n in numbers {
        out.number(n);
    }
    let is_coarse = second.coarse.is_some();
    let bound = |most: usize| if is_coarse { usize::MAX } else { most };
    let most = bound((MOST_OF_LABELS / second.labels.len().max(1)).max(LEAST));
    let shortened = has_sum(second, most);
    out.truth(shortened);
    if shortened {
        write_part(&second.all, bound(MOST_OF_ALL), out);
    }
    let mut before = 0;
    out.number(second.labels.len() as u64);
    for (number, part) in &second.labels {
        out.number(u64::from(number - before));
        write_part(&part, most, out);
        before = number;
    }
    Columns::write_counters(&second.counters, out);
    out.list(&second.causes, |out, (cause, n)| {
        out.number(u64::from(*cause));
        out.number(*n);
    });
    for bins in [&second.connect, &second.tls, &second.room] {
        write_bins(bins, bound(MOST_OF_ALL), out);
    }
    out.list(&second.classes, |out, (number, class)| {
        out.number(u64::from(*number));
        write_class(class, bound((MOST_OF_LABELS / second.classes.len()).max(LEAST)), out);
    });
    Columns::write_generator(&second.generator, out);
    out.truth(second.machine.is_some());
    if let Some(machine) = &second.machine {
        Columns::write_machine(machine, out);
    }
    out.list(&second.watched, |out, (series, value)| {
        out.number(u64::from(*series));
        out.float(*value);
    });
    write_bins(&second.lag, bound(MOST_OF_ALL), out);
    out.list(&second.closes, |out, close| {
        let cause = CAUSES.iter().position(|cause| *cause == close.cause);
        out.number(cause.unwrap_or(CAUSES.len()) as u64);
        out.number(u64::from(close.code));
        write_bins(&close.idle_ms, MOST_OF_ALL, out);
    });
    out.number(second.stalled.count);
    out.number(second.stalled.sum);
    write_bins(&second.stalled.response, MOST_OF_ALL, out);
    out.truth(is_coarse);
    if let Some(coarse) = &second.coarse {
        write_coarse(coarse, out);
    }
    out.list(&second.checks, write_checks);
    out.list(&second.numbers, write_number);
}

fn write_number(out: &mut Out, (at, number): &(u32, Number)) {
    out.number(u64::from(*at));
    out.number(number.count);
    out.number(number.odd);
    for value in [number.sum, number.least, number.most] {
        out.float(value);
    }
}

fn read_number(from: &mut In<'_>) -> (u32, Number) {
    let (at, count, odd) = (from.small(), from.number(), from.number());
    let [sum, least, most] = [(); 3].map(|()| from.float());
    (at, Number { count, odd, sum, least, most })
}

fn write_checks(out: &mut Out, (label, checks): &(u32, Checked)) {
    out.number(u64::from(*label));
    out.number(checks.checked);
    out.number(checks.unexpected);
    out.signed(checks.by_content);
}

fn read_checks(from: &mut In<'_>) -> (u32, Checked) {
    let label = from.small();
    let (checked, unexpected, by_content) = (from.number(), from.number(), from.signed());
    (label, Checked { checked, unexpected, by_content })
}

fn write_coarse(coarse: &Coarse, out: &mut Out) {
    out.number(u64::from(coarse.step_ms));
    let (least, most) = coarse.rates.unwrap_or_default();
    out.truth(coarse.rates.is_some());
    for n in [least, most, coarse.errors, coarse.cpu] {
        out.float(n);
    }
    out.list(&coarse.watched, |out, range| {
        out.number(u64::from(range.series));
        out.float(range.least);
        out.float(range.most);
        out.number(range.ms);
    });
}

fn read_coarse(from: &mut In<'_>) -> Coarse {
    let (step_ms, has_rates) = (from.small(), from.truth());
    let [least, most, errors, cpu] = [(); 4].map(|()| from.float());
    let watched = from.list(|from| Range {
        series: from.small(),
        least: from.float(),
        most: from.float(),
        ms: from.number(),
    });
    Coarse { step_ms, rates: has_rates.then_some((least, most)), errors, cpu, watched }
}

/// Causes of connection ends, by their numbers in a file.
const CAUSES: [CloseCause; 14] = [
    CloseCause::PeerFrame,
    CloseCause::PeerFin,
    CloseCause::PeerReset,
    CloseCause::IdleTimeout,
    CloseCause::MissedHeartbeat,
    CloseCause::Refused,
    CloseCause::Protocol,
    CloseCause::InboxFull,
    CloseCause::Replaced,
    CloseCause::ByPlan,
    CloseCause::UserEnded,
    CloseCause::Stopped,
    CloseCause::WorkerLost,
    CloseCause::ConnectFailed,
];

fn read_close(from: &mut In<'_>) -> Option<Close> {
    let (cause, code, idle_ms) = (from.number(), from.small(), from.bins());
    let cause = *CAUSES.get(usize::try_from(cause).ok()?)?;
    Some(Close { cause, code: u16::try_from(code).unwrap_or(u16::MAX), idle_ms })
}

/// Reads a second. `transaction` returns true for the number of a label that is a transaction. `sum` is a reusable
/// buffer, which must be empty.
pub(crate) fn read_second(
    from: &mut In<'_>,
    columns: &Columns,
    transaction: &dyn Fn(u32) -> bool,
    sum: &mut Sum,
) -> Second {
    let mut second = Second { at_ms: from.signed(), ms: from.small(), ..Second::default() };
    second.users = from.number();
    second.started = from.number();
    second.due = from.number();
    second.missed = from.number();
    let all = from.truth().then(|| read_part(from));
    let (mut before, mut packing) = (0u32, Packing::default());
    from.list(|from| {
        before = before.saturating_add(from.small());
        let begin = from.clone();
        let bytes = pass_part(from);
        if from.is_odd() {
            packing.push(before, &read_part(&mut begin.clone()));
        } else {
            packing.push_bytes(before, bytes);
        }
    });
    second.labels = packing.labels();
    second.all = all.unwrap_or_else(|| {
        let requests = second.labels.packed().filter(|label| !transaction(label.0));
        requests.for_each(|(_, body)| add_part(body, sum));
        sum.take()
    });
    second.counters = columns.read_counters(from);
    second.causes = from.list(|from| (from.small(), from.number()));
    (second.connect, second.tls, second.room) = (from.bins(), from.bins(), from.bins());
    second.classes = from.list(|from| (from.small(), read_class(from)));
    second.generator = columns.read_generator(from);
    second.machine = from.truth().then(|| columns.read_machine(from));
    second.watched = from.list(|from| (from.small(), from.float()));
    second.lag = from.bins();
    second.closes = from.list(read_close).into_iter().flatten().collect();
    (second.stalled.count, second.stalled.sum) = (from.number(), from.number());
    second.stalled.response = from.bins();
    // Files of older versions end before these fields.
    second.coarse = from.truth().then(|| Box::new(read_coarse(from)));
    second.checks = from.list(read_checks);
    second.numbers = from.list(read_number);
    second.shrink();
    second
}

fn write_class(class: &Class, most: usize, out: &mut Out) {
    let Class { count, errors, opened, retransmitted, syn_retransmitted, .. } = class;
    for n in [count, errors, opened, retransmitted, syn_retransmitted] {
        out.number(*n);
    }
    write_bins(&class.service, most, out);
}

fn read_class(from: &mut In<'_>) -> Class {
    Class {
        count: from.number(),
        errors: from.number(),
        opened: from.number(),
        retransmitted: from.number(),
        syn_retransmitted: from.number(),
        service: from.bins(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_histogram_joins_as_few_neighbours_as_it_must() {
        let mut state = 1_u64;
        let mut random = |most: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % most
        };
        for _ in 0..200 {
            let (mut bins, spread) = (Bins::default(), 1 + random(u64::from(layout::BINS)));
            let from = layout::BINS - spread as u32;
            (0..300).for_each(|_| bins.add(from + random(spread) as u32, 1 + random(9)));
            for most in [1, 7, 64, 200] {
                let shorter = fewer(&bins, most);
                assert_eq!(shorter.is_none(), bins.len() <= most);
                let Some(shorter) = shorter else { continue };
                let joined = |shift: u32| {
                    let mut joined = Bins::default();
                    let half = (1 << shift) / 2;
                    let middle = |bin: u32| (bin >> shift << shift) + half;
                    bins.iter().for_each(|(bin, n)| {
                        joined.add(middle(bin).min(layout::BINS - 1), n);
                    });
                    joined
                };
                let found = (1..=15).map(joined).find(|joined| joined.len() <= most);
                assert_eq!(shorter, found.expect("2^15 bins in one"));
            }
        }
    }
}
