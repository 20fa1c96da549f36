//! Counter: a number that increases at each iteration of the enclosing loop, shared by all users or separate per
//! user.
//!
//! The shared number is one atomic. Without a maximum, the number increases without limit; after a maximum, it
//! restarts. If the run has several processes, the numbers are divided among them.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::state::Deal;
use crate::template::Template;
use crate::template::flag::{self, Flag};
use crate::template::number_format::NumberFormat;
use crate::template::variable::Variable;

/// A compiled Counter.
#[derive(Debug)]
pub struct CounterConfig {
    variable: Variable,
    start: Template,
    end: Template,
    increment: Template,
    format: NumberFormat,
    per_user: Flag,
    reset_each_iteration: Flag,
}

/// State of a Counter that all users share: the next number.
#[derive(Debug)]
pub(crate) struct Shared {
    next: AtomicI64,
    /// Number of increments in this process. Used only if the numbers are divided among several processes.
    stepped: AtomicU64,
}

/// Value of `next` before a Counter's first increment.
const NONE: i64 = i64::MIN;

impl Default for Shared {
    fn default() -> Self {
        Self { next: AtomicI64::new(NONE), stepped: AtomicU64::new(0) }
    }
}

/// State of a Counter that each user has separately: the next number, and the iteration in which it was last
/// incremented.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserCounter {
    next: i64,
    iteration: u32,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> CounterConfig {
    CounterConfig {
        variable: Variable::compile(ctx, id, "CounterConfig.name"),
        start: ctx.prop(id, "CounterConfig.start"),
        end: ctx.prop(id, "CounterConfig.end"),
        increment: ctx.prop(id, "CounterConfig.incr"),
        format: NumberFormat::compile(ctx, id, "CounterConfig.format"),
        per_user: flag::compile(ctx, id, "CounterConfig.per_user", false),
        reset_each_iteration: flag::compile(ctx, id, "CounterConfig.reset_on_tg_iteration", false),
    }
}

impl CounterConfig {
    /// Sets the variable to the Counter's number, and then increments the number.
    pub(crate) fn step(&self, at: usize, env: &mut Env<'_>) {
        let start = self.start.long(env);
        let end = self.end.parsed(env, |end| match end {
            "" => i64::MAX,
            end => end.parse().unwrap_or(0),
        });
        let increment = self.increment.long(env);
        let value = if self.per_user.get(env) {
            let iteration = env.who.iteration;
            let reset = self.reset_each_iteration.get(env);
            let own =
                env.notes.counter(at).get_or_insert(UserCounter { next: start, iteration: 1 });
            if reset {
                if own.iteration != iteration {
                    own.next = start;
                }
                own.iteration = iteration;
            }
            let value = own.next;
            own.next = value.wrapping_add(increment);
            if own.next > end {
                own.next = start;
            }
            value
        } else {
            env.run
                .counter(at)
                .map_or(start, |(shared, deal)| shared.step(start, end, increment, deal))
        };
        self.variable.set(env, |env, out| self.format.write(value, env, out));
    }
}

impl Shared {
    fn step(&self, start: i64, end: i64, increment: i64, deal: Deal) -> i64 {
        if !deal.is_all() {
            let nth = deal.nth(self.stepped.fetch_add(1, Ordering::Relaxed));
            return nth_value(nth, start, end, increment);
        }
        let current = |held: i64| if held == NONE || held > end { start } else { held };
        let step = |held| Some(current(held).wrapping_add(increment));
        // The closure always returns a value, so both arms hold the number before the increment.
        let (Ok(held) | Err(held)) =
            self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        current(held)
    }
}

/// Returns the value after `nth` increments, provided that the settings have not changed.
fn nth_value(nth: u64, start: i64, end: i64, increment: i64) -> i64 {
    let after = |steps: u64| start.wrapping_add(increment.wrapping_mul(steps as i64));
    match (increment > 0, start > end) {
        (true, true) => start,
        (true, false) => match (end.abs_diff(start) / increment.unsigned_abs()).checked_add(1) {
            Some(round) => after(nth % round),
            None => after(nth),
        },
        (false, true) if after(1) > end => start,
        (false, _) => after(nth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Shard;

    /// Returns the numbers that `count` processes produce in `steps` increments each, in the order of the run.
    fn dealt(count: u32, steps: usize, (start, end, increment): (i64, i64, i64)) -> Vec<i64> {
        let shares: Vec<Shared> = (0..count).map(|_| Shared::default()).collect();
        let mut all = Vec::new();
        for _ in 0..steps {
            for (index, shared) in (0..).zip(&shares) {
                all.push(shared.step(start, end, increment, Shard { index, count }.deal(count)));
            }
        }
        all
    }

    #[test]
    fn several_processes_count_as_one() {
        for settings in [
            (1, i64::MAX, 1),
            (0, 9, 1),
            (5, 20, 4),
            (10, 12, 7),
            (3, 2, 1),
            (3, 2, 0),
            (5, 2, -1),
            (5, 2, -4),
            (1, 2, -1),
            (0, 0, 1),
        ] {
            assert_eq!(dealt(3, 8, settings), dealt(1, 24, settings), "{settings:?}");
            assert_eq!(dealt(4, 6, settings), dealt(1, 24, settings), "{settings:?}");
        }
    }
}
