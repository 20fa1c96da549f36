//! Exit codes: the contract with scripts.

use std::process::ExitCode;

/// Exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    /// A bug, or a machine that cannot run it; or JMeter's report cannot be made, as JMeter ends then.
    Bug = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The plan is wrong, or holds what cannot run.
    Plan = 3,
    /// A criterion was not met (`--fail`), or ended the run (`--abort-if`).
    Criteria = 4,
    /// The run ended before its end without being asked to.
    Aborted = 5,
    /// Worker processes died; the run went on without their users, or was stopped for it.
    WorkersLost = 7,
    /// The machine cannot hold the load: `throng preflight` says so of it or of the chain, and a run was not started; or a
    /// search has no answer because of it.
    TooSmall = 8,
    /// The run went to its end, but rows, saved responses, files of its folder or what was printed are lost.
    Lost = 9,
    /// Ended by Ctrl-C or a signal.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
