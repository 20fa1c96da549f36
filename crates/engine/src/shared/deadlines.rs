//! When users must end: by the duration of their group, by moments of their own, or because a schedule of rates has ended.
//!
//! Most of it is known when a group starts, and asked for after each sample. Costs two atomic reads, and one more where a group keeps a number of users.

use std::sync::atomic::Ordering;

use plan::plan::GroupId;

use crate::shared::RunShared;
use crate::time::clock::{MS, Nanos};

impl RunShared {
    /// When a user of a group must end, if it must.
    pub(crate) fn ends_at(&self, group: GroupId, number: u32) -> Option<Nanos> {
        let closing = self.closings[group.at()].load(Ordering::Relaxed);
        let end = self.scheduled_end(group, number).unwrap_or(Nanos::MAX).min(closing);
        (end != Nanos::MAX).then_some(end)
    }

    fn scheduled_end(&self, group: GroupId, number: u32) -> Option<Nanos> {
        let end = self.ends[group.at()].load(Ordering::Relaxed);
        if end == Nanos::MAX {
            return None;
        }
        let settings = &self.groups[group.at()];
        match &settings.spans {
            None => Some(end),
            // Its end is known when nobody comes any more.
            Some(_) if settings.arrivals.is_some() => None,
            // They end together, and numbers are those of starts.
            Some(spans) if let Some(polls) = &settings.polls => {
                spans.first().map(|(_, last)| polls.after(end + last * MS))
            }
            // Whoever was added while the run goes on ends with the last of the others.
            Some(spans) => match spans.get(number as usize) {
                Some((_, last)) => Some(end + last * MS),
                None => spans.iter().map(|(_, last)| end + last * MS).max(),
            },
        }
    }

    /// When a user's wait for its next sampler ends, because it must end. Where users are replaced they come to the end of a sample.
    pub(crate) fn waits_until(&self, group: GroupId, number: u32) -> Option<Nanos> {
        self.ends_at(group, number).filter(|_| !self.groups[group.at()].ends_with_samples())
    }

    /// The users of a group end then at the latest.
    pub(crate) fn close(&self, group: GroupId, at: Nanos) {
        let closing = &self.closings[group.at()];
        if closing.load(Ordering::Relaxed) > at {
            closing.fetch_min(at, Ordering::Relaxed);
        }
    }
}
