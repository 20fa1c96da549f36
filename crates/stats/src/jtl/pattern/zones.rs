//! Names of time zones in timestamps, as Java writes and reads them in English.
//!
//! A name stands for a fixed offset: `CET` is one hour even in summer. If several zones share a name, like `CST`, the
//! local zone's meaning is preferred.
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::Pattern;
use super::read::offset;

/// Short and long names with their minutes east of Greenwich. No short name is a prefix of a later short name.
const NAMES: &[(&str, &str, i32)] = &[
    ("UTC", "Coordinated Universal Time", 0),
    ("GMT", "Greenwich Mean Time", 0),
    ("WEST", "Western European Summer Time", 60),
    ("WET", "Western European Standard Time", 0),
    ("BST", "British Summer Time", 60),
    ("CEST", "Central European Summer Time", 120),
    ("CET", "Central European Standard Time", 60),
    ("EEST", "Eastern European Summer Time", 180),
    ("EET", "Eastern European Standard Time", 120),
    ("MSK", "Moscow Standard Time", 180),
    ("SAST", "South Africa Standard Time", 120),
    ("PKT", "Pakistan Standard Time", 300),
    ("IST", "India Standard Time", 330),
    ("ICT", "Indochina Time", 420),
    ("WIB", "Western Indonesia Time", 420),
    ("HKT", "Hong Kong Standard Time", 480),
    ("SGT", "Singapore Standard Time", 480),
    ("AWST", "Australian Western Standard Time", 480),
    ("JST", "Japan Standard Time", 540),
    ("KST", "Korean Standard Time", 540),
    ("ACST", "Australian Central Standard Time", 570),
    ("ACDT", "Australian Central Daylight Time", 630),
    ("AEST", "Australian Eastern Standard Time", 600),
    ("AEDT", "Australian Eastern Daylight Time", 660),
    ("NZST", "New Zealand Standard Time", 720),
    ("NZDT", "New Zealand Daylight Time", 780),
    ("NST", "Newfoundland Standard Time", -210),
    ("NDT", "Newfoundland Daylight Time", -150),
    ("BRT", "Brasilia Standard Time", -180),
    ("ART", "Argentina Standard Time", -180),
    ("AST", "Atlantic Standard Time", -240),
    ("ADT", "Atlantic Daylight Time", -180),
    ("EST", "Eastern Standard Time", -300),
    ("EDT", "Eastern Daylight Time", -240),
    ("CST", "Central Standard Time", -360),
    ("CDT", "Central Daylight Time", -300),
    ("MST", "Mountain Standard Time", -420),
    ("MDT", "Mountain Daylight Time", -360),
    ("PST", "Pacific Standard Time", -480),
    ("PDT", "Pacific Daylight Time", -420),
    ("AKST", "Alaska Standard Time", -540),
    ("AKDT", "Alaska Daylight Time", -480),
    ("HST", "Hawaii-Aleutian Standard Time", -600),
    // `CST` means China's time only if the local zone is China's. This entry serves the long name.
    ("CST", "China Standard Time", 480),
];

impl Pattern {
    /// Parses a zone name or an offset. Returns the offset and the remaining text.
    pub(super) fn zone_name<'t>(&self, text: &'t str) -> Option<(Offset, &'t str)> {
        let behind = |name: &str| {
            let begin = text.get(..name.len())?;
            let rest = &text[name.len()..];
            let is_whole = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
            (is_whole && begin.eq_ignore_ascii_case(name)).then_some(rest)
        };
        if let Some(rest) = ["GMT", "UTC"].into_iter().find_map(behind)
            && let Some(found) = hours(rest)
        {
            return Some(found);
        }
        if let Some(found) = offset(text) {
            return Some(found);
        }
        for (name, offset) in short_names(&self.zone) {
            if let Some(rest) = behind(&name) {
                return Some((offset, rest));
            }
        }
        NAMES.iter().find_map(|(short, long, minutes)| {
            let rest = behind(long).or_else(|| behind(short))?;
            Some((Offset::from_seconds(minutes * 60).ok()?, rest))
        })
    }
}

/// Parses the offset after `GMT`: like other offsets, or with a one-digit hour.
fn hours(text: &str) -> Option<(Offset, &str)> {
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    offset(text).or_else(|| {
        let hours = char::from(*text.as_bytes().get(1)?).to_digit(10)?;
        let (minutes, rest) = match text[2..].strip_prefix(':') {
            Some(rest) => (rest.get(..2)?.parse::<i32>().ok()?, &rest[2..]),
            None => (0, &text[2..]),
        };
        let seconds = sign * (i32::try_from(hours).ok()? * 3600 + minutes * 60);
        Some((Offset::from_seconds(seconds).ok()?, rest))
    })
}

/// Returns the zone's short names in winter and in summer of this year.
fn short_names(zone: &TimeZone) -> [(String, Offset); 2] {
    const HALF_A_YEAR: i64 = 182 * 86_400;
    let now = Timestamp::now().as_second();
    [now, now - HALF_A_YEAR].map(|second| {
        let at = Timestamp::from_second(second).unwrap_or_default();
        let info = zone.to_offset_info(at);
        (info.abbreviation().to_owned(), info.offset())
    })
}
