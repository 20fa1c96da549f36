//! Random Variable: draws a random integer at each iteration of the enclosing loop.
//!
//! With a seed, the numbers are those of `java.util.Random`, so that a plan draws the same numbers as in JMeter.
//! Without a seed, the numbers come from the core's generator. The generator that users share is one atomic. If the run
//! has several processes, its numbers are divided among them.

use std::sync::atomic::{AtomicU64, Ordering};

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::state::Deal;
use crate::template::Template;
use crate::template::flag::{self, Flag};
use crate::template::number_format::NumberFormat;
use crate::template::variable::Variable;

/// A compiled Random Variable.
#[derive(Debug)]
pub struct RandomVariable {
    variable: Variable,
    minimum: Template,
    maximum: Template,
    seed: Template,
    format: NumberFormat,
    per_user: Flag,
}

/// State of `java.util.Random`, a linear congruential generator of 48 bits.
#[derive(Debug)]
pub(crate) struct JavaRandom {
    state: AtomicU64,
    /// Number of draws in this process. Used only if the numbers are divided among several processes.
    drawn: AtomicU64,
}

/// Value of `state` before the first draw of a generator.
const NONE: u64 = u64::MAX;

impl Default for JavaRandom {
    fn default() -> Self {
        Self { state: AtomicU64::new(NONE), drawn: AtomicU64::new(0) }
    }
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> RandomVariable {
    RandomVariable {
        variable: Variable::compile(ctx, id, "variableName"),
        minimum: ctx.prop(id, "minimumValue"),
        maximum: ctx.prop(id, "maximumValue"),
        seed: ctx.prop(id, "randomSeed"),
        format: NumberFormat::compile(ctx, id, "outputFormat"),
        per_user: flag::compile(ctx, id, "perThread", false),
    }
}

impl RandomVariable {
    /// Sets the variable to the next number; does nothing if the maximum is below the minimum.
    pub(crate) fn draw(&self, at: usize, env: &mut Env<'_>) {
        let minimum = self.minimum.long(env);
        let maximum = self.maximum.long(env);
        if minimum > maximum {
            return;
        }
        // Wider ranges are truncated, as in JMeter.
        let range = maximum.wrapping_sub(minimum).wrapping_add(1);
        let range = if range <= 0 { i32::MAX } else { i32::try_from(range).unwrap_or(i32::MAX) };
        let seed = self.seed.parsed(env, |seed| seed.parse::<i64>().ok());
        let offset = match seed {
            None => env.core.random.below(range as u64) as i64,
            Some(seed) if self.per_user.get(env) => env.notes.random(at).below(seed, range),
            Some(seed) => {
                env.run.random(at).map_or(0, |(random, deal)| random.dealt(seed, range, deal))
            }
        };
        let value = minimum.wrapping_add(offset);
        self.variable.set(env, |env, out| self.format.write(value, env, out));
    }
}

impl JavaRandom {
    /// Returns the next number in `0..bound` for users of this process. Draws and discards the numbers of other
    /// processes.
    fn dealt(&self, seed: i64, bound: i32, deal: Deal) -> i64 {
        let nth = self.drawn.fetch_add(1, Ordering::Relaxed);
        for _ in 0..deal.gap(nth) {
            self.below(seed, bound);
        }
        self.below(seed, bound)
    }

    /// Returns the next number in `0..bound`. The seed applies only to the first number.
    fn below(&self, seed: i64, bound: i32) -> i64 {
        if bound & (bound - 1) == 0 {
            return (i64::from(bound) * i64::from(self.bits(seed))) >> 31;
        }
        loop {
            let bits = self.bits(seed);
            let value = bits % bound;
            // Numbers of the last, incomplete multiple of `bound` are discarded.
            if bits.checked_sub(value).and_then(|low| low.checked_add(bound - 1)).is_some() {
                return i64::from(value);
            }
        }
    }

    /// Returns 31 random bits.
    fn bits(&self, seed: i64) -> i32 {
        const FACTOR: u64 = 0x5_DEEC_E66D;
        const MASK: u64 = (1 << 48) - 1;
        let step = |held: u64| {
            let state = if held == NONE { (seed as u64 ^ FACTOR) & MASK } else { held };
            state.wrapping_mul(FACTOR).wrapping_add(0xB) & MASK
        };
        let (Ok(held) | Err(held)) =
            self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| Some(step(held)));
        (step(held) >> 17) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Shard;

    #[test]
    fn a_seed_gives_the_numbers_of_java() {
        let random = JavaRandom::default();
        // Results of new java.util.Random(42).nextInt(100), called ten times.
        let drawn: Vec<_> = (0..10).map(|_| random.below(42, 100)).collect();
        assert_eq!(drawn, [30, 63, 48, 84, 70, 25, 5, 18, 19, 93]);
        let random = JavaRandom::default();
        let drawn: Vec<_> = (0..4).map(|_| random.below(-7, 64)).collect();
        assert_eq!(drawn, [17, 57, 43, 60]);
        let dealt = |index, count, times| -> Vec<i64> {
            let random = JavaRandom::default();
            (0..times).map(|_| random.dealt(42, 100, Shard { index, count }.deal(count))).collect()
        };
        assert_eq!(dealt(0, 3, 3), [30, 84, 5]);
        assert_eq!(dealt(2, 3, 3), [48, 25, 19]);
    }
}
