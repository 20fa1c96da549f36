//! PKCS#12 files (RFC 7292): keys and certificates in bags, which are in safes. Certificates are matched to keys as in
//! Java.
//!
//! The own certificate of a key has the same local id as the key. The rest of the chain is found by issuer names. A key
//! without a name is named by a number. Names are in lower case, as Java writes and compares them.

mod name;
mod password;

use self::name::Names;
use self::password::Password;
use super::ber::{BMP_STRING, CONTEXT_0, INTEGER, OID, Reader, SEQUENCE, SET, Value};
use super::{KeyEntry, KeyStore, KeyStoreError};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

type Result<T> = std::result::Result<T, KeyStoreError>;

/// Object identifier prefix of RSA Data Security, 1.2.840.113549.
const RSADSI: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D];
// Object identifiers after the prefix of RSA Data Security.
const DATA: &[u8] = &[1, 7, 1];
const ENCRYPTED_DATA: &[u8] = &[1, 7, 6];
const FRIENDLY_NAME: &[u8] = &[1, 9, 20];
const LOCAL_KEY_ID: &[u8] = &[1, 9, 21];
const X509_CERTIFICATE: &[u8] = &[1, 9, 22, 1];
const KEY_BAG: &[u8] = &[1, 12, 10, 1, 1];
const SHROUDED_KEY_BAG: &[u8] = &[1, 12, 10, 1, 2];
const CERT_BAG: &[u8] = &[1, 12, 10, 1, 3];
const SAFE_CONTENTS_BAG: &[u8] = &[1, 12, 10, 1, 6];
/// Object identifier of the attribute with which Java marks trusted certificates: 2.16.840.1.113894.746875.1.1.
const TRUSTED_KEY_USAGE: &[u8] =
    &[0x60, 0x86, 0x48, 0x01, 0x86, 0xF9, 0x66, 0xAD, 0xCA, 0x7B, 1, 1];

/// Maximum nesting depth of safes in a PKCS#12 file.
const DEPTH_MOST: usize = 8;

pub(super) fn read(bytes: &[u8], password: &str) -> Result<KeyStore> {
    let mut file = Reader::new(bytes).expect(SEQUENCE)?.inside()?;
    if file.expect(INTEGER)?.number()? != 3 {
        return Err(KeyStoreError::Malformed);
    }
    let (kind, safes) = content(file.expect(SEQUENCE)?)?;
    if rsadsi(kind) != Some(DATA) {
        // PKCS#12 files signed with a key instead of a password are not supported.
        return Err(KeyStoreError::Encryption);
    }
    let safes = safes.octets()?;
    let password = match file.optional(SEQUENCE)? {
        Some(mac) => Password::checked(password, mac, &safes)?,
        None => Password::new(password),
    };
    let mut bags = Bags::default();
    for safe in Reader::new(&safes).expect(SEQUENCE)?.inside()? {
        let (kind, safe) = content(safe?)?;
        match rsadsi(kind) {
            Some(DATA) => bags.read(&safe.octets()?, &password, 0)?,
            Some(ENCRYPTED_DATA) => bags.read(&decrypted(safe, &password)?, &password, 0)?,
            _ => return Err(KeyStoreError::Encryption),
        }
    }
    bags.store()
}

/// Returns an object identifier without the prefix of RSA Data Security.
fn rsadsi(oid: &[u8]) -> Option<&[u8]> {
    oid.strip_prefix(RSADSI)
}

/// Returns type and value of a `ContentInfo` in a PKCS#12 file.
fn content(info: Value<'_>) -> Result<(&[u8], Value<'_>)> {
    let mut info = info.inside()?;
    let kind = info.expect(OID)?.content;
    let value = info.expect(CONTEXT_0)?.inside()?.next().ok_or(KeyStoreError::Malformed)??;
    Ok((kind, value))
}

/// Decrypts the content of an `EncryptedData` in a PKCS#12 file.
fn decrypted(data: Value<'_>, password: &Password<'_>) -> Result<Vec<u8>> {
    let mut data = data.inside()?;
    data.expect(INTEGER)?;
    let mut info = data.expect(SEQUENCE)?.inside()?;
    info.expect(OID)?;
    let algorithm = info.expect(SEQUENCE)?;
    // An octet string with the tag of a context field, whole or in segments.
    match info.next().ok_or(KeyStoreError::Malformed)?? {
        value if value.tag == CONTEXT_0 || value.tag == 0x80 => {
            password.decrypt(algorithm, &value.octets()?)
        }
        _ => Err(KeyStoreError::Malformed),
    }
}

/// Keys and certificates found in the PKCS#12 file so far.
#[derive(Default)]
struct Bags {
    keys: Vec<(Marks, PrivateKeyDer<'static>)>,
    certs: Vec<(Marks, Certificate)>,
}

/// PKCS#12 attributes of a key or a certificate.
#[derive(Default)]
struct Marks {
    friendly_name: Option<String>,
    local_key_id: Option<Vec<u8>>,
    trusted: bool,
}

struct Certificate {
    der: CertificateDer<'static>,
    names: Names,
}

impl Bags {
    /// Reads the keys and certificates in the bags of a PKCS#12 safe.
    fn read(&mut self, contents: &[u8], password: &Password<'_>, depth: usize) -> Result<()> {
        for bag in Reader::new(contents).expect(SEQUENCE)?.inside()? {
            let mut bag = bag?.inside()?;
            let kind = bag.expect(OID)?.content;
            let value =
                bag.expect(CONTEXT_0)?.inside()?.next().ok_or(KeyStoreError::Malformed)??;
            let marks = match bag.optional(SET)? {
                Some(attributes) => Marks::read(attributes)?,
                None => Marks::default(),
            };
            match rsadsi(kind) {
                Some(KEY_BAG) => self.key(marks, value.whole)?,
                Some(SHROUDED_KEY_BAG) => {
                    let mut shrouded = value.inside()?;
                    let algorithm = shrouded.expect(SEQUENCE)?;
                    let key = shrouded.next().ok_or(KeyStoreError::Malformed)??.octets()?;
                    self.key(marks, &password.decrypt(algorithm, &key)?)?;
                }
                Some(CERT_BAG) => self.cert(marks, value)?,
                Some(SAFE_CONTENTS_BAG) if depth < DEPTH_MOST => {
                    self.read(value.whole, password, depth + 1)?;
                }
                // Revocation lists and secrets in a PKCS#12 file are ignored.
                _ => {}
            }
        }
        Ok(())
    }

    fn key(&mut self, marks: Marks, der: &[u8]) -> Result<()> {
        let key = PrivateKeyDer::try_from(der.to_vec()).map_err(|_| KeyStoreError::Malformed)?;
        self.keys.push((marks, key));
        Ok(())
    }

    fn cert(&mut self, marks: Marks, value: Value<'_>) -> Result<()> {
        let mut cert = value.inside()?;
        if rsadsi(cert.expect(OID)?.content) != Some(X509_CERTIFICATE) {
            return Ok(());
        }
        let der = cert.expect(CONTEXT_0)?.inside()?.next().ok_or(KeyStoreError::Malformed)??;
        let der = CertificateDer::from(der.octets()?.into_owned());
        let names = Names::of(&der)?;
        self.certs.push((marks, Certificate { der, names }));
        Ok(())
    }

    /// Builds the key store: keys with their chains, and trusted certificates.
    fn store(self) -> Result<KeyStore> {
        let mut store = KeyStore::default();
        let mut unnamed = 0;
        for (marks, key) in self.keys {
            let own = self.certs.iter().find(|(of, _)| {
                marks.local_key_id.is_some() && of.local_key_id == marks.local_key_id
            });
            let Some((_, own)) = own else { continue };
            let alias = match &marks.friendly_name {
                Some(name) => name.to_lowercase(),
                None => {
                    unnamed += 1;
                    unnamed.to_string()
                }
            };
            store.keys.push(KeyEntry { alias, key, chain: chain(own, &self.certs) });
        }
        let loose = self.certs.iter().filter(|(marks, _)| marks.local_key_id.is_none());
        store.trusted =
            loose.filter(|(marks, _)| marks.trusted).map(|(_, cert)| cert.der.clone()).collect();
        // Programs other than Java do not mark trusted certificates, so a file without keys trusts all its
        // certificates.
        if store.keys.is_empty() && store.trusted.is_empty() {
            store.trusted = self.certs.into_iter().map(|(_, cert)| cert.der).collect();
        }
        Ok(store)
    }
}

impl Marks {
    fn read(attributes: Value<'_>) -> Result<Self> {
        let mut marks = Self::default();
        for attribute in attributes.inside()? {
            let mut attribute = attribute?.inside()?;
            let kind = attribute.expect(OID)?.content;
            let Some(value) = attribute.expect(SET)?.inside()?.next().transpose()? else {
                continue;
            };
            match rsadsi(kind) {
                Some(FRIENDLY_NAME) if value.tag == BMP_STRING => {
                    marks.friendly_name = Some(utf16(value.content));
                }
                Some(LOCAL_KEY_ID) => marks.local_key_id = Some(value.octets()?.into_owned()),
                _ if kind == TRUSTED_KEY_USAGE => marks.trusted = true,
                _ => {}
            }
        }
        Ok(marks)
    }
}

fn utf16(bytes: &[u8]) -> String {
    let (units, _) = bytes.as_chunks::<2>();
    char::decode_utf16(units.iter().map(|unit| u16::from_be_bytes(*unit)))
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

fn chain(own: &Certificate, all: &[(Marks, Certificate)]) -> Vec<CertificateDer<'static>> {
    let mut links = vec![own];
    while let Some(last) = links.last().filter(|last| last.names.subject != last.names.issuer) {
        let next = all.iter().find(|(_, cert)| cert.names.subject == last.names.issuer);
        match next {
            Some((_, next)) if !links.iter().any(|link| link.der == next.der) => links.push(next),
            _ => break,
        }
    }
    links.into_iter().map(|cert| cert.der.clone()).collect()
}
