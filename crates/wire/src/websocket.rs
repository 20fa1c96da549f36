//! WebSocket (RFC 6455, RFC 7692): frames, the opening handshake, compression, and the strict reassembly of messages.
//!
//! A frame on its own is [`head`] to read and [`push_frame`] to write: functions without state, for those who treat each frame
//! as it comes. [`message`] is for those who want whole messages and the rules enforced. Nothing here holds a buffer while nothing
//! is unfinished.

pub mod close;
pub mod deflate;
mod extension;
pub mod frame;
pub mod handshake;
pub mod mask;
pub mod message;
mod utf8;

pub use frame::{Error, Head, Opcode, head, push_frame, push_head};
pub use mask::apply_mask;
