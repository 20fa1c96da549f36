//! Durations in the notation of users: `30s`, `5m`, `1h30m`, `500ms`.

use std::time::Duration;

/// Units with their length in seconds. If one unit is a prefix of another, the longer one comes first.
const UNITS: [(&str, f64); 7] = [
    ("ms", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("d", 86_400.0),
    ("h", 3600.0),
    ("m", 60.0),
    ("s", 1.0),
];

/// Longest accepted duration in seconds: a hundred years.
const MOST: f64 = 100.0 * 365.0 * 86_400.0;

/// Parses a duration. The error is a message for the user.
pub fn parse(text: &str) -> Result<Duration, String> {
    let help = "write it like 30s, 5m, 1h30m or 500ms";
    let (mut rest, mut sum) = (text.trim(), 0.0);
    if rest.is_empty() {
        return Err(format!("the time is missing: {help}"));
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(digits);
        let Ok(number) = number.parse::<f64>() else {
            return Err(format!("{text:?} is not a time: {help}"));
        };
        if behind.is_empty() && number != 0.0 {
            return Err(format!("{text:?} has no unit: {help}"));
        }
        let unit = UNITS.iter().find(|(unit, _)| behind.starts_with(unit));
        match unit {
            Some((unit, seconds)) => {
                sum += number * seconds;
                rest = &behind[unit.len()..];
            }
            None if behind.is_empty() => rest = behind,
            None => return Err(format!("{text:?} is not a time: {help}")),
        }
    }
    if sum > MOST {
        return Err(format!("{text:?} is longer than a hundred years"));
    }
    // Rounds to microseconds: fractions of seconds would give inexact nanoseconds.
    Ok(Duration::from_micros((sum * 1e6).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        for (text, ms) in [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("500ms", 500),
            ("1.5s", 1_500),
            ("2d", 172_800_000),
            ("0", 0),
            (" 1m30s ", 90_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        assert_eq!(parse("250us"), Ok(Duration::from_micros(250)));
    }

    #[test]
    fn what_is_no_time_is_refused_with_an_example() {
        for (text, words) in [
            ("30", "has no unit"),
            ("", "the time is missing"),
            ("s", "not a time"),
            ("-5s", "not a time"),
            ("5 s", "not a time"),
            ("1h30", "has no unit"),
            ("1.2.3s", "not a time"),
            ("9999999d", "hundred years"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
