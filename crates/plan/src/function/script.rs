//! `__groovy` and `__BeanShell` with scripts that are simple.

use super::Call;
use crate::env::Env;
use crate::template::Outcome;

/// `__groovy(script, variable)`, `__BeanShell(script, variable)`. What throws comes to nothing and is said in the log, as in JMeter.
pub(super) fn run(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    if let Some(script) = &call.script
        && script.function(env, out)
    {
        call.store(1, env, &out[start..])?;
    }
    Ok(())
}
