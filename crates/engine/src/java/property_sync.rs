//! Properties that native code changes while Java works: jobs that run already are told at once, for a script may wait for one.
//!
//! A job carries what was changed before it; so nothing is told while none is under way, and a core that changes nothing pays for one comparison a turn.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use plan::function::Shared;
use plan::hosted::TextRange;

use super::writer::Writer;
use crate::core::Core;
use crate::ids::UserId;

/// First byte of what tells of properties.
const PROPERTIES: u8 = 7;

/// What all cores know of it.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Messages to Java of all cores whose replies are yet to come.
    pub(super) under_way: AtomicUsize,
    /// The version of the properties that jobs under way have been told of.
    told: AtomicU64,
}

impl Writer<'_> {
    /// What native code has changed of the properties since a version; gives the version now, and how many there were.
    pub(super) fn properties(&mut self, shared: &Shared, since: u64) -> (u64, u32) {
        let mut list = self.begin();
        let version = shared.native_since(since, |version, name, value| {
            list.count += 1;
            self.long(version);
            self.text(name);
            self.maybe(value);
        });
        let count = list.count;
        self.end(list);
        (version, count)
    }
}

impl Core<'_> {
    /// A message goes out; a job carries all that was changed before.
    pub(super) fn goes_informed(&self, is_job: bool) {
        let others = self.jobs.shared.news.under_way.fetch_add(1, Relaxed);
        if !is_job {
            return;
        }
        let knows = self.jobs.properties;
        if others == 0 {
            self.jobs.shared.news.told.fetch_max(knows, Relaxed);
        } else {
            self.jobs.shared.news.told.fetch_min(knows, Relaxed);
        }
    }

    /// Tells Java what was changed since it was last told, by whichever core comes by first.
    pub(crate) fn tell_properties(&mut self) {
        let run = self.cx.run;
        let version = run.shared.version();
        if version == self.jobs.looked || self.jobs.shared.news.under_way.load(Relaxed) == 0 {
            return;
        }
        self.jobs.looked = version;
        let told = self.jobs.shared.news.told.fetch_max(version, Relaxed);
        if told >= version {
            return;
        }
        let mut message = self.jobs.buffer();
        let mut out = Writer(&mut message);
        out.byte(PROPERTIES);
        if out.properties(&run.shared, told).1 == 0 {
            return self.jobs.recycle(message);
        }
        self.send(UserId::NONE, message, None, 0, "properties".into(), TextRange::default());
    }
}
