//! Sends properties that native code changes to Java while jobs run there, because a script may wait for a change.
//!
//! A job contains all changes made before it. So nothing is sent while no job is in flight. A core that changes
//! nothing pays one comparison per turn.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use plan::function::Shared;
use plan::java_backed::TextRange;

use super::Jobs;
use super::message::{Kind, Property};
use super::submit::JobMessage;
use super::writer::Writer;
use crate::context::Context;
use crate::ids::UserId;

/// State of the synchronization of properties with Java, shared by all cores.
#[derive(Debug, Default)]
pub(crate) struct PropertyChanges {
    /// Number of messages of all cores to which Java has not replied yet.
    pub(super) in_flight: AtomicUsize,
    /// Version of the properties that all jobs in flight have received.
    told: AtomicU64,
}

impl Writer<'_> {
    /// Writes the properties that native code has changed since a version. Returns the current version and the number
    /// of properties.
    pub(super) fn properties(&mut self, shared: &Shared, since: u64) -> (u64, u32) {
        let mut list = self.begin();
        let version = shared.native_since(since, |version, name, value| {
            list.count += 1;
            Property { version, name, value }.write(self);
        });
        let count = list.count;
        self.end(list);
        (version, count)
    }
}

impl Jobs {
    /// Counts a message as in flight. A job contains all property changes made before it.
    pub(super) fn count_in_flight(&self, is_job: bool) {
        let others = self.shared.news.in_flight.fetch_add(1, Relaxed);
        if !is_job {
            return;
        }
        let knows = self.properties;
        if others == 0 {
            self.shared.news.told.fetch_max(knows, Relaxed);
        } else {
            self.shared.news.told.fetch_min(knows, Relaxed);
        }
    }

    /// Sends Java the property changes since the last sync. The first core that notices the changes sends them.
    pub(crate) fn sync_properties(&mut self, cx: &mut Context<'_>) {
        let run = cx.run;
        let version = run.shared.version();
        if version == self.looked || self.shared.news.in_flight.load(Relaxed) == 0 {
            return;
        }
        self.looked = version;
        let told = self.shared.news.told.fetch_max(version, Relaxed);
        if told >= version {
            return;
        }
        let mut message = self.buffer();
        let mut out = Writer(&mut message);
        out.byte(Kind::Properties as u8);
        if out.properties(&run.shared, told).1 == 0 {
            return self.recycle(message);
        }
        let (what, range) = ("properties".into(), TextRange::default());
        self.send(cx, UserId::NONE, JobMessage { message, act: None, user: 0, what, range });
    }
}
