//! Fuzzes responses passed to the HTTP cache: no panic, never too many entries, and no fresh entry if expiry is
//! disabled.
//!
//! Input: a byte that selects the rules, then response heads separated by empty lines.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::cache::Cache;

const NOW: i64 = 1_700_000_000_000;
const URLS: [&str; 3] = ["http://host/", "http://host/a", "https://host/"];
const LINES: &[u8] = b"Accept: a\r\nAccept-Language: de\r\n";

fuzz_target!(|data: &[u8]| {
    let [pick, texts @ ..] = data else { return };
    let (most, expires) = (usize::from(pick % 4), pick & 64 == 0);
    let mut cache = Cache::new(most);
    let text = String::from_utf8_lossy(texts);
    for (n, head) in text.split("\n\n").enumerate() {
        let url = URLS[n % URLS.len()];
        let head = format!("HTTP/1.1 200 OK\n{head}");
        let _ = cache.note(url, head.as_bytes(), LINES, expires, NOW);
        assert!(cache.len() <= most);
        let fresh = cache.is_fresh(url, &[LINES], NOW);
        assert!(expires || !fresh);
        let _ = cache.conditions(url, &[LINES, b"Cookie: a=b\r\n"]);
    }
});
