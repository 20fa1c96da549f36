//! Counter: a number that goes up at each iteration of the loop around it, one for all users or one per user.
//!
//! The shared number is one atomic. An end that is left empty is no end; behind the end it starts anew.

use std::sync::atomic::{AtomicI64, Ordering};

use jmx::ElementId;

use super::format::NumberFormat;
use super::{Flag, flag};
use crate::compile::Context;
use crate::env::Env;
use crate::text::Text;

/// A compiled Counter.
#[derive(Debug)]
pub struct CounterConfig {
    variable: super::Variable,
    start: Text,
    end: Text,
    increment: Text,
    format: NumberFormat,
    per_user: Flag,
    reset_each_iteration: Flag,
}

/// The number of all users.
#[derive(Debug)]
pub(super) struct Shared(AtomicI64);

/// The value that stands for "not started".
const NONE: i64 = i64::MIN;

impl Default for Shared {
    fn default() -> Self {
        Self(AtomicI64::new(NONE))
    }
}

/// The number of one user, and the iteration it was last stepped in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    next: i64,
    iteration: u32,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> CounterConfig {
    CounterConfig {
        variable: super::Variable::compile(ctx, id, "CounterConfig.name"),
        start: ctx.prop(id, "CounterConfig.start"),
        end: ctx.prop(id, "CounterConfig.end"),
        increment: ctx.prop(id, "CounterConfig.incr"),
        format: NumberFormat::compile(ctx, id, "CounterConfig.format"),
        per_user: flag::compile(ctx, id, "CounterConfig.per_user", false),
        reset_each_iteration: flag::compile(ctx, id, "CounterConfig.reset_on_tg_iteration", false),
    }
}

impl CounterConfig {
    /// Sets the variable and steps the number.
    pub(super) fn step(&self, at: usize, env: &mut Env<'_>) {
        let start = self.start.long(env);
        let end = self.end.parsed(env, |end| match end {
            "" => i64::MAX,
            end => end.parse().unwrap_or(0),
        });
        let increment = self.increment.long(env);
        let value = if self.per_user.get(env) {
            let iteration = env.who.iteration;
            let reset = self.reset_each_iteration.get(env);
            let own = env.notes.counter(at).get_or_insert(Own { next: start, iteration: 1 });
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
            env.run.counter(at).map_or(start, |shared| shared.step(start, end, increment))
        };
        self.variable.set(env, |env, out| self.format.write(value, env, out));
    }
}

impl Shared {
    fn step(&self, start: i64, end: i64, increment: i64) -> i64 {
        let current = |held: i64| if held == NONE || held > end { start } else { held };
        let step = |held| Some(current(held).wrapping_add(increment));
        // The closure never gives up, so both arms hold the number before the step.
        let (Ok(held) | Err(held)) =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        current(held)
    }
}
