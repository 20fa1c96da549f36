//! `__jexl2`, `__groovy` and `__javaScript`, as far as they compare: what conditions of plans consist of.
//!
//! A call is compiled to these only if its script is a comparison for any values of its variables; every other script
//! needs a JVM. A script that throws (a value makes it unreadable) comes to nothing, as in JMeter.

use super::Call;
use crate::condition::{Dialect, compute};
use crate::env::Env;
use crate::template::Outcome;

/// `__jexl2(script, variable)`.
pub(super) fn jexl(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    run(call, env, out, Dialect::Jexl)
}

/// `__groovy(script, variable)`.
pub(super) fn groovy(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    run(call, env, out, Dialect::Groovy)
}

/// `__javaScript(script, variable)`.
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
