//! String and number functions of the jp@gc plug-ins: `__base64Encode`, `__base64Decode`, `__strLen`,
//! `__substring`, `__strReplace`, `__strReplaceRegex`, `__uppercase`, `__lowercase`, `__caseFormat`, `__if`,
//! `__isDefined`, `__chooseRandom`, `__doubleSum`, `__iterationNum`, `__MD5`, `__env`, `__tstFeedback`.
//!
//! Where a plug-in accepts an empty variable name, a variable with an empty name is set, as in the plug-in.

use std::fmt::Write;

use base64::Engine;
use lang::java::{parse_double, write_double};
use lang::{java_regexp, work};
use md5::Digest;

use super::{Call, Level, trim};
use crate::env::Env;
use crate::template::{Outcome, Thrown};

/// Runs `__strLen(text, variable)`: returns the length in UTF-16 units.
pub(super) fn length(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    let _ = write!(out, "{}", text.encode_utf16().count());
    env.core.give(text);
    keep_trimmed(call, 1, &out[start..], env)
}

/// Runs `__uppercase(text, variable)`.
pub(super) fn upper(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    out.extend(text.chars().flat_map(char::to_uppercase));
    env.core.give(text);
    keep_trimmed(call, 1, &out[start..], env)
}

/// Runs `__lowercase(text, variable)`.
pub(super) fn lower(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    out.push_str(&text.to_lowercase());
    env.core.give(text);
    keep_trimmed(call, 1, &out[start..], env)
}

/// Runs `__MD5(text, variable)`.
pub(super) fn md5(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    for byte in md5::Md5::digest(text.as_bytes()) {
        let _ = write!(out, "{byte:02x}");
    }
    env.core.give(text);
    keep_trimmed(call, 1, &out[start..], env)
}

/// Runs `__if(actual, expected, then, else, variable)`. Only the chosen branch is evaluated.
pub(super) fn choose(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (actual, expected) = (call.arg(0, env)?, call.arg(1, env)?);
    let taken = call.arg(if actual == expected { 2 } else { 3 }, env)?;
    out.push_str(&taken);
    for buffer in [taken, expected, actual] {
        env.core.give(buffer);
    }
    keep_trimmed(call, 4, &out[start..], env)
}

/// Runs `__isDefined(variable)`: returns 1 or 0.
pub(super) fn is_defined(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let name = call.arg(0, env)?;
    let defined = env.vars.get_named(env.names, trim(&name)).is_some();
    out.push(if defined { '1' } else { '0' });
    env.core.give(name);
    Ok(())
}

/// Runs `__tstFeedback(timer, start, most, spare)`: returns the maximum number of users, because Throng's timer
/// keeps the rate with any number of users. If the maximum is not a number, returns the initial number.
pub(super) fn feedback(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let most = call.arg(2, env)?;
    if most.parse::<i32>().is_ok() {
        out.push_str(&most);
    } else {
        let start = call.arg(1, env)?;
        out.push_str(&start);
        env.core.give(start);
    }
    env.core.give(most);
    Ok(())
}

/// Runs `__iterationNum()`: returns the number of the user's current iteration, from 1.
pub(super) fn iteration(_: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let _ = write!(out, "{}", env.who.iteration);
    Ok(())
}

/// Runs `__chooseRandom(text, …, variable)`. Only the chosen string is evaluated.
pub(super) fn any(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let last = call.args().len() - 1;
    let name = call.arg(last, env)?;
    let chosen = call.arg(env.core.random.below(last as u64) as usize, env)?;
    out.push_str(&chosen);
    env.core.give(chosen);
    if !trim(&name).is_empty() {
        env.vars.set_named(env.names, trim(&name), &out[start..]);
    }
    env.core.give(name);
    Ok(())
}

/// Runs `__doubleSum(number, …, number or variable)`.
pub(super) fn sum(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let last = call.arg(call.args().len() - 1, env)?;
    let mut sum = 0.0;
    for n in 0..call.args().len() - 1 {
        let text = call.arg(n, env)?;
        sum += parse_double(&text).ok_or_else(|| no_double(&text))?;
        env.core.give(text);
    }
    let number = parse_double(trim(&last));
    write_double(sum + number.unwrap_or(0.0), out);
    if number.is_none() && !trim(&last).is_empty() {
        env.vars.set_named(env.names, trim(&last), &out[start..]);
    }
    env.core.give(last);
    Ok(())
}

/// Returns Java's exception for a string that is not a floating-point number.
fn no_double(text: &str) -> Thrown {
    match trim(text) {
        "" => Thrown::new("java.lang.NumberFormatException", "empty String"),
        text => Thrown::not_a_number(text),
    }
}

/// Runs `__env(name, variable, default = name)`.
pub(super) fn environment(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (name, default) = (call.arg(0, env)?, call.arg(2, env)?);
    let otherwise = if call.has(2) { &*default } else { &*name };
    // The standard library panics for names that no environment variable can have.
    let possible = !name.is_empty() && !name.contains(['=', '\0']);
    let value = possible.then(|| std::env::var_os(&name)).flatten();
    match &value {
        Some(value) => out.push_str(trim(&value.to_string_lossy())),
        None => out.push_str(trim(otherwise)),
    }
    env.core.give(default);
    env.core.give(name);
    keep(call, 1, &out[start..], env)
}

/// Runs `__base64Encode(text, variable)`.
pub(super) fn to_base64(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    base64::engine::general_purpose::STANDARD.encode_string(text.as_bytes(), out);
    env.core.give(text);
    keep(call, 1, &out[start..], env)
}

/// Runs `__base64Decode(text, variable)`: characters outside the alphabet are skipped; decoding stops at the first
/// `=`.
pub(super) fn from_base64(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    out.push_str(&String::from_utf8_lossy(&bytes));
    env.core.give(text);
    keep(call, 1, &out[start..], env)
}

/// Runs `__substring(text, begin, end, variable)`; positions are in UTF-16 units.
pub(super) fn substring(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    let (begin, end) = (position(call, 1, env)?, position(call, 2, env)?);
    let units: Vec<u16> = text.encode_utf16().collect();
    let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
    let part = range.and_then(|(begin, end)| units.get(begin..end));
    let Some(part) = part else {
        let message = format!("begin {begin}, end {end}, length {}", units.len());
        return Err(Thrown::new("java.lang.StringIndexOutOfBoundsException", message));
    };
    out.extend(char::decode_utf16(part.iter().copied()).map(|c| c.unwrap_or('?')));
    env.core.give(text);
    keep(call, 3, &out[start..], env)
}

fn position(call: &Call, n: usize, env: &mut Env<'_>) -> Result<i32, Thrown> {
    let text = call.arg(n, env)?;
    let number = trim(&text).parse().map_err(|_| Thrown::not_a_number(trim(&text)));
    env.core.give(text);
    number
}

/// Runs `__strReplace(text, old, new, variable)`.
pub(super) fn replace(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (text, old, new) = (call.arg(0, env)?, call.arg(1, env)?, call.arg(2, env)?);
    let mut at = 0;
    // An empty string matches between any two characters and at both ends.
    for (found, old) in text.match_indices(&*old) {
        out.push_str(&text[at..found]);
        out.push_str(&new);
        if !work::spend_bytes(found - at + new.len() + 1) {
            return Err(Thrown::too_much());
        }
        at = found + old.len();
    }
    out.push_str(&text[at..]);
    for buffer in [new, old, text] {
        env.core.give(buffer);
    }
    keep(call, 3, &out[start..], env)
}

/// Runs `__strReplaceRegex(text, pattern, new, variable)`; pattern and replacement use Java's syntax.
pub(super) fn replace_regex(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (text, pattern, new) = (call.arg(0, env)?, call.arg(1, env)?, call.arg(2, env)?);
    let replaced = java_regexp::replace_all(&text, &pattern, &new);
    for buffer in [new, pattern, text] {
        env.core.give(buffer);
    }
    out.push_str(&replaced.map_err(|(class, message)| Thrown::new(class, message))?);
    keep(call, 3, &out[start..], env)
}

/// Runs `__caseFormat(text, mode = LOWER_CAMEL_CASE, variable)`; words are separated by blanks, `-` and `_`.
pub(super) fn case_format(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (text, mode) = (call.arg(0, env)?, call.arg(1, env)?);
    let separates = |c: char| matches!(c, ' ' | '\t'..='\r' | '-' | '_');
    let mut words: Vec<&str> = text.split(separates).collect();
    // Consecutive separators count as one. An empty string before the first separator is a word; an empty string after
    // the last separator is not.
    let mut at = 0;
    words.retain(|word| {
        at += 1;
        at == 1 || !word.is_empty()
    });
    if words == [""] && !text.is_empty() {
        words.clear();
    }
    match &*mode.to_uppercase() {
        "" | "LOWER_CAMEL_CASE" => camel(&words, false, out),
        "UPPER_CAMEL_CASE" => camel(&words, true, out),
        "SNAKE_CASE" | "LOWER_UNDERSCORE" => out.push_str(&words.join("_").to_lowercase()),
        "KEBAB_CASE" | "LISP_CASE" | "SPINAL_CASE" | "LOWER_HYPHEN" => {
            out.push_str(&words.join("-").to_lowercase());
        }
        "TRAIN_CASE" => out.push_str(&words.join("-").to_uppercase()),
        "UPPER_UNDERSCORE" => out.push_str(&words.join("_").to_uppercase()),
        _ => {
            let words = format!("Unknown mode {mode}, returning {text} unchanged");
            env.shared.log(Level::Error, words);
            out.push_str(&text);
        }
    }
    env.core.give(mode);
    env.core.give(text);
    call.store(2, env, &out[start..])
}

fn camel(words: &[&str], first_too: bool, out: &mut String) {
    for (n, word) in words.iter().enumerate() {
        let lower = word.to_lowercase();
        let mut letters = lower.chars();
        if n > 0 || first_too {
            out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        }
        out.push_str(letters.as_str());
    }
}

/// Sets the variable that parameter `n` names, unless the name is empty.
fn keep(call: &Call, n: usize, value: &str, env: &mut Env<'_>) -> Outcome {
    if call.has(n) {
        let name = call.arg(n, env)?;
        if !name.is_empty() {
            env.vars.set_named(env.names, &name, value);
        }
        env.core.give(name);
    }
    Ok(())
}

/// Sets the variable that parameter `n` names, even if the name is empty.
fn keep_trimmed(call: &Call, n: usize, value: &str, env: &mut Env<'_>) -> Outcome {
    if call.has(n) {
        let name = call.arg(n, env)?;
        env.vars.set_named(env.names, trim(&name), value);
        env.core.give(name);
    }
    Ok(())
}
