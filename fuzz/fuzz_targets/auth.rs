//! Fuzzes authentication challenges: no panic, and no header that ends early or contains a second header.
//!
//! Input: a byte that selects method and asker, then response heads separated by empty lines.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::auth::{Challenger, Credentials, Dialogue, Message};

fuzz_target!(|data: &[u8]| {
    let [pick, texts @ ..] = data else { return };
    let asker = if pick & 1 == 0 { Challenger::Server } else { Challenger::Proxy };
    let credentials = Credentials::new("domain", "me", "secret");
    let mut dialogue =
        if pick & 2 == 0 { Dialogue::default() } else { Dialogue::preemptive(credentials.clone()) };
    let body = (pick & 4 == 0).then_some(&b"body"[..]);
    let text = String::from_utf8_lossy(texts);
    let mut out = Vec::new();
    for head in text.split("\n\n") {
        let again =
            dialogue.challenged(asker, format!("HTTP/1.1 401\n{head}").as_bytes(), &|realm| {
                (realm != Some("strange")).then(|| credentials.clone())
            });
        if !again && pick & 8 == 0 {
            dialogue.accepted();
        }
        out.clear();
        let message = Message { method: "POST", uri: "/a?b", body, random: [*pick; 8] };
        dialogue.answer(asker, &message, &mut out);
        let ends = out.iter().filter(|byte| matches!(byte, b'\r' | b'\n')).count();
        assert!(out.is_empty() || (ends == 2 && out.ends_with(b"\r\n")));
    }
});
