//! The opening handshake (RFC 6455, section 4): keys, the server's answer, the client's request.
//!
//! Both parsers are stateless and work on the bytes received so far. When more bytes arrive, the parsers start from the
//! beginning. This is cheap, because a head is bounded by [`LIMIT`] and usually arrives in one piece. Only a refusal
//! copies or allocates.

mod answer;
mod line;
mod request;

#[cfg(test)]
mod tests;

pub use super::extension::Deflate;
pub use answer::{Answer, Refusal, answer, answer_at_end, proxy_answer};
pub use request::{NoUpgrade, Request, RequestError, push_answer, request};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Maximum length of an HTTP head in the opening handshake in bytes, including its empty line.
pub const LIMIT: usize = 64 * 1024;

/// The constant that RFC 6455 appends to the `Sec-WebSocket-Key`.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Encodes sixteen random bytes as a `Sec-WebSocket-Key`.
pub fn key(random: [u8; 16]) -> [u8; 24] {
    let mut key = [0; 24];
    encode(&random, &mut key);
    key
}

/// Computes the value of `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` in the form in which it was sent.
pub fn accept(key: &[u8]) -> [u8; 28] {
    // Fast path without allocation for a `Sec-WebSocket-Key` of the usual length.
    let mut text = [0; 24 + GUID.len()];
    let hash = if key.len() == 24 {
        text[..24].copy_from_slice(key);
        text[24..].copy_from_slice(GUID);
        digest(&SHA1_FOR_LEGACY_USE_ONLY, &text)
    } else {
        digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key, GUID].concat())
    };
    let mut accept = [0; 28];
    encode(hash.as_ref(), &mut accept);
    accept
}

/// Encodes bytes as base64 into `out`, whose length must match exactly.
fn encode(bytes: &[u8], out: &mut [u8]) {
    let written = STANDARD.encode_slice(bytes, out);
    debug_assert!(written.is_ok(), "the sizes are constants of the protocol");
}
