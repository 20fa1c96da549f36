//! `__intSum` and `__longSum`. Sums wrap around on overflow, as in Java.

use std::fmt::Write;

use super::{Call, trim};
use crate::env::Env;
use crate::template::{Outcome, Thrown};

/// Runs `__intSum(number, …, number or variable)`.
pub(super) fn int(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let last = call.arg(call.args().len() - 1, env)?;
    let mut sum = 0i32;
    for n in 0..call.args().len() - 1 {
        let text = call.arg(n, env)?;
        sum = sum.wrapping_add(text.parse().map_err(|_| Thrown::not_a_number(&text))?);
        env.core.give(text);
    }
    let number = trim(&last).parse::<i32>();
    let _ = write!(out, "{}", sum.wrapping_add(number.as_ref().copied().unwrap_or(0)));
    // An empty name is a valid variable name.
    if number.is_err() {
        env.vars.set_named(env.names, trim(&last), &out[start..]);
    }
    env.core.give(last);
    Ok(())
}

/// Runs `__longSum(number, …, number or variable)`.
pub(super) fn long(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let last = call.arg(call.args().len() - 1, env)?;
    let mut sum = 0i64;
    for n in 0..call.args().len() - 1 {
        let text = call.arg(n, env)?;
        sum = sum.wrapping_add(text.parse().map_err(|_| Thrown::not_a_number(&text))?);
        env.core.give(text);
    }
    let number = trim(&last).parse::<i64>();
    let _ = write!(out, "{}", sum.wrapping_add(number.as_ref().copied().unwrap_or(0)));
    if number.is_err() && !trim(&last).is_empty() {
        env.vars.set_named(env.names, trim(&last), &out[start..]);
    }
    env.core.give(last);
    Ok(())
}
