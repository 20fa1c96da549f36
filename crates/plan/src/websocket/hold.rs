//! A hold: keeps the connection for a while and counts the messages that come.
//!
//! In a plan it is a Flow Control Action that pauses, with a Simple Config Element below it that has properties of ours:
//! JMeter pauses, this program listens and makes a sample named as the action. Hot: each message of a held
//! connection is looked at, without allocating once warm.

use std::ops::ControlFlow;

use jmx::ElementId;

use crate::compile::{Context, scope};
use crate::env::Env;
use crate::pattern::Pattern;
use crate::template::Template;

/// The beginning of the names of its properties.
pub(super) const PREFIX: &str = "throng.websocket.hold.";

const PROPERTIES: [&str; 5] = ["until_messages", "least_messages", "match", "time", "time_unit"];

/// A compiled hold.
#[derive(Debug)]
pub struct Hold {
    duration: Template,
    until: Template,
    least: Template,
    pattern: Option<Pattern>,
    time: Option<Pattern>,
    unit: Template,
}

/// A hold's settings, evaluated at the start of its sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldSettings {
    /// How long it holds, milliseconds.
    pub duration_ms: u64,
    /// It ends when this many messages have counted; 0: it ends by time alone.
    pub until_messages: u64,
    /// With fewer messages the sample has failed.
    pub least_messages: u64,
    /// Nanoseconds in a unit of the times in messages.
    pub unit_ns: u64,
}

/// The meaning of a message to a hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// It counts.
    pub counts: bool,
    /// When it was sent by its own words, nanoseconds since 1970; only of messages that count.
    pub sent_ns: Option<i64>,
}

/// The element below an action that makes it a hold.
pub(super) fn settings_below(ctx: &Context<'_>, id: ElementId) -> Option<ElementId> {
    scope::children(ctx.doc, id).into_iter().find(|child| is_one(ctx, *child))
}

/// Whether an element holds settings of a hold.
pub(super) fn is_one(ctx: &Context<'_>, id: ElementId) -> bool {
    scope::class(ctx.doc, id) == "ConfigTestElement"
        && ctx.props(id).iter().any(|prop| prop.name.starts_with(PREFIX))
}

/// Whether a hold has a property of that name.
pub(super) fn knows(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|name| PROPERTIES.contains(&name))
}

/// Compiles the hold that an action and the element below it make up.
pub(super) fn compile(ctx: &mut Context<'_>, action: ElementId, id: ElementId) -> Hold {
    let property = |name: &str| format!("{PREFIX}{name}");
    let pattern = |ctx: &mut Context<'_>, name: &str| {
        let source = ctx.props(id).str(&property(name)).filter(|source| !source.is_empty())?;
        let pattern = Pattern::compile(source, &mut ctx.text);
        ctx.settle(id);
        if let Pattern::Fixed(_, Err(malformed)) = &pattern {
            let message = format!("{}: {}", property(name), malformed.reason);
            ctx.warn(id, "cannot-work", message, "no message will count; correct the pattern");
        }
        Some(pattern)
    };
    Hold {
        duration: ctx.prop(action, "ActionProcessor.duration"),
        until: ctx.prop(id, &property("until_messages")),
        least: ctx.prop(id, &property("least_messages")),
        pattern: pattern(ctx, "match"),
        time: pattern(ctx, "time"),
        unit: ctx.prop_or(id, &property("time_unit"), "ms"),
    }
}

impl Hold {
    /// Evaluates the settings.
    pub fn settings(&self, env: &mut Env<'_>) -> Result<HoldSettings, String> {
        let mut number = |text: &Template, what: &str| {
            text.parsed(env, |text| match text.trim().parse::<u64>() {
                Ok(number) => Ok(number),
                Err(_) if text.trim().is_empty() => Ok(0),
                Err(_) => Err(format!("{what} is not a number: {text}")),
            })
        };
        let duration_ms = number(&self.duration, "the duration of the pause")?;
        let until_messages = number(&self.until, "throng.websocket.hold.until_messages")?;
        let least_messages = number(&self.least, "throng.websocket.hold.least_messages")?;
        let unit_ns = self.unit.parsed(env, |unit| match unit.trim() {
            "s" => Ok(1_000_000_000),
            "ms" | "" => Ok(1_000_000),
            "us" => Ok(1_000),
            "ns" => Ok(1),
            other => {
                Err(format!("throng.websocket.hold.time_unit is s, ms, us or ns, not {other}"))
            }
        })?;
        Ok(HoldSettings { duration_ms, until_messages, least_messages, unit_ns })
    }

    /// Looks at a data message. Patterns see its payload as text; one that is no UTF-8 matches none.
    pub fn hear(&self, payload: &[u8], settings: &HoldSettings, env: &mut Env<'_>) -> Heard {
        if self.pattern.is_none() && self.time.is_none() {
            return Heard { counts: true, sent_ns: None };
        }
        let text = std::str::from_utf8(payload).ok();
        let counts = self.pattern.as_ref().is_none_or(|pattern| {
            text.is_some_and(|text| {
                pattern
                    .with(env, |pattern, _| pattern.is_ok_and(|pattern| pattern.is_found_in(text)))
            })
        });
        let sent_ns = match (&self.time, text) {
            (Some(time), Some(text)) if counts => {
                time.with(env, |time, _| sent_at(time.ok()?, text, settings.unit_ns))
            }
            _ => None,
        };
        Heard { counts, sent_ns }
    }
}

/// The time in the first group of the first match; fractions of the unit count.
fn sent_at(pattern: &lang::regexp::Regexp, text: &str, unit_ns: u64) -> Option<i64> {
    let mut found = None;
    pattern.each(text, |at| {
        found = at.group(1).and_then(|digits| nanos(digits, unit_ns));
        ControlFlow::Break(())
    });
    found
}

/// A decimal number of units in nanoseconds, without rounding through floating point.
fn nanos(digits: &str, unit_ns: u64) -> Option<i64> {
    let (whole, part) = digits.trim().split_once('.').unwrap_or((digits.trim(), ""));
    let mut total = i128::from(whole.parse::<i64>().ok()?) * i128::from(unit_ns);
    let mut step = i128::from(unit_ns);
    for digit in part.chars() {
        step /= 10;
        total += i128::from(digit.to_digit(10)?) * step;
    }
    i64::try_from(total).ok()
}
