//! Settings that all WebSocket services share, read once at the start.

use crate::config::{Config, bad};
use crate::error::Error;

/// The way in which a connection is cut if its peer was silent for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Cut the connection with a close frame with code 4008.
    Close,
    /// Cut the connection with FIN and no close frame, like a proxy.
    Fin,
    Reset,
}

/// Handling of a connection whose peer does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slow {
    /// A connection is reset if more than `unsent` bytes are queued for its peer.
    Drop,
    /// Unsent bytes are queued without a limit.
    Wait,
}

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Time without data from the peer after which a connection is cut, in milliseconds; 0 for never.
    pub(crate) idle_ms: u32,
    pub(crate) cut: Cut,
    /// Maximum length of a received message in bytes.
    pub(crate) limit: u32,
    pub(crate) compression: bool,
    /// Maximum length in bytes of each frame of a sent message; 0 sends every message in one frame.
    pub(crate) fragment: usize,
    /// Supported subprotocols; if empty, any requested one is accepted.
    pub(crate) protocols: Vec<String>,
    pub(crate) slow: Slow,
    /// Maximum number of bytes queued for a slow peer, with [`Slow::Drop`].
    pub(crate) unsent: usize,
}

impl Settings {
    /// Reads the options that this target has; settings without an option keep their defaults.
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
