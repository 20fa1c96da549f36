//! Numbers as Java's DecimalFormat prints them in an English locale.
//!
//! Both it and Rust round the exact binary value half to even, so only the integer part and
//! infinity differ.

/// Pattern `#0.000` with `digits` zeros.
pub fn fixed(value: f64, digits: usize) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "-∞".into() };
    }
    format!("{value:.digits$}")
}

/// Pattern `#.000`: as [`fixed`], but an integer part of zero is left out.
pub fn bare(value: f64, digits: usize) -> String {
    let text = fixed(value, digits);
    match text.strip_prefix("0.") {
        Some(rest) => format!(".{rest}"),
        None => text,
    }
}

/// Pattern `#0.00%`: the share times 100.
pub fn percent(share: f64, digits: usize) -> String {
    let mut text = fixed(share * 100.0, digits);
    text.push('%');
    text
}
