//! JSON Assertion, and the older JSON assertion of the jp@gc plug-ins: checks that a path has a value, and compares the
//! value.
//!
//! A list passes if the list itself or one of its elements matches. Each check parses the body anew, which
//! allocates memory for its arrays and objects.

use jmx::Props;
use lang::java::write_double_plain;
use lang::jsonpath::{self, Failure, JsonPath, Projection, Value};

use super::expectation::Expectation;
use super::fail_for_null;
use crate::env::Env;
use crate::extract::Problem;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler, unreadable};

/// A compiled JSON Assertion.
#[derive(Debug)]
pub struct JsonAssertion {
    path: Template,
    /// The compiled path, if it is constant.
    fixed: Option<Result<JsonPath, Failure>>,
    /// The parts of a document that the path can reach.
    projection: Projection,
    expected: Expectation,
    /// True for the plug-in's assertion: it compares strings instead of JSON, counts empty lists as values, and has
    /// other messages.
    of_plugin: bool,
}

pub(super) fn compile(
    props: &Props,
    of_plugin: bool,
    compiler: &mut TemplateCompiler,
) -> Result<JsonAssertion, Problem> {
    if of_plugin && props.str("INPUT_FORMAT") == Some("YAML") {
        return Err(Problem {
            needs_jvm: false,
            message: "YAML is not supported".into(),
            help: "check JSON".into(),
        });
    }
    let path = Template::compile(props.str("JSON_PATH").unwrap_or(""), compiler);
    let fixed = path.fixed().map(JsonPath::new);
    let mut projection = Projection::WHOLE;
    if let Some(Ok(fixed)) = &fixed {
        projection = Projection::default();
        fixed.project(&mut projection);
    }
    Ok(JsonAssertion {
        fixed,
        projection,
        path,
        expected: Expectation::compile(props, compiler),
        of_plugin,
    })
}

impl JsonAssertion {
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
        self.path.eval(env, &mut path);
        self.expected.value.eval(env, &mut expected);
        let made;
        let compiled = match &self.fixed {
            Some(fixed) => fixed,
            None => {
                made = JsonPath::new(&path);
                &made
            }
        };
        match (self.check(compiled, &path, &expected, &result.text, env), self.expected.is_inverted)
        {
            (Err(message), false) => entry.fail(&message),
            (Ok(()), true) if self.expected.validates => {
                let wanted = if self.expected.is_null { "null" } else { &expected };
                entry.fail(&format!("Failed that JSONPath {path} not matches {wanted}"));
            }
            (Ok(()), true) => entry.fail(&format!("Failed that JSONPath not exists: {path}")),
            (Ok(()), false) | (Err(_), true) => {}
        }
        env.core.give(path);
        env.core.give(expected);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        if let Some(Err(failure)) = &self.fixed {
            return Some(unreadable("path", self.path.fixed().unwrap_or(""), failure));
        }
        self.expected.complaint()
    }

    /// Compares the values at the path; the error is JMeter's message.
    fn check(
        &self,
        compiled: &Result<JsonPath, Failure>,
        path: &str,
        expected: &str,
        text: &str,
        env: &mut Env<'_>,
    ) -> Result<(), String> {
        let document = jsonpath::read_for(text, &self.projection)
            .map_err(|error| format!("net.minidev.json.parser.ParseException: {}", error.0))?;
        if document == Value::Null {
            return Err("json can not be null".into());
        }
        let compiled = compiled.as_ref().map_err(Failure::to_string)?;
        let value = compiled.value(&document).map_err(|failure| failure.to_string())?;
        let value = value.as_ref();
        if !self.expected.validates {
            return match value {
                Value::Array(values)
                    if values.is_empty() && !compiled.is_definite() && !self.of_plugin =>
                {
                    Err(format!(
                        "JSONPath '{path}' is indefinite and the extracted Value is an empty Array. Please use an \
                     assertion value, to be sure to get a correct result. Expected value was '{expected}'"
                    ))
                }
                _ => Ok(()),
            };
        }
        let holds = match value {
            Value::Array(values) => {
                values.is_empty() && expected == "[]"
                    || self.any_holds(values, expected, env)?
                    || self.is_equal(value, expected, env)?
            }
            Value::Null if self.expected.is_null => true,
            other => self.is_equal(other, expected, env)?,
        };
        if holds {
            return Ok(());
        }
        let mut found = String::new();
        value.write_java(&mut found);
        Err(if self.of_plugin {
            if self.expected.is_null {
                format!("Value expected to be null, but found '{found}'")
            } else if self.expected.is_pattern {
                let found = shown(value);
                format!(
                    "Value expected to match regexp '{expected}', but it did not match: '{found}'"
                )
            } else {
                format!("Value expected to be '{expected}', but found '{}'", shown(value))
            }
        } else if self.expected.is_null {
            format!("Value in json path '{path}' expected to be null, but found '{found}'")
        } else if self.expected.is_pattern {
            format!(
                "Value in json path '{path}' expected to match regexp '{expected}', but it did not match: '{}'",
                shown(value)
            )
        } else {
            format!(
                "Value in json path '{path}' expected to be '{expected}', but found '{}'",
                shown(value)
            )
        })
    }

    fn any_holds(
        &self,
        values: &[Value<'_>],
        expected: &str,
        env: &mut Env<'_>,
    ) -> Result<bool, String> {
        for value in values {
            if *value == Value::Null && self.expected.is_null
                || self.is_equal(value, expected, env)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_equal(
        &self,
        value: &Value<'_>,
        expected: &str,
        env: &mut Env<'_>,
    ) -> Result<bool, String> {
        if !self.expected.is_pattern && self.of_plugin {
            return Ok(shown(value) == expected);
        }
        if !self.expected.is_pattern {
            let expected = jsonpath::read(expected).unwrap_or(Value::Null);
            return Ok(*value == expected);
        }
        self.expected.fits(&shown(value), env)
    }
}

/// Returns a value as the string that patterns and messages use.
fn shown(value: &Value<'_>) -> String {
    let mut out = String::new();
    match value {
        Value::Double(value) => write_double_plain(*value, &mut out),
        Value::Object(_) => value.write_json_hashed(&mut out),
        other => other.write_java(&mut out),
    }
    out
}
