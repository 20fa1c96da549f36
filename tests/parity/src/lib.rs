//! The harness of the parity cases: runs a small plan in Throng, and compares with what JMeter 5.6.3 did with it.
//!
//! A test binary has one test for each case, made by [`native_cases!`] or [`jvm_cases!`] of the folders that there are, and
//! calls [`Suite::check`]. The program `parity-record` records JMeter's side by [`Suite::record`]. The comparison of random
//! plans (`fuzz/`) uses the scripted target and what makes two runs comparable. `README.md` says what a case holds.

mod case;
pub mod closed;
mod datagrams;
pub mod diff;
mod document;
mod figures;
mod golden;
mod markup;
mod names;
pub mod normal;
mod plan;
mod programs;
pub mod server;
mod services;
mod socket;

// See the manifest: only their features are wanted.
use {jiff as _, rcgen as _, rustix as _, serde_json as _, tungstenite as _};

use crate::case::Case;
use crate::programs::Programs;
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/lists.rs"));

/// Prefix of the names of cases that need a JVM.
pub const JVM: &str = "jvm_";

/// Tries of a case in which times count.
const TRIES: u32 = 5;

/// The reason why a case was not run on this machine.
pub type Skipped = String;

/// The folder with the cases.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// The names of all cases, in order.
pub fn cases() -> Vec<String> {
    let folders = std::fs::read_dir(folder()).expect("the cases").flatten();
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The plan of a case as both programs read it, made of its short form unless it is written whole.
pub fn plan(name: &str) -> String {
    Case::read(name).plan()
}

/// The cases, with the programs that run them.
pub struct Suite {
    programs: Programs,
    /// Each case runs in a folder of its own below this.
    scratch: PathBuf,
}

impl Suite {
    /// Of the Throng at that path, unless `THRONG` names another. What plans write goes below `scratch`.
    pub fn new(throng: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        let other = std::env::var_os("THRONG").map(PathBuf::from);
        let throng = other.unwrap_or_else(|| throng.into());
        // Both programs run in folders of their own.
        let throng = std::fs::canonicalize(&throng).unwrap_or(throng);
        Self { programs: Programs::new(throng), scratch: scratch.into() }
    }

    /// Runs Throng and compares. A difference is a panic that shows it.
    pub fn check(&self, name: &str) -> Result<(), Skipped> {
        let case = Case::read(name);
        let home = if case.needs_jvm() || case.has_classes() { self.programs.home() } else { None };
        case.may_run(home)?;
        // Where times count, what a busy machine has delayed has another try. What is wrong is so each time.
        let tries = if case.rules.round.is_some() || case.rules.timed { TRIES } else { 1 };
        for left in (0..tries).rev() {
            let work = case.prepared(&self.scratch, home);
            let throng = self.programs.throng(&case, &work);
            let outcome = case.run(throng, &work, &self.programs);
            if std::env::var_os("PARITY_ACCEPT").is_some() {
                golden::accept(&case.folder, case.shared_golden(), &outcome);
            }
            let complaints = golden::compare(&case.folder, case.shared_golden(), &outcome);
            if complaints.is_empty() {
                let _ = std::fs::remove_dir_all(&work);
                break;
            }
            assert!(
                left > 0,
                "\n{name}: Throng (+) is not JMeter (-)\n{complaints}\nrun in {}",
                work.display()
            );
        }
        Ok(())
    }

    /// Runs JMeter from that home, and writes down what it did.
    pub fn record(&self, name: &str, home: &Path) -> Result<(), Skipped> {
        let case = Case::read(name);
        case.may_run(Some(home))?;
        if case.rules.by_hand && std::env::var_os("PARITY_BY_HAND").is_none() {
            return Err(
                "it needs a plug-in that is in no repository, and PARITY_BY_HAND is not set"
                    .to_owned(),
            );
        }
        let work = case.prepared(&self.scratch, Some(home));
        let outcome = case.run(programs::jmeter(home), &work, &self.programs);
        golden::record(&case.folder, &case.shared_golden(), &outcome);
        Ok(())
    }
}
