//! TLS for every target: a self-signed P-256 certificate created at the start, and a rustls server configuration.
//!
//! P-256 is what most services use, and the cost of a handshake depends on it. Nobody trusts the certificate, but load
//! generators that behave like JMeter accept it.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256,
};
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

/// Creates a server configuration that asks clients for certificates, which `clients` verifies.
pub(crate) fn asking(
    config: TlsConfig,
    clients: Arc<dyn ClientCertVerifier>,
) -> Result<Arc<ServerConfig>, Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(refused)?;
    let names: Vec<String> = config.names.split(',').map(str::to_owned).collect();
    let mut params = CertificateParams::new(names).map_err(refused)?;
    if config.expired {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    }
    let certificate = if config.certificate.is_empty() {
        params.self_signed(&key)
    } else {
        let (issuer, root) = authority()?;
        std::fs::write(&config.certificate, root)?;
        params.signed_by(&key, &issuer)
    };
    let certificate = certificate.map_err(refused)?;
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

/// Creates a certificate authority; returns it with its certificate as PEM.
fn authority() -> Result<(Issuer<'static, KeyPair>, String), Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(refused)?;
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "authority of a target");
    let root = pem(params.self_signed(&key).map_err(refused)?.der());
    Ok((Issuer::new(params, key), root))
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap_or_default())
        .collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::Tls(why.to_string())
}
