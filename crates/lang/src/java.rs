//! Parses and writes numbers as Java does, for functions, scripts and extractors.

use std::fmt::Write;

/// Parses like Java's `Integer.parseInt`; `None` is a `NumberFormatException`.
#[inline]
pub fn parse_int(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// Parses like Java's `Long.parseLong`; `None` is a `NumberFormatException`.
#[inline]
pub fn parse_long(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Parses like Java's `Double.parseDouble`; `None` is a `NumberFormatException`. Hexadecimal floating point is not
/// supported.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c| c <= ' ');
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    match unsigned {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    let digits = unsigned.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(unsigned);
    // Only Rust parses words such as `inf` as numbers.
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    digits.parse::<f64>().ok().map(|value| sign * value)
}

/// Returns the fewest digits that identify a finite positive number, and the power of ten of the first digit.
fn shortest(value: f64) -> (String, i32) {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// Appends the sign of a number and returns its absolute value. Numbers without digits (NaN, infinity) are appended
/// completely; then returns `None`.
fn magnitude(value: f64, infinity: &str, out: &mut String) -> Option<f64> {
    if value.is_nan() {
        out.push_str("NaN");
        return None;
    }
    if value.is_sign_negative() {
        out.push('-');
    }
    let value = value.abs();
    if value.is_infinite() || value == 0.0 {
        out.push_str(if value == 0.0 { "0.0" } else { infinity });
        return None;
    }
    Some(value)
}

/// Appends a number as Java's `Double.toString` writes it.
pub fn write_double(value: f64, out: &mut String) {
    let Some(value) = magnitude(value, "Infinity", out) else { return };
    let (digits, exponent) = shortest(value);
    if (1e-3..1e7).contains(&value) {
        write_plain(&digits, exponent, out);
    } else {
        let fraction = if digits.len() > 1 { &digits[1..] } else { "0" };
        let _ = write!(out, "{}.{fraction}E{exponent}", &digits[..1]);
    }
}

/// Formats a number as Java's `Double.toString` does.
pub fn double_to_string(value: f64) -> String {
    let mut out = String::new();
    write_double(value, &mut out);
    out
}

/// Appends a number without exponent and with at least one decimal, as JSON Assertions show a `double`.
pub fn write_double_plain(value: f64, out: &mut String) {
    let Some(value) = magnitude(value, "∞", out) else { return };
    let (digits, exponent) = shortest(value);
    write_plain(&digits, exponent, out);
}

fn write_plain(digits: &str, exponent: i32, out: &mut String) {
    if exponent < 0 {
        out.push_str("0.");
        (exponent..-1).for_each(|_| out.push('0'));
        out.push_str(digits);
        return;
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        out.push_str(digits);
        (digits.len()..whole).for_each(|_| out.push('0'));
        out.push_str(".0");
    } else {
        let _ = write!(out, "{}.{}", &digits[..whole], &digits[whole..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_java_does() {
        let expected = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (9_999_999.5, "9999999.5"),
            (1e7, "1.0E7"),
            (1.25e-7, "1.25E-7"),
            (123_456_789.125, "1.23456789125E8"),
            (100.0, "100.0"),
            (9_999_999.0, "9999999.0"),
            (12_345_678.9, "1.23456789E7"),
            (100.0 / 3.0, "33.333333333333336"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::MIN_POSITIVE / 4.0, "5.562684646268003E-309"),
        ];
        for (value, text) in expected {
            assert_eq!(double_to_string(value), text);
        }
    }

    #[test]
    fn numbers_are_read_as_java_reads_them() {
        for (text, value) in [
            ("1", 1.0),
            (" 1.5\t", 1.5),
            ("-1e3", -1000.0),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("1f", 1.0),
            ("2D", 2.0),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(parse_double(text), Some(value), "{text}");
        }
        for text in ["", " ", "-", "inf", "nan", "1 2", "1e", "infinity", "--1", "f", "."] {
            assert_eq!(parse_double(text), None, "{text}");
        }
    }
}
