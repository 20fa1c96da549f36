//! The bridge: Throng's own jar. It is embedded in the program and written once to the cache folder, with its checksum
//! in the name.
//!
//! Java loads classes from files only. An existing file is compared with the embedded jar, so that a damaged one is
//! replaced.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::install::write;
use crate::repository::sum;

/// The bridge's jar, built from `crates/jvm/java`.
const JAR: &[u8] = include_bytes!("../bridge.jar");

/// Returns the path of the bridge's jar below the cache folder; writes the jar if it is missing.
///
/// # Errors
///
/// The reason why the jar cannot be written.
pub(crate) fn jar(cache: &Path) -> Result<PathBuf, String> {
    let folder = cache.join("jvm");
    verify(cache)?;
    verify(&folder)?;
    let file = folder.join(format!("bridge-{}.jar", &sum(JAR)[..16]));
    if std::fs::read(&file).is_ok_and(|content| content == JAR) {
        return Ok(file);
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    // Another process may have created the cache folder first.
    verify(cache)?;
    verify(&folder)?;
    write(&file, JAR)?;
    Ok(file)
}

/// Returns a folder of this user below the temporary folder, for users without a home folder.
pub(crate) fn private_folder() -> PathBuf {
    std::env::temp_dir().join(format!("throng-{}", rustix::process::geteuid().as_raw()))
}

/// Refuses a folder in which another user could have placed a jar: the folder belongs to another user, or others may
/// write to it.
fn verify(folder: &Path) -> Result<(), String> {
    let about = match std::fs::symlink_metadata(folder) {
        Ok(about) if about.is_symlink() => std::fs::metadata(folder),
        about => about,
    };
    let Ok(about) = about else { return Ok(()) };
    let own = rustix::process::geteuid().as_raw();
    if ![own, 0].contains(&about.uid()) {
        return Err(refusal(folder, "belongs to another user"));
    }
    if about.mode() & 0o002 != 0 {
        return Err(refusal(folder, "is writable by everybody"));
    }
    Ok(())
}

fn refusal(folder: &Path, why: &str) -> String {
    format!(
        "{} {why}, so that Java cannot safely load a jar from it: delete it, or set THRONG_CACHE to a folder of your \
        own",
        folder.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let cache = tempfile::tempdir().expect("a folder");
        jar(cache.path()).expect("a jar");
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(cache.path().join("jvm"), open).expect("permissions");
        let error = jar(cache.path()).unwrap_err();
        assert!(error.contains("is writable by everybody"), "{error}");
    }

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
