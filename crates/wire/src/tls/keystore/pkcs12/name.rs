//! The names in a certificate: of whom it is, and of who signed it.

use super::{INTEGER, KeyStoreError, Reader, Result, SEQUENCE, SET};

/// `[0]` around a certificate's version.
const VERSION: u8 = 0xA0;

/// Both names, so written that equal ones are equal.
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

/// A name for comparison, as in RFC 5280 §7.1 as far as ASCII: neither the kind of text counts nor capital letters.
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
