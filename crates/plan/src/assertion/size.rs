//! Size Assertion: compares the size of a response, or of a part of it, with a number.
//!
//! As in JMeter, sizes count the transferred bytes: headers as received, and the body before content decoding. The size
//! of a response code or message is its number of characters.

use std::fmt::Write;

use jmx::Props;

use super::grouped;
use crate::env::Env;
use crate::extract::Scope;
use crate::plan::Needs;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};

/// A compiled Size Assertion.
#[derive(Debug)]
pub struct SizeAssertion {
    field: Field,
    wanted: Template,
    operator: Template,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Whole,
    Headers,
    Body,
    Code,
    Message,
}

pub(super) fn compile(
    props: &Props,
    scope: &Scope,
    compiler: &mut TemplateCompiler,
) -> (SizeAssertion, Needs) {
    let (field, needs) = match props.str("Assertion.test_field").unwrap_or("") {
        "SizeAssertion.response_headers" => (Field::Headers, Needs::HEADERS),
        // If the transferred size of a response is unknown, the size of its data counts.
        "SizeAssertion.response_data" => (Field::Body, Needs::HEADERS | Needs::BODY),
        "SizeAssertion.response_code" => (Field::Code, Needs::empty()),
        "SizeAssertion.response_message" => (Field::Message, Needs::empty()),
        _ => (Field::Whole, Needs::empty()),
    };
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let made = SizeAssertion {
        field,
        wanted: text("SizeAssertion.size"),
        operator: text("SizeAssertion.operator"),
    };
    (made, scope.needs(needs))
}

impl SizeAssertion {
    pub(super) fn run(
        &self,
        scope: &Scope,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        let size = match scope {
            Scope::Variable(name) => {
                let mut text = env.core.take();
                name.eval(env, &mut text);
                let value = env.vars.get_named(env.names, &text);
                let size = value.and_then(|value| value.parse().ok());
                if size.is_none() {
                    let value = value.unwrap_or("null");
                    entry.fail(&format!("Error parsing variable name: {text} value: {value}"));
                }
                env.core.give(text);
                match size {
                    Some(size) => size,
                    None => return,
                }
            }
            _ => self.size_of(result),
        };
        let wanted = self.wanted.parsed(env, |text| {
            let number = text.parse::<i64>();
            number.map_err(|_| {
                format!("java.lang.NumberFormatException: For input string: \"{text}\"")
            })
        });
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(exception) => return entry.throw(&exception),
        };
        let (holds, verb) = match self.operator.int(env) {
            1 => (size == wanted, "been equal to"),
            2 => (size != wanted, "not been equal to"),
            3 => (size > wanted, "been greater than"),
            4 => (size < wanted, "been less than"),
            5 => (size >= wanted, "been greater or equal to"),
            6 => (size <= wanted, "been less than or equal to"),
            _ => (false, "ERROR - invalid condition"),
        };
        if !holds {
            let mut text = env.core.take();
            let (size, wanted) = (grouped(size), grouped(wanted));
            let _ = write!(
                text,
                "The result was the wrong size: It was {size} bytes, but should have {verb} {wanted} bytes."
            );
            entry.fail(&text);
            env.core.give(text);
        }
    }

    fn size_of(&self, result: &SampleResult) -> i64 {
        let letters = |text: &str| text.encode_utf16().count() as i64;
        match self.field {
            Field::Whole => result.bytes as i64,
            Field::Headers => result.headers_size as i64,
            Field::Body => match result.bytes as i64 - result.headers_size as i64 {
                0 => result.body.len() as i64,
                size => size,
            },
            Field::Code => letters(&result.code),
            Field::Message => letters(&result.message),
        }
    }
}
