//! `__fifoPut`, `__fifoGet`, `__fifoPop`, `__fifoSize`: functions of the jp@gc plug-ins for queues that users
//! share.
//!
//! For an empty queue, the functions immediately return the value that JMeter returns after its timeout, because
//! the users of a core cannot wait within an expression.

use std::fmt::Write;

use super::{Call, Level, trim};
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__fifoPut(queue, text)` and returns the string.
pub(super) fn put(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let (queue, text) = (call.arg(0, env)?, call.arg(1, env)?);
    env.shared.queues().put(&queue, &text);
    out.push_str(&text);
    env.core.give(text);
    env.core.give(queue);
    Ok(())
}

/// Runs `__fifoGet(queue, variable)`: returns the first string without removing it; empty if there is none.
pub(super) fn get(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let queue = call.arg(0, env)?;
    let first = env.shared.queues().first(&queue);
    env.core.give(queue);
    out.push_str(first.as_deref().unwrap_or(""));
    keep(call, Some(first.as_deref().unwrap_or("")), env)
}

/// Runs `__fifoPop(queue, variable)`: removes and returns the first string; `null` if there is none.
pub(super) fn pop(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let queue = call.arg(0, env)?;
    let first = env.shared.queues().take(&queue);
    if first.is_none() {
        env.shared.log(
            Level::Warn,
            format!("__fifoPop: the queue {queue} is empty; the function does not wait"),
        );
    }
    env.core.give(queue);
    out.push_str(first.as_deref().unwrap_or("null"));
    keep(call, first.as_deref(), env)
}

/// Runs `__fifoSize(queue, variable)`.
pub(super) fn size(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let queue = call.arg(0, env)?;
    let start = out.len();
    let _ = write!(out, "{}", env.shared.queues().len(&queue));
    env.core.give(queue);
    keep(call, Some(&out[start..]), env)
}

/// Sets the variable that the second parameter names, or removes it without a value. An empty name is also a variable.
fn keep(call: &Call, value: Option<&str>, env: &mut Env<'_>) -> Outcome {
    if !call.has(1) {
        return Ok(());
    }
    let name = call.arg(1, env)?;
    match value {
        Some(value) => env.vars.set_named(env.names, trim(&name), value),
        None => env.vars.remove_named(env.names, trim(&name)),
    }
    env.core.give(name);
    Ok(())
}
