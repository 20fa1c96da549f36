//! Character functions: `__char`, `__changeCase`.

use super::{Call, Level, trim};
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__char(number, …)`: each number is a UTF-16 unit; invalid numbers are skipped.
pub(super) fn char(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let mut high = None;
    for n in 0..call.args().len() {
        let text = call.arg(n, env)?;
        match decode(trim(&text)) {
            // Only the lower 16 bits are used.
            Some(number) => push_unit(number as u16, &mut high, out),
            None => env
                .shared
                .log(Level::Warn, format!("Could not parse {} as a character", trim(&text))),
        }
        env.core.give(text);
    }
    if high.is_some() {
        out.push('?');
    }
    Ok(())
}

/// Appends a UTF-16 unit. An unpaired surrogate becomes a question mark, as in Java's encoders.
fn push_unit(unit: u16, high: &mut Option<u16>, out: &mut String) {
    let pair = [high.take().unwrap_or(unit), unit];
    let units = if pair[0] == unit && !(0xd800..0xdc00).contains(&pair[0]) {
        &pair[1..]
    } else {
        &pair[..]
    };
    if units.len() == 2 && pair[0] == unit {
        *high = Some(unit);
        return;
    }
    if units.len() == 2 && !(0xdc00..0xe000).contains(&unit) {
        out.push('?');
        return push_unit(unit, high, out);
    }
    out.extend(char::decode_utf16(units.iter().copied()).map(|c| c.unwrap_or('?')));
}

/// Parses a number like Java's `Long.decode`: decimal, hexadecimal after `0x`, `0X` or `#`, octal after `0`, with
/// an optional sign.
fn decode(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let hex = ["0x", "0X", "#"].iter().find_map(|prefix| digits.strip_prefix(prefix));
    let (digits, radix) = match (hex, digits.strip_prefix('0')) {
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    i64::try_from(if negative { -value } else { value }).ok()
}

/// Runs `__changeCase(text, UPPER | LOWER | CAPITALIZE, variable)`.
pub(super) fn change_case(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (text, mode) = (call.arg(0, env)?, call.arg(1, env)?);
    let is = |name: &str| mode.eq_ignore_ascii_case(name);
    if mode.is_empty() || is("UPPER") {
        out.extend(text.chars().flat_map(char::to_uppercase));
    } else if is("LOWER") {
        if text.is_ascii() {
            out.extend(text.chars().map(|c| c.to_ascii_lowercase()));
        } else {
            // The lower-case form of a Greek sigma depends on its position in a word.
            out.push_str(&text.to_lowercase());
        }
    } else if is("CAPITALIZE") {
        let mut rest = text.chars();
        if let Some(first) = rest.next() {
            out.push(title_case(first));
        }
        out.push_str(rest.as_str());
    } else {
        env.shared.log(Level::Error, format!("Unknown mode {mode}, returning {text} unchanged"));
        out.push_str(&text);
    }
    env.core.give(mode);
    env.core.give(text);
    call.store(2, env, &out[start..])
}
/// Returns the title case of a letter, like Java's `Character.toTitleCase`.
fn title_case(letter: char) -> char {
    match letter {
        // Digraphs, whose first part is upper case; and Greek letters with iota subscript.
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        'ᾀ'..='ᾇ' | 'ᾐ'..='ᾗ' | 'ᾠ'..='ᾧ' => {
            char::from_u32(letter as u32 + 8).unwrap_or(letter)
        }
        'ᾳ' | 'ῃ' | 'ῳ' => char::from_u32(letter as u32 + 9).unwrap_or(letter),
        // Georgian capital letters are used only in words that are completely in capitals.
        'ა'..='ჿ' => letter,
        // A letter with an upper-case form of two letters stays unchanged.
        _ => {
            let mut upper = letter.to_uppercase();
            upper.next().filter(|_| upper.next().is_none()).unwrap_or(letter)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::title_case;

    #[test]
    fn letters_begin_titles_as_in_java() {
        let pairs = [
            ('a', 'A'),
            ('ß', 'ß'),
            ('ǆ', 'ǅ'),
            ('Ǉ', 'ǈ'),
            ('ᾀ', 'ᾈ'),
            ('ᾳ', 'ᾼ'),
            ('ა', 'ა'),
            ('я', 'Я'),
        ];
        for (letter, title) in pairs {
            assert_eq!(title_case(letter), title, "{letter}");
        }
    }
}
