//! Rates that timers keep, as far as they are known before the first sample.

use super::Timer;
use crate::env::Env;
use crate::load::Phase;

/// A rate of samples that a timer keeps, and the users that share the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Samples per second; the maximum if the rate changes.
    pub per_second: f64,
    /// Changes of the rate over time, from the start of the first user; empty if the rate is constant.
    pub schedule: Vec<Phase>,
    /// Users that share the rate.
    pub of: RateScope,
}

/// The users that share the rate of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateScope {
    /// Each user has the full rate.
    User,
    /// All users of the group share the rate.
    Group,
    /// The rate is divided by the number of all users of the run, including groups without the timer.
    All,
    /// The users that reach the timer with this number share the rate. Without a number, all users that reach any
    /// timer of this kind share it.
    Shared(Option<u32>),
}

impl Timer {
    /// Returns the rate that the timer keeps; `None` for a timer without a rate. The error means that the rate is
    /// unknown before samples run.
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
