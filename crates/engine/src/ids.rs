//! Numbers of what a core has: users, connections, routes, waits.

/// The place of a user, or of what works for one, in its core's slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserId(u32);

impl UserId {
    /// No user.
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

/// No WebSocket connection.
pub(crate) const NO_SOCKET: u32 = u32::MAX;

/// The place of a route in its core's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RouteId(pub(crate) u32);

impl RouteId {
    /// No route.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// A user that waits: at a barrier, for a lock, or for an arrival. Good for one wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) core: u32,
    pub(crate) user: UserId,
    /// Which of all waits of the users of that core.
    pub(crate) number: u64,
}

/// A user of a core that a job is for, as the reply names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressee {
    pub(crate) index: UserId,
    pub(crate) ticket: u64,
}
