//! The expected value of a JSON Assertion or a JMESPath Assertion.
//!
//! The properties of both assertions have the same names; comparison and failure messages differ.

use jmx::Props;

use crate::env::Env;
use crate::pattern::Pattern;
use crate::template::TemplateCompiler;

/// The settings of an assertion about the value at a path: expected value and kind of comparison.
#[derive(Debug)]
pub(super) struct Expectation {
    /// Expected value, or the pattern that the value must match.
    pub(super) value: Pattern,
    /// True if the value is compared with `value`; false if the path only has to exist.
    pub(super) validates: bool,
    /// True if the expected value is `null`.
    pub(super) is_null: bool,
    /// True if the assertion fails when the value matches.
    pub(super) is_inverted: bool,
    pub(super) is_pattern: bool,
}

impl Expectation {
    pub(super) fn compile(props: &Props, compiler: &mut TemplateCompiler) -> Self {
        let flag = |name: &str, default: bool| props.bool(name).unwrap_or(default);
        Self {
            value: Pattern::compile(props.str("EXPECTED_VALUE").unwrap_or(""), compiler),
            validates: flag("JSONVALIDATION", false),
            is_null: flag("EXPECT_NULL", false),
            is_inverted: flag("INVERT", false),
            is_pattern: flag("ISREGEX", true),
        }
    }

    /// Returns true if the pattern matches the whole string. The error is the message about an invalid pattern.
    pub(super) fn fits(&self, text: &str, env: &mut Env<'_>) -> Result<bool, String> {
        self.value.with(env, |regexp, _| match regexp {
            Ok(regexp) => Ok(regexp.matches(text)),
            Err(malformed) => Err(malformed.to_string()),
        })
    }

    /// Returns the error of a constant pattern that is invalid.
    pub(super) fn complaint(&self) -> Option<String> {
        match &self.value {
            Pattern::Fixed(_, Err(malformed)) if self.validates && self.is_pattern => {
                Some(malformed.to_string())
            }
            _ => None,
        }
    }
}
