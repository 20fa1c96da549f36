//! Hexadecimal encoding and decoding; base64 decoding.

/// Appends bytes as hexadecimal digits.
pub fn push(bytes: &[u8], upper: bool, out: &mut String) {
    let digits: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut text = [0; 64];
    for part in bytes.chunks(text.len() / 2) {
        for (pair, byte) in text.chunks_exact_mut(2).zip(part) {
            pair[0] = digits[usize::from(byte >> 4)];
            pair[1] = digits[usize::from(byte & 15)];
        }
        out.push_str(std::str::from_utf8(&text[..2 * part.len()]).unwrap_or_default());
    }
}

/// Decodes hexadecimal digits; white space is ignored. `None`: another character, or an odd number of digits.
pub fn parse(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let byte = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    digits.chunks(2).map(byte).collect()
}

/// Decodes base64; white space is ignored.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    let digits: String = text.split_ascii_whitespace().collect();
    base64::engine::general_purpose::STANDARD.decode(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_back() {
        let mut text = String::new();
        push(&[0, 0x7f, 0xff], false, &mut text);
        assert_eq!(text, "007fff");
        assert_eq!(parse("00 7F ff"), Some(vec![0, 0x7f, 0xff]));
        assert_eq!(parse("0"), None);
        assert_eq!(parse("0g"), None);
    }
}
