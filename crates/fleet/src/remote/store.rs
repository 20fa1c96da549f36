//! Files on an agent: a permanent store by hash, and the folder of a run, into which they are copied.
//!
//! A run gets copies, because a plan may write into a file that it reads. In a run's folder, the plan's folder is
//! `plan/d/d/…`, deep enough that files in folders above the plan's folder are also inside. Result files and the spool
//! are beside `plan`.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use super::manifest;
use super::wire::{Hash, Named};

/// Maximum number of files of a run.
const MOST_FILES: usize = 100_000;
/// Maximum total length of the files of a run in bytes.
const MOST_BYTES: u64 = 64 << 30;

/// The folder in which an agent stores files and runs.
#[derive(Debug)]
pub(crate) struct Store {
    root: PathBuf,
    /// The file that is being received.
    open: Option<(PathBuf, File)>,
    /// Files that were requested from the coordinator, each with the number of bytes that are still missing.
    awaited: BTreeMap<Hash, u64>,
}

/// The folder of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunFolder {
    pub(crate) root: PathBuf,
    /// Path of the plan's folder, which is inside the run's folder.
    pub(crate) plan: PathBuf,
}

impl Store {
    /// Opens the store of this user.
    pub(crate) fn open() -> io::Result<Self> {
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        let var = |name| std::env::var_os(name).map(PathBuf::from).and_then(absolute);
        let cache = var("XDG_CACHE_HOME").or_else(|| var("HOME").map(|home| home.join(".cache")));
        let cache =
            cache.ok_or_else(|| io::Error::other("neither XDG_CACHE_HOME nor HOME is set"))?;
        Self::at(cache.join("throng"))
    }

    pub(crate) fn at(root: PathBuf) -> io::Result<Self> {
        for name in ["files", "runs"] {
            private(&root.join(name))?;
        }
        Ok(Self { root, open: None, awaited: BTreeMap::new() })
    }

    /// Returns the path of the stored file with this hash.
    pub(crate) fn file(&self, hash: &str) -> PathBuf {
        self.root.join("files").join(hash)
    }

    /// Returns the hashes of those `files` that are not stored. From then on, the store expects to receive these files.
    pub(crate) fn missing(&mut self, files: &[Named]) -> Result<Vec<Hash>, String> {
        let all = files.iter().fold(0_u64, |all, file| all.saturating_add(file.length));
        if files.len() > MOST_FILES || all > MOST_BYTES {
            return Err(format!(
                "the plan names {} files with {all} bytes; an agent accepts at most {MOST_FILES} files with {MOST_BYTES} bytes",
                files.len()
            ));
        }
        let mut missing = Vec::new();
        for Named { path, hash, length } in files {
            if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(format!("invalid hash of {path}: {hash:?}"));
            }
            let kept = |at: &Path| {
                fs::metadata(at).is_ok_and(|about| about.is_file() && about.len() == *length)
            };
            // A file with an absolute path must exist on this machine, otherwise the run is refused later.
            if !path.starts_with('/') && !kept(&self.file(hash)) && !missing.contains(hash) {
                missing.push(hash.clone());
                self.awaited.insert(hash.clone(), *length);
            }
        }
        Ok(missing)
    }

    /// Appends a piece of a file. An empty piece ends the file.
    pub(crate) fn piece(&mut self, hash: &str, bytes: &[u8]) -> Result<(), String> {
        let words = |error: io::Error| format!("cannot store a file of the plan: {error}");
        let left = self.awaited.get_mut(hash).ok_or("received a file that was not requested")?;
        *left = left
            .checked_sub(bytes.len() as u64)
            .ok_or("a file of the plan is longer than announced")?;
        let part = self.file(&format!(".{hash}.{}", std::process::id()));
        if self.open.as_ref().is_none_or(|(path, _)| *path != part) {
            let mut how = OpenOptions::new();
            let file = how.write(true).create(true).truncate(true).mode(0o600).open(&part);
            self.open = Some((part.clone(), file.map_err(words)?));
        }
        if !bytes.is_empty() {
            let written = self.open.as_mut().map_or(Ok(()), |(_, file)| file.write_all(bytes));
            return written.map_err(words);
        }
        self.open = None;
        self.awaited.remove(hash);
        if !is(&part, hash) {
            let _ = fs::remove_file(&part);
            return Err("a received file of the plan is damaged: its hash is wrong".into());
        }
        fs::rename(&part, self.file(hash)).map_err(words)
    }

    /// Creates the folder of a run, and copies its files from the store.
    pub(crate) fn place(
        &self,
        run: &str,
        depth: u32,
        files: &[Named],
    ) -> Result<RunFolder, String> {
        let root = self.run(run).ok_or_else(|| format!("invalid run name {run:?}"))?;
        let words = |error: io::Error| format!("the run's folder {}: {error}", root.display());
        fs::DirBuilder::new().mode(0o700).create(&root).map_err(words)?;
        let base = root.join("plan");
        let mut plan = base.clone();
        (0..depth.min(64)).for_each(|_| plan.push("d"));
        private(&plan).map_err(words)?;
        for Named { path, hash, .. } in files {
            let (source, to) = (self.file(hash), plan.join(path));
            if path.starts_with('/') {
                // A file with an absolute path must already exist on this machine.
                if is(Path::new(path), hash) {
                    continue;
                }
                return Err(format!(
                    "the plan names {path}, which is missing or different on the agent's machine; use a path relative to the plan's folder"
                ));
            }
            let to = within(&base, &to)
                .ok_or_else(|| format!("{path} leads out of the run's folder"))?;
            let folder = to.parent().unwrap_or(&base);
            private(folder).and_then(|()| fs::copy(&source, &to)).map_err(words)?;
        }
        Ok(RunFolder { root, plan })
    }

    /// Returns the path of a run's folder; `None` if the run's name is invalid.
    pub(crate) fn run(&self, run: &str) -> Option<PathBuf> {
        is_run(run).then(|| self.root.join("runs").join(run))
    }

    /// Returns the folder that an earlier process of this agent created for a run; `None` if the run's name is invalid
    /// or the folder has no file `spool`. `depth` is the number of folders between the folder `plan` and the plan's
    /// folder.
    pub(crate) fn left(&self, run: &str, depth: u32) -> Option<RunFolder> {
        let root = self.run(run)?;
        let mut plan = root.join("plan");
        (0..depth.min(64)).for_each(|_| plan.push("d"));
        root.join("spool").is_file().then_some(RunFolder { root, plan })
    }
}

/// True if a string is a valid name of a run. The name becomes a part of paths and of a shell command.
pub(crate) fn is_run(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns `path` without `..` if it lies within `folder`, otherwise `None`.
fn within(base: &Path, path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain.starts_with(base).then_some(plain)
}

fn private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)
}

fn is(path: &Path, hash: &str) -> bool {
    manifest::hash(path).is_ok_and(|(found, _)| found == hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_by_hash_and_copied_into_the_folder_of_a_run() {
        let root = std::env::temp_dir().join(format!("throng-store-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let mut store = Store::at(root.clone()).expect("a folder");
        // The SHA-256 hash of "abc".
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        let named = |path: &str| Named { path: path.into(), hash: hash.clone(), length: 3 };
        let files = [named("../shared/a.csv"), named("b.csv")];
        assert_eq!(store.missing(&files), Ok(vec![hash.clone()]), "once, though two files have it");
        for piece in ["ab", "c", ""] {
            store.piece(&hash, piece.as_bytes()).expect("room");
        }
        assert_eq!(store.missing(&files), Ok(vec![]));
        let place = store.place("r-1", 1, &files).expect("a folder");
        assert_eq!(fs::read(place.plan.join("../shared/a.csv")).expect("a copy"), b"abc");
        assert_eq!(fs::read(place.plan.join("b.csv")).expect("a copy"), b"abc");
        assert!(store.place("r-1", 1, &files).is_err(), "a run has a folder of its own");
        let _ = fs::remove_dir_all(&root);
    }

    #[test]
    fn nothing_is_written_outside_of_the_run() {
        let root = std::env::temp_dir().join(format!("throng-outside-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let mut store = Store::at(root.clone()).expect("a folder");
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        let out = [Named { path: "../../../x".into(), hash: hash.clone(), length: 3 }];
        assert!(store.piece(&hash, b"abc").is_err_and(|error| error.contains("not requested")));
        assert_eq!(store.missing(&out), Ok(vec![hash.clone()]));
        assert!(store.piece(&hash, b"abd").is_ok() && store.piece(&hash, b"").is_err());
        assert_eq!(store.missing(&out), Ok(vec![hash.clone()]), "what is wrong is not kept");
        store.piece(&hash, b"ab").expect("room");
        assert!(
            store.piece(&hash, b"cd").is_err_and(|error| error.contains("longer than announced"))
        );
        store.piece(&hash, b"c").expect("room");
        store.piece(&hash, b"").expect("the same content");
        assert!(store.place("r-2", 1, &out).is_err_and(|error| error.contains("leads out")));
        for run in ["../r", "", "a/b", ".", "r 1"] {
            assert!(store.place(run, 0, &[]).is_err(), "{run}");
        }
        let most = Named { path: "x".into(), hash: hash.clone(), length: u64::MAX };
        let bomb = [most.clone(), most];
        assert!(store.missing(&bomb).is_err_and(|error| error.contains("at most")));
        let odd = [Named { path: "x".into(), hash: "../../etc".into(), length: 3 }];
        assert!(store.missing(&odd).is_err());
        let _ = fs::remove_dir_all(&root);
    }
}
