//! Detects a thread that is always busy: programs that use exactly one processor under load.
//!
//! The evidence is a process of a watched host (`process_cpu`) or, for a target on the generator's machine, the
//! processor time of all other programs there. This is not a separate finding: it explains a limit of 1.

use record::{Record, Second, Series};

use super::figures::{Span, deviation, in_flight, mean, span, whole};
use super::say::{number, words};
use crate::shared::target_is_here;
use crate::verdict::{Finding, Words};

/// Range of the mean processor use of one busy thread, in processors. A thread that waits now and then uses less;
/// several threads use more.
const ONE: (f64, f64) = (0.9, 1.08);
/// Largest standard deviation of the processor use from second to second, in processors, at which it counts as that of
/// one busy thread.
const STEADY: f64 = 0.12;
/// Smallest number of seconds under full load with a reading of the processor use, for a busy thread to be recognised.
const LEAST: usize = 10;
/// Shortest partial second in ms that is evidence of processor use.
const WHOLE_MS: u32 = 900;

/// Programs that use one processor.
pub(super) struct OneThread {
    /// Beginning of a sentence with the busy programs as its subject: the process on a host, or all programs beside the
    /// generator.
    who: Words,
    /// Number of processors that the programs use.
    used: f64,
    span: Span,
}

impl OneThread {
    /// Describes the programs as the end of a sentence.
    pub(super) fn clause(&self) -> Words {
        let used = number(self.used);
        words!(one_thread_clause(who = self.who, used))
    }

    /// Adds the processor use to a finding whose limit it explains.
    pub(super) fn explain(&self, finding: Finding) -> Finding {
        finding
            .with("processors_used", self.used, "processors", self.span)
            .advise(words!(one_thread_advice))
    }
}

/// Returns the programs that use one processor while the target is fully loaded.
pub(super) fn one_thread(record: &Record) -> Option<OneThread> {
    let seconds = whole(record);
    let most = seconds.iter().map(in_flight).fold(0.0, f64::max);
    let is_busy = |second: &&Second| second.ms >= WHOLE_MS && in_flight(second) >= 0.5 * most;
    let busy: Vec<&Second> = seconds.iter().filter(is_busy).collect();
    let span = span(seconds);
    let of_host = record.series.iter().zip(0u32..).filter(|(one, _)| &*one.metric == "process_cpu");
    let of_host = of_host.filter_map(|(Series { host, .. }, at)| {
        let value = |second: &&Second| second.watched.iter().find(|one| one.0 == at).map(|v| v.1);
        let used = is_one(&busy.iter().filter_map(value).collect::<Vec<_>>())?;
        let who = words!(process_on_host_uses(host));
        Some(OneThread { who, used, span })
    });
    of_host.into_iter().next().or_else(|| {
        let beside = busy.iter().filter_map(|second| beside(second)).collect::<Vec<_>>();
        let used = is_one(&beside).filter(|_| target_is_here(record))?;
        let who = words!(programs_use);
        Some(OneThread { who, used, span })
    })
}

/// Returns the number of processors that other programs use on the generator's machine; `None` if it has only one
/// processor.
fn beside(second: &Second) -> Option<f64> {
    let machine = second.machine.as_ref().filter(|machine| machine.processors > 1)?;
    let own = second.generator.cpu_s * 1000.0 / f64::from(second.ms);
    Some(machine.cpu * f64::from(machine.processors) - own)
}

/// Returns the mean of processor uses if it matches one busy thread.
fn is_one(used: &[f64]) -> Option<f64> {
    let middle = mean(used);
    let one = used.len() >= LEAST && (ONE.0..=ONE.1).contains(&middle);
    (one && deviation(used) <= STEADY).then_some(middle)
}
