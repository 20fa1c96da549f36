//! TLS for every target: a self-signed P-256 certificate made at the start, and a rustls server configuration.
//!
//! P-256 because it is what most services present, and what a handshake costs depends on it. Nobody trusts the certificate; load
//! generators that imitate JMeter accept it all the same.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, NoServerSessionStorage};
use rustls::version::{TLS12, TLS13};

use crate::config::TlsConfig;
use crate::error::Error;

pub(crate) fn server(config: TlsConfig) -> Result<Arc<ServerConfig>, Error> {
    asking(config, Arc::new(NoClientAuth))
}

/// A server whose clients are asked for certificates as `clients` says.
pub(crate) fn asking(
    config: TlsConfig,
    clients: Arc<dyn ClientCertVerifier>,
) -> Result<Arc<ServerConfig>, Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(refused)?;
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let certificate = CertificateParams::new(names)
        .and_then(|params| params.self_signed(&key))
        .map_err(refused)?;
    let versions: &[_] = match (config.tls12, config.tls13) {
        (true, true) => &[&TLS12, &TLS13],
        (true, false) => &[&TLS12],
        _ => &[&TLS13],
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(refused)?;
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(refused)?
        .with_client_cert_verifier(clients)
        .with_single_cert(vec![certificate.der().clone()], key)
        .map_err(refused)?;
    if config.tickets {
        server.ticketer = aws_lc_rs::Ticketer::new().map_err(refused)?;
    } else {
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
    }
    Ok(Arc::new(server))
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::Tls(why.to_string())
}
