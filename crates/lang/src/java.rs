//! Numbers as Java reads and writes them, where functions, scripts and extractors show them.

pub use crate::jsonpath::write_double;

/// Java's `Double.parseDouble`: `None` is a `NumberFormatException`. Hexadecimal floating point is not read.
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
    // Words such as `inf` are numbers to Rust alone.
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    digits.parse::<f64>().ok().map(|value| sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

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
