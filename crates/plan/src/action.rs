//! Actions that a Flow Control Action can request.

/// The action that a Flow Control Action requests.
#[derive(Debug)]
pub enum Action {
    /// Pauses the user for a time in milliseconds, given by a template.
    Pause(crate::template::Template),
    /// Ends the user.
    StopUser,
    /// Ends the run after the samples in flight are complete.
    StopTest,
    /// Ends the run immediately.
    StopTestNow,
    /// Starts the next iteration of the group.
    NextIteration,
    /// Starts the next iteration of the loop that contains the action.
    NextLoopIteration,
    /// Leaves the loop that contains the action.
    BreakLoop,
}
