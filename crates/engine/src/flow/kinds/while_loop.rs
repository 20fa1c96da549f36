//! While Controller: goes on until its condition, or the last sample, says otherwise.

/// Whether an evaluated condition ends it; at the end of a pass a blank one asks for the last sample.
pub(crate) fn is_over(value: &str, at_end: bool, last_ok: bool) -> bool {
    let value = value.trim();
    if (at_end && value.is_empty()) || value.eq_ignore_ascii_case("LAST") {
        !last_ok
    } else {
        value.eq_ignore_ascii_case("false")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_condition_asks_for_the_last_sample_at_the_end_alone() {
        assert!(is_over(" ", true, false));
        assert!(!is_over(" ", false, false));
        assert!(is_over("last", false, false) && is_over("FALSE ", true, true));
        assert!(!is_over("0", true, false));
    }
}
