//! Exact accounting over connections that lose, repeat, delay and reorder: each sample counts once, or is declared
//! missing.
//!
//! A [`Sender`] numbers what it measured, writes it to its own disk and sends it until the [`Ledger`] acknowledges it,
//! which the ledger does only for what its own disk has. Both do no I/O: they say what to write and what to send, and
//! their state is what was written, read again after a restart. A sender measures only under a grant, which bounds what
//! can go missing with it and ends by itself when nobody renews it.

mod ledger;
mod sender;

use serde::{Deserialize, Serialize};

pub use ledger::{Account, Ledger, Limits, Missing, Note};
pub use sender::{Entry, Sender};

/// A sender between two of its starts. A restarted sender is another origin, whose numbers begin at 1 again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub sender: u32,
    /// Counts the starts of the sender, from 1.
    pub incarnation: u32,
}

/// One of an origin's records. Records are numbered without gaps, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub origin: Origin,
    pub number: u64,
    /// Second of the run, by the coordinator's clock, from 0.
    pub slot: u64,
    pub what: What,
}

/// The content of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// Measurements of the slot, already merged over the sender's cores and processes.
    Delta {
        samples: u64,
        #[serde(with = "crate::bytes")]
        body: Vec<u8>,
    },
    /// The origin was killed: at most so many samples, of this slot and later ones, are in no delta.
    Torn { at_most: u64 },
    /// The origin has ended, with so many samples in all. They must be those of its deltas.
    End { samples: u64 },
}

/// To the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// A sign of life, which asks for a grant, with the highest epoch that the sender has heard of.
    Here {
        origin: Origin,
        epoch: u64,
    },
    Record(Record),
}

/// To a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Down {
    /// Counts the starts of the coordinator. A sender obeys the highest that it has heard of.
    pub epoch: u64,
    pub origin: Origin,
    pub what: Order,
}

/// An order to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// All records of the origin up to this number are on the coordinator's disk.
    Acknowledged(u64),
    Granted(Grant),
}

/// The permission to measure: so many samples of the origin in all, in slots before `until`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub ceiling: u64,
    pub until: u64,
}
