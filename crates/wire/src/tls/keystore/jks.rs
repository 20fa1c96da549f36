//! JKS, the key store format of older Java versions, with a special encryption that is based on SHA-1.
//!
//! All lengths are checked against the remaining bytes. Entries are in the order of Java's hash table, because plans
//! select keys by position.

use super::{KeyEntry, KeyStore, KeyStoreError};
use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

const PRIVATE_KEY: u32 = 1;
const CERTIFICATE: u32 = 2;
const DIGEST: usize = 20;
/// Constant string that a JKS file's digest covers between the password and the content.
const WHITENER: &[u8] = b"Mighty Aphrodite";
/// Object identifier `1.3.6.1.4.1.42.2.17.1.1` of JKS key encryption, in DER.
const PROTECTION: &[u8] = &[6, 10, 0x2B, 6, 1, 4, 1, 0x2A, 2, 0x11, 1, 1];

enum Entry {
    Key(KeyEntry),
    Trusted(CertificateDer<'static>),
}

pub(super) fn read(bytes: &[u8], password: Option<&str>) -> Result<KeyStore, KeyStoreError> {
    let (content, digest) = bytes.split_last_chunk::<DIGEST>().ok_or(KeyStoreError::Malformed)?;
    let password: Option<Vec<u8>> =
        password.map(|text| text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    if let Some(password) = &password
        && sha1(&[password, WHITENER, content]) != *digest
    {
        return Err(KeyStoreError::Password);
    }
    let mut input = Input(content.get(4..).ok_or(KeyStoreError::Malformed)?);
    let version = input.number()?;
    if !matches!(version, 1 | 2) {
        return Err(KeyStoreError::Malformed);
    }
    let count = input.number()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let tag = input.number()?;
        let alias = input.text()?;
        input.take(8)?; // Creation date of the entry.
        let entry = match tag {
            PRIVATE_KEY => {
                let sealed = input.sized()?;
                let links = input.number()?;
                let mut chain = Vec::new();
                for _ in 0..links {
                    chain.push(input.certificate(version)?);
                }
                let password = password.as_deref().ok_or(KeyStoreError::Password)?;
                let key = PrivateKeyDer::try_from(opened(sealed, password)?)
                    .map_err(|_| KeyStoreError::Malformed)?;
                Entry::Key(KeyEntry { alias: alias.clone(), key, chain })
            }
            CERTIFICATE => Entry::Trusted(input.certificate(version)?),
            _ => return Err(KeyStoreError::Malformed),
        };
        entries.push((alias, entry));
    }
    let mut store = KeyStore::default();
    for (_, entry) in as_enumerated(entries) {
        match entry {
            Entry::Key(entry) => store.keys.push(entry),
            Entry::Trusted(certificate) => store.trusted.push(certificate),
        }
    }
    Ok(store)
}

/// Decrypts a private key: XOR with a chain of SHA-1 digests that starts with a salt. Fails if the password is wrong.
fn opened(sealed: &[u8], password: &[u8]) -> Result<Vec<u8>, KeyStoreError> {
    let info = der(sealed, 0x30)?;
    let algorithm = der(info, 0x30)?;
    if !algorithm.starts_with(PROTECTION) {
        return Err(KeyStoreError::Encryption);
    }
    let after = info.len() - der_rest(info)?.len();
    let data = der(&info[after..], 4)?;
    let Some((salt, rest)) = data.split_first_chunk::<DIGEST>() else {
        return Err(KeyStoreError::Malformed);
    };
    let (text, check) = rest.split_last_chunk::<DIGEST>().ok_or(KeyStoreError::Malformed)?;
    let mut key = Vec::with_capacity(text.len());
    let mut pad = *salt;
    for piece in text.chunks(DIGEST) {
        pad = sha1(&[password, &pad]);
        key.extend(piece.iter().zip(pad).map(|(byte, pad)| byte ^ pad));
    }
    if sha1(&[password, &key]) == *check { Ok(key) } else { Err(KeyStoreError::Password) }
}

/// Returns the content of the first DER value in the input, which must have this tag.
fn der(input: &[u8], tag: u8) -> Result<&[u8], KeyStoreError> {
    if input.first() != Some(&tag) {
        return Err(KeyStoreError::Malformed);
    }
    let rest = der_rest(input)?;
    let (_, header) = der_length(input)?;
    Ok(&input[header..input.len() - rest.len()])
}

/// Returns the bytes after the first DER value in the input.
fn der_rest(input: &[u8]) -> Result<&[u8], KeyStoreError> {
    let (length, header) = der_length(input)?;
    input.get(header..).and_then(|body| body.get(length..)).ok_or(KeyStoreError::Malformed)
}

/// Returns the length of a DER value's content, and the length of its header.
fn der_length(input: &[u8]) -> Result<(usize, usize), KeyStoreError> {
    match *input {
        [_, short @ 0..=0x7F, ..] => Ok((usize::from(short), 2)),
        [_, 0x81, a, ..] => Ok((usize::from(a), 3)),
        [_, 0x82, a, b, ..] => Ok((usize::from(u16::from_be_bytes([a, b])), 4)),
        _ => Err(KeyStoreError::Malformed),
    }
}

fn sha1(parts: &[&[u8]]) -> [u8; DIGEST] {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    for part in parts {
        context.update(part);
    }
    let mut digest = [0; DIGEST];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], KeyStoreError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(KeyStoreError::Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, KeyStoreError> {
        let bytes = self.take(4)?.try_into().map_err(|_| KeyStoreError::Malformed)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn sized(&mut self) -> Result<&'a [u8], KeyStoreError> {
        let length = self.number()? as usize;
        self.take(length)
    }

    /// Reads text in Java's modified UTF-8, which equals UTF-8 for all usual names.
    fn text(&mut self) -> Result<String, KeyStoreError> {
        let length = self.take(2)?.try_into().map_err(|_| KeyStoreError::Malformed)?;
        let bytes = self.take(usize::from(u16::from_be_bytes(length)))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn certificate(&mut self, version: u32) -> Result<CertificateDer<'static>, KeyStoreError> {
        if version == 2 && self.text()? != "X.509" {
            return Err(KeyStoreError::Malformed);
        }
        Ok(CertificateDer::from(self.sized()?.to_vec()))
    }
}

/// Sorts entries into the order in which `java.util.Hashtable` enumerates them if they are inserted one by one. A later
/// entry replaces an earlier entry of the same name.
fn as_enumerated<T>(entries: Vec<(String, T)>) -> Vec<(String, T)> {
    let place = |name: &str, size: usize| {
        let hash = name
            .encode_utf16()
            .fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
        (hash & i32::MAX) as usize % size
    };
    let mut table: Vec<Vec<(String, T)>> = std::iter::repeat_with(Vec::new).take(11).collect();
    let mut count = 0;
    for (name, value) in entries {
        let at = place(&name, table.len());
        if let Some(old) = table[at].iter_mut().find(|(known, _)| *known == name) {
            old.1 = value;
            continue;
        }
        // At three quarters of its capacity Java's hash table grows, which reverses its chains.
        if count >= table.len() * 3 / 4 {
            let size = table.len() * 2 + 1;
            let mut grown: Vec<Vec<(String, T)>> =
                std::iter::repeat_with(Vec::new).take(size).collect();
            for entry in table.into_iter().rev().flatten() {
                grown[place(&entry.0, size)].insert(0, entry);
            }
            table = grown;
        }
        let at = place(&name, table.len());
        table[at].insert(0, (name, value));
        count += 1;
    }
    table.into_iter().rev().flatten().collect()
}
