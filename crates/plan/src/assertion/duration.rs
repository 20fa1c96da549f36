//! Duration Assertion: limits the duration of a sample.

use std::fmt::Write;

use jmx::Props;

use super::grouped;
use crate::env::Env;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};

/// A compiled Duration Assertion.
#[derive(Debug)]
pub struct DurationAssertion {
    /// Maximum duration in milliseconds; 0 or less means no limit.
    limit: Template,
}

pub(super) fn compile(props: &Props, compiler: &mut TemplateCompiler) -> DurationAssertion {
    let limit = props.str("DurationAssertion.duration").unwrap_or("");
    DurationAssertion { limit: Template::compile(limit, compiler) }
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
