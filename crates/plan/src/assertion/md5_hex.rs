//! MD5Hex Assertion: compares the MD5 digest of the response data.

use std::fmt::Write;

use jmx::Props;
use md5::Digest;

use super::fail_for_null;
use crate::env::Env;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};

/// A compiled MD5Hex Assertion.
#[derive(Debug)]
pub struct Md5HexAssertion {
    wanted: Template,
}

pub(super) fn compile(props: &Props, compiler: &mut TemplateCompiler) -> Md5HexAssertion {
    Md5HexAssertion {
        wanted: Template::compile(props.str("MD5HexAssertion.size").unwrap_or(""), compiler),
    }
}

impl Md5HexAssertion {
    pub(super) fn run(
        &self,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        if result.body.is_empty() {
            return fail_for_null(entry);
        }
        // JMeter evaluates the expected digest anew for each of its three uses.
        let (mut wanted, mut found) = (env.core.take(), env.core.take());
        self.evaluate(env, &mut wanted);
        let is_empty = wanted.is_empty();
        if !is_empty {
            self.evaluate(env, &mut wanted);
        }
        for byte in md5::Md5::digest(&result.body) {
            let _ = write!(found, "{byte:02x}");
        }
        if is_empty {
            entry.fail("MD5Hex to test against is empty");
        } else if !wanted.eq_ignore_ascii_case(&found) {
            self.evaluate(env, &mut wanted);
            let _ = write!(found, " but should have been {wanted}");
            entry.fail(&format!("Error asserting MD5 sum : got {found}"));
        }
        env.core.give(wanted);
        env.core.give(found);
    }

    fn evaluate(&self, env: &mut Env<'_>, wanted: &mut String) {
        wanted.clear();
        self.wanted.eval(env, wanted);
    }
}
