//! Timers of a core's users.

use crate::ids::UserId;
use crate::time::clock::Nanos;
use crate::time::wheel::Wheel;

/// The timer wheel of a core's users, and the users with expired timers.
pub(crate) struct Timers {
    pub(crate) wheel: Wheel,
    /// Users whose timers have fired and must be handled.
    pub(crate) due: Vec<UserId>,
    /// Time at which the next snapshot is due.
    pub(crate) next_second: Nanos,
}
