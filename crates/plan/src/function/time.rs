//! Functions on dates: `__time`.
//!
//! Patterns are those of Java's `DateTimeFormatter` in English; they are read once per core and kept.

use std::fmt::Write;

use jiff::Timestamp;

use super::java_date::Moment;
use super::{Call, trim};
use crate::env::Env;
use crate::text::{Outcome, Thrown};

/// `__time(format, variable)`: milliseconds if there is no format.
pub(super) fn time(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let format = call.arg(0, env)?;
    if format.is_empty() {
        let _ = write!(out, "{}", env.now_ms);
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
    // JMeter looks the aliases up once, so that later writes of these properties do not count.
    let format = match alias {
        Some((property, otherwise)) => trim(env.shared.started_with(property).map_or(otherwise, |value| value)),
        None => format,
    };
    if let Some(digits) = format.strip_prefix('/').filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())) {
        let divisor: i64 = digits.parse().map_err(|_| Thrown::not_a_number(digits))?;
        let Some(value) = env.now_ms.checked_div(divisor) else {
            return Err(Thrown::new("java.lang.ArithmeticException", "/ by zero"));
        };
        let _ = write!(out, "{value}");
        return Ok(());
    }
    let pattern = env.core.cache.pattern(format).map_err(|_| {
        Thrown::new("java.lang.IllegalArgumentException", format!("Unable to parse date format {format}"))
    })?;
    let now = Moment::at(Timestamp::from_millisecond(env.now_ms).unwrap_or_default(), env.shared.zone());
    pattern.format(&now, out).map_err(|words| Thrown::new("java.time.DateTimeException", words))
}
