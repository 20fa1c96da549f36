//! Parser of `Expires` dates: each part is recognised by its form, in any order (RFC 6265, 5.1.1).

const MONTHS: [&[u8]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// Parses the date of an `Expires` attribute; returns milliseconds since 1970.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for part in text.as_bytes().split(|&b| is_delimiter(b)).filter(|part| !part.is_empty()) {
        if time.is_none()
            && let Some(found) = clock(part)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(part, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(part)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(part, 2, 4)
        {
            year = Some(found);
        }
    }
    let ((hour, minute, second), day, month) = (time?, day?, month?);
    let year = match year? {
        y @ 70..=99 => 1900 + y,
        y @ 0..=69 => 2000 + y,
        y => y,
    };
    if !(1..=31).contains(&day) || year < 1601 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = ((days(year, month) + day - 1) * 24 + hour) * 3600 + minute * 60 + second;
    Some(seconds * 1000)
}

fn is_delimiter(b: u8) -> bool {
    matches!(b, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// Parses a number of `min` to `max` digits at the start of the text. The end of the text or another character must
/// follow.
fn number(part: &[u8], min: usize, max: usize) -> Option<i64> {
    let digits = part.iter().take_while(|b| b.is_ascii_digit()).count();
    (min..=max)
        .contains(&digits)
        .then(|| part[..digits].iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
}

fn clock(part: &[u8]) -> Option<(i64, i64, i64)> {
    let mut fields = part.splitn(3, |&b| b == b':');
    let mut whole =
        || fields.next().filter(|f| f.iter().all(u8::is_ascii_digit)).and_then(|f| number(f, 1, 2));
    let (hour, minute) = (whole()?, whole()?);
    Some((hour, minute, number(fields.next()?, 1, 2)?))
}

/// Returns the index of a month's name in a cookie date; 0 is January.
fn month_of(part: &[u8]) -> Option<i64> {
    let name = part.get(..3)?;
    MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month)).map(|i| i as i64)
}

/// Returns the number of days from 1970-01-01 to the first of a month. Proleptic Gregorian calendar, years counted from
/// March.
fn days(year: i64, month: i64) -> i64 {
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
