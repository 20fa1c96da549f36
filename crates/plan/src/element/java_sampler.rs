//! Java Request with JMeter's two built-in classes: `JavaTest`, which returns configured values, and `SleepTest`.
//! Both only wait, for a time that varies with the clock. `SleepTest` reads its parameters at a user's first sample
//! and keeps them.

use jmx::ElementId;

use crate::compile::{Context, scope};
use crate::env::Env;
use crate::result::SampleResult;
use crate::template::Template;

/// A compiled Java Request.
#[derive(Debug)]
pub struct JavaSampler {
    /// Number that identifies the sampler's element in the plan.
    element: u32,
    class: Class,
    parameters: Vec<(Template, Template)>,
}

/// Parameters that a `SleepTest` has read for a user.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) element: u32,
    base: i64,
    mask: i64,
    label: String,
}

static NO_SETUP: Setup = Setup { element: 0, base: 0, mask: 0, label: String::new() };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    JavaTest,
    SleepTest,
}

const PACKAGE: &str = "org.apache.jmeter.protocol.java.test.";

fn class(name: &str) -> Option<Class> {
    match name.trim().strip_prefix(PACKAGE)? {
        "JavaTest" => Some(Class::JavaTest),
        "SleepTest" => Some(Class::SleepTest),
        _ => None,
    }
}

/// Compiles the sampler; `None` if its class needs a JVM.
pub(super) fn compile(
    ctx: &mut Context<'_>,
    id: ElementId,
    configs: &[ElementId],
) -> Option<JavaSampler> {
    let defaults =
        configs.iter().copied().filter(|config| scope::class(ctx.doc, *config) == "JavaConfig");
    let chain: Vec<_> = std::iter::once(id).chain(defaults).collect();
    let name =
        chain.iter().find_map(|id| ctx.props(*id).str("classname").filter(|name| !name.is_empty()));
    let Some(class) = class(name.unwrap_or("")) else {
        ctx.remark_class(id, "the class", name.unwrap_or("(none)"));
        return None;
    };
    let element = id.index() as u32;
    let mut parameters = Vec::new();
    for id in chain {
        let Some(object) = ctx.props(id).object("arguments") else { continue };
        for argument in object.props.collection("Arguments.arguments") {
            let Some(argument) = argument.object() else { continue };
            let name = ctx.text(id, argument.props.str("Argument.name").unwrap_or(""));
            let value = ctx.text(id, argument.props.str("Argument.value").unwrap_or(""));
            parameters.push((name, value));
        }
    }
    Some(JavaSampler { element, class, parameters })
}

impl JavaSampler {
    /// Takes over the class and the `SleepTest` parameters of `planned`, the sampler that this changed copy replaces.
    /// JMeter loads the class once, before any script runs.
    pub(crate) fn stands_for(&mut self, planned: &Self) {
        (self.element, self.class) = (planned.element, planned.class);
    }

    /// Fills the result and returns the duration of the sampler in nanoseconds.
    pub fn run(&self, env: &mut Env<'_>, result: &mut SampleResult) -> u64 {
        let sleep = match self.class {
            Class::JavaTest => self.answer(env, result),
            Class::SleepTest => {
                use std::fmt::Write;
                let Setup { base, mask, label, .. } = self.setup(env, &result.label);
                result.label.clear();
                result.label.push_str(label);
                let (base, mask) = (*base, *mask);
                let sleep = vary(base, mask, env.now_ms());
                let _ = write!(result.sampler_data, "Sleep Test: time = {sleep}");
                result.success = true;
                sleep
            }
        };
        u64::try_from(sleep).unwrap_or(0).saturating_mul(1_000_000)
    }

    /// Writes the result of an interrupted sleep.
    pub fn interrupt(&self, result: &mut SampleResult) {
        result.success = false;
        if matches!(self.class, Class::SleepTest) {
            result.message.push_str("java.lang.InterruptedException: sleep interrupted");
        }
    }

    fn answer(&self, env: &mut Env<'_>, result: &mut SampleResult) -> i64 {
        let base = self.long("Sleep_Time", 100, env);
        let mask = self.long("Sleep_Mask", 0xff, env);
        let sleep = vary(base, mask, env.now_ms());
        self.value("ResponseCode", env, &mut result.code);
        self.value("ResponseMessage", env, &mut result.message);
        let mut text = env.core.take();
        if self.value("Label", env, &mut text) && !text.is_empty() {
            result.label.clear();
            result.label.push_str(&text);
        }
        text.clear();
        result.success = !self.value("Status", env, &mut text) || text.eq_ignore_ascii_case("OK");
        env.core.give(text);
        self.value("SamplerData", env, &mut result.sampler_data);
        result.sent = result.sampler_data.encode_utf16().count() as u64;
        self.value("ResultData", env, &mut result.text);
        if !result.text.is_empty() {
            result.encoding.push_str("UTF-8");
        }
        result.body.extend_from_slice(result.text.as_bytes());
        result.bytes = result.body.len() as u64;
        result.data_type = "text";
        sleep
    }

    /// Returns the parameters that were read at the user's first sample.
    fn setup<'e>(&self, env: &'e mut Env<'_>, label: &str) -> &'e Setup {
        if env.notes.setup(self.element).is_none() {
            let base = self.long("SleepTime", 1000, env);
            let mask = self.long("SleepMask", 0x3ff, env);
            env.notes.keep(Setup { element: self.element, base, mask, label: label.into() });
        }
        env.notes.setup(self.element).unwrap_or(&NO_SETUP)
    }

    /// Appends the value of a parameter. Returns false if there is no such parameter. If a name occurs twice, the
    /// first parameter is used.
    fn value(&self, name: &str, env: &mut Env<'_>, out: &mut String) -> bool {
        let found = self.parameters.iter().find(|(key, _)| key.parsed(env, |key| key == name));
        if let Some((_, value)) = found {
            value.eval(env, out);
        }
        found.is_some()
    }

    fn long(&self, name: &str, default: i64, env: &mut Env<'_>) -> i64 {
        let mut text = env.core.take();
        let found = self.value(name, env, &mut text);
        let value = if found { decode(&text).unwrap_or(default) } else { default };
        env.core.give(text);
        value
    }
}

/// Returns the time to wait in milliseconds: the base plus a part below `mask` that depends on the clock.
fn vary(base: i64, mask: i64, now_ms: i64) -> i64 {
    if base > 0 && mask > 0 { base.saturating_add(now_ms.rem_euclid(mask)) } else { base }
}

/// Parses a number as `Long.decode` does: decimal, octal after `0`, hexadecimal after `0x` or `#`.
fn decode(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
        .or_else(|| digits.strip_prefix('#'));
    let (digits, radix) = match (hex, digits.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (digits, 10),
    };
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    i64::try_from(if negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decoded_as_in_java() {
        let read = ["12", "0xFF", "-0x10", "#1f", "010", "0", "+5"].map(decode);
        assert_eq!(read, [Some(12), Some(255), Some(-16), Some(31), Some(8), Some(0), Some(5)]);
        assert_eq!(["", " 1", "1 ", "x", "0x", "--1", "08"].map(decode), [None; 7]);
    }
}
