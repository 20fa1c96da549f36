//! `__jexl2`, `__groovy` and `__javaScript` for scripts that are comparisons, as most conditions of plans are.
//!
//! A call is compiled to these functions only if its script is a comparison for any values of its variables; other
//! scripts need a JVM. As in JMeter, a script that throws an exception (a value makes it invalid) evaluates to an
//! empty string.

use super::Call;
use crate::condition::{Dialect, compute};
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__jexl2(script, variable)`.
pub(super) fn jexl(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    run(call, env, out, Dialect::Jexl)
}

/// Runs `__groovy(script, variable)`.
pub(super) fn groovy(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    run(call, env, out, Dialect::Groovy)
}

/// Runs `__javaScript(script, variable)`.
pub(super) fn java_script(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    run(call, env, out, Dialect::JavaScript)
}

fn run(call: &Call, env: &mut Env<'_>, out: &mut String, dialect: Dialect) -> Outcome {
    let script = call.arg(0, env)?;
    let start = out.len();
    if compute(&script, dialect, out) {
        call.store(1, env, &out[start..])?;
    }
    env.core.give(script);
    Ok(())
}
