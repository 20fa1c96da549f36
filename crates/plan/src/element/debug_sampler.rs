//! Debug Sampler: a result that lists variables and properties, in JMeter's order and format.

use std::cmp::Ordering;

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::result::SampleResult;
use crate::template::flag::{self, Flag};

/// A compiled Debug Sampler.
#[derive(Debug)]
pub struct DebugSampler {
    variables: Flag,
    properties: Flag,
    system: Flag,
}

/// Variable in which JMeter's HttpClient4 stores the connection owner: the thread name of the user, set after the
/// first response. The engine sets it only if an element lists variables.
pub const USER_TOKEN: &str = "__jmeter.U_T__";

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> DebugSampler {
    ctx.text.names.intern(USER_TOKEN);
    DebugSampler {
        variables: flag::compile(ctx, id, "displayJMeterVariables", false),
        properties: flag::compile(ctx, id, "displayJMeterProperties", false),
        system: flag::compile(ctx, id, "displaySystemProperties", false),
    }
}

impl DebugSampler {
    /// Fills the result with the lists that the element's settings select: variables, properties and system properties.
    pub fn run(&self, env: &mut Env<'_>, result: &mut SampleResult) {
        let (variables, properties, system) =
            (self.variables.get(env), self.properties.get(env), self.system.get(env));
        let mut text = env.core.take();
        result.tells_sampler_data = true;
        if variables {
            result.sampler_data.push_str("JMeterVariables\n");
            write_variables(env, &mut text);
        }
        if properties {
            result.sampler_data.push_str("JMeterProperties\n");
            write_properties(env, &mut text);
        }
        if system {
            result.sampler_data.push_str("SystemProperties\n");
            write_system(&mut text);
        }
        result.code.push_str("200");
        result.message.push_str("OK");
        result.success = true;
        result.data_type = "text";
        result.encoding.push_str("UTF-8");
        result.bytes = text.len() as u64;
        result.body.extend_from_slice(text.as_bytes());
        result.text.push_str(&text);
        env.core.give(text);
    }
}

/// Lists the user's variables.
pub(crate) fn write_variables(env: &Env<'_>, out: &mut String) {
    out.push_str("JMeterVariables:\n");
    // In JMeter this hexadecimal hash code is different in each run.
    let pack = ("JMeterThread.pack", "org.apache.jmeter.threads.SamplePackage@10000000");
    let mut entries: Vec<_> = env.vars.iter(env.names).chain([pack]).collect();
    write(&mut entries, out);
}

/// Lists the properties of the run.
pub(crate) fn write_properties(env: &Env<'_>, out: &mut String) {
    out.push_str("JMeterProperties:\n");
    let listed = env.shared.properties();
    let mut entries: Vec<_> = listed.iter().map(|(name, value)| (&**name, &**value)).collect();
    write(&mut entries, out);
}

/// Writes an empty list of system properties, because there is no JVM.
pub(crate) fn write_system(out: &mut String) {
    out.push_str("SystemProperties:\n\n");
}

/// Appends `name=value` lines in JMeter's order, and a blank line.
pub(crate) fn write(entries: &mut [(&str, &str)], out: &mut String) {
    entries.sort_by(|one, two| natural(one.0, two.0));
    for (name, value) in entries {
        for part in [*name, "=", *value, "\n"] {
            out.push_str(part);
        }
    }
    out.push('\n');
}

/// Compares names in natural order: letters as strings, digits by their numeric value.
fn natural(one: &str, two: &str) -> Ordering {
    let (mut one, mut two) = (one, two);
    while !one.is_empty() && !two.is_empty() {
        let (text_one, rest_one) = split(one, |c| !c.is_ascii_digit());
        let (text_two, rest_two) = split(two, |c| !c.is_ascii_digit());
        let texts = text_one.encode_utf16().cmp(text_two.encode_utf16());
        if texts.is_ne() {
            return texts;
        }
        let (digits_one, rest_one) = split(rest_one, |c| c.is_ascii_digit());
        let (digits_two, rest_two) = split(rest_two, |c| c.is_ascii_digit());
        if digits_one.is_empty() || digits_two.is_empty() {
            return digits_one.is_empty().cmp(&digits_two.is_empty()).reverse();
        }
        let (number_one, number_two) =
            (digits_one.trim_start_matches('0'), digits_two.trim_start_matches('0'));
        let numbers =
            number_one.len().cmp(&number_two.len()).then_with(|| number_one.cmp(number_two));
        if numbers.is_ne() {
            return numbers;
        }
        (one, two) = (rest_one, rest_two);
    }
    one.is_empty().cmp(&two.is_empty()).reverse()
}

/// Splits off the longest prefix of characters that satisfy `kept`.
fn split(text: &str, kept: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !kept(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_the_numbers_in_them() {
        let mut names = vec!["b", "a10", "a9", "A", "a", "a9b", "a09c", "START.MS", "__jm__x__idx"];
        names.sort_by(|one, two| natural(one, two));
        assert_eq!(names, ["A", "START.MS", "__jm__x__idx", "a", "a9", "a9b", "a09c", "a10", "b"]);
    }
}
