//! PKCS#12, through a library; which certificate belongs to which key is found here, as Java finds it.
//!
//! A key's own certificate has the key's local id; the rest of the chain is followed by names. A key without a name is called by its
//! number. Java writes names in small letters and compares them so.

use super::{KeyEntry, KeyStore, KeyStoreError};
use p12_keystore::error::Error;
use p12_keystore::{Certificate, CertificateBag, Pkcs12Archive};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub(super) fn read(bytes: &[u8], password: &str) -> Result<KeyStore, KeyStoreError> {
    let archive = Pkcs12Archive::from_pkcs12(bytes, password).map_err(|error| match error {
        Error::MacError(_) | Error::UnpadError | Error::Pkcs5Error(_) => KeyStoreError::Password,
        Error::UnsupportedEncryptionScheme | Error::UnsupportedMacAlgorithm => {
            KeyStoreError::Encryption
        }
        _ => KeyStoreError::Malformed,
    })?;
    let mut store = KeyStore::default();
    let mut unnamed = 0;
    for bag in &archive.keys {
        let own = archive.certs.iter().find(|cert| {
            bag.local_key_id.as_ref().is_some_and(|id| cert.local_key_id.as_ref() == Some(&id.0))
        });
        let Some(own) = own else { continue };
        let alias = match &bag.friendly_name {
            Some(name) => name.to_lowercase(),
            None => {
                unnamed += 1;
                unnamed.to_string()
            }
        };
        let key = PrivateKeyDer::try_from(bag.key.as_der().to_vec())
            .map_err(|_| KeyStoreError::Malformed)?;
        store.keys.push(KeyEntry { alias, key, chain: chain(own, &archive.certs) });
    }
    let loose = archive.certs.iter().filter(|cert| cert.local_key_id.is_none());
    store.trusted = loose.filter(|cert| cert.trusted).map(|cert| der(&cert.cert)).collect();
    // Other programs than Java do not mark what is to be trusted.
    if store.keys.is_empty() && store.trusted.is_empty() {
        store.trusted = archive.certs.iter().map(|cert| der(&cert.cert)).collect();
    }
    Ok(store)
}

fn chain(own: &CertificateBag, all: &[CertificateBag]) -> Vec<CertificateDer<'static>> {
    let mut links = vec![&own.cert];
    while let Some(last) = links.last().filter(|last| last.subject() != last.issuer()) {
        let next = all.iter().find(|cert| cert.cert.subject() == last.issuer());
        match next {
            Some(next) if !links.contains(&&next.cert) => links.push(&next.cert),
            _ => break,
        }
    }
    links.into_iter().map(der).collect()
}

fn der(certificate: &Certificate) -> CertificateDer<'static> {
    CertificateDer::from(certificate.as_der().to_vec())
}
