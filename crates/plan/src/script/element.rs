//! Runs the scripts of elements: passes parameters and the sample to a script, and applies the script's results, as in
//! JMeter's JSR223 and BeanShell elements.

use ::script::Outcome;

use super::{Role, Script, ScriptContext, ScriptKind};
use crate::env::Env;
use crate::function::Level;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, Thrown};

impl Script {
    /// Runs the script as a pre-processor, post-processor or listener of a sample.
    pub(crate) fn process(
        &self,
        name: &str,
        parameters: &Template,
        result: Option<&mut SampleResult>,
        env: &mut Env<'_>,
    ) {
        let stage = ScriptContext { result, finding: None, name, parameters };
        self.settle(name, stage, env);
    }

    /// Runs the script as a timer. Returns the delay in milliseconds.
    pub(crate) fn delay(&self, name: &str, parameters: &Template, env: &mut Env<'_>) -> i64 {
        let stage = ScriptContext { result: None, finding: None, name, parameters };
        let Some(Outcome { value: Some(value), .. }) = self.settle(name, stage, env) else {
            return 0;
        };
        let read = if self.place.jsr223 { value.parse().ok() } else { decode(&value) };
        if read.is_none() && self.place.jsr223 {
            self.report(name, &Thrown::not_a_number(&value), env);
        }
        env.core.give(value);
        read.unwrap_or(0)
    }

    /// Runs the script as an assertion, whose result is `finding`.
    pub(crate) fn check(
        &self,
        name: &str,
        parameters: &Template,
        result: &mut SampleResult,
        finding: &mut AssertionResult,
        env: &mut Env<'_>,
    ) {
        let stage =
            ScriptContext { result: Some(result), finding: Some(&mut *finding), name, parameters };
        match self.run(env, stage) {
            Ok(outcome) if !self.place.jsr223 => {
                finding.say(outcome.output("FailureMessage").unwrap_or_default());
                finding.failure =
                    outcome.output("Failure").is_some_and(|text| text.eq_ignore_ascii_case("true"));
            }
            Ok(_) => {}
            Err(thrown) => {
                finding.error = true;
                finding.say(&exception(&thrown));
                self.report(name, &thrown, env);
            }
        }
    }

    /// Runs the script as a sampler. The result already has its label. `source` is shown as the sampler data.
    pub(crate) fn sample(
        &self,
        source: &str,
        name: &str,
        parameters: &Template,
        result: &mut SampleResult,
        env: &mut Env<'_>,
    ) {
        result.sampler_data.push_str(source);
        result.tells_sampler_data = true;
        result.data_type = "text";
        if self.place.jsr223 {
            result.code.push_str("200");
            result.message.push_str("OK");
        }
        let stage = ScriptContext { result: Some(&mut *result), finding: None, name, parameters };
        let run = self.run(env, stage);
        match run {
            Ok(outcome) => {
                if !self.place.jsr223 {
                    let output = |name, otherwise| outcome.output(name).unwrap_or(otherwise);
                    replace(&mut result.code, output("ResponseCode", "200"));
                    replace(&mut result.message, output("ResponseMessage", "OK"));
                    result.success = output("IsSuccess", "true").eq_ignore_ascii_case("true");
                }
                if let Some(value) = outcome.value {
                    result.body.extend_from_slice(value.as_bytes());
                    result.text.push_str(&value);
                    env.core.give(value);
                }
                result.bytes = result.body.len() as u64;
            }
            Err(thrown) => {
                result.success = false;
                replace(&mut result.code, "500");
                replace(&mut result.message, &exception(&thrown));
                self.report(name, &thrown, env);
            }
        }
    }

    /// Runs the script as a function and appends its value to `out`. Returns false if the script threw an exception.
    pub(crate) fn function(&self, env: &mut Env<'_>, out: &mut String) -> bool {
        let parameters = Template::default();
        let stage =
            ScriptContext { result: None, finding: None, name: "", parameters: &parameters };
        match self.run(env, stage) {
            Ok(outcome) => {
                if let Some(value) = outcome.value {
                    out.push_str(&value);
                    env.core.give(value);
                }
                true
            }
            Err(thrown) => {
                self.report("", &thrown, env);
                false
            }
        }
    }

    fn settle(&self, name: &str, stage: ScriptContext<'_>, env: &mut Env<'_>) -> Option<Outcome> {
        match self.run(env, stage) {
            Ok(outcome) => Some(outcome),
            Err(thrown) => {
                self.report(name, &thrown, env);
                None
            }
        }
    }

    /// Logs an exception of the script with JMeter's text. `name` is the name of the script's element.
    fn report(&self, name: &str, thrown: &Thrown, env: &mut Env<'_>) {
        let ScriptKind { role, jsr223, .. } = self.place;
        let what = exception(thrown);
        let (level, words) = match (role, jsr223) {
            (Role::Function, true) => (Level::Warn, format!("Error running groovy script: {what}")),
            (Role::Function, false) => (Level::Warn, format!("Error running script: {what}")),
            (_, true) => (Level::Error, format!("Problem in JSR223 script, {name}: {what}")),
            (_, false) => (Level::Warn, format!("Problem in BeanShell script. {name}: {what}")),
        };
        env.shared.log_as(level, &self.place.class(), &words);
    }
}

/// Returns the message of an exception as results show it: wrapped in a `ScriptException`.
fn exception(thrown: &Thrown) -> String {
    let between = if thrown.message.is_empty() { "" } else { ": " };
    format!("javax.script.ScriptException: {}{between}{}", thrown.class, thrown.message)
}

fn replace(field: &mut String, value: &str) {
    field.clear();
    field.push_str(value);
}

/// Parses a number like Java's `Long.decode`.
fn decode(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (digits, radix) =
        if let Some(rest) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            (rest, 16)
        } else if let Some(rest) = digits.strip_prefix('#') {
            (rest, 16)
        } else if digits.len() > 1 && digits.starts_with('0') {
            (&digits[1..], 8)
        } else {
            (digits, 10)
        };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    i64::try_from(if negative { -value } else { value }).ok()
}
