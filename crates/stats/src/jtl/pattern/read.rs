//! Parses timestamps as Java's SimpleDateFormat does: leniently, in English.
//!
//! A number extends over all following digits, or only over its field width if another number follows without a
//! separator. Values beyond their range roll over. Text after the last field is ignored.
use jiff::civil::Date;
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};
use lang::java_date::{MONTHS, WEEKDAYS};

use super::{Part, Pattern};

/// The parsed fields.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    afternoon: bool,
    minute: i64,
    second: i64,
    ms: i64,
    offset: Option<Offset>,
}

impl Pattern {
    /// Returns the time of a string in ms since 1970; `None` if the text does not match, or if the pattern contains
    /// weeks.
    pub fn read(&self, text: &str) -> Option<i64> {
        let mut fields = Fields {
            year: 1970,
            month: 1,
            day: 1,
            hour: 0,
            afternoon: false,
            minute: 0,
            second: 0,
            ms: 0,
            offset: None,
        };
        let mut rest = text;
        for (at, part) in self.parts.iter().enumerate() {
            rest = match part {
                Part::Literal(literal) => rest.strip_prefix(literal.as_str())?,
                Part::Field(letter, n) => {
                    let next = self.parts.get(at + 1);
                    let width = next.is_some_and(is_number).then_some(*n);
                    match letter {
                        'z' => {
                            let (offset, behind) = self.zone_name(rest)?;
                            fields.offset = Some(offset);
                            behind
                        }
                        _ => field(&mut fields, rest, *letter, *n, width)?,
                    }
                }
            };
        }
        self.instant(&fields)
    }

    fn instant(&self, fields: &Fields) -> Option<i64> {
        let first = Date::new(i16::try_from(fields.year).ok()?, 1, 1)
            .ok()?
            .to_datetime(jiff::civil::Time::midnight());
        let hour = fields.hour + if fields.afternoon { 12 } else { 0 };
        let clock = first
            .checked_add((fields.month - 1).months())
            .and_then(|at| at.checked_add((fields.day - 1).days()))
            .and_then(|at| at.checked_add(hour.hours().minutes(fields.minute)))
            .and_then(|at| at.checked_add(fields.second.seconds().milliseconds(fields.ms)))
            .ok()?;
        let at = match fields.offset {
            Some(offset) => offset.to_timestamp(clock).ok()?,
            None => self.zone.to_timestamp(clock).ok()?,
        };
        Some(Timestamp::as_millisecond(at))
    }
}

fn is_number(part: &Part) -> bool {
    matches!(part, Part::Field(letter, n) if "yudHkKhmsSD".contains(*letter) || (*letter == 'M' && *n < 3))
}

/// Parses one field and returns the remaining text.
fn field<'t>(
    fields: &mut Fields,
    text: &'t str,
    letter: char,
    n: usize,
    width: Option<usize>,
) -> Option<&'t str> {
    match letter {
        'M' | 'L' if n >= 3 => {
            let (at, rest) = name(text, &MONTHS)?;
            fields.month = at as i64 + 1;
            return Some(rest);
        }
        'E' => return name(text, &WEEKDAYS).map(|(_, rest)| rest),
        'G' => return name(text, &["AD", "BC"]).map(|(_, rest)| rest),
        'a' => {
            let (at, rest) = name(text, &["AM", "PM"])?;
            fields.afternoon = at == 1;
            return Some(rest);
        }
        'Z' | 'X' => {
            let (offset, rest) = offset(text)?;
            fields.offset = Some(offset);
            return Some(rest);
        }
        _ => {}
    }
    let text = text.trim_start_matches([' ', '\t']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = digits.min(width.unwrap_or(digits));
    let value: i64 = text[..digits].parse().ok().filter(|value| *value < 1 << 40)?;
    match letter {
        // A two-digit year lies between 80 years before and 20 years after now.
        'y' if n <= 2 && digits == 2 => fields.year = century(value),
        'y' => fields.year = value,
        // The number of the weekday is ignored.
        'u' => {}
        'M' | 'L' => fields.month = value,
        'd' => fields.day = value,
        'D' => (fields.month, fields.day) = (1, value),
        'H' => fields.hour = value,
        'k' => fields.hour = value % 24,
        'K' => fields.hour = value,
        'h' => fields.hour = value % 12,
        'm' => fields.minute = value,
        's' => fields.second = value,
        'S' => fields.ms = value,
        _ => return None,
    }
    Some(&text[digits..])
}

fn century(two: i64) -> i64 {
    let first = i64::from(jiff::Zoned::now().year()) - 80;
    let year = first - first.rem_euclid(100) + two;
    if year < first { year + 100 } else { year }
}

/// Finds a name in full or as three letters, in any case. Returns its index and the remaining text.
fn name<'t>(text: &'t str, names: &[&str]) -> Option<(usize, &'t str)> {
    let begins =
        |name: &str| text.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    let long = names.iter().position(|name| begins(name)).map(|at| (at, names[at].len()));
    let short =
        || names.iter().position(|name| begins(&name[..name.len().min(3)])).map(|at| (at, 3));
    let (at, length) = long.or_else(short)?;
    Some((at, &text[length..]))
}

/// Parses an offset from UTC: `Z`, `+01`, `+0100` or `+01:00`. Returns the offset and the remaining text.
pub(super) fn offset(text: &str) -> Option<(Offset, &str)> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Some((Offset::UTC, rest));
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |text: &str| text.get(..2)?.parse::<u8>().ok().map(i32::from);
    let hours = two(&text[1..])?;
    let rest = &text[3..];
    let behind = rest.strip_prefix(':').unwrap_or(rest);
    let (minutes, rest) = match two(behind) {
        Some(minutes) => (minutes, &behind[2..]),
        None => (0, rest),
    };
    Some((Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use jiff::tz::TimeZone;

    #[test]
    fn what_is_written_is_read_back() {
        let at = 1_700_000_123_045;
        for form in [
            "yyyy/MM/dd HH:mm:ss.SSS",
            "yyyyMMddHHmmssSSS",
            "yy-M-d H:m:s.S",
            "EEE, dd MMM yyyy hh:mm:ss.SSS a",
            "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
            "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "d MMMM yyyy K:mm:ss.S a",
            "EEE u yyyy-MM-dd G HH:mm:ss.SSS zzz",
        ] {
            let pattern = Pattern::in_zone(form, TimeZone::UTC).unwrap();
            let text = pattern.format(at);
            assert_eq!(pattern.read(&text), Some(at), "{form}: {text}");
        }
    }

    #[test]
    fn zones_are_read_by_name() {
        let local = TimeZone::fixed(jiff::tz::offset(3));
        let pattern = Pattern::in_zone("yyyy-MM-dd HH:mm:ss z", local).unwrap();
        for (zone, seconds) in [
            ("UTC", 0),
            ("GMT", 0),
            ("cet", 3600),
            ("CEST", 7200),
            ("PDT", -25_200),
            ("GMT+02:00", 7200),
            ("GMT-1", -3600),
            ("+0530", 19_800),
            ("Central European Standard Time", 3600),
            ("Coordinated Universal Time", 0),
        ] {
            let text = format!("2023-11-14 22:13:20 {zone}");
            assert_eq!(pattern.read(&text), Some((1_700_000_000 - seconds) * 1000), "{zone}");
        }
        assert_eq!(pattern.read("2023-11-14 22:13:20 Nowhere"), None);
        let early = Pattern::in_zone("EEE MMM dd HH:mm:ss zzz yyyy", TimeZone::UTC).unwrap();
        assert_eq!(early.read("Tue Nov 14 22:13:20 UTC 2023"), Some(1_700_000_000_000));
    }

    #[test]
    fn reading_is_lenient_as_java_is() {
        let pattern = |form| Pattern::in_zone(form, TimeZone::UTC).unwrap();
        let day = pattern("yyyy-MM-dd");
        assert_eq!(day.read("2023-13-01 and more"), day.read("2024-01-01"));
        assert_eq!(day.read("2023-02-30"), day.read("2023-03-02"));
        assert_eq!(day.read("1700000000000"), None);
        assert_eq!(day.read("2023-xx-01"), None);
        // Milliseconds are a whole number, not a decimal fraction.
        assert_eq!(pattern("ss.S").read("1.5"), Some(1005));
    }
}
