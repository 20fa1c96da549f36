//! The folder of an answer: its JSON, and the folders of the runs that it rests on.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Makes the folder `VERB-PLAN-TIME` under `runs`.
pub(crate) fn create(runs: &Path, verb: &str, plan: &Path) -> Result<PathBuf, String> {
    let stem = plan.file_stem().map_or_else(|| "plan".into(), |stem| stem.to_string_lossy());
    let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    for number in 1..1000 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = runs.join(format!("{verb}-{stem}-{time}{suffix}"));
        let made = fs::create_dir_all(runs).and_then(|()| fs::create_dir(&path));
        match made {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(format!("cannot make the folder {}: {error}", path.display()));
            }
        }
    }
    Err(format!("cannot make a folder in {}: all names are taken", runs.display()))
}

/// Writes the JSON of an answer: the file is there whole or not at all.
pub(crate) fn write(folder: &Path, name: &str, answer: &impl Serialize) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let part = folder.join(format!("{name}.part"));
    let text = json(answer) + "\n";
    let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

pub(crate) fn json(answer: &impl Serialize) -> String {
    serde_json::to_string_pretty(answer).unwrap_or_else(|_| "{}".to_owned())
}
