//! Parses the timestamps of a file's rows: milliseconds, the format in a property, or a format that JMeter knows.
//!
//! The format that matched last is tried first, so that a row usually costs one attempt.
use std::cell::Cell;
use std::ops::Range;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::columns::{Columns, TimestampFormat};
use super::pattern::Pattern;
use super::stream::Why;

/// Formats of timestamps that are recognized without a property. JMeter reads the first five formats.
const KNOWN: [&str; 9] = [
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S",
    "%m/%d/%y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f%:z",
    "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y-%m-%dT%H:%M:%S%.f%z",
];
/// Index in [`KNOWN`] of the first format that contains a time zone.
const ZONED: usize = 6;
/// Index in [`KNOWN`] of the format that ends with `Z`, the time zone UTC.
const UTC: usize = 7;
/// Smallest number that is read as the digits of a date. As milliseconds since 1970, it would be in the year 2286.
const LEAST_DATE: i64 = 10_000_000_000_000;

/// Numbers that are read as seconds since 1970: the years 1990 to 2100. As milliseconds, they would be days of 1970.
const SECONDS: Range<i64> = 631_152_000..4_102_444_800;

/// Converts a time since 1970 in microseconds or nanoseconds to milliseconds; `None` if the result is not between 1990
/// and 2100.
fn finer(number: i64) -> Option<i64> {
    let of = |each: i64| SECONDS.contains(&(number / (1000 * each))).then_some(number / each);
    of(1000).or_else(|| of(1_000_000))
}

/// Parser of the timestamps in a result file.
#[derive(Debug)]
pub(super) struct Times {
    /// Format that the property `jmeter.save.saveservice.timestamp_format` specifies.
    given: Option<Pattern>,
    /// True if the property specifies a format that is not supported.
    is_unread: bool,
    /// Index of the format in `KNOWN` that matched last.
    last: Cell<usize>,
    zone: TimeZone,
    in_seconds: Cell<bool>,
}

impl Times {
    pub(super) fn of(columns: &Columns) -> Self {
        let given = match &columns.timestamp_format {
            TimestampFormat::Text(pattern) => Some(pattern.clone()),
            _ => None,
        };
        let is_unread =
            columns.timestamp && matches!(columns.timestamp_format, TimestampFormat::Nothing);
        let zone = TimeZone::system();
        Self { given, is_unread, last: Cell::new(0), zone, in_seconds: Cell::new(false) }
    }

    /// Returns the reason why [`Times::read`] could not parse a timestamp.
    pub(super) fn why(&self) -> Why {
        match &self.given {
            Some(_) => Why::OtherFormat,
            None if self.is_unread => Why::UnreadFormat,
            None => Why::Value,
        }
    }

    /// Parses a timestamp; returns ms since 1970.
    pub(super) fn read(&self, text: &str) -> Option<i64> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if let Some(at) = self.given.as_ref().and_then(|given| given.read(text)) {
            return Some(at);
        }
        match text.parse::<i64>() {
            Ok(number) if number >= LEAST_DATE => self.digits(text).or_else(|| finer(number)),
            Ok(number) if SECONDS.contains(&number) => self.seconds(number, 0),
            Ok(number) => Some(number),
            Err(_) => self.decimal(text).or_else(|| self.written(text)),
        }
    }

    /// True if a timestamp that was read so far was a number of seconds.
    pub(super) fn in_seconds(&self) -> bool {
        self.in_seconds.get()
    }

    fn seconds(&self, seconds: i64, ms: i64) -> Option<i64> {
        self.in_seconds.set(true);
        Some(seconds * 1000 + ms)
    }

    /// Parses a number with a decimal point: seconds with decimals, or milliseconds whose decimals are ignored.
    fn decimal(&self, text: &str) -> Option<i64> {
        let (whole, decimals) = text.split_once('.')?;
        let whole: i64 = whole.parse().ok()?;
        if !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if !SECONDS.contains(&whole) {
            return SECONDS.contains(&(whole / 1000)).then_some(whole);
        }
        let ms = format!("{decimals:0<3}");
        self.seconds(whole, ms[..3].parse().ok()?)
    }

    fn written(&self, text: &str) -> Option<i64> {
        let last = self.last.get();
        if let Some(at) = self.of_form(last, text) {
            return Some(at);
        }
        let found = (0..KNOWN.len()).find_map(|n| Some((n, self.of_form(n, text)?)));
        let (n, at) = found?;
        self.last.set(n);
        Some(at)
    }

    fn of_form(&self, n: usize, text: &str) -> Option<i64> {
        let time = if n == UTC {
            DateTime::strptime(KNOWN[n], text).ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp()
        } else if n >= ZONED {
            jiff::Timestamp::strptime(KNOWN[n], text).ok()?
        } else {
            DateTime::strptime(KNOWN[n], text).ok()?.to_zoned(self.zone.clone()).ok()?.timestamp()
        };
        Some(time.as_millisecond())
    }

    /// Parses a date and time of 14 digits (`YYYYMMDDhhmmss`), or of 17 digits with milliseconds.
    fn digits(&self, text: &str) -> Option<i64> {
        let ms = match text.len() {
            14 => 0,
            17 => text[14..].parse::<i64>().ok()?,
            _ => return None,
        };
        let time = DateTime::strptime("%Y%m%d%H%M%S", &text[..14]).ok()?;
        let is_date = (1990..2100).contains(&time.year());
        let at = time.to_zoned(self.zone.clone()).ok().filter(|_| is_date)?;
        Some(at.timestamp().as_millisecond() + ms)
    }
}
