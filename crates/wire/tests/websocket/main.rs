//! The WebSocket codec through its public interface: cases of a conformance suite as tables, split at every boundary,
//! and the tungstenite library as the peer.

mod compression;
mod conformance;
mod oracle;
mod script;
mod utf8;
