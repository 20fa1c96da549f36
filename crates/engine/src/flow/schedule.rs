//! Start times of users: a sequence without side effects, with one start per user of the group.
//!
//! Each core starts every user whose number modulo the number of cores equals the core's rank. The cores of all
//! processes of the run are counted, so that they need no coordination. Users with individual start times start in
//! the order of these times.

use std::sync::Arc;

use plan::load::Rate;
use plan::plan::GroupId;
use plan::state::Shard;

use crate::shared::group::GroupSettings;
use crate::shared::polling::Polls;
use crate::time::clock::{MS, Nanos};

/// Number that [`Start::take`] returns at the end of a schedule of arrivals.
pub(crate) const OVER: u32 = u32::MAX;

/// The starts of one group on one core.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) group: GroupId,
    first_at: Nanos,
    step: Nanos,
    next: u32,
    stride: u32,
    users: u32,
    /// Users with individual start times that have not started yet, in descending order of these times: the next user
    /// is last.
    listed: Option<Vec<(Nanos, u32)>>,
    /// Poll times, if the group keeps a target number of users: users start only at these times.
    polls: Option<Polls>,
    /// True while users start by arrivals, until the owner closes the schedule.
    open: bool,
    /// Arrivals at a rate, if the group has a rate.
    paced: Option<Paced>,
}

/// Arrivals at a rate. A process starts only every `stride`th arrival.
#[derive(Debug)]
struct Paced {
    rate: Arc<Rate>,
    begin: Nanos,
    end: Nanos,
    /// Number of the next arrival of this process among the arrivals of all processes.
    nth: u64,
    stride: u64,
    /// Time of the next arrival of this process.
    due: Nanos,
}

impl Paced {
    fn new(rate: Arc<Rate>, begin: Nanos, end: Nanos, shard: Shard) -> Self {
        let (nth, stride) = (shard.index.into(), shard.count.into());
        let mut paced = Self { rate, begin, end, nth, stride, due: end };
        paced.find();
        paced
    }

    fn find(&mut self) {
        let at = self.rate.at(self.nth).map_or(self.end, |at| self.begin.saturating_add(at));
        self.due = at.min(self.end);
    }

    /// Takes the next arrival. Returns 0, or [`OVER`] at the end of the schedule, and the time.
    fn take(&mut self) -> (u32, Nanos) {
        let at = self.due;
        if at >= self.end {
            return (OVER, at);
        }
        self.nth += self.stride;
        self.find();
        (0, at)
    }
}

impl Start {
    /// Creates the starts of a group that begins at `at`. The group's first user starts after the group's delay.
    pub(crate) fn new(
        group: GroupId,
        settings: &GroupSettings,
        at: Nanos,
        core: u32,
        cores: u32,
    ) -> Self {
        let first_at = at + settings.delay;
        let listed = settings.spans.as_ref().map(|spans| {
            let own = (core..).zip(spans.iter().skip(core as usize)).step_by(cores.max(1) as usize);
            let mut listed: Vec<_> = own.map(|(n, (start, _))| (at + start * MS, n)).collect();
            listed.sort_unstable_by(|one, other| other.cmp(one));
            listed
        });
        Self {
            group,
            first_at,
            step: settings.step,
            next: core,
            stride: cores,
            users: settings.users,
            listed,
            polls: settings.polls.clone(),
            open: false,
            paced: None,
        }
    }

    /// Creates the starts of a group of arrivals. `owner` is the process's share of the schedule, if this core owns the
    /// schedule.
    pub(crate) fn of_arrivals(
        group: GroupId,
        settings: &GroupSettings,
        at: Nanos,
        owner: Option<Shard>,
    ) -> Self {
        let spans = settings.spans.as_deref().unwrap_or_default();
        let end = at + settings.arrivals.map_or(0, |bounds| bounds.end) * MS;
        let (mut listed, mut paced) = (Vec::new(), None);
        if let (Some(shard), Some(rate)) = (owner, &settings.rate) {
            paced = Some(Paced::new(Arc::clone(rate), at, end, shard));
        } else if let Some(shard) = owner {
            listed.push((end, OVER));
            let own = spans.iter().skip(shard.index as usize).step_by(shard.count as usize);
            listed.extend(own.rev().map(|(start, _)| (at + start * MS, 0)));
        }
        let (first_at, step, next, stride, users) = (0, 0, 0, 1, 0);
        let listed = Some(listed);
        Self { group, first_at, step, next, stride, users, listed, polls: None, open: true, paced }
    }

    /// Creates starts at the given times, which are in descending order.
    pub(crate) fn at_once(group: GroupId, listed: Vec<(Nanos, u32)>) -> Self {
        let (first_at, step, next, stride, users) = (0, 0, 0, 1, 0);
        let (listed, polls, open, paced) = (Some(listed), None, false, None);
        Self { group, first_at, step, next, stride, users, listed, polls, open, paced }
    }

    /// Returns true if users start by arrivals.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Sets a new rate of arrivals until the original end of the schedule.
    pub(crate) fn set_rate(&mut self, rate: f64, now: Nanos, shard: Shard) {
        let listed_end = self.listed.as_ref().and_then(|listed| listed.first()).map(|(at, _)| *at);
        let Some(end) = self.paced.as_ref().map(|paced| paced.end).or(listed_end) else { return };
        let phases = vec![((end - now).max(0), rate, rate)];
        self.paced = Some(Paced::new(Arc::new(Rate::new(phases)), now, end, shard));
        self.listed = Some(Vec::new());
    }

    /// Closes the schedule: no further arrivals.
    pub(crate) fn close(&mut self) {
        self.open = false;
        self.paced = None;
        self.listed = Some(Vec::new());
    }

    /// Returns the time of the next start.
    pub(crate) fn next_at(&self) -> Nanos {
        if let Some(paced) = &self.paced {
            return paced.due;
        }
        match &self.listed {
            Some(listed) => listed.last().map_or(Nanos::MAX, |(at, _)| match &self.polls {
                Some(polls) => polls.after(*at),
                None => *at,
            }),
            None if self.finished() => Nanos::MAX,
            None => self.first_at + self.step * Nanos::from(self.next),
        }
    }

    /// Takes the next start if it is due. Returns the user's number and the start time. The number is 0 for arrivals
    /// and replacements, whose users are numbered later, and [`OVER`] at the end of a schedule of arrivals.
    pub(crate) fn take(&mut self, now: Nanos) -> Option<(u32, Nanos)> {
        let at = self.next_at();
        if at > now {
            return None;
        }
        if let Some(paced) = &mut self.paced {
            return Some(paced.take());
        }
        if let Some(listed) = &mut self.listed {
            if let Some(polls) = &self.polls {
                polls.begin(at);
            }
            return listed.pop().map(|(_, number)| (number, at));
        }
        let number = self.next;
        self.next += self.stride;
        Some((number, at))
    }

    /// Adds a start at `at`, for the replacement of a user that has ended.
    pub(crate) fn replace(&mut self, at: Nanos) {
        let listed = self.listed.get_or_insert_default();
        let place = listed.partition_point(|(later, _)| *later > at);
        listed.insert(place, (at, 0));
    }

    /// Creates a schedule that only starts replacements of ended users.
    pub(crate) fn empty(group: GroupId, polls: Polls) -> Self {
        let (first_at, step, next, stride, users) = (0, 0, 0, 1, 0);
        let (listed, polls) = (Some(Vec::new()), Some(polls));
        let (open, paced) = (false, None);
        Self { group, first_at, step, next, stride, users, listed, polls, open, paced }
    }

    pub(crate) fn finished(&self) -> bool {
        !self.open && self.listed.as_ref().map_or(self.next >= self.users, Vec::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::plan::OnError;

    fn settings(users: u32, step: Nanos) -> GroupSettings {
        GroupSettings {
            name: String::new(),
            prefix: "".into(),
            tail: "",
            polls: None,
            arrivals: None,
            rate: None,
            loops: None,
            number: 1,
            users,
            step,
            delay: 5,
            duration: None,
            spans: None,
            on_error: OnError::Continue,
        }
    }

    #[test]
    fn cores_share_the_users_without_gap_or_overlap() {
        let settings = settings(10, 100);
        let mut all = Vec::new();
        for core in 0..3 {
            let mut start = Start::new(GroupId(0), &settings, 1_000, core, 3);
            while let Some(user) = start.take(Nanos::MAX - 1) {
                all.push(user);
            }
        }
        all.sort_unstable();
        let expected: Vec<_> = (0..10).map(|n| (n, 1_005 + 100 * Nanos::from(n))).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn processes_share_a_rate_without_gap_or_overlap() {
        let bounds = plan::element::Bounds { users: 9, arrivals: 0, end: 1_000 };
        let rate = Some(Arc::new(Rate::rising(10.0, 0, None, 1_000 * MS)));
        let settings = GroupSettings { arrivals: Some(bounds), rate, ..settings(0, 0) };
        let mut all = Vec::new();
        for index in 0..3 {
            let mut start =
                Start::of_arrivals(GroupId(0), &settings, 7, Some(Shard { index, count: 3 }));
            while let Some((number, at)) = start.take(Nanos::MAX - 1) {
                if number == OVER {
                    assert_eq!(at, 7 + 1_000 * MS);
                    start.close();
                    break;
                }
                all.push(at);
            }
            assert!(start.finished() && start.take(Nanos::MAX - 1).is_none());
        }
        all.sort_unstable();
        assert_eq!(all, (0..10).map(|n| 7 + n * 100 * MS).collect::<Vec<_>>());
    }

    #[test]
    fn nobody_starts_early() {
        let mut start = Start::new(GroupId(0), &settings(2, 100), 0, 0, 1);
        assert_eq!(start.take(4), None);
        assert_eq!(start.take(5), Some((0, 5)));
        assert_eq!(start.take(104), None);
        assert_eq!(start.next_at(), 105);
        assert_eq!(start.take(105), Some((1, 105)));
        assert!(start.finished());
    }

    #[test]
    fn users_with_moments_of_their_own_start_in_their_order() {
        let spans = [(30, 100), (10, 100), (20, 100), (0, 50), (10, 60)];
        let settings = GroupSettings { spans: Some(spans.into()), ..settings(5, 0) };
        let mut all = Vec::new();
        for core in 0..2 {
            let mut start = Start::new(GroupId(0), &settings, 1_000, core, 2);
            let own: Vec<_> = std::iter::from_fn(|| start.take(Nanos::MAX - 1)).collect();
            assert!(start.finished() && own.is_sorted_by_key(|(_, at)| *at));
            all.extend(own);
        }
        all.sort_unstable();
        let expected = [30, 10, 20, 0, 10].map(|ms| 1_000 + ms * MS);
        assert_eq!(all, (0..).zip(expected).collect::<Vec<_>>());
    }
}
