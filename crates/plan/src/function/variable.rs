//! Variable functions: `__V`, `__eval`, `__evalVar`, `__isVarDefined`.
//!
//! A string that is built at run time is compiled once per core and cached. Calls in it keep no state, so that a
//! `__counter` in an evaluated string is always 1, as in JMeter.

use super::{Call, Level};
use crate::env::Env;
use crate::template::{Outcome, Template, Thrown};

/// Maximum nesting depth of evaluated strings. Deeper nesting would exhaust JMeter's stack too, or nearly so.
const DEEPEST: u32 = 32;

/// Runs `__V(name, default = name)`.
pub(super) fn v(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    if let (Some(id), false) = (call.target, call.has(1)) {
        let name = call.args()[0].fixed().unwrap_or_default();
        out.push_str(env.vars.get(id).unwrap_or(name));
        return Ok(());
    }
    let name = call.arg(0, env)?;
    let default = call.arg(1, env)?;
    let otherwise = if call.has(1) { &*default } else { &*name };
    out.push_str(env.vars.get_named(env.names, &name).unwrap_or(otherwise));
    env.core.give(default);
    env.core.give(name);
    Ok(())
}

/// Runs `__isVarDefined(name)`.
pub(super) fn is_defined(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let name = call.arg(0, env)?;
    let defined = env.vars.get_named(env.names, &name).is_some();
    out.push_str(if defined { "true" } else { "false" });
    env.core.give(name);
    Ok(())
}

/// Runs `__eval(text)`.
pub(super) fn eval(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let source = call.arg(0, env)?;
    evaluate(&source, env, out)?;
    env.core.give(source);
    Ok(())
}

/// Runs `__evalVar(name)`: returns an empty string if there is no such variable.
pub(super) fn eval_var(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let name = call.arg(0, env)?;
    let mut source = env.core.take();
    source.push_str(env.vars.get_named(env.names, &name).unwrap_or_default());
    evaluate(&source, env, out)?;
    env.core.give(source);
    env.core.give(name);
    Ok(())
}

fn evaluate(source: &str, env: &mut Env<'_>, out: &mut String) -> Outcome {
    if !source.contains(['$', '\\']) {
        out.push_str(source);
        return Ok(());
    }
    let text = env.core.cache.text(source).unwrap_or_else(|| compile(source, env));
    if env.core.cache.depth == DEEPEST {
        return Err(Thrown::new("java.lang.StackOverflowError", "null"));
    }
    env.core.cache.depth += 1;
    let done = text.run(env, out);
    env.core.cache.depth -= 1;
    done
}

#[cold]
fn compile(source: &str, env: &mut Env<'_>) -> Template {
    let mut problems = Vec::new();
    let text = Template::compile_late(source, env.names, &mut problems);
    for problem in problems {
        let words =
            format!("{} cannot run and is not evaluated: {}", problem.function, problem.source);
        env.shared.log(Level::Warn, words);
    }
    env.core.cache.keep_text(source, text.clone());
    text
}
