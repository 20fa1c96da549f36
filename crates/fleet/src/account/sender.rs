//! The sender of an account, which is the measuring side: numbered records, a spool on its disk, resending.
//!
//! An entry that a method returns must be written to the sender's disk, in order, and then passed to
//! [`Sender::written`]. Only that changes the state. A restarted sender reads its disk, becomes a new origin, and
//! declares what the previous origin may have lost.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Down, Grant, Order, Origin, Record, Up, What};

/// Maximum number of records sent without an acknowledgement.
const WINDOW: usize = 4;

/// An entry of the spool on the sender's disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// The sender was started.
    Begun(Origin),
    Granted {
        epoch: u64,
        grant: Grant,
    },
    Spooled(Record),
    /// The coordinator has this record and all earlier records: the sender need not keep them.
    Freed {
        epoch: u64,
        origin: Origin,
        number: u64,
    },
}

/// State of a sender: the part of an agent that reports measurements.
#[derive(Clone, Debug)]
pub struct Sender {
    origin: Origin,
    epoch: u64,
    grant: Grant,
    spool: VecDeque<Record>,
    /// Number of records of this origin that are on disk.
    records: u64,
    /// Number of samples in the records of this origin that are on disk.
    spooled: u64,
    /// The first slot for which no record has been written.
    from_slot: u64,
    ended: bool,
    /// Number of samples that were counted but are not yet in a record.
    open: u64,
}

impl Sender {
    /// Rebuilds sender `sender` from its disk. The returned entries must be written before anything else is done.
    pub fn begin(sender: u32, disk: &[Entry]) -> (Self, Vec<Entry>) {
        Self::read(sender, disk.iter().cloned())
    }

    /// Rebuilds the sender like [`Self::begin`], but from an iterator, so that the entries need not all be in
    /// memory.
    pub fn read(sender: u32, disk: impl Iterator<Item = Entry>) -> (Self, Vec<Entry>) {
        let mut this = Self {
            origin: Origin { sender, incarnation: 0 },
            epoch: 0,
            grant: Grant::default(),
            spool: VecDeque::new(),
            records: 0,
            spooled: 0,
            from_slot: 0,
            ended: false,
            open: 0,
        };
        for entry in disk {
            this.written(&entry);
        }
        let mut entries = Vec::new();
        if this.origin.incarnation > 0 && !this.ended {
            let at_most = this.grant.ceiling.saturating_sub(this.spooled);
            entries.push(Entry::Spooled(this.record(this.from_slot, What::Killed { at_most })));
        }
        let incarnation = this.origin.incarnation + 1;
        entries.push(Entry::Begun(Origin { sender, incarnation }));
        for entry in &entries {
            this.written(entry);
        }
        (this, entries)
    }

    /// Returns the current origin.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the number of samples that the sender may still count in this slot. At 0, users must stop.
    pub fn may_count(&self, slot: u64) -> u64 {
        if self.ended || slot >= self.grant.until || slot < self.from_slot {
            return 0;
        }
        self.grant.ceiling.saturating_sub(self.spooled + self.open)
    }

    /// Returns the current grant.
    pub fn grant(&self) -> Grant {
        self.grant
    }

    /// Returns the number of samples that this origin has counted so far.
    pub fn counted(&self) -> u64 {
        self.spooled + self.open
    }

    /// Adds measured samples to the open slot. The caller may add at most [`Self::may_count`].
    pub fn count(&mut self, samples: u64) {
        self.open += samples;
    }

    /// Returns the record of a slot that is over, with all samples that were counted in the slot.
    pub fn cut(&self, slot: u64, body: Vec<u8>) -> Option<Entry> {
        // A second without samples still gets a record if it has a body, which tells which users run.
        let any = self.open > 0 || !body.is_empty();
        let what = What::Delta { samples: self.open, body };
        (!self.ended && any).then(|| Entry::Spooled(self.record(slot, what)))
    }

    /// Returns the final record. The last slot must have been cut before.
    pub fn finish(&self) -> Option<Entry> {
        let what = What::End { samples: self.spooled };
        (!self.ended).then(|| Entry::Spooled(self.record(self.from_slot, what)))
    }

    /// Handles a message of the coordinator. Returns an entry to write, if there is one.
    pub fn handle(&self, message: &Down) -> Option<Entry> {
        let Down { epoch, origin, what } = *message;
        if epoch < self.epoch || origin.sender != self.origin.sender {
            return None;
        }
        match what {
            Order::Acknowledged(number) => {
                let frees = self.spool.front().is_some_and(|first| is_freed(first, origin, number));
                frees.then_some(Entry::Freed { epoch, origin, number })
            }
            Order::Granted(grant) => {
                let same = (epoch, grant) == (self.epoch, self.grant);
                (origin == self.origin && !same).then_some(Entry::Granted { epoch, grant })
            }
        }
    }

    /// Applies an entry that is now on disk.
    pub fn written(&mut self, entry: &Entry) {
        match entry {
            Entry::Begun(origin) => {
                (self.origin, self.grant) = (*origin, Grant::default());
                (self.records, self.spooled, self.open, self.ended) = (0, 0, 0, false);
            }
            Entry::Granted { epoch, grant } => {
                self.epoch = self.epoch.max(*epoch);
                // An older grant may arrive later; it must not reduce the permission.
                self.grant.ceiling = self.grant.ceiling.max(grant.ceiling);
                self.grant.until = self.grant.until.max(grant.until);
            }
            Entry::Spooled(record) => {
                self.records = record.number;
                match record.what {
                    What::Delta { samples, .. } => {
                        self.spooled += samples;
                        self.open = self.open.saturating_sub(samples);
                        self.from_slot = record.slot + 1;
                    }
                    What::Killed { .. } | What::End { .. } => self.ended = true,
                }
                self.spool.push_back(record.clone());
            }
            Entry::Freed { epoch, origin, number } => {
                self.epoch = self.epoch.max(*epoch);
                while self.spool.front().is_some_and(|first| is_freed(first, *origin, *number)) {
                    self.spool.pop_front();
                }
            }
        }
    }

    /// Returns a heartbeat message.
    pub fn here(&self) -> Up {
        Up::Heartbeat { origin: self.origin, epoch: self.epoch }
    }

    /// Returns the oldest unacknowledged records, at most `WINDOW`, to send or resend.
    pub fn due(&self) -> impl Iterator<Item = &Record> {
        self.spool.iter().take(WINDOW)
    }

    /// True if the coordinator has acknowledged all counted samples.
    pub fn is_clear(&self) -> bool {
        self.spool.is_empty() && self.open == 0
    }

    fn record(&self, slot: u64, what: What) -> Record {
        Record { origin: self.origin, number: self.records + 1, slot, what }
    }
}

/// True if an acknowledgement of the records of `origin` up to `number` covers this record.
fn is_freed(record: &Record, origin: Origin, number: u64) -> bool {
    record.origin == origin && record.number <= number
}
