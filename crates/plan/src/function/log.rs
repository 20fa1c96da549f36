//! `__log` and `__logn`: write to the log, or to standard output and error.

use super::{Call, Level, OutputLine, trim};
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__log(text, level = INFO, exception, comment)`: returns the string.
pub(super) fn log(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    out.push_str(&text);
    env.core.give(text);
    let (level, exception, comment) = (call.arg(1, env)?, call.arg(2, env)?, call.arg(3, env)?);
    write(
        env,
        &out[start..],
        &level,
        Some(&*exception).filter(|words| !words.is_empty()),
        &comment,
        "org.apache.jmeter.functions.LogFunction",
    );
    for buffer in [level, exception, comment] {
        env.core.give(buffer);
    }
    Ok(())
}

/// Runs `__logn(text, level = INFO, exception)`: returns an empty string.
pub(super) fn logn(call: &Call, env: &mut Env<'_>, _: &mut String) -> Outcome {
    let (text, level, exception) = (call.arg(0, env)?, call.arg(1, env)?, call.arg(2, env)?);
    let exception_given = Some(&*exception).filter(|_| call.has(2));
    write(env, &text, &level, exception_given, "", "org.apache.jmeter.functions.LogFunction2");
    for buffer in [text, level, exception] {
        env.core.give(buffer);
    }
    Ok(())
}

fn write(
    env: &mut Env<'_>,
    text: &str,
    level: &str,
    exception: Option<&str>,
    comment: &str,
    logger: &str,
) {
    let name = trim(level);
    let is = |word: &str| name.eq_ignore_ascii_case(word);
    let level = match () {
        () if name.is_empty() && level.is_empty() || is("INFO") => Level::Info,
        () if is("ERROR") => Level::Error,
        () if is("WARN") => Level::Warn,
        () if is("TRACE") => Level::Trace,
        () => Level::Debug,
    };
    let mut line = String::new();
    let console = is("OUT") || is("ERR");
    if console {
        line.push_str("Log: ");
    }
    env.who.thread_name(&mut line);
    match (console, comment) {
        (true, "") => line.push_str(" : "),
        (false, "") => line.push_str("  :  "),
        (true, _) => line.extend([" ", comment]),
        (false, _) => line.extend([" ", comment, " "]),
    }
    line.push_str(text);
    if let Some(words) = exception {
        line.extend([if console { " " } else { "\n" }, "java.lang.Throwable: ", words]);
    }
    env.shared.say(match () {
        () if is("OUT") => OutputLine::Printed(line),
        () if is("ERR") => OutputLine::PrintedAsError(line),
        () => OutputLine::Log { level, logger: Some(logger.to_owned()), text: line },
    });
}
