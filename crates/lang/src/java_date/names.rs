//! English names of months, weekdays, halves of the day, quarters and eras.

use super::{Field, Names, Style};

pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Names of the weekdays, from Monday.
pub const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const QUARTERS: [(&str, &str, &str); 4] = [
    ("Q1", "1st quarter", "1"),
    ("Q2", "2nd quarter", "2"),
    ("Q3", "3rd quarter", "3"),
    ("Q4", "4th quarter", "4"),
];
const ERAS: [(&str, &str, &str); 2] = [("BC", "Before Christ", "B"), ("AD", "Anno Domini", "A")];

impl Names {
    pub(super) fn field(self) -> Field {
        match self {
            Self::Era => Field::Era,
            Self::Quarter => Field::Quarter,
            Self::Month => Field::Month,
            Self::Weekday => Field::Weekday,
            Self::AmPm => Field::AmPm,
        }
    }

    /// Returns the range of the field's values that have names, such as 1 to 12 for months.
    pub(super) fn range(self) -> std::ops::RangeInclusive<i64> {
        match self {
            Self::Era | Self::AmPm => 0..=1,
            Self::Quarter => 1..=4,
            Self::Month => 1..=12,
            Self::Weekday => 1..=7,
        }
    }

    /// Returns the name of a value of the field; `None` if the value is out of range.
    pub(super) fn of(self, value: i64, style: Style) -> Option<&'static str> {
        if !self.range().contains(&value) {
            return None;
        }
        let cut = |name: &'static str| match style {
            Style::Short => &name[..3],
            Style::Full => name,
            Style::Narrow => &name[..1],
        };
        let pick = |(short, full, narrow)| match style {
            Style::Short => short,
            Style::Full => full,
            Style::Narrow => narrow,
        };
        let at = (value - self.range().start()) as usize;
        Some(match self {
            Self::Era => pick(ERAS[at]),
            Self::Quarter => pick(QUARTERS[at]),
            Self::Month => cut(MONTHS[at]),
            Self::Weekday => cut(WEEKDAYS[at]),
            Self::AmPm => ["AM", "PM"][at],
        })
    }
}
