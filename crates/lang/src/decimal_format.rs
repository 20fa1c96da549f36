//! Java's `DecimalFormat` with English symbols: `000`, `#,##0`, `user_0000`, `'#'0`, `#0.00%`.
//!
//! Halves are rounded to the even digit, by the exact value of a floating-point number. Patterns with exponents and
//! currencies are not supported.

#[cfg(test)]
mod tests;

use std::iter::Peekable;
use std::str::Chars;

/// Maximum number of decimals if the pattern does not limit them.
const UNBOUNDED: usize = 340;

/// A parsed pattern for decimal numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecimalFormat {
    around: Affixes,
    /// Prefix and suffix of negative numbers. `None`: negative numbers have a minus sign before the prefix of positive
    /// numbers.
    negative: Option<Affixes>,
    shape: Shape,
    /// Power of ten by which numbers are multiplied: 2 for percent, 3 for per mille, otherwise 0.
    scale: u32,
}

/// Strings before and after the digits of a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Affixes {
    prefix: String,
    suffix: String,
}

/// Number of digits that a pattern requires and allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shape {
    min_whole: usize,
    /// Number of digits between two grouping separators; 0 means no separators.
    grouping: usize,
    min_fraction: usize,
    max_fraction: usize,
    /// True if the decimal point is shown even without decimals.
    point: bool,
}

impl DecimalFormat {
    /// Parses a `DecimalFormat` pattern; `None` is Java's `IllegalArgumentException`.
    pub fn parse(pattern: &str) -> Option<Self> {
        let mut format = Self::default();
        if pattern.is_empty() {
            format.shape = Shape { grouping: 3, max_fraction: UNBOUNDED, ..Shape::default() };
            return Some(format);
        }
        let mut rest = pattern.chars().peekable();
        let mut digits = Digits::default();
        format.around = Affixes::read(&mut rest, &mut format.scale, |rest| digits.read(rest))?;
        let has_digits = digits.has_content();
        format.shape = digits.shape()?;
        if rest.next().is_none() {
            return Some(format);
        }
        if !has_digits {
            return None;
        }
        if rest.peek().is_none() {
            return Some(format);
        }
        // In a pattern, digits after the semicolon are ignored.
        let ignored = |rest: &mut Peekable<Chars<'_>>| {
            while rest.next_if(|c| is_of_number(*c)).is_some() {}
            Some(())
        };
        let negative = Affixes::read(&mut rest, &mut 0, ignored)?;
        if rest.next().is_some() {
            return None;
        }
        format.negative = Some(negative).filter(|negative| *negative != format.around);
        Some(format)
    }

    /// Creates a format such as `#0.000` with exactly `digits` decimals.
    pub fn fixed(digits: usize) -> Self {
        let shape =
            Shape { min_whole: 1, min_fraction: digits, max_fraction: digits, ..Shape::default() };
        Self { shape, ..Self::default() }
    }

    /// Creates a format such as `0.###` with at most `digits` decimals.
    pub fn up_to(digits: usize) -> Self {
        let shape = Shape { min_whole: 1, max_fraction: digits, ..Shape::default() };
        Self { shape, ..Self::default() }
    }

    /// Appends a whole number in this format.
    pub fn write(&self, value: i64, out: &mut String) {
        let size = u128::from(value.unsigned_abs()) * 10_u128.pow(self.scale);
        let mut buffer = itoa::Buffer::new();
        let whole = if size == 0 { "" } else { buffer.format(size) };
        self.put(value < 0, whole, "", out);
    }

    /// Appends a floating-point number in this format.
    pub fn write_double(&self, value: f64, out: &mut String) {
        if value.is_nan() {
            return out.push_str("NaN");
        }
        let size = value.abs() * 10_f64.powi(self.scale as i32);
        let is_negative = value.is_sign_negative();
        if size.is_infinite() {
            let sign = self.sign(is_negative, out);
            out.push_str(&sign.prefix);
            out.push('∞');
            return out.push_str(&sign.suffix);
        }
        // Take the shortest digits that identify the number. If the pattern has fewer decimals, round the exact value.
        let mut text = format!("{size}");
        let most = self.shape.max_fraction;
        if text.split_once('.').is_some_and(|(_, fraction)| fraction.len() > most) {
            text = format!("{size:.most$}");
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        self.put(is_negative, whole.trim_start_matches('0'), fraction.trim_end_matches('0'), out);
    }

    /// Returns prefix and suffix of a number with the given sign. If the pattern has none for negative numbers, appends
    /// the minus sign.
    fn sign(&self, is_negative: bool, out: &mut String) -> &Affixes {
        match &self.negative {
            Some(negative) if is_negative => negative,
            _ => {
                if is_negative {
                    out.push('-');
                }
                &self.around
            }
        }
    }

    /// Appends a number in this format. `whole` and `fraction` are its digits without leading and trailing zeros.
    fn put(&self, is_negative: bool, whole: &str, fraction: &str, out: &mut String) {
        let shape = self.shape;
        let around = self.sign(is_negative, out);
        out.push_str(&around.prefix);
        let has_fraction = shape.min_fraction > 0 || !fraction.is_empty();
        // A zero is shown even if no digit is required, unless there are decimals.
        let least = shape.min_whole.max(usize::from(whole.is_empty() && !has_fraction));
        let from = out.len();
        out.extend(std::iter::repeat_n('0', least.saturating_sub(whole.len())));
        out.push_str(whole);
        if shape.grouping > 0 {
            let mut at = (out.len() - from).saturating_sub(shape.grouping);
            while at > 0 {
                out.insert(from + at, ',');
                at = at.saturating_sub(shape.grouping);
            }
        }
        if has_fraction || shape.point {
            out.push('.');
        }
        out.push_str(fraction);
        out.extend(std::iter::repeat_n('0', shape.min_fraction.saturating_sub(fraction.len())));
        out.push_str(&around.suffix);
    }
}

/// Formats a floating-point number as with the pattern `#0.000`, with exactly `digits` decimals.
pub fn fixed(value: f64, digits: usize) -> String {
    let mut out = String::new();
    DecimalFormat::fixed(digits).write_double(value, &mut out);
    out
}

/// Formats a floating-point number as with the pattern `#.000`, with exactly `digits` decimals: the zero before the
/// point is left out.
pub fn bare(value: f64, digits: usize) -> String {
    let mut format = DecimalFormat::fixed(digits);
    format.shape.min_whole = 0;
    let mut out = String::new();
    format.write_double(value, &mut out);
    out
}

/// Formats a share as a percentage as with the pattern `#0.00%`, with exactly `digits` decimals.
pub fn percent(share: f64, digits: usize) -> String {
    let mut format = DecimalFormat::fixed(digits);
    format.scale = 2;
    format.around.suffix.push('%');
    let mut out = String::new();
    format.write_double(share, &mut out);
    out
}

fn is_of_number(c: char) -> bool {
    matches!(c, '#' | '0' | ',' | '.')
}

/// Counts of the digit symbols in a pattern, from which Java's `applyPattern` computes the format.
#[derive(Default)]
struct Digits {
    /// Number of `#` in the pattern before the first `0`.
    left: usize,
    zeros: usize,
    /// Number of `#` in the pattern after the last `0`.
    right: usize,
    /// Number of digit symbols between the last comma and the decimal point; `None` without a comma.
    grouping: Option<usize>,
    /// Number of digit symbols before the decimal point; `None` without a point.
    point: Option<usize>,
}

impl Digits {
    fn read(&mut self, rest: &mut Peekable<Chars<'_>>) -> Option<()> {
        while let Some(c) = rest.next_if(|c| is_of_number(*c)) {
            match c {
                '#' if self.zeros > 0 => self.right += 1,
                '#' => self.left += 1,
                '0' if self.right > 0 => return None,
                '0' => self.zeros += 1,
                ',' => self.grouping = Some(0),
                _ if self.point.is_some() => return None,
                _ => self.point = Some(self.left + self.zeros + self.right),
            }
            if matches!(c, '#' | '0') && self.point.is_none() {
                self.grouping = self.grouping.map(|size| size + 1);
            }
        }
        // Patterns with exponents are not supported.
        (rest.peek() != Some(&'E')).then_some(())
    }

    fn has_content(&self) -> bool {
        self.left + self.zeros > 0 || self.grouping.is_some() || self.point.is_some()
    }

    fn shape(self) -> Option<Shape> {
        let Self { mut left, mut zeros, mut right, grouping, point } = self;
        if let (0, 1.., Some(at)) = (zeros, left, point) {
            // The patterns `###.###`, `###.` and `.###` require one digit.
            let at = at.max(1);
            (left, zeros, right) = (at - 1, 1, left - at);
        }
        let is_sound = match point {
            None => right == 0,
            Some(at) => (left..=left + zeros).contains(&at),
        };
        if !is_sound || grouping == Some(0) {
            return None;
        }
        let all = left + zeros + right;
        let at = point.unwrap_or(all);
        Some(Shape {
            min_whole: at - left,
            grouping: grouping.unwrap_or(0),
            min_fraction: left + zeros - at,
            max_fraction: all - at,
            point: point.is_some_and(|at| at == 0 || at == all),
        })
    }
}

impl Affixes {
    /// Parses one half of a pattern, up to its end or a semicolon. `number` is called for the digit symbols. This
    /// function may be called several times, because everything after the first digits is the suffix.
    fn read(
        rest: &mut Peekable<Chars<'_>>,
        scale: &mut u32,
        mut number: impl FnMut(&mut Peekable<Chars<'_>>) -> Option<()>,
    ) -> Option<Self> {
        let prefix = affix(rest, scale)?;
        let mut suffix = String::new();
        while rest.peek().is_some_and(|c| is_of_number(*c)) {
            number(rest)?;
            suffix.push_str(&affix(rest, scale)?);
        }
        Some(Self { prefix, suffix })
    }
}

/// Parses the text before or after the digit symbols. Quoted symbols are text; two quotes are one quote character.
fn affix(rest: &mut Peekable<Chars<'_>>, scale: &mut u32) -> Option<String> {
    let mut text = String::new();
    let mut quoted = false;
    while let Some(c) = rest.peek().copied() {
        if !quoted && (is_of_number(c) || c == ';') {
            break;
        }
        rest.next();
        match c {
            '\'' if rest.next_if_eq(&'\'').is_some() => text.push('\''),
            '\'' => quoted = !quoted,
            '\u{a4}' if !quoted => return None,
            '%' | '\u{2030}' if !quoted => {
                if *scale != 0 {
                    return None;
                }
                *scale = if c == '%' { 2 } else { 3 };
                text.push(c);
            }
            _ => text.push(c),
        }
    }
    (!quoted).then_some(text)
}
