//! State that functions share between all users of the process: properties, counters, files, the log.
//!
//! Nothing on the hot path locks but the functions that JMeter synchronizes (`__StringFromFile`, `__StringToFile`). Properties are in two layers: those the run started with never change; those
//! written since are copied as a whole by the rare writer, and cores take the new copy when the version tells them.

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

/// Properties by name; `None` is one that was removed.
pub(super) type Map = HashMap<Box<str>, Option<Box<str>>>;

/// Properties that were written during the run.
#[derive(Debug, Default)]
struct Written {
    map: Arc<Map>,
    /// The version of the last write of each name, where it was no script of Java that wrote it.
    native: HashMap<Box<str>, u64>,
    /// The number of Java's last change of each name that was followed.
    java: HashMap<Box<str>, u64>,
}

/// A line that functions and native scripts write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A line of the log.
    Log {
        /// Its level.
        level: Level,
        /// Its logger, if it is one of JMeter's.
        logger: Option<String>,
        /// Its text.
        text: String,
    },
    /// A line on standard output.
    Printed(String),
    /// A line on standard error.
    PrintedAsError(String),
}

/// The property that names those which are properties of the system, a line each: they can be read like any, but are not listed.
pub const UNLISTED: &str = "throng.system.names";

/// Different texts that the user of the program is told at most.
const MOST_SAID: usize = 100;

/// Shared state. One per run.
#[derive(Debug)]
pub struct Shared {
    start: HashMap<Box<str>, Box<str>>,
    written: Mutex<Written>,
    version: AtomicU64,
    log: Option<Sender<Said>>,
    sites: Sites,
    zone: TimeZone,
    tables: Tables,
    nodes: Nodes,
    writing: Mutex<()>,
    queues: Queues,
    /// This process's share of what all users of the run count up.
    deal: Deal,
    /// The plan is looked at and not run: functions that do more than to work out a value are not carried out.
    is_inert: bool,
    /// The messages that the user of the program has had.
    said: Mutex<HashSet<Box<str>>>,
    /// Calls of such functions so far.
    passed_over: AtomicU32,
    /// The folder of the plan, to which relative file names may refer.
    pub base_dir: PathBuf,
    host: OnceLock<Host>,
}

/// Name and address of this machine; `null` where it has none, as Java prints it.
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

/// Makes a plan's folder absolute as `java.io.File` does: dots stay in it.
fn absolute(folder: PathBuf) -> PathBuf {
    match std::env::current_dir() {
        Ok(here) if folder.as_os_str().is_empty() => here,
        Ok(here) => here.join(folder),
        Err(_) => folder,
    }
}

impl Shared {
    /// Shared state of a run that starts with `properties`; `log` receives what `__log` and failing functions say.
    pub fn new<K, V>(
        properties: impl IntoIterator<Item = (K, V)>,
        base_dir: impl Into<PathBuf>,
        log: Sender<Said>,
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
        log: Option<Sender<Said>>,
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

    /// The value of a property that the run began with, whoever has set it since.
    pub(super) fn start_property(&self, name: &str) -> Option<&str> {
        self.start.get(name).map(|value| &**value)
    }

    /// The value of a property now. Takes a lock; expressions read a core's snapshot instead.
    pub fn property(&self, name: &str) -> Option<Box<str>> {
        match self.lock().map.get(name) {
            Some(value) => value.clone(),
            None => self.start.get(name).cloned(),
        }
    }

    /// Sets a property and returns the value before.
    pub fn set_property(&self, name: &str, value: &str) -> Option<Box<str>> {
        let mut written = self.lock();
        let before = self.write(&mut written, name, Some(value));
        let version = self.version.fetch_add(1, Ordering::Release) + 1;
        written.native.insert(name.into(), version);
        before
    }

    /// Sets or removes a property as a script in Java has, which needs not be told of it. Java numbers its changes and tells each as
    /// often as it has threads: one that is no newer than the last of its name is known.
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

    /// Tells `each` what was written since a version by others than Java: version, name and value. Returns the version now; 0 is the start's.
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

    /// All properties that JMeter would list now, in no particular order.
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

    /// Properties written so far, unless none has been since the given version; with the version now, 0 being the start's.
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

    /// Shared state for a plan that is read and not run: functions that read or write files, ask other machines or run code
    /// come to their own name in `${…}`, and what would be logged is not.
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

    /// How many calls of functions were not carried out, because the plan is only looked at.
    pub fn passed_over(&self) -> u32 {
        self.passed_over.load(Ordering::Relaxed)
    }

    /// The same, with clocks of another time zone than the system's.
    #[must_use]
    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// The same, for one of the processes of a run.
    #[must_use]
    pub fn dealt_out(self, deal: Deal) -> Self {
        Self { deal, ..self }
    }

    /// The `nth` number, from 0, of this process's share.
    pub(super) fn dealt(&self, nth: u64) -> u64 {
        self.deal.nth(nth)
    }

    /// Says something in the log, as one of JMeter's loggers.
    pub(crate) fn log_as(&self, level: Level, logger: &str, text: &str) {
        self.say(Said::Log { level, logger: Some(logger.to_owned()), text: text.to_owned() });
    }

    /// Says something in the log.
    pub fn log(&self, level: Level, text: impl Into<String>) {
        self.say(Said::Log { level, logger: None, text: text.into() });
    }

    pub(crate) fn say(&self, said: Said) {
        if let Some(log) = &self.log {
            // Nobody reads the log any more: the run is over, and so is the need.
            let _ = log.send(said);
        }
    }

    /// Says something that the user of the program is to see, once for each text.
    pub(crate) fn unusual(&self, text: &str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MOST_SAID && said.insert(text.into()) {
            self.say(Said::PrintedAsError(format!("warning: {text}")));
            self.log(Level::Warn, text);
        }
    }

    /// Counts up with every write of a property.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The written properties with their version.
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

    /// Name and address, looked up by the first who asks.
    pub(super) fn host(&self) -> &Host {
        self.host.get_or_init(Host::look_up)
    }

    /// Files of `__CSVRead`.
    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Nodes of `__XPath`.
    pub(super) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Held while a file is written.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues between users.
    pub(crate) fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The state of a call.
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
        // Java prefers IPv4 unless told otherwise.
        match found.iter().find(|address| address.is_ipv4()).or(found.first()) {
            Some(address) => Self { name, ip: address.ip().to_string() },
            None => Self { name: "null".into(), ip: "null".into() },
        }
    }
}

/// State of one call in the plan.
#[derive(Debug, Default)]
pub(super) struct Site {
    count: AtomicI32,
    lines: Mutex<Lines>,
}

impl Site {
    /// Steps the counter of all users and returns how often it was stepped before.
    pub(super) fn count(&self) -> i32 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// The position of the call in its file.
    pub(super) fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sites by number, made when first used: bucket `n` holds `2^n` of them, so that none ever moves.
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
