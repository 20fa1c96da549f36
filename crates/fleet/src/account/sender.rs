//! The side that measures: numbers, a spool on its disk, sending again.
//!
//! An entry that a method returns is to be written to the sender's disk, in order, and then given to [`Sender::written`]; only
//! that changes the state. A restarted sender reads its disk, is a new origin, and declares what the one before may
//! have lost.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Down, Grant, Order, Origin, Record, Up, What};

/// Records that are sent without waiting for an acknowledgement.
const WINDOW: usize = 4;

/// An entry of the sender's disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// A start of the sender.
    Begun(Origin),
    Granted {
        epoch: u64,
        grant: Grant,
    },
    Spooled(Record),
    /// The coordinator has this record and all before it.
    Freed {
        epoch: u64,
        origin: Origin,
        number: u64,
    },
}

/// A sender of measurements.
#[derive(Clone, Debug)]
pub struct Sender {
    origin: Origin,
    epoch: u64,
    grant: Grant,
    spool: VecDeque<Record>,
    /// Records of this origin that were written, and the samples in them.
    records: u64,
    spooled: u64,
    /// Slot behind the last one that was written.
    from_slot: u64,
    ended: bool,
    /// Samples that were counted and are in no record yet.
    open: u64,
}

impl Sender {
    /// Reads the disk of sender `sender`. The entries that come with it must be written before anything else.
    pub fn begin(sender: u32, disk: &[Entry]) -> (Self, Vec<Entry>) {
        Self::read(sender, disk.iter().cloned())
    }

    /// The same with entries that are not in memory all at once.
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
            entries.push(Entry::Spooled(this.record(this.from_slot, What::Torn { at_most })));
        }
        let incarnation = this.origin.incarnation + 1;
        entries.push(Entry::Begun(Origin { sender, incarnation }));
        for entry in &entries {
            this.written(entry);
        }
        (this, entries)
    }

    /// This origin.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Samples that may still be counted in this slot. At 0 users must stop.
    pub fn may_count(&self, slot: u64) -> u64 {
        if self.ended || slot >= self.grant.until || slot < self.from_slot {
            return 0;
        }
        self.grant.ceiling.saturating_sub(self.spooled + self.open)
    }

    /// The permission by now.
    pub fn grant(&self) -> Grant {
        self.grant
    }

    /// Samples of this origin so far.
    pub fn counted(&self) -> u64 {
        self.spooled + self.open
    }

    /// Counts samples, `may_count` at most.
    pub fn count(&mut self, samples: u64) {
        self.open += samples;
    }

    /// The record of a slot that is over, with all that was counted in it.
    pub fn cut(&self, slot: u64, body: Vec<u8>) -> Option<Entry> {
        // A second without samples says who runs, if there is a body.
        let any = self.open > 0 || !body.is_empty();
        let what = What::Delta { samples: self.open, body };
        (!self.ended && any).then(|| Entry::Spooled(self.record(slot, what)))
    }

    /// The last record, when the last slot was cut.
    pub fn finish(&self) -> Option<Entry> {
        let what = What::End { samples: self.spooled };
        (!self.ended).then(|| Entry::Spooled(self.record(self.from_slot, what)))
    }

    /// Takes a message of the coordinator: what is to be written for it.
    pub fn hear(&self, message: &Down) -> Option<Entry> {
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

    /// An entry is on the disk now.
    pub fn written(&mut self, entry: &Entry) {
        match entry {
            Entry::Begun(origin) => {
                (self.origin, self.grant) = (*origin, Grant::default());
                (self.records, self.spooled, self.open, self.ended) = (0, 0, 0, false);
            }
            Entry::Granted { epoch, grant } => {
                self.epoch = self.epoch.max(*epoch);
                // An older grant may come later: what was permitted stays permitted.
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
                    What::Torn { .. } | What::End { .. } => self.ended = true,
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

    /// The sign of life.
    pub fn here(&self) -> Up {
        Up::Here { origin: self.origin, epoch: self.epoch }
    }

    /// Records that are to be sent, now and again until they are acknowledged.
    pub fn due(&self) -> impl Iterator<Item = &Record> {
        self.spool.iter().take(WINDOW)
    }

    /// Whether the coordinator has everything.
    pub fn is_clear(&self) -> bool {
        self.spool.is_empty() && self.open == 0
    }

    fn record(&self, slot: u64, what: What) -> Record {
        Record { origin: self.origin, number: self.records + 1, slot, what }
    }
}

/// Whether an acknowledgement frees a record. One of another origin never does, though it has the same number.
fn is_freed(record: &Record, origin: Origin, number: u64) -> bool {
    record.origin == origin && record.number <= number
}
