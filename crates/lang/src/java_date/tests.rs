//! The tests of plan functions cover this module: they compare formatted dates with dates that Java has recorded.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_date_breaks_its_pattern(pattern in "[a-zA-Z'\\[\\] :.-]{0,12}", date in "[0-9A-Za-z:. +-]{0,16}", ms in any::<i64>()) {
        if let Ok(pattern) = Pattern::parse(&pattern) {
            let instant = Timestamp::from_millisecond(ms % 250_000_000_000_000).unwrap();
            let mut out = String::new();
            let _ = pattern.format(&Moment::at(instant, &TimeZone::UTC), &mut out);
            pattern.read(&date, Defaults::None);
            pattern.read(&out, Defaults::None);
        }
    }
}
