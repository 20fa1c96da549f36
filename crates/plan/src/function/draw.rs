//! Functions with random values: `__Random`, `__RandomString`, `__UUID`. The functions use the core's generator.

use std::fmt::Write;

use lang::work;

use super::{Call, trim};
use crate::env::Env;
use crate::random::Random;
use crate::template::{Outcome, Thrown};

/// Maximum length of a random string. Longer strings also exceed Java's default heap.
const LONGEST: i32 = 1 << 28;
/// Number of characters drawn between two checks of the work limit.
const PART: u32 = 4096;

const ILLEGAL: &str = "java.lang.IllegalArgumentException";

/// Runs `__Random(least, most, variable)`; the range includes both bounds.
pub(super) fn number(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let (least, most) = (bound(call, 0, env)?, bound(call, 1, env)?);
    let end = most.wrapping_add(1);
    if least >= end {
        return Err(Thrown::new(ILLEGAL, "bound must be greater than origin"));
    }
    let value = least.wrapping_add(env.core.random.below(end.wrapping_sub(least) as u64) as i64);
    let start = out.len();
    let _ = write!(out, "{value}");
    call.store(2, env, &out[start..])
}

fn bound(call: &Call, n: usize, env: &mut Env<'_>) -> Result<i64, Thrown> {
    if let Some(number) = call.args()[n].fixed().and_then(|text| trim(text).parse().ok()) {
        return Ok(number);
    }
    let text = call.arg(n, env)?;
    let number = trim(&text).parse().map_err(|_| Thrown::not_a_number(trim(&text)))?;
    env.core.give(text);
    Ok(number)
}

/// Runs `__RandomString(length, characters, variable)`.
///
/// Without a list of characters, JMeter draws from all assigned Unicode characters; this function draws letters and
/// digits of all scripts.
pub(super) fn string(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let length = call.arg(0, env)?;
    let count: i32 = length.parse().map_err(|_| Thrown::not_a_number(&length))?;
    env.core.give(length);
    let characters = call.arg(1, env)?;
    let from = trim(&characters);
    if count < 0 {
        return Err(Thrown::new(
            ILLEGAL,
            format!("Requested random string length {count} is less than 0."),
        ));
    }
    if count > LONGEST {
        return Err(Thrown::new("java.lang.OutOfMemoryError", "Java heap space"));
    }
    let start = out.len();
    let made = draw(&mut env.core.random, from, count as u32, out);
    env.core.give(characters);
    made?;
    call.store(2, env, &out[start..])
}

/// Appends random characters of `from`, or of all scripts if `from` is empty.
fn draw(random: &mut Random, from: &str, count: u32, out: &mut String) -> Outcome {
    // Picking a character of a string that is not ASCII requires a scan of the string.
    let known = from.chars().count();
    let cost = match from {
        // Most drawn code points are not letters and are drawn again.
        "" => 32,
        from if from.is_ascii() => 1,
        from => 4 + from.len(),
    };
    let mut left = count;
    while left > 0 {
        let part = left.min(PART);
        if !work::spend_bytes(part as usize * cost) {
            return Err(Thrown::too_much());
        }
        if from.is_empty() {
            any_letters(random, part, out);
        } else if from.is_ascii() {
            let bytes = from.as_bytes();
            out.extend((0..part).map(|_| char::from(bytes[random.below(known as u64) as usize])));
        } else {
            out.extend(
                (0..part).filter_map(|_| from.chars().nth(random.below(known as u64) as usize)),
            );
        }
        left -= part;
    }
    Ok(())
}

/// Appends random letters and digits of all scripts. `units` is their total length in UTF-16 units, which Java
/// counts.
fn any_letters(random: &mut Random, mut units: u32, out: &mut String) {
    while units > 0 {
        let drawn = char::from_u32(random.below(0x11_0000) as u32);
        let Some(letter) = drawn.filter(|c| c.is_alphanumeric() && c.len_utf16() as u32 <= units)
        else {
            continue;
        };
        units -= letter.len_utf16() as u32;
        out.push(letter);
    }
}

/// Runs `__UUID()`; the UUID has version 4.
pub(super) fn uuid(_: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    write_uuid(env, out);
    Ok(())
}

/// Appends a random UUID.
pub(crate) fn write_uuid(env: &mut Env<'_>, out: &mut String) {
    let (high, low) = (env.core.random.bits(), env.core.random.bits());
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    let _ = write!(
        out,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    );
}
