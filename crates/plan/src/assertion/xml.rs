//! XML Assertion: checks that the response is a well-formed document without a document type.

use lang::xml::{Options, read_text};

use super::fail_for_null;
use crate::result::{AssertionResult, SampleResult};

/// Fails the assertion unless the response text is a well-formed document without a document type.
pub(super) fn run(result: &SampleResult, entry: &mut AssertionResult) {
    if result.text.is_empty() {
        return fail_for_null(entry);
    }
    let options = Options { forbids_doctype: true, ..Options::default() };
    if let Err(fault) = read_text(&result.text, options) {
        entry.fail(&fault.message);
        // JMeter sets both failure and error.
        entry.error = true;
    }
}
