//! Rates that timers maintain, as far as they are known before the first sample.

use super::Timer;
use crate::env::Env;
use crate::load::Phase;

/// A rate that a timer maintains.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Samples per second; the maximum if the rate changes.
    pub per_second: f64,
    /// Changes of the rate, from the start of the first user; empty if the rate is constant.
    pub schedule: Vec<Phase>,
    /// Users that share the rate.
    pub of: RateScope,
}

/// The users that share a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateScope {
    /// Each user has the whole rate for itself.
    User,
    /// All users of the group share the rate.
    Group,
    /// The rate is divided by all users of the run, even those whose groups lack the timer.
    All,
    /// All users that reach the timer with this number share the rate; without a number, all users that reach any
    /// timer of this kind.
    Shared(Option<u32>),
}

impl Timer {
    /// Returns the rate that the timer maintains; `None` for a timer without a rate. The error means that the rate
    /// is unknown before samples run.
    pub fn pace(&self, env: &mut Env<'_>) -> Option<Result<Pace, Unknown>> {
        let pace = match self {
            Self::Throughput(timer) => timer.pace(env),
            Self::Precise(timer) => timer.pace(env),
            Self::Shaping(timer) => timer.pace(env),
            Self::Constant(_)
            | Self::Random { .. }
            | Self::Sync(_)
            | Self::Script(_)
            | Self::Job(_) => return None,
        };
        Some(pace.filter(|pace| pace.per_second.is_finite()).ok_or(Unknown))
    }
}

/// The error for a rate that is unknown before samples run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;
