//! Conditional comments: the version of Internet Explorer that a user agent claims to be, and the test of an expression
//! against it.

use std::ops::ControlFlow;

use crate::regexp::Regexp;

/// Returns the version of Internet Explorer that a user agent names; `None` if it names none. The error is Java's
/// exception for an invalid number.
pub(super) fn of_user_agent(user_agent: &str) -> Result<Option<f32>, String> {
    if !user_agent.contains("MSIE ") {
        return Ok(None);
    }
    let Ok(pattern) = Regexp::remembered("MSIE ([0-9]+.[0-9]+)") else { return Ok(None) };
    let mut version = None;
    pattern.each(user_agent, |found| {
        version = found.group(1).map(float);
        ControlFlow::Break(())
    });
    version.transpose()
}

/// Returns true if the condition of a comment, such as `if lt IE 8`, is true for `version`.
pub(super) fn matches(version: f32, expression: &str) -> Result<bool, String> {
    let expression = expression.trim_matches(|c: char| c <= ' ').replace(['(', ')'], "");
    let Some(expression) = expression.get(3..) else {
        let length = expression.encode_utf16().count();
        return Err(format!(
            "java.lang.StringIndexOutOfBoundsException: begin 3, end {length}, length {length}"
        ));
    };
    let mut all = true;
    for any_of in expression.split('&') {
        let mut any = false;
        for one in any_of.split('|') {
            if holds(version, one.trim_matches(|c: char| c <= ' '))? {
                any = true;
                break;
            }
        }
        all &= any;
    }
    Ok(all)
}

#[allow(clippy::float_cmp)] // Versions are compared as Lagarto compares them.
fn holds(version: f32, condition: &str) -> Result<bool, String> {
    // A whole number in a condition matches all versions with that major number.
    let about = |number: f32| if number.trunc() == number { version.trunc() } else { version };
    let (rest, test): (_, fn(f32, f32, f32) -> bool) =
        if let Some(rest) = condition.strip_prefix("IE ") {
            (rest, |_, about, number| about == number)
        } else if let Some(rest) = condition.strip_prefix("!IE ") {
            (rest, |_, about, number| about != number)
        } else if let Some(rest) = condition.strip_prefix("lt IE ") {
            (rest, |version, _, number| version < number)
        } else if let Some(rest) = condition.strip_prefix("lte IE ") {
            (rest, |_, about, number| about <= number)
        } else if let Some(rest) = condition.strip_prefix("gt IE ") {
            (rest, |_, about, number| about > number)
        } else if let Some(rest) = condition.strip_prefix("gte IE ") {
            (rest, |version, _, number| version >= number)
        } else {
            return Ok(false);
        };
    let number = float(rest)?;
    Ok(test(version, about(number), number))
}

/// Parses a number like Java, without exponents and hexadecimal forms.
fn float(text: &str) -> Result<f32, String> {
    let trimmed = text.trim_matches(|c: char| c <= ' ');
    let digits = trimmed.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(trimmed);
    if digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && let Ok(number) = digits.parse()
    {
        return Ok(number);
    }
    Err(if trimmed.is_empty() {
        "java.lang.NumberFormatException: empty String".to_string()
    } else {
        format!("java.lang.NumberFormatException: For input string: \"{text}\"")
    })
}
