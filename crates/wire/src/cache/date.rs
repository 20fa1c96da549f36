//! Parser of HTTP dates in the three forms that HttpClient reads, as lenient as Java's date format.
//!
//! Numbers out of range run over into the next field. Text after a date is ignored.

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/// Named time zones, with their offset in minutes east of Greenwich.
const ZONES: [(&str, i64); 11] = [
    ("gmt", 0),
    ("utc", 0),
    ("ut", 0),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
];

/// Parses an HTTP date; returns milliseconds since 1970.
pub(super) fn parse(text: &str) -> Option<i64> {
    // HttpClient strips single quotes around a date.
    let bare = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let text = bare.filter(|bare| !bare.is_empty()).unwrap_or(text);
    with_zone(text, ' ').or_else(|| with_zone(text, '-')).or_else(|| asctime(text))
}

/// Parses an HTTP date like `Sun, 06 Nov 1994 08:49:37 GMT`, or the form with dashes and a two-digit year.
fn with_zone(text: &str, mark: char) -> Option<i64> {
    let mut rest = Rest(text);
    rest.name(&DAYS)?;
    rest.mark(',')?;
    rest.mark(' ')?;
    let day = rest.number()?.0;
    rest.mark(mark)?;
    let month = rest.name(&MONTHS)?;
    rest.mark(mark)?;
    let (mut year, digits) = rest.number()?;
    if mark == '-' && digits == 2 {
        year += 2000;
    }
    rest.mark(' ')?;
    let seconds = rest.clock()?;
    rest.mark(' ')?;
    let east = rest.zone()?;
    Some((seconds + day_number(year, month, day) * 86_400 - east * 60) * 1000)
}

/// Parses an HTTP date like `Sun Nov  6 08:49:37 1994`.
fn asctime(text: &str) -> Option<i64> {
    let mut rest = Rest(text);
    rest.name(&DAYS)?;
    rest.mark(' ')?;
    let month = rest.name(&MONTHS)?;
    rest.mark(' ')?;
    let day = rest.number()?.0;
    rest.mark(' ')?;
    let seconds = rest.clock()?;
    rest.mark(' ')?;
    let year = rest.number()?.0;
    Some((seconds + day_number(year, month, day) * 86_400) * 1000)
}

/// The part of an HTTP date that is not parsed yet.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    /// Parses a day or month name, or its first three letters; returns its index.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        let starts = |name: &str| {
            self.0.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let full = names.iter().position(|name| starts(name)).map(|at| (at, names[at].len()));
        let (at, length) =
            full.or_else(|| names.iter().position(|name| starts(&name[..3])).map(|at| (at, 3)))?;
        self.0 = &self.0[length..];
        Some(at as i64)
    }

    fn mark(&mut self, mark: char) -> Option<()> {
        self.0 = self.0.strip_prefix(mark)?;
        Some(())
    }

    /// Parses a number after optional blanks; returns its value and its number of digits.
    fn number(&mut self) -> Option<(i64, usize)> {
        let text = self.0.trim_start_matches([' ', '\t']);
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 9 {
            return None;
        }
        let number = text[..digits].parse().ok()?;
        self.0 = &text[digits..];
        Some((number, digits))
    }

    /// Parses a time of day; returns seconds since midnight.
    fn clock(&mut self) -> Option<i64> {
        let hour = self.number()?.0;
        self.mark(':')?;
        let minute = self.number()?.0;
        self.mark(':')?;
        Some((hour * 60 + minute) * 60 + self.number()?.0)
    }

    /// Parses a time zone; returns minutes east of Greenwich.
    fn zone(&mut self) -> Option<i64> {
        if let Some((name, east)) = ZONES.iter().find(|(name, _)| {
            self.0.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        }) {
            self.0 = &self.0[name.len()..];
            return Some(*east);
        }
        let sign = match self.0.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let digits: i64 = self.0.get(1..5)?.parse().ok()?;
        (0..=9999).contains(&digits).then_some(sign * (digits / 100 * 60 + digits % 100))
    }
}

/// Returns the number of days from 1970-01-01 to a date; `month` counts from 0. Proleptic Gregorian calendar, years
/// counted from March.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
