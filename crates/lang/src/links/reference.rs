//! Character references of HTML, as Lagarto 5.0.13 resolves them: the longest known name, with or without a semicolon.
//!
//! Numbers keep 16 bits of their value. A name cut off by the end of the page is an exception.

use html5ever::data::NAMED_ENTITIES;

use super::tokenizer::Thrown;

/// Returns Java's exception for reading beyond the end of a page.
pub(super) fn beyond(input: &str) -> Thrown {
    let length = input.encode_utf16().count();
    format!(
        "java.lang.ArrayIndexOutOfBoundsException: Index {length} out of bounds for length {length}"
    )
}

/// Resolves the character reference that begins with the `&` before `at`, and appends its characters. In attributes, a
/// named reference must end with a semicolon. Returns the number of bytes from `at` on that belong to the reference.
pub(super) fn resolve(
    input: &str,
    at: usize,
    attribute: bool,
    out: &mut String,
) -> Result<usize, Thrown> {
    let rest = &input.as_bytes()[at..];
    match rest.first() {
        None => return Ok(0),
        Some(b'#') => return Ok(number(&rest[1..], out).map_or(0, |length| length + 1)),
        Some(_) => {}
    }
    if is_cut(rest) {
        return Err(beyond(input));
    }
    let Some(name) = longest(rest) else {
        out.push('&');
        return Ok(0);
    };
    let Some(after) = rest.get(name.len()) else { return Err(beyond(input)) };
    if *after == b';' {
        out.extend(meaning(name).into_iter().flatten());
        return Ok(name.len() + 1);
    }
    if attribute {
        out.push('&');
        return Ok(0);
    }
    out.extend(meaning(name).into_iter().flatten());
    Ok(name.len())
}

/// Returns the longest known name of a character reference at the start of `rest`.
fn longest(rest: &[u8]) -> Option<&[u8]> {
    let end = run(rest).min(LONGEST);
    (1..=end).rev().map(|length| &rest[..length]).find(|name| meaning(name).is_some())
}

/// Returns true if the page ends within a reference's name that has only one possible completion.
fn is_cut(rest: &[u8]) -> bool {
    if rest.is_empty() || rest.len() > LONGEST || run(rest) < rest.len() {
        return false;
    }
    let names = NAMED_ENTITIES.keys().filter_map(|key| Some(key.strip_suffix(';')?.as_bytes()));
    let mut possible = names.filter(|name| name.starts_with(rest));
    possible.next().is_some_and(|name| name.len() > rest.len()) && possible.next().is_none()
}

/// Returns the number of letters and digits at the start of `rest`.
fn run(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// Length of the longest name of a character reference in HTML.
const LONGEST: usize = 31;

/// Returns the one or two characters that a named reference stands for.
fn meaning(name: &[u8]) -> Option<impl Iterator<Item = char>> {
    let mut key = [b';'; LONGEST + 1];
    let length = name.len().min(LONGEST);
    key[..length].copy_from_slice(&name[..length]);
    let key = std::str::from_utf8(&key[..=length]).ok()?;
    let (first, second) = NAMED_ENTITIES.get(key)?;
    // A name stands for one or two characters. The table has 0 in place of a missing second character.
    let second = char::from_u32(*second).filter(|second| *second != '\0');
    Some(char::from_u32(*first).into_iter().chain(second))
}

/// Resolves a numeric reference after its `#`. Returns the number of bytes consumed; `None` if there is no number, or
/// if the page ends within it.
fn number(rest: &[u8], out: &mut String) -> Option<usize> {
    let hex = matches!(rest.first(), Some(b'x' | b'X'));
    let start = usize::from(hex);
    let (mut value, mut at) = (0_i32, start);
    loop {
        let digit = char::from(*rest.get(at)?).to_digit(if hex { 16 } else { 10 });
        let Some(digit) = digit else { break };
        value = value.wrapping_mul(if hex { 16 } else { 10 }).wrapping_add(digit.cast_signed());
        at += 1;
    }
    if at == start {
        return None;
    }
    out.push(character(value));
    Some(at + usize::from(rest[at] == b';'))
}

/// Returns the character of a numeric reference. HTML replaces some numbers by characters of windows-1252.
fn character(value: i32) -> char {
    const WINDOWS: [u16; 32] = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039,
        0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
    ];
    let unit = match value {
        0 | 0x11_0000.. => 0xfffd,
        0x80..=0x9f => WINDOWS[(value - 0x80) as usize],
        _ => value as u16,
    };
    // Unpaired surrogates, which Java would keep, become question marks.
    char::from_u32(unit.into()).unwrap_or('?')
}
