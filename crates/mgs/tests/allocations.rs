//! With warm buffers, a request allocates nothing: signed, encrypted by key agreement, taken from the cache, or
//! decrypted.

use allocation_counter::measure;
use mgs::{Sealed, Sealer, Settings};

fn sealer(pairs: &[(&str, &str)]) -> Sealer {
    let value = |name: &str| {
        pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string())
    };
    let settings = Settings::read(value).expect("settings").expect("enabled");
    Sealer::new(settings, 1).expect("a sealer")
}

#[test]
fn sealing_and_opening() {
    const ECC: &str = "04d8096af8a11e0b80037e1ee68246b5dcbb0aeb1cf1244fd767db80f3fa27da2b396812ea1686e7472e9692eaf3e958e50e9500d3b4c77243db1f2acd67ba9cc4";
    const SM2: &str = "0409f9df311e5421a150dd7d161e4bc5c672179fad1833fc076bb08ff356f35020ccea490ce26775a52dc6ea718cc1aa600aed05fbf35e084a6632f6072da9ad13";
    let cases: [&[(&str, &str)]; 6] = [
        &[("sign", "md5"), ("secret", "x")],
        &[("sign", "hmac-sha256"), ("secret", "x")],
        &[("sign", "sm3"), ("sign.encoding", "base64")],
        &[("encrypt", "ecc"), ("public_key", ECC)],
        &[("encrypt", "sm2"), ("public_key", SM2), ("iv", "fresh")],
        &[("encrypt", "ecc"), ("public_key", ECC), ("cache.mb", "1")],
    ];
    let body = br#"[{"_requestBody":"{}"}]"#.repeat(40);
    for pairs in cases {
        let mut sealer = sealer(pairs);
        let mut sealed = Sealed::default();
        let mut out = Vec::new();
        let mut answer = Vec::new();
        let mut go = || {
            for now in 0..5 {
                sealer.seal("a.b", &body, 1_662_430_824_846 + now, &mut sealed).expect("seals");
                let Some(key) = sealed.key else { continue };
                out.clear();
                answer.clear();
                answer.extend_from_slice(mgs::envelope::parse(&sealed.body).expect("parses").body);
                sealer.open(&key, &mut answer, 1 << 20, &mut out).expect("opens");
            }
        };
        go();
        assert_eq!(measure(go).count_total, 0, "{pairs:?}");
    }
}
