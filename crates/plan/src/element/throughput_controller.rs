//! Throughput Controller: runs its children in a percentage of its parent's iterations, or a limited number of
//! times.
//!
//! Executions are counted per user, or for all users of the run together. In the second case both counts are in one
//! atomic, so that each iteration is decided exactly. If the run has several processes, each process decides for
//! its own users: a percentage applies within each process, and a total number is divided among the processes.

use std::sync::atomic::{AtomicU64, Ordering};

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::plan::{ControllerKind, ThroughputController, ThroughputShare};

/// Counts of a Throughput Controller for all users together: executions in the upper 32 bits, iterations in the lower.
#[derive(Debug, Default)]
pub(crate) struct Shared(AtomicU64);

/// Counts of a Throughput Controller so far, for one user or for all users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionCounts {
    /// Number of times that the children ran.
    pub executions: u32,
    /// Number of the parent's iterations that have started.
    pub iterations: u32,
}

/// Evaluated limit of a controller: a total number of executions, or a percentage of the parent's iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Total(i32),
    Percent(f32),
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId, at: u32) -> ControllerKind {
    let percent = ctx.props(id).int("ThroughputController.style").unwrap_or(0) == 1;
    let share = if percent {
        ThroughputShare::Percent(ctx.prop_or(id, "ThroughputController.percentThroughput", "100"))
    } else {
        ThroughputShare::Total(ctx.prop_or(id, "ThroughputController.maxThroughput", "1"))
    };
    let per_user = ctx.flag(id, "ThroughputController.perThread", true);
    ControllerKind::Throughput(ThroughputController { share, per_user, at })
}

impl ThroughputController {
    /// Returns true if the children run in the iteration that the parent starts now. `own` holds the user's counts.
    pub fn decide(&self, own: &mut ExecutionCounts, env: &mut Env<'_>) -> bool {
        let limit = self.limit(env);
        if self.per_user {
            return own.step(limit, u64::from);
        }
        let Some((shared, deal)) = env.run.throughput(self.at as usize) else { return false };
        let mut runs = false;
        let step = |bits: u64| {
            let mut ran = ExecutionCounts::from_bits(bits);
            runs = ran.step(limit, |execution| deal.nth(u64::from(execution)));
            Some(ran.to_bits())
        };
        let _ = shared.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        runs
    }

    /// Returns true if JMeter removes the controller from its parent's children. `at_end` is true if no child is
    /// left in this pass.
    pub fn is_done(&self, own: ExecutionCounts, at_end: bool, env: &mut Env<'_>) -> bool {
        let (limit, own) = (self.limit(env), u64::from(own.executions));
        match limit {
            Limit::Percent(percent) => percent == 0.0,
            Limit::Total(most) => {
                let ran = match env.run.throughput(self.at as usize).filter(|_| !self.per_user) {
                    Some((shared, deal)) => {
                        let ran = ExecutionCounts::from_bits(shared.0.load(Ordering::Relaxed));
                        deal.nth(u64::from(ran.executions))
                    }
                    None => own,
                };
                most == 0 || (at_end && i128::from(ran) >= i128::from(most))
            }
        }
    }

    fn limit(&self, env: &mut Env<'_>) -> Limit {
        match &self.share {
            ThroughputShare::Total(text) => {
                Limit::Total(text.parsed(env, |text| text.parse().unwrap_or(1)))
            }
            ThroughputShare::Percent(text) => Limit::Percent(text.parsed(env, percent)),
        }
    }
}

/// Parses a percentage as a Java `float`, which may end in a type letter.
fn percent(text: &str) -> f32 {
    let text = text.trim();
    let number = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    number.parse().unwrap_or(100.0)
}

impl ExecutionCounts {
    /// Counts an iteration and returns true if the children run. `number` converts a count of executions in this
    /// process to the number, from 0, of the next execution in the whole run.
    fn step(&mut self, limit: Limit, number: impl Fn(u32) -> u64) -> bool {
        let runs = match limit {
            Limit::Total(most) => i128::from(number(self.executions)) < i128::from(most),
            Limit::Percent(percent) => {
                let executions = f64::from(self.executions);
                (100.0 * executions + 50.0) / (f64::from(self.iterations) + 1.0)
                    < f64::from(percent)
            }
        };
        self.iterations = self.iterations.saturating_add(1);
        self.executions = self.executions.saturating_add(u32::from(runs));
        runs
    }

    fn from_bits(bits: u64) -> Self {
        Self { executions: (bits >> 32) as u32, iterations: bits as u32 }
    }

    fn to_bits(self) -> u64 {
        u64::from(self.executions) << 32 | u64::from(self.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(limit: Limit, iterations: usize) -> String {
        let mut ran = ExecutionCounts::default();
        let mut step = |_| if ran.step(limit, u64::from) { 'x' } else { '.' };
        (0..iterations).map(&mut step).collect()
    }

    #[test]
    fn percentages_are_spread_as_jmeter_spreads_them() {
        // (100 n + 50) / (i + 1) < 50 is false in the first iteration and then true in every second iteration.
        assert_eq!(runs(Limit::Percent(50.0), 8), ".x.x.x.x");
        assert_eq!(runs(Limit::Percent(100.0), 4), "xxxx");
        assert_eq!(runs(Limit::Percent(0.0), 4), "....");
        for percent in [1.0, 12.5, 33.3, 70.0, 99.0] {
            let ran = runs(Limit::Percent(percent), 1000);
            let count = ran.matches('x').count() as f32;
            assert!((count - percent * 10.0).abs() <= 1.0, "{percent}: {count}");
        }
    }

    #[test]
    fn a_total_is_reached_and_no_more() {
        assert_eq!(runs(Limit::Total(2), 5), "xx...");
        assert_eq!(runs(Limit::Total(-1), 3), "...");
    }

    #[test]
    fn counts_of_all_users_fit_into_one_number() {
        let ran = ExecutionCounts { executions: 7, iterations: u32::MAX };
        assert_eq!(ExecutionCounts::from_bits(ran.to_bits()), ran);
    }
}
