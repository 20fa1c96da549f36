//! Settings that all WebSocket services share, read once at the start.

use crate::config::{Config, bad};
use crate::error::Error;

/// How a connection is cut that was silent for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A close frame with code 4008.
    Close,
    /// The end of the stream without a close frame, as a proxy does it.
    Fin,
    Reset,
}

/// Handling of a connection whose peer does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slow {
    /// It is reset when more than `unsent` bytes wait for it.
    Drop,
    /// Everything is kept for it.
    Wait,
}

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Silence after which a connection is cut, in milliseconds; 0: never.
    pub(crate) idle_ms: u32,
    pub(crate) cut: Cut,
    /// Largest message taken, in bytes.
    pub(crate) limit: u32,
    pub(crate) compression: bool,
    /// Bytes in each frame of a message sent; 0: all in one.
    pub(crate) fragment: usize,
    /// Subprotocols that are spoken; empty: whatever is asked for.
    pub(crate) protocols: Vec<String>,
    pub(crate) slow: Slow,
    /// Bytes that may wait for a slow reader.
    pub(crate) unsent: usize,
}

impl Settings {
    /// With the options that the target has; the others stay at their defaults.
    pub(crate) fn read(config: &Config, idle_ms: u32) -> Result<Self, Error> {
        let cut = match config.text("cut").unwrap_or("close") {
            "close" => Cut::Close,
            "fin" => Cut::Fin,
            "rst" => Cut::Reset,
            other => return Err(bad("cut", other, "there are close, fin and rst")),
        };
        let slow = match config.text("slow").unwrap_or("drop") {
            "drop" => Slow::Drop,
            "wait" => Slow::Wait,
            other => return Err(bad("slow", other, "there are drop and wait")),
        };
        let protocols = config.text("protocols").unwrap_or_default().split(',').map(str::trim);
        Ok(Self {
            idle_ms,
            cut,
            limit: config.read("limit", 1 << 24)?,
            compression: config.read("compression", false)?,
            fragment: config.read("fragment", 0)?,
            protocols: protocols.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            slow,
            unsent: config.read("unsent", 1 << 20)?,
        })
    }
}
