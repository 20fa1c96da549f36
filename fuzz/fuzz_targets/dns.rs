//! Fuzzes responses of name servers: no panic, no endless loop, and no result for another name.
//!
//! Input: a byte that selects UDP or TCP, and a message.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::dns::{Answer, Name, ask, read};

fuzz_target!(|data: &[u8]| {
    let [pick, message @ ..] = data else { return };
    let name = Name::new("www.test").expect("a name");
    let id = message.first_chunk::<2>().map_or(7, |bytes| u16::from_be_bytes(*bytes));
    match read(id, &name, message, pick & 1 == 0) {
        Ok(Answer::Addresses(all)) => assert!(!all.is_empty()),
        Ok(Answer::Alias(target)) => {
            assert!(target.to_string().ends_with('.'));
            let mut out = Vec::new();
            ask(id, &target, &mut out);
            assert!(out.len() <= 12 + 255 + 4);
        }
        Ok(Answer::Truncated) => assert!(pick & 1 == 1),
        Ok(Answer::NotOurs) => panic!("the number is that of the message"),
        Ok(Answer::Nothing) | Err(_) => {}
    }
    let text = String::from_utf8_lossy(message);
    if let Some(name) = Name::new(&text) {
        assert!(name.labels() <= 128);
    }
});
