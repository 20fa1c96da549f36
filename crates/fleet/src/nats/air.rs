//! The messages between coordinators and waiting agents, and the seals by which each proves where it is from.
//!
//! | subject | from | what |
//! |---|---|---|
//! | `throng.call.POOL` | a coordinator | offers are wanted |
//! | `throng.offer.POOL.AGENT` | an agent | its [`Offer`] |
//! | `throng.to.AGENT` | a coordinator | an [`Order`]: it is hired, and packets of the stream |
//! | `throng.from.AGENT` | an agent | a [`Word`]: packets of the stream, and its end |
//!
//! A message is a signature and a body. The signature covers the kind of the message and the agent's name, too: nothing
//! can be taken for something else. Orders are signed by the operator's key, offers and words by a key that the agent
//! makes when it starts. What packets carry is sealed beside that ([`super::sealed`]). An order to hire has a number that the agent has drawn and takes once, and all that follows the
//! session's number, which the coordinator has drawn: what was recorded cannot be played again.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::key::{Public, SIGNATURE, Secret};
use super::link::Packet;
use super::sealed::{Half, Mark};
use crate::remote::Offered;

/// A number that nobody can guess.
pub(crate) type Drawn = [u8; 16];

/// An offer of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// Number that an order to hire must have.
    pub(crate) nonce: Drawn,
    /// The key that the agent signs with until it ends.
    pub(crate) key: [u8; 32],
    /// Its half of the keys of the next stream, and the mark of the key that it shares with the operator.
    pub(crate) half: Half,
    pub(crate) mark: Option<Mark>,
    /// Hash of its program, which must be that of the coordinator.
    pub(crate) program: String,
    pub(crate) zone: String,
    pub(crate) labels: Vec<(String, String)>,
    /// It works for a run.
    pub(crate) busy: bool,
    /// The session whose order to hire it did not obey last, and why.
    pub(crate) refusal: Option<(Drawn, String)>,
    pub(crate) offered: Offered,
}

/// An order of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) session: Drawn,
    pub(crate) what: Ordered,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ordered {
    /// The agent works for a run from now on. Without a word of the coordinator it closes the stream after so many
    /// seconds.
    Hire {
        nonce: Drawn,
        patience: u32,
        /// The coordinator's half of the stream's keys.
        half: Half,
    },
    Packet(Packet),
    /// The coordinator needs it no more.
    Close,
    /// Another coordinator takes the run over, whose session was one of those: a stream begins anew in this session.
    Take {
        former: Vec<Drawn>,
        patience: u32,
        half: Half,
    },
}

/// A word of an agent that was hired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Word {
    pub(crate) session: Drawn,
    pub(crate) what: Said,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    Packet(Packet),
    /// Nothing more comes, for a reason.
    Close(String),
}

/// Bytes that a packet may be longer than what it carries: the seal, numbers, lengths.
pub(crate) const OVERHEAD: usize = 256;

/// The kind of a message, which its signature covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Offer,
    Order,
    Word,
}

/// The signed bytes.
fn signed(kind: Kind, agent: &str, body: &[u8]) -> Vec<u8> {
    let kind = match kind {
        Kind::Offer => "offer",
        Kind::Order => "order",
        Kind::Word => "word",
    };
    let mut bytes = format!("throng fleet 1\0{kind}\0{agent}\0").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A message with its seal. Without a key the seal is empty.
pub(crate) fn seal(
    key: Option<&Secret>,
    (kind, agent): (Kind, &str),
    message: &impl Serialize,
) -> Vec<u8> {
    // Messages are data: they have a form.
    let body = postcard::to_stdvec(message).unwrap_or_default();
    let seal = key.map_or([0; SIGNATURE], |key| key.sign(&signed(kind, agent, &body)));
    [&seal[..], &body].concat()
}

/// The message under a seal; `None` if it is broken or was sealed by another key. Without a key any seal is right.
pub(crate) fn open<T: DeserializeOwned>(
    key: Option<&Public>,
    (kind, agent): (Kind, &str),
    bytes: &[u8],
) -> Option<T> {
    let (seal, body) = bytes.split_at_checked(SIGNATURE)?;
    let is_right = key.is_none_or(|key| key.has_signed(&signed(kind, agent, body), seal));
    is_right.then(|| postcard::from_bytes(body).ok()).flatten()
}

/// An offer, sealed by the key that is in it.
pub(crate) fn open_offer(agent: &str, bytes: &[u8]) -> Option<Offer> {
    let offer: Offer = open(None, (Kind::Offer, agent), bytes)?;
    open(Some(&Public::of(offer.key)), (Kind::Offer, agent), bytes)
}

/// A number that nobody can guess.
pub(crate) fn draw() -> Result<Drawn, String> {
    let mut bytes = Drawn::default();
    aws_lc_rs::rand::fill(&mut bytes)
        .map_err(|_| "the system gives no random numbers".to_owned())?;
    Ok(bytes)
}

/// Subjects.
pub(crate) fn call(pool: &str) -> String {
    format!("throng.call.{pool}")
}

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
        Order { session: [session; 16], what: Ordered::Close }
    }

    #[test]
    fn a_seal_is_for_one_key_one_kind_and_one_agent() {
        let (operator, other) = (Secret::new().expect("a key"), Secret::new().expect("a key"));
        let (public, foreign) = (operator.public(), other.public());
        let bytes = seal(Some(&operator), (Kind::Order, "a1"), &order(1));
        let opened = |key, kind, agent, bytes: &[u8]| open::<Order>(key, (kind, agent), bytes);
        assert_eq!(opened(Some(&public), Kind::Order, "a1", &bytes), Some(order(1)));
        assert_eq!(opened(Some(&foreign), Kind::Order, "a1", &bytes), None, "a foreign key");
        assert_eq!(opened(Some(&public), Kind::Word, "a1", &bytes), None, "another kind");
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
            nonce: draw().expect("a number"),
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
