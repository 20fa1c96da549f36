//! Encryption of stream packets: only the two ends can read plans, data and results, not the server.
//!
//! Each side generates an X25519 key pair per reservation and sends the public key, called half, in a signed message.
//! HKDF with SHA-256 derives one key per direction from both halves, and from the key that the operator shares with its
//! agents, if there is one. A packet is encrypted with AES-256-GCM with its number as the nonce, so that a resent
//! packet has the same bytes. With or without the shared key, an eavesdropper on the server can read nothing. Only the
//! shared key protects against a server that impersonates an agent.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use aws_lc_rs::{hkdf, hmac};

use super::envelope::RandomId;
use super::link::Packet;

/// Length in bytes of a public key, and of the key that operator and agents share.
const KEY: usize = 32;
/// A public X25519 key: one side's half of the key exchange.
pub(crate) type Half = [u8; KEY];
/// Fingerprint of the shared key, by which coordinator and agent check that they have the same key.
pub(crate) type Fingerprint = [u8; 8];

/// The key that an operator shares with its agents.
#[derive(Clone)]
pub(crate) struct Shared([u8; KEY]);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

impl Shared {
    /// Generates a shared key. Fails if the system returns no random numbers.
    pub(super) fn new() -> Result<Self, String> {
        let mut key = [0; KEY];
        aws_lc_rs::rand::fill(&mut key).map_err(|_| NO_RANDOM.to_owned())?;
        Ok(Self(key))
    }

    /// Parses a shared key: 64 hexadecimal digits on a line. Lines that begin with `#` are ignored.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("");
        let mut key = [0; KEY];
        if line.len() != 2 * KEY || !line.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err("no key of 64 hexadecimal digits found".into());
        }
        for (at, byte) in key.iter_mut().enumerate() {
            let digits = &line[2 * at..2 * at + 2];
            *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
        }
        Ok(Self(key))
    }

    /// Returns the shared key as 64 hexadecimal digits.
    pub(super) fn text(&self) -> String {
        let digit = |four: u8| char::from_digit(four.into(), 16).unwrap_or_default();
        self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }

    pub(super) fn mark(&self) -> Fingerprint {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let tag = hmac::sign(&key, b"throng fleet 1 mark");
        let mut mark = Fingerprint::default();
        let length = mark.len();
        mark.copy_from_slice(&tag.as_ref()[..length]);
        mark
    }
}

const NO_RANDOM: &str = "the system's random number generator failed";

/// One side's key pair for the key exchange.
pub(super) struct Own {
    secret: PrivateKey,
    half: Half,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own of {:02x?}", self.half)
    }
}

/// The two ends of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Agent,
    Coordinator,
}

impl Own {
    pub(super) fn new() -> Result<Self, String> {
        let odd = |_| "cannot create a key: ".to_owned() + NO_RANDOM;
        let secret = PrivateKey::generate(&X25519).map_err(odd)?;
        let public = secret.compute_public_key().map_err(odd)?;
        let mut half = [0; KEY];
        half.copy_from_slice(public.as_ref());
        Ok(Self { secret, half })
    }

    pub(super) fn half(&self) -> Half {
        self.half
    }

    /// Derives the encryption keys of a stream from this key pair, the other side's public key and the shared key.
    pub(super) fn keys(
        &self,
        side: Side,
        other: &Half,
        shared: Option<&Shared>,
        (session, agent): (RandomId, &str),
    ) -> Result<Keys, String> {
        let halves = match side {
            Side::Agent => [self.half, *other],
            Side::Coordinator => [*other, self.half],
        };
        let salt = shared.map_or([0; KEY], |shared| shared.0);
        let odd = |_| "cannot derive the keys of the stream".to_owned();
        let both = agree(&self.secret, UnparsedPublicKey::new(&X25519, other), (), |both| {
            Ok(hkdf::Salt::new(hkdf::HKDF_SHA256, &salt).extract(both))
        });
        let both = both.map_err(|()| "the other side's public key is invalid".to_owned())?;
        let key = |direction: &[u8]| {
            let about: [&[u8]; 6] = [
                b"throng fleet 1 stream",
                direction,
                &session,
                &halves[0],
                &halves[1],
                agent.as_bytes(),
            ];
            let mut bytes = [0; KEY];
            both.expand(&about, hkdf::HKDF_SHA256).and_then(|key| key.fill(&mut bytes))?;
            UnboundKey::new(&AES_256_GCM, &bytes).map(LessSafeKey::new)
        };
        let (to, from) = (key(b"to").map_err(odd)?, key(b"from").map_err(odd)?);
        Ok(match side {
            Side::Agent => Keys { out: from, into: to },
            Side::Coordinator => Keys { out: to, into: from },
        })
    }
}

/// The encryption keys of a stream, one for each direction.
pub(super) struct Keys {
    out: LessSafeKey,
    into: LessSafeKey,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(bytes)
}

impl Keys {
    /// Encrypts the bytes of a packet. A packet without bytes stays unchanged.
    pub(super) fn seal(&self, mut packet: Packet) -> Packet {
        // Encryption fails only for inputs that are longer than any packet.
        if packet.number > 0
            && self
                .out
                .seal_in_place_append_tag(nonce(packet.number), Aad::empty(), &mut packet.bytes)
                .is_err()
        {
            packet.bytes.clear();
        }
        packet
    }

    /// Decrypts a packet of the other side; `None` if it was encrypted with other keys.
    pub(super) fn open(&self, mut packet: Packet) -> Option<Packet> {
        if packet.number > 0 {
            let length = self
                .into
                .open_in_place(nonce(packet.number), Aad::empty(), &mut packet.bytes)
                .ok()?
                .len();
            packet.bytes.truncate(length);
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u64, bytes: &[u8]) -> Packet {
        Packet { number, has: 3, bytes: bytes.to_vec() }
    }

    /// Returns the stream keys that the agent and the coordinator derive.
    fn pair(of_agent: Option<&Shared>, of_coordinator: Option<&Shared>) -> (Keys, Keys) {
        let (agent, coordinator) = (Own::new().expect("a half"), Own::new().expect("a half"));
        let about = ([7; 16], "a1");
        let keys = agent.keys(Side::Agent, &coordinator.half(), of_agent, about);
        let other = coordinator.keys(Side::Coordinator, &agent.half(), of_coordinator, about);
        (keys.expect("keys"), other.expect("keys"))
    }

    #[test]
    fn a_stream_is_read_by_its_other_side_alone() {
        let shared = Shared::new().expect("a key");
        for shared in [None, Some(&shared)] {
            let (agent, coordinator) = pair(shared, shared);
            let plain = packet(1, b"password=opensesame");
            let sealed = coordinator.seal(plain.clone());
            assert!(!sealed.bytes.windows(8).any(|part| part == b"password"));
            assert_eq!(coordinator.seal(plain.clone()), sealed, "sent again it is the same");
            assert_eq!(agent.open(sealed.clone()), Some(plain.clone()));
            assert_eq!(coordinator.open(sealed.clone()), None, "the other direction");
            assert_eq!(agent.open(Packet { number: 2, ..sealed.clone() }), None, "another place");
            let (other, _) = pair(shared, shared);
            assert_eq!(other.open(sealed.clone()), None, "another stream");
            for at in 0..sealed.bytes.len() {
                let mut changed = sealed.clone();
                changed.bytes[at] ^= 1;
                assert_eq!(agent.open(changed), None, "byte {at}");
                let cut = Packet { bytes: sealed.bytes[..at].to_vec(), ..sealed.clone() };
                assert_eq!(agent.open(cut), None, "{at} bytes");
            }
            let empty = packet(0, b"");
            assert_eq!(coordinator.seal(empty.clone()), empty);
            assert_eq!(agent.open(empty.clone()), Some(empty));
        }
    }

    #[test]
    fn who_does_not_share_the_key_reads_nothing() {
        let (one, two) = (Shared::new().expect("a key"), Shared::new().expect("a key"));
        for (of_agent, of_coordinator) in
            [(None, Some(&one)), (Some(&one), None), (Some(&two), Some(&one))]
        {
            let (agent, coordinator) = pair(of_agent, of_coordinator);
            assert_eq!(agent.open(coordinator.seal(packet(1, b"plan"))), None);
            assert_eq!(coordinator.open(agent.seal(packet(1, b"rows"))), None);
        }
        assert_ne!(one.mark(), two.mark());
    }

    #[test]
    fn a_half_that_is_none_makes_no_keys() {
        let own = Own::new().expect("a half");
        // A public key of low order would produce the same secret for everybody.
        assert!(own.keys(Side::Agent, &[0; KEY], None, ([0; 16], "a1")).is_err());
    }

    #[test]
    fn a_shared_key_is_text_and_comes_back() {
        let key = Shared::new().expect("a key");
        let again = Shared::read(&format!("# of a fleet\n\n  {}\r\n", key.text())).expect("it");
        assert_eq!((again.0, again.mark()), (key.0, key.mark()));
        assert!(!format!("{key:?}").contains(&key.text()), "a secret is never shown");
        for bad in ["", "# only this", "ab", &"g".repeat(64), &"a".repeat(63), &"é".repeat(32)] {
            assert!(Shared::read(bad).is_err(), "{bad}");
        }
    }
}
