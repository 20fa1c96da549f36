//! Fuzzes the bundled mobile gateway: every request gets one well-formed answer with a result code, without a panic. A
//! request that needs decryption is never accepted without its key.
//!
//! Input: a byte of flags (the gateway's settings; whole request or body only), then the request.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use targets::Config;

type Gateway = Box<dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// Time of the requests that targets/tests/mgs/record creates, in milliseconds since 1970.
const CLOCK: u64 = 1_662_430_824_846;

static GATEWAYS: LazyLock<[Gateway; 4]> = LazyLock::new(|| {
    let settings: [&[(&str, &str)]; 4] = [
        &[("digest", "none")],
        &[
            ("digest", "none"),
            ("gzip", "false"),
            ("iv", "sent"),
            ("sm2", "c1c2c3"),
            ("rsa", "oaep-sha1"),
        ],
        &[
            ("digest", "none"),
            ("kdf", "x963-sm3"),
            ("shared", "xy"),
            ("iv", "derived"),
            ("aes", "256"),
        ],
        &[("forwarded", "true"), ("pin", "ip_hash"), ("backends", "3"), ("session", "sid")],
    ];
    settings.map(|settings| {
        let base = Config::new("mgs").option("clock", CLOCK).option("inflated", 1 << 16);
        let config = settings.iter().fold(base, |config, (key, value)| config.option(*key, value));
        Box::new(targets::gateway(&config).expect("settings that fit")) as Gateway
    })
});

fuzz_target!(|data: &[u8]| {
    let [flags, rest @ ..] = data else { return };
    let gateway = &GATEWAYS[usize::from(flags & 3)];
    let body_alone = flags & 4 != 0;
    let answer = if body_alone {
        let encrypted = if flags & 8 != 0 { "x-mgs-encryption: 1\r\n" } else { "" };
        let length = rest.len();
        let head = format!(
            "POST /mgw.htm HTTP/1.1\r\nOperation-Type: a\r\n{encrypted}Content-Length: {length}\r\n\r\n"
        );
        Some(gateway(&[head.as_bytes(), rest].concat()).expect("a whole request"))
    } else {
        gateway(rest)
    };
    let Some(answer) = answer else { return };
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("the end of the head");
    let head = std::str::from_utf8(&answer[..end]).expect("a head of text");
    assert!(head.starts_with("HTTP/1.1 "), "{head}");
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let length: usize =
        value("Content-Length: ").and_then(|text| text.parse().ok()).expect("a length");
    assert_eq!(answer.len(), end + 4 + length);
    let Some(code) = value("Result-Status: ") else {
        assert!(!body_alone, "{head}");
        return;
    };
    assert!(code == "1000" || length == 0, "{code} has a body");
});
