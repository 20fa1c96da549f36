//! Encoding of the gateway's time stamps: milliseconds since 1970 in base-64 digits, most significant first, without
//! padding.
//!
//! Example: `OCGcKcE` is 1662430824846, which is 2022-09-06.

const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";

/// Appends a time in milliseconds as a time stamp.
pub fn push(ms: u64, out: &mut String) {
    let digits = (64 - ms.leading_zeros()).div_ceil(6).max(1);
    out.extend((0..digits).rev().map(|at| char::from(DIGITS[(ms >> (6 * at) & 63) as usize])));
}

/// Parses a time stamp; returns milliseconds. `None`: a character is not a digit, or there are too many digits.
pub fn parse(text: &str) -> Option<u64> {
    let add = |ms: u64, byte: u8| {
        let digit = DIGITS.iter().position(|digit| *digit == byte)? as u64;
        (ms.leading_zeros() >= 6).then_some(ms << 6 | digit)
    };
    if text.is_empty() { None } else { text.bytes().try_fold(0, add) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_stamp_is_its_time() {
        assert_eq!(parse("OCGcKcE"), Some(1_662_430_824_846));
        let mut text = String::new();
        push(1_662_430_824_846, &mut text);
        assert_eq!(text, "OCGcKcE");
    }

    #[test]
    fn all_times_come_back() {
        for ms in [0, 1, 63, 64, 4095, 4096, u64::MAX] {
            let mut text = String::new();
            push(ms, &mut text);
            assert_eq!(parse(&text), Some(ms), "{text}");
        }
        assert_eq!(parse(""), None);
        assert_eq!(parse("a-b"), None);
        assert_eq!(parse("zzzzzzzzzzzz"), None);
    }
}
