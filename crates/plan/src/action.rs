//! Flow Control Action.

/// The deed of a Flow Control Action.
#[derive(Debug)]
pub enum Action {
    /// Waits, milliseconds.
    Pause(crate::template::Template),
    /// Ends the user.
    StopUser,
    /// Ends the run after the samples in flight.
    StopTest,
    /// Ends the run at once.
    StopTestNow,
    /// Goes to the next iteration of the group.
    NextIteration,
    /// Goes to the next iteration of the loop around it.
    NextLoopIteration,
    /// Leaves the loop around it.
    BreakLoop,
}
