//! Settings of a run's TLS connections: trust, versions, cipher suites, session cache, client certificates.

use super::Error;
use super::identity::{self, Present};
use super::known::Rules;
use super::sessions::{Limits, Sessions};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CipherSuite, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// Whom to trust.
#[derive(Clone, Debug, Default)]
pub enum Verify {
    /// Neither chain nor name is checked; the signature that proves the key only if asked for.
    #[default]
    AcceptAll,
    /// The roots that the operating system trusts.
    SystemRoots,
    /// These root certificates.
    Roots(Vec<CertificateDer<'static>>),
}

/// Settings of TLS connections.
#[derive(Clone, Debug)]
pub struct Settings {
    pub verify: Verify,
    /// Under [`Verify::AcceptAll`]: check that the server holds the key of the certificate it sends.
    pub check_signature: bool,
    /// Otherwise: the certificate must be for the name that was asked for.
    pub check_name: bool,
    /// TLS 1.2, TLS 1.3.
    pub versions: (bool, bool),
    /// The cipher suites offered, best first; all that there are if this is empty.
    pub suites: Vec<CipherSuite>,
    /// Sessions kept for later connections of the same configuration; none are if this is `None`.
    pub sessions: Option<Limits>,
    /// Offer `http/1.1` by ALPN; otherwise offer nothing.
    pub alpn_http1: bool,
    /// The requested name is sent to the server (SNI).
    pub sni: bool,
    /// Client certificates for servers that ask.
    pub present: Present,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            verify: Verify::AcceptAll,
            check_signature: false,
            check_name: true,
            versions: (true, true),
            suites: Vec::new(),
            sessions: Some(Limits { servers: 64, tickets: 1024 }),
            alpn_http1: false,
            sni: true,
            present: Present::nothing(),
        }
    }
}

/// All cipher suites that can be used, best first.
pub fn suites() -> impl Iterator<Item = CipherSuite> {
    aws_lc_rs::DEFAULT_CIPHER_SUITES.iter().map(rustls::SupportedCipherSuite::suite)
}

/// Builds the configuration that connections share, with its session cache.
pub fn client_config(settings: &Settings) -> Result<Arc<ClientConfig>, Error> {
    let versions: &[&rustls::SupportedProtocolVersion] = match settings.versions {
        (true, true) => &[&rustls::version::TLS13, &rustls::version::TLS12],
        (true, false) => &[&rustls::version::TLS12],
        (false, true) => &[&rustls::version::TLS13],
        (false, false) => return Err(Error::NoVersions),
    };
    let mut provider = aws_lc_rs::default_provider();
    if !settings.suites.is_empty() {
        let known = std::mem::take(&mut provider.cipher_suites);
        let named = |wanted| known.iter().find(|suite| suite.suite() == wanted).copied();
        provider.cipher_suites = settings.suites.iter().copied().filter_map(named).collect();
    }
    let provider = Arc::new(provider);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(Error::Tls)?;
    let algorithms = provider.signature_verification_algorithms;
    let verifier: Arc<dyn ServerCertVerifier> = match &settings.verify {
        Verify::AcceptAll => {
            Arc::new(AcceptAll { algorithms: settings.check_signature.then_some(algorithms) })
        }
        verify => {
            let (roots, trusted) = match verify {
                Verify::Roots(certificates) => (roots(certificates)?, certificates.clone()),
                _ => (system_roots()?, Vec::new()),
            };
            let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|_| Error::BadRoots)?;
            Arc::new(Checks { chain, trusted, name: settings.check_name, rules: Rules::new() })
        }
    };
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(identity::resolver(settings.present.clone()));
    // The record layer takes the keys over when the handshake is done.
    config.enable_secret_extraction = true;
    config.resumption = match settings.sessions {
        Some(limits) => Resumption::store(Arc::new(Sessions::new(limits))),
        None => Resumption::disabled(),
    };
    config.enable_sni = settings.sni;
    if settings.alpn_http1 {
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
    }
    Ok(Arc::new(config))
}

/// The same configuration with a session cache of its own: a user whose sessions are not shared. It takes some 500 bytes; a
/// configuration built anew takes 16 KB.
pub fn with_fresh_sessions(config: &Arc<ClientConfig>, limits: Limits) -> Arc<ClientConfig> {
    let mut config = ClientConfig::clone(config);
    config.resumption = Resumption::store(Arc::new(Sessions::new(limits)));
    Arc::new(config)
}

fn system_roots() -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    let (usable, _) =
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if usable == 0 { Err(Error::BadRoots) } else { Ok(store) }
}

fn roots(certificates: &[CertificateDer<'static>]) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for certificate in certificates {
        store.add(certificate.clone()).map_err(|_| Error::BadRoots)?;
    }
    if store.is_empty() { Err(Error::BadRoots) } else { Ok(store) }
}

/// Checks chains, and names if asked to.
#[derive(Debug)]
struct Checks {
    chain: Arc<WebPkiServerVerifier>,
    /// A server that shows one of these itself needs no chain, as in Java; nor is its time looked at.
    trusted: Vec<CertificateDer<'static>>,
    name: bool,
    rules: Rules,
}

impl ServerCertVerifier for Checks {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use rustls::CertificateError::{NotValidForName, NotValidForNameContext};
        if self.trusted.iter().any(|trusted| trusted == end_entity) {
            if self.name {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        let shown = if self.name { name.to_str() } else { "".into() };
        let chain: Vec<_> = std::iter::once(end_entity).chain(intermediates).collect();
        self.rules.hold(&shown, &chain, now, || {
            // The name is checked last: if it is wrong, everything else is right.
            match self.chain.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
                Err(rustls::Error::InvalidCertificate(
                    NotValidForName | NotValidForNameContext { .. },
                )) if !self.name => Ok(()),
                other => other.map(drop),
            }
        })?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chain.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}

/// Accepts every certificate; spends time on the signatures made with it only if given algorithms.
#[derive(Debug)]
struct AcceptAll {
    algorithms: Option<WebPkiSupportedAlgorithms>,
}

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
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.algorithms {
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(algorithms) => verify_tls12_signature(message, certificate, signed, algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.algorithms {
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(algorithms) => verify_tls13_signature(message, certificate, signed, algorithms),
        }
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
