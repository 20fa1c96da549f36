//! Folders in which a plan may write files, fixed at the start of a run.
//!
//! Parts of a file name may come from a server. These parts can never lead out of the folder that the plan, its
//! variables and the properties name, neither through `..` nor through an absolute path. Symbolic links are not
//! checked.

use std::path::{Component, Path, PathBuf};

/// A folder that file paths must not leave.
#[derive(Debug)]
pub struct Root(PathBuf);

impl Root {
    /// Returns the folder of all files whose paths begin with `start`: `start` itself if it ends in a slash,
    /// otherwise its parent.
    pub fn of(start: &Path) -> Self {
        // If `start` does not end in a slash, its last component is the beginning of the file name.
        let whole = start.as_os_str().as_encoded_bytes().ends_with(b"/");
        let folder = if whole { Some(start) } else { start.parent() };
        Self(plain(folder.unwrap_or(start)))
    }

    /// True if a file is in this folder or in a subfolder.
    pub fn holds(&self, path: &Path) -> bool {
        let path = plain(path);
        let Ok(rest) = path.strip_prefix(&self.0) else { return false };
        rest.is_relative() && !rest.components().any(|part| part == Component::ParentDir)
    }
}

/// Removes `.` and, where possible, `..` from a path, without following symbolic links.
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
