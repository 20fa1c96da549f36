//! Numbers as Java stores and prints them.
//!
//! A number in a JSON text is a `long`, a `BigInteger`, a `double` or a `BigDecimal` in JMeter. Each type has its own
//! text form: `1.0E10`, `1E+10` or `10000000000`. Comparisons in filters are decimal and exact.

use std::cmp::Ordering;
use std::fmt::Write;

/// A decimal number: digits without leading zeros, times ten to the power of `-scale`.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    scale: i64,
}

impl Decimal {
    /// Parses what Java's `BigDecimal` accepts; `None` is a `NumberFormatException`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let mut digits = String::with_capacity(whole.len() + fraction.len());
        digits.push_str(whole);
        digits.push_str(fraction);
        let leading = digits.len() - digits.trim_start_matches('0').len();
        digits.drain(..leading.min(digits.len() - 1));
        let negative = negative && digits != "0";
        Some(Self { negative, digits, scale: fraction.len() as i64 - i64::from(exponent) })
    }

    fn is_zero(&self) -> bool {
        self.digits.bytes().all(|byte| byte == b'0')
    }

    /// Appends the number as Java's `BigDecimal.toString` does.
    pub(super) fn write(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        let length = self.digits.len() as i64;
        let adjusted = length - 1 - self.scale;
        if self.scale == 0 {
            out.push_str(&self.digits);
        } else if self.scale > 0 && adjusted >= -6 {
            match usize::try_from(length - self.scale) {
                Ok(whole) if whole > 0 => {
                    let _ = write!(out, "{}.{}", &self.digits[..whole], &self.digits[whole..]);
                }
                _ => {
                    out.push_str("0.");
                    (length..self.scale).for_each(|_| out.push('0'));
                    out.push_str(&self.digits);
                }
            }
        } else {
            out.push_str(&self.digits[..1]);
            if length > 1 {
                let _ = write!(out, ".{}", &self.digits[1..]);
            }
            if adjusted != 0 {
                let _ = write!(out, "E{adjusted:+}");
            }
        }
    }

    /// Compares two decimal numbers by value.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign != Ordering::Equal || self.is_zero() {
            return by_sign;
        }
        let magnitude = |number: &Self| number.digits.len() as i64 - number.scale;
        let digits = |number: &'_ Self| -> String { number.digits.trim_end_matches('0').into() };
        let by_size =
            magnitude(self).cmp(&magnitude(other)).then_with(|| digits(self).cmp(&digits(other)));
        if self.negative { by_size.reverse() } else { by_size }
    }

    /// Converts the number to an `int`, truncated like Java's `intValue`.
    pub(super) fn to_int(&self) -> i32 {
        let shift = -self.scale;
        let text: String = if shift >= 0 {
            if shift > 40 {
                return 0;
            }
            format!("{}{}", self.digits, "0".repeat(shift as usize))
        } else {
            let keep = (self.digits.len() as i64 + shift).max(0) as usize;
            self.digits[..keep].into()
        };
        // Only the low 32 bits of the number count; wrapping arithmetic keeps them.
        let value = text.bytes().fold(0_i32, |value, digit| {
            value.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'))
        });
        if self.negative { value.wrapping_neg() } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Option<String> {
        let mut out = String::new();
        Decimal::parse(text)?.write(&mut out);
        Some(out)
    }

    #[test]
    fn decimals_are_written_as_java_does() {
        let expected = [
            ("1.0E10", "1.0E+10"),
            ("0.00", "0.00"),
            ("0.0000001", "1E-7"),
            ("0.000001", "0.000001"),
            ("123.4500", "123.4500"),
            ("-12E2", "-1.2E+3"),
            ("12345678901234567890.5", "12345678901234567890.5"),
            ("007", "7"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0", "0"),
        ];
        for (text, written) in expected {
            assert_eq!(decimal(text).as_deref(), Some(written), "{text}");
        }
        for bad in ["", "-", ".", "1e", "a", "1 ", "1.2.3", "e5", "--1"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn decimals_compare_by_value() {
        let compare =
            |a: &str, b: &str| Decimal::parse(a).unwrap().compare(&Decimal::parse(b).unwrap());
        assert_eq!(compare("1.0", "1"), Ordering::Equal);
        assert_eq!(compare("10", "1E1"), Ordering::Equal);
        assert_eq!(compare("-2", "1"), Ordering::Less);
        assert_eq!(compare("-2", "-1"), Ordering::Less);
        assert_eq!(compare("0.1", "0.09"), Ordering::Greater);
        assert_eq!(compare("0", "-0.0"), Ordering::Equal);
        assert_eq!(compare("99999999999999999999", "1e20"), Ordering::Less);
        assert_eq!(Decimal::parse("3.9").unwrap().to_int(), 3);
        assert_eq!(Decimal::parse("-4294967297").unwrap().to_int(), -1);
    }
}
