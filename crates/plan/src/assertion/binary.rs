//! Binary Content Assertion of the WebSocket plug-in: bytes of the response against bytes in hexadecimal.

use jmx::Props;

use crate::env::Env;
use crate::result::{AssertionResult, SampleResult};
use crate::text::{Text, TextCompiler};
use crate::websocket::binary;

/// A compiled Binary Content Assertion.
#[derive(Debug)]
pub struct BinaryContentAssertion {
    value: Text,
    comparison: Text,
}

pub(super) fn compile(props: &Props, compiler: &mut TextCompiler) -> BinaryContentAssertion {
    let mut text = |name: &str| Text::compile(props.str(name).unwrap_or(""), compiler);
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
            Err(bad) => return entry.go_wrong(&bad),
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
            Err(word) => entry.go_wrong(&format!(
                "No enum constant eu.luminis.jmeter.assertions.BinaryContentAssertion.ComparisonType.{word}"
            )),
        }
    }
}

/// Java's complaint about the first piece of a text that is no byte.
fn first_bad(text: &str) -> String {
    for token in text.split(' ') {
        if let Some(digits) = token.strip_prefix("0x") {
            if binary::parse(token, &mut Vec::new()).is_err() {
                return match digits {
                    "" => "Zero length string".into(),
                    digits if digits.starts_with(['+', '-']) => {
                        "Sign character in wrong position".into()
                    }
                    digits => format!("For input string: \"{digits}\" under radix 16"),
                };
            }
            continue;
        }
        let letters: Vec<char> = token.chars().collect();
        for pair in letters.chunks(2) {
            let pair: String = pair.iter().collect();
            if binary::parse(&pair, &mut Vec::new()).is_err() {
                return format!("For input string: \"{pair}\" under radix 16");
            }
        }
    }
    String::new()
}
