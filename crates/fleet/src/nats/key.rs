//! Ed25519 keys in the format of NATS's nkeys: one line of base32 with a checksum.
//!
//! A secret key begins with `S`, followed by a letter for the kind; a public key begins with the letter for the kind.
//! Kinds only help people: users of a server have `U`. The key with which an operator signs orders has the same format,
//! so that tools for nkeys can generate and read it.

use std::fmt;

use aws_lc_rs::rand;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

/// Prefix byte of a secret key, as nkeys defines it.
const SEED: u8 = 18 << 3;
/// Prefix byte of the key of a server's user, as nkeys defines it.
const USER: u8 = 20 << 3;
/// Length of a key in bytes.
const KEY: usize = 32;
/// Length of a signature in bytes.
pub(crate) const SIGNATURE: usize = 64;
/// Digits of base32.
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A secret key.
pub struct Secret {
    pair: Ed25519KeyPair,
    seed: [u8; KEY],
    kind: u8,
}

/// A public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Public([u8; KEY]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret of {:?}", self.public())
    }
}

impl fmt::Debug for Public {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Secret {
    /// Generates a key. Fails if the system returns no random numbers.
    pub fn new() -> Result<Self, String> {
        let mut seed = [0; KEY];
        rand::fill(&mut seed)
            .map_err(|_| "the system's random number generator failed".to_owned())?;
        Self::of(seed, USER)
    }

    fn of(seed: [u8; KEY], kind: u8) -> Result<Self, String> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed);
        let pair = pair.map_err(|_| "not an Ed25519 key".to_owned())?;
        Ok(Self { pair, seed, kind })
    }

    /// Parses the first line that is a secret key, such as `SUAM…`. Other lines, as in a credentials file, are ignored.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| line.starts_with('S') && line.len() == 58);
        let line = line.ok_or("no secret key (SUAM…) found")?;
        let bytes = decode(line).ok_or("the secret key has an invalid character or checksum")?;
        // The first five bits mark a secret key. The kind spans the border of the first two bytes.
        let ([first, second, seed @ ..], true) = (&bytes[..], bytes.len() == KEY + 2) else {
            return Err("the secret key has a wrong length".into());
        };
        if first & 0b1111_1000 != SEED {
            return Err("the key is not a secret key".into());
        }
        let kind = (first & 0b111) << 5 | (second & 0b1111_1000) >> 3;
        let seed = seed.try_into().map_err(|_| "the secret key has a wrong length")?;
        Self::of(seed, kind)
    }

    /// Returns the secret key in the format of nkeys.
    pub fn text(&self) -> String {
        let head = [SEED | self.kind >> 5, (self.kind & 0b1_1111) << 3];
        encode(&[&head[..], &self.seed].concat())
    }

    pub fn public(&self) -> Public {
        let mut bytes = [0; KEY];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        Public(bytes)
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE] {
        let mut signature = [0; SIGNATURE];
        signature.copy_from_slice(self.pair.sign(bytes).as_ref());
        signature
    }
}

impl Public {
    /// Parses the public key in a string, such as `UDXU…`. Lines that begin with `#` are ignored.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let bytes = line.and_then(decode).ok_or("no public key (UDXU…) found")?;
        match &bytes[..] {
            [kind, key @ ..] if key.len() == KEY && kind & 0b1111_1000 != SEED => {
                let mut bytes = [0; KEY];
                bytes.copy_from_slice(key);
                Ok(Self(bytes))
            }
            _ => Err("the key is not a public key".into()),
        }
    }

    /// Returns the public key in the format of nkeys, as the key of a user.
    pub fn text(&self) -> String {
        encode(&[&[USER][..], &self.0].concat())
    }

    pub(crate) fn of(bytes: [u8; KEY]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> [u8; KEY] {
        self.0
    }

    pub(crate) fn has_signed(&self, bytes: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(bytes, signature).is_ok()
    }
}

/// Encodes bytes and their checksum in base32.
pub(super) fn encode(bytes: &[u8]) -> String {
    let sum = crc16(bytes).to_le_bytes();
    let (mut text, mut bits, mut held) = (String::new(), 0_u32, 0);
    for byte in bytes.iter().chain(&sum) {
        bits = bits << 8 | u32::from(*byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            text.push(char::from(ALPHABET[(bits >> held & 31) as usize]));
        }
        bits &= (1 << held) - 1;
    }
    if held > 0 {
        text.push(char::from(ALPHABET[(bits << (5 - held) & 31) as usize]));
    }
    text
}

/// Decodes base32; `None` if the checksum is wrong.
fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        let value = ALPHABET.iter().position(|other| *other == letter)?;
        bits = bits << 5 | value as u32;
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
        bits &= (1 << held) - 1;
    }
    let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(2)?)?;
    (bits == 0 && crc16(content).to_le_bytes() == sum).then(|| content.to_vec())
}

/// Computes the checksum CRC-16/XMODEM: polynomial 0x1021, initial value 0.
fn crc16(bytes: &[u8]) -> u16 {
    let step = |sum: u16, _| if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 };
    bytes.iter().fold(0, |sum, byte| (0..8).fold(sum ^ u16::from(*byte) << 8, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_text_and_come_back() {
        let secret = Secret::new().expect("random numbers");
        let (text, public) = (secret.text(), secret.public());
        assert!(text.starts_with("SU") && text.len() == 58, "{text}");
        assert!(public.text().starts_with('U') && public.text().len() == 56, "{public:?}");
        let file = format!("-----BEGIN USER NKEY SEED-----\n{text}\n------END-----\n");
        let again = Secret::read(&file).expect("the key");
        assert_eq!((again.public(), again.text()), (public, text.clone()));
        assert_eq!(Public::read(&format!("# of an operator\n{}\n", public.text())), Ok(public));
        let signature = again.sign(b"an order");
        assert!(public.has_signed(b"an order", &signature));
        assert!(!public.has_signed(b"another", &signature));
        assert!(!Secret::new().expect("a key").public().has_signed(b"an order", &signature));
        assert!(!format!("{secret:?}").contains(&text), "a secret is never shown");
    }

    /// Reads a key pair from the documentation of nk, the key tool of NATS.
    #[test]
    fn keys_of_the_tool_are_read() {
        let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
        let secret = Secret::read(seed).expect("a key");
        assert_eq!(
            secret.public().text(),
            "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
        );
        assert_eq!(secret.text(), seed);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let secret = Secret::new().expect("random numbers");
        let (text, public) = (secret.text(), secret.public().text());
        let mut odd = text.clone().into_bytes();
        odd[20] = if odd[20] == b'A' { b'B' } else { b'A' };
        let odd = String::from_utf8(odd).expect("letters");
        for bad in ["", "SU", &odd, &public, &text.to_lowercase()] {
            assert!(Secret::read(bad).is_err(), "{bad}");
        }
        for bad in ["", "U", &text, &public[1..], "# only this"] {
            assert!(Public::read(bad).is_err(), "{bad}");
        }
    }
}
