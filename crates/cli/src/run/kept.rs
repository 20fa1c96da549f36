//! Saves the command line of a run with agents in the run's folder, for a coordinator that takes the run over.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use fleet::remote::Former;
use serde::{Deserialize, Serialize};

/// Name of the file with the saved command line of a run.
pub(crate) const LINE: &str = "fleet.line";

/// Command line of a run, and the working folder in which it was given.
#[derive(Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: PathBuf,
}

/// A run that is being taken over, and its folder.
pub(crate) struct Taken {
    pub(crate) former: Former,
    pub(crate) folder: PathBuf,
}

/// Saves the command line of this process in the run's folder. The error is a message for the user.
pub(crate) fn keep(folder: &Path) -> Result<(), String> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.join(LINE).display());
    let arguments = std::env::args_os().map(OsString::into_string).collect::<Result<Vec<_>, _>>();
    let arguments = arguments.map_err(|_| named(&"an argument is not valid UTF-8"))?;
    let here = std::env::current_dir().map_err(|error| named(&error))?;
    let line =
        serde_json::to_vec(&Line { arguments, folder: here }).map_err(|error| named(&error))?;
    let mut how = OpenOptions::new();
    let file = how.write(true).create(true).truncate(true).mode(0o600).open(folder.join(LINE));
    file.and_then(|mut file| file.write_all(&line)).map_err(|error| named(&error))
}

/// Deletes the saved command line at the end of the run.
pub(crate) fn forget(folder: &Path) {
    let _ = fs::remove_file(folder.join(LINE));
}

/// Reads the saved command line of a run that has not ended. The error is a message for the user.
pub(crate) fn line(folder: &Path) -> Result<Line, String> {
    let bytes = fs::read(folder.join(LINE)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            "it is not a run with --fleet, or its agents had not started".to_owned()
        }
        _ => format!("{LINE}: {error}"),
    })?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{LINE}: {error}"))
}
