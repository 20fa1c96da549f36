//! Options of the commands that run a plan several times: sweep, capacity, compare.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::load::rate;
use super::properties::PassedFlags;
use crate::args::outputs::Promised;
use crate::judge::verdict::Lang;

#[derive(Debug, Args)]
pub(crate) struct SweepFlags {
    /// The JMeter plan to run.
    #[arg(value_parser = more_than_once)]
    pub(crate) plan: PathBuf,
    /// Numbers of users, separated by commas. The plan runs once with each; such a run is a point of the sweep.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', required_unless_present = "rps", conflicts_with = "rps",
          value_parser = clap::value_parser!(u32).range(1..=50_000_000))]
    pub(crate) users: Vec<u32>,
    /// Iterations started per second, separated by commas, instead of users.
    #[arg(long, value_name = "R,R,…", value_delimiter = ',', value_parser = rate)]
    pub(crate) rps: Vec<f64>,
    /// End a point when the 95 % confidence interval of its mean response time is within ± this share.
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) precision: f64,
    /// Maximum duration of a point, including the ramp-up.
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = answers::time::parse)]
    pub(crate) at_most: Duration,
    /// Minimum duration of a point under full load.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = answers::time::parse)]
    pub(crate) at_least: Duration,
    /// Ramp-up time of users or rate at each point.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = answers::time::parse)]
    pub(crate) ramp: Duration,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(flatten)]
    pub(crate) passed: PassedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CapacityFlags {
    /// The JMeter plan to run.
    #[arg(value_parser = more_than_once)]
    pub(crate) plan: PathBuf,
    /// A criterion that must hold, like 'p99 < 2s' or 'error% = 0'. May be given several times.
    #[arg(long, value_name = "CRITERION", required = true)]
    pub(crate) fail: Vec<String>,
    /// Search for the rate of iterations per second instead of the number of users.
    #[arg(long)]
    pub(crate) rps: bool,
    /// Largest load to try [default: 1000].
    #[arg(long, value_name = "LOAD", default_value_t = 1000.0, hide_default_value = true)]
    pub(crate) at_most: f64,
    /// Smallest load to try [default: 1].
    #[arg(long, value_name = "LOAD", default_value_t = 1.0, hide_default_value = true)]
    pub(crate) at_least: f64,
    /// Measured time of a probe, which is a run at one load.
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = answers::time::parse)]
    pub(crate) probe: Duration,
    /// Time of a probe before its measured time, in which the load rises and the target settles.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = answers::time::parse)]
    pub(crate) settle: Duration,
    /// End a probe with a clear result early when the 95 % confidence interval of its mean response time is within ±
    /// this share.
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) precision: f64,
    /// End the search when the lower and the upper bound of the limit are about this share apart.
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) width: f64,
    /// Maximum number of probes.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(3..=50))]
    pub(crate) probes: u32,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(flatten)]
    pub(crate) passed: PassedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CompareFlags {
    /// Two results (folders of runs or sweeps, or result files), or two plans to run: A, then B.
    #[arg(value_name = "A B", num_args = 0..=2)]
    pub(crate) sides: Vec<PathBuf>,
    /// A plan to run. Must be given twice, for A and for B; the same as two plans as arguments.
    #[arg(long = "plan", value_name = "PLAN", conflicts_with = "sides", value_parser = more_than_once)]
    pub(crate) plans: Vec<PathBuf>,
    /// Exit with code 4 if this change is found and significant, like 'p95 > +5%', 'error% > +0.1%' or 'checks% < -1%'.
    /// May be given several times.
    #[arg(long, value_name = "CHANGE")]
    pub(crate) fail_if: Vec<String>,
    /// Run both plans this many times, in turns: A B A B.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=50))]
    pub(crate) repeat: Option<u32>,
    /// With plans: users of each run, instead of the plan's.
    #[arg(long, value_name = "N", conflicts_with = "rps")]
    pub(crate) users: Option<u32>,
    /// With plans: iterations started per second in each run.
    #[arg(long, value_name = "R", value_parser = rate)]
    pub(crate) rps: Option<f64>,
    /// With plans: time of each run.
    #[arg(long, value_name = "TIME", value_parser = answers::time::parse)]
    pub(crate) duration: Option<Duration>,
    /// Smallest relative change that counts. For shares of errors it is always 0.1 percentage points.
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    pub(crate) floor: f64,
    /// Compare even results that are not comparable; the reasons are still printed.
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    #[command(flatten)]
    pub(crate) passed: PassedFlags,
}

#[derive(Debug, Args)]
pub(crate) struct OutputFlags {
    /// Print JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Parent folder of the new folder with the results.
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Write no report.html. If throng compare runs no plans, it then creates no folder.
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Write a summary in Markdown, for a pull request or a job's page.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Language in which the report opens; by default that of LC_ALL, LC_MESSAGES or LANG. Readers can change it.
    #[arg(long)]
    pub(crate) lang: Option<Lang>,
}

impl OutputFlags {
    /// Returns the Markdown summary that the command must write, if `--markdown` names a file.
    pub(crate) fn promised(&self, verb: &str) -> Promised {
        Promised { name: verb.to_owned(), markdown: self.markdown.clone(), ..Promised::default() }
    }

    /// Returns an error message if the Markdown summary would overwrite the plan.
    pub(crate) fn clash(&self, plan: &Path) -> Option<String> {
        let markdown = self.markdown.iter().map(|file| ("--markdown", &**file));
        crate::args::outputs::clash([("the plan", plan)], markdown)
    }
}

/// Parses the path of a plan that runs more than once. Standard input is refused, because it can be read only once.
fn more_than_once(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if crate::inputs::load::is_standard_input(&path) {
        return Err(
            "the plan is run more than once, and standard input can be read only once: name a file"
                .into(),
        );
    }
    Ok(path)
}

/// Parses a share: `2%` or `0.02`.
fn share(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    match number {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("it must be a share, like 2%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percents_or_fractions() {
        assert_eq!((share("2%"), share("0.05")), (Ok(0.02), Ok(0.05)));
        for text in ["", "x", "0", "150%", "-1%", "nan"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
