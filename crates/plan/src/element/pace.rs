//! Rates that timers keep, as far as they are known before the first sample.

use super::Timer;
use crate::env::Env;
use crate::load::Phase;

/// A rate that a timer keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Samples; the most at one time.
    pub per_second: f64,
    /// How it changes, from the first user on; empty: it does not.
    pub schedule: Vec<Phase>,
    /// Those who keep it.
    pub of: Of,
}

/// The users that keep a rate together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Each user by itself.
    User,
    /// All users of the group.
    Group,
    /// All users of the run, whether their groups have the timer or not: each keeps its part.
    All,
    /// All users that come to the timer of this number; without one, to any timer of its kind.
    Shared(Option<u32>),
}

impl Timer {
    /// The rate that the timer keeps; `None`: it keeps none. `Err`: nobody knows it before samples run.
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

/// A rate that only a sample can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;
