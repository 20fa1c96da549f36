//! Our own jar: embedded in the program, and written once to the cache folder, named by its sum.
//!
//! Java loads classes from files only; a file that is already there is compared, so a broken one is replaced.

use std::path::{Path, PathBuf};

use crate::install::write;
use crate::repository::sum;

/// The jar, built from `crates/jvm/java`.
const JAR: &[u8] = include_bytes!("../bridge.jar");

/// The jar as a file below the cache folder.
///
/// # Errors
///
/// Why it cannot be written.
pub(crate) fn jar(cache: &Path) -> Result<PathBuf, String> {
    let folder = cache.join("jvm");
    let file = folder.join(format!("bridge-{}.jar", &sum(JAR)[..16]));
    if std::fs::read(&file).is_ok_and(|content| content == JAR) {
        return Ok(file);
    }
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    write(&file, JAR)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jar_is_written_once_and_repaired() {
        let cache = tempfile::tempdir().expect("a folder");
        let file = jar(cache.path()).expect("a jar");
        let written = file.metadata().and_then(|data| data.modified()).expect("a time");
        assert_eq!(jar(cache.path()), Ok(file.clone()));
        let again = file.metadata().and_then(|data| data.modified()).expect("a time");
        assert_eq!(written, again);
        std::fs::write(&file, "broken").expect("a file");
        jar(cache.path()).expect("a jar");
        assert_eq!(std::fs::read(&file).expect("a file"), JAR);
    }
}
