//! State that one core keeps for all cores: users at barriers, users that wait for locks, and free users of
//! arrivals.

use std::collections::{BTreeMap, HashMap, VecDeque};

use plan::plan::{BarrierId, GroupId};

use crate::ids::Waiter;
use crate::inbox::OwnerRequest;

/// Barriers, locks and arrivals that a core owns.
#[derive(Debug, Default)]
pub(crate) struct Owner {
    barriers: HashMap<BarrierId, Vec<Waiter>>,
    /// Users that wait for each lock; the first user holds the lock.
    locks: HashMap<Box<str>, VecDeque<Waiter>>,
    /// Pools of users for the groups of arrivals.
    pub(crate) pools: HashMap<GroupId, Pool>,
}

impl Owner {
    /// Handles a request about a barrier, a lock or arrivals. Returns the waiters that it releases.
    pub(crate) fn answer(&mut self, ask: OwnerRequest) -> Vec<Waiter> {
        match ask {
            OwnerRequest::Arrive { barrier, size, waiter } => {
                let waiting = self.barriers.entry(barrier).or_default();
                waiting.push(waiter);
                if waiting.len() >= size as usize { std::mem::take(waiting) } else { Vec::new() }
            }
            OwnerRequest::GiveUp { barrier, waiter } => {
                let waiting = self.barriers.entry(barrier).or_default();
                if !waiting.contains(&waiter) {
                    return Vec::new();
                }
                std::mem::take(waiting)
            }
            OwnerRequest::Lock { name, waiter } => {
                let queue = self.locks.entry(name).or_default();
                queue.push_back(waiter);
                if queue.len() == 1 { vec![waiter] } else { Vec::new() }
            }
            OwnerRequest::Unlock { name, waiter } => {
                let Some(queue) = self.locks.get_mut(&name) else { return Vec::new() };
                let had = queue.front() == Some(&waiter);
                queue.retain(|waiting| *waiting != waiter);
                if queue.is_empty() {
                    self.locks.remove(&name);
                    return Vec::new();
                }
                queue.front().filter(|_| had).copied().into_iter().collect()
            }
            // The pool of a group that has ended is gone. Its users have been notified, or will be.
            OwnerRequest::Free { group, number, waiter } => {
                if let Some(pool) = self.pools.get_mut(&group) {
                    pool.free(number, waiter);
                }
                Vec::new()
            }
            OwnerRequest::Leave { group, number } => {
                if let Some(pool) = self.pools.get_mut(&group) {
                    pool.leave(number);
                }
                Vec::new()
            }
        }
    }
}

/// Returns the core that owns the schedule of a group of arrivals.
pub(crate) fn owner_of(group: GroupId, cores: u32) -> u32 {
    group.0 % cores
}

impl OwnerRequest {
    /// Returns the core that handles this request.
    pub(crate) fn owner(&self, cores: u32) -> u32 {
        match self {
            Self::Arrive { barrier, .. } | Self::GiveUp { barrier, .. } => barrier.0 % cores,
            Self::Free { group, .. } | Self::Leave { group, .. } => owner_of(*group, cores),
            Self::Lock { name, .. } | Self::Unlock { name, .. } => {
                let sum = |sum: u32, byte: u8| sum.wrapping_mul(31).wrapping_add(u32::from(byte));
                name.bytes().fold(0, sum) % cores
            }
        }
    }
}

/// The owner core's state of a group of arrivals.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// Free users by their number.
    free: BTreeMap<u32, Waiter>,
    /// Number of users that run an iteration.
    busy: u32,
    /// Number of arrivals that were assigned to a user.
    pub(crate) arrived: u64,
    /// Number of arrivals for which the maximum number of users was busy.
    pub(crate) lost: u64,
    /// The core that starts the next new user.
    pub(crate) next: u32,
}

/// The user that runs an arrival: a free user or a new user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalUser {
    Free(Waiter),
    New,
}

impl Pool {
    /// Assigns a user to an arrival. Returns `None` if `most` users are busy; 0 is unlimited.
    pub(crate) fn arrive(&mut self, most: u32) -> Option<ArrivalUser> {
        let who = match self.free.pop_first() {
            Some((_, waiter)) => ArrivalUser::Free(waiter),
            None if most == 0 || self.busy < most => ArrivalUser::New,
            None => {
                self.lost += 1;
                return None;
            }
        };
        self.busy += 1;
        self.arrived += 1;
        Some(who)
    }

    /// Adds a user that has ended its iteration to the free users.
    fn free(&mut self, number: u32, waiter: Waiter) {
        self.busy = self.busy.saturating_sub(1);
        self.free.insert(number, waiter);
    }

    /// Removes a user that has ended.
    fn leave(&mut self, number: u32) {
        if self.free.remove(&number).is_none() {
            self.busy = self.busy.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::UserId;

    fn waiter(number: u64) -> Waiter {
        Waiter { core: 0, user: UserId::from(number as u32), number }
    }

    fn names(waiters: &[Waiter]) -> Vec<u64> {
        waiters.iter().map(|waiter| waiter.number).collect()
    }

    #[test]
    fn a_barrier_opens_for_its_number_and_for_who_gives_up() {
        let (mut owner, barrier) = (Owner::default(), BarrierId(3));
        let arrive = |number| OwnerRequest::Arrive { barrier, size: 3, waiter: waiter(number) };
        assert_eq!(names(&owner.answer(arrive(1))), [0u64; 0]);
        assert_eq!(names(&owner.answer(arrive(2))), [0u64; 0]);
        assert_eq!(names(&owner.answer(arrive(3))), [1, 2, 3]);
        assert_eq!(names(&owner.answer(arrive(4))), [0u64; 0]);
        let give_up = |number| OwnerRequest::GiveUp { barrier, waiter: waiter(number) };
        // A user that was released before is not in the list any more.
        assert_eq!(names(&owner.answer(give_up(2))), [0u64; 0]);
        assert_eq!(names(&owner.answer(arrive(5))), [0u64; 0]);
        assert_eq!(names(&owner.answer(give_up(5))), [4, 5]);
    }

    #[test]
    fn a_lock_goes_from_one_to_the_next() {
        let mut owner = Owner::default();
        let lock = |number| OwnerRequest::Lock { name: "l".into(), waiter: waiter(number) };
        let unlock = |number| OwnerRequest::Unlock { name: "l".into(), waiter: waiter(number) };
        assert_eq!(names(&owner.answer(lock(1))), [1]);
        assert_eq!(names(&owner.answer(lock(2))), [0u64; 0]);
        assert_eq!(names(&owner.answer(lock(3))), [0u64; 0]);
        // A waiting user that ends is skipped.
        assert_eq!(names(&owner.answer(unlock(2))), [0u64; 0]);
        assert_eq!(names(&owner.answer(unlock(1))), [3]);
        assert_eq!(names(&owner.answer(unlock(3))), [0u64; 0]);
        assert!(owner.locks.is_empty());
        assert_eq!(names(&owner.answer(lock(4))), [4]);
    }

    #[test]
    fn who_is_free_comes_first_and_then_somebody_new() {
        let mut pool = Pool::default();
        assert_eq!(pool.arrive(2), Some(ArrivalUser::New));
        assert_eq!(pool.arrive(2), Some(ArrivalUser::New));
        assert_eq!(pool.arrive(2), None);
        pool.free(1, waiter(1));
        pool.free(0, waiter(0));
        assert_eq!(pool.arrive(2), Some(ArrivalUser::Free(waiter(0))));
        assert_eq!(pool.arrive(2), Some(ArrivalUser::Free(waiter(1))));
        assert_eq!((pool.busy, pool.arrived, pool.lost), (2, 4, 1));
        pool.leave(1);
        assert_eq!(pool.arrive(2), Some(ArrivalUser::New));
        assert_eq!(pool.arrive(0), Some(ArrivalUser::New));
    }
}
