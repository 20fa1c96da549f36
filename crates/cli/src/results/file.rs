//! The file of a report: its name in a folder, and how it is written.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use answers::verdict::Language;
use report::Page;

/// Name of the report in a run's folder.
pub(crate) const FILE: &str = "report.html";

/// Writes a file atomically: it is complete or missing. Only its owner can read it.
pub(crate) fn write(to: &Path, text: &str) -> io::Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&part)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&part, to));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Returns the error message for a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// Writes a Markdown summary to the file that the user has named. The file may belong to another program, such as a
/// CI server. The error is a message for the user.
pub(crate) fn write_markdown(file: &Path, page: &Page, language: Language) -> Result<(), String> {
    fs::write(file, page.markdown(language)).map_err(|error| cannot_write(file, &error))
}

/// Writes a run's summary in k6's format to the file that the user named.
pub(crate) fn write_k6(file: &Path, page: &Page) -> Result<(), String> {
    let text = page.k6().ok_or_else(|| {
        format!("{} is not written: a k6 summary describes a single run", file.display())
    })?;
    fs::write(file, text).map_err(|error| cannot_write(file, &error))
}
