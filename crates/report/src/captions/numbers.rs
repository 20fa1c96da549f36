//! Formats numbers in the reports of sweeps, searches and comparisons.

/// Formats a mean number of users, requests in flight or connections without decimals. A mean between 0 and 0.5 is
/// `<1`.
pub fn counted(mean: f64) -> String {
    if mean > 0.0 && mean < 0.5 { "<1".to_owned() } else { whole(mean) }
}

/// Formats a number without decimals.
pub fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// Formats the number of requests processed at once: as a whole number if one is near, otherwise as the two whole
/// numbers around it.
pub fn at_once_text(at_once: f64) -> String {
    let nearest = at_once.round().max(1.0);
    if (at_once - nearest).abs() <= 0.1 * nearest {
        return whole(nearest);
    }
    let (low, high) = (at_once.floor().max(1.0), at_once.ceil());
    if low < high { format!("{}–{}", whole(low), whole(high)) } else { whole(low) }
}

/// Formats a number with three significant digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "-".to_owned()
    } else if size >= 99.95 || size == 0.0 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.9995 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// Formats a load, without decimals if it is a whole number.
pub fn load(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { number(value) }
}

/// Formats a fraction as percent.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0 %".to_owned()
    } else if (99.0..100.0).contains(&percent) {
        // A fraction below 1 is never shown as 100 %.
        format!("{:.1} %", percent.min(99.9))
    } else if percent.abs() >= 10.0 {
        format!("{percent:.0} %")
    } else if percent.abs() >= 0.1 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.2} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_that_are_counted_have_no_decimals() {
        let shown = [9.99, 89.4, 1234.0, 0.2, 0.0].map(counted);
        assert_eq!(shown, ["10", "89", "1234", "<1", "0"]);
        assert_eq!([9.99, 3.4, 0.3].map(at_once_text), ["10", "3–4", "1"]);
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown: Vec<String> =
            [3072.4, 99.96, 17.04, 7.125, 0.5, 0.0, f64::INFINITY].map(number).to_vec();
        assert_eq!(shown, ["3072", "100", "17.0", "7.12", "0.500", "0", "-"]);
        assert_eq!(
            (percent(0.0), percent(0.063), percent(0.0004)),
            ("0 %".into(), "6.3 %".into(), "0.04 %".into())
        );
    }
}
