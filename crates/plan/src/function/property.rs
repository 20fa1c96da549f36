//! Property functions: `__P`, `__property`, `__setProperty`, `__isPropDefined`.
//!
//! As in JMeter, values and defaults are trimmed when they are read, but not when they are written.

use super::{Call, is_true, trim};
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__P(name, default = 1)`.
pub(super) fn p(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let name = call.arg(0, env)?;
    // The default is evaluated even if it is not needed, because it may have side effects.
    let default = call.arg(1, env)?;
    let otherwise = if call.has(1) { &*default } else { "1" };
    read(env, &name, otherwise, out);
    env.core.give(name);
    env.core.give(default);
    Ok(())
}

/// Runs `__property(name, variable, default = name)`.
pub(super) fn property(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let name = call.arg(0, env)?;
    let default = call.arg(2, env)?;
    let otherwise = if call.has(2) { &*default } else { &*name };
    read(env, &name, otherwise, out);
    env.core.give(default);
    env.core.give(name);
    let variable = call.arg(1, env)?;
    if !variable.is_empty() {
        env.vars.set_named(env.names, &variable, &out[start..]);
    }
    env.core.give(variable);
    Ok(())
}

/// Runs `__setProperty(name, value, return the previous value = false)`.
pub(super) fn set(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let name = call.arg(0, env)?;
    let value = call.arg(1, env)?;
    let returns = call.arg(2, env)?;
    let before = env.shared.set_property(&name, &value);
    if is_true(&returns) {
        // Java prints a null reference as `null`.
        out.push_str(before.as_deref().unwrap_or("null"));
    }
    env.core.give(returns);
    env.core.give(value);
    env.core.give(name);
    Ok(())
}

/// Runs `__isPropDefined(name)`.
pub(super) fn is_defined(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let name = call.arg(0, env)?;
    let defined = env.core.cache.property(env.shared, &name).is_some();
    out.push_str(if defined { "true" } else { "false" });
    env.core.give(name);
    Ok(())
}

fn read(env: &mut Env<'_>, name: &str, otherwise: &str, out: &mut String) {
    out.push_str(trim(env.core.cache.property(env.shared, name).unwrap_or(otherwise)));
}
