//! PEM files: keys and certificates in sequence.
//!
//! A single key belongs to all certificates of the file. With several keys, each belongs to the certificates after it.
//! Keys are named by position, `1`, `2` and so on, as Java names keys without a name. A file without keys contains
//! trusted certificates.

use super::{KeyEntry, KeyStore, KeyStoreError};
use rustls::pki_types::pem::{PemObject, SectionKind};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub(super) fn read(bytes: &[u8]) -> Result<KeyStore, KeyStoreError> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(KeyStoreError::Encryption);
    }
    let mut store = KeyStore::default();
    // Certificates of the PEM file before its first key.
    let mut loose = Vec::new();
    for section in <(SectionKind, Vec<u8>) as PemObject>::pem_slice_iter(bytes) {
        let (kind, der) = section.map_err(|_| KeyStoreError::Malformed)?;
        if kind == SectionKind::Certificate {
            let chain = store.keys.last_mut().map_or(&mut loose, |entry| &mut entry.chain);
            chain.push(CertificateDer::from(der));
        } else if let Some(key) = PrivateKeyDer::from_pem(kind, der) {
            let alias = (store.keys.len() + 1).to_string();
            store.keys.push(KeyEntry { alias, key, chain: Vec::new() });
        }
    }
    match store.keys.as_mut_slice() {
        [] => store.trusted = loose,
        [first, ..] => {
            loose.append(&mut first.chain);
            first.chain = loose;
        }
    }
    let chains = store.keys.iter().all(|entry| !entry.chain.is_empty());
    if !chains || store.keys.is_empty() && store.trusted.is_empty() {
        return Err(KeyStoreError::Malformed);
    }
    Ok(store)
}
