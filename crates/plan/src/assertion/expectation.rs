//! The expectation that the JSON Assertion and the JMESPath Assertion share: a value at the end of a path.
//!
//! Their properties have the same names; what a value is compared with, and the words of a failure, are their own.

use jmx::Props;

use crate::env::Env;
use crate::pattern::Pattern;
use crate::template::TemplateCompiler;

/// The value expected at the end of a path.
#[derive(Debug)]
pub(super) struct Expectation {
    /// The value, or a pattern for it.
    pub(super) value: Pattern,
    /// A value is expected; else it is enough that the path leads somewhere.
    pub(super) validates: bool,
    /// The value is `null`.
    pub(super) is_null: bool,
    /// The assertion fails if what is expected is there.
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

    /// Whether the pattern fits a whole text; the error is that of the pattern.
    pub(super) fn fits(&self, text: &str, env: &mut Env<'_>) -> Result<bool, String> {
        self.value.with(env, |regexp, _| match regexp {
            Ok(regexp) => Ok(regexp.matches(text)),
            Err(malformed) => Err(malformed.to_string()),
        })
    }

    /// The error of a pattern that is known before the run.
    pub(super) fn complaint(&self) -> Option<String> {
        match &self.value {
            Pattern::Fixed(_, Err(malformed)) if self.validates && self.is_pattern => {
                Some(malformed.to_string())
            }
            _ => None,
        }
    }
}
