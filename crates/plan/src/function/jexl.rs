//! `__jexl3`: scripts in JEXL, as far as they are known here; any other needs a JVM.

use super::{Call, Level};
use crate::env::Env;
use crate::jexl;
use crate::text::Outcome;

/// `__jexl3(script, variable)`.
pub(super) fn run(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let script = call.arg(0, env)?;
    let start = out.len();
    match jexl::run(&script, env, out) {
        jexl::Outcome::Done => call.store(1, env, &out[start..])?,
        jexl::Outcome::Failed => {
            let words = format!("An error occurred while evaluating the expression \"{script}\"");
            env.shared.log(Level::Error, words);
        }
    }
    env.core.give(script);
    Ok(())
}
