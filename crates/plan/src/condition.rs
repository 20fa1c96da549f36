//! Conditions of If Controllers: an expression that evaluates to `true`, or a small JavaScript.
//!
//! JMeter inserts the values of variables into the script and then runs it. This module evaluates what conditions
//! usually contain (literals, comparisons, arithmetic, logic) by JavaScript's rules. As in JMeter, a script that
//! throws an exception counts as false. Other scripts need a JVM; they are detected when the plan is compiled.

mod script;

use crate::env::Env;
use crate::evaluation;
use crate::template::Template;
pub(crate) use script::Dialect;

/// A compiled condition.
#[derive(Debug)]
pub enum Condition {
    /// Expression that must evaluate to `true`, in upper or lower case.
    Expression(Template),
    /// JavaScript that must evaluate to `true`.
    Script(Template),
}

impl Condition {
    /// True if the condition is met.
    pub fn holds(&self, env: &mut Env<'_>) -> bool {
        match self {
            Self::Expression(text) => {
                text.parsed(env, |value| value.trim().eq_ignore_ascii_case("true"))
            }
            Self::Script(text) => {
                evaluation::watched("condition", env, |env| text.parsed(env, script::is_true)).0
            }
        }
    }
}

/// Returns true if this module can evaluate the script, whatever the values of its variables.
pub(crate) fn is_native_script(source: &str) -> bool {
    script::is_known(&with_values(source))
}

/// Returns true if the script is a comparison that this module can evaluate, whatever the values of its variables.
pub(crate) fn is_comparison(source: &str, dialect: Dialect) -> bool {
    script::is_comparison(&with_values(source), dialect)
}

/// Appends the value of a script to `out`. Returns false if the script throws an exception.
pub(crate) fn compute(source: &str, dialect: Dialect, out: &mut String) -> bool {
    script::append(source, dialect, out)
}

/// Replaces each `${…}` in a script by the digit `1`, to test whether the script can be evaluated.
pub(crate) fn with_values(source: &str) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("${") {
        plain.push_str(&rest[..at]);
        // A number is valid in place of any value, inside or outside quotes.
        plain.push('1');
        rest = &rest[at + 2..];
        let mut depth = 1;
        let end = rest.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        });
        rest = end.map_or("", |(end, _)| &rest[end + 1..]);
    }
    plain.push_str(rest);
    plain
}
