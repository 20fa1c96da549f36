//! Java's `DecimalFormat` for whole numbers, with the English signs: `000`, `#,##0`, `user_0000`, `'#'0`, `0.00`.
//!
//! A pattern that cannot be read gives nothing; the caller then writes the plain number, as JMeter does. Exponents
//! are not read.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// A compiled pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DecimalFormat {
    prefix: String,
    suffix: String,
    /// Around negative numbers, where the pattern tells.
    negative: Option<(String, String)>,
    min_digits: usize,
    /// Digits between separators; 0 is no separator.
    grouping: usize,
    fraction: usize,
    /// Number of zeros that percent and per mille signs add.
    scale: u32,
}

impl DecimalFormat {
    /// Reads a pattern.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let mut format = Self::default();
        let mut rest = pattern.chars().peekable();
        format.prefix = affix(&mut rest, &mut format.scale)?;
        format.number(&mut rest)?;
        format.suffix = affix(&mut rest, &mut format.scale)?;
        match rest.next() {
            None => return Some(format),
            Some(';') => {}
            Some(_) => return None,
        }
        let mut scale = 0;
        let prefix = affix(&mut rest, &mut scale)?;
        Self::default().number(&mut rest)?;
        let suffix = affix(&mut rest, &mut scale)?;
        if rest.next().is_some() {
            return None;
        }
        if (&prefix, &suffix) != (&format.prefix, &format.suffix) {
            format.negative = Some((prefix, suffix));
        }
        Some(format)
    }

    fn number(&mut self, rest: &mut Peekable<Chars<'_>>) -> Option<()> {
        let (mut since_comma, mut point, mut hash_behind_point) = (None, false, false);
        let mut any = false;
        while let Some(c) = rest.peek().copied() {
            match c {
                // No optional digit may follow a required one.
                '#' if !point && self.min_digits > 0 => return None,
                '#' if !point => since_comma = since_comma.map(|n: usize| n + 1),
                '0' if !point => {
                    self.min_digits += 1;
                    since_comma = since_comma.map(|n| n + 1);
                }
                ',' if !point => since_comma = Some(0),
                '.' if !point => point = true,
                '#' => hash_behind_point = true,
                '0' if !hash_behind_point => self.fraction += 1,
                '0' | '.' | ',' => return None,
                _ => break,
            }
            any = true;
            rest.next();
        }
        if since_comma == Some(0) {
            return None;
        }
        self.grouping = since_comma.unwrap_or(0);
        (any || rest.peek().is_none()).then_some(())
    }

    /// Appends the number.
    pub(super) fn write(&self, value: i64, out: &mut String) {
        let (prefix, suffix) = match &self.negative {
            Some((prefix, suffix)) if value < 0 => (prefix, suffix),
            _ => (&self.prefix, &self.suffix),
        };
        if value < 0 && self.negative.is_none() {
            out.push('-');
        }
        out.push_str(prefix);
        let from = out.len();
        if value != 0 {
            let _ = write!(out, "{}", value.unsigned_abs());
            out.extend(std::iter::repeat_n('0', self.scale as usize));
        }
        // Zero is shown even where no digit is required, unless there are decimals.
        let lone_zero = value == 0 && self.min_digits == 0 && self.fraction == 0;
        for _ in out.len() - from..self.min_digits.max(usize::from(lone_zero)) {
            out.insert(from, '0');
        }
        if self.grouping > 0 {
            let mut at = (out.len() - from).saturating_sub(self.grouping);
            while at > 0 {
                out.insert(from + at, ',');
                at = at.saturating_sub(self.grouping);
            }
        }
        if self.fraction > 0 {
            out.push('.');
            out.extend(std::iter::repeat_n('0', self.fraction));
        }
        out.push_str(suffix);
    }
}

/// Text before or behind the digits. Quotes make signs into text; two of them are one quote.
fn affix(rest: &mut Peekable<Chars<'_>>, scale: &mut u32) -> Option<String> {
    let mut text = String::new();
    let mut quoted = false;
    while let Some(c) = rest.peek().copied() {
        if !quoted && "#0,.;".contains(c) {
            break;
        }
        rest.next();
        match c {
            '\'' if rest.next_if_eq(&'\'').is_some() => text.push('\''),
            '\'' => quoted = !quoted,
            '\u{a4}' if !quoted => return None,
            _ => {
                if !quoted && matches!(c, '%' | '\u{2030}') {
                    *scale += if c == '%' { 2 } else { 3 };
                }
                text.push(c);
            }
        }
    }
    (!quoted).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_java() {
        // What java.text.DecimalFormat makes of them.
        for (pattern, value, expected) in [
            ("000", 7, Some("007")),
            ("0", 1_234_567, Some("1234567")),
            ("#", 0, Some("0")),
            ("#,##0", 1_234_567, Some("1,234,567")),
            ("0,000", 7, Some("0,007")),
            ("00,00,00", 1_234_567, Some("1,23,45,67")),
            ("user_000", 7, Some("user_007")),
            ("user_000", -7, Some("-user_007")),
            ("'#'0", 7, Some("#7")),
            ("0.00", 7, Some("7.00")),
            (".00", 0, Some(".00")),
            (".00", 7, Some("7.00")),
            ("#.##", 0, Some("0")),
            ("0;(0)", -7, Some("(7)")),
            ("0%", 7, Some("700%")),
            ("%", 0, Some("%0")),
            ("abc", 7, Some("abc7")),
            ("id1000", 7, Some("id1007")),
            ("it''s 0", 7, Some("it's 7")),
            ("0#", 7, None),
            ("0.0.0", 7, None),
            ("#,", 7, None),
            ("'", 7, None),
            ("a;b", 7, None),
        ] {
            let mut out = String::new();
            let format = DecimalFormat::parse(pattern);
            let shown = format.map(|format| {
                format.write(value, &mut out);
                out.as_str()
            });
            assert_eq!(shown, expected, "{pattern} of {value}");
        }
    }
}
