//! Replies of a Java machine: whatever it sends is read or refused, in words, without more memory than it sent.
//!
//! Input: the number of the act, the reply.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [act, reply @ ..] = data else { return };
    if let Err(words) = engine::read_reply(reply, act % 20) {
        assert!(!words.is_empty() || reply.first() == Some(&1));
    }
});
