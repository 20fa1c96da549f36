//! Exit codes: the contract with scripts.
//!
//! Several may apply to one run or to several plans: [`Exit::first`] alone decides which one counts.

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
    /// A criterion was not met (`--fail`), or ended the run (`--abort-if`); or no sample of the plan can meet it, and nothing
    /// was run.
    Criteria = 4,
    /// The run ended before its end without being asked to.
    Aborted = 5,
    /// The results cannot decide what was asked: a criterion, a change of `--fail-if`, or a verdict. A run without samples,
    /// or a result file that does not say which samples failed, decides nothing.
    Undecided = 6,
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

/// The order in which exit codes count.
const ORDER: [Exit; 11] = [
    Exit::Bug,
    Exit::Usage,
    Exit::Plan,
    Exit::TooSmall,
    Exit::Aborted,
    Exit::Interrupted,
    Exit::WorkersLost,
    Exit::Criteria,
    Exit::Undecided,
    Exit::Lost,
    Exit::Ok,
];

impl Exit {
    /// The exit code that counts of those that apply.
    pub(crate) fn first(applying: impl IntoIterator<Item = Self>) -> Self {
        let place = |exit: &Self| ORDER.iter().position(|one| one == exit);
        applying.into_iter().min_by_key(place).unwrap_or(Self::Ok)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_code_counts() {
        assert_eq!(Exit::first([]), Exit::Ok);
        assert_eq!(Exit::first([Exit::Ok, Exit::Lost]), Exit::Lost);
        assert_eq!(Exit::first([Exit::Lost, Exit::Undecided, Exit::Ok]), Exit::Undecided);
        assert_eq!(Exit::first([Exit::Undecided, Exit::Criteria]), Exit::Criteria);
        assert_eq!(Exit::first([Exit::Criteria, Exit::Interrupted]), Exit::Interrupted);
        assert_eq!(Exit::first([Exit::Plan, Exit::Usage, Exit::Ok]), Exit::Usage);
    }
}
