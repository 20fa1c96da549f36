//! Actions of a Flow Control Action.

/// Action of a Flow Control Action.
#[derive(Debug)]
pub enum Action {
    /// Pauses the user for a time in milliseconds.
    Pause(crate::template::Template),
    /// Ends the user.
    StopUser,
    /// Ends the run after the samples in flight are complete.
    StopTest,
    /// Ends the run at once.
    StopTestNow,
    /// Starts the next iteration of the group.
    NextIteration,
    /// Starts the next iteration of the loop around the action.
    NextLoopIteration,
    /// Breaks out of the loop around the action.
    BreakLoop,
}
