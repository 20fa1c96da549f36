//! Exact accounting over connections that lose, repeat, delay and reorder messages: each sample is counted once or
//! declared missing.
//!
//! A [`Sender`] is the part of an agent that reports measurements. It numbers them, writes them to the agent's disk,
//! and sends them until the [`Ledger`] acknowledges them. The ledger acknowledges only what its own disk has. Both do
//! no I/O: they return what to write and what to send. After a restart, their state is rebuilt from the disk. A sender
//! measures only under a grant. The grant limits the samples that can be lost with the sender, and expires if it is not
//! renewed.

mod ledger;
mod sender;

use serde::{Deserialize, Serialize};

pub use ledger::{Account, Ledger, Limits, Missing, Note};
pub use sender::{Entry, Sender};

/// Identity of one start of a sender. A restarted sender is a new origin, whose record numbers begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub sender: u32,
    /// Number of this start of the sender, counted from 1.
    pub incarnation: u32,
}

/// A numbered entry in the account of an [`Origin`]. The numbers of an origin start at 1 and have no gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub origin: Origin,
    pub number: u64,
    /// The second of the run to which the record belongs, from 0, on the coordinator's clock.
    pub slot: u64,
    pub what: What,
}

/// The content of a sender's record: measurements, the loss of a killed origin, or the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// Measurements of the slot, merged over the sender's cores and processes; `body` is the serialized report.
    Delta {
        samples: u64,
        #[serde(with = "crate::bytes")]
        body: Vec<u8>,
    },
    /// The origin was killed. At most `at_most` of its samples are in no record. These samples belong to this slot or
    /// to later slots.
    Killed { at_most: u64 },
    /// The sender has finished. `samples` is the total of the origin, which must equal the sum over its records.
    End { samples: u64 },
}

/// A message from the [`Sender`] of an agent to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// A heartbeat, which also asks for a grant. `epoch` is the highest epoch that the sender has received.
    Heartbeat {
        origin: Origin,
        epoch: u64,
    },
    Record(Record),
}

/// A message from the coordinator to the [`Sender`] of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Down {
    /// Number of the coordinator's start, counted from 1. A sender obeys only the highest epoch that it has received.
    pub epoch: u64,
    pub origin: Origin,
    pub what: Order,
}

/// An order to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// The coordinator has written to disk all records of the origin up to this number.
    Acknowledged(u64),
    Granted(Grant),
}

/// Permission to measure: at most `ceiling` samples of the origin in total, in slots before `until`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub ceiling: u64,
    pub until: u64,
}
