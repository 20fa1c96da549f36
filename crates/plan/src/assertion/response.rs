//! Response Assertion: compares a part of the result with strings or patterns.
//!
//! The first pattern that does not match decides; with "or", the first pattern that matches decides. An empty field
//! fails every check except negated checks. A successful check allocates nothing after the first samples.

use std::fmt::Write;

use jmx::Props;
use lang::regexp::Malformed;

use super::fail_for_null;
use crate::env::Env;
use crate::extract::{Problem, Scope};
use crate::function::Shared;
use crate::pattern::Pattern;
use crate::plan::Needs;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};

const MATCH: i32 = 1;
const CONTAINS: i32 = 2;
const NOT: i32 = 4;
const EQUALS: i32 = 8;
const SUBSTRING: i32 = 16;
const OR: i32 = 32;

/// A compiled Response Assertion.
#[derive(Debug)]
pub struct ResponseAssertion {
    field: Field,
    kind: i32,
    expected: Vec<Expected>,
    assume_success: bool,
    message: Template,
}

#[derive(Debug)]
enum Expected {
    Pattern(Pattern),
    Text(Template),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Text,
    Code,
    Message,
    Headers,
    RequestHeaders,
    RequestData,
    Url,
}

pub(super) fn compile(
    props: &Props,
    scope: &Scope,
    compiler: &mut TemplateCompiler,
) -> Result<(ResponseAssertion, Needs), Problem> {
    let (field, needs) = match props.str("Assertion.test_field").unwrap_or("") {
        "Assertion.response_data" => (Field::Text, Needs::TEXT),
        "Assertion.response_code" => (Field::Code, Needs::empty()),
        "Assertion.response_message" => (Field::Message, Needs::empty()),
        "Assertion.response_headers" => (Field::Headers, Needs::HEADERS),
        "Assertion.request_headers" => (Field::RequestHeaders, Needs::REQUEST_HEADERS),
        "Assertion.request_data" => (Field::RequestData, Needs::SAMPLER_DATA),
        "Assertion.response_data_as_document" if !matches!(scope, Scope::Variable(_)) => {
            return Err(Problem {
                needs_jvm: true,
                message: "only Java (Apache Tika) can convert the body to a document".into(),
                help: "check the body itself".into(),
            });
        }
        _ => (Field::Url, Needs::URL),
    };
    let kind = match props.get("Assertion.test_type") {
        None => CONTAINS,
        Some(prop) => prop.text().and_then(|text| text.parse().ok()).unwrap_or(0),
    };
    let is_pattern = kind & CONTAINS != 0 || kind & (EQUALS | SUBSTRING) == 0;
    let mut strings = props.collection("Asserion.test_strings");
    if strings.is_empty() {
        strings = props.collection("Assertion.test_strings");
    }
    let texts = strings.iter().filter_map(|prop| prop.text());
    let expected = texts
        .map(|text| {
            if is_pattern {
                Expected::Pattern(Pattern::compile(text, compiler))
            } else {
                Expected::Text(Template::compile(text, compiler))
            }
        })
        .collect();
    let message = Template::compile(props.str("Assertion.custom_message").unwrap_or(""), compiler);
    let assume_success = props.bool("Assertion.assume_success").unwrap_or(false);
    let made = ResponseAssertion { field, kind, expected, assume_success, message };
    Ok((made, scope.needs(needs)))
}

/// Result of comparing the field with one pattern.
enum Outcome {
    Passed,
    Failed,
    Malformed(Malformed),
}

impl ResponseAssertion {
    /// Implements "Ignore status": marks the sample as successful before the check.
    pub(super) fn prepare(&self, result: &mut SampleResult) {
        result.success |= self.assume_success;
    }

    pub(super) fn run(
        &self,
        scope: &Scope,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        if let Scope::Variable(name) = scope {
            let mut text = env.core.take();
            name.eval(env, &mut text);
            // The value is copied, because evaluating the patterns may change variables.
            let mut value = env.core.take();
            value.push_str(env.vars.get_named(env.names, &text).unwrap_or(""));
            self.check(&value, Some(&text), env, entry);
            env.core.give(value);
            env.core.give(text);
            return;
        }
        let text = match self.field {
            Field::Text => &result.text,
            Field::Code => &result.code,
            Field::Message => &result.message,
            Field::Headers => &result.response_headers,
            Field::RequestHeaders => &result.request_headers,
            Field::RequestData => &result.sampler_data,
            Field::Url => &result.url,
        };
        self.check(text, None, env, entry);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        self.expected.iter().find_map(|expected| match expected {
            Expected::Pattern(Pattern::Fixed(_, Err(malformed))) => Some(malformed.to_string()),
            _ => None,
        })
    }

    fn has(&self, flag: i32) -> bool {
        self.kind & flag != 0
    }

    fn check(
        &self,
        text: &str,
        variable: Option<&str>,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        if text.is_empty() {
            if !self.has(NOT) {
                fail_for_null(entry);
            }
            return;
        }
        let (mut reasons, mut wanted) = (env.core.take(), env.core.take());
        let mut failed = self.has(OR);
        for expected in &self.expected {
            // Evaluated only once, because the functions in it may have side effects.
            wanted.clear();
            match expected {
                Expected::Pattern(source) => source.eval(env, &mut wanted),
                Expected::Text(source) => source.eval(env, &mut wanted),
            }
            match self.holds(expected, text, &wanted) {
                Outcome::Passed if self.has(OR) => {
                    failed = false;
                    break;
                }
                Outcome::Passed => {}
                Outcome::Failed => {
                    self.explain(&wanted, text, variable, env, &mut reasons);
                    if self.has(OR) {
                        reasons.push('\t');
                    } else {
                        failed = true;
                        break;
                    }
                }
                Outcome::Malformed(malformed) => {
                    entry.fail_with_error(&format!(
                        "Bad test configuration org.apache.oro.text.MalformedCachePatternException: {malformed}"
                    ));
                    env.core.give(wanted);
                    return env.core.give(reasons);
                }
            }
        }
        if failed {
            if reasons.is_empty() {
                reasons.push('\t');
            }
            let mut message = env.core.take();
            self.message.eval(env, &mut message);
            entry.fail(if message.is_empty() { &reasons } else { &message });
            env.core.give(message);
        }
        env.core.give(wanted);
        env.core.give(reasons);
    }

    fn holds(&self, expected: &Expected, text: &str, wanted: &str) -> Outcome {
        let found = match expected {
            Expected::Pattern(source) => {
                let found = source.of(wanted, |regexp| match regexp {
                    Ok(regexp) if self.has(CONTAINS) => Ok(regexp.is_found_in(text)),
                    Ok(regexp) => Ok(regexp.matches(text)),
                    Err(malformed) => Err(malformed.clone()),
                });
                match found {
                    Ok(found) => found,
                    Err(malformed) => return Outcome::Malformed(malformed),
                }
            }
            Expected::Text(_) if self.has(EQUALS) => text == wanted,
            Expected::Text(_) => text.contains(wanted),
        };
        if found == self.has(NOT) { Outcome::Failed } else { Outcome::Passed }
    }

    /// Appends the reason why the check failed.
    fn explain(
        &self,
        wanted: &str,
        text: &str,
        variable: Option<&str>,
        env: &Env<'_>,
        out: &mut String,
    ) {
        out.push_str("Test failed: ");
        if let Some(name) = variable {
            let _ = write!(out, "variable({name})");
        } else {
            out.push_str(match self.field {
                Field::Text => "text",
                Field::Code => "code",
                Field::Message => "message",
                Field::Headers => "headers",
                Field::RequestHeaders => "request headers",
                Field::RequestData => "request data",
                Field::Url => "URL",
            });
        }
        // With "or", JMeter's messages do not name the type of comparison.
        out.push_str(match (self.kind & NOT != 0, self.kind & !NOT) {
            (false, CONTAINS | SUBSTRING) => " expected to contain ",
            (true, CONTAINS | SUBSTRING) => " expected not to contain ",
            (false, MATCH) => " expected to match ",
            (true, MATCH) => " expected not to match ",
            (false, EQUALS) => " expected to equal ",
            (true, EQUALS) => " expected not to equal ",
            _ => " expected something using ",
        });
        out.push('/');
        if self.has(EQUALS) {
            Difference::of(env.shared).write(text, wanted, out);
        } else {
            out.push_str(wanted);
        }
        out.push('/');
    }
}

/// Format of differences: the maximum length of the differing part in UTF-16 units, and the marks around it
/// (`assertion.equals_section_diff_len`, `assertion.equals_diff_delta_start`, `assertion.equals_diff_delta_end`).
struct Difference<'a> {
    most: usize,
    begin: &'a str,
    end: &'a str,
}

impl<'a> Difference<'a> {
    fn of(shared: &'a Shared) -> Self {
        let most = shared.started_with("assertion.equals_section_diff_len");
        Self {
            most: most.and_then(|text| text.trim().parse().ok()).unwrap_or(100),
            begin: shared.started_with("assertion.equals_diff_delta_start").unwrap_or("[[["),
            end: shared.started_with("assertion.equals_diff_delta_end").unwrap_or("]]]"),
        }
    }

    /// Appends both strings with their differing parts marked and shortened to the maximum length.
    fn write(&self, received: &str, expected: &str, out: &mut String) {
        let received: Vec<u16> = received.encode_utf16().collect();
        let expected: Vec<u16> = expected.encode_utf16().collect();
        let first = received.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        // End of the differing part, exclusive, in both strings.
        let (mut received_end, mut expected_end) = (received.len(), expected.len());
        while received_end > first + 1
            && expected_end > first + 1
            && received[received_end - 1] == expected[expected_end - 1]
        {
            received_end -= 1;
            expected_end -= 1;
        }
        let most = self.most;
        let shown = |part: &[u16]| match part.get(..most) {
            Some(start) if part.len() > most => String::from_utf16_lossy(start) + "...",
            _ => String::from_utf16_lossy(part),
        };
        let before = &received[..first];
        let before = match before.len().checked_sub(self.most) {
            Some(cut) if cut > 0 => format!("...{}", String::from_utf16_lossy(&before[cut..])),
            _ => String::from_utf16_lossy(before),
        };
        let after = shown(&received[received_end..]);
        let mut received_part = shown(&received[first..received_end]);
        let mut expected_part = shown(&expected[first..expected_end]);
        let units = |text: &str| text.encode_utf16().count();
        let (received_units, expected_units) = (units(&received_part), units(&expected_part));
        let padding = " ".repeat(received_units.abs_diff(expected_units));
        if received_units > expected_units {
            expected_part += &padding;
        } else {
            received_part += &padding;
        }
        let (begin, end) = (self.begin, self.end);
        let _ =
            write!(out, "\n\n****** received  : {before}{begin}{received_part}{end}{after}\n\n");
        let _ = write!(out, "****** comparison: {before}{begin}{expected_part}{end}{after}\n\n");
    }
}
