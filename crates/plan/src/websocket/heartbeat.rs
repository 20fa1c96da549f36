//! A heartbeat that the engine sends on a connection, whatever its user is doing.
//!
//! In a plan, the heartbeat is a Simple Config Element with properties of Throng, which JMeter loads, shows and
//! ignores. The heartbeat applies to the samplers in its scope that open a connection; if several are in scope, the
//! nearest applies.

use jmx::ElementId;

use crate::compile::{Context, scope};
use crate::env::Env;
use crate::template::Template;

/// Prefix of the property names of a heartbeat.
pub(super) const PREFIX: &str = "throng.websocket.heartbeat.";

/// Properties of a heartbeat and their defaults.
const PROPERTIES: [(&str, &str); 5] = [
    ("interval_ms", "60000"),
    ("jitter_ms", "0"),
    ("payload", ""),
    ("missed", "0"),
    ("reply_to_ping", "true"),
];

/// Index of a heartbeat in [`Plan::heartbeats`](crate::plan::Plan::heartbeats).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeartbeatId(pub u32);

/// A compiled heartbeat.
#[derive(Debug)]
pub struct Heartbeat {
    texts: [Template; PROPERTIES.len()],
}

/// Settings of a heartbeat, evaluated once per run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatSettings {
    /// Interval between heartbeats in milliseconds, counted from the upgrade; 0 means no heartbeats.
    pub interval_ms: u32,
    /// Maximum random addition to the interval in milliseconds, drawn anew for each heartbeat.
    pub jitter_ms: u32,
    /// Payload of a text frame; `None` means a ping frame without payload.
    pub payload: Option<Vec<u8>>,
    /// Number of consecutive unanswered heartbeats after which the connection ends; 0 means no limit. A pong answers a
    /// ping; any message answers a text frame.
    pub missed: u32,
    /// True if the server's pings are answered while no sampler reads.
    pub reply_to_ping: bool,
}

/// Compiles a Simple Config Element with [heartbeat properties](is_one).
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<Heartbeat> {
    let texts =
        PROPERTIES.map(|(name, default)| ctx.prop_or(id, &format!("{PREFIX}{name}"), default));
    Some(Heartbeat { texts })
}

/// True if the element is a heartbeat.
pub(crate) fn is_one(ctx: &Context<'_>, id: ElementId) -> bool {
    scope::class(ctx.doc, id) == "ConfigTestElement"
        && ctx.props(id).iter().any(|prop| prop.name.starts_with(PREFIX))
}

/// True if a heartbeat has a property with this name.
pub(super) fn knows(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|name| PROPERTIES.iter().any(|(known, _)| *known == name))
}

impl Heartbeat {
    /// Evaluates the settings of the heartbeat.
    pub fn settings(&self, env: &mut Env<'_>) -> Result<HeartbeatSettings, String> {
        let [interval, jitter, payload, missed, reply] = &self.texts;
        let mut number = |text: &Template, at: usize| {
            text.parsed(env, |text| match text.trim().parse::<u32>() {
                Ok(number) => Ok(number),
                Err(_) if text.trim().is_empty() => Ok(0),
                Err(_) => Err(format!("{PREFIX}{} is not a number: {text}", PROPERTIES[at].0)),
            })
        };
        let (interval_ms, jitter_ms, missed) =
            (number(interval, 0)?, number(jitter, 1)?, number(missed, 3)?);
        let reply_to_ping = reply.parsed(env, |text| text.trim().eq_ignore_ascii_case("true"));
        let payload =
            payload.parsed(env, |text| (!text.is_empty()).then(|| text.as_bytes().to_vec()));
        Ok(HeartbeatSettings { interval_ms, jitter_ms, payload, missed, reply_to_ping })
    }
}
