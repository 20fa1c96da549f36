//! Fields of dates and times, and their values in a date or time.

use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use super::Week;

/// A field of a date or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Year,
    YearOfEra,
    Era,
    WeekYear,
    WeekOfYear,
    WeekOfMonth,
    WeekdayHere,
    Quarter,
    Month,
    DayOfYear,
    Day,
    Weekday,
    AlignedWeekday,
    JulianDay,
    AmPm,
    Hour,
    ClockHour,
    HourOfHalf,
    ClockHourOfHalf,
    Minute,
    Second,
    Nano,
    MilliOfDay,
    NanoOfDay,
}

/// Number of date and time fields.
pub(super) const FIELDS: usize = Field::NanoOfDay as usize + 1;

impl Field {
    /// Returns the field's value in a date, or `None` if dates do not have the field.
    pub(super) fn of_date(self, date: Option<Date>) -> Option<i64> {
        let date = date?;
        let year = i64::from(date.year());
        Some(match self {
            Self::Year => year,
            Self::YearOfEra => {
                if year > 0 {
                    year
                } else {
                    1 - year
                }
            }
            Self::Era => i64::from(year > 0),
            Self::WeekYear => Week::here().year_and_week(date).0,
            Self::WeekOfYear => Week::here().year_and_week(date).1,
            Self::WeekOfMonth => Week::here().of(date, i64::from(date.day())),
            Self::WeekdayHere => Week::here().day(date) + 1,
            Self::Quarter => i64::from((date.month() - 1) / 3 + 1),
            Self::Month => i64::from(date.month()),
            Self::DayOfYear => i64::from(date.day_of_year()),
            Self::Day => i64::from(date.day()),
            Self::Weekday => i64::from(date.weekday().to_monday_one_offset()),
            Self::AlignedWeekday => i64::from((date.day() - 1) % 7 + 1),
            // Modified Julian days count from 1858-11-17; 1970-01-01 is day 40587.
            Self::JulianDay => epoch_day(date) + 40_587,
            _ => return None,
        })
    }

    /// Returns the field's value in a time, or `None` if times do not have the field.
    pub(super) fn of_time(self, time: Option<Time>) -> Option<i64> {
        let time = time?;
        let hour = i64::from(time.hour());
        let nanos = ((hour * 60 + i64::from(time.minute())) * 60 + i64::from(time.second()))
            * 1_000_000_000
            + i64::from(time.subsec_nanosecond());
        Some(match self {
            Self::AmPm => hour / 12,
            Self::Hour => hour,
            Self::ClockHour => {
                if hour == 0 {
                    24
                } else {
                    hour
                }
            }
            Self::HourOfHalf => hour % 12,
            Self::ClockHourOfHalf => (hour + 11) % 12 + 1,
            Self::Minute => i64::from(time.minute()),
            Self::Second => i64::from(time.second()),
            Self::Nano => i64::from(time.subsec_nanosecond()),
            Self::MilliOfDay => nanos / 1_000_000,
            Self::NanoOfDay => nanos,
            _ => return None,
        })
    }

    /// Returns Java's name of the date or time field.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Year => "Year",
            Self::YearOfEra => "YearOfEra",
            Self::Era => "Era",
            Self::WeekYear => "WeekBasedYear",
            Self::WeekOfYear => "WeekOfWeekBasedYear",
            Self::WeekOfMonth => "WeekOfMonth",
            Self::WeekdayHere | Self::Weekday => "DayOfWeek",
            Self::Quarter => "QuarterOfYear",
            Self::Month => "MonthOfYear",
            Self::DayOfYear => "DayOfYear",
            Self::Day => "DayOfMonth",
            Self::AlignedWeekday => "AlignedDayOfWeekInMonth",
            Self::JulianDay => "ModifiedJulianDay",
            Self::AmPm => "AmPmOfDay",
            Self::Hour => "HourOfDay",
            Self::ClockHour => "ClockHourOfDay",
            Self::HourOfHalf => "HourOfAmPm",
            Self::ClockHourOfHalf => "ClockHourOfAmPm",
            Self::Minute => "MinuteOfHour",
            Self::Second => "SecondOfMinute",
            Self::Nano => "NanoOfSecond",
            Self::MilliOfDay => "MilliOfDay",
            Self::NanoOfDay => "NanoOfDay",
        }
    }
}

/// Returns the number of days from 1970-01-01 to a date.
pub fn epoch_day(date: Date) -> i64 {
    Offset::UTC
        .to_timestamp(date.at(0, 0, 0, 0))
        .map_or(0, |instant| instant.as_second().div_euclid(86_400))
}
