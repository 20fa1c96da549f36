//! WebSocket (RFC 6455, RFC 7692): frames, the opening handshake, compression, and the strict reassembly of messages.
//!
//! [`head`] reads one frame and [`push_frame`] writes one: functions without state, for callers that treat each frame
//! as it comes. [`message`] is for callers that want whole messages and enforced rules. Nothing here holds a buffer while nothing
//! is unfinished.

pub mod close;
pub mod deflate;
mod extension;
pub mod frame;
pub mod handshake;
pub mod mask;
pub mod message;
pub mod session;
mod utf8;

pub use frame::{Error, Head, Opcode, head, push_frame, push_head};
pub use mask::apply_mask;
