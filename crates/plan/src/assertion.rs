//! Assertions: checks that may fail a sample.
//!
//! Each assertion adds its result to the sample's result, with JMeter's messages, because they appear in result
//! files. A failed check allocates only if the message's buffer has to grow.

mod binary;
mod duration;
mod expectation;
mod jmespath;
mod json;
mod md5_hex;
mod response;
mod size;
mod xml;
mod xpath;
mod xpath2;

pub use binary::BinaryContentAssertion;
pub use duration::DurationAssertion;
pub use jmespath::JmesPathAssertion;
pub use json::JsonAssertion;
pub use md5_hex::Md5HexAssertion;
pub use response::ResponseAssertion;
pub use size::SizeAssertion;
pub use xpath::XPathAssertion;
pub use xpath2::XPath2Assertion;

use std::sync::Arc;

use jmx::Element;

use crate::env::Env;
use crate::evaluation;
use crate::extract::{Problem, Scope};
use crate::java_backed::Job;
use crate::plan::Needs;
use crate::result::{AssertionResult, SampleResult};
use crate::script::Scripted;
use crate::template::{Template, TemplateCompiler};

/// Maximum depth of sub-results to check, as in JMeter.
const MAX_LEVEL: i32 = 3;

/// A compiled assertion.
#[derive(Debug)]
pub struct Assertion {
    name: Template,
    scope: Scope,
    check: Check,
}

/// The kind of an assertion, with its compiled settings.
#[derive(Debug)]
enum Check {
    Response(Box<ResponseAssertion>),
    Json(Box<JsonAssertion>),
    JmesPath(Box<JmesPathAssertion>),
    Duration(DurationAssertion),
    Binary(BinaryContentAssertion),
    Size(SizeAssertion),
    Md5Hex(Md5HexAssertion),
    XPath(Box<XPathAssertion>),
    XPath2(Box<XPath2Assertion>),
    Xml,
    Script(Arc<Scripted>),
    /// A job that the engine sends to Java.
    Job(Job),
}

/// Compiles an assertion; `None` for any other element.
pub fn compile(
    element: &Element,
    compiler: &mut TemplateCompiler,
) -> Option<Result<(Assertion, Needs), Problem>> {
    let props = &element.props;
    let class = element.test_class.rsplit('.').next()?;
    let scope = Scope::compile(props, "Assertion.scope", compiler);
    let made = match class {
        "ResponseAssertion" => response::compile(props, &scope, compiler)
            .map(|(check, needs)| (scope, Check::Response(Box::new(check)), needs)),
        "JSONPathAssertion" => {
            let of_plugin = element.test_class.starts_with("com.atlantbh.");
            json::compile(props, of_plugin, compiler)
                .map(|check| (Scope::Main, Check::Json(Box::new(check)), Needs::TEXT))
        }
        "JMESPathAssertion" => {
            let check = Check::JmesPath(Box::new(jmespath::compile(props, compiler)));
            Ok((Scope::Main, check, Needs::TEXT))
        }
        "DurationAssertion" => {
            let needs = scope.needs(Needs::empty());
            Ok((scope, Check::Duration(duration::compile(props, compiler)), needs))
        }
        "BinaryContentAssertion" => {
            let needs = scope.needs(Needs::BODY);
            Ok((scope, Check::Binary(binary::compile(props, compiler)), needs))
        }
        "SizeAssertion" => {
            let (check, needs) = size::compile(props, &scope, compiler);
            Ok((scope, Check::Size(check), needs))
        }
        "MD5HexAssertion" => {
            Ok((Scope::Main, Check::Md5Hex(md5_hex::compile(props, compiler)), Needs::BODY))
        }
        "XPathAssertion" => xpath::compile(props, compiler).map(|check| {
            let needs = scope.needs(Needs::BODY);
            (scope, Check::XPath(Box::new(check)), needs)
        }),
        "XPath2Assertion" => xpath2::compile(props, compiler).map(|check| {
            let needs = scope.needs(Needs::TEXT);
            (scope, Check::XPath2(Box::new(check)), needs)
        }),
        "XMLAssertion" => Ok((Scope::Main, Check::Xml, Needs::TEXT)),
        _ => return None,
    };
    let name = Template::compile(&element.name, compiler);
    Some(made.map(|(scope, check, needs)| (Assertion { name, scope, check }, needs)))
}

impl Assertion {
    /// Creates an assertion from a script.
    pub(crate) fn script(script: Arc<Scripted>) -> Self {
        Self { name: script.label().clone(), scope: Scope::Main, check: Check::Script(script) }
    }

    /// Creates an assertion that Java runs, or a job that Java runs before the next assertion.
    pub fn java_backed(job: Job) -> Self {
        Self { name: Template::default(), scope: Scope::Main, check: Check::Job(job) }
    }

    /// Returns the Java job of this entry; `None` for an assertion that runs natively.
    pub fn job(&self) -> Option<Job> {
        match self.check {
            Check::Job(job) => Some(job),
            _ => None,
        }
    }

    /// Runs the assertion, adds its result, and fails the sample if the assertion failed.
    pub fn run(&self, result: &mut SampleResult, env: &mut Env<'_>) {
        let mut name = env.core.take();
        self.name.eval(env, &mut name);
        if matches!(self.scope, Scope::Main | Scope::All | Scope::Variable(_)) {
            self.check(&name, result, env);
        }
        if matches!(self.scope, Scope::Children | Scope::All) {
            self.check_children(&name, result, MAX_LEVEL, env);
        }
        env.core.give(name);
    }

    /// Returns a message about an invalid setting that is known before a run, such as an invalid pattern.
    pub fn complaint(&self) -> Option<String> {
        match &self.check {
            Check::Response(check) => check.complaint(),
            Check::Json(check) => check.complaint(),
            Check::JmesPath(check) => check.complaint(),
            Check::XPath(check) => check.complaint(),
            Check::XPath2(check) => check.complaint(),
            Check::Duration(_)
            | Check::Binary(_)
            | Check::Size(_)
            | Check::Md5Hex(_)
            | Check::Xml
            | Check::Script(_)
            | Check::Job(_) => None,
        }
    }

    fn check(&self, name: &str, result: &mut SampleResult, env: &mut Env<'_>) {
        if let Check::Response(check) = &self.check {
            check.prepare(result);
        }
        // The assertion's entry is moved out of the result while the check reads the rest of the result.
        let mut entry = std::mem::take(result.add_assertion(name));
        let ((), gave_up) =
            evaluation::watched(name, env, |env| self.find(name, result, &mut entry, env));
        // As in JMeter, an exception of a function becomes the result of this assertion and has no other effect on
        // the sample.
        if let Some(thrown) = env.core.thrown.take() {
            entry.failure = false;
            entry.throw(&thrown.to_string());
        }
        if let Some(why) = gave_up {
            // After an exception, the outcome of the check is unknown.
            entry.failure = false;
            entry.fail_with_error(&why.to_string());
        }
        result.success &= !(entry.failure || entry.error);
        result.put_assertion(entry);
    }

    /// Checks a result, a sub-result or a variable, and writes failures to `entry`.
    fn find(
        &self,
        name: &str,
        result: &mut SampleResult,
        entry: &mut AssertionResult,
        env: &mut Env<'_>,
    ) {
        match &self.check {
            Check::Response(check) => check.run(&self.scope, result, env, entry),
            Check::Json(check) => check.run(result, env, entry),
            Check::JmesPath(check) => check.run(result, env, entry),
            Check::Duration(check) => check.run(result, env, entry),
            Check::Binary(check) => check.run(result, env, entry),
            Check::Size(check) => check.run(&self.scope, result, env, entry),
            Check::Md5Hex(check) => check.run(result, env, entry),
            Check::XPath(check) => check.run(&self.scope, result, env, entry),
            Check::XPath2(check) => check.run(&self.scope, result, env, entry),
            Check::Xml => xml::run(result, entry),
            Check::Script(script) => script.check(name, result, entry, env),
            Check::Job(_) => {}
        }
    }

    fn check_children(&self, name: &str, result: &mut SampleResult, level: i32, env: &mut Env<'_>) {
        if level < 0 {
            return;
        }
        let mut failed = false;
        for at in 0..result.sub_count {
            let child = &mut result.subs[at];
            self.check(name, child, env);
            self.check_children(name, child, level - 1, env);
            failed |= !child.success;
        }
        if failed && result.success {
            result.add_assertion(name).fail("One or more sub-samples failed");
            result.success = false;
        }
    }
}

/// Fails the assertion with JMeter's message for an empty response or field: `Response was null`.
fn fail_for_null(entry: &mut AssertionResult) {
    entry.fail("Response was null");
}

/// Formats a number with commas between groups of three digits, like Java's message formats in English.
fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        out.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_grouped() {
        let written = [0, 999, 1000, 1234567, -1000].map(grouped);
        assert_eq!(written, ["0", "999", "1,000", "1,234,567", "-1,000"]);
    }
}
