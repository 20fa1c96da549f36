//! Date patterns of Java's `DateTimeFormatter` (as `ofPattern` reads them), in English.
//!
//! A [`Pattern`] is read once into items; formatting walks them and appends to the caller's buffer without
//! allocating, reading text back is in `parse`. Letters follow the table in Java's documentation of the class.
//! Not there: full names of time zones (their abbreviation stands in) and periods of the day (`B`).

mod names;
mod parse;
mod pattern;
#[cfg(test)]
mod tests;
mod week;

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};

pub use parse::{Defaults, Parsed};
use week::Week;

/// A date pattern.
#[derive(Debug)]
pub struct Pattern {
    items: Vec<Item>,
}

/// A piece of a pattern.
#[derive(Debug)]
enum Item {
    Literal(char),
    Number(Number),
    /// The last two digits of a year, read as 2000 to 2099. The number behind is how many digits follow unseparated.
    TwoDigits(Field, u8),
    Name(Names, Style),
    Fraction(u8),
    Offset(OffsetStyle),
    /// `GMT+8` or `GMT+08:00`.
    Localized { full: bool },
    ZoneId,
    ZoneName,
    /// The next item, filled up with blanks on the left.
    Pad(usize, Box<Item>),
    Optional(Vec<Item>),
}

/// A number of at least `min` digits.
#[derive(Clone, Copy, Debug)]
struct Number {
    field: Field,
    min: u8,
    max: u8,
    sign: Sign,
    /// Digits of the fixed-width numbers that follow without a separator.
    following: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Normal,
    /// A plus where the number is wider than it is padded.
    ExceedsPad,
    NotNegative,
}

/// A field of a date or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
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

const FIELDS: usize = Field::NanoOfDay as usize + 1;

#[derive(Clone, Copy, Debug)]
enum Names {
    Era,
    Quarter,
    Month,
    Weekday,
    AmPm,
}

#[derive(Clone, Copy, Debug)]
enum Style {
    Short,
    Full,
    Narrow,
}

#[derive(Clone, Copy, Debug)]
struct OffsetStyle {
    colon: bool,
    minutes: Part,
    seconds: Part,
    zero: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Never,
    IfAny,
    Always,
}

/// What is formatted, and what reading gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment<'z> {
    /// Date.
    pub date: Option<Date>,
    /// Time of the day.
    pub time: Option<Time>,
    /// Distance from UTC.
    pub offset: Option<Offset>,
    /// Zone, with the instant for which its abbreviation is asked.
    pub zone: Option<(&'z TimeZone, Timestamp)>,
}

impl<'z> Moment<'z> {
    /// An instant as clocks in `zone` show it.
    pub fn at(instant: Timestamp, zone: &'z TimeZone) -> Self {
        let offset = zone.to_offset(instant);
        let clock = offset.to_datetime(instant);
        let zone = Some((zone, instant));
        Self { date: Some(clock.date()), time: Some(clock.time()), offset: Some(offset), zone }
    }

    /// An instant as clocks show it that are so far from UTC.
    pub fn with_offset(instant: Timestamp, offset: Offset) -> Self {
        let clock = offset.to_datetime(instant);
        Self { date: Some(clock.date()), time: Some(clock.time()), offset: Some(offset), zone: None }
    }

    /// A date alone.
    pub fn day(date: Date) -> Self {
        Self { date: Some(date), ..Self::default() }
    }

    fn value(&self, field: Field) -> Option<i64> {
        field.of_date(self.date).or_else(|| field.of_time(self.time))
    }
}

impl Field {
    fn of_date(self, date: Option<Date>) -> Option<i64> {
        let date = date?;
        let year = i64::from(date.year());
        Some(match self {
            Self::Year => year,
            Self::YearOfEra => if year > 0 { year } else { 1 - year },
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
            // Modified Julian days: 40587 is 1970-01-01.
            Self::JulianDay => epoch_day(date) + 40_587,
            _ => return None,
        })
    }

    fn of_time(self, time: Option<Time>) -> Option<i64> {
        let time = time?;
        let hour = i64::from(time.hour());
        let nanos = ((hour * 60 + i64::from(time.minute())) * 60 + i64::from(time.second())) * 1_000_000_000
            + i64::from(time.subsec_nanosecond());
        Some(match self {
            Self::AmPm => hour / 12,
            Self::Hour => hour,
            Self::ClockHour => if hour == 0 { 24 } else { hour },
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

    /// Java's name of the field.
    fn name(self) -> &'static str {
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

/// Days since 1970-01-01.
pub(super) fn epoch_day(date: Date) -> i64 {
    Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).map_or(0, |instant| instant.as_second().div_euclid(86_400))
}

impl Pattern {
    /// Reads a pattern; the error is Java's message.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        Ok(Self { items: pattern::items(pattern)? })
    }

    /// Appends the moment; the error is Java's message.
    pub fn format(&self, moment: &Moment<'_>, out: &mut String) -> Result<(), String> {
        format_items(&self.items, moment, out)
    }
}

fn format_items(items: &[Item], moment: &Moment<'_>, out: &mut String) -> Result<(), String> {
    items.iter().try_for_each(|item| format_item(item, moment, out))
}

fn format_item(item: &Item, moment: &Moment<'_>, out: &mut String) -> Result<(), String> {
    let value = |field: Field| moment.value(field).ok_or_else(|| format!("Unsupported field: {}", field.name()));
    match item {
        Item::Literal(literal) => out.push(*literal),
        Item::Number(number) => number.format(value(number.field)?, out)?,
        Item::TwoDigits(field, _) => _ = write!(out, "{:02}", value(*field)?.abs() % 100),
        Item::Name(names, style) => out.push_str(names.of(value(names.field())?, *style)),
        Item::Fraction(digits) => {
            let shown = value(Field::Nano)? / 10i64.pow(9 - u32::from(*digits));
            let _ = write!(out, "{shown:0width$}", width = usize::from(*digits));
        }
        Item::Offset(style) => style.format(moment.offset.ok_or("Unsupported field: OffsetSeconds")?, out),
        Item::Localized { full } => {
            localized(moment.offset.ok_or("Unsupported field: OffsetSeconds")?, *full, out);
        }
        Item::ZoneId => match (moment.zone.and_then(|(zone, _)| zone.iana_name()), moment.offset) {
            (Some(name), _) => out.push_str(name),
            (None, Some(offset)) => ISO_OFFSET.format(offset, out),
            (None, None) => return Err("Unable to extract ZoneId from temporal".into()),
        },
        Item::ZoneName => match (moment.zone, moment.offset) {
            (Some((zone, instant)), Some(_)) if zone.iana_name().is_some() => {
                out.push_str(zone.to_offset_info(instant).abbreviation());
            }
            (_, Some(offset)) => ISO_OFFSET.format(offset, out),
            _ => return Err("Unable to extract ZoneId from temporal".into()),
        },
        Item::Pad(width, inner) => {
            let start = out.len();
            format_item(inner, moment, out)?;
            let taken = out[start..].chars().count();
            if taken > *width {
                return Err(format!("Cannot print as output of {taken} characters exceeds pad width of {width}"));
            }
            for _ in taken..*width {
                out.insert(start, ' ');
            }
        }
        Item::Optional(items) => {
            let start = out.len();
            if format_items(items, moment, out).is_err() {
                out.truncate(start);
            }
        }
    }
    Ok(())
}

impl Number {
    fn format(self, value: i64, out: &mut String) -> Result<(), String> {
        let digits = value.unsigned_abs().checked_ilog10().map_or(1, |tens| tens + 1);
        if digits > u32::from(self.max) {
            let (name, most) = (self.field.name(), self.max);
            return Err(format!(
                "Field {name} cannot be printed as the value {value} exceeds the maximum print width of {most}"
            ));
        }
        if value < 0 {
            out.push('-');
        } else if self.sign == Sign::ExceedsPad && digits > u32::from(self.min) {
            out.push('+');
        }
        let _ = write!(out, "{:0width$}", value.unsigned_abs(), width = usize::from(self.min));
        Ok(())
    }
}

const ISO_OFFSET: OffsetStyle = OffsetStyle { colon: true, minutes: Part::Always, seconds: Part::IfAny, zero: "Z" };

impl OffsetStyle {
    fn format(self, offset: Offset, out: &mut String) {
        let total = offset.seconds();
        let (hours, minutes, seconds) = (total.abs() / 3600, total.abs() / 60 % 60, total.abs() % 60);
        let shows_seconds = self.seconds == Part::IfAny && seconds > 0;
        let shows_minutes = self.minutes == Part::Always || self.minutes == Part::IfAny && minutes > 0;
        // An offset whose shown parts are all zero counts as none.
        if hours == 0 && !(shows_minutes && minutes > 0) && !shows_seconds {
            out.push_str(self.zero);
            return;
        }
        let colon = if self.colon { ":" } else { "" };
        let _ = write!(out, "{}{hours:02}", if total < 0 { '-' } else { '+' });
        if shows_minutes {
            let _ = write!(out, "{colon}{minutes:02}");
        }
        if shows_seconds {
            let _ = write!(out, "{colon}{seconds:02}");
        }
    }
}

fn localized(offset: Offset, full: bool, out: &mut String) {
    out.push_str("GMT");
    let total = offset.seconds();
    if total == 0 {
        return;
    }
    let (hours, minutes, seconds) = (total.abs() / 3600, total.abs() / 60 % 60, total.abs() % 60);
    out.push(if total < 0 { '-' } else { '+' });
    let _ = if full { write!(out, "{hours:02}:{minutes:02}") } else { write!(out, "{hours}") };
    if !full && (minutes != 0 || seconds != 0) {
        let _ = write!(out, ":{minutes:02}");
    }
    if seconds != 0 {
        let _ = write!(out, ":{seconds:02}");
    }
}

