//! WebSocket (RFC 6455, RFC 7692): frames, the opening handshake, compression, and strict reassembly of messages.
//!
//! [`head`] reads one frame and [`push_frame`] writes one. Both are stateless, for callers that handle each frame on
//! arrival. [`message`] is for callers that need whole messages and enforced rules. No part holds a buffer unless a
//! frame or message is incomplete.

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
