//! Save Responses to a file: writes the body of each result, and of each of its sub-results, to a separate file.
//!
//! This file selects the results to save and determines their file names; the engine passes the bodies to a writer
//! thread.

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::result::SampleResult;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// A compiled Save Responses to a file.
#[derive(Debug)]
pub struct ResponseSaver {
    /// Prefix of the names of the files with saved responses.
    pub prefix: Template,
    variable: Template,
    /// Number of digits of the file number, evaluated when the run starts.
    pub digits: Template,
    /// True if file names contain the start time of the run.
    pub stamped: bool,
    errors_only: Flag,
    successes_only: Flag,
    ignore_transactions: Flag,
    skip_number: Flag,
    skip_suffix: Flag,
}

/// Beginning of the response message by which results of transactions are recognized.
pub const TRANSACTION: &str = "Number of samples in transaction";

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ResponseSaver {
    ResponseSaver {
        prefix: ctx.prop(id, "FileSaver.filename"),
        variable: ctx.prop(id, "FileSaver.variablename"),
        digits: ctx.prop(id, "FileSaver.numberPadLen"),
        stamped: ctx.flag(id, "FileSaver.addTimstamp", false),
        errors_only: flag::compile(ctx, id, "FileSaver.errorsonly", false),
        successes_only: flag::compile(ctx, id, "FileSaver.successonly", false),
        ignore_transactions: flag::compile(ctx, id, "FileSaver.ignoreTC", true),
        skip_number: flag::compile(ctx, id, "FileSaver.skipautonumber", false),
        skip_suffix: flag::compile(ctx, id, "FileSaver.skipsuffix", false),
    }
}

impl ResponseSaver {
    /// Returns the file name for result number `nth` of a sample, or `None` if the result is not saved. Also stores the
    /// file name in the variable that the element specifies. `number` returns the next file number; `stamp` precedes
    /// the number.
    pub fn file(
        &self,
        result: &SampleResult,
        nth: usize,
        stamp: &str,
        digits: usize,
        number: impl FnOnce() -> u64,
        env: &mut Env<'_>,
    ) -> Option<String> {
        if self.ignore_transactions.get(env) && result.message.starts_with(TRANSACTION) {
            return None;
        }
        let unwanted = if result.success { &self.errors_only } else { &self.successes_only };
        if unwanted.get(env) {
            return None;
        }
        let mut name = String::new();
        self.prefix.eval(env, &mut name);
        name.push_str(stamp);
        if !self.skip_number.get(env) {
            name.push_str(&format!("{:0digits$}", number()));
        }
        if !self.skip_suffix.get(env) {
            name.push('.');
            name.push_str(suffix(&result.content_type));
        }
        let mut variable = env.core.take();
        self.variable.eval(env, &mut variable);
        if !variable.is_empty() {
            if nth > 0 {
                variable.push_str(&nth.to_string());
            }
            env.vars.set_named(env.names, &variable, &name);
        }
        env.core.give(variable);
        Some(name)
    }
}

/// Returns the subtype of a content type without parameters, or `unknown` for a content type without a subtype.
fn suffix(content_type: &str) -> &str {
    match content_type.split_once('/') {
        Some((_, kind)) => kind.split(';').next().unwrap_or(kind),
        None => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_kinds_of_content() {
        let kinds = ["text/html;charset=utf-8", "image/png", "", "text", "a/b /c"].map(suffix);
        assert_eq!(kinds, ["html", "png", "unknown", "unknown", "b /c"]);
    }
}
