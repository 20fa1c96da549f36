//! `__regexFunction`: a Regular Expression Extractor as a function, applied to the value of a variable.
//!
//! Without a variable, JMeter searches the response of the previous sample, which Throng does not keep. Such a call
//! is reported when the plan is compiled.

use std::fmt::Write;

use lang::regexp::{Found, Regexp};

use super::{Call, trim};
use crate::env::Env;
use crate::extract::group_template;
use crate::template::{Outcome, Template, Thrown};

/// Returns an error for calls that would search the previous sample.
pub(super) fn check(args: &[Template]) -> Option<String> {
    let names_variable = args.get(6).is_some_and(|name| name.fixed() != Some(""));
    (!names_variable).then(|| {
        "it names no input variable and would search the previous sample's response, which is not kept".into()
    })
}

/// Runs `__regexFunction(pattern, template, which = 1, between, default, variable, input variable)`.
pub(super) fn search(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let template = call.arg(1, env)?;
    let pieces = group_template::pieces(&template);
    env.core.give(template);
    let (which, between, default) = (call.arg(2, env)?, call.arg(3, env)?, call.arg(4, env)?);
    let (name, input) = (call.arg(5, env)?, call.arg(6, env)?);
    if !name.is_empty() {
        env.vars.set_named(env.names, &name, &default);
    }
    // The string is copied, because variables are set during the search.
    let mut text = env.core.take();
    text.push_str(env.vars.get_named(env.names, &input).unwrap_or(""));
    let mut done = Ok(());
    if text.is_empty() {
        out.push_str(&default);
    } else {
        let pattern = call.arg(0, env)?;
        let start = out.len();
        let regexp = Regexp::remembered(&pattern);
        let matches = regexp.as_deref().map_or(0, |regexp| count(regexp, &text));
        if !name.is_empty() {
            env.vars.set_named(env.names, &format!("{name}_matchNr"), &matches.to_string());
        }
        // A call with an invalid pattern evaluates to an empty string.
        if let Ok(regexp) = regexp {
            done = chosen(&which, matches, env).map(|chosen| match chosen {
                Chosen::None => out.push_str(&default),
                Chosen::All => {
                    let mut at = 0;
                    regexp.each(&text, |found| {
                        if at > 0 {
                            out.push_str(&between);
                        }
                        at += 1;
                        let from = out.len();
                        group_template::write(&pieces, |group| found.group(group), out);
                        save(&name, found, regexp.groups(), &out[from..], env);
                        std::ops::ControlFlow::Continue(())
                    });
                }
                Chosen::One(index) => {
                    let mut at = 0;
                    regexp.each(&text, |found| {
                        at += 1;
                        if at <= index {
                            return std::ops::ControlFlow::Continue(());
                        }
                        group_template::write(&pieces, |group| found.group(group), out);
                        save(&name, found, regexp.groups(), &out[start..], env);
                        std::ops::ControlFlow::Break(())
                    });
                }
            });
        }
        env.core.give(pattern);
    }
    for buffer in [text, input, name, default, between, which] {
        env.core.give(buffer);
    }
    done
}

fn count(regexp: &Regexp, text: &str) -> usize {
    let mut count = 0;
    regexp.each(text, |_| {
        count += 1;
        std::ops::ControlFlow::Continue(())
    });
    count
}

/// The matches from which the function's value is built: none, all, or one by its index.
enum Chosen {
    None,
    All,
    One(usize),
}

fn chosen(which: &str, count: usize, env: &mut Env<'_>) -> Result<Chosen, Thrown> {
    let which = if which.is_empty() { "1" } else { which };
    if count == 0 {
        return Ok(Chosen::None);
    }
    let index = match which {
        "ALL" => return Ok(Chosen::All),
        "RAND" => return Ok(Chosen::One(env.core.random.below(count as u64) as usize)),
        number => match number.parse::<i32>() {
            Ok(number) if i64::from(number) > count as i64 => return Ok(Chosen::None),
            Ok(number) => i64::from(number) - 1,
            // A fraction selects a match by its relative position among all matches.
            Err(_) => {
                let part = lang::java::parse_double(number)
                    .ok_or_else(|| Thrown::not_a_number(trim(number)))?;
                (f64::from(count as f32 * part as f32) + 0.5) as i64 - 1
            }
        },
    };
    match usize::try_from(index) {
        Ok(index) if index < count => Ok(Chosen::One(index)),
        _ => {
            let message = format!("Index {index} out of bounds for length {count}");
            Err(Thrown::new("java.lang.IndexOutOfBoundsException", message))
        }
    }
}

/// Sets the variable `name` to the value, and `<name>_g0`, `<name>_g1`, … to the groups of the match. If `name` is
/// empty, only `_g0`, `_g1`, … remain as names.
fn save(name: &str, found: Found<'_>, groups: usize, value: &str, env: &mut Env<'_>) {
    let mut of_group = env.core.take();
    for group in 0..=groups {
        of_group.clear();
        let _ = write!(of_group, "{name}_g{group}");
        match found.group(group) {
            Some(text) => env.vars.set_named(env.names, &of_group, text),
            None => env.vars.remove_named(env.names, &of_group),
        }
    }
    env.core.give(of_group);
    if !name.is_empty() {
        env.vars.set_named(env.names, name, value);
    }
}
