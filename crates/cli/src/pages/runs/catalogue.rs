//! The list of a folder's runs, and the thread that keeps the list up to date.
//!
//! Each change has a version number, so that a page can ask for all changes after the version that it has. The newest
//! folders are read first and are shown immediately, before thousands of older ones are read.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use web::Feed;

use super::about::{self, Facts, Kind, State};

/// Pause between two scans of the folder while a page is open.
const OFTEN: Duration = Duration::from_secs(2);
/// Pause between two scans of the folder while no page is open.
const SELDOM: Duration = Duration::from_secs(20);
/// Minimum pause after a scan of the folder, as a multiple of the duration of that scan.
const REST: u32 = 10;
/// Interval at which pages are notified of changes while folders are being read.
const TOLD: Duration = Duration::from_millis(300);
/// Largest number of entries in the list.
const MOST: usize = 50_000;
/// Largest number of removed entries that the list remembers, so that pages can remove them, too.
const MOST_GONE: usize = 1000;
/// Age in nanoseconds below which a changed folder may still be incomplete.
const YOUNG_NS: i128 = 10_000_000_000;
/// Nice value of the thread that reads folders, which gives it a lower priority than a test on the same machine.
const NICE: i32 = 10;

/// State of a folder when it was read: its inode, and the time of its last change in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    changed: i128,
}

/// An entry in the list of runs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Entry {
    pub(super) id: u64,
    /// Name of the entry's folder.
    pub(super) folder: String,
    /// Address of the entry's report.
    pub(super) address: String,
    #[serde(flatten)]
    pub(super) facts: Facts,
    #[serde(skip)]
    stamp: Stamp,
    #[serde(skip)]
    version: u64,
}

/// An entry that a request has named. Its folder is still the one that the list describes.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) id: u64,
    pub(super) path: PathBuf,
    pub(super) folder: String,
    pub(super) kind: Kind,
    pub(super) state: State,
}

/// The list of runs as it is sent to a page.
#[derive(Serialize)]
struct Told<'a> {
    version: u64,
    whole: bool,
    left: usize,
    looked: bool,
    entries: Vec<&'a Entry>,
    gone: Vec<u64>,
    folder: &'a str,
    read_only: bool,
}

pub(super) struct Catalogue {
    root: PathBuf,
    feed: Arc<Feed>,
    list: Mutex<List>,
    wake: Condvar,
}

#[derive(Default)]
struct List {
    version: u64,
    next: u64,
    entries: BTreeMap<u64, Entry>,
    /// Numbers of the entries, by folder name.
    numbers: HashMap<String, u64>,
    /// Removed entries that the list remembers: the version that removed the entry, and the number of the entry.
    gone: VecDeque<(u64, u64)>,
    /// Version of the newest removal that is no longer remembered. Pages with an older version get the whole list.
    forgotten: u64,
    /// Folders that do not contain a run. They are remembered, so that they are not read a second time.
    others: HashMap<String, Stamp>,
    /// Number of folders that are still to be read.
    left: usize,
    /// True after the first scan of the folder.
    looked: bool,
    /// True if a page that has no list yet has requested it since the last scan. The next scan then starts without a
    /// pause.
    asked: bool,
}

impl Catalogue {
    pub(super) fn new(root: PathBuf, feed: Arc<Feed>) -> Self {
        Self { root, feed, list: Mutex::default(), wake: Condvar::new() }
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Scans the folder repeatedly until the program ends.
    pub(super) fn keep_up(&self) {
        let _ = rustix::process::setpriority_process(None, NICE);
        loop {
            let began = Instant::now();
            self.look();
            let rest = if self.feed.readers() > 0 { OFTEN } else { SELDOM };
            let rest = rest.max(began.elapsed() * REST);
            let list = self.list();
            let waited = self.wake.wait_timeout_while(list, rest, |list| !list.asked);
            waited.unwrap_or_else(PoisonError::into_inner).0.asked = false;
        }
    }

    /// Returns the changes after a version as JSON, or the whole list if the version is too old. `folder` and
    /// `read_only` are passed on to the page.
    pub(super) fn since(&self, version: u64, folder: &str, read_only: bool) -> Vec<u8> {
        let mut list = self.list();
        list.asked = version == 0 || list.asked;
        self.wake.notify_all();
        let whole = version < list.forgotten || version == 0 || version > list.version;
        let from = if whole { 0 } else { version };
        let gone = list.gone.iter().filter(|gone| gone.0 > from && !whole);
        let told = Told {
            version: list.version,
            whole,
            left: list.left,
            looked: list.looked,
            entries: list.entries.values().filter(|entry| entry.version > from).collect(),
            gone: gone.map(|gone| gone.1).collect(),
            folder,
            read_only,
        };
        serde_json::to_vec(&told).unwrap_or_default()
    }

    /// Returns the entry with this number, if its folder is still the one in the list.
    pub(super) fn find(&self, id: u64) -> Option<Found> {
        self.found(self.list().entries.get(&id)?)
    }

    /// Returns the entry whose report has this address.
    pub(super) fn at(&self, address: &str) -> Option<Found> {
        let list = self.list();
        self.found(list.entries.values().find(|entry| entry.address == address)?)
    }

    fn found(&self, entry: &Entry) -> Option<Found> {
        let path = self.root.join(&entry.folder);
        let is_same = stamp(&path).is_some_and(|stamp| stamp.inode == entry.stamp.inode);
        let Entry { id, folder, facts, .. } = entry;
        let (folder, kind, state) = (folder.clone(), facts.kind, facts.state);
        is_same.then_some(Found { id: *id, path, folder, kind, state })
    }

    /// Reads a folder that was just created or changed. Returns the address of its report.
    pub(super) fn look_for(&self, folder: &str) -> Option<String> {
        self.read(folder, stamp(&self.root.join(folder))?);
        self.tell();
        let list = self.list();
        Some(list.entries.get(list.numbers.get(folder)?)?.address.clone())
    }

    /// Removes the entry of a deleted folder from the list.
    pub(super) fn remove(&self, id: u64) {
        self.list().remove(id);
        self.tell();
    }

    /// Notifies open pages of a new version of the list.
    fn tell(&self) {
        let (version, left) = {
            let list = self.list();
            (list.version, list.left)
        };
        self.feed.publish("changed", &json!({ "version": version, "left": left }).to_string());
    }

    /// Scans the folder once: compares the list with it, and reads new and changed entries.
    fn look(&self) {
        let mut there: HashMap<String, Stamp> = HashMap::new();
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') || there.len() >= MOST {
                continue;
            }
            if let Some(stamp) = stamp(&entry.path()) {
                there.insert(name, stamp);
            }
        }
        let mut new = self.compare(&there);
        new.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.changed));
        let (before, count) = (self.list().version, new.len());
        let (mut told, mut told_version) = (Instant::now(), before);
        for (nth, (folder, stamp)) in new.into_iter().enumerate() {
            self.read(&folder, stamp);
            let version = {
                let mut list = self.list();
                list.left = count - nth - 1;
                list.version
            };
            if told.elapsed() > TOLD && version != told_version {
                (told, told_version) = (Instant::now(), version);
                self.tell();
            }
        }
        let first = !std::mem::replace(&mut self.list().looked, true);
        if first || self.list().version != told_version {
            self.tell();
        }
    }

    /// Removes entries whose folders are gone. Returns the folders that must be read.
    fn compare(&self, there: &HashMap<String, Stamp>) -> Vec<(String, Stamp)> {
        let mut list = self.list();
        let gone = list.entries.values().filter(|entry| {
            there.get(&entry.folder).is_none_or(|stamp| stamp.inode != entry.stamp.inode)
        });
        for id in gone.map(|entry| entry.id).collect::<Vec<_>>() {
            list.remove(id);
        }
        list.others.retain(|name, _| there.contains_key(name));
        let now_ns = jiff::Timestamp::now().as_nanosecond();
        let known = |name: &String| list.entries.get(list.numbers.get(name)?);
        let is_new = |(name, stamp): &(&String, &Stamp)| match known(name) {
            // A running test is reread at each scan: its files grow without a change of the folder, and no event
            // reports that its process was killed.
            Some(entry) => {
                entry.stamp != **stamp
                    || entry.facts.state == State::Running
                    || entry.facts.state == State::Unfinished && entry.facts.kind != Kind::Run
            }
            // A folder that is being created can become a run's folder without a change of its own time, so young
            // folders are reread.
            None => list.others.get(*name) != Some(*stamp) || now_ns - stamp.changed < YOUNG_NS,
        };
        let new = there.iter().filter(is_new);
        new.map(|(name, stamp)| (name.clone(), *stamp)).collect()
    }

    /// Reads a folder and adds its facts to the list.
    fn read(&self, folder: &str, stamp: Stamp) {
        let facts = about::of(&self.root.join(folder));
        self.list().put(folder, stamp, facts);
    }
}

impl List {
    fn put(&mut self, folder: &str, stamp: Stamp, facts: Option<Facts>) {
        let known = self.numbers.get(folder).and_then(|id| self.entries.get(id));
        let known = known.map(|entry| (entry.id, entry.facts.clone()));
        let Some(facts) = facts else {
            if let Some((id, _)) = known {
                self.remove(id);
            }
            self.others.insert(folder.to_owned(), stamp);
            return;
        };
        self.others.remove(folder);
        let version = self.version + 1;
        match known {
            Some((id, before)) => {
                let Some(entry) = self.entries.get_mut(&id) else { return };
                entry.stamp = stamp;
                if before != facts {
                    (entry.facts, entry.version, self.version) = (facts, version, version);
                }
            }
            None => {
                // Without random numbers no secret address can be created, and the entry is left out.
                let Ok(secret) = web::random() else { return };
                self.next += 1;
                let (id, folder) = (self.next, folder.to_owned());
                self.numbers.insert(folder.clone(), id);
                let address = format!("/report/{secret}");
                self.entries.insert(id, Entry { id, folder, address, facts, stamp, version });
                self.version = version;
            }
        }
    }

    fn remove(&mut self, id: u64) {
        let Some(entry) = self.entries.remove(&id) else { return };
        self.numbers.remove(&entry.folder);
        self.version += 1;
        self.gone.push_back((self.version, id));
        if self.gone.len() > MOST_GONE
            && let Some((version, _)) = self.gone.pop_front()
        {
            self.forgotten = version;
        }
    }
}

/// Returns the stamp of a folder, or `None` for anything else, also for a link to a folder.
fn stamp(path: &Path) -> Option<Stamp> {
    let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
    let changed = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
    Some(Stamp { inode: about.ino(), changed })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn catalogue(root: &Path) -> Catalogue {
        Catalogue::new(root.to_owned(), Arc::new(Feed::new()))
    }

    fn make(root: &Path, name: &str) {
        fs::create_dir(root.join(name)).expect("a folder");
        for file in ["properties.txt", "seconds.jsonl", "summary.json"] {
            fs::write(root.join(name).join(file), "{}").expect("a file");
        }
    }

    fn since(catalogue: &Catalogue, version: u64) -> Value {
        serde_json::from_slice(&catalogue.since(version, "runs", false)).expect("JSON")
    }

    fn folders(list: &Value) -> Vec<&str> {
        let entries = list["entries"].as_array().expect("entries");
        entries.iter().filter_map(|entry| entry["folder"].as_str()).collect()
    }

    #[test]
    fn a_page_is_told_what_is_newer_than_what_it_has() {
        let root = tempfile::tempdir().expect("a folder");
        let catalogue = catalogue(root.path());
        make(root.path(), "a");
        fs::create_dir(root.path().join("photos")).expect("a folder");
        std::os::unix::fs::symlink(root.path().join("a"), root.path().join("link"))
            .expect("a link");
        catalogue.look();
        let all = since(&catalogue, 0);
        assert_eq!((folders(&all), &all["whole"]), (vec!["a"], &json!(true)));
        make(root.path(), "b");
        catalogue.look();
        let newer = since(&catalogue, all["version"].as_u64().expect("a number"));
        assert_eq!((folders(&newer), &newer["whole"]), (vec!["b"], &json!(false)));
        let id = all["entries"][0]["id"].as_u64().expect("a number");
        assert_eq!(catalogue.find(id).map(|found| found.folder), Some("a".to_owned()));
        // The old folder is moved away, not removed, because the file system might reuse its inode for the new
        // folder.
        let away = tempfile::tempdir_in(root.path().parent().expect("a folder")).expect("another");
        fs::rename(root.path().join("a"), away.path().join("a")).expect("it goes");
        assert!(catalogue.find(id).is_none(), "its folder has gone");
        // A new folder with the same name becomes a new entry.
        make(root.path(), "c");
        make(root.path(), "a");
        catalogue.look();
        let last = since(&catalogue, newer["version"].as_u64().expect("a number"));
        let mut names = folders(&last);
        names.sort_unstable();
        assert_eq!((names, &last["gone"]), (vec!["a", "c"], &json!([id])));
        let version = last["version"].clone();
        catalogue.look();
        assert_eq!(since(&catalogue, 0)["version"], version, "nothing is new");
    }

    #[test]
    fn a_page_that_was_away_for_long_gets_all() {
        let root = tempfile::tempdir().expect("a folder");
        let catalogue = catalogue(root.path());
        make(root.path(), "a");
        catalogue.look();
        for id in 10..10 + 2 * MOST_GONE as u64 {
            let mut list = catalogue.list();
            let entry = list.entries.values().next().expect("an entry").clone();
            list.entries.insert(id, Entry { id, ..entry });
            list.remove(id);
        }
        assert_eq!(since(&catalogue, 1)["whole"], true);
        assert_eq!(since(&catalogue, 999_999)["whole"], true, "of another server");
        assert!(catalogue.list().gone.len() <= MOST_GONE);
    }
}
