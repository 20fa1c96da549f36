//! A run of a plan at a given load for a given time, as a point of a sweep or of a search for the capacity.
//!
//! It runs in a process of its own: Java starts once in a process, signals have one owner, and what a point has used is
//! gone with it. Its folder is like that of any run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plan::load::Ask;
use serde_json::Value;

use crate::exit::Exit;

/// A point to be measured.
#[derive(Debug)]
pub(crate) struct Probe<'a> {
    pub(crate) plan: &'a Path,
    /// Its load: users or a rate, ramp and length.
    pub(crate) load: &'a Ask,
    /// Options of `throng run` besides: properties, workers, criteria.
    pub(crate) options: &'a [OsString],
    /// Parent folder of the run's folder.
    pub(crate) runs: &'a Path,
}

/// The outcome of a run that has been made.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code; -1 if a signal ended it.
    pub(crate) code: i32,
    /// The run's folder, with its record.
    pub(crate) folder: PathBuf,
    /// `summary.json`.
    pub(crate) summary: Value,
}

impl Outcome {
    /// Whether it was measured to its end; criteria may be missed.
    pub(crate) fn is_whole(&self) -> bool {
        self.code == Exit::Ok as i32 || self.code == Exit::Criteria as i32
    }
}

impl Probe<'_> {
    /// Makes the run and waits for its end. The error is a sentence for the user.
    pub(crate) fn run(&self) -> Result<Outcome, String> {
        let program = std::env::current_exe().map_err(|error| format!("no program: {error}"))?;
        let mut command = Command::new(program);
        command.arg("run").arg(self.plan).arg("--json").arg("--runs").arg(self.runs);
        command.args(options(self.load)).args(self.options);
        let ended = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("a run could not be started: {error}"))?;
        let said = String::from_utf8_lossy(&ended.stderr);
        let folder = said.lines().rev().find_map(|line| line.strip_prefix("Results: "));
        let (Some(folder), Ok(summary)) = (folder, serde_json::from_slice(&ended.stdout)) else {
            return Err(format!("a run ended without a summary:\n{}", said.trim_end()));
        };
        Ok(Outcome { code: ended.status.code().unwrap_or(-1), folder: folder.into(), summary })
    }
}

/// A load as options of the command line.
fn options(load: &Ask) -> Vec<OsString> {
    let time = |time: std::time::Duration| format!("{}us", time.as_micros());
    let given = [
        ("--users", load.users.map(|n| n.to_string())),
        ("--rps", load.rate.map(|rate| rate.to_string())),
        ("--max-users", load.max_users.map(|n| n.to_string())),
        ("--ramp", load.ramp.map(time)),
        ("--hold", load.hold.map(time)),
        ("--steps", load.steps.map(|n| n.to_string())),
        ("--duration", load.duration.map(time)),
        ("--iterations", load.iterations.map(|n| n.to_string())),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.flat_map(|(name, value)| [name.into(), value.into()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{self, Verb};

    #[test]
    fn a_load_comes_through_the_command_line_as_it_was() {
        let load = Ask {
            rate: Some(12.5),
            max_users: Some(9),
            ramp: Some(std::time::Duration::from_millis(1_500)),
            steps: Some(3),
            hold: Some(std::time::Duration::from_secs(90)),
            iterations: Some(7),
            ..Ask::default()
        };
        let line = ["throng", "run", "p.jmx"].into_iter().map(OsString::from);
        let line: Vec<_> = line.chain(options(&load)).collect();
        let Ok(Verb::Run(flags)) = flags::parse(&line) else { panic!("a run: {line:?}") };
        assert_eq!(flags.request().expect("a request").load.all, load);
    }
}
