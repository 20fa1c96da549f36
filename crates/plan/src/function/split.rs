//! `__split` and `__RandomFromMultipleVars`: functions for numbered variables.

use std::fmt::Write;

use lang::work;

use super::{Call, trim};
use crate::env::Env;
use crate::template::{Outcome, Thrown};

/// Number of work steps counted per piece of a string, which also limits the memory of the variables.
const PIECE: u64 = 20;

/// Splits a string at any character of `delimiters`. Delimiters are returned as tokens.
pub(super) fn tokens<'t>(text: &'t str, delimiters: &'t str) -> impl Iterator<Item = &'t str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if delimiters.contains(first) {
            first.len_utf8()
        } else {
            rest.find(|c| delimiters.contains(c)).unwrap_or(rest.len())
        };
        let (token, behind) = rest.split_at(end);
        rest = behind;
        Some(token)
    })
}

/// Runs `__split(text, variable, delimiters = ,)`. Each character of the third parameter is a delimiter; an empty
/// piece becomes `?`. Returns the string and sets `variable`, `variable_n` (the number of pieces), and
/// `variable_1`, `variable_2` and so on.
pub(super) fn split(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let (text, variable, delimiters) = (call.arg(0, env)?, call.arg(1, env)?, call.arg(2, env)?);
    let prefix = trim(&variable);
    let separators = if delimiters.is_empty() { "," } else { &*delimiters };
    env.vars.set_named(env.names, prefix, &text);
    let mut name = env.core.take();
    let mut count = 0u32;
    let mut after_separator = false;
    let mut set = |number: u32, value: Option<&str>| {
        name.clear();
        let _ = write!(name, "{prefix}_{number}");
        match value {
            Some(value) => env.vars.set_named(env.names, &name, value),
            None => env.vars.remove_named(env.names, &name),
        }
    };
    // The work is counted: each character is compared with the delimiters, and each piece becomes a variable.
    if !work::spend_bytes(text.len().saturating_mul(separators.len()) / 16) {
        return Err(Thrown::too_much());
    }
    for token in tokens(&text, separators) {
        if !work::spend(PIECE) {
            return Err(Thrown::too_much());
        }
        let separator = token.chars().count() == 1 && separators.contains(token);
        if !separator || after_separator {
            count += 1;
            set(count, Some(if separator { "?" } else { token }));
        }
        after_separator = separator;
    }
    if after_separator {
        count += 1;
        set(count, Some("?"));
    }
    set(count + 1, None);
    let mut value = env.core.take();
    name.clear();
    let _ = write!(name, "{prefix}_n");
    let _ = write!(value, "{count}");
    env.vars.set_named(env.names, &name, &value);
    out.push_str(&text);
    for buffer in [value, name, delimiters, variable, text] {
        env.core.give(buffer);
    }
    Ok(())
}

/// Runs `__RandomFromMultipleVars(name|name|…, variable)`: returns one of the values of all named variables. A name
/// with a `_matchNr` stands for all its matches.
pub(super) fn random_value(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let names = call.arg(0, env)?;
    let mut total = 0u64;
    for name in trim(&names).split('|').filter(|name| !name.is_empty()) {
        if !work::spend(PIECE) {
            return Err(Thrown::too_much());
        }
        total += held(name, env)?;
    }
    let mut drawn = env.core.random.below(total);
    for name in trim(&names).split('|').filter(|name| total > 0 && !name.is_empty()) {
        let holds = held(name, env)?;
        if drawn >= holds {
            drawn -= holds;
            continue;
        }
        let mut numbered = env.core.take();
        let _ = write!(numbered, "{name}_{}", drawn + 1);
        let of_match = matches(name, env)? > 0;
        let value = env.vars.get_named(env.names, if of_match { &numbered } else { name });
        out.push_str(value.unwrap_or("null"));
        env.core.give(numbered);
        break;
    }
    env.core.give(names);
    call.store(1, env, &out[start..])
}

/// Returns the number of values that a name stands for: its `_matchNr`, or 1 for a variable that is not empty.
fn held(name: &str, env: &mut Env<'_>) -> Result<u64, Thrown> {
    let matches = matches(name, env)?;
    if matches > 0 {
        return Ok(matches as u64);
    }
    Ok(u64::from(env.vars.get_named(env.names, name).is_some_and(|value| !value.is_empty())))
}

fn matches(name: &str, env: &mut Env<'_>) -> Result<i32, Thrown> {
    let mut count_of = env.core.take();
    count_of.extend([name, "_matchNr"]);
    let count = match env.vars.get_named(env.names, &count_of) {
        None | Some("") => Ok(0),
        Some(count) => count.parse().map_err(|_| Thrown::not_a_number(count)),
    };
    env.core.give(count_of);
    count
}
