//! Parses dates by a pattern, as Java's formatter does in its smart resolver style.
//!
//! Parsing yields a value per field. Then defaults fill the gaps, and fields are combined to a date and a time. Any
//! remaining field must agree with them. JMeter's defaults for `__timeShift` conflict with some letters (`u`, `D`, `h`,
//! milliseconds other than 0): such dates are refused here as in JMeter.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};

use super::resolve::{Fields, Read, Unreadable};
use super::{
    FIELDS, Field, ISO_OFFSET, Item, Moment, Names, Number, OffsetStyle, Part, Pattern, Sign,
    Style, Zone,
};

/// Values for the date and time fields that are missing in a parsed text.
#[derive(Clone, Copy, Debug)]
pub enum Defaults {
    /// Missing fields have no defaults.
    None,
    /// Missing date fields become the first of January of a year.
    Day {
        /// The year that is used if the text has none.
        year: i16,
    },
    /// Missing fields are taken from the start of a year, at an offset from UTC.
    Instant {
        /// The year that is used if the text has none.
        year: i16,
        /// The offset from UTC that is used if the text has none.
        offset: Offset,
    },
}

/// The result of parsing a date by a pattern.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The date, if the fields determine one.
    pub date: Option<Date>,
    /// The time of the day, if the fields determine one.
    pub time: Option<Time>,
    /// The offset from UTC, if the text has one.
    pub offset: Option<Offset>,
    /// The time zone with its name, if the text has one.
    pub zone: Option<(Box<str>, TimeZone)>,
    pub(super) rest: Rest,
}

/// Values of the fields that have not contributed to the date or the time.
pub(super) type Rest = [Option<i64>; FIELDS];

impl Parsed {
    /// Returns the instant, if both date and time are known. The offset is taken from the text's offset, or else from
    /// the text's zone, or else from `zone`.
    pub fn instant(&self, zone: &TimeZone) -> Option<Timestamp> {
        let clock = self.date?.to_datetime(self.time?);
        match (self.offset, &self.zone) {
            (Some(offset), _) => offset.to_timestamp(clock).ok(),
            (None, read) => read.as_ref().map_or(zone, |(_, zone)| zone).to_timestamp(clock).ok(),
        }
    }

    /// Returns the parsed date and time, to be formatted in `zone`.
    pub fn moment<'z>(&'z self, zone: &'z TimeZone) -> Moment<'z> {
        let zone = self.instant(zone).map(|instant| Zone {
            id: zone.iana_name().unwrap_or("UTC"),
            rules: zone,
            instant,
        });
        Moment {
            date: self.date,
            time: self.time,
            offset: self.offset,
            zone,
            rest: Some(&self.rest),
        }
    }
}

impl Pattern {
    /// Parses the whole `text`. Returns `None` if the text does not fit the pattern or contradicts itself.
    pub fn read(&self, text: &str, defaults: Defaults) -> Option<Parsed> {
        let mut fields = Fields::new();
        let rest = read_items(&self.items, text, &mut fields).ok()?;
        if !rest.is_empty() {
            return None;
        }
        fields.fill(defaults);
        fields.resolve().ok()
    }
}

/// Parses the items at the start of `text`, and returns the remaining text.
fn read_items<'t>(items: &[Item], text: &'t str, fields: &mut Fields) -> Read<&'t str> {
    items.iter().enumerate().try_fold(text, |rest, (at, item)| {
        // A number that directly follows another number has exactly its own width.
        let fixed = at > 0 && follows_number(&items[..at]);
        read_item(item, fixed, rest, fields)
    })
}

/// Returns true if the next item directly follows a number that leaves digits for it.
fn follows_number(before: &[Item]) -> bool {
    before
        .iter()
        .rev()
        .take_while(|item| {
            matches!(item, Item::Number(_) | Item::TwoDigits(..) | Item::Fraction(_))
        })
        .any(|item| match item {
            Item::Number(Number { following, .. }) | Item::TwoDigits(_, following) => {
                *following > 0
            }
            _ => false,
        })
}

fn read_item<'t>(item: &Item, fixed: bool, text: &'t str, fields: &mut Fields) -> Read<&'t str> {
    match item {
        Item::Literal(literal) => text.strip_prefix(*literal).ok_or(Unreadable),
        Item::Number(number) => {
            let (value, rest) = read_number(*number, fixed, text)?;
            fields.set(number.field, value)?;
            Ok(rest)
        }
        Item::TwoDigits(field, following) => {
            let number = Number {
                field: *field,
                min: 2,
                max: 2,
                sign: Sign::NotNegative,
                following: *following,
            };
            let (value, rest) = read_number(number, fixed, text)?;
            fields.set(*field, 2000 + value)?;
            Ok(rest)
        }
        Item::Name(names, style) => {
            let (value, length) = longest_name(*names, *style, text).ok_or(Unreadable)?;
            fields.set(names.field(), value)?;
            Ok(&text[length..])
        }
        Item::Fraction(digits) => {
            let (value, rest) = digits_of(text, usize::from(*digits))?;
            fields.set(Field::Nano, value * 10i64.pow(9 - u32::from(*digits)))?;
            Ok(rest)
        }
        Item::Offset(style) => {
            let (offset, rest) = read_offset(*style, text)?;
            fields.offset = Some(offset);
            Ok(rest)
        }
        Item::Localized { full } => {
            let (offset, rest) = read_localized(*full, text)?;
            fields.offset = Some(offset);
            Ok(rest)
        }
        Item::ZoneId | Item::ZoneName { .. } => {
            let (name, rest) = text.split_at(end_of_zone(text));
            fields.zone = Some((name.into(), zone(name).ok_or(Unreadable)?));
            Ok(rest)
        }
        Item::Pad(width, inner) => {
            let (padded, rest) = text.split_at_checked(*width).ok_or(Unreadable)?;
            match read_item(inner, false, padded.trim_start_matches(' '), fields)? {
                "" => Ok(rest),
                _ => Err(Unreadable),
            }
        }
        Item::Optional(items) => Ok(read_optional(items, text, fields)),
    }
}

/// Parses the items of an optional section. If the text does not fit the items, consumes nothing and sets no field.
fn read_optional<'t>(items: &[Item], text: &'t str, fields: &mut Fields) -> &'t str {
    let mut tried = fields.clone();
    match read_items(items, text, &mut tried) {
        Ok(rest) => {
            *fields = tried;
            rest
        }
        Err(Unreadable) => text,
    }
}

fn read_number(number: Number, fixed: bool, text: &str) -> Read<(i64, &str)> {
    let (min, max) = (usize::from(number.min), usize::from(number.max));
    let following = if fixed { 0 } else { usize::from(number.following) };
    let (negative, plus, unsigned) = match text.as_bytes().first() {
        Some(b'-') if number.sign != Sign::NotNegative => (true, false, &text[1..]),
        Some(b'+') if number.sign == Sign::ExceedsPad => (false, true, &text[1..]),
        _ => (false, false, text),
    };
    let most = max + following;
    let found = unsigned.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let length =
        if following > 0 { found.min(min.max(found.saturating_sub(following))) } else { found };
    if length < min {
        return Err(Unreadable);
    }
    let (value, rest) = digits_of(unsigned, length)?;
    if negative && value == 0 {
        return Err(Unreadable);
    }
    // A plus sign must precede a number if and only if the number is wider than its padding.
    if number.sign == Sign::ExceedsPad && !negative && plus != (length > min) {
        return Err(Unreadable);
    }
    Ok((if negative { -value } else { value }, rest))
}

/// Parses a number of exactly `count` digits.
fn digits_of(text: &str, count: usize) -> Read<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(count).ok_or(Unreadable)?;
    if count == 0 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Unreadable);
    }
    Ok((digits.parse().map_err(|_| Unreadable)?, rest))
}

fn longest_name(names: Names, style: Style, text: &str) -> Option<(i64, usize)> {
    names
        .range()
        .filter_map(|value| Some((value, names.of(value, style)?)))
        .filter(|(_, name)| text.starts_with(name))
        .map(|(value, name)| (value, name.len()))
        .max_by_key(|(_, length)| *length)
}

fn read_offset(style: OffsetStyle, text: &str) -> Read<(Offset, &str)> {
    if let Some(rest) = text.strip_prefix(style.zero) {
        return Ok((Offset::UTC, rest));
    }
    let (negative, rest) = sign(text)?;
    let (hours, mut rest) = digits_of(rest, 2)?;
    let (mut minutes, mut seconds) = (0, 0);
    for (part, value) in [(style.minutes, &mut minutes), (style.seconds, &mut seconds)] {
        let digits = if style.colon { rest.strip_prefix(':') } else { Some(rest) };
        match (part, digits.map_or(Err(Unreadable), |digits| digits_of(digits, 2))) {
            (Part::Never, _) => break,
            (_, Ok((read, behind))) => (*value, rest) = (read, behind),
            (Part::IfAny, Err(_)) => break,
            (Part::Always, Err(_)) => return Err(Unreadable),
        }
    }
    Ok((total(negative, hours, minutes, seconds)?, rest))
}

/// Parses an offset that begins with `GMT`; `GMT` alone is UTC.
fn read_localized(full: bool, text: &str) -> Read<(Offset, &str)> {
    let rest = text.strip_prefix("GMT").ok_or(Unreadable)?;
    if !rest.starts_with(['+', '-']) {
        return Ok((Offset::UTC, rest));
    }
    let (negative, rest) = sign(rest)?;
    let width = if full { 2 } else { rest.bytes().take(2).take_while(u8::is_ascii_digit).count() };
    let (hours, mut rest) = digits_of(rest, width)?;
    let mut minutes = 0;
    match rest.strip_prefix(':').map(|digits| digits_of(digits, 2)) {
        Some(Ok(read)) => (minutes, rest) = read,
        _ if full => return Err(Unreadable),
        _ => {}
    }
    Ok((total(negative, hours, minutes, 0)?, rest))
}

fn sign(text: &str) -> Read<(bool, &str)> {
    match text.as_bytes().first() {
        Some(b'-') => Ok((true, &text[1..])),
        Some(b'+') => Ok((false, &text[1..])),
        _ => Err(Unreadable),
    }
}

fn total(negative: bool, hours: i64, minutes: i64, seconds: i64) -> Read<Offset> {
    if hours > 18 || minutes > 59 || seconds > 59 {
        return Err(Unreadable);
    }
    let total = ((hours * 60 + minutes) * 60 + seconds) as i32;
    Offset::from_seconds(if negative { -total } else { total }).map_err(|_| Unreadable)
}

/// Returns the length of the zone name at the start of a string.
fn end_of_zone(text: &str) -> usize {
    let is_of_name =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-' | '~' | ':');
    text.find(|c| !is_of_name(c)).unwrap_or(text.len())
}

fn zone(name: &str) -> Option<TimeZone> {
    if matches!(name, "Z" | "UTC" | "UT") {
        return Some(TimeZone::UTC);
    }
    let bare =
        ["UTC", "GMT", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    if bare.starts_with(['+', '-']) {
        return match read_offset(OffsetStyle { minutes: Part::IfAny, ..ISO_OFFSET }, bare) {
            Ok((offset, "")) => Some(TimeZone::fixed(offset)),
            _ => None,
        };
    }
    TimeZone::get(name).ok()
}
