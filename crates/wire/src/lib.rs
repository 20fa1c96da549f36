//! Sans-I/O codecs for the client side of HTTP and for WebSocket: bytes in, events out, no sockets and no clock.
//!
//! * [`http1`] reads responses without copying them.
//! * [`coding`] undoes content codings, [`charset`] turns a body into text.
//! * [`cookie`] keeps a user's cookies, [`url`] splits and resolves addresses.
//! * [`websocket`] reads and writes frames and messages, and checks the opening handshake.
//! * [`tls`] drives one TLS connection over buffers that the caller owns.

pub mod charset;
pub mod coding;
pub mod cookie;
pub mod http1;
pub mod tls;
pub mod url;
pub mod websocket;
