//! `__groovy` and `__BeanShell` with simple scripts.

use super::Call;
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__groovy(script, variable)` and `__BeanShell(script, variable)`. As in JMeter, a script that throws an
/// exception evaluates to an empty string, and the exception is logged.
pub(super) fn run(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    if let Some(script) = &call.script
        && script.function(env, out)
    {
        call.store(1, env, &out[start..])?;
    }
    Ok(())
}
