//! Timestamps in a Java SimpleDateFormat pattern, in the local time zone and in English.
//!
//! A pattern is parsed once; formatting walks its parts. The supported letters are those of commons-lang3's
//! FastDateFormat, which JMeter formats with, except week years.
mod read;
mod zones;

use jiff::{Timestamp, Zoned, tz::TimeZone};
use lang::java_date::{MONTHS, WEEKDAYS};

#[derive(Clone, Debug)]
pub struct Pattern {
    parts: Vec<Part>,
    zone: TimeZone,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// A pattern letter and its number of repetitions.
    Field(char, usize),
}

impl Pattern {
    /// Parses a pattern; `None` if it contains an unsupported letter or an unclosed quote.
    pub fn new(pattern: &str) -> Option<Self> {
        Self::in_zone(pattern, TimeZone::system())
    }

    pub fn in_zone(pattern: &str, zone: TimeZone) -> Option<Self> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                if chars.next_if_eq(&'\'').is_some() {
                    literal.push('\'');
                    continue;
                }
                loop {
                    match chars.next()? {
                        '\'' if chars.next_if_eq(&'\'').is_some() => literal.push('\''),
                        '\'' => break,
                        inside => literal.push(inside),
                    }
                }
            } else if c.is_ascii_alphabetic() {
                if !"GyuMLdDEHkKhmsSazZXwWF".contains(c) {
                    return None;
                }
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                let mut n = 1;
                while chars.next_if_eq(&c).is_some() {
                    n += 1;
                }
                parts.push(Part::Field(c, n));
            } else {
                literal.push(c);
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Some(Self { parts, zone })
    }

    pub fn format(&self, epoch_ms: i64) -> String {
        let at = Timestamp::from_millisecond(epoch_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let at = at.to_zoned(self.zone.clone());
        let mut out = String::with_capacity(32);
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Field(letter, n) => field(&mut out, &at, *letter, *n),
            }
        }
        out
    }
}

fn field(out: &mut String, at: &Zoned, letter: char, n: usize) {
    let hour = i64::from(at.hour());
    let number = match letter {
        'y' if n == 2 => return padded(out, i64::from(at.year()) % 100, 2),
        'y' => return padded(out, i64::from(at.year()), n.max(4)),
        'M' | 'L' if n >= 3 => return name(out, MONTHS[at.month() as usize - 1], n),
        'M' | 'L' => i64::from(at.month()),
        'd' => i64::from(at.day()),
        'D' => i64::from(at.day_of_year()),
        'E' => return name(out, WEEKDAYS[at.weekday().to_monday_zero_offset() as usize], n),
        'u' => i64::from(at.weekday().to_monday_one_offset()),
        'H' => hour,
        'k' => (hour + 23) % 24 + 1,
        'K' => hour % 12,
        'h' => (hour + 11) % 12 + 1,
        'm' => i64::from(at.minute()),
        's' => i64::from(at.second()),
        'S' => i64::from(at.millisecond()),
        // Weeks as in the United States, Java's default for English: they begin on Sunday, and the first week contains
        // the first day of the year (or month).
        'w' => match i64::from(at.days_in_year() - at.day_of_year()) {
            left if left < 6 - i64::from(at.weekday().to_sunday_zero_offset()) => 1,
            _ => week(i64::from(at.day_of_year()), at),
        },
        'W' => week(i64::from(at.day()), at),
        'F' => (i64::from(at.day()) - 1) / 7 + 1,
        'G' => return out.push_str(if at.year() > 0 { "AD" } else { "BC" }),
        'a' => return out.push_str(if hour < 12 { "AM" } else { "PM" }),
        'z' => return out.push_str(&at.strftime("%Z").to_string()),
        'Z' => return out.push_str(&at.strftime(if n == 1 { "%z" } else { "%:z" }).to_string()),
        _ => return iso_zone(out, at, n),
    };
    padded(out, number, n);
}

fn week(day: i64, at: &Zoned) -> i64 {
    let weekday = i64::from(at.weekday().to_sunday_zero_offset());
    (day - 1 - weekday).div_euclid(7) + if (day - 1 - weekday).rem_euclid(7) == 0 { 1 } else { 2 }
}

fn iso_zone(out: &mut String, at: &Zoned, n: usize) {
    let seconds = at.offset().seconds();
    if seconds == 0 {
        return out.push('Z');
    }
    let text = at.strftime(if n == 3 { "%:z" } else { "%z" }).to_string();
    out.push_str(if n == 1 { &text[..3] } else { &text });
}

fn name(out: &mut String, name: &str, n: usize) {
    out.push_str(if n >= 4 { name } else { &name[..3] });
}

fn padded(out: &mut String, number: i64, width: usize) {
    out.push_str(&format!("{number:0width$}"));
}
