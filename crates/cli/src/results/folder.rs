//! The folder of a run with all its files. It is readable while the run is in progress and after the process was
//! killed.
//!
//! `plan.jmx` and `properties.txt` describe what was run, `seconds.jsonl` has a line for each of the last seconds,
//! and `throng.log` is the log. `summary.txt` and `summary.json` are written at the end, and `results.jtl` if
//! requested. A full disk is reported once and does not stop the run; disk space for the summary is reserved at the
//! start. Summaries are written atomically. Only the owner can read the folder, because plans and properties
//! contain passwords.
mod shorter;

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use record::{MemoryCopy, ReadError, Record, Recording};
use stats::snapshot_file::{self, Second};

/// A run's folder, open for writing seconds. It has no path if the folder could not be created.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    path: Option<PathBuf>,
    seconds: Option<File>,
    /// True if a failed write to the run's folder has been reported.
    failed: bool,
    /// Number of seconds that could not be written to `seconds.jsonl`.
    seconds_lost: u64,
    /// File of the record. `None` if it could not be opened.
    record: Option<File>,
    /// Number of seconds of the record that could not be written.
    record_lost: u64,
    /// Copy of the record in memory.
    memory: MemoryCopy,
    /// Replaces the record of a long run by shortened copies.
    shorter: shorter::Shorter,
}

/// Permissions of the files in a run's folder.
const OWN_FILE: u32 = 0o600;
/// Permissions of a run's folder.
const OWN_FOLDER: u32 = 0o700;
/// Names of the summaries that are written at the end of a run, and the disk space in bytes that is reserved for each.
const KEPT: [(&str, u64); 2] = [("summary.json", 128 << 10), ("summary.txt", 32 << 10)];
/// Name of the file with a line for each of the latest seconds.
pub(crate) const SECONDS: &str = "seconds.jsonl";
/// Name of the file with older lines. They are moved there when `seconds.jsonl` has its largest size.
pub(crate) const SECONDS_BEFORE: &str = "seconds.1.jsonl";
/// Largest size of `seconds.jsonl` in bytes: the lines of about 9 hours. Older lines are moved to [`SECONDS_BEFORE`].
/// The record covers the whole run.
const MOST_OF_SECONDS: u64 = 32 << 20;

impl Folder {
    /// Creates the folder of a run.
    pub(crate) fn create(runs: &Path, plan: &Path, now_ms: i64) -> io::Result<Self> {
        fs::create_dir_all(runs)?;
        let path = unused(runs, &name(plan, now_ms))?;
        let mut how = OpenOptions::new();
        how.create(true).append(true).mode(OWN_FILE);
        let seconds = how.open(path.join(SECONDS))?;
        let record = how.open(path.join(record::FILE)).ok();
        for (name, size) in KEPT {
            // Errors are ignored: even if the disk is full now, or the file system cannot reserve space, there may
            // be space at the end.
            if let Ok(file) = unfinished(&path.join(part(name))) {
                let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, 0, size);
            }
        }
        Ok(Self { path: Some(path), seconds: Some(seconds), record, ..Self::default() })
    }

    /// Opens the folder of a run that another coordinator has started. Starts empty files for the seconds and the
    /// record.
    pub(crate) fn again(path: &Path) -> io::Result<Self> {
        let mut how = OpenOptions::new();
        how.create(true).append(true).mode(OWN_FILE);
        let open = |name: &str| -> io::Result<File> {
            let file = how.open(path.join(name))?;
            file.set_len(0)?;
            Ok(file)
        };
        let (seconds, record) = (open(SECONDS)?, open(record::FILE)?);
        let _ = fs::remove_file(path.join(SECONDS_BEFORE));
        shorter::give_up(path);
        let path = Some(path.to_owned());
        Ok(Self { path, seconds: Some(seconds), record: Some(record), ..Self::default() })
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the path of a file in the run's folder.
    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.join(name))
    }

    /// Appends a second to `seconds.jsonl`. Returns a message for the first failure only.
    pub(crate) fn write_second(&mut self, second: &Second) -> Option<String> {
        let file = self.seconds.as_mut()?;
        let mut line = Vec::new();
        let mut result = snapshot_file::write(&mut line, second);
        if result.is_ok() {
            let is_full = |length| length + line.len() as u64 > MOST_OF_SECONDS;
            let is_full = file.metadata().is_ok_and(|about| is_full(about.len()));
            match self.path.as_ref().filter(|_| is_full).map(|path| begin_anew(path, &line)) {
                Some(Ok(anew)) => *file = anew,
                // If no new file for seconds can be created, the old one keeps growing.
                Some(Err(_)) | None => result = append(file, &line),
            }
        }
        self.seconds_lost += u64::from(result.is_err());
        self.report(SECONDS, result)
    }

    /// Appends new data to the record: to the copy in memory and to the file. Returns a message for the first
    /// failure only.
    pub(crate) fn write_record(&mut self, recording: &mut Recording) -> Option<String> {
        let bytes = recording.take();
        let Some(file) = self.record.as_mut() else {
            self.record_lost += u64::from(self.path.is_some());
            self.memory.push(&bytes, false, recording);
            return None;
        };
        let result = append(file, &bytes);
        self.memory.push(&bytes, result.is_ok(), recording);
        if result.is_err() {
            self.record_lost += 1;
            recording.lost(file.metadata().is_ok_and(|about| about.len() == 0));
        }
        let made = match &self.path {
            Some(path) if result.is_ok() => self.shorter.second(path, recording.last().at_ms),
            _ => Ok(None),
        };
        // A failed copy is ignored. The record keeps its seconds unmerged, and another copy is tried later.
        if let Ok(Some(file)) = made {
            self.record = Some(file);
        }
        self.report(record::FILE, result)
    }

    /// Returns the record of the run. The file is read only if the record is too long for memory.
    pub(crate) fn recorded(&self) -> Result<Record, ReadError> {
        match (self.memory.record(), &self.path) {
            (Some(record), _) => Ok(record),
            (None, Some(path)) => Record::read(path),
            (None, None) => Ok(Record::default()),
        }
    }

    /// Ends the record of the run. No data is recorded after this call.
    pub(crate) fn end_record(&mut self) {
        if let Some(path) = &self.path {
            self.shorter.end(path);
        }
    }

    /// Returns the number of seconds of the record that could not be written.
    pub(crate) fn record_lost(&self) -> u64 {
        self.record_lost
    }

    /// Returns the number of seconds that could not be written to `seconds.jsonl`.
    pub(crate) fn seconds_lost(&self) -> u64 {
        self.seconds_lost
    }

    /// Restricts the permissions of a file in the folder, which another module has created, to its owner.
    pub(crate) fn keep_to_owner(&self, name: &str) {
        if let Some(path) = self.file(name) {
            let _ = fs::set_permissions(path, Permissions::from_mode(OWN_FILE));
        }
    }

    /// Writes a file of the run's folder atomically. Returns a message if that fails.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> Option<String> {
        let (part, whole) = (self.file(&part(name))?, self.file(name)?);
        let written = unfinished(&part).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.set_len(text.len() as u64)?;
            fs::rename(&part, whole)
        });
        let result = written.inspect_err(|_| drop(fs::remove_file(&part)));
        self.failed = false;
        self.report(name, result)
    }

    fn report(&mut self, name: &str, result: io::Result<()>) -> Option<String> {
        let error = result.err()?;
        let first = !std::mem::replace(&mut self.failed, true);
        let path = self.file(name).unwrap_or_default();
        first.then(|| format!("cannot write {}: {error}; the run goes on", path.display()))
    }
}

/// Returns the temporary name under which a file is written until it is complete.
fn part(name: &str) -> String {
    format!(".{name}.part")
}

/// Opens an unfinished file and keeps the disk space that is reserved for it.
fn unfinished(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).mode(OWN_FILE).open(path)
}

/// Starts a new file of seconds with one line. The previous lines replace the file of older lines. At any time, a
/// reader of the file finds a complete line.
fn begin_anew(folder: &Path, line: &[u8]) -> io::Result<File> {
    let (seconds, before) = (folder.join(SECONDS), folder.join(SECONDS_BEFORE));
    let new = folder.join(part(SECONDS));
    let mut how = OpenOptions::new();
    let mut file = how.create(true).append(true).mode(OWN_FILE).open(&new)?;
    file.set_len(0)?;
    file.write_all(line)?;
    match fs::remove_file(&before) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Some file systems have no hard links; then the file is renamed.
    fs::hard_link(&seconds, &before).or_else(|_| fs::rename(&seconds, &before))?;
    fs::rename(new, seconds)?;
    Ok(file)
}

/// Appends a second completely or not at all. Part of a line would corrupt the next line that is written.
fn append(to: &mut File, second: &[u8]) -> io::Result<()> {
    let before = to.metadata()?.len();
    let written = to.write_all(second);
    if written.is_err() {
        // A file that cannot be truncated, such as a pipe, keeps the partial data.
        let _ = to.set_len(before);
    }
    written
}

/// Returns the folder's name `YYYYmmdd-HHMMSS-plan`, in local time.
fn name(plan: &Path, now_ms: i64) -> String {
    let now =
        jiff::Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(lang::zone::here());
    let plan = plan.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let plan: String = plan
        .chars()
        .map(|char| if char.is_alphanumeric() || "-_.".contains(char) { char } else { '-' })
        .collect();
    format!("{}-{plan}", now.strftime("%Y%m%d-%H%M%S"))
}

/// Creates a folder with this name. Appends a number if another run has used the name.
fn unused(runs: &Path, name: &str) -> io::Result<PathBuf> {
    for number in 1.. {
        let path =
            if number == 1 { runs.join(name) } else { runs.join(format!("{name}-{number}")) };
        match DirBuilder::new().mode(OWN_FOLDER).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| path),
        }
    }
    unreachable!("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_same_second_get_folders_of_their_own() {
        let runs = tempfile::tempdir().unwrap();
        let create = || Folder::create(runs.path(), Path::new("a b/My plan!.jmx"), 0).unwrap();
        let (first, mut second) = (create(), create());
        assert!(
            first.path().unwrap().to_string_lossy().ends_with("-My-plan-"),
            "{:?}",
            first.path()
        );
        assert!(
            second.path().unwrap().to_string_lossy().ends_with("-My-plan--2"),
            "{:?}",
            second.path()
        );
        assert_eq!(second.write("plan.jmx", "<x/>"), None);
        assert_eq!(fs::read_to_string(second.file("plan.jmx").unwrap()).unwrap(), "<x/>");
    }

    #[test]
    fn seconds_are_on_disk_at_once() {
        let runs = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(runs.path(), Path::new("p.jmx"), 0).unwrap();
        assert_eq!(folder.write_second(&Second::default()), None);
        assert_eq!(
            fs::read_to_string(folder.file("seconds.jsonl").unwrap()).unwrap().lines().count(),
            1
        );
    }

    #[test]
    fn a_long_run_keeps_the_lines_of_its_last_seconds() {
        let runs = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(runs.path(), Path::new("p.jmx"), 0).unwrap();
        let (now, before) = (folder.file(SECONDS).unwrap(), folder.file(SECONDS_BEFORE).unwrap());
        // Uses long lines, so that a few seconds fill the file.
        let what = "x".repeat(4 << 20);
        for at_ms in 1..=40 {
            let marks = vec![snapshot_file::Mark { at_ms, what: what.clone() }];
            let second = Second { at_ms, marks, ..Second::default() };
            assert_eq!(folder.write_second(&second), None);
            let length = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
            assert!((1..=MOST_OF_SECONDS).contains(&length(&now)), "{at_ms}");
            assert!(length(&before) <= MOST_OF_SECONDS, "{at_ms}");
        }
        let times = |path: &Path| -> Vec<i64> {
            let text = fs::read_to_string(path).unwrap();
            let line = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
            text.lines().map(|text| line(text)["at_ms"].as_i64().unwrap()).collect()
        };
        let kept = [times(&before), times(&now)].concat();
        assert_eq!(kept, ((41 - kept.len() as i64)..=40).collect::<Vec<_>>());
        assert!(kept.len() >= 8 && !folder.file(&part(SECONDS)).unwrap().exists(), "{kept:?}");
        drop(folder);
        let again = Folder::again(now.parent().unwrap()).unwrap();
        assert!(!before.exists() && times(&now).is_empty(), "a takeover begins both anew");
        drop(again);
    }

    #[test]
    fn a_failed_write_is_told_once() {
        let runs = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(runs.path(), Path::new("p.jmx"), 0).unwrap();
        folder.seconds = OpenOptions::new().write(true).open("/dev/full").ok();
        let told = folder.write_second(&Second::default()).unwrap();
        assert!(told.contains("seconds.jsonl") && told.contains("No space"), "{told}");
        assert_eq!(folder.write_second(&Second::default()), None);
    }
}
