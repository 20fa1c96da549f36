//! Post-processors that take values out of a result into variables.

use crate::env::Env;
use crate::result::SampleResult;

/// A compiled post-processor.
#[derive(Debug)]
pub enum Extractor {}

impl Extractor {
    /// Runs it.
    pub fn run(&self, _result: &mut SampleResult, _env: &mut Env<'_>) {
        match *self {}
    }
}
