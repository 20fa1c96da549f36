//! Fuzzes replies of a JVM: each reply is parsed or rejected with a message, and uses no more memory than its
//! length.
//!
//! Input: the number of the operation, then the reply.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [act, reply @ ..] = data else { return };
    if let Err(words) = engine::read_reply(reply, act % 20) {
        assert!(!words.is_empty() || reply.first() == Some(&1));
    }
});
