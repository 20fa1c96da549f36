//! The side that counts: what has come from each origin, and what may be missing.
//!
//! [`Ledger::hear`] returns notes for the coordinator's disk; only [`Ledger::written`] changes the state and says what
//! to send. So nothing is acknowledged before it is on the disk, and a restarted coordinator, which reads its notes,
//! continues where its disk ends. Taking a note twice changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Down, Grant, Order, Origin, Record, Up, What};

/// A sender is silent after so many slots without a word of it; a slot closes as long after its end at the latest.
const SILENCE: u64 = 5;

/// An entry of the coordinator's disk. The disk must refuse notes of an epoch below the highest that it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// A coordinator has begun.
    Epoch(u64),
    Granted {
        origin: Origin,
        grant: Grant,
    },
    Record(Record),
}

/// The size of grants.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Samples that a sender may measure beyond those that have come.
    pub ahead: u64,
    /// Slots for which a sender goes on without a word of the coordinator.
    pub grace: u64,
}

/// Samples that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub origin: Origin,
    /// First slot in which they may be.
    pub from_slot: u64,
    pub at_most: u64,
}

/// The reconciliation of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Samples that have come.
    pub samples: u64,
    /// Empty: every sample was counted exactly once.
    pub missing: Vec<Missing>,
}

/// An origin as the coordinator knows it.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Number of its last record.
    last: u64,
    samples: u64,
    from_slot: u64,
    grant: Grant,
    /// At most so many samples will never come; `None` while it may send more.
    lost: Option<u64>,
}

/// The coordinator's account.
#[derive(Clone, Debug)]
pub struct Ledger {
    limits: Limits,
    epoch: u64,
    /// A coordinator with a higher epoch has been heard of: this one is over.
    deposed: bool,
    known: BTreeMap<Origin, Known>,
    slots: BTreeMap<u64, u64>,
    /// Slot in which each sender was last heard.
    heard: BTreeMap<u32, u64>,
}

impl Ledger {
    /// Reads the notes of a run. The note that comes with it must be written before anything else is done.
    pub fn begin(limits: Limits, notes: &[Note]) -> (Self, Note) {
        Self::read(limits, notes.iter().cloned())
    }

    /// The same with notes that are not in memory all at once.
    pub fn read(limits: Limits, notes: impl Iterator<Item = Note>) -> (Self, Note) {
        let mut this = Self {
            limits,
            epoch: 0,
            deposed: false,
            known: BTreeMap::new(),
            slots: BTreeMap::new(),
            heard: BTreeMap::new(),
        };
        for note in notes {
            this.written(&note);
        }
        let note = Note::Epoch(this.epoch + 1);
        this.written(&note);
        (this, note)
    }

    /// Samples that a sender may measure beyond those that have come, in grants from now on.
    pub fn set_ahead(&mut self, ahead: u64) {
        self.limits.ahead = ahead;
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether another coordinator has taken over: this one must send nothing more.
    pub fn is_deposed(&self) -> bool {
        self.deposed
    }

    /// Takes a message in slot `now`. A note is to be written; the message is answered at once if its content is on the
    /// disk already.
    pub fn hear(&mut self, now: u64, message: Up) -> (Option<Note>, Option<Down>) {
        let origin = match &message {
            Up::Here { origin, epoch } => {
                self.deposed |= *epoch > self.epoch;
                *origin
            }
            Up::Record(record) => record.origin,
        };
        if self.deposed {
            return (None, None);
        }
        self.heard.insert(origin.sender, now);
        let known = self.known.get(&origin).cloned().unwrap_or_default();
        match message {
            Up::Here { .. } => {
                let grant = Grant {
                    ceiling: known.grant.ceiling.max(known.samples + self.limits.ahead),
                    until: known.grant.until.max(now + self.limits.grace),
                };
                if known.lost.is_some() {
                    (None, None)
                } else if grant == known.grant {
                    (None, Some(self.down(origin, Order::Granted(grant))))
                } else {
                    (Some(Note::Granted { origin, grant }), None)
                }
            }
            Up::Record(record) if record.number == known.last + 1 => {
                (Some(Note::Record(record)), None)
            }
            // It came before, or one before it has not come yet: the sender goes on from what is on the disk.
            Up::Record(_) => (None, Some(self.down(origin, Order::Acknowledged(known.last)))),
        }
    }

    /// A note is on the disk now: the message that may be sent.
    pub fn written(&mut self, note: &Note) -> Option<Down> {
        match note {
            Note::Epoch(epoch) => {
                self.epoch = self.epoch.max(*epoch);
                None
            }
            Note::Granted { origin, grant } => {
                let known = self.known.entry(*origin).or_default();
                known.grant.ceiling = known.grant.ceiling.max(grant.ceiling);
                known.grant.until = known.grant.until.max(grant.until);
                let grant = known.grant;
                Some(self.down(*origin, Order::Granted(grant)))
            }
            Note::Record(record) => {
                self.take(record);
                let last = self.known.get(&record.origin).map_or(0, |known| known.last);
                Some(self.down(record.origin, Order::Acknowledged(last)))
            }
        }
    }

    fn take(&mut self, record: &Record) {
        let known = self.known.entry(record.origin).or_default();
        if record.number != known.last + 1 {
            return;
        }
        known.last = record.number;
        match &record.what {
            What::Delta { samples, .. } => {
                known.samples += samples;
                known.from_slot = record.slot + 1;
                *self.slots.entry(record.slot).or_default() += samples;
            }
            What::Torn { at_most } => known.lost = Some(*at_most),
            What::End { samples } => known.lost = Some(samples.saturating_sub(known.samples)),
        }
    }

    /// Samples by slot.
    pub fn slots(&self) -> &BTreeMap<u64, u64> {
        &self.slots
    }

    /// Slots below this one are closed in slot `now`: every sender that is heard has passed them, or their time is over.
    /// Later records still count, in their own slots.
    pub fn closed_below(&self, now: u64) -> u64 {
        let silent: BTreeSet<u32> = self.silent(now).collect();
        let goes_on = |(origin, known): &(&Origin, &Known)| {
            known.lost.is_none() && known.grant.ceiling > 0 && !silent.contains(&origin.sender)
        };
        let passed = self.known.iter().filter(goes_on).map(|(_, known)| known.from_slot).min();
        passed.unwrap_or(now).max(now.saturating_sub(SILENCE)).min(now)
    }

    /// Senders that have not been heard for 5 slots and have not ended.
    pub fn silent(&self, now: u64) -> impl Iterator<Item = u32> {
        let ended = |sender: u32| {
            let mut of = self.known.iter().filter(|(origin, _)| origin.sender == sender);
            of.next_back().is_some_and(|(_, known)| known.lost.is_some())
        };
        let heard = self.heard.iter();
        heard
            .filter(move |(sender, slot)| **slot + SILENCE <= now && !ended(**sender))
            .map(|(s, _)| *s)
    }

    /// The reconciliation, by what is on the disk.
    pub fn account(&self) -> Account {
        let mut account = Account::default();
        for (origin, known) in &self.known {
            account.samples += known.samples;
            let most = known.grant.ceiling.saturating_sub(known.samples);
            let at_most = known.lost.unwrap_or(most);
            if at_most > 0 {
                let from_slot = known.from_slot;
                account.missing.push(Missing { origin: *origin, from_slot, at_most });
            }
        }
        account
    }

    fn down(&self, origin: Origin, what: Order) -> Down {
        Down { epoch: self.epoch, origin, what }
    }
}
