//! Assertions: they turn a result into a failure.

use crate::env::Env;
use crate::result::SampleResult;

/// A compiled assertion.
#[derive(Debug)]
pub enum Assertion {}

impl Assertion {
    /// Runs it; adds its result and, on failure, makes the sample a failed one.
    pub fn run(&self, _result: &mut SampleResult, _env: &mut Env<'_>) {
        match *self {}
    }
}
