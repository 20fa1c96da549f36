//! Sans-I/O codecs for the client side of protocols: bytes in, events out, no sockets and no clock.
//!
//! * [`http1`] reads responses without copying them.
//! * [`coding`] undoes content codings, [`charset`] finds the charset of a body.
//! * [`cookie`] keeps a user's cookies, [`cache`] its cached responses.
//! * [`dns`] asks for addresses of names.
//! * [`auth`] answers challenges for credentials.
//! * [`websocket`] reads and writes frames and messages, and checks the opening handshake.
//! * [`session`] is the shape of a protocol on a connection; [`stream`] is the plainest of them.
//! * [`nats`] reads what a NATS server sends.
//! * [`redis`] sends commands and reads answers of RESP2; [`sse`] reads the events of a response that stays open.
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
