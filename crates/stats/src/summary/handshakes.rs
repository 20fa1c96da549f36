//! The summary's block on TLS: number of handshakes of each kind, their cost in the generator, and their share of the
//! response time.
//!
//! Costs are processor time of the threads that performed handshakes: cryptography and sending, without receiving.
//! Absent in runs without TLS.
use lang::decimal_format::percent;
use serde::Serialize;

use crate::counter::Counter;
use crate::grouped::{count, rate};
use crate::span::Span;
use crate::timeline::Timeline;
use crate::totals::Totals;

use super::{Spread, digits};

/// TLS handshakes over the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Handshakes {
    pub full: u64,
    pub resumed: u64,
    pub failed: u64,
    /// Largest number of TLS handshakes per second in any second; full, resumed and failed handshakes count.
    pub per_s_peak: f64,
    /// Time from the end of the TCP handshake to the end of the TLS handshake, in ms.
    pub time: Spread,
    /// Mean processor time of a full handshake in microseconds; 0 without full handshakes.
    pub full_cpu_us: f64,
    /// Mean processor time of a resumed handshake in microseconds; 0 without resumed handshakes.
    pub resumed_cpu_us: f64,
    /// Share of this process's processor time that handshakes took.
    pub cpu_share: f64,
    /// Share of the requests' total time that handshakes took.
    pub time_share: f64,
    /// Share of the requests' total time that was spent in this process, including handshakes.
    pub own_share: f64,
}

impl Handshakes {
    pub fn new(totals: &Totals, timeline: &Timeline, cpu_s: f64) -> Option<Self> {
        let n = |counter| totals.counters.get(counter);
        let (full, resumed, failed) =
            (n(Counter::TlsFull), n(Counter::TlsResumed), n(Counter::TlsFailed));
        if full + resumed + failed == 0 {
            return None;
        }
        let each = |cpu, count: u64| n(cpu) as f64 / 1000.0 / count.max(1) as f64;
        let cpu = [Counter::TlsFullCpu, Counter::TlsResumedCpu, Counter::TlsFailedCpu];
        let cpu = cpu.into_iter().map(n).sum::<u64>() as f64 / 1e9;
        let share = |part: f64, all: f64| if all > 0.0 { (part / all).min(1.0) } else { 0.0 };
        let tally = totals.requests().tally;
        let all = tally.sum_elapsed as f64;
        Some(Self {
            full,
            resumed,
            failed,
            per_s_peak: timeline.handshakes_best,
            time: Spread::new(totals.span(Span::Tls), u64::MAX),
            full_cpu_us: each(Counter::TlsFullCpu, full),
            resumed_cpu_us: each(Counter::TlsResumedCpu, resumed),
            cpu_share: share(cpu, cpu_s),
            time_share: share(n(Counter::TlsTime) as f64, all),
            own_share: share(tally.sum_lag as f64, all),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut out = format!(
            "TLS handshakes  {} full, {} resumed, {} failed",
            count(self.full),
            count(self.resumed),
            count(self.failed)
        );
        if self.per_s_peak > 0.0 {
            out.push_str(&format!("; at most {}/s", rate(self.per_s_peak)));
        }
        if self.full + self.resumed == 0 {
            return out + "\n";
        }
        out.push_str(&format!(
            "\n  time          p50 {}  p90 {}  p99 {} ms",
            digits(self.time.p50),
            digits(self.time.p90),
            digits(self.time.p99)
        ));
        if self.time_share > 0.0 {
            out.push_str(&format!("; {} of all response time", percent(self.time_share, 1)));
        }
        out.push_str("\n  CPU           ");
        let kinds = [(self.full_cpu_us, "full"), (self.resumed_cpu_us, "resumed")];
        let kinds = kinds.iter().filter(|(us, _)| *us > 0.0);
        let kinds: Vec<String> =
            kinds.map(|(us, kind)| format!("{} µs per {kind} handshake", digits(*us))).collect();
        out.push_str(&kinds.join(", "));
        out.push_str(&format!(": {} of the generator's CPU\n", percent(self.cpu_share, 1)));
        if self.own_share > 0.0 {
            out.push_str(&format!(
                "  overhead      {} of all response time is generator overhead, handshakes included\n",
                percent(self.own_share, 1)
            ));
        }
        out
    }
}
