//! Identifiers of objects in a core: users, connections, routes, waits.

/// Index of a user, or of a branch that works for a user, in its core's slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserId(u32);

impl UserId {
    /// Stands for "no user".
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) const fn at(self) -> usize {
        self.0 as usize
    }
}

impl From<u32> for UserId {
    fn from(place: u32) -> Self {
        Self(place)
    }
}

impl From<UserId> for u32 {
    fn from(id: UserId) -> Self {
        id.0
    }
}

/// Stands for "no WebSocket connection".
pub(crate) const NO_SOCKET: u32 = u32::MAX;

/// Index of a route in its core's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RouteId(pub(crate) u32);

impl RouteId {
    /// Stands for "no route".
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// Handle of a user that waits at a barrier, for a lock, or for an arrival. The handle is valid for that wait only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) core: u32,
    pub(crate) user: UserId,
    /// Sequence number of the wait among all waits of the core's users.
    pub(crate) number: u64,
}

/// Receiver of a job's reply: the waiting user, and the ticket of the job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobUser {
    pub(crate) index: UserId,
    pub(crate) ticket: u64,
}
