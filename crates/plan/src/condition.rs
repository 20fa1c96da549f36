//! Conditions of If controllers: an expression that must come to `true`, or a small JavaScript.
//!
//! JMeter puts the values of variables into the text of a script and then runs it. What conditions of plans consist
//! of (literals, comparisons, arithmetic, logic) is computed here, by JavaScript's rules; a script that throws counts
//! as false, as in JMeter. Anything beyond needs a JVM, which is found out when the plan is compiled.

mod script;

use crate::env::Env;
use crate::evaluation;
use crate::template::Template;
pub(crate) use script::Dialect;

/// A compiled condition.
#[derive(Debug)]
pub enum Condition {
    /// An expression that must evaluate to `true`, in any case.
    Expression(Template),
    /// JavaScript that must evaluate to `true`.
    Script(Template),
}

impl Condition {
    /// Whether it holds.
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

/// Whether scripts of that text, with any values for its variables, are within what is computed here.
pub(crate) fn is_native_script(source: &str) -> bool {
    script::is_known(&with_values(source))
}

/// Whether a script is a comparison that is computed here, whatever the values of its variables.
pub(crate) fn is_comparison(source: &str, dialect: Dialect) -> bool {
    script::is_comparison(&with_values(source), dialect)
}

/// Appends the value of a script; false if it throws.
pub(crate) fn compute(source: &str, dialect: Dialect, out: &mut String) -> bool {
    script::append(source, dialect, out)
}

/// The script with a value for each `${…}`.
pub(crate) fn with_values(source: &str) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("${") {
        plain.push_str(&rest[..at]);
        // A number stands well in the place of a value, with quotes around it and without.
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
