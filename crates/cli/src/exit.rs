//! Exit codes of the program, on which scripts rely.
//!
//! Several codes may apply to one run or to several plans. [`Exit::first`] decides which one is returned.

use std::process::ExitCode;

/// Exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    /// A bug, or a machine that cannot run the program. Also returned if JMeter's report cannot be built, as in JMeter,
    /// and by `throng merge` with conflicts, as git expects it of a merge driver.
    Bug = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The plan is invalid or contains elements that cannot run.
    Plan = 3,
    /// A criterion was missed (`--fail`), a change was found (`--fail-if`), or a criterion ended the run
    /// (`--abort-if`). Also returned if no sample of the plan can have the label of a criterion (the run is not
    /// started), if a search for capacity fails at its lightest load, and if `throng mgs verify` finds no settings.
    Criteria = 4,
    /// The run ended early although nobody requested it.
    Aborted = 5,
    /// The results do not decide the question: a criterion, a change of `--fail-if`, or a verdict. This includes a
    /// run without samples, and a result file that does not say which samples failed.
    Undecided = 6,
    /// Worker processes died. The run continued without their users, or was stopped because of it.
    WorkersLost = 7,
    /// The machine cannot carry the load. `throng preflight` reports this about the machine or the proxy chain, a
    /// run was not started, or a search found no answer because of it.
    TooSmall = 8,
    /// The run finished, but rows, saved responses, files of its folder or printed output were lost.
    Lost = 9,
    /// The run was ended by Ctrl-C or a signal.
    Interrupted = 130,
}

/// Exit codes in order of priority, highest first.
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
    /// Returns the exit code with the highest priority.
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
