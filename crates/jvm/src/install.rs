//! Installs the jars of JMeter from a Maven repository into the user's cache folder: once, verified, and all or
//! nothing.
//!
//! Files are written into a temporary folder, which gets its final name when it is complete. The next attempt uses the
//! files of an interrupted one. After the installation no network is needed.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::artefacts::{Artefact, artefacts, plugins};
use crate::home;
use crate::repository::{self, Repository};

/// Number of artefacts that are downloaded at the same time.
const AT_ONCE: usize = 6;

/// Progress of an installation.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of files installed so far.
    pub files: usize,
    /// Total number of files to install.
    pub of_files: usize,
    /// Total size of the installed files in bytes.
    pub bytes: u64,
    /// Total size of all files to install, in bytes.
    pub of_bytes: u64,
}

/// The result of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installed {
    /// The set of jars was already complete; contains its folder.
    Already(PathBuf),
    /// The set of jars was installed or completed; contains its folder.
    Made(PathBuf),
}

/// Installs the jars of JMeter below the cache folder.
///
/// # Errors
///
/// The reason why the set is incomplete.
pub fn install(
    cache: &Path,
    repository: &Repository,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Installed, String> {
    let all: Vec<Artefact> = artefacts().collect();
    let folder = home::installed(cache);
    if missing(&folder).is_empty() && has_config(&folder) {
        return Ok(Installed::Already(folder));
    }
    let part = folder.with_extension("part");
    let trouble = |error: io::Error| format!("cannot write to {}: {error}", part.display());
    if folder.is_dir() && !part.exists() {
        // An incomplete or damaged set is renamed first, so that no run uses it in the meantime.
        fs::rename(&folder, &part).map_err(trouble)?;
    }
    for below in ["bin", "lib/ext", "lib/junit"] {
        fs::create_dir_all(part.join(below)).map_err(trouble)?;
    }
    fetch_all(&all, &part, repository, progress)?;
    if let Some(config) = all.iter().find(|one| one.is_config()) {
        unpack(&part.join(config.place()), &part)?;
    }
    if folder.is_dir() {
        fs::remove_dir_all(&folder).map_err(trouble)?;
    }
    fs::rename(&part, &folder).map_err(trouble)?;
    Ok(Installed::Made(folder))
}

/// Adds the jars of plug-ins to the installed set.
///
/// # Errors
///
/// The reason why a jar is missing; the other jars are usable.
pub fn install_plugins(
    cache: &Path,
    repository: &Repository,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Installed, String> {
    let folder = home::installed(cache);
    if missing_plugins(&folder).is_empty() {
        return Ok(Installed::Already(folder));
    }
    let all: Vec<Artefact> = plugins().collect();
    fetch_all(&all, &folder, repository, progress)?;
    Ok(Installed::Made(folder))
}

/// Returns the files of JMeter that are missing or damaged in a folder.
pub fn missing(folder: &Path) -> Vec<Artefact> {
    missing_from(folder, artefacts())
}

/// Returns the files of plug-ins that are missing or damaged in a folder.
pub fn missing_plugins(folder: &Path) -> Vec<Artefact> {
    missing_from(folder, plugins())
}

fn missing_from(folder: &Path, all: impl Iterator<Item = Artefact>) -> Vec<Artefact> {
    all.filter(|one| !repository::is_file(one, &folder.join(one.place()))).collect()
}

fn has_config(folder: &Path) -> bool {
    ["bin/saveservice.properties", "bin/jmeter.properties"]
        .iter()
        .all(|name| folder.join(name).is_file())
}

/// Downloads the missing artefacts on several threads. The first failure stops all downloads.
fn fetch_all(
    all: &[Artefact],
    part: &Path,
    repository: &Repository,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let of_bytes = all.iter().map(|one| one.bytes).sum();
    let so_far = Progress { files: 0, of_files: all.len(), bytes: 0, of_bytes };
    let state = Mutex::new((so_far, None::<String>));
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) {
                return;
            }
            let done = fetch(one, part, repository);
            let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match done {
                Ok(()) => {
                    state.0.files += 1;
                    state.0.bytes += one.bytes;
                    progress(state.0);
                }
                Err(words) => {
                    failed.store(true, Ordering::Relaxed);
                    state.1.get_or_insert(words);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let (_, trouble) = state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    trouble.map_or(Ok(()), Err)
}

/// Downloads one artefact into the folder, unless the folder already contains it.
fn fetch(one: &Artefact, part: &Path, repository: &Repository) -> Result<(), String> {
    let place = part.join(one.place());
    if repository::is_file(one, &place) {
        return Ok(());
    }
    let content = repository.get(one)?;
    write(&place, &content)
}

/// Writes a file atomically: the file is either complete or absent, even if two processes write it at once.
pub(crate) fn write(place: &Path, content: &[u8]) -> Result<(), String> {
    let beside = place.with_extension(format!("{}.new", std::process::id()));
    fs::write(&beside, content)
        .and_then(|()| fs::rename(&beside, place))
        .map_err(|error| format!("cannot write {}: {error}", place.display()))
}

/// Unpacks the files below `bin` from the artefact with JMeter's configuration.
fn unpack(jar: &Path, folder: &Path) -> Result<(), String> {
    let trouble = |error: String| format!("cannot unpack {}: {error}", jar.display());
    let file = fs::File::open(jar).map_err(|error| trouble(error.to_string()))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| trouble(error.to_string()))?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| trouble(error.to_string()))?;
        let Some(name) = entry.enclosed_name().filter(|name| name.starts_with("bin")) else {
            continue;
        };
        if !entry.is_file() {
            continue;
        }
        let place = folder.join(name);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(|error| trouble(error.to_string()))?;
        let parent = place.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| trouble(error.to_string()))?;
        write(&place, &content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_fetched_leaves_nothing_that_would_be_used() {
        let cache = tempfile::tempdir().expect("a folder");
        // No server listens at this address.
        let nobody = Repository::at("http://127.0.0.1:1", None);
        let words = install(cache.path(), &nobody, &|_| {}).unwrap_err();
        assert!(words.contains("cannot fetch http://127.0.0.1:1/"), "{words}");
        assert!(!home::installed(cache.path()).exists());
        assert_eq!(missing(&home::installed(cache.path())).len(), artefacts().count());
    }

    #[test]
    fn plug_ins_are_fetched_when_asked_for() {
        let cache = tempfile::tempdir().expect("a folder");
        let nobody = Repository::at("http://127.0.0.1:1", None);
        let words = install_plugins(cache.path(), &nobody, &|_| {}).unwrap_err();
        assert!(words.contains("cannot fetch http://127.0.0.1:1/"), "{words}");
        let folder = home::installed(cache.path());
        let all = missing_plugins(&folder);
        assert_eq!(all.len(), plugins().count());
        assert!(all.iter().any(|one| one.place().starts_with("lib/ext/jmeter-plugins-")));
    }

    #[test]
    fn a_file_that_is_not_what_it_should_be_is_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = artefacts().next().expect("an artefact");
        let place = folder.path().join(one.place());
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::write(&place, vec![0; one.bytes as usize]).expect("a file");
        assert!(missing(folder.path()).contains(&one));
    }
}
