//! A machine that generator and target share. While its processors are saturated, the metrics show what the
//! generator leaves to the target, not what the target can do on a separate machine.

use std::net::{IpAddr, SocketAddr};

use record::{ClassName, Record, Second};
use serde::{Deserialize, Serialize};

use crate::rules::figures::seconds_in;

/// Processor use of a machine, as a share, from which its processors count as saturated.
const FULL: f64 = 0.95;
/// Smallest share of seconds with saturated processors for a finding.
const FULL_SHARE: f64 = 0.25;
/// Smallest number of seconds with saturated processors for a finding.
const LEAST_SECONDS: usize = 2;
/// Shortest partial second in ms that is evidence of processor use.
const LEAST_MS: u32 = 500;

/// A shared machine that had saturated processors.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Shared {
    /// Number of seconds with saturated processors.
    pub full_seconds: usize,
    /// Number of all seconds.
    pub seconds: usize,
    /// Share of the machine's processor time that all programs used.
    pub machine: f64,
    /// Share of the machine's processor time that the generator used.
    pub generator: f64,
}

impl Shared {
    /// Returns the combined findings of several runs on the same machine; `None` for no runs.
    pub fn together<'s>(all: impl Iterator<Item = &'s Self> + Clone) -> Option<Self> {
        let sum = |of: fn(&Self) -> usize| all.clone().map(of).sum::<usize>();
        let (full_seconds, seconds) = (sum(|one| one.full_seconds), sum(|one| one.seconds));
        let mean = |of: fn(&Self) -> f64| {
            all.clone().map(|one| of(one) * one.seconds as f64).sum::<f64>() / seconds as f64
        };
        let (machine, generator) = (mean(|one| one.machine), mean(|one| one.generator));
        (seconds > 0).then_some(Self { full_seconds, seconds, machine, generator })
    }

    /// Returns the finding as an English sentence without its full stop.
    pub fn words(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        format!(
            "the target shares the generator's machine, whose processors were full in {} of {} seconds ({} used, {} by the generator)",
            self.full_seconds,
            self.seconds,
            percent(self.machine),
            percent(self.generator)
        )
    }

    /// Returns the finding as a Chinese sentence without its full stop.
    pub fn words_zh(&self) -> String {
        format!(
            "被测系统与负载机共用一台机器，其处理器在 {} 秒中有 {} 秒满载（使用 {:.0} %，其中负载机 {:.0} %）",
            self.seconds,
            self.full_seconds,
            self.machine * 100.0,
            self.generator * 100.0
        )
    }
}

/// True if requests went to the generator's own machine: the frame of the record says so, or an address is a loopback
/// address.
pub fn target_is_here(record: &Record) -> bool {
    let is_loopback = |class: &ClassName| match class {
        ClassName::Address(address) => {
            let ip = address.parse::<SocketAddr>().map(|address| address.ip());
            ip.or_else(|_| address.parse::<IpAddr>()).is_ok_and(|ip| ip.is_loopback())
        }
        ClassName::Header { .. } => false,
    };
    record.frame.target_is_here || record.classes.iter().any(is_loopback)
}

/// Returns the CPU use of the machine that target and generator share, if it was saturated in the given seconds of a
/// run.
pub fn shared(record: &Record, seconds: &[Second]) -> Option<Shared> {
    if !target_is_here(record) {
        return None;
    }
    let looked = seconds.iter().filter(|second| second.ms >= LEAST_MS);
    let looked: Vec<_> =
        looked.filter_map(|second| Some((second, second.machine.as_ref()?))).collect();
    let all = seconds_in(looked.iter().map(|one| one.0));
    let full = looked.iter().filter(|(_, machine)| machine.cpu >= FULL);
    let full = seconds_in(full.map(|one| one.0));
    if full < LEAST_SECONDS || (full as f64) < FULL_SHARE * all as f64 {
        return None;
    }
    let n = looked.len() as f64;
    let of_generator = |second: &Second, processors: u32| {
        second.generator.cpu_s * 1000.0 / f64::from(second.ms) / f64::from(processors.max(1))
    };
    Some(Shared {
        full_seconds: full,
        seconds: all,
        machine: looked.iter().map(|(_, machine)| machine.cpu).sum::<f64>() / n,
        generator: looked.iter().map(|(s, m)| of_generator(s, m.processors)).sum::<f64>() / n,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stats::machine::Machine;

    use super::*;

    fn record(address: &str, cpu: f64) -> Record {
        let machine = Machine { cpu, processors: 2, ..Machine::default() };
        let mut second = Second { ms: 1000, machine: Some(machine), ..Second::default() };
        second.generator.cpu_s = 0.2;
        Record {
            classes: vec![ClassName::Address(Arc::from(address))],
            seconds: vec![second; 8],
            ..Record::default()
        }
    }

    #[test]
    fn a_full_machine_is_shared_with_a_target_on_it_alone() {
        let here = record("127.0.0.1:8080", 0.99);
        let found = shared(&here, &here.seconds).expect("full, and the target is here");
        assert_eq!((found.full_seconds, found.seconds), (8, 8));
        assert!((found.generator - 0.1).abs() < 1e-9 && (found.machine - 0.99).abs() < 1e-9);
        assert!(
            found.words().contains("full in 8 of 8 seconds (99 % used, 10 % by the generator)")
        );
        assert!(shared(&record("[::1]:80", 0.99), &here.seconds).is_some());
        assert!(shared(&record("10.0.0.7:80", 0.99), &here.seconds).is_none());
        let idle = record("127.0.0.1:8080", 0.5);
        assert!(shared(&idle, &idle.seconds).is_none());
        let other = Shared { full_seconds: 4, seconds: 8, machine: 0.95, generator: 0.3 };
        let both = Shared::together([found, other].iter()).expect("two");
        assert_eq!((both.full_seconds, both.seconds), (12, 16));
        assert!((both.machine - 0.97).abs() < 1e-9 && (both.generator - 0.2).abs() < 1e-9);
        assert!(Shared::together([].iter()).is_none());
        // One full second of eight is too few for a finding.
        let mut once = idle;
        once.seconds[3].machine = here.seconds[3].machine.clone();
        assert!(shared(&once, &once.seconds).is_none());
    }
}
