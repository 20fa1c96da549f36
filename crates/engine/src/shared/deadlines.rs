//! The times at which users must end: through the duration of their group, through individual times, or because a
//! schedule of rates has ended.
//!
//! Most of these times are known when a group starts. They are checked after each sample, at the cost of two atomic
//! reads, and one more for groups that keep a target number of users.

use std::sync::atomic::Ordering;

use plan::plan::GroupId;

use crate::shared::RunShared;
use crate::time::clock::{MS, Nanos};

impl RunShared {
    /// Returns the time at which a user of a group must end, if there is one.
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
            // The end is known only when no further arrivals come.
            Some(_) if settings.arrivals.is_some() => None,
            // These users end together, and they are numbered in the order of their starts.
            Some(spans) if let Some(polls) = &settings.polls => {
                spans.first().map(|(_, last)| polls.after(end + last * MS))
            }
            // Users that were added during the run end together with the last of the planned users.
            Some(spans) => match spans.get(number as usize) {
                Some((_, last)) => Some(end + last * MS),
                None => spans.iter().map(|(_, last)| end + last * MS).max(),
            },
        }
    }

    /// Returns the time at which a user's wait before its next sampler ends. In groups that replace users, users
    /// end only after a sample.
    pub(crate) fn wait_deadline(&self, group: GroupId, number: u32) -> Option<Nanos> {
        self.ends_at(group, number).filter(|_| !self.groups[group.at()].ends_with_samples())
    }

    /// Makes the users of a group end at this time at the latest.
    pub(crate) fn close(&self, group: GroupId, at: Nanos) {
        let closing = &self.closings[group.at()];
        if closing.load(Ordering::Relaxed) > at {
            closing.fetch_min(at, Ordering::Relaxed);
        }
    }
}
