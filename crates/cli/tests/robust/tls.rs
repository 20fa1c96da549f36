//! TLS that goes wrong: certificates nobody knows, servers that break handshakes, key stores that cannot be read.

use std::io::{Read, Write};

use crate::http_plan::HTTP;
use crate::peer::peer;
use crate::trial::Trial;

/// The plan, over https.
fn secure() -> Trial {
    let trial = Trial::new();
    trial.program.write("http.jmx", &HTTP.replace("protocol\">http<", "protocol\">https<"));
    trial
}

/// A server whose certificate is its own.
fn own_certificate() -> targets::Running {
    let config = targets::Config::new("fixed").tls(targets::TlsConfig::default());
    targets::start(config).expect("a target")
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_only_when_asked_to() {
    let target = own_certificate();
    let port = target.addr().port();
    let (ended, rows) = secure().against(port, &["-Jusers=1", "-Jloops=3"]);
    assert_eq!((ended.code, rows.len()), (0, 3), "{ended:?}");
    assert!(rows.iter().all(|row| row.success), "{rows:?}");
    for verify in ["true", "chain"] {
        let (ended, rows) = secure()
            .against(port, &["-Jusers=1", "-Jloops=3", &format!("-Jthrong.tls.verify={verify}")]);
        if rows.is_empty() {
            // A machine without any root certificate says so instead.
            assert!(ended.err.contains("root certificate"), "{ended:?}");
            continue;
        }
        assert_eq!((ended.code, rows.len()), (0, 3), "{ended:?}");
        for row in &rows {
            assert_eq!(row.code, "Non HTTP response code: javax.net.ssl.SSLHandshakeException");
            assert!(row.message.contains("unable to find valid certification path"), "{row:?}");
        }
    }
}

#[test]
fn handshakes_cut_at_any_byte_are_samples_that_failed() {
    // What a server would say first: the start of a record with a ServerHello in it.
    let hello: Vec<u8> = [&[22, 3, 3, 0, 80, 2, 0, 0, 76, 3, 3][..], &[7; 32], &[0; 34]].concat();
    for length in [0, 1, 4, 5, 6, 11, 40, hello.len()] {
        let said = hello[..length].to_vec();
        let port = peer(move |connection| {
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(&said);
        });
        let (ended, rows) = secure().against(port, &["-Jusers=1", "-Jloops=2"]);
        assert_eq!((ended.code, rows.len()), (0, 2), "{length}: {ended:?}");
        for row in rows {
            assert!(
                !row.success && row.code.starts_with("Non HTTP response code: java"),
                "{row:?}"
            );
        }
    }
}

#[test]
fn what_cannot_be_used_is_refused_before_the_first_user() {
    let trial = secure();
    trial.program.write("keys.p12", "no key store at all");
    for (property, words) in [
        ("-Djavax.net.ssl.keyStore=keys.p12", "neither PKCS#12, JKS nor PEM"),
        ("-Djavax.net.ssl.keyStore=missing.jks", "missing.jks"),
        ("-Jhttps.socket.protocols=TLSv1 TLSv1.1", "neither TLS 1.2 nor TLS 1.3"),
        ("-Jhttps.default.protocol=SSLv3", "neither TLS 1.2 nor TLS 1.3"),
        ("-Jhttps.socket.ciphers=TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_AES_128_GCM_SHA256"),
        ("-Jthrong.tls.verify=maybe", "throng.tls.verify"),
    ] {
        let checked = trial.run(&["check", "http.jmx", property]);
        assert_eq!(checked.code, 3, "{property}: {checked:?}");
        assert!((checked.out + &checked.err).contains(words), "{property}");
        let ended = trial.run(&["-n", "-t", "http.jmx", "-l", "out.jtl", "-Jport=9", property]);
        assert_ne!(ended.code, 0, "{property}: {ended:?}");
        assert!((ended.out + &ended.err).contains(words), "{property}");
    }
}
