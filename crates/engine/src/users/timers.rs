//! Timers of a core's users.

use crate::ids::UserId;
use crate::time::clock::Nanos;
use crate::time::wheel::Wheel;

/// Timers of users.
pub(crate) struct Timers {
    pub(crate) wheel: Wheel,
    /// Users whose timers have fired.
    pub(crate) due: Vec<UserId>,
    /// Time of the next snapshot.
    pub(crate) next_second: Nanos,
}
