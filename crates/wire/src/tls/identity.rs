//! Client certificates with their keys, and the choice of the certificate that a connection presents.
//!
//! A server gets a certificate only if it asks for one. The choice costs one reference count; rustls makes the
//! signature.

use super::Error;
use super::keystore::KeyEntry;
use rustls::client::ResolvesClientCert;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::CertificateDer;
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{ClientConfig, SignatureAlgorithm, SignatureScheme};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A certificate chain with its private key.
#[derive(Clone, Debug)]
pub struct Identity(Arc<CertifiedKey>);

impl Identity {
    /// Creates an identity. Fails for keys that rustls cannot sign with: RSA below 2048 bits, and curves other than
    /// NIST's and Ed25519.
    pub fn new(entry: &KeyEntry) -> Result<Self, Error> {
        let key = any_supported_type(&entry.key).map_err(Error::Tls)?;
        Ok(Self(Arc::new(CertifiedKey::new(entry.chain.clone(), key))))
    }
}

/// The client certificates that connections present when the server asks.
#[derive(Clone, Debug)]
pub enum Present {
    /// Each connection presents the next client certificate of the list. Clones share the position in the list; an
    /// empty list presents none.
    InTurn(Vec<Identity>, Arc<AtomicUsize>),
    /// All connections present this client certificate.
    One(Identity),
    /// There is no certificate: if the server asks for one, the handshake fails with this text.
    Absent(String),
}

impl Present {
    pub fn nothing() -> Self {
        Self::InTurn(Vec::new(), Arc::default())
    }
}

/// Copies a configuration, with other client certificates. TLS sessions of connections with other certificates are not
/// resumed.
pub fn presenting(config: &Arc<ClientConfig>, what: Present) -> Arc<ClientConfig> {
    let mut config = ClientConfig::clone(config);
    config.client_auth_cert_resolver = resolver(what);
    Arc::new(config)
}

pub(super) fn resolver(what: Present) -> Arc<dyn ResolvesClientCert> {
    let one = |identity| (vec![identity], Arc::default());
    let (identities, next) = match what {
        Present::InTurn(identities, next) => (identities, next),
        Present::One(identity) => one(identity),
        Present::Absent(text) => {
            let chain = vec![CertificateDer::from(Vec::new())];
            one(Identity(Arc::new(CertifiedKey::new(chain, Arc::new(NoKey(text.into()))))))
        }
    };
    Arc::new(InTurn { identities, next })
}

#[derive(Debug)]
struct InTurn {
    identities: Vec<Identity>,
    next: Arc<AtomicUsize>,
}

impl ResolvesClientCert for InTurn {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let at = turn.checked_rem(self.identities.len())?;
        Some(Arc::clone(&self.identities[at].0))
    }

    fn has_certs(&self) -> bool {
        !self.identities.is_empty()
    }
}

/// A private key that fails with a message instead of signing.
#[derive(Clone, Debug)]
struct NoKey(Arc<str>);

impl SigningKey for NoKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(Refusal(Arc::clone(&self.0), *offered.first()?)))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

#[derive(Debug)]
struct Refusal(Arc<str>, SignatureScheme);

impl Signer for Refusal {
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        Err(rustls::Error::General(self.0.to_string()))
    }

    fn scheme(&self) -> SignatureScheme {
        self.1
    }
}
