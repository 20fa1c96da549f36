//! Numbers of a core's users.

/// The place of a user, or of what works for one, in its core's slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserId(u32);

impl UserId {
    /// No user.
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) fn at(self) -> usize {
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
