//! Local ports of the generator that ran out, are nearly used up, or will run out: on the whole machine, or for one
//! destination.
//!
//! Each destination can use the whole port range, and nothing counts its connections in TIME_WAIT. The total of the
//! machine is known, and for each second the number of connections opened to each destination. Connections in
//! TIME_WAIT that the other destinations cannot have left belong to this destination.

use std::net::SocketAddr;

use record::frame::{PORTS_EACH, TIME_WAIT_REUSE};
use record::wordings::System;
use record::{ClassName, Record, Second};
use stats::grouped::count;
use stats::{Counter, Outcome};

use super::defaults;
use super::figures::{mean, span, stop_ms};
use super::machine::failed;
use super::say::{clock, counted_things, found, lacks, number, words};
use super::systems;
use crate::host_ports::{Forecast, Reading, TIME_WAIT_S, forecast};
use crate::verdict::{About, Confidence, Said};

const ID: &str = "ports";

/// Share of free ports below which ports are nearly used up.
const LITTLE_LEFT: f64 = 0.05;
/// Share of used ports from which the time of exhaustion is predicted.
const MUCH_USED: f64 = 0.7;
/// Largest number of readings, one per second, from whose trend the exhaustion of ports is predicted: the latest ones.
const TREND: usize = 30;
/// Smallest number of readings for a trend.
const TREND_LEAST: usize = 10;

pub(super) fn ports(record: &Record) -> Said {
    let all_span = span(&record.seconds);
    let (n, example) = failed(record, Outcome::PortsExhausted);
    if n > 0 {
        let samples = counted_things(n, "sample");
        // A result file may not contain messages.
        let text = match example.trim() {
            "" => words!(ports_without_example),
            text => words!(ports_with_example(text)),
        };
        return found(
            ID,
            About::Generator,
            Confidence::Certain,
            words!(ports_ran_out(samples, text)),
        )
        .with("ports_exhausted", n as f64, "samples", all_span)
        .advise(systems::ports(System::of(&example).or_else(|| systems::system(record))))
        .explaining(&["errors_named", "plan_fault", "reset_under_load"])
        .said();
    }
    let left: Vec<(i64, f64)> = record
        .seconds
        .iter()
        .filter_map(|s| Some((s.at_ms, s.generator.ports_left? as f64)))
        .collect();
    let all = record.frame.ports as f64;
    let towards = || towards_one(record).unwrap_or(Said::Nothing);
    let least = left.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((_, least)) = least.filter(|_| all > 0.0) else {
        // Destinations are unknown before the run, and a single destination may run out of ports anyway.
        if setting(record, PORTS_EACH).unwrap_or(0.0) > 0.0 {
            return towards();
        }
        if record.has.generator {
            return lacks!(number_of_free_ports);
        }
        return lacks!(run: number_of_free_ports);
    };
    let (least_words, all_words) = (count(least as u64), count(all as u64));
    if least < LITTLE_LEFT * all {
        return found(
            ID,
            About::Generator,
            Confidence::Arithmetic,
            words!(ports_nearly_taken(least_words, all_words)),
        )
        .with("ports_left", least, "ports", all_span)
        .advise(defaults::beside(systems::ports(None), all))
        .said();
    }
    predicted(record, &left, all).unwrap_or_else(towards)
}

/// Returns a numeric setting of the run.
pub(super) fn setting(record: &Record, name: &str) -> Option<f64> {
    let (_, value) = record.frame.settings.iter().find(|setting| setting.0 == name)?;
    value.parse().ok()
}

/// Returns the planned end of the run, else the end of the record, epoch ms.
fn end_ms(record: &Record) -> i64 {
    let frame = &record.frame;
    frame.start_ms + frame.load.length_ms.unwrap_or(frame.length_ms)
}

/// Returns the finding about a single destination whose ports run out before the run ends.
fn towards_one(record: &Record) -> Option<Said> {
    let each = setting(record, PORTS_EACH).filter(|each| *each > 0.0)?;
    // `tcp_tw_reuse`: the kernel reuses a port in TIME_WAIT for all destinations if 1, and for loopback ones if 2.
    let reuse = setting(record, TIME_WAIT_REUSE).unwrap_or(0.0);
    let waits = |address: &str| {
        let is_here = address.parse().is_ok_and(|to: SocketAddr| to.ip().is_loopback());
        reuse == 0.0 || reuse == 2.0 && !is_here
    };
    let destinations = record.classes.iter().enumerate().filter_map(|(at, class)| match class {
        ClassName::Address(address) if waits(address) => Some((at as u32, &**address)),
        _ => None,
    });
    let (address, found) = destinations
        .filter_map(|(class, address)| Some((address, forecast(&waiting(record, class), each)?)))
        .min_by_key(|(_, found)| found.gone_ms)?;
    (found.gone_ms <= end_ms(record)).then(|| said(record, address, found, each))
}

/// Returns a lower bound of the connections of a destination in TIME_WAIT, by second: all of the machine, minus those
/// that were opened to other destinations.
fn waiting(record: &Record, class: u32) -> Vec<Reading> {
    let stop = stop_ms(record).unwrap_or(i64::MAX);
    let seconds = &record.seconds[..record.seconds.partition_point(|s| s.at_ms <= stop)];
    let opened = |second: &Second, is: &dyn Fn(u32) -> bool| -> u64 {
        second.classes.iter().filter(|one| is(one.0)).map(|one| one.1.opened).sum()
    };
    let (mut own, mut others, mut closed, mut from) = (0, 0, 0, 0);
    let mut readings = Vec::with_capacity(seconds.len());
    for second in seconds {
        let here = opened(second, &|number| number == class);
        own += here;
        others += opened(second, &|number| number != class);
        closed += second.counters.get(Counter::ConnClosedByUs);
        while second.at_ms - seconds[from].at_ms > (TIME_WAIT_S * 1000.0) as i64 {
            own -= opened(&seconds[from], &|number| number == class);
            others -= opened(&seconds[from], &|number| number != class);
            closed -= seconds[from].counters.get(Counter::ConnClosedByUs);
            from += 1;
        }
        let all = closed.min(second.generator.time_wait);
        let per_s = here as f64 * 1000.0 / f64::from(second.ms.max(1));
        readings.push(Reading {
            at_ms: second.at_ms,
            waiting: all.saturating_sub(others).min(own) as f64,
            opened: Some(per_s),
            accepted: None,
        });
    }
    readings
}

fn said(record: &Record, address: &str, found: Forecast, each: f64) -> Said {
    let when = clock(found.gone_ms - record.frame.start_ms);
    let (waiting, all) = (count(found.waiting as u64), count(each as u64));
    let pace = number(found.per_s);
    let interval = Some((found.per_s - found.half, found.per_s + found.half));
    let at = (found.at_ms, found.at_ms);
    super::say::found(
        ID,
        About::Run,
        Confidence::Arithmetic,
        words!(ports_to_address_run_out(address, when, waiting, all, pace)),
    )
    .with("time_wait", found.waiting, "connections", at)
    .with("ports", each, "ports", at)
    .between("ports_per_s", found.per_s, "1/s", interval, span(&record.seconds))
    .with("ports_run_out_at", found.gone_ms as f64, "epoch ms", (found.at_ms, found.gone_ms))
    .advise(systems::ports(None))
    .said()
}

/// Returns the finding about ports that run out before the run ends if the trend continues.
fn predicted(record: &Record, left: &[(i64, f64)], all: f64) -> Option<Said> {
    // Users that end release their ports.
    let stop = stop_ms(record).unwrap_or(i64::MAX);
    let before = left.iter().filter(|(at, _)| *at <= stop).copied().collect::<Vec<_>>();
    let (now, per_s) = trend(&before)?;
    let end_ms = end_ms(record);
    let (at_ms, left_now) = now;
    // A connection in TIME_WAIT releases its port after 60 s, so the number of used ports grows for that long only.
    let last = record.seconds.iter().rfind(|s| s.at_ms <= stop);
    let waiting = last.map_or(0, |s| s.generator.time_wait) as f64;
    if waiting >= 0.5 * (all - left_now) && per_s * TIME_WAIT_S < all {
        return None;
    }
    let gone_ms = at_ms + (left_now / per_s * 1000.0) as i64;
    if left_now > (1.0 - MUCH_USED) * all || gone_ms > end_ms {
        return None;
    }
    let (least_words, all_words) = (count(left_now as u64), count(all as u64));
    let (when, pace) = (clock(gone_ms - record.frame.start_ms), number(per_s));
    Some(
        found(
            ID,
            About::Run,
            Confidence::Arithmetic,
            words!(ports_run_out(when, least_words, all_words, pace)),
        )
        .with("ports_left", left_now, "ports", (at_ms, at_ms))
        .with("ports_run_out_at", gone_ms as f64, "epoch ms", (at_ms, gone_ms))
        .advise(systems::ports(None))
        .said(),
    )
}

/// Returns the last reading and the number of ports lost per second; `None` if the free ports do not decrease.
fn trend(left: &[(i64, f64)]) -> Option<((i64, f64), f64)> {
    let last = &left[left.len().saturating_sub(TREND)..];
    if last.len() < TREND_LEAST {
        return None;
    }
    let (times, values): (Vec<f64>, Vec<f64>) =
        last.iter().map(|(at, left)| ((at - last[0].0) as f64 / 1000.0, *left)).unzip();
    let (t, v) = (mean(&times), mean(&values));
    let above: f64 = times.iter().zip(&values).map(|(a, b)| (a - t) * (b - v)).sum();
    let below: f64 = times.iter().map(|a| (a - t).powi(2)).sum();
    let slope = above / below.max(1e-9);
    (slope < 0.0).then(|| (*last.last().expect("not empty"), -slope))
}
