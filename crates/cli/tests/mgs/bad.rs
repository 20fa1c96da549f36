//! Bad keys and bad responses: each sample fails with a message that names the cause, and no sample is lost.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};

use super::{PLAN, element, gateway, get, key, outcomes, run};
use crate::program::Program;

/// A public key from RFC 9500 on P-256, a curve that gateways do not use.
const P256: &str = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQiVI+I+3gv+17KN0RFLHKh5Vj71v\nc75eSOkyMsxFxbFsTNEMTLjVuKFxOelIgsiZJXKZNCX0FBmrfpCkKklCcg==\n-----END PUBLIC KEY-----\n";

#[test]
fn a_file_that_is_no_key_fails_each_sample_and_nothing_is_sent() {
    let gateway = gateway(&[]);
    let program = Program::new();
    let (ecc, rsa) = (key(&gateway, "ecc"), key(&gateway, "rsa"));
    program.write("empty.pem", "");
    program.write("blank.pem", " \n");
    for (file, kind) in [("certificate.pem", "CERTIFICATE"), ("pkcs1.pem", "RSA PUBLIC KEY")] {
        let pem = format!("-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n");
        program.write(file, &pem);
    }
    program.write("noise.pem", "\u{0}\u{1}\u{fffd} no key");
    program.write("cut.pem", &rsa[..rsa.len() / 2]);
    program.write("long.pem", &"x".repeat(70_000));
    program.write("private.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    program.write("p256.pem", P256);
    program.write("ecc.pem", &ecc);
    std::fs::create_dir(program.path("folder")).expect("a folder");
    for (encrypt, file, words) in [
        ("ecc", "empty.pem", "throng.mgs.public_key_file: empty.pem is empty"),
        ("ecc", "blank.pem", "throng.mgs.public_key_file: blank.pem is empty"),
        ("ecc", "noise.pem", "the public key is not a point of secp256k1: expected PEM"),
        ("rsa", "cut.pem", "the public key is not an RSA key: its PEM is truncated or damaged"),
        ("rsa", "certificate.pem", "the public key is not an RSA key: it is a certificate"),
        ("rsa", "pkcs1.pem", "the public key is not an RSA key: it is a PKCS #1 key"),
        ("rsa", "long.pem", "long.pem is too large for a key"),
        ("ecc", "private.pem", "the key is a private key"),
        ("ecc", "p256.pem", "the public key is not a point of secp256k1: its type is P-256"),
        ("sm2", "p256.pem", "the public key is not a point of SM2's curve"),
        ("sm2-encrypted", "ecc.pem", "is not a point of SM2's curve: its type is secp256k1"),
        ("rsa-oaep-sha1", "ecc.pem", "is not an RSA key: its type is secp256k1"),
        ("ecc", "folder", "cannot read the gateway's public key"),
    ] {
        let plan = element(&[("encrypt", encrypt), ("public_key_file", file)]);
        let ended = run(&program, &gateway, &PLAN.replace("<!--element-->", &plan), &["-f"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let outcomes = outcomes(&program);
        let fail = |outcome: &String| outcome.contains("throng.mgs") && outcome.contains(words);
        assert!(outcomes.len() == 20 && outcomes.iter().all(fail), "{file}: {outcomes:?}");
    }
    let stats = get(&gateway, "/stats");
    assert!(stats.contains("\"verified\":0"), "{stats}");
}

/// Starts a server that sends the same response to every request.
fn answers(head: &'static str, body: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().expect("a copy"));
                let mut out = stream;
                loop {
                    let mut length = 0;
                    let mut line = String::new();
                    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                        let lower = line.to_ascii_lowercase();
                        if let Some(value) = lower.strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap_or(0);
                        }
                        line.clear();
                    }
                    let mut sent = vec![0; length];
                    if line.is_empty() || reader.read_exact(&mut sent).is_err() {
                        return;
                    }
                    let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
                    if out.write_all(&[head.as_bytes(), body].concat()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn an_answer_that_cannot_be_decrypted_fails_if_it_says_that_it_is_encrypted() {
    const MARKED: &str = "HTTP/1.1 200 OK\r\nResult-Status: 1000\r\nx-mgs-encryption: 1\r\n";
    const BARE: &str = "HTTP/1.1 200 OK\r\nResult-Status: 1000\r\n";
    let gateway = gateway(&[]);
    let program = Program::new();
    program.write("key.pem", &key(&gateway, "ecc"));
    let broken = "Non HTTP response message: the answer cannot be decrypted: ";
    for (head, body, decrypt, words) in [
        (MARKED, &b"fifteen bytes.."[..], "auto", "its length of 15 bytes is not a multiple"),
        (MARKED, b"thirty-two bytes that are noise.", "auto", ""),
        (MARKED, b"thirty-two bytes that are noise.", "never", "OK"),
        (BARE, b"[{\"_requestBody\":1}]", "auto", "OK"),
        (BARE, b"[{\"_requestBody\":1}]", "always", "its length of 20 bytes is not a multiple"),
        (MARKED, b"", "always", "OK"),
    ] {
        let settings = [("encrypt", "ecc"), ("public_key_file", "key.pem"), ("decrypt", decrypt)];
        let plan = PLAN.replace("<!--element-->", &element(&settings));
        program.write("plan.jmx", &plan.replace("<!--checks-->", super::READS));
        let port = format!("-Jport={}", answers(head, body).port());
        let ended = program.run(&["run", "plan.jmx", "-f", "-l", "out.jtl", "--json", &port]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let outcomes = outcomes(&program);
        let fits = |outcome: &String| match words {
            "OK" => outcome == "200 OK",
            words => outcome.contains(broken) && outcome.contains(words),
        };
        assert!(outcomes.len() == 20 && outcomes.iter().all(fits), "{decrypt}: {outcomes:?}");
    }
}

/// Without a result file nothing reads the response bodies; undecryptable responses must fail nevertheless.
#[test]
fn answers_that_must_be_encrypted_fail_whoever_reads_them() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nResult-Status: 1000\r\n";
    let gateway = gateway(&[]);
    let program = Program::new();
    program.write("key.pem", &key(&gateway, "ecc"));
    let port = format!("-Jport={}", answers(HEAD, b"[{\"_requestBody\":1}]").port());
    for (decrypt, failed) in [("always", 20), ("auto", 0)] {
        let settings = [("encrypt", "ecc"), ("public_key_file", "key.pem"), ("decrypt", decrypt)];
        program.write("plan.jmx", &PLAN.replace("<!--element-->", &element(&settings)));
        let ended = program.run(&["run", "plan.jmx", "--json", &port]);
        let wanted = format!("\"failed\": {failed},");
        assert!(ended.out.contains(&wanted), "{decrypt}: {ended:?}");
    }
}

/// A response of a gateway whose result code is not a positive number is a failed sample.
#[test]
fn a_result_code_that_is_none_fails_the_sample() {
    for (head, words) in [
        ("HTTP/1.1 200 OK\r\nResult-Status: ok\r\n", "result code is 0 or no number"),
        ("HTTP/1.1 200 OK\r\nResult-Status: 0\r\n", "result code is 0 or no number"),
        ("HTTP/1.1 200 OK\r\nResult-Status: 1002\r\n", "1002 rate limited"),
        ("HTTP/1.1 200 OK\r\n", "200 OK"),
    ] {
        let program = Program::new();
        program.write("plan.jmx", PLAN);
        let port = format!("-Jport={}", answers(head, b"x").port());
        let line = ["run", "plan.jmx", "-l", "out.jtl", "-Jthrong.mgs.secret=x", &port];
        let ended = program.run(&line);
        let outcomes = outcomes(&program);
        let fit = outcomes.iter().all(|outcome| outcome.contains(words));
        assert!(outcomes.len() == 20 && fit, "{head}: {outcomes:?} {ended:?}");
    }
}
