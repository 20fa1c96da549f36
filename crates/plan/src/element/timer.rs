//! Delays before a sampler. The delays of all timers in scope are added up.

use std::sync::Arc;

use super::{PreciseTimer, ShapingTimer, SyncTimer, ThroughputTimer};
use crate::env::Env;
use crate::java_backed::Job;
use crate::script::Scripted;
use crate::template::Template;

/// A timer.
#[derive(Debug)]
pub enum Timer {
    /// A constant delay in milliseconds.
    Constant(Template),
    /// A constant offset and a random part, both in milliseconds.
    Random {
        /// Distribution of the random part.
        shape: Shape,
        /// Offset that is added to the random part.
        offset: Template,
        /// Range of a uniform, standard deviation of a Gaussian, or mean of a Poisson distribution.
        range: Template,
        /// Factor by which the delay is multiplied.
        factor: f32,
    },
    /// Constant Throughput Timer: maintains a rate of samples.
    Throughput(ThroughputTimer),
    /// Precise Throughput Timer: random sample times with an exact number per interval.
    Precise(PreciseTimer),
    /// Throughput Shaping Timer: schedules samples by changing rates, and can stop users; see [`Timer::delay`].
    Shaping(ShapingTimer),
    /// Synchronizing Timer: makes the user wait for other users, without a delay; see [`Timer::delay`].
    Sync(SyncTimer),
    /// A script computes the delay.
    Script(Arc<Scripted>),
    /// Java evaluates templates or runs the timer; see [`Timer::delay`].
    Job(Job),
}

/// Distribution of random delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Uniform distribution between 0 and the range.
    Uniform,
    /// Gaussian distribution with mean 0.
    Gaussian,
    /// Poisson distribution with the rounded range as mean.
    Poisson,
}

/// Number of standard deviations that a random part exceeds with a probability of only 10⁻¹⁵.
const NEVER: f64 = 8.0;

impl Timer {
    /// Returns the maximum delay in ms; `None` if it depends on variables, on other users or on a rate.
    pub fn longest_ms(&self) -> Option<f64> {
        let number = |text: &Template| text.fixed()?.trim().parse::<f64>().ok();
        match self {
            Self::Constant(text) => number(text),
            Self::Random { shape, offset, range, factor } => {
                let range = number(range)?.abs();
                let random = match shape {
                    Shape::Uniform => range,
                    Shape::Gaussian => NEVER * range,
                    Shape::Poisson => range + NEVER * (range + 1.0).sqrt(),
                };
                Some((number(offset)?.abs() + random) * f64::from(*factor))
            }
            _ => None,
        }
    }

    /// Returns the delay in nanoseconds, never negative. The delay is 0 for a Synchronizing Timer and a Throughput
    /// Shaping Timer, because the caller implements the waits of these timers.
    pub fn delay(&self, env: &mut Env<'_>) -> u64 {
        match self {
            Self::Constant(text) => from_ms(text.long(env)),
            Self::Random { shape, offset, range, factor } => {
                let range = range.double(env);
                let random = match shape {
                    Shape::Uniform => env.core.random.unit() * range,
                    Shape::Gaussian => env.core.random.gaussian() * range,
                    Shape::Poisson => env.core.random.poisson((range + 0.5).floor()),
                };
                let delay = (random + offset.long(env) as f64).abs() as i64;
                // JMeter rounds the delay only if a factor is set.
                let scaled =
                    if *factor == 1.0 { delay } else { (delay as f32 * factor).round() as i64 };
                from_ms(scaled)
            }
            Self::Throughput(timer) => u64::try_from(timer.delay(env)).unwrap_or(0),
            Self::Precise(timer) => timer.delay(env),
            Self::Script(script) => from_ms(script.delay(env)),
            Self::Shaping(_) | Self::Sync(_) | Self::Job(_) => 0,
        }
    }
}

fn from_ms(delay: i64) -> u64 {
    u64::try_from(delay).map_or(0, |delay| delay.saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(shape: Shape, offset: &str, range: &str) -> Timer {
        let [offset, range] = [offset, range].map(|text| Template::Fixed(text.into()));
        Timer::Random { shape, offset, range, factor: 2.0 }
    }

    #[test]
    fn the_longest_delay_is_known_where_the_plan_says_it() {
        let constant = |text: &str| Timer::Constant(Template::Fixed(text.into())).longest_ms();
        assert_eq!((constant(" 300 "), constant("soon")), (Some(300.0), None));
        assert_eq!(random(Shape::Uniform, "100", "50").longest_ms(), Some(300.0));
        for shape in [Shape::Gaussian, Shape::Poisson] {
            let longest = random(shape, "100", "50").longest_ms().expect("numbers");
            assert!((400.0..=1200.0).contains(&longest), "{longest}");
        }
        assert_eq!(random(Shape::Uniform, "100", "").longest_ms(), None);
    }
}
