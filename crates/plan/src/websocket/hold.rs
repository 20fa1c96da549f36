//! A hold sampler: keeps a connection open for a time and counts the received messages.
//!
//! In a plan, a hold sampler is a Flow Control Action that pauses and has a Simple Config Element with properties of
//! Throng as a child. JMeter only pauses; Throng receives messages and produces a sample with the action's name. Each
//! message on the connection is checked, without allocations after the first messages.

use std::ops::ControlFlow;

use jmx::ElementId;

use crate::compile::{Context, scope};
use crate::env::Env;
use crate::pattern::Pattern;
use crate::template::Template;

/// Prefix of the property names of a hold sampler.
pub(super) const PREFIX: &str = "throng.websocket.hold.";

const PROPERTIES: [&str; 5] = ["until_messages", "least_messages", "match", "time", "time_unit"];

/// A compiled hold sampler.
#[derive(Debug)]
pub struct Hold {
    duration: Template,
    until: Template,
    least: Template,
    pattern: Option<Pattern>,
    time: Option<Pattern>,
    unit: Template,
}

/// Settings of a hold sampler, evaluated when its sample starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldSettings {
    /// Duration of the hold in milliseconds.
    pub duration_ms: u64,
    /// Number of counted messages after which the hold ends; 0 means that it ends only by time.
    pub until_messages: u64,
    /// Minimum number of messages; with fewer messages the sample fails.
    pub least_messages: u64,
    /// Length in nanoseconds of the unit in which messages state times.
    pub unit_ns: u64,
}

/// Result of checking a message of a hold sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldMatch {
    /// True if the hold counts the message.
    pub counts: bool,
    /// Send time according to the message, in nanoseconds since 1970; set only for messages that count.
    pub sent_ns: Option<i64>,
}

/// Returns the Simple Config Element below a Flow Control Action that makes the action a hold sampler.
pub(super) fn settings_below(ctx: &Context<'_>, id: ElementId) -> Option<ElementId> {
    scope::children(ctx.doc, id).into_iter().find(|child| is_one(ctx, *child))
}

/// True if the element is a Simple Config Element with properties of a hold sampler.
pub(super) fn is_one(ctx: &Context<'_>, id: ElementId) -> bool {
    scope::class(ctx.doc, id) == "ConfigTestElement"
        && ctx.props(id).iter().any(|prop| prop.name.starts_with(PREFIX))
}

/// True if a hold sampler has a property with this name.
pub(super) fn knows(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|name| PROPERTIES.contains(&name))
}

/// Compiles a hold sampler from a Flow Control Action and the Simple Config Element with its settings.
pub(super) fn compile(ctx: &mut Context<'_>, action: ElementId, id: ElementId) -> Hold {
    let property = |name: &str| format!("{PREFIX}{name}");
    let pattern = |ctx: &mut Context<'_>, name: &str| {
        let source = ctx.props(id).str(&property(name)).filter(|source| !source.is_empty())?;
        let pattern = Pattern::compile(source, &mut ctx.text);
        ctx.settle(id);
        if let Pattern::Fixed(_, Err(malformed)) = &pattern {
            let message = format!("{}: {}", property(name), malformed.reason);
            ctx.warn(id, "cannot-work", message, "it matches no message; correct the pattern");
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
    /// Evaluates the settings of the hold sampler.
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
                Err(format!("throng.websocket.hold.time_unit must be s, ms, us or ns, not {other}"))
            }
        })?;
        Ok(HoldSettings { duration_ms, until_messages, least_messages, unit_ns })
    }

    /// Checks a data message: applies the patterns to its payload as a string. A payload that is not UTF-8 matches no
    /// pattern.
    pub fn check(&self, payload: &[u8], settings: &HoldSettings, env: &mut Env<'_>) -> HoldMatch {
        if self.pattern.is_none() && self.time.is_none() {
            return HoldMatch { counts: true, sent_ns: None };
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
        HoldMatch { counts, sent_ns }
    }
}

/// Returns the send time that a message contains, in nanoseconds since 1970: the first group of the pattern's first
/// match, as a decimal number of units.
fn sent_at(pattern: &lang::regexp::Regexp, text: &str, unit_ns: u64) -> Option<i64> {
    let mut found = None;
    pattern.each(text, |at| {
        found = at.group(1).and_then(|digits| nanos(digits, unit_ns));
        ControlFlow::Break(())
    });
    found
}

/// Converts a decimal number of units to nanoseconds, without floating-point rounding.
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
