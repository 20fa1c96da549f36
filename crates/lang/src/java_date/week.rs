//! Weeks as a country counts them, for the pattern letters `Y`, `w`, `W`, `e` and `c`.

use jiff::civil::Date;

/// Week rules of a country: the first day of the week, and the number of days that a year's first week must have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Week {
    first_is_sunday: bool,
    least_days: i64,
}

impl Week {
    /// Returns the rules for the country in the locale of the process, or the rules of the United States if the locale
    /// names no country.
    pub(super) fn here() -> Self {
        static HERE: std::sync::OnceLock<Week> = std::sync::OnceLock::new();
        *HERE.get_or_init(|| {
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
                .into_iter()
                .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
            let country =
                locale.as_deref().and_then(|name| name.split_once('_')).map(|(_, rest)| rest);
            match country.and_then(|rest| rest.get(..2)) {
                Some("GB" | "IE") => Self { first_is_sunday: false, least_days: 4 },
                Some("NZ") => Self { first_is_sunday: false, least_days: 1 },
                _ => Self { first_is_sunday: true, least_days: 1 },
            }
        })
    }

    /// Returns the weekday of a date, counted from 0 at the start of the week.
    pub(super) fn day(self, date: Date) -> i64 {
        let monday_zero = i64::from(date.weekday().to_monday_zero_offset());
        if self.first_is_sunday { (monday_zero + 1) % 7 } else { monday_zero }
    }

    /// Returns the number of the week that contains `date`, in a year or month of which `date` is day `nth` (from 1).
    pub(super) fn of(self, date: Date, nth: i64) -> i64 {
        // Weekday of the period's first day. A first week that is too short has the number 0.
        let first = (self.day(date) - (nth - 1)).rem_euclid(7);
        let whole = i64::from(7 - first >= self.least_days);
        (nth - 1 + first) / 7 + whole
    }

    pub(super) fn year_and_week(self, date: Date) -> (i64, i64) {
        let year = i64::from(date.year());
        let week = self.of(date, i64::from(date.day_of_year()));
        if week == 0 {
            let before = date.first_of_year().yesterday().unwrap_or(date);
            return (year - 1, self.of(before, i64::from(before.day_of_year())));
        }
        // The last days of a year may belong to the first week of the next year.
        let last = date.last_of_year();
        let days_left = i64::from(last.day_of_year() - date.day_of_year());
        let next_first = (self.day(last) + 1) % 7;
        if days_left < next_first && 7 - next_first >= self.least_days {
            return (year + 1, 1);
        }
        (year, week)
    }

    /// Returns the date of a weekday in a week of a year; week and weekday are counted from 1.
    pub(super) fn date(self, year: i16, week: i64, day: i64) -> Option<Date> {
        let new_year = Date::new(year, 1, 1).ok()?;
        let first = self.day(new_year);
        let start = if 7 - first >= self.least_days { -first } else { 7 - first };
        new_year
            .checked_add(jiff::Span::new().try_days(start + (week - 1) * 7 + day - 1).ok()?)
            .ok()
    }

    /// Converts a weekday counted from Monday to a weekday counted from the first day of the week; both from 1.
    pub(super) fn day_of(self, weekday: i64) -> i64 {
        if self.first_is_sunday { weekday % 7 + 1 } else { weekday }
    }
}
