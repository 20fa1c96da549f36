//! Duration Assertion.

use std::fmt::Write;

use jmx::Props;

use crate::env::Env;
use crate::result::{AssertionResult, SampleResult};
use crate::text::{Text, TextCompiler};

/// A compiled Duration Assertion.
#[derive(Debug)]
pub struct DurationAssertion {
    /// Longest time allowed, milliseconds; 0 and less is no limit.
    limit: Text,
}

pub(super) fn compile(props: &Props, compiler: &mut TextCompiler) -> DurationAssertion {
    let limit = props.str("DurationAssertion.duration").unwrap_or("");
    DurationAssertion { limit: Text::compile(limit, compiler) }
}

impl DurationAssertion {
    pub(super) fn run(
        &self,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        let mut text = env.core.take();
        self.limit.eval(env, &mut text);
        let limit: i64 = text.parse().unwrap_or(0);
        let took = result.elapsed_ms();
        if limit > 0 && took > limit {
            text.clear();
            let _ = write!(
                text,
                "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {} \
                 milliseconds.",
                grouped(took),
                grouped(limit)
            );
            entry.fail(&text);
        }
        env.core.give(text);
    }
}

/// A positive number with commas between groups of three digits, as the message's format writes it in English.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
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
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
