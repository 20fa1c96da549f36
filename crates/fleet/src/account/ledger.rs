//! The counting side: records received from each origin, and samples that may be missing.
//!
//! [`Ledger::handle`] returns notes for the coordinator's disk. Only [`Ledger::written`] changes the state and returns
//! the messages to send. So nothing is acknowledged before it is on disk, and a restarted coordinator continues from
//! the notes on its disk. Applying a note twice has no effect.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Down, Grant, Order, Origin, Record, Up, What};

/// Number of slots without a message after which a sender counts as silent. A slot closes at the latest this number of
/// slots after its end.
const SILENCE: u64 = 5;

/// An entry of the ledger on the coordinator's disk. The disk must refuse notes with an epoch below the highest epoch
/// that it has stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// A coordinator with this epoch has started.
    Epoch(u64),
    Granted {
        origin: Origin,
        grant: Grant,
    },
    Record(Record),
}

/// Limits from which the size of grants is computed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of samples that a sender may measure beyond the samples that the ledger has received.
    pub ahead: u64,
    /// Number of slots for which a sender may continue without a message from the coordinator.
    pub grace: u64,
}

/// Samples of an origin that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub origin: Origin,
    /// First slot in which samples may be missing.
    pub from_slot: u64,
    pub at_most: u64,
}

/// The balance of a run's samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Number of samples in all received records.
    pub samples: u64,
    /// Samples that may be missing, by origin. If empty, every sample was counted exactly once.
    pub missing: Vec<Missing>,
}

/// The state of one origin, as the coordinator knows it.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Number of the last record that was received from the origin.
    last: u64,
    samples: u64,
    from_slot: u64,
    grant: Grant,
    /// Maximum number of samples that are lost permanently; `None` while the origin may send more records.
    lost: Option<u64>,
}

/// The coordinator's account of received samples and of samples that may be missing.
#[derive(Clone, Debug)]
pub struct Ledger {
    limits: Limits,
    epoch: u64,
    /// True if a message had a higher epoch than this coordinator: another coordinator has taken over.
    deposed: bool,
    known: BTreeMap<Origin, Known>,
    slots: BTreeMap<u64, u64>,
    /// For each sender: the last slot in which a message of the sender arrived.
    heard: BTreeMap<u32, u64>,
}

impl Ledger {
    /// Rebuilds the ledger from the notes of a run. The returned note must be written before anything else is done.
    pub fn begin(limits: Limits, notes: &[Note]) -> (Self, Note) {
        Self::read(limits, notes.iter().cloned())
    }

    /// Rebuilds the ledger like [`Self::begin`], but from an iterator, so that the notes need not all be in
    /// memory.
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

    /// Sets the number of samples that a sender may measure beyond the received samples. Applies to future grants.
    pub fn set_ahead(&mut self, ahead: u64) {
        self.limits.ahead = ahead;
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// True if another coordinator has taken over. Then this coordinator must send no more messages.
    pub fn is_deposed(&self) -> bool {
        self.deposed
    }

    /// Handles a message in slot `now`. Returns a note to write, or an immediate answer if the disk already has the
    /// message's content.
    pub fn handle(&mut self, now: u64, message: Up) -> (Option<Note>, Option<Down>) {
        let origin = match &message {
            Up::Heartbeat { origin, epoch } => {
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
            Up::Heartbeat { .. } => {
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
            // The record is a duplicate, or an earlier record is missing: the sender continues after the last record on
            // disk.
            Up::Record(_) => (None, Some(self.down(origin, Order::Acknowledged(known.last)))),
        }
    }

    /// Applies a note that is now on disk. Returns the message that may now be sent.
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
            What::Killed { at_most } => known.lost = Some(*at_most),
            What::End { samples } => known.lost = Some(samples.saturating_sub(known.samples)),
        }
    }

    /// Returns the number of received samples of each slot.
    pub fn slots(&self) -> &BTreeMap<u64, u64> {
        &self.slots
    }

    /// Returns the first slot that is still open in slot `now`. A slot is closed when all senders that are not silent
    /// have passed it, or when its time limit is over. Records that arrive later still count, in their own slots.
    pub fn closed_below(&self, now: u64) -> u64 {
        let silent: BTreeSet<u32> = self.silent(now).collect();
        let goes_on = |(origin, known): &(&Origin, &Known)| {
            known.lost.is_none() && known.grant.ceiling > 0 && !silent.contains(&origin.sender)
        };
        let passed = self.known.iter().filter(goes_on).map(|(_, known)| known.from_slot).min();
        passed.unwrap_or(now).max(now.saturating_sub(SILENCE)).min(now)
    }

    /// Returns the senders that have sent nothing for 5 slots although they have not ended.
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

    /// Returns the numbers of received and missing samples, according to the notes on disk.
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
