//! Subject and issuer names of a certificate.

use super::{INTEGER, KeyStoreError, Reader, Result, SEQUENCE, SET};

/// BER tag `[0]` of the field that contains a certificate's version.
const VERSION: u8 = 0xA0;

/// Subject and issuer in a normal form, so that equal names have equal bytes.
pub(super) struct Names {
    pub(super) subject: Vec<u8>,
    pub(super) issuer: Vec<u8>,
}

impl Names {
    pub(super) fn of(certificate: &[u8]) -> Result<Self> {
        let mut certificate = Reader::new(certificate).expect(SEQUENCE)?.inside()?;
        let mut signed = certificate.expect(SEQUENCE)?.inside()?;
        signed.optional(VERSION)?;
        signed.expect(INTEGER)?;
        signed.expect(SEQUENCE)?;
        let issuer = normal(signed.expect(SEQUENCE)?.inside()?)?;
        signed.expect(SEQUENCE)?;
        let subject = normal(signed.expect(SEQUENCE)?.inside()?)?;
        Ok(Self { subject, issuer })
    }
}

/// Normalises a name for comparison (RFC 5280 §7.1, limited to ASCII): string type and letter case are ignored.
fn normal(parts: Reader<'_>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for part in parts {
        let part = part?;
        if part.tag != SET {
            return Err(KeyStoreError::Malformed);
        }
        for pair in part.inside()? {
            for value in pair?.inside()? {
                let value = value?.content;
                all.extend_from_slice(&value.len().to_be_bytes());
                all.extend(value.iter().map(u8::to_ascii_lowercase));
            }
        }
    }
    Ok(all)
}
