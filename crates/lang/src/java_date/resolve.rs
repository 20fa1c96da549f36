//! Combines parsed fields to a date and a time; the remaining fields must agree with them.

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};

use super::parse::{Defaults, Parsed, Rest};
use super::{FIELDS, Field, Week};

/// Error: the date cannot be parsed. The error has no details, because callers need none.
pub(super) struct Unreadable;

pub(super) type Read<T> = Result<T, Unreadable>;

/// Values of the date and time fields found in a text.
#[derive(Clone)]
pub(super) struct Fields {
    values: Rest,
    /// Default for the milliseconds, as JMeter sets it. No pattern letter sets this value.
    milli: Option<i64>,
    pub(super) offset: Option<Offset>,
    pub(super) zone: Option<(Box<str>, TimeZone)>,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self { values: [None; FIELDS], milli: None, offset: None, zone: None }
    }

    fn get(&self, field: Field) -> Option<i64> {
        self.values[field as usize]
    }

    fn take(&mut self, field: Field) -> Option<i64> {
        self.values[field as usize].take()
    }

    /// Sets the value of a field; an error if the field already has another value.
    pub(super) fn set(&mut self, field: Field, value: i64) -> Read<()> {
        match self.values[field as usize].replace(value) {
            Some(before) if before != value => Err(Unreadable),
            _ => Ok(()),
        }
    }

    pub(super) fn fill(&mut self, defaults: Defaults) {
        let mut default =
            |field: Field, value| _ = self.values[field as usize].get_or_insert(value);
        let year = match defaults {
            Defaults::None => return,
            Defaults::Day { year } => year,
            Defaults::Instant { year, offset } => {
                for field in [Field::Nano, Field::Second, Field::Minute, Field::Hour] {
                    default(field, 0);
                }
                self.milli = Some(0);
                self.offset.get_or_insert(offset);
                year
            }
        };
        let mut default =
            |field: Field, value| _ = self.values[field as usize].get_or_insert(value);
        default(Field::Day, 1);
        default(Field::Month, 1);
        default(Field::YearOfEra, i64::from(year));
    }

    pub(super) fn resolve(mut self) -> Read<Parsed> {
        let by_week = self.week_date()?;
        let date = match (self.date()?, by_week) {
            (Some(date), Some(by_week)) if date != by_week => return Err(Unreadable),
            (date, by_week) => date.or(by_week),
        };
        let (time, next_day) = self.time()?;
        for field in LEFT_OVER {
            let left = self.get(field);
            let made = field.of_date(date).or_else(|| field.of_time(time));
            if matches!((left, made), (Some(left), Some(made)) if left != made) {
                return Err(Unreadable);
            }
        }
        for (field, end) in [(Field::Hour, 24), (Field::Minute, 60), (Field::Second, 60)] {
            if self.get(field).is_some_and(|value| value >= end) {
                return Err(Unreadable);
            }
        }
        let date = if next_day {
            date.map(Date::tomorrow).transpose().map_err(|_| Unreadable)?
        } else {
            date
        };
        Ok(Parsed { date, time, offset: self.offset, zone: self.zone, rest: self.values })
    }

    /// Returns the date of a weekday in a numbered week.
    fn week_date(&mut self) -> Read<Option<Date>> {
        let week = Week::here();
        let day =
            self.get(Field::WeekdayHere).or_else(|| Some(week.day_of(self.get(Field::Weekday)?)));
        let (Some(year), Some(number), Some(day)) =
            (self.get(Field::WeekYear), self.get(Field::WeekOfYear), day)
        else {
            return Ok(None);
        };
        let date = i16::try_from(year).ok().and_then(|year| week.date(year, number, day));
        date.map(Some).ok_or(Unreadable)
    }

    fn date(&mut self) -> Read<Option<Date>> {
        if let Some(year) = self.take(Field::YearOfEra) {
            let before_christ = self.take(Field::Era) == Some(0);
            self.set(Field::Year, if before_christ { 1 - year } else { year })?;
        }
        let Some(year) = self.get(Field::Year) else { return Ok(None) };
        let year = i16::try_from(year).map_err(|_| Unreadable)?;
        let first = Date::new(year, 1, 1).map_err(|_| Unreadable)?;
        if let (Some(month), Some(day)) = (self.get(Field::Month), self.get(Field::Day)) {
            if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
                return Err(Unreadable);
            }
            let month = Date::new(year, month as i8, 1).map_err(|_| Unreadable)?;
            // A day after the end of a short month is no conflict; it becomes the last day of the month.
            let day = (day as i8).min(month.days_in_month());
            self.take(Field::Day);
            return Date::new(year, month.month(), day).map(Some).map_err(|_| Unreadable);
        }
        let Some(day) = self.get(Field::DayOfYear) else { return Ok(None) };
        first.with().day_of_year(day as i16).build().map(Some).map_err(|_| Unreadable)
    }

    /// Returns the time of the day, if the fields determine one, and true if it is 24:00: midnight at the end of the
    /// day.
    fn time(&mut self) -> Read<(Option<Time>, bool)> {
        if let Some(hour) = self.take(Field::ClockHour) {
            self.set(Field::Hour, if hour == 24 { 0 } else { hour })?;
        }
        if let Some(hour) = self.take(Field::ClockHourOfHalf) {
            self.set(Field::HourOfHalf, if hour == 12 { 0 } else { hour })?;
        }
        if self.get(Field::HourOfHalf).is_some_and(|hour| hour > 11) {
            return Err(Unreadable);
        }
        if let (Some(half), Some(hour)) = (self.get(Field::AmPm), self.get(Field::HourOfHalf)) {
            self.set(Field::Hour, half * 12 + hour)?;
        }
        if let (Some(nano), Some(milli)) = (self.get(Field::Nano), self.milli.take()) {
            self.set(Field::Nano, milli * 1_000_000 + nano % 1_000_000)?;
        }
        let of_day =
            self.get(Field::NanoOfDay).or_else(|| Some(self.get(Field::MilliOfDay)? * 1_000_000));
        if let (Some(nanos), None) = (of_day, self.get(Field::Hour)) {
            self.set(Field::Hour, nanos / 3_600_000_000_000)?;
            self.set(Field::Minute, nanos / 60_000_000_000 % 60)?;
            self.set(Field::Second, nanos / 1_000_000_000 % 60)?;
            self.set(Field::Nano, nanos % 1_000_000_000)?;
        }
        let Some(hour) = self.get(Field::Hour) else { return Ok((None, false)) };
        let (minute, second, nano) =
            (self.get(Field::Minute), self.get(Field::Second), self.get(Field::Nano));
        if minute.is_none() && (second.is_some() || nano.is_some())
            || second.is_none() && nano.is_some()
        {
            return Ok((None, false));
        }
        let parts = (hour, minute.unwrap_or(0), second.unwrap_or(0), nano.unwrap_or(0));
        if parts == (24, 0, 0, 0) {
            self.take(Field::Hour);
            return Ok((Some(Time::midnight()), true));
        }
        let whole = |value: i64| i8::try_from(value).map_err(|_| Unreadable);
        let time = Time::new(whole(parts.0)?, whole(parts.1)?, whole(parts.2)?, parts.3 as i32);
        Ok((Some(time.map_err(|_| Unreadable)?), false))
    }
}

/// Fields that do not determine the date or the time, but must agree with them.
const LEFT_OVER: [Field; 19] = [
    Field::Era,
    Field::Year,
    Field::WeekYear,
    Field::WeekOfYear,
    Field::WeekOfMonth,
    Field::WeekdayHere,
    Field::Quarter,
    Field::Month,
    Field::DayOfYear,
    Field::Weekday,
    Field::AlignedWeekday,
    Field::JulianDay,
    Field::AmPm,
    Field::HourOfHalf,
    Field::Hour,
    Field::Minute,
    Field::Second,
    Field::MilliOfDay,
    Field::NanoOfDay,
];
