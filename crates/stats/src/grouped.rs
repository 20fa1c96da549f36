//! Formats numbers for people: digits in groups of three, bytes and times in suitable units.
//!
//! Measured values have two to three significant digits; counted values have all digits.

/// Formats `1234567` as `1 234 567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Formats a count with its noun: `1 user`, `2 000 users`.
pub fn things(n: u64, thing: &str) -> String {
    let many = match (n, thing) {
        (1, _) => "",
        (_, thing) if thing.ends_with("ss") => "es",
        _ => "s",
    };
    format!("{} {thing}{many}", count(n))
}

/// Formats a rate or mean: a whole number from 10 on, one decimal below.
pub fn rate(value: f64) -> String {
    if value >= 10.0 { count(value.round() as u64) } else { format!("{value:.1}") }
}

/// Formats bytes in the largest unit that leaves a number above 1.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} bytes");
    }
    let (mut value, mut unit) = (n as f64 / 1024.0, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    if value >= 10.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Formats a size in bytes like [`bytes`], in Chinese.
pub fn bytes_zh(n: u64) -> String {
    bytes(n).replace("bytes", "字节")
}

/// Formats milliseconds as seconds: whole seconds from 10 s on, one decimal below.
pub fn seconds(ms: u64) -> String {
    let s = ms as f64 / 1000.0;
    if s >= 9.95 { format!("{} s", count(s.round() as u64)) } else { format!("{s:.1} s") }
}

/// Formats a percentage with up to three decimals. The percentage is truncated and not rounded, so that less than 100 %
/// is never shown as 100 %.
pub fn cut_percent(percent: f64) -> String {
    if percent > 0.0 && percent < 0.001 {
        return "<0.001%".into();
    }
    // Compensates for floating-point error: a product slightly below the exact value would be truncated too far.
    let thousandths = (percent * 1000.0 + 1e-6).floor();
    let text = format!("{:.3}", thousandths / 1000.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats a share of 1 in percent: whole from 10 on, one decimal below. Only a share of 1 is shown as 100 %, and only
/// a share of 0 as 0 %.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        99.0..100.0 => format!("{:.1} %", value.min(99.9)),
        9.95.. => format!("{value:.0} %"),
        _ if value > 0.0 && value < 0.05 => "<0.1 %".to_owned(),
        _ => format!("{value:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!([0, 1, 2000].map(|n| things(n, "user")), ["0 users", "1 user", "2 000 users"]);
        assert_eq!([1, 2].map(|n| things(n, "process")), ["1 process", "2 processes"]);
        assert_eq!([0.04, 9.9, 12345.6].map(rate), ["0.0", "9.9", "12 346"]);
        assert_eq!(
            [0, 1023, 1024, 10240, 1023 << 10, 1 << 40].map(bytes),
            ["0 bytes", "1023 bytes", "1.0 KiB", "10 KiB", "1.0 MiB", "1.0 TiB"]
        );
        assert_eq!([0, 9940, 180_049].map(seconds), ["0.0 s", "9.9 s", "180 s"]);
        assert_eq!([0.004, 0.123].map(percent), ["0.4 %", "12 %"]);
        assert_eq!([0.994, 0.99999, 1.0, 1.4].map(percent), ["99.4 %", "99.9 %", "100 %", "140 %"]);
        assert_eq!([0.0, 0.0004, 0.0006].map(percent), ["0.0 %", "<0.1 %", "0.1 %"]);
    }
}
