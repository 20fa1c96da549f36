//! Tests of the TLS client against rustls' server, in memory.

use super::*;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};
use std::io::{Read, Write};

struct Authority {
    pem: String,
    server: Arc<ServerConfig>,
}

fn authority(versions: &[&'static rustls::SupportedProtocolVersion]) -> Authority {
    authority_with(rustls::crypto::aws_lc_rs::default_provider(), versions)
}

fn authority_with(
    provider: CryptoProvider,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Authority {
    let certified =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])
            .unwrap();
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let mut server = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key.into())
        .unwrap();
    server.alpn_protocols = vec![b"http/1.1".to_vec()];
    Authority { pem: certified.cert.pem(), server: Arc::new(server) }
}

/// Parses the certificates of a PEM text; an empty list if it has none.
fn trusted(pem: &str) -> Vec<CertificateDer<'static>> {
    keystore::read(pem.as_bytes(), None).map_or_else(|_| Vec::new(), |store| store.trusted)
}

const BOTH: &[&rustls::SupportedProtocolVersion] =
    &[&rustls::version::TLS13, &rustls::version::TLS12];
const TLS12: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS12];

/// A TLS client and a server, with the bytes in flight between them.
struct Pair {
    client: Client,
    server: ServerConnection,
    to_client: Vec<u8>,
    to_server: Vec<u8>,
    /// Bytes from the client for which the server's buffer had no space.
    heard: Vec<u8>,
    /// Bytes that the client decrypted.
    got: Vec<u8>,
    progress: Progress,
}

impl Pair {
    fn new(config: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Self {
        Self {
            client: Client::new(config, "localhost").unwrap(),
            server: ServerConnection::new(server.clone()).unwrap(),
            to_client: Vec::new(),
            to_server: Vec::new(),
            heard: Vec::new(),
            got: Vec::new(),
            progress: Progress { used: 0, handshaking: true, peer_closed: false },
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        let got = &mut self.got;
        self.progress =
            self.client.advance(&mut self.to_client, &mut self.to_server, &mut |plain| {
                got.extend_from_slice(plain);
            })?;
        self.to_client.drain(..self.progress.used);
        Ok(())
    }

    fn serve(&mut self) {
        let mut input = self.to_server.as_slice();
        while !input.is_empty() {
            if self.server.read_tls(&mut input).is_err() {
                let mut buffer = [0; 4096];
                let n = self.server.reader().read(&mut buffer).unwrap();
                self.heard.extend_from_slice(&buffer[..n]);
            }
            let _ = self.server.process_new_packets();
        }
        self.to_server.clear();
        while self.server.wants_write() {
            self.server.write_tls(&mut self.to_client).unwrap();
        }
    }

    fn handshake(&mut self) -> Result<(), Error> {
        for _ in 0..10 {
            self.advance()?;
            self.serve();
            if !self.client.handshaking() && !self.server.is_handshaking() {
                return self.advance();
            }
        }
        panic!("the handshake does not end");
    }

    fn said_to_server(&mut self) -> Vec<u8> {
        self.serve();
        let mut said = std::mem::take(&mut self.heard);
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = self.server.reader().read(&mut buffer) {
            said.extend_from_slice(&buffer[..n]);
        }
        said
    }

    fn say_to_client(&mut self, bytes: &[u8]) {
        self.server.writer().write_all(bytes).unwrap();
        self.serve();
    }

    fn exchange(&mut self, size: usize) {
        let text: Vec<u8> = (0..size).map(|i| i as u8).collect();
        self.client.write(&text, &mut self.to_server).unwrap();
        for chunk in text.chunks(10_000) {
            self.got.clear();
            self.say_to_client(chunk);
            self.advance().unwrap();
            assert_eq!(self.got, chunk);
        }
        assert!(self.to_client.is_empty());
        assert_eq!(self.said_to_server(), text);
    }
}

fn settings(versions: (bool, bool)) -> Settings {
    Settings { versions, ..Settings::default() }
}

#[test]
fn both_versions_shake_hands_and_talk() {
    let authority = authority(BOTH);
    for (versions, version) in [
        ((true, true), ProtocolVersion::TLSv1_3),
        ((false, true), ProtocolVersion::TLSv1_3),
        ((true, false), ProtocolVersion::TLSv1_2),
    ] {
        let config = client_config(&settings(versions)).unwrap();
        let mut pair = Pair::new(&config, &authority.server);
        pair.handshake().unwrap();
        assert_eq!(pair.client.version(), Some(version));
        assert_eq!(pair.client.kind(), Some(Handshake::Full));
        assert_eq!(pair.server.alpn_protocol(), None);
        assert!(!pair.progress.handshaking);
        for size in [1, 168, record::PLAINTEXT, record::PLAINTEXT + 1, 100_000] {
            pair.exchange(size);
        }
    }
}

#[test]
fn every_cipher_suite_carries_traffic() {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let config = client_config(&Settings::default()).unwrap();
    let mut seen = 0;
    for suite in provider.cipher_suites.clone() {
        // The certificate has a key on an elliptic curve. Cipher suites for RSA keys differ only in the handshake.
        if format!("{:?}", suite.suite()).contains("_RSA_") {
            continue;
        }
        let only = CryptoProvider { cipher_suites: vec![suite], ..provider.clone() };
        let server = authority_with(only, &[suite.version()]).server;
        let mut pair = Pair::new(&config, &server);
        pair.handshake().unwrap();
        assert_eq!(pair.server.negotiated_cipher_suite().map(|s| s.suite()), Some(suite.suite()));
        for size in [1, 168, 40_000] {
            pair.exchange(size);
        }
        pair.client.close(&mut pair.to_server);
        pair.server.read_tls(&mut pair.to_server.as_slice()).unwrap();
        assert!(pair.server.process_new_packets().unwrap().peer_has_closed());
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn own_keys_are_renewed_in_time() {
    let server = authority(BOTH).server;
    let mut pair = Pair::new(&client_config(&settings((false, true))).unwrap(), &server);
    pair.handshake().unwrap();
    for left in [0, 1] {
        let Phase::Traffic(traffic) = &mut pair.client.phase else { panic!("no traffic") };
        traffic.key_lasts = left;
        pair.exchange(100_000);
        let Phase::Traffic(traffic) = &pair.client.phase else { panic!("no traffic") };
        assert!(traffic.key_lasts > 1 << 20, "the key was not renewed");
    }
}

#[test]
fn messages_may_be_split_over_records() {
    let server = authority(BOTH).server;
    let mut pair = Pair::new(&client_config(&settings((false, true))).unwrap(), &server);
    pair.handshake().unwrap();
    let Phase::Traffic(traffic) = &mut pair.client.phase else { panic!("no traffic") };
    let mut out = Vec::new();
    traffic.messages(&[24, 0], &mut out).unwrap();
    assert!(traffic.messages(&[24, 0, 0, 1, 2], &mut out).is_err(), "neither 0 nor 1");
    assert!(traffic.messages(&[1, 0, 0, 0], &mut out).is_err(), "no ClientHello for clients");
    assert!(traffic.messages(&vec![4; 70_000], &mut out).is_err(), "no message is that long");
    assert!(traffic.alert(&[2]).is_err());
    assert!(traffic.alert(&[2, 40]).is_err());
    assert!(traffic.alert(&[1, 90]).is_ok());
}

#[test]
fn sessions_resume_in_both_versions_unless_told_not_to() {
    for versions in [(true, false), (false, true)] {
        let limits = Settings::default().sessions;
        for (sessions, second) in [(limits, Handshake::Resumed), (None, Handshake::Full)] {
            let server = authority(BOTH).server;
            let config = client_config(&Settings { sessions, ..settings(versions) }).unwrap();
            let mut pair = Pair::new(&config, &server);
            pair.handshake().unwrap();
            pair.exchange(10);
            let mut pair = Pair::new(&config, &server);
            pair.handshake().unwrap();
            assert_eq!(pair.client.kind(), Some(second), "{versions:?}");
            pair.exchange(10);
            let mut pair = Pair::new(
                &with_fresh_sessions(&config, Limits { servers: 4, tickets: 4 }),
                &server,
            );
            pair.handshake().unwrap();
            assert_eq!(pair.client.kind(), Some(Handshake::Full), "{versions:?}");
        }
    }
}

#[test]
fn input_can_be_cut_anywhere() {
    let server = authority(BOTH).server;
    for versions in [(true, false), (false, true)] {
        let config = client_config(&settings(versions)).unwrap();
        let mut pair = Pair::new(&config, &server);
        let mut said = false;
        for _ in 0..20 {
            pair.advance().unwrap();
            pair.serve();
            if !pair.server.is_handshaking() && !said {
                pair.say_to_client(b"hello");
                pair.say_to_client(b" world");
                said = true;
            }
            let all = std::mem::take(&mut pair.to_client);
            for byte in all {
                pair.to_client.push(byte);
                pair.advance().unwrap();
            }
        }
        assert_eq!(pair.got, b"hello world");
    }
}

#[test]
fn several_records_come_out_of_one_call() {
    let server = authority(BOTH).server;
    let mut pair = Pair::new(&client_config(&Settings::default()).unwrap(), &server);
    pair.handshake().unwrap();
    for text in [b"a", b"b", b"c"] {
        pair.say_to_client(text);
    }
    let cut = pair.to_client.split_off(pair.to_client.len() - 3);
    pair.advance().unwrap();
    assert_eq!(pair.got, b"ab");
    assert!(!pair.to_client.is_empty());
    pair.to_client.extend_from_slice(&cut);
    pair.advance().unwrap();
    assert_eq!(pair.got, b"abc");
}

#[test]
fn key_updates_are_followed() {
    let server = authority(BOTH).server;
    let mut pair = Pair::new(&client_config(&settings((false, true))).unwrap(), &server);
    pair.handshake().unwrap();
    for _ in 0..3 {
        pair.server.refresh_traffic_keys().unwrap();
        pair.exchange(100);
    }
}

#[test]
fn close_notify_goes_both_ways() {
    let server = authority(BOTH).server;
    for versions in [(true, false), (false, true)] {
        let mut pair = Pair::new(&client_config(&settings(versions)).unwrap(), &server);
        pair.handshake().unwrap();
        pair.say_to_client(b"last");
        pair.server.send_close_notify();
        pair.serve();
        pair.to_client.extend_from_slice(b"what follows is not read");
        pair.advance().unwrap();
        assert_eq!(pair.got, b"last");
        assert!(pair.progress.peer_closed);
        pair.client.close(&mut pair.to_server);
        assert!(!pair.to_server.is_empty());
        pair.server.read_tls(&mut pair.to_server.as_slice()).unwrap();
        assert!(pair.server.process_new_packets().unwrap().peer_has_closed());
        let sent = pair.to_server.len();
        pair.client.close(&mut pair.to_server);
        assert_eq!(pair.to_server.len(), sent, "close_notify is sent once");
        pair.advance().unwrap();
        assert!(pair.progress.peer_closed);
    }
}

#[test]
fn a_close_before_the_end_of_the_handshake_sends_nothing() {
    let server = authority(BOTH).server;
    let mut pair = Pair::new(&client_config(&Settings::default()).unwrap(), &server);
    let mut out = Vec::new();
    pair.advance().unwrap();
    pair.client.close(&mut out);
    assert!(out.is_empty());
    assert!(matches!(pair.client.write(b"x", &mut out), Err(Error::Handshaking)));
    assert!(pair.client.handshaking());
    assert_eq!(pair.client.kind(), None);
}

#[test]
fn bad_records_are_errors_with_an_alert() {
    let server = authority(BOTH).server;
    for versions in [(true, false), (false, true)] {
        let mut pair = Pair::new(&client_config(&settings(versions)).unwrap(), &server);
        pair.handshake().unwrap();
        pair.say_to_client(b"hello");
        let last = pair.to_client.len() - 1;
        pair.to_client[last] ^= 1;
        assert!(matches!(pair.advance(), Err(Error::Tls(rustls::Error::DecryptError))));
        assert!(!pair.to_server.is_empty());
        pair.server.read_tls(&mut pair.to_server.as_slice()).unwrap();
        assert!(matches!(pair.server.process_new_packets(), Err(rustls::Error::AlertReceived(_))));
        assert!(pair.got.is_empty());
        assert!(pair.advance().is_err(), "an error stays");
    }
    let mut pair = Pair::new(&client_config(&Settings::default()).unwrap(), &server);
    pair.to_client = b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
    assert!(pair.advance().is_err());
}

#[test]
fn a_server_that_speaks_no_common_version_is_an_error() {
    let server = authority(TLS12).server;
    let mut pair = Pair::new(&client_config(&settings((false, true))).unwrap(), &server);
    assert!(pair.handshake().is_err());
    assert!(matches!(client_config(&settings((false, false))), Err(Error::NoVersions)));
}

#[test]
fn certificates_are_checked_when_asked() {
    let (ours, other) = (authority(BOTH), authority(BOTH));
    let trust = |pem: &str| {
        client_config(&Settings { verify: Verify::Roots(trusted(pem)), ..Settings::default() })
            .unwrap()
    };
    Pair::new(&trust(&ours.pem), &ours.server).handshake().unwrap();
    assert!(matches!(
        Pair::new(&trust(&other.pem), &ours.server).handshake(),
        Err(Error::Tls(rustls::Error::InvalidCertificate(_)))
    ));
    let mut pair = Pair::new(&trust(&ours.pem), &ours.server);
    pair.client = Client::new(&trust(&ours.pem), "elsewhere.example").unwrap();
    assert!(pair.handshake().is_err());
    let mut pair = Pair::new(&trust(&ours.pem), &ours.server);
    pair.client = Client::new(&trust(&ours.pem), "127.0.0.1").unwrap();
    pair.handshake().unwrap();
    for pem in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let settings = Settings { verify: Verify::Roots(trusted(pem)), ..Settings::default() };
        assert!(matches!(client_config(&settings), Err(Error::BadRoots)));
    }
}

#[test]
fn alpn_is_offered_when_asked() {
    let server = authority(BOTH).server;
    let config = client_config(&Settings { alpn_http1: true, ..Settings::default() }).unwrap();
    let mut pair = Pair::new(&config, &server);
    pair.handshake().unwrap();
    assert_eq!(pair.server.alpn_protocol(), Some(b"http/1.1".as_slice()));
}

#[test]
fn names_and_addresses_are_told_apart() {
    let config = client_config(&Settings::default()).unwrap();
    for name in
        ["localhost", "a.b", "my_host", "127.0.0.1", "::1", "[::1]", "xn--bcher-kva.example"]
    {
        assert!(Client::new(&config, name).is_ok(), "{name}");
    }
    // Names that are neither a valid host name nor an address are not sent to the server.
    for name in ["", "a b", "[::1", "a/b", "1", "srv.1", "-a.example", "a..example", "a_b.example"]
    {
        assert!(Client::new(&config, name).is_ok(), "{name}");
    }
}

#[test]
fn damaged_handshakes_fail_without_a_panic() {
    let server = authority(BOTH).server;
    for versions in [(true, false), (false, true)] {
        let config = client_config(&settings(versions)).unwrap();
        for damage in 0..150 {
            let mut pair = Pair::new(&config, &server);
            pair.advance().unwrap();
            pair.serve();
            let at = damage * 11 % pair.to_client.len();
            pair.to_client[at] ^= 1 << (damage % 8);
            let pieces: Vec<Vec<u8>> = pair.to_client.chunks(400).map(<[u8]>::to_vec).collect();
            pair.to_client.clear();
            for piece in pieces {
                pair.to_client.extend_from_slice(&piece);
                if pair.advance().is_err() {
                    assert!(pair.client.write(b"x", &mut pair.to_server).is_err());
                    assert!(pair.advance().is_err(), "an error stays");
                    break;
                }
            }
            let mut out = Vec::new();
            pair.client.close(&mut out);
        }
    }
}
