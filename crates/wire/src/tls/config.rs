//! What the TLS connections of a run have in common: trust, versions, session cache.

use super::Error;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// Whom to trust.
#[derive(Clone, Debug, Default)]
pub enum Verify {
    /// Neither chain, name nor signature is checked.
    #[default]
    AcceptAll,
    /// The roots that the operating system trusts.
    SystemRoots,
    /// Root certificates in PEM form.
    Roots(Vec<u8>),
}

/// How connections are made.
#[derive(Clone, Debug)]
pub struct Settings {
    pub verify: Verify,
    /// TLS 1.2, TLS 1.3.
    pub versions: (bool, bool),
    /// Keep tickets and session ids for later connections of the same configuration.
    pub resumption: bool,
    /// Offer `http/1.1` by ALPN; otherwise offer nothing.
    pub alpn_http1: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            verify: Verify::AcceptAll,
            versions: (true, true),
            resumption: true,
            alpn_http1: false,
        }
    }
}

/// Builds the configuration that connections share, with its session cache.
pub fn client_config(settings: &Settings) -> Result<Arc<ClientConfig>, Error> {
    let versions: &[&rustls::SupportedProtocolVersion] = match settings.versions {
        (true, true) => &[&rustls::version::TLS13, &rustls::version::TLS12],
        (true, false) => &[&rustls::version::TLS12],
        (false, true) => &[&rustls::version::TLS13],
        (false, false) => return Err(Error::NoVersions),
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(Error::Tls)?;
    let mut config = match &settings.verify {
        Verify::AcceptAll => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAll))
        }
        Verify::SystemRoots => builder.with_root_certificates(system_roots()?),
        Verify::Roots(pem) => builder.with_root_certificates(roots(pem)?),
    }
    .with_no_client_auth();
    // The record layer takes the keys over when the handshake is done.
    config.enable_secret_extraction = true;
    if !settings.resumption {
        config.resumption = Resumption::disabled();
    }
    if settings.alpn_http1 {
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
    }
    Ok(Arc::new(config))
}

/// The same configuration with a session cache of its own, for `servers` hosts: a user whose sessions are not shared. It
/// takes some 1.4 KB; a configuration built anew takes 16 KB.
pub fn with_fresh_sessions(config: &Arc<ClientConfig>, servers: usize) -> Arc<ClientConfig> {
    let mut config = ClientConfig::clone(config);
    // rustls counts tickets, of which it keeps eight for a server.
    config.resumption = Resumption::in_memory_sessions(servers * 8);
    Arc::new(config)
}

fn system_roots() -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    let (usable, _) =
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if usable == 0 { Err(Error::BadRoots) } else { Ok(store) }
}

fn roots(pem: &[u8]) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        store.add(certificate.map_err(|_| Error::BadRoots)?).map_err(|_| Error::BadRoots)?;
    }
    if store.is_empty() { Err(Error::BadRoots) } else { Ok(store) }
}

/// Accepts every certificate, and does not spend time on the signatures made with it.
#[derive(Debug)]
struct AcceptAll;

impl ServerCertVerifier for AcceptAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ECDSA_NISTP521_SHA512,
            SignatureScheme::ED25519,
            SignatureScheme::RSA_PSS_SHA256,
            SignatureScheme::RSA_PSS_SHA384,
            SignatureScheme::RSA_PSS_SHA512,
            SignatureScheme::RSA_PKCS1_SHA256,
            SignatureScheme::RSA_PKCS1_SHA384,
            SignatureScheme::RSA_PKCS1_SHA512,
            SignatureScheme::ECDSA_SHA1_Legacy,
            SignatureScheme::RSA_PKCS1_SHA1,
        ]
    }
}
