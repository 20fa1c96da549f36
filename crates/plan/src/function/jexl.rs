//! `__jexl3`: runs JEXL scripts with supported features; other scripts need a JVM.

use lang::jexl::{self, World};
use lang::log;

use super::{Call, Level};
use crate::condition::with_values;
use crate::env::Env;
use crate::template::Outcome;

/// True if a script of the plan can run natively, whatever the values of its variables.
pub(crate) fn is_known(source: &str) -> bool {
    let mut plain = with_values(source);
    if source.contains("${") {
        // A script with expressions still contains its escape characters.
        for (escaped, meant) in [("\\,", ","), ("\\$", "$"), ("\\\\", "\\")] {
            plain = plain.replace(escaped, meant);
        }
    }
    jexl::is_known(&plain)
}

impl World for Env<'_> {
    fn log(&mut self, level: log::Level, text: &str) {
        self.shared.log(level, text);
    }
}

/// Runs `__jexl3(script, variable)`.
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

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn values_of_variables_may_stand_anywhere() {
        for source in [
            "${a} + 1",
            "\"${a}\".substring(0\\, 2) == \"x\"",
            "vars.get(\"a\") == null ? 1 : \"${b}\".length()",
            "empty(vars.get('x'))",
            "not (1 eq 2) and size('abc') ge 3",
            "\"${path}\".startsWith(\"http\" )",
        ] {
            assert!(is_known(source), "{source}");
        }
    }
}
