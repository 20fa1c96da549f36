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

/// Setting that decides which server certificates are trusted.
#[derive(Clone, Debug, Default)]
pub enum Verify {
    /// Any certificate is trusted; neither its chain nor its name is checked. [`Settings::check_signature`] decides
    /// whether the handshake's signature is checked.
    #[default]
    AcceptAll,
    /// Certificates are trusted if their chain ends at a trusted root of the operating system.
    SystemRoots,
    /// Certificates are trusted if their chain ends at one of these roots.
    Roots(Vec<CertificateDer<'static>>),
}

/// Settings of TLS connections.
#[derive(Clone, Debug)]
pub struct Settings {
    pub verify: Verify,
    /// True if a server must prove, by a signature in the handshake, that it holds the key of its certificate. Used
    /// only with [`Verify::AcceptAll`].
    pub check_signature: bool,
    /// True if the certificate must match the server name. Not used with [`Verify::AcceptAll`].
    pub check_name: bool,
    /// Protocol versions: whether TLS 1.2, and whether TLS 1.3, is allowed.
    pub versions: (bool, bool),
    /// Cipher suites to offer, in descending order of preference; empty for all supported suites.
    pub suites: Vec<CipherSuite>,
    /// Limits of the cache of resumable sessions; `None` disables resumption.
    pub sessions: Option<Limits>,
    /// If true, offer `http/1.1` by ALPN; otherwise ALPN is not used.
    pub alpn_http1: bool,
    /// If true, send the server name to the server (SNI).
    pub sni: bool,
    /// Client certificates for servers that ask for one.
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

/// Returns all supported cipher suites, in descending order of preference.
pub fn suites() -> impl Iterator<Item = CipherSuite> {
    aws_lc_rs::DEFAULT_CIPHER_SUITES.iter().map(rustls::SupportedCipherSuite::suite)
}

/// Builds the TLS configuration, with its session cache, that connections share.
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
    // The record layer takes over the keys after the handshake.
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

/// Copies a configuration with a new session cache, for a user whose sessions are not shared. A copy takes about 500
/// bytes; a configuration built from settings takes 16 KB.
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

/// Verifier of certificate chains and, if set, of server names.
#[derive(Debug)]
struct Checks {
    chain: Arc<WebPkiServerVerifier>,
    /// Certificates that are trusted directly. A server that presents one of these needs no chain, and the
    /// certificate's validity period is ignored, as in Java.
    trusted: Vec<CertificateDer<'static>>,
    /// True if the certificate must match the server name.
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
            // rustls checks the name last, so a wrong name means that everything else is right.
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

/// Verifier that accepts every certificate. Signatures in the handshake are checked only if `algorithms` is set.
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
