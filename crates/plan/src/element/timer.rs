//! Delays before a sampler. All timers in scope add up.

use std::sync::Arc;

use super::{PreciseTimer, ShapingTimer, SyncTimer, ThroughputTimer};
use crate::env::Env;
use crate::java_backed::Job;
use crate::script::Scripted;
use crate::template::Template;

/// A timer.
#[derive(Debug)]
pub enum Timer {
    /// The same delay each time, milliseconds.
    Constant(Template),
    /// An offset and a random part, both milliseconds.
    Random {
        /// How the random part is distributed.
        shape: Shape,
        /// Added to the random part.
        offset: Template,
        /// Width of a uniform part, standard deviation of a normal one, mean of one after Poisson.
        range: Template,
        /// The delay is multiplied with it.
        factor: f32,
    },
    /// Keeps a rate.
    Throughput(ThroughputTimer),
    /// Random moments, of which each stretch of time has its exact number.
    Precise(PreciseTimer),
    /// Turns by a schedule of rates, which end users as well: see [`Timer::delay`].
    Shaping(ShapingTimer),
    /// Waits for other users, which is not a delay: see [`Timer::delay`].
    Sync(SyncTimer),
    /// A script says how long.
    Script(Arc<Scripted>),
    /// Java does something; see [`Timer::delay`] there, too.
    Job(Job),
}

/// How random delays are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Between 0 and the range.
    Uniform,
    /// Normal with mean 0.
    Gaussian,
    /// Poisson; the range, rounded, is its mean.
    Poisson,
}

/// Standard deviations that a random part never reaches: once in 10¹⁵.
const NEVER: f64 = 8.0;

impl Timer {
    /// The longest delay, ms; `None` where it is not known before: it depends on variables, other users or a rate.
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

    /// The delay, nanoseconds. Never negative; that of a Synchronizing Timer or a schedule, which whoever runs the user carries out, is 0.
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
                // Rounded only where there is a factor.
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
