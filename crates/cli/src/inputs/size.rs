//! Sizes in bytes, as a command line and the description of a chain of proxies contain them.

/// Parses a size in bytes: a number with `k`, `m`, `g` or `t`, optionally followed by `B` or `iB`. All units are powers
/// of 1024.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(end);
    let factor = match unit.to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
