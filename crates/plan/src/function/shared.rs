//! State that functions share between all users of the process: properties, counters, files, the log.
//!
//! Of the frequently called functions, only those that JMeter synchronizes (`__StringFromFile`, `__StringToFile`)
//! take locks. Properties have two layers. Properties from the start of the run never change. Properties written
//! later are in a map that each write copies; cores take the new copy when the version has changed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::tz::TimeZone;
use lang::log::Level;

use super::csv_read::Tables;
use super::queues::Queues;
use super::string_from_file::Lines;
use super::xpath::Nodes;
use crate::state::Deal;

/// Properties by name; `None` marks a removed property.
pub(super) type Map = HashMap<Box<str>, Option<Box<str>>>;

/// Properties that were written during the run.
#[derive(Debug, Default)]
struct Written {
    map: Arc<Map>,
    /// For each property that native code wrote: the version of the property's last write by native code.
    native: HashMap<Box<str>, u64>,
    /// For each property that Java changed: the number of the last applied change.
    java: HashMap<Box<str>, u64>,
}

/// Output of a function or native script: a log line, or a line on standard output or error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputLine {
    /// A line of the log.
    Log {
        /// Level of the log line.
        level: Level,
        /// Logger of the log line, if it is one of JMeter's loggers.
        logger: Option<String>,
        /// Message of the log line.
        text: String,
    },
    /// A line on standard output.
    Printed(String),
    /// A line on standard error.
    PrintedAsError(String),
}

/// Property with the names of system properties, one per line. System properties can be read like other properties,
/// but are not listed.
pub const UNLISTED: &str = "throng.system.names";

/// Maximum number of different warnings that are shown to the person who runs the test.
const MOST_SAID: usize = 100;

/// State that functions share between all users; one per run.
#[derive(Debug)]
pub struct Shared {
    start: HashMap<Box<str>, Box<str>>,
    written: Mutex<Written>,
    version: AtomicU64,
    log: Option<Sender<OutputLine>>,
    sites: Sites,
    zone: TimeZone,
    tables: Tables,
    nodes: Nodes,
    writing: Mutex<()>,
    queues: Queues,
    /// Division of shared counters' numbers among the processes of the run, with the share of this process.
    deal: Deal,
    /// True if the plan is only inspected. Then functions with effects besides computing a value do not run.
    is_inert: bool,
    /// Warnings that the person who runs the test has already seen.
    said: Mutex<HashSet<Box<str>>>,
    /// Number of function calls that were not run because the plan is only inspected.
    passed_over: AtomicU32,
    /// Folder of the plan, to which file names may be relative.
    pub base_dir: PathBuf,
    host: OnceLock<Host>,
}

/// Name and address of this machine; `null`, as Java prints it, if it has none.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) ip: String,
}

impl Default for Shared {
    fn default() -> Self {
        Self::build([], PathBuf::new(), None)
    }
}

/// Makes a plan's folder absolute as `java.io.File` does: `.` and `..` remain in the path.
fn absolute(folder: PathBuf) -> PathBuf {
    match std::env::current_dir() {
        Ok(here) if folder.as_os_str().is_empty() => here,
        Ok(here) => here.join(folder),
        Err(_) => folder,
    }
}

impl Shared {
    /// Creates the shared state of a run that starts with `properties`; `log` receives the output of `__log` and of
    /// failing functions.
    pub fn new<K, V>(
        properties: impl IntoIterator<Item = (K, V)>,
        base_dir: impl Into<PathBuf>,
        log: Sender<OutputLine>,
    ) -> Self
    where
        K: Into<Box<str>>,
        V: Into<Box<str>>,
    {
        let properties = properties.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self::build(properties, base_dir.into(), Some(log))
    }

    fn build(
        properties: impl IntoIterator<Item = (Box<str>, Box<str>)>,
        base_dir: PathBuf,
        log: Option<Sender<OutputLine>>,
    ) -> Self {
        let start: HashMap<_, _> = properties.into_iter().collect();
        let zone = start.get(lang::zone::PROPERTY);
        let zone = zone.map_or_else(lang::zone::here, |name| lang::zone::named(name));
        Self {
            start,
            written: Mutex::default(),
            version: AtomicU64::new(0),
            log,
            sites: Sites::default(),
            zone,
            tables: Tables::default(),
            nodes: Nodes::default(),
            writing: Mutex::new(()),
            queues: Queues::default(),
            deal: Deal::default(),
            is_inert: false,
            said: Mutex::default(),
            passed_over: AtomicU32::new(0),
            base_dir: absolute(base_dir),
            host: OnceLock::new(),
        }
    }

    /// Returns the value that a property had at the start of the run.
    pub(super) fn start_property(&self, name: &str) -> Option<&str> {
        self.start.get(name).map(|value| &**value)
    }

    /// Returns the current value of a property. Takes a lock; expressions read a core's snapshot instead.
    pub fn property(&self, name: &str) -> Option<Box<str>> {
        match self.lock().map.get(name) {
            Some(value) => value.clone(),
            None => self.start.get(name).cloned(),
        }
    }

    /// Sets a property from native code and returns its previous value.
    pub fn set_property(&self, name: &str, value: &str) -> Option<Box<str>> {
        let mut written = self.lock();
        let before = self.write(&mut written, name, Some(value));
        let version = self.version.fetch_add(1, Ordering::Release) + 1;
        written.native.insert(name.into(), version);
        before
    }

    /// Applies a change that a script in Java has made to a property, without notifying Java. Java numbers its changes
    /// and reports each once per thread; a change was already applied if its number is not above the number of the last
    /// applied change of the same property.
    pub fn follow_java(&self, number: u64, name: &str, value: Option<&str>) {
        let mut written = self.lock();
        match written.java.get_mut(name) {
            Some(last) if *last >= number => return,
            Some(last) => *last = number,
            None => {
                written.java.insert(name.into(), number);
            }
        }
        self.write(&mut written, name, value);
        written.native.remove(name);
        self.version.fetch_add(1, Ordering::Release);
    }

    fn write(&self, written: &mut Written, name: &str, value: Option<&str>) -> Option<Box<str>> {
        let before = Arc::make_mut(&mut written.map).insert(name.into(), value.map(Into::into));
        before.unwrap_or_else(|| self.start.get(name).cloned())
    }

    /// Calls `each` with version, name and value of every property written after `version`, except properties that Java
    /// wrote last. Returns the current version; 0 is the version at the start.
    pub fn native_since(&self, version: u64, mut each: impl FnMut(u64, &str, Option<&str>)) -> u64 {
        if self.version() == version {
            return version;
        }
        let written = self.lock();
        for (name, at) in written.native.iter().filter(|(_, at)| **at > version) {
            each(*at, name, written.map.get(name).and_then(Option::as_deref));
        }
        self.version()
    }

    /// Returns all properties that JMeter would list, in no particular order.
    pub fn properties(&self) -> Vec<(Box<str>, Box<str>)> {
        let mut all = self.start.clone();
        if let Some(names) = all.remove(UNLISTED) {
            for name in names.lines() {
                all.remove(name);
            }
        }
        all.retain(|name, _| !name.starts_with("throng."));
        for (name, value) in self.lock().map.iter() {
            match value {
                Some(value) => all.insert(name.clone(), value.clone()),
                None => all.remove(name),
            };
        }
        all.into_iter().collect()
    }

    /// Returns all properties written so far and the current version; `None` if there was no write since the given
    /// version. The version at the start is 0.
    pub fn written_since(&self, version: u64) -> Option<(u64, Vec<(String, String)>)> {
        if self.version() == version {
            return None;
        }
        let (version, written) = self.written();
        let all = written.iter();
        let all =
            all.filter_map(|(name, value)| Some((name.to_string(), value.as_ref()?.to_string())));
        Some((version, all.collect()))
    }

    /// Creates the shared state for a plan that is only inspected. Functions that access files or other machines or
    /// run code evaluate to their own name in `${…}`, and nothing is logged.
    pub fn inert<K, V>(
        properties: impl IntoIterator<Item = (K, V)>,
        base_dir: impl Into<PathBuf>,
    ) -> Self
    where
        K: Into<Box<str>>,
        V: Into<Box<str>>,
    {
        let properties = properties.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { is_inert: true, ..Self::build(properties, base_dir.into(), None) }
    }

    pub(crate) fn is_inert(&self) -> bool {
        self.is_inert
    }

    pub(super) fn pass_over(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of function calls that did not run because the plan is only inspected.
    pub fn passed_over(&self) -> u32 {
        self.passed_over.load(Ordering::Relaxed)
    }

    /// Sets the time zone for date functions, which otherwise use the system's zone.
    #[must_use]
    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Sets the share of shared counters' numbers that belongs to this process of a run.
    #[must_use]
    pub fn dealt_out(self, deal: Deal) -> Self {
        Self { deal, ..self }
    }

    /// Converts a count in this process to a count in the whole run: returns number `nth`, from 0, of the numbers that
    /// belong to this process.
    pub(super) fn dealt(&self, nth: u64) -> u64 {
        self.deal.nth(nth)
    }

    /// Logs a string under the name of one of JMeter's loggers.
    pub(crate) fn log_as(&self, level: Level, logger: &str, text: &str) {
        self.say(OutputLine::Log { level, logger: Some(logger.to_owned()), text: text.to_owned() });
    }

    /// Logs a string.
    pub fn log(&self, level: Level, text: impl Into<String>) {
        self.say(OutputLine::Log { level, logger: None, text: text.into() });
    }

    pub(crate) fn say(&self, said: OutputLine) {
        if let Some(log) = &self.log {
            // A closed channel means that the run has ended and nothing reads the log any more.
            let _ = log.send(said);
        }
    }

    /// Shows a warning to the person who runs the test, once per message.
    pub(crate) fn unusual(&self, text: &str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MOST_SAID && said.insert(text.into()) {
            self.say(OutputLine::PrintedAsError(format!("warning: {text}")));
            self.log(Level::Warn, text);
        }
    }

    /// Returns the version of the properties, which each write increments.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Returns the written properties with their version.
    pub(super) fn written(&self) -> (u64, Arc<Map>) {
        let written = self.lock();
        (self.version(), Arc::clone(&written.map))
    }

    pub(crate) fn started_with(&self, name: &str) -> Option<&str> {
        self.start.get(name).map(|value| &**value)
    }

    pub(super) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns the name and address of this machine, looked up at the first use.
    pub(super) fn host(&self) -> &Host {
        self.host.get_or_init(Host::look_up)
    }

    /// Returns the files of `__CSVRead`.
    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Returns the nodes that `__XPath` has found in files.
    pub(super) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Locks and returns the mutex of file writing: one function call at a time writes a file.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the queues that users share.
    pub(crate) fn queues(&self) -> &Queues {
        &self.queues
    }

    /// Returns the state of the function call with this number.
    pub(super) fn site(&self, site: u32) -> &Site {
        self.sites.get(site)
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host {
    fn look_up() -> Self {
        use std::net::ToSocketAddrs;
        let uname = rustix::system::uname();
        let name = uname.nodename().to_string_lossy().into_owned();
        let found: Vec<_> =
            (&*name, 0).to_socket_addrs().map(Iterator::collect).unwrap_or_default();
        // IPv4 addresses are preferred, which is Java's default.
        match found.iter().find(|address| address.is_ipv4()).or(found.first()) {
            Some(address) => Self { name, ip: address.ip().to_string() },
            None => Self { name: "null".into(), ip: "null".into() },
        }
    }
}

/// State of one function call in the plan.
#[derive(Debug, Default)]
pub(super) struct Site {
    count: AtomicI32,
    lines: Mutex<Lines>,
}

impl Site {
    /// Increments the counter that all users share, and returns its previous value.
    pub(super) fn count(&self) -> i32 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Locks and returns the call's position in its file.
    pub(super) fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// States of calls by number, created at their first use. Bucket `n` has `2^n` entries, so that no entry is ever
/// moved.
#[derive(Debug, Default)]
struct Sites {
    buckets: [OnceLock<Box<[Site]>>; 32],
}

impl Sites {
    fn get(&self, site: u32) -> &Site {
        let number = u64::from(site) + 1;
        let bucket = number.ilog2();
        let made = self.buckets[bucket as usize]
            .get_or_init(|| (0..1u64 << bucket).map(|_| Site::default()).collect());
        &made[(number - (1 << bucket)) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_properties_shadow_those_of_the_start() {
        let (log, _) = std::sync::mpsc::channel();
        let shared = Shared::new([("a", "1")], "", log);
        assert_eq!(shared.set_property("a", "2").as_deref(), Some("1"));
        assert_eq!(shared.set_property("a", "3").as_deref(), Some("2"));
        assert_eq!(shared.set_property("b", "4"), None);
        assert_eq!((shared.property("a").as_deref(), shared.version()), (Some("3"), 3));
        let (version, mut written) = shared.written_since(0).expect("three writes");
        written.sort();
        assert_eq!(written, [("a", "3"), ("b", "4")].map(|(k, v)| (k.to_string(), v.to_string())));
        assert_eq!(shared.written_since(version), None);
    }

    #[test]
    fn java_is_told_what_others_wrote() {
        let shared = Shared::new([("a", "1")], "", std::sync::mpsc::channel().0);
        let told = |since| {
            let mut told = Vec::new();
            let now = shared.native_since(since, |_, name, value| {
                told.push((name.to_string(), value.map(str::to_string)));
            });
            (now, told)
        };
        shared.set_property("a", "2");
        let (seen, first) = told(0);
        assert_eq!(first, [("a".to_string(), Some("2".to_string()))]);
        shared.follow_java(1, "a", None);
        shared.follow_java(2, "b", Some("3"));
        assert_eq!((shared.property("a"), shared.property("b").as_deref()), (None, Some("3")));
        assert_eq!(shared.properties().len(), 1);
        let (seen, none) = told(seen);
        assert!(none.is_empty());
        shared.set_property("b", "4");
        assert_eq!(told(seen).1, [("b".to_string(), Some("4".to_string()))]);
    }

    #[test]
    fn a_change_of_java_that_is_told_again_or_late_is_known() {
        let shared = Shared::default();
        shared.follow_java(2, "a", Some("new"));
        let version = shared.version();
        shared.follow_java(2, "a", Some("new"));
        shared.follow_java(1, "a", Some("old"));
        assert_eq!((shared.property("a").as_deref(), shared.version()), (Some("new"), version));
        shared.set_property("a", "native");
        shared.follow_java(2, "a", Some("new"));
        assert_eq!(shared.property("a").as_deref(), Some("native"));
        shared.follow_java(3, "a", None);
        assert_eq!(shared.property("a"), None);
    }

    #[test]
    fn sites_keep_their_state() {
        let shared = Shared::default();
        for site in [0, 1, 2, 3, 6, 7, 1_000] {
            assert_eq!(shared.site(site).count(), 0, "site {site}");
            assert_eq!(shared.site(site).count(), 1, "site {site}");
        }
    }
}
