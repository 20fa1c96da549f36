//! Options for the criteria of a run.

use std::path::PathBuf;

use answers::criterion::Criterion;
use clap::Args;

use crate::judge::criteria::Criteria;

/// Criteria that judge the run at its end (`--fail`) or end the run early (`--abort-if`).
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Criteria; exit code 4 if one is not met, 6 if one is undecided")]
pub(crate) struct CriteriaFlags {
    /// A condition that the run must meet, like 'p99 < 500ms' or 'error% < 1'; throng explain criteria lists all. Use a
    /// condition on times together with one on errors. May be given several times.
    #[arg(long, value_name = "CRITERION", value_parser = Criterion::parse)]
    fail: Vec<Criterion>,
    /// A condition that ends the run early, like 'error% > 20 over 30s'. May be given several times.
    #[arg(long, value_name = "CRITERION", value_parser = Criterion::parse)]
    abort_if: Vec<Criterion>,
    /// Write a JUnit test for each criterion.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

impl CriteriaFlags {
    pub(crate) fn given(self) -> Criteria {
        Criteria { fail: self.fail, abort: self.abort_if, ..Criteria::default() }
    }
}
