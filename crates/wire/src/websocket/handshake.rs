//! The opening handshake (RFC 6455, section 4): keys, what a server answered, what a client asked.
//!
//! Both readers work on the bytes received so far and keep nothing: called again with more bytes they begin again, which costs
//! little, for a head is bounded by [`LIMIT`] and usually comes in one piece. Nothing is copied and nothing allocated but in a
//! refusal.

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

/// Bytes that a head may have, its empty line included.
pub const LIMIT: usize = 64 * 1024;

/// The constant that RFC 6455 appends to the key.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// `Sec-WebSocket-Key` from sixteen random bytes.
pub fn key(random: [u8; 16]) -> [u8; 24] {
    let mut key = [0; 24];
    encode(&random, &mut key);
    key
}

/// `Sec-WebSocket-Accept` for a key as it was sent.
pub fn accept(key: &[u8]) -> [u8; 28] {
    // A key of the length that every client sends needs no allocation.
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

/// Base64 of bytes that fill `out` exactly.
fn encode(bytes: &[u8], out: &mut [u8]) {
    let written = STANDARD.encode_slice(bytes, out);
    debug_assert!(written.is_ok(), "the sizes are constants of the protocol");
}
