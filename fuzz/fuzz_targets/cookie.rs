//! Fuzzes cookies: no panic, no header that ends early, and no two cookies with the same name, domain and path.
//!
//! Input: a byte that selects policy and rules, then one `Set-Cookie` value per line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::cookie::{Jar, Origin, Policy, Rules};

const POLICIES: [Policy; 7] = [
    Policy::Standard,
    Policy::Strict,
    Policy::Netscape,
    Policy::Compatibility,
    Policy::Ignore,
    Policy::Rfc2109,
    Policy::Rfc2965,
];
const ORIGINS: [Origin; 3] = [
    Origin { host: "www.example.com", path: "/a/b", secure: true },
    Origin { host: "example.com", path: "/", secure: false },
    Origin { host: "10.0.0.1", path: "", secure: false },
];
const NOW: i64 = 1_700_000_000_000;

fuzz_target!(|data: &[u8]| {
    let [pick, texts @ ..] = data else { return };
    let policy = POLICIES[usize::from(*pick) % POLICIES.len()];
    let rules = Rules {
        policy,
        check: pick & 32 == 0,
        delete_empty: pick & 64 == 0,
        drop_expired: pick & 128 != 0,
    };
    let mut jar = Jar::with_rules(rules);
    for (i, text) in texts.split(|&b| b == b'\n').enumerate() {
        let _ = jar.store(&ORIGINS[i % ORIGINS.len()], text, NOW, |_| ());
    }
    let mut out = Vec::new();
    for origin in &ORIGINS {
        out.clear();
        assert_eq!(jar.header(origin, NOW, &mut out), !out.is_empty());
        assert!(!out.iter().any(|b| matches!(b, b'\r' | b'\n')));
    }
    let cookies: Vec<_> = jar.iter().map(|c| (&c.name, &c.domain, &c.path)).collect();
    for (i, cookie) in cookies.iter().enumerate() {
        assert!(!cookie.0.is_empty() && !cookies[i + 1..].contains(cookie));
    }
});
