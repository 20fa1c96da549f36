//! Properties that native code changes while Java works: jobs that run already are told at once, for a script may wait for one.
//!
//! A job carries what was changed before it; so nothing is told while none is in flight, and a core that changes nothing pays for one comparison a turn.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use plan::function::Shared;
use plan::java_backed::TextRange;

use super::Jobs;
use super::message::{Kind, Property};
use super::submit::Letter;
use super::writer::Writer;
use crate::context::Context;
use crate::ids::UserId;

/// Facts that all cores know of it.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Messages to Java of all cores whose replies are yet to come.
    pub(super) in_flight: AtomicUsize,
    /// The version of the properties that jobs in flight have been told of.
    told: AtomicU64,
}

impl Writer<'_> {
    /// The properties that native code has changed since a version; gives the version now, and how many there were.
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
    /// A message goes out; a job carries all that was changed before.
    pub(super) fn goes_informed(&self, is_job: bool) {
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

    /// Tells Java what was changed since it was last told, by whichever core comes by first.
    pub(crate) fn tell_properties(&mut self, cx: &mut Context<'_>) {
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
        self.send(cx, UserId::NONE, Letter { message, act: None, user: 0, what, range });
    }
}
