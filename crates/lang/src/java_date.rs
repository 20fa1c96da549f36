//! Date patterns of Java's `DateTimeFormatter` (as `ofPattern` reads them), in English.
//!
//! A [`Pattern`] is parsed once into items. Formatting walks the items and appends to the caller's buffer without
//! allocating; `parse` reads text back. The letters are those in Java's documentation of the class. Not supported: full
//! names of time zones other than UTC (the abbreviation is shown instead), periods of the day (`B`), and years beyond
//! 9999.

mod field;
mod names;
mod parse;
mod pattern;
mod resolve;
#[cfg(test)]
mod tests;
mod week;

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};

pub use field::epoch_day;
use field::{FIELDS, Field};
pub use names::{MONTHS, WEEKDAYS};
pub use parse::{Defaults, Parsed};
use week::Week;

/// A parsed date pattern.
#[derive(Debug)]
pub struct Pattern {
    items: Vec<Item>,
}

/// A part of a date pattern: literal text, a field, an offset, a zone or nested items.
#[derive(Debug)]
enum Item {
    Literal(char),
    Number(Number),
    /// The last two digits of a year, parsed as 2000 to 2099. The second value is the number of digits in adjacent
    /// numbers that follow without a separator.
    TwoDigits(Field, u8),
    Name(Names, Style),
    Fraction(u8),
    Offset(OffsetStyle),
    /// An offset from UTC with the prefix `GMT`, such as `GMT+8`, or in full `GMT+08:00`.
    Localized {
        full: bool,
    },
    ZoneId,
    ZoneName {
        full: bool,
    },
    /// An item that is padded on the left with blanks to this width.
    Pad(usize, Box<Item>),
    Optional(Vec<Item>),
}

/// An item for a numeric field, with at least `min` and at most `max` digits.
#[derive(Clone, Copy, Debug)]
struct Number {
    field: Field,
    min: u8,
    max: u8,
    sign: Sign,
    /// Number of digits of the fixed-width numbers that follow without a separator.
    following: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Normal,
    /// A plus sign is written if the number has more digits than the pattern has letters for the field.
    ExceedsPad,
    NotNegative,
}

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

/// Date, time, offset and zone to format; also the result of parsing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment<'z> {
    /// The calendar date, if the text or caller gives one.
    pub date: Option<Date>,
    /// The time of the day, if the text or caller gives one.
    pub time: Option<Time>,
    /// The offset from UTC, if the text or caller gives one.
    pub offset: Option<Offset>,
    /// The time zone, if the text or caller gives one.
    pub zone: Option<Zone<'z>>,
    /// Parsed fields that belong neither to the date nor to the time.
    rest: Option<&'z parse::Rest>,
}

/// A time zone together with an instant, for which the zone has one offset.
#[derive(Clone, Copy, Debug)]
pub struct Zone<'z> {
    /// Name of the zone; for a zone without a name, its offset from UTC.
    pub id: &'z str,
    /// The zone's rules for offsets.
    pub rules: &'z TimeZone,
    /// The instant at which the zone's offset is determined.
    pub instant: Timestamp,
}

impl<'z> Moment<'z> {
    /// Returns date and time of `instant` in `zone`.
    pub fn at(instant: Timestamp, zone: &'z TimeZone) -> Self {
        Self::of(Zone { id: zone.iana_name().unwrap_or("UTC"), rules: zone, instant })
    }

    /// Returns date and time of the zone's instant in that zone.
    pub fn of(zone: Zone<'z>) -> Self {
        let offset = zone.rules.to_offset(zone.instant);
        Self { zone: Some(zone), ..Self::with_offset(zone.instant, offset) }
    }

    /// Returns date and time of `instant` at a fixed offset from UTC.
    pub fn with_offset(instant: Timestamp, offset: Offset) -> Self {
        let clock = offset.to_datetime(instant);
        Self {
            date: Some(clock.date()),
            time: Some(clock.time()),
            offset: Some(offset),
            zone: None,
            rest: None,
        }
    }

    /// Returns a moment that has only a date.
    pub fn day(date: Date) -> Self {
        Self { date: Some(date), ..Self::default() }
    }

    fn value(&self, field: Field) -> Option<i64> {
        field
            .of_date(self.date)
            .or_else(|| field.of_time(self.time))
            .or_else(|| self.rest?[field as usize])
    }
}

impl Zone<'_> {
    fn name(self, full: bool, out: &mut String) {
        out.push_str(match self.rules.to_offset_info(self.instant).abbreviation() {
            _ if self.id.starts_with(['+', '-']) || self.id == "Z" => self.id,
            "UTC" if full => "Coordinated Universal Time",
            short => short,
        });
    }
}

impl Pattern {
    /// Parses a date pattern; the error is Java's message.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        Ok(Self { items: pattern::items(pattern)? })
    }

    /// Formats a date and time and appends the text; the error is Java's message.
    pub fn format(&self, moment: &Moment<'_>, out: &mut String) -> Result<(), String> {
        format_items(&self.items, moment, out)
    }
}

fn format_items(items: &[Item], moment: &Moment<'_>, out: &mut String) -> Result<(), String> {
    items.iter().try_for_each(|item| format_item(item, moment, out))
}

fn format_item(item: &Item, moment: &Moment<'_>, out: &mut String) -> Result<(), String> {
    let value = |field: Field| {
        moment.value(field).ok_or_else(|| format!("Unsupported field: {}", field.name()))
    };
    match item {
        Item::Literal(literal) => out.push(*literal),
        Item::Number(number) => number.format(value(number.field)?, out)?,
        Item::TwoDigits(field, _) => _ = write!(out, "{:02}", value(*field)?.abs() % 100),
        Item::Name(names, style) => {
            let value = value(names.field())?;
            out.push_str(names.of(value, *style).ok_or_else(|| format!("Invalid value: {value}"))?);
        }
        Item::Fraction(digits) => {
            let shown = value(Field::Nano)? / 10i64.pow(9 - u32::from(*digits));
            let _ = write!(out, "{shown:0width$}", width = usize::from(*digits));
        }
        Item::Offset(style) => {
            style.format(moment.offset.ok_or("Unsupported field: OffsetSeconds")?, out);
        }
        Item::Localized { full } => {
            localized(moment.offset.ok_or("Unsupported field: OffsetSeconds")?, *full, out);
        }
        Item::ZoneId => match (moment.zone, moment.offset) {
            (Some(zone), _) => out.push_str(zone.id),
            (None, Some(offset)) => ISO_OFFSET.format(offset, out),
            (None, None) => return Err("Unable to extract ZoneId from temporal".into()),
        },
        Item::ZoneName { full } => match (moment.zone, moment.offset) {
            (Some(zone), _) => zone.name(*full, out),
            (None, Some(offset)) => ISO_OFFSET.format(offset, out),
            (None, None) => return Err("Unable to extract ZoneId from temporal".into()),
        },
        Item::Pad(width, inner) => {
            let start = out.len();
            format_item(inner, moment, out)?;
            let taken = out[start..].chars().count();
            if taken > *width {
                return Err(format!(
                    "Cannot print as output of {taken} characters exceeds pad width of {width}"
                ));
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

const ISO_OFFSET: OffsetStyle =
    OffsetStyle { colon: true, minutes: Part::Always, seconds: Part::IfAny, zero: "Z" };

impl OffsetStyle {
    fn format(self, offset: Offset, out: &mut String) {
        let total = offset.seconds();
        let (hours, minutes, seconds) =
            (total.abs() / 3600, total.abs() / 60 % 60, total.abs() % 60);
        let shows_seconds = self.seconds == Part::IfAny && seconds > 0;
        let shows_minutes =
            self.minutes == Part::Always || self.minutes == Part::IfAny && minutes > 0;
        // An offset is shown as zero if all parts that the pattern shows are zero.
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
