//! Save Responses to a file: names and variables are made on the core, files by the thread that writes results.
//!
//! Parts of a name may come from a server: what an extractor found, and the kind of content that is the suffix. They
//! never lead out of the folder that the plan and the properties name.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use plan::element::ResponseSaver;
use plan::plan::ListenerId;
use plan::result::SampleResult;

use crate::core::{Core, env};
use crate::wheel::Index;

/// What a saver of responses knows from the start of the run.
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

/// A folder that files do not leave.
#[derive(Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// The folder of a file whose name begins so.
    pub(crate) fn of(start: &Path) -> Self {
        // Without a slash at its end, the last part of the name is the beginning of the file's own.
        let whole = start.as_os_str().as_encoded_bytes().ends_with(b"/");
        let folder = if whole { Some(start) } else { start.parent() };
        Self(plain(folder.unwrap_or(start)))
    }

    /// Whether a file is in the folder or below.
    fn holds(&self, path: &Path) -> bool {
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

impl Core<'_> {
    /// Saves the core's result and its sub-results.
    pub(crate) fn save_response(&mut self, index: Index, id: ListenerId, saver: &ResponseSaver) {
        let mut result = self.lend_result();
        let mut nth = 0;
        self.save_one(index, id, saver, &mut result, &mut nth);
        self.return_result(result);
    }

    fn save_one(
        &mut self,
        index: Index,
        id: ListenerId,
        saver: &ResponseSaver,
        result: &mut SampleResult,
        nth: &mut usize,
    ) {
        let run = self.run;
        let Some(start) = run.savers.get(id.0 as usize).and_then(Option::as_ref) else { return };
        let number = || {
            // Processes of a run take turns.
            let number = start.numbers.fetch_add(1, Ordering::Relaxed);
            number * u64::from(run.shard.count.max(1)) + u64::from(run.shard.index) + 1
        };
        let user = self.users.of(index);
        let mut env = env!(self, user, &result.label);
        let form = (&*start.stamp, start.digits);
        let file = saver.file(result, *nth, form, number, &mut env);
        *nth += 1;
        if let Some(file) = file {
            let path = crate::prepare::place(&file, &run.settings.base_prefix, &run.base_dir);
            if start.root.as_ref().is_none_or(|root| root.holds(&path)) {
                result.file_name = path.display().to_string();
                self.rows.save(path, result.body.clone());
            } else {
                let name = self.plan.listeners.get(id.0 as usize).map_or("", |l| &*l.name);
                self.rows.refuse(format!(
                    "{name}: the response is not saved to {}: what was extracted or received leads out of the folder that \
                     the plan names; throng.save.anywhere=true allows it",
                    path.display()
                ));
            }
        }
        for at in 0..result.sub_count {
            self.save_one(index, id, saver, &mut result.subs[at], nth);
        }
    }
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
