//! JSON Extractor.

use jmx::Props;

use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::text::TextCompiler;

/// A compiled JSON Extractor.
#[derive(Debug)]
pub struct JsonExtractor {}

pub(super) fn compile(_props: &Props, _compiler: &mut TextCompiler) -> (JsonExtractor, Needs) {
    (JsonExtractor {}, Needs::TEXT)
}

impl JsonExtractor {
    /// Runs it.
    pub fn run(&self, _result: &SampleResult, _env: &mut Env<'_>) {}

    pub(super) fn complaint(&self) -> Option<String> {
        None
    }
}
