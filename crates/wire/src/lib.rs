//! Sans-I/O codecs for the client side of protocols: bytes in, events out, no sockets and no clock.
//!
//! * [`http1`] parses HTTP/1 responses without copying them.
//! * [`coding`] decodes content codings, [`charset`] finds the charset of a body.
//! * [`cookie`] stores the cookies of a user, [`cache`] the metadata of cached responses.
//! * [`dns`] writes and parses messages for address lookups.
//! * [`auth`] answers authentication challenges.
//! * [`websocket`] reads and writes frames and messages, and checks the opening handshake.
//! * [`session`] is the trait of a protocol on a connection; [`stream`] is its simplest implementation.
//! * [`nats`] parses the operations of a NATS server.
//! * [`redis`] sends commands and parses replies of RESP2; [`sse`] parses the events of a response that stays open.
//! * [`tls`] drives one TLS connection over buffers that the caller owns.

pub mod auth;
pub mod cache;
pub mod charset;
pub mod coding;
pub mod cookie;
pub mod dns;
pub mod http1;
pub mod nats;
pub mod redis;
pub mod session;
pub mod sse;
pub mod stream;
pub mod tls;
pub mod websocket;
