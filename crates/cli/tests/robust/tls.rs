//! TLS errors: untrusted certificates, broken handshakes, unreadable key stores.

use std::io::{Read, Write};

use crate::http_plan::HTTP;
use crate::peer::peer;
use crate::trial::{Row, Trial};

/// Returns a `Trial` whose request uses https.
fn secure() -> Trial {
    let trial = Trial::new();
    trial.program.write("http.jmx", &HTTP.replace("protocol\">http<", "protocol\">https<"));
    trial
}

/// Starts a server with a self-signed certificate.
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
            // A machine without root certificates prints an error about that instead.
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

/// Starts a server with a certificate made from the options, which the user trusts. Runs three requests and returns
/// their rows.
fn verified(options: &[(&str, &str)], verify: &str) -> (targets::Running, Vec<Row>) {
    let trial = secure();
    let file = trial.program.path("server.pem");
    let mut config = targets::Config::new("fixed").tls(targets::TlsConfig::default());
    for (key, value) in options {
        config = config.option(*key, value);
    }
    let target = targets::start(config.option("certificate", file.display())).expect("a target");
    let trust = format!("-Djavax.net.ssl.trustStore={}", file.display());
    let verify = format!("-Jthrong.tls.verify={verify}");
    let (ended, rows) =
        trial.against(target.addr().port(), &["-Jusers=1", "-Jloops=3", &trust, &verify]);
    assert_eq!((ended.code, rows.len()), (0, 3), "{ended:?}");
    (target, rows)
}

#[test]
fn trusted_certificates_are_refused_for_their_time_and_their_name() {
    let failed = |rows: &[Row], class: &str, text: &str| {
        for row in rows {
            assert!(!row.success);
            assert_eq!(row.code, format!("Non HTTP response code: javax.net.ssl.{class}"));
            assert_eq!(row.message, format!("Non HTTP response message: {text}"));
        }
    };
    let (_target, rows) = verified(&[], "true");
    assert!(rows.iter().all(|row| row.success), "{rows:?}");
    let (_target, rows) = verified(&[("expired", "true")], "true");
    let text = "PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed";
    failed(&rows, "SSLHandshakeException", text);
    let (_target, rows) = verified(&[("names", "elsewhere.test,10.0.0.1")], "true");
    let text = "Certificate for <127.0.0.1> doesn't match any of the subject alternative names: [elsewhere.test, 10.0.0.1]";
    failed(&rows, "SSLPeerUnverifiedException", text);
    let (_target, rows) = verified(&[("names", "elsewhere.test")], "chain");
    assert!(rows.iter().all(|row| row.success), "{rows:?}");
}

#[test]
fn handshakes_cut_at_any_byte_are_samples_that_failed() {
    // The start of a TLS record with a ServerHello, the first bytes of a real server.
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
        ("-Djavax.net.ssl.keyStore=keys.p12", "expected PKCS#12, JKS or PEM"),
        ("-Djavax.net.ssl.keyStore=missing.jks", "missing.jks"),
        ("-Jhttps.socket.protocols=TLSv1 TLSv1.1", "neither TLS 1.2 nor TLS 1.3"),
        ("-Jhttps.default.protocol=SSLv3", "neither TLS 1.2 nor TLS 1.3"),
        ("-Jhttps.socket.ciphers=TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_AES_128_GCM_SHA256"),
        ("-Jthrong.tls.verify=maybe", "throng.tls.verify"),
    ] {
        let checked = trial.run(&["check", "http.jmx", property]);
        assert_eq!(checked.code, 2, "{property}: {checked:?}");
        assert!((checked.out + &checked.err).contains(words), "{property}");
        let ended = trial.run(&["-n", "-t", "http.jmx", "-l", "out.jtl", "-Jport=9", property]);
        assert_eq!(ended.code, 2, "{property}: {ended:?}");
        assert!((ended.out + &ended.err).contains(words), "{property}");
    }
}
