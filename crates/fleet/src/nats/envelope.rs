//! The messages between coordinators and waiting agents, and the signatures that prove their senders.
//!
//! | subject | from | what |
//! |---|---|---|
//! | `throng.call.POOL` | a coordinator | a request for offers |
//! | `throng.offer.POOL.AGENT` | an agent | its [`Offer`] |
//! | `throng.to.AGENT` | a coordinator | an [`Order`]: the reservation order, and packets of the stream |
//! | `throng.from.AGENT` | an agent | a [`Reply`]: packets of the stream, and the end of the stream |
//!
//! A message is a signature and a body. The signature also covers the kind of the message and the agent's name, so a
//! message cannot be used as another kind or for another agent. Orders are signed with the operator's key. Offers and
//! replies are signed with a key that the agent generates when it starts. The content of packets is encrypted in
//! addition ([`super::sealed`]). Recorded messages cannot be replayed: a reservation order contains a random number
//! from the agent's offer, which is valid once. All later messages contain the random session number of the
//! coordinator.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::key::{Public, SIGNATURE, Secret};
use super::link::Packet;
use super::sealed::{Fingerprint, Half};
use crate::remote::Offered;

/// A random number of 128 bits, used as nonce or session number.
pub(crate) type RandomId = [u8; 16];

/// A message with which a waiting agent offers itself to coordinators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// The random number that a reservation order for this offer must contain.
    pub(crate) nonce: RandomId,
    /// The public key that verifies the agent's messages until the agent ends.
    pub(crate) key: [u8; 32],
    /// The agent's public key for the key exchange of the next stream.
    pub(crate) half: Half,
    /// Fingerprint of the key that the agent shares with the operator.
    pub(crate) mark: Option<Fingerprint>,
    /// Hash of the agent's program. The coordinator's program must have the same hash.
    pub(crate) program: String,
    pub(crate) zone: String,
    pub(crate) labels: Vec<(String, String)>,
    /// True if the agent is reserved for a run.
    pub(crate) busy: bool,
    /// The last session whose reservation order the agent refused, with the reason.
    pub(crate) refusal: Option<(RandomId, String)>,
    pub(crate) offered: Offered,
}

/// A signed message of a coordinator to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) session: RandomId,
    pub(crate) what: OrderKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OrderKind {
    /// Reserves the agent for a run. The agent closes the stream after `patience` seconds without a message of the
    /// coordinator.
    Reserve {
        nonce: RandomId,
        patience: u32,
        /// The coordinator's public key for the key exchange of the stream.
        half: Half,
    },
    Packet(Packet),
    /// Releases the agent: the run needs it no longer.
    Close,
    /// Lets another coordinator take over the run. `former` lists the earlier sessions of the run, one of which the
    /// agent is in. A new stream starts in the session of this order.
    Take {
        former: Vec<RandomId>,
        patience: u32,
        half: Half,
    },
}

/// A signed message of a reserved agent to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) session: RandomId,
    pub(crate) what: ReplyKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ReplyKind {
    Packet(Packet),
    /// The agent closes the stream, for this reason.
    Close(String),
}

/// Maximum number of bytes that a packet's message has in addition to the packet's content: signature, numbers,
/// lengths.
pub(crate) const OVERHEAD: usize = 256;

/// The kind of a signed message. The signature covers the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Offer,
    Order,
    Reply,
}

/// Returns the bytes that a message's signature covers.
fn signed(kind: Kind, agent: &str, body: &[u8]) -> Vec<u8> {
    let kind = match kind {
        Kind::Offer => "offer",
        Kind::Order => "order",
        Kind::Reply => "word",
    };
    let mut bytes = format!("throng fleet 1\0{kind}\0{agent}\0").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Returns a message with its signature. Without a key, the signature bytes are 0.
pub(crate) fn seal(
    key: Option<&Secret>,
    (kind, agent): (Kind, &str),
    message: &impl Serialize,
) -> Vec<u8> {
    // Serializing these messages cannot fail.
    let body = postcard::to_stdvec(message).unwrap_or_default();
    let seal = key.map_or([0; SIGNATURE], |key| key.sign(&signed(kind, agent, &body)));
    [&seal[..], &body].concat()
}

/// Verifies and parses a message. Returns `None` if the message is malformed or its signature is wrong. Without a key,
/// any signature is accepted.
pub(crate) fn open<T: DeserializeOwned>(
    key: Option<&Public>,
    (kind, agent): (Kind, &str),
    bytes: &[u8],
) -> Option<T> {
    let (seal, body) = bytes.split_at_checked(SIGNATURE)?;
    let is_right = key.is_none_or(|key| key.has_signed(&signed(kind, agent, body), seal));
    is_right.then(|| postcard::from_bytes(body).ok()).flatten()
}

/// Verifies and parses an offer with the key that it contains.
pub(crate) fn open_offer(agent: &str, bytes: &[u8]) -> Option<Offer> {
    let offer: Offer = open(None, (Kind::Offer, agent), bytes)?;
    open(Some(&Public::of(offer.key)), (Kind::Offer, agent), bytes)
}

/// Generates a random number of 128 bits.
pub(crate) fn random_id() -> Result<RandomId, String> {
    let mut bytes = RandomId::default();
    aws_lc_rs::rand::fill(&mut bytes)
        .map_err(|_| "the system's random number generator failed".to_owned())?;
    Ok(bytes)
}

/// Returns the subject of calls to a pool.
pub(crate) fn call(pool: &str) -> String {
    format!("throng.call.{pool}")
}

/// Returns the subject of an agent's offers to a pool.
pub(crate) fn offer(pool: &str, agent: &str) -> String {
    format!("throng.offer.{pool}.{agent}")
}

pub(crate) fn to(agent: &str) -> String {
    format!("throng.to.{agent}")
}

pub(crate) fn from(agent: &str) -> String {
    format!("throng.from.{agent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(session: u8) -> Order {
        Order { session: [session; 16], what: OrderKind::Close }
    }

    #[test]
    fn a_seal_is_for_one_key_one_kind_and_one_agent() {
        let (operator, other) = (Secret::new().expect("a key"), Secret::new().expect("a key"));
        let (public, foreign) = (operator.public(), other.public());
        let bytes = seal(Some(&operator), (Kind::Order, "a1"), &order(1));
        let opened = |key, kind, agent, bytes: &[u8]| open::<Order>(key, (kind, agent), bytes);
        assert_eq!(opened(Some(&public), Kind::Order, "a1", &bytes), Some(order(1)));
        assert_eq!(opened(Some(&foreign), Kind::Order, "a1", &bytes), None, "a foreign key");
        assert_eq!(opened(Some(&public), Kind::Reply, "a1", &bytes), None, "another kind");
        assert_eq!(opened(Some(&public), Kind::Order, "a2", &bytes), None, "another agent");
        let unsigned = seal(None, (Kind::Order, "a1"), &order(1));
        assert_eq!(opened(Some(&public), Kind::Order, "a1", &unsigned), None, "unsigned");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(opened(Some(&public), Kind::Order, "a1", &changed), None, "byte {at}");
            assert_eq!(opened(Some(&public), Kind::Order, "a1", &bytes[..at]), None, "{at} bytes");
        }
    }

    #[test]
    fn an_offer_proves_its_own_key() {
        let agent = Secret::new().expect("a key");
        let offer = Offer {
            nonce: random_id().expect("a number"),
            key: agent.public().bytes(),
            half: [1; 32],
            mark: None,
            program: "ab".into(),
            zone: "eu".into(),
            labels: Vec::new(),
            busy: false,
            refusal: None,
            offered: Offered::default(),
        };
        let bytes = seal(Some(&agent), (Kind::Offer, "a1"), &offer);
        assert_eq!(open_offer("a1", &bytes), Some(offer.clone()));
        assert_eq!(open_offer("a2", &bytes), None, "it cannot be offered in another name");
        let thief = Secret::new().expect("a key");
        let bytes = seal(Some(&thief), (Kind::Offer, "a1"), &offer);
        assert_eq!(open_offer("a1", &bytes), None, "nobody offers the key of another");
    }
}
