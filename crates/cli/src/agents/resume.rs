//! `throng fleet resume`: another coordinator takes over a run whose coordinator was killed.
//!
//! While a run is in progress, its folder contains its command line. The command line defines everything that the
//! crate `fleet` does not save: criteria, the files written at the end, and the server at which agents wait. The
//! growing files of the folder are rebuilt from the reports that the first coordinator has saved.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fleet::remote;

use crate::args::asked::{self, Asked};
use crate::args::flags::{self, ResumeFlags, Verb};
use crate::args::request::Request;
use crate::exit::Exit;
use crate::inputs::{java, suggest};
use crate::print::terminal;
use crate::run::kept::{self, LINE, Taken};
use crate::run::stages;

pub(crate) fn run(flags: &ResumeFlags) -> Exit {
    match taken(&flags.run) {
        Ok((request, taken)) => stages::resume(request, taken),
        Err(words) => {
            terminal::error(&format!("{} cannot be taken over: {words}", flags.run.display()));
            Exit::Usage
        }
    }
}

/// Opens a run that is taken over, and changes to the folder in which it was started.
fn taken(folder: &Path) -> Result<(Request, Taken), String> {
    let named = |error: std::io::Error| error.to_string();
    let folder = fs::canonicalize(folder).map_err(named)?;
    if folder.join("summary.json").exists() {
        return Err("the run has ended: its summary is there".into());
    }
    let line = kept::line(&folder)?;
    let former = remote::former(&remote::notes(&folder))?;
    std::env::set_current_dir(&line.folder)
        .map_err(|error| format!("the folder {}: {error}", line.folder.display()))?;
    let request = request(line.arguments.into_iter().map(OsString::from).collect())?;
    let plan = PathBuf::from(former.name());
    Ok((Request { plan, ..request }, Taken { former, folder }))
}

/// Parses a command line of Throng or of JMeter into a request.
fn request(mut arguments: Vec<OsString>) -> Result<Request, String> {
    let first = arguments.get(1).cloned().unwrap_or_default();
    if first.to_string_lossy().starts_with('-') {
        let Asked::Run(mut request) = asked::asked(&arguments[1..])? else {
            return Err(format!("{LINE} contains no command line of a run"));
        };
        // The first coordinator has already printed this warning.
        let _ = java::heed_start_script(&mut request.sources);
        return Ok(*request);
    }
    if suggest::is_plan(&first) {
        arguments.insert(1, "run".into());
    }
    match flags::parse(&arguments) {
        Ok(Verb::Run(flags)) => flags.request(),
        Ok(_) => Err(format!("{LINE} contains no command line of a run")),
        Err(error) => Err(flags::mistake(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_command_line_is_read_again() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        for line in [
            "throng run a.jmx --fleet nats://127.0.0.1/p -l out.jtl",
            "throng a.jmx --fleet nats://127.0.0.1/p -l out.jtl",
            "throng -n -t a.jmx --fleet nats://127.0.0.1/p -l out.jtl",
        ] {
            let request = request(words(line)).expect(line);
            assert_eq!(request.plan, Path::new("a.jmx"), "{line}");
            assert_eq!(request.jtl.as_deref(), Some(Path::new("out.jtl")), "{line}");
            assert!(matches!(request.fleet, Some(remote::Way::Nats(_))), "{line}");
        }
        assert!(request(words("throng check a.jmx")).is_err());
    }

    #[test]
    fn a_folder_that_is_no_run_of_agents_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let why = |path: &Path| taken(path).err().unwrap_or_default();
        assert!(why(&folder.path().join("none")).contains("No such file"));
        assert!(why(folder.path()).contains("not a run with --fleet"));
        fs::write(folder.path().join("summary.json"), "{}").expect("room");
        assert!(why(folder.path()).contains("has ended"));
    }
}
