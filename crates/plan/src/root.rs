//! Where a plan has files written: folders that are known at the start of a run.
//!
//! Parts of a file's name may come from a server. They never lead out of the folder that the plan, its variables and the
//! properties name: not by `..`, nor by an absolute path. Links are not looked at.

use std::path::{Component, Path, PathBuf};

/// A folder that files do not leave.
#[derive(Debug)]
pub struct Root(PathBuf);

impl Root {
    /// The folder of a file whose name begins so.
    pub fn of(start: &Path) -> Self {
        // Without a slash at its end, the last part of the name is the beginning of the file's own.
        let whole = start.as_os_str().as_encoded_bytes().ends_with(b"/");
        let folder = if whole { Some(start) } else { start.parent() };
        Self(plain(folder.unwrap_or(start)))
    }

    /// Whether a file is in the folder or below.
    pub fn holds(&self, path: &Path) -> bool {
        let path = plain(path);
        let Ok(rest) = path.strip_prefix(&self.0) else { return false };
        rest.is_relative() && !rest.components().any(|part| part == Component::ParentDir)
    }
}

/// A path without `.` and, as far as it can be, without `..`; links are not looked at.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_below_the_folder_that_is_known_at_the_start() {
        for (start, inside, outside) in [
            (
                "out/a-",
                &["out/a-1.html", "out/a-b/../c", "out/x/y"][..],
                &["out/a-/../../x", "/out/a"][..],
            ),
            ("/tmp/out/", &["/tmp/out/x", "/tmp/./out/x"], &["/tmp/x", "/tmp/out/../x", "x"]),
            ("", &["x", "a/b", "a/../b"], &["../x", "/etc/x", "a/../../x"]),
            ("../out/a", &["../out/b"], &["../x", "../out/../../x", "out/x"]),
            ("name", &["name/x"], &["name/../../x"]),
        ] {
            let root = Root::of(Path::new(start));
            for path in inside {
                assert!(root.holds(Path::new(path)), "{path} in {root:?}");
            }
            for path in outside {
                assert!(!root.holds(Path::new(path)), "{path} not in {root:?}");
            }
        }
    }
}
