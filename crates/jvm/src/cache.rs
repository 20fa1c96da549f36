//! The cache folder, for files that are created once and kept: `THRONG_CACHE`, or `throng` in the user's cache folder.

use std::path::PathBuf;

/// Returns the cache folder, which may not exist yet; `None` if none of `THRONG_CACHE`, `XDG_CACHE_HOME` and `HOME`
/// names one.
pub fn folder() -> Option<PathBuf> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("THRONG_CACHE").or_else(|| {
        let caches = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
        Some(caches.or_else(|| Some(variable("HOME")?.join(".cache")))?.join("throng"))
    })
}
