//! JMESPath Assertion: checks that an expression has a value, and compares the value.
//!
//! The expected value is compared as a string first and then as JSON, so that an expected value that is not JSON
//! leads to Jackson's message. Each check parses the body anew, which allocates memory for all its values.

use jmx::Props;
use lang::jmespath::{self, Failure, JmesPath, Value};

use super::expectation::Expectation;
use super::fail_for_null;
use crate::env::Env;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};

/// A compiled JMESPath Assertion.
#[derive(Debug)]
pub struct JmesPathAssertion {
    expression: Template,
    /// The compiled expression, if it is constant.
    fixed: Option<Result<JmesPath, Failure>>,
    expected: Expectation,
}

pub(super) fn compile(props: &Props, compiler: &mut TemplateCompiler) -> JmesPathAssertion {
    let expression = Template::compile(props.str("JMES_PATH").unwrap_or(""), compiler);
    JmesPathAssertion {
        fixed: expression.fixed().map(JmesPath::new),
        expression,
        expected: Expectation::compile(props, compiler),
    }
}

impl JmesPathAssertion {
    pub(super) fn run(
        &self,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        if result.text.is_empty() {
            return fail_for_null(entry);
        }
        entry.say("");
        let (mut path, mut expected) = (env.core.take(), env.core.take());
        self.expression.eval(env, &mut path);
        self.expected.value.eval(env, &mut expected);
        match self.check(&path, &expected, &result.text, env) {
            Err(failure) if !self.expected.is_inverted => entry.fail_with_error(&failure.0),
            Ok(holds) if holds == self.expected.is_inverted => {
                entry.fail(&self.message(&path, &expected));
            }
            _ => {}
        }
        env.core.give(path);
        env.core.give(expected);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        if let Some(Err(failure)) = &self.fixed {
            return Some(failure.0.clone());
        }
        // If `null` is expected, the pattern is never used.
        if self.expected.is_null { None } else { self.expected.complaint() }
    }

    fn message(&self, path: &str, expected: &str) -> String {
        let not = if self.expected.is_inverted { " not" } else { "" };
        if !self.expected.validates {
            format!("JMESPATH {path} expected{not} to exist")
        } else if self.expected.is_null {
            format!("Value expected{not} to be null")
        } else if self.expected.is_pattern {
            format!("Value expected{not} to match {expected}")
        } else {
            format!("Value expected{not} to be equal to {expected}")
        }
    }

    fn check(
        &self,
        path: &str,
        expected: &str,
        text: &str,
        env: &mut Env<'_>,
    ) -> Result<bool, Failure> {
        let document = jmespath::read(text)?;
        let made;
        let expression = match &self.fixed {
            Some(fixed) => fixed,
            None => {
                made = JmesPath::new(path);
                &made
            }
        };
        let value = expression.as_ref().map_err(Failure::clone)?.search(&document)?;
        let is_null = matches!(value, Value::Null);
        if !self.expected.validates {
            return Ok(!is_null);
        }
        if self.expected.is_null {
            return Ok(is_null);
        }
        let shown = value.shown();
        if self.expected.is_pattern {
            return self.expected.fits(&shown, env).map_err(Failure);
        }
        Ok(shown == expected || jmespath::read(expected)? == value)
    }
}
