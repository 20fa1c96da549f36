//! Savers of responses: what all cores know of them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use plan::root::Root;

/// The settings and the numbers of a saver, from the start of the run.
#[derive(Debug)]
pub(crate) struct SaverStart {
    /// Stands before the number.
    pub(crate) stamp: String,
    /// Digits of the number.
    pub(crate) digits: usize,
    /// Numbers given out.
    pub(crate) numbers: AtomicU64,
    /// Where files may be; `None` is anywhere.
    pub(crate) root: Option<Root>,
}

/// Where a file that the plan names is: relative to the working folder, as JMeter has it, or with `prefix` to the plan's.
pub(crate) fn place(path: &str, prefix: &str, base_dir: &Path) -> PathBuf {
    match path.strip_prefix(prefix) {
        Some(rest) => base_dir.join(rest),
        None => PathBuf::from(path),
    }
}
