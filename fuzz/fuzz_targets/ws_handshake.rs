//! Fuzzes both sides of the opening handshake: no panic, more bytes never change a result, and the client accepts
//! Throng's answer.
//!
//! Input: a split position, then the head, in which `%ACCEPT%` stands for the correct accept value.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::websocket::handshake::{
    Deflate, accept, answer, answer_at_end, key, proxy_answer, push_answer, request,
};

fuzz_target!(|data: &[u8]| {
    let [cut, head @ ..] = data else { return };
    let key = key([*cut; 16]);
    let head = with_accept(head, &accept(&key));
    let cut = usize::from(*cut) * head.len() / 256;

    let whole = answer(&head, &key);
    let early = answer(&head[..cut], &key);
    assert!(early == Ok(None) || early == whole);
    let ended = answer_at_end(&head, &key);
    match &whole {
        Ok(Some(found)) => {
            assert!(found.size <= head.len() && ended.as_ref() == Ok(found));
            assert_eq!(answer(&head[..found.size], &key), whole);
        }
        Ok(None) => assert!(ended.is_err() || ended.is_ok_and(|found| found.size == head.len())),
        Err(refusal) => assert_eq!(ended.as_ref(), Err(refusal)),
    }
    if let Ok(Some(size)) = proxy_answer(&head) {
        assert!(size <= head.len());
    }

    let Ok(Some(asked)) = request(&head) else { return };
    assert!(asked.size <= head.len());
    assert!(!matches!(request(&head[..asked.size - 1]), Ok(Some(_))));
    let _ = asked.headers().count();
    let deflate = asked.deflate();
    let protocol = asked.protocols().next().filter(|name| !name.contains(&b'\r'));
    if let Ok(asked_key) = asked.upgrade() {
        let own: &[u8; 24] = asked_key.try_into().expect("sixteen bytes in base64 are 24");
        let mut out = Vec::new();
        push_answer(&mut out, asked_key, deflate.as_ref(), protocol);
        let found = answer(&out, own).expect("our answer").expect("all of it");
        assert_eq!((found.size, found.deflate), (out.len(), deflate));
    }
    if let Some(deflate) = deflate {
        let mut value = Vec::new();
        deflate.push(&mut value);
        assert_eq!(Deflate::offered(&value), Some(deflate));
    }
});

fn with_accept(head: &[u8], accept: &[u8]) -> Vec<u8> {
    const MARK: &[u8] = b"%ACCEPT%";
    let Some(at) = head.windows(MARK.len()).position(|window| window == MARK) else {
        return head.to_vec();
    };
    [&head[..at], accept, &head[at + MARK.len()..]].concat()
}
