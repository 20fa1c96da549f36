//! Functions that escape and unescape: `__escapeHtml`, `__unescapeHtml`, `__escapeXml`, `__unescape`,
//! `__escapeOroRegexpChars`.

use std::fmt::Write;

use super::Call;
use crate::env::Env;
use crate::extract::html;
use crate::template::{Outcome, Thrown};

/// Runs `__escapeHtml(text)` with the entity names of HTML 4.
pub(super) fn to_html(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let text = call.arg(0, env)?;
    for c in text.chars() {
        match html::name(c) {
            Some(name) => out.extend(["&", name, ";"]),
            None => out.push(c),
        }
    }
    env.core.give(text);
    Ok(())
}

/// Runs `__unescapeHtml(text)`: decodes names and numbers; other characters are unchanged.
pub(super) fn from_html(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let text = call.arg(0, env)?;
    html::unescape(&text, out);
    env.core.give(text);
    Ok(())
}

/// Runs `__escapeXml(text)` for XML 1.0; characters that XML does not allow are removed.
pub(super) fn to_xml(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let text = call.arg(0, env)?;
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(c),
            '\0'..=' ' if c != ' ' => {}
            '\u{fffe}' | '\u{ffff}' => {}
            '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' => _ = write!(out, "&#{};", u32::from(c)),
            _ => out.push(c),
        }
    }
    env.core.give(text);
    Ok(())
}

/// Runs `__unescape(text)`: decodes the escape sequences of Java strings; any other backslash is removed.
pub(super) fn from_java(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let text = call.arg(0, env)?;
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let octal = octal_length(rest);
        if octal > 0 {
            out.push(u8::from_str_radix(&rest[..octal], 8).map_or('?', char::from));
            rest = &rest[octal..];
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        let escaped = match first {
            'u' => {
                rest = unicode(rest, out)?;
                continue;
            }
            'b' => '\u{8}',
            'n' => '\n',
            't' => '\t',
            'f' => '\u{c}',
            'r' => '\r',
            '\\' | '"' | '\'' => first,
            _ => continue,
        };
        out.push(escaped);
        rest = &rest[1..];
    }
    out.push_str(rest);
    env.core.give(text);
    Ok(())
}

/// Returns the number of digits of an octal number at the start: up to three, but three only for values below 256.
fn octal_length(text: &str) -> usize {
    let digits = text.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
    if digits == 3 && text.as_bytes()[0] > b'3' { 2 } else { digits }
}

/// Decodes `uXXXX`, possibly with several `u` and a plus sign, and returns the rest. Two consecutive escape sequences
/// may form a surrogate pair.
fn unicode<'t>(text: &'t str, out: &mut String) -> Result<&'t str, Thrown> {
    let (unit, rest) = unicode_unit(text)?;
    if let Some(c) = char::from_u32(u32::from(unit)) {
        out.push(c);
        return Ok(rest);
    }
    if let Some(second) = rest.strip_prefix('\\').filter(|second| second.starts_with('u')) {
        let (low, behind) = unicode_unit(second)?;
        if let Some(Ok(c)) = char::decode_utf16([unit, low]).next() {
            out.push(c);
            return Ok(behind);
        }
    }
    out.push('?');
    Ok(rest)
}

fn unicode_unit(text: &str) -> Result<(u16, &str), Thrown> {
    let digits = text.trim_start_matches('u');
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let illegal = |words: String| Thrown::new("java.lang.IllegalArgumentException", words);
    let end = digits.char_indices().nth(4).map_or(digits.len(), |(at, _)| at);
    let (unit, rest) = digits.split_at(end);
    if unit.chars().count() < 4 {
        let words = format!(
            "Less than 4 hex digits in unicode value: '\\{text}' due to end of CharSequence"
        );
        return Err(illegal(words));
    }
    match u16::from_str_radix(unit, 16) {
        Ok(value) => Ok((value, rest)),
        Err(_) => Err(illegal(format!("Unable to parse unicode value: {unit}"))),
    }
}

/// Runs `__escapeOroRegexpChars(text, variable)`: escapes every character except letters, digits and `_` with a
/// backslash.
pub(super) fn to_regexp(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let text = call.arg(0, env)?;
    for c in text.chars() {
        if !(c.is_alphanumeric() || c == '_') {
            out.push('\\');
        }
        out.push(c);
    }
    env.core.give(text);
    call.store(1, env, &out[start..])
}
