//! JSON Assertion.

use jmx::Props;

use crate::env::Env;
use crate::result::{AssertionResult, SampleResult};
use crate::text::TextCompiler;

/// A compiled JSON Assertion.
#[derive(Debug)]
pub struct JsonAssertion {}

pub(super) fn compile(_props: &Props, _compiler: &mut TextCompiler) -> JsonAssertion {
    JsonAssertion {}
}

impl JsonAssertion {
    pub(super) fn run(
        &self,
        _result: &SampleResult,
        _env: &mut Env<'_>,
        _entry: &mut AssertionResult,
    ) {
    }

    pub(super) fn complaint(&self) -> Option<String> {
        None
    }
}
