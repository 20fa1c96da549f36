//! Reads a plan, and writes it without loss: the file is complete before and after, and changes of others stay.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use author::Plan;

/// Reads a plan. The error is a message for the user.
pub(super) fn read(path: &Path) -> Result<Plan, String> {
    let bytes =
        fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Plan::read(&path.display().to_string(), bytes).map_err(|refusal| refusal.message)
}

/// Replaces the bytes of a plan's file. Fails if the file no longer has the bytes `before`, or is a symbolic link. The
/// error is a message for the user.
pub(super) fn rewrite(path: &Path, before: &[u8], after: &[u8]) -> Result<(), String> {
    let shown = path.display();
    let kind =
        fs::symlink_metadata(path).map_err(|error| format!("cannot write {shown}: {error}"))?;
    if !kind.is_file() {
        return Err(format!("{shown} is not a regular file: name the file itself"));
    }
    let now = fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    if now != before {
        return Err(format!(
            "{shown} was changed by another program meanwhile: nothing is written"
        ));
    }
    if now == after {
        return Ok(());
    }
    create(path, after, Some(kind.permissions()))
}

/// Writes a file atomically. The error is a message for the user.
pub(super) fn create(
    path: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> Result<(), String> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let write = || {
        let mut file = OpenOptions::new().create_new(true).write(true).open(&part)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&part);
        format!("cannot write {}: {error}", path.display())
    })
}
