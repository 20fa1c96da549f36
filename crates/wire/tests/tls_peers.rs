//! Client certificates, and checks of the server: names, cipher suites, sessions.

use std::sync::{Arc, Mutex};

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, RootCertStore, ServerConfig, ServerConnection};
use wire::tls::keystore::{KeyEntry, KeyStore};
use wire::tls::{
    Client, Error, Handshake, Identity, Limits, Present, Settings, Verify, client_config, keystore,
    presenting, rustls, with_fresh_sessions,
};

const ALL: &[&rustls::SupportedProtocolVersion] =
    &[&rustls::version::TLS13, &rustls::version::TLS12];

fn store(name: &str) -> KeyStore {
    let file = format!("{}/tests/keystores/{name}", env!("CARGO_MANIFEST_DIR"));
    keystore::read(&std::fs::read(file).unwrap(), Some("secret")).unwrap()
}

fn identities(store: &KeyStore) -> Vec<Identity> {
    store.keys.iter().map(|entry| Identity::new(entry).unwrap()).collect()
}

/// Creates a certificate for `localhost` with its key.
fn localhost() -> KeyEntry {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    KeyEntry { alias: String::new(), key, chain: vec![made.cert.der().clone()] }
}

/// A server that presents the certificate `shown`, signs with the key of `signs`, and records the requested server
/// name.
#[derive(Debug)]
struct Shows {
    key: Arc<CertifiedKey>,
    asked: Mutex<Option<String>>,
}

impl ResolvesServerCert for Shows {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        *self.asked.lock().unwrap() = hello.server_name().map(str::to_owned);
        Some(Arc::clone(&self.key))
    }
}

fn shows(shown: &KeyEntry, signs: &KeyEntry) -> Arc<Shows> {
    let key = aws_lc_rs::sign::any_supported_type(&signs.key).unwrap();
    let key = Arc::new(CertifiedKey::new(shown.chain.clone(), key));
    Arc::new(Shows { key, asked: Mutex::default() })
}

fn server(
    versions: &[&'static rustls::SupportedProtocolVersion],
    shows: &Arc<Shows>,
    clients: Option<&[CertificateDer<'static>]>,
) -> Arc<ServerConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(trusted) => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(trusted.iter().cloned());
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    Arc::new(builder.with_cert_resolver(Arc::clone(shows) as Arc<dyn ResolvesServerCert>))
}

/// Does a handshake and sends a word to the server, so that tickets arrive.
fn shake(
    config: &Arc<rustls::ClientConfig>,
    name: &str,
    server: &Arc<ServerConfig>,
) -> Result<(Client, ServerConnection), Error> {
    let mut client = Client::new(config, name)?;
    let mut server = ServerConnection::new(Arc::clone(server)).unwrap();
    let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let used = client.advance(&mut to_client, &mut to_server, &mut |_| {})?.used;
        to_client.drain(..used);
        let mut input = to_server.as_slice();
        while !input.is_empty() {
            server.read_tls(&mut input).unwrap();
            let _ = server.process_new_packets();
        }
        to_server.clear();
        while server.wants_write() {
            server.write_tls(&mut to_client).unwrap();
        }
    }
    assert!(!client.handshaking());
    Ok((client, server))
}

#[test]
fn keys_are_presented_in_turn_to_servers_that_ask() {
    let keys = store("many.p12");
    let own: Vec<_> = keys.keys.iter().map(|entry| entry.chain[0].clone()).collect();
    let shown = shows(&localhost(), &localhost());
    let present = Present::InTurn(identities(&keys), Arc::default());
    let config =
        client_config(&Settings { present, sessions: None, ..Settings::default() }).unwrap();
    let (asks, does_not) = (server(ALL, &shown, Some(&own)), server(ALL, &shown, None));
    for turn in 0..5 {
        // A server that does not ask for a certificate does not advance the rotation.
        shake(&config, "localhost", &does_not).unwrap();
        let (_, server) = shake(&config, "localhost", &asks).unwrap();
        assert_eq!(server.peer_certificates().unwrap(), &own[turn % 3..=turn % 3]);
    }
}

#[test]
fn sessions_belong_to_the_key_they_were_made_with() {
    let keys = store("many.p12");
    let own: Vec<_> = keys.keys.iter().map(|entry| entry.chain[0].clone()).collect();
    let shown = shows(&localhost(), &localhost());
    let server = server(&[&rustls::version::TLS13], &shown, Some(&own));
    let config = client_config(&Settings::default()).unwrap();
    let chosen = presenting(&config, Present::One(identities(&keys)[1].clone()));
    let (client, connection) = shake(&chosen, "localhost", &server).unwrap();
    assert_eq!(connection.peer_certificates().unwrap(), &own[1..2]);
    assert_eq!(client.kind(), Some(Handshake::Full));
    assert_eq!(shake(&chosen, "localhost", &server).unwrap().0.kind(), Some(Handshake::Resumed));
    let other = presenting(&chosen, Present::One(identities(&keys)[0].clone()));
    let (client, connection) = shake(&other, "localhost", &server).unwrap();
    assert_eq!(connection.peer_certificates().unwrap(), &own[0..1]);
    assert_eq!(client.kind(), Some(Handshake::Full));
}

#[test]
fn a_key_that_is_missing_fails_only_where_it_is_asked_for() {
    let keys = store("many.p12");
    let shown = shows(&localhost(), &localhost());
    for versions in [&[&rustls::version::TLS13], &[&rustls::version::TLS12]] {
        let config = client_config(&Settings::default()).unwrap();
        let absent = presenting(
            &with_fresh_sessions(&config, Limits { servers: 1, tickets: 1 }),
            Present::Absent("no such key".into()),
        );
        shake(&absent, "localhost", &server(versions, &shown, None)).unwrap();
        let asks = server(versions, &shown, Some(&keys.keys[0].chain));
        match shake(
            &with_fresh_sessions(&absent, Limits { servers: 1, tickets: 1 }),
            "localhost",
            &asks,
        ) {
            Err(Error::Tls(rustls::Error::General(text))) => assert_eq!(text, "no such key"),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it went on without"),
        }
    }
}

#[test]
fn names_are_sent_by_the_rule_of_java() {
    let shown = shows(&localhost(), &localhost());
    let server = server(ALL, &shown, None);
    let config = client_config(&Settings::default()).unwrap();
    for (name, sent) in [
        ("www.example.org", Some("www.example.org")),
        ("localhost", None),
        ("example.org.", None),
        ("127.0.0.1", None),
        ("[::1]", None),
    ] {
        shake(&config, name, &server).unwrap();
        assert_eq!(shown.asked.lock().unwrap().as_deref(), sent, "{name}");
    }
}

#[test]
fn a_server_without_the_key_of_its_certificate_is_found_out_when_asked_for() {
    let (owner, thief) = (localhost(), localhost());
    for versions in [&[&rustls::version::TLS13], &[&rustls::version::TLS12]] {
        let stolen = server(versions, &shows(&owner, &thief), None);
        let honest = server(versions, &shows(&owner, &owner), None);
        let checked = Settings { check_signature: true, ..Settings::default() };
        shake(&client_config(&checked).unwrap(), "localhost", &honest).unwrap();
        assert!(shake(&client_config(&checked).unwrap(), "localhost", &stolen).is_err());
        shake(&client_config(&Settings::default()).unwrap(), "localhost", &stolen).unwrap();
    }
}

#[test]
fn a_chain_can_be_checked_without_the_name() {
    let owner = localhost();
    let server = server(ALL, &shows(&owner, &owner), None);
    let verify = |roots: &KeyEntry, check_name| {
        let verify = Verify::Roots(roots.chain.clone());
        client_config(&Settings { verify, check_name, ..Settings::default() }).unwrap()
    };
    assert!(shake(&verify(&owner, true), "other.example", &server).is_err());
    shake(&verify(&owner, false), "other.example", &server).unwrap();
    assert!(shake(&verify(&localhost(), false), "localhost", &server).is_err());
}

#[test]
fn a_server_that_shows_a_trusted_certificate_itself_needs_no_chain() {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let chain = vec![certificate.der().clone()];
    let owner = KeyEntry { alias: String::new(), key: private, chain };
    let server = server(ALL, &shows(&owner, &owner), None);
    let verify = |name: &str, check_name| {
        let verify = Verify::Roots(owner.chain.clone());
        let settings = Settings { verify, check_name, ..Settings::default() };
        shake(&client_config(&settings).unwrap(), name, &server)
    };
    verify("localhost", true).unwrap();
    assert!(verify("other.example", true).is_err());
    verify("other.example", false).unwrap();
}

#[test]
fn only_the_cipher_suites_named_are_offered() {
    let owner = localhost();
    let server = server(ALL, &shows(&owner, &owner), None);
    // The server's certificate has no RSA key, so cipher suites for RSA are left out.
    for suite in wire::tls::suites().filter(|suite| !format!("{suite:?}").contains("_RSA_")) {
        let config = client_config(&Settings { suites: vec![suite], ..Settings::default() });
        let (_, connection) = shake(&config.unwrap(), "localhost", &server).unwrap();
        assert_eq!(connection.negotiated_cipher_suite().unwrap().suite(), suite);
    }
    let unknown = CipherSuite::TLS_RSA_WITH_AES_128_CBC_SHA;
    assert!(client_config(&Settings { suites: vec![unknown], ..Settings::default() }).is_err());
}

#[test]
fn a_store_of_sessions_forgets_the_server_known_longest() {
    let owner = localhost();
    let server = server(&[&rustls::version::TLS13], &shows(&owner, &owner), None);
    let base = client_config(&Settings::default()).unwrap();
    let config = with_fresh_sessions(&base, Limits { servers: 2, tickets: 1 });
    let kind = |name: &str| shake(&config, name, &server).unwrap().0.kind().unwrap();
    assert_eq!(kind("a.example"), Handshake::Full);
    assert_eq!(kind("b.example"), Handshake::Full);
    assert_eq!(kind("a.example"), Handshake::Resumed);
    assert_eq!(kind("c.example"), Handshake::Full);
    assert_eq!(kind("a.example"), Handshake::Full);
    assert_eq!(kind("c.example"), Handshake::Resumed);
}
