//! Parses and writes numbers of XPath 1.0: digits and a point, never an exponent.

use crate::java;

/// Parses a number of XPath; any other string is NaN.
pub(super) fn read(text: &str) -> f64 {
    let text = text.trim_matches(|c| c <= ' ');
    if text.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '.') {
        java::parse_double(text).unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// Appends a number with the shortest digits that identify it.
pub(super) fn write(number: f64, out: &mut String) {
    use std::fmt::Write;
    if number.is_nan() {
        out.push_str("NaN");
    } else if number.is_infinite() {
        out.push_str(if number > 0.0 { "Infinity" } else { "-Infinity" });
    } else if number == 0.0 {
        out.push('0');
    } else {
        let _ = write!(out, "{number}");
    }
}

/// Rounds to the nearest whole number; a half is rounded up.
pub(super) fn round(number: f64) -> f64 {
    if (-0.5..0.0).contains(&number) {
        -0.0
    } else if number == 0.0 {
        number
    } else {
        (number + 0.5).floor()
    }
}
