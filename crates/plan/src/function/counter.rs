//! `__counter`: each call in the plan has its own counter, per user or for all users.

use std::fmt::Write;

use super::{Call, is_true};
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__counter(per user, variable)`: unless the first parameter is `true`, all users share the counter.
pub(super) fn count(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let per_user = call.arg(0, env)?;
    let value = match call.site {
        None => 1,
        Some(site) if is_true(&per_user) => env.memory.count(site),
        Some(site) => {
            // As in JMeter, the shared counter wraps at 32 bits.
            let before = env.shared.site(site).count() as u32;
            (env.shared.dealt(u64::from(before)) as i32).wrapping_add(1)
        }
    };
    env.core.give(per_user);
    let start = out.len();
    let _ = write!(out, "{value}");
    call.store(1, env, &out[start..])
}
