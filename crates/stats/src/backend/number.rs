//! Numbers as Java's `Double.toString` and `Float.toString` print them.

/// The shortest digits that give the number back, with at least one behind the point; beyond ten millions and below
/// a thousandth with an exponent.
pub(super) fn java(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() {
            "NaN".into()
        } else if number > 0.0 {
            "Infinity".into()
        } else {
            "-Infinity".into()
        };
    }
    let size = number.abs();
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        return format!("{digits}{point}E{exponent}");
    }
    format!("{number:?}")
}

/// A number with at most two digits behind the point, as the pattern `0.##` prints it: half goes to the even digit.
pub(super) fn short(number: f32) -> String {
    let scaled = (f64::from(number) * 100.0).round_ties_even();
    let text = format!("{:.2}", scaled / 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_like_javas() {
        let shown =
            [0.0, 1.0, 12.5, 9999999.0, 1e7, 12345678.9, 0.001, 0.0001, 100.0 / 3.0].map(java);
        let expected = [
            "0.0",
            "1.0",
            "12.5",
            "9999999.0",
            "1.0E7",
            "1.23456789E7",
            "0.001",
            "1.0E-4",
            "33.333333333333336",
        ];
        assert_eq!(shown, expected);
        assert_eq!([java(f64::NAN), java(-1.0)], ["NaN", "-1.0"]);
        assert_eq!(
            [90.0, 99.5, 99.95, 99.999, 0.5].map(short),
            ["90", "99.5", "99.95", "100", "0.5"]
        );
    }
}
