//! Date functions: `__time`, `__timeShift`, `__dateTimeConvert`, `__RandomDate`.
//!
//! Patterns have the syntax of Java's `DateTimeFormatter`, with English names; each core caches the compiled patterns.

use std::fmt::Write;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use lang::java_date::{Defaults, Moment, Pattern, Zone, epoch_day};

use super::{Call, Level, trim};
use crate::env::Env;
use crate::template::{Outcome, Template, Thrown};

/// Runs `__time(format, variable)`; without a format, returns milliseconds since 1970.
pub(super) fn time(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let format = call.arg(0, env)?;
    if format.is_empty() {
        let _ = write!(out, "{}", env.now_ms());
    } else {
        format_now(&format, env, out)?;
    }
    env.core.give(format);
    call.store(1, env, &out[start..])
}

fn format_now(format: &str, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let alias = match format {
        "YMD" => Some(("time.YMD", "yyyyMMdd")),
        "HMS" => Some(("time.HMS", "HHmmss")),
        "YMDHMS" => Some(("time.YMDHMS", "yyyyMMdd-HHmmss")),
        "USER1" => Some(("time.USER1", "")),
        "USER2" => Some(("time.USER2", "")),
        _ => None,
    };
    // JMeter reads these properties only once, so later changes have no effect.
    let format = match alias {
        Some((property, otherwise)) => trim(env.shared.started_with(property).unwrap_or(otherwise)),
        None => format,
    };
    if let Some(divisor) = divisor(format) {
        let divisor: i64 = divisor.parse().map_err(|_| Thrown::not_a_number(divisor))?;
        let Some(value) = env.now_ms().checked_div(divisor) else {
            return Err(Thrown::new("java.lang.ArithmeticException", "/ by zero"));
        };
        let _ = write!(out, "{value}");
        return Ok(());
    }
    let pattern = env.core.cache.pattern(format).map_err(|_| {
        Thrown::new(
            "java.lang.IllegalArgumentException",
            format!("Unable to parse date format {format}"),
        )
    })?;
    print(&pattern, &Moment::at(now(env), env.shared.zone()), out)
}

/// Returns the number in a format of the form `/number`.
fn divisor(format: &str) -> Option<&str> {
    let digits = format.strip_prefix('/')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// Runs `__timeShift(format, date = now, duration, [locale,] variable)`.
pub(super) fn shift(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (format, amount, date) = (call.arg(0, env)?, call.arg(2, env)?, call.arg(1, env)?);
    let pattern = match trim(&format) {
        "" => None,
        format => match known(format, env) {
            Some(pattern) => Some(pattern),
            None => return Ok(()),
        },
    };
    let zone = env.shared.zone();
    let mut place = ZoneOrOffset::Zone(zone);
    let mut instant = now(env);
    if !trim(&date).is_empty() {
        let read = match &pattern {
            None => trim(&date).parse().ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()),
            Some(pattern) => read_instant(pattern, trim(&date), instant, &mut place),
        };
        match read {
            Some(read) => instant = read,
            None => env
                .shared
                .log(Level::Error, format!("Failed to parse the date '{}' to shift", trim(&date))),
        }
    }
    if !trim(&amount).is_empty() {
        match duration(trim(&amount)).map(|amount| instant.checked_add(amount)) {
            Some(Ok(shifted)) => instant = shifted,
            _ => {
                let words =
                    format!("Failed to parse the amount duration '{}' to shift", trim(&amount));
                env.shared.log(Level::Error, words);
            }
        }
    }
    match pattern {
        None => _ = write!(out, "{}", instant.as_millisecond()),
        Some(pattern) => print(&pattern, &place.moment(instant), out)?,
    }
    env.core.give(date);
    env.core.give(amount);
    env.core.give(format);
    call.store(if call.has(4) { 4 } else { 3 }, env, &out[start..])
}

/// The zone or offset of a parsed date: the run's zone, a zone in the text, or an offset in the text.
enum ZoneOrOffset<'z> {
    Zone(&'z TimeZone),
    Read(Box<str>, TimeZone),
    Offset(Offset),
}

impl ZoneOrOffset<'_> {
    fn moment(&self, instant: Timestamp) -> Moment<'_> {
        match self {
            Self::Zone(zone) => Moment::at(instant, zone),
            Self::Read(id, rules) => Moment::of(Zone { id, rules, instant }),
            Self::Offset(offset) => Moment::with_offset(instant, *offset),
        }
    }
}

/// Parses a date for `__timeShift`. Missing fields are taken from the start of this year; a missing offset is the
/// current offset.
fn read_instant(
    pattern: &Pattern,
    date: &str,
    now: Timestamp,
    place: &mut ZoneOrOffset<'_>,
) -> Option<Timestamp> {
    let here = place.moment(now);
    let defaults = Defaults::Instant { year: here.date?.year(), offset: here.offset? };
    let read = pattern.read(date, defaults)?;
    let (offset, instant) = (read.offset?, read.instant(&TimeZone::UTC)?);
    *place =
        read.zone.map_or(ZoneOrOffset::Offset(offset), |(id, zone)| ZoneOrOffset::Read(id, zone));
    Some(instant)
}

/// Parses a duration as Java's `Duration.parse` does: `P2DT3H4M5.6S`, with an optional sign for each part and for
/// the whole.
fn duration(text: &str) -> Option<SignedDuration> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let mut rest = text.strip_prefix(['P', 'p'])?;
    let mut total = 0i128;
    let mut in_time = false;
    let mut parts = "DHMS".chars();
    let mut found = false;
    while !rest.is_empty() {
        if !in_time && rest.starts_with(['T', 't']) {
            (in_time, rest) = (true, &rest[1..]);
            // A `T` must be followed by a time part.
            found = false;
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = (&rest[..end], rest[end..].chars().next()?.to_ascii_uppercase());
        rest = &rest[end + 1..];
        let seconds = match (parts.find(|part| *part == unit)?, in_time) {
            ('D', false) => 86_400,
            ('H', true) => 3_600,
            ('M', true) => 60,
            ('S', true) => 1,
            _ => return None,
        };
        let (whole, fraction) = match number.split_once(['.', ',']) {
            Some((whole, fraction)) if unit == 'S' => (whole, fraction),
            Some(_) => return None,
            None => (number, ""),
        };
        if fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let nanos = digits * 10i128.pow(9 - fraction.len() as u32);
        let signed = if whole.starts_with('-') { -nanos } else { nanos };
        total += i128::from(whole.parse::<i64>().ok()?) * seconds * 1_000_000_000 + signed;
        found = true;
    }
    if !found {
        return None;
    }
    let total = if negative { -total } else { total };
    let seconds = i64::try_from(total / 1_000_000_000).ok()?;
    Some(SignedDuration::new(seconds, (total % 1_000_000_000) as i32))
}

/// Runs `__dateTimeConvert(date, source format, target format, variable)`. An empty source format means
/// milliseconds. The value is empty if the date cannot be converted.
pub(super) fn convert(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (date, from, to) = (call.arg(0, env)?, call.arg(1, env)?, call.arg(2, env)?);
    let done = converted(&date, &from, &to, env, out);
    if done.is_none() {
        out.truncate(start);
        env.shared.log(
            Level::Error,
            format!("Error calling __dateTimeConvert with value {date}, source format {from}, target format {to}"),
        );
    }
    env.core.give(to);
    env.core.give(from);
    env.core.give(date);
    if done.is_some() { call.store(3, env, &out[start..]) } else { Ok(()) }
}

fn converted(date: &str, from: &str, to: &str, env: &mut Env<'_>, out: &mut String) -> Option<()> {
    let to = env.core.cache.pattern(to).ok()?;
    let zone = env.shared.zone();
    if from.is_empty() {
        let instant = Timestamp::from_millisecond(date.parse().ok()?).ok()?;
        return to.format(&Moment::at(instant, zone), out).ok();
    }
    let read = env.core.cache.pattern(from).ok()?.read(date, Defaults::None)?;
    // The time is converted only if the string names a zone different from the system's zone.
    let moment = match (&read.zone, read.instant(zone)) {
        (Some((id, _)), Some(instant)) if zone.iana_name() != Some(id) => Moment::at(instant, zone),
        _ => read.moment(zone),
    };
    to.format(&moment, out).ok()
}

/// Runs `__RandomDate(format = yyyy-MM-dd, first = today, end, locale, variable)`: returns a random day from
/// `first` up to the day before `end`.
pub(super) fn random(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let format = call.arg(0, env)?;
    let format_used = if trim(&format).is_empty() { "yyyy-MM-dd" } else { trim(&format) };
    let Some(pattern) = known(format_used, env) else { return Ok(()) };
    env.core.give(format);
    let today = Moment::at(now(env), env.shared.zone()).date.unwrap_or_default();
    let first = call.arg(1, env)?;
    let first_day = match trim(&first) {
        "" => epoch_day(today),
        first => day(&pattern, first, today, env),
    };
    env.core.give(first);
    let end = call.arg(2, env)?;
    let end_day = day(&pattern, trim(&end), today, env);
    if end_day < first_day {
        env.shared.log(
            Level::Error,
            format!("End Date '{}' must be greater than Start Date", trim(&end)),
        );
        return Ok(());
    }
    env.core.give(end);
    if end_day == first_day {
        return Err(Thrown::new(
            "java.lang.IllegalArgumentException",
            "bound must be greater than origin",
        ));
    }
    let drawn = first_day + env.core.random.below((end_day - first_day) as u64) as i64;
    let drawn = Timestamp::from_second(drawn * 86_400)
        .map(|instant| Offset::UTC.to_datetime(instant).date());
    print(&pattern, &Moment::day(drawn.unwrap_or(today)), out)?;
    call.store(4, env, &out[start..])
}

/// Returns the day of a date, in days since 1970; 0 if the date is invalid.
fn day(pattern: &Pattern, text: &str, today: Date, env: &Env<'_>) -> i64 {
    match pattern.read(text, Defaults::Day { year: today.year() }).and_then(|read| read.date) {
        Some(date) => epoch_day(date),
        None => {
            env.shared.log(Level::Error, format!("Failed to parse Date '{text}'"));
            0
        }
    }
}

/// Returns a compiled pattern. If the pattern is invalid, logs this and returns `None`.
fn known(format: &str, env: &mut Env<'_>) -> Option<Arc<Pattern>> {
    let pattern = env.core.cache.pattern(format);
    pattern
        .inspect_err(|words| {
            env.shared
                .log(Level::Error, format!("Format date pattern '{format}' is invalid: {words}"));
        })
        .ok()
}

fn print(pattern: &Pattern, moment: &Moment<'_>, out: &mut String) -> Outcome {
    pattern
        .format(moment, out)
        .map_err(|words| Thrown::new("java.time.temporal.UnsupportedTemporalTypeException", words))
}

fn now(env: &Env<'_>) -> Timestamp {
    Timestamp::from_millisecond(env.now_ms()).unwrap_or_default()
}

/// Returns an error for languages other than English.
pub(super) fn check_locale(args: &[Template]) -> Option<String> {
    // With four parameters there is no locale; the last parameter is the variable.
    let locale = args.get(3).filter(|_| args.len() == 5)?.fixed().map(trim)?;
    (!locale.is_empty() && !locale.starts_with("en"))
        .then(|| format!("dates are formatted in English, not in the language of {locale}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_java_reads_them() {
        let seconds = |text: &str| duration(text).map(|found| found.as_millis());
        for (text, ms) in [
            ("P1D", 86_400_000),
            ("p1dt1h", 90_000_000),
            ("-P1D", -86_400_000),
            ("P-1D", -86_400_000),
            ("-PT-1S", 1_000),
            ("PT1.5S", 1_500),
            ("PT-1.5S", -1_500),
            ("PT-0.5S", -500),
            ("PT1,25S", 1_250),
            ("+PT2M3S", 123_000),
        ] {
            assert_eq!(seconds(text), Some(ms), "{text}");
        }
        for text in [
            "", "P", "PT", "P1DT", "1D", "P1M", "P1H", "PT1D", "PT1S1M", "PT1.5M", "P1D1D",
            "PT 1S", "P1W", "-", "PTS",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
