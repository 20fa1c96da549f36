//! Listeners that save responses: the state that all cores share.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use plan::root::Root;

/// The settings of a listener that saves responses, and its counter.
#[derive(Debug)]
pub(crate) struct SaverStart {
    /// Time stamp in front of the number in file names.
    pub(crate) stamp: String,
    /// Number of digits of the number in file names.
    pub(crate) digits: usize,
    /// Number of file numbers that have been used so far.
    pub(crate) numbers: AtomicU64,
    /// Folder outside of which no file may be written; `None` is no restriction.
    pub(crate) root: Option<Root>,
}

/// Returns the path of a file that the plan names: relative to the working folder, as in JMeter, or with `prefix`
/// relative to the plan's folder.
pub(crate) fn place(path: &str, prefix: &str, base_dir: &Path) -> PathBuf {
    match path.strip_prefix(prefix) {
        Some(rest) => base_dir.join(rest),
        None => PathBuf::from(path),
    }
}
