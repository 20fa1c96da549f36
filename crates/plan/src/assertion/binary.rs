//! Binary Content Assertion of the WebSocket plug-in: compares bytes of the response with hexadecimal bytes.

use jmx::Props;

use crate::env::Env;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};
use crate::websocket::binary;

/// A compiled Binary Content Assertion.
#[derive(Debug)]
pub struct BinaryContentAssertion {
    value: Template,
    comparison: Template,
}

pub(super) fn compile(props: &Props, compiler: &mut TemplateCompiler) -> BinaryContentAssertion {
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    BinaryContentAssertion { value: text("compareValue"), comparison: text("comparisonType") }
}

impl BinaryContentAssertion {
    pub(super) fn run(
        &self,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        let wanted = self.value.parsed(env, |text| {
            let mut bytes = Vec::new();
            binary::parse(text, &mut bytes).map(|()| bytes).map_err(|()| first_bad(text))
        });
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(bad) => return entry.fail_with_error(&bad),
        };
        let body = &result.body[..];
        let outcome = self.comparison.parsed(env, |word| {
            let (not, bare) = match word.strip_prefix("Not") {
                Some(bare) => (true, bare),
                None => (false, word),
            };
            let (found, verb) = match bare.trim() {
                "Equals" => (body == wanted, "equal"),
                "Contains" | "" => (binary::contains(body, &wanted), "contain"),
                "StartsWith" => (body.starts_with(&wanted), "start with"),
                _ => return Err(word.to_string()),
            };
            Ok((found != not, if not { "not to " } else { "to " }, verb))
        });
        match outcome {
            Ok((true, ..)) => {}
            Ok((false, not, verb)) => {
                let mut text = format!("Response expected {not}{verb} ");
                binary::format(&wanted, usize::MAX, "", &mut text);
                text.push_str("\nResponse was: ");
                binary::format(body, usize::MAX, "", &mut text);
                entry.fail(&text);
            }
            Err(word) => entry.fail_with_error(&format!(
                "java.lang.IllegalArgumentException: No enum constant eu.luminis.jmeter.assertions.BinaryContentAssertion.ComparisonType.{word}"
            )),
        }
    }
}

/// Returns Java's message about the first part of a string that is not a hexadecimal byte.
fn first_bad(text: &str) -> String {
    let is_bad = |piece: &String| binary::parse(piece, &mut Vec::new()).is_err();
    let pieces = text.split(' ').flat_map(|token| {
        let letters: Vec<char> = token.chars().collect();
        let length = if token.starts_with("0x") { letters.len() } else { 2 };
        letters.chunks(length).map(|piece| piece.iter().collect()).collect::<Vec<String>>()
    });
    let bad = pieces.into_iter().find(is_bad).unwrap_or_default();
    let digits = bad.strip_prefix("0x").unwrap_or(&bad);
    let complaint = if digits.len() < bad.len() && digits.starts_with(['+', '-']) {
        "Sign character in wrong position".to_string()
    } else {
        format!("For input string: \"{digits}\" under radix 16")
    };
    format!("java.lang.NumberFormatException: {complaint}")
}
