//! JMeter properties and system properties, loaded in the same layers as in JMeter.
//!
//! The layers are: the file of `-p`, or the values that JMeter ships; then `user.properties` and
//! `system.properties` from the working folder, or from `bin` in the folder of `-d`; then the flags in their order.
//! If a JMeter property is not set, the system property of that name is used. [`Properties::unheeded`] lists every
//! property that a user has set and that Throng does not read.

mod heeded;
mod hosts;
pub(crate) mod legible;
mod readers;
mod secret;

pub(crate) use heeded::{honoured, why_not};
pub(crate) use readers::{Meant, Readers};

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use lang::property_file;

use crate::print::log::{Level, Levels, whole};
use crate::print::terminal;

/// An option of the command line that sets properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    /// `-q FILE`: property file.
    File(PathBuf),
    /// `-J name=value`: JMeter property. An empty value removes the property.
    Jmeter(String, String),
    /// `-S FILE`: file of system properties.
    SystemFile(PathBuf),
    /// `-D name=value`: system property. An empty value removes the property.
    System(String, String),
}

/// Files and options from which properties are loaded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// `-p FILE`: replaces `jmeter.properties`.
    pub(crate) base: Option<PathBuf>,
    /// `-d FOLDER` or `JMETER_HOME`: JMeter's folder. Its `bin` contains `jmeter.properties`, `user.properties` and
    /// `system.properties`.
    pub(crate) home: Option<PathBuf>,
    /// Settings of the project file, followed by those of the command line in their order.
    pub(crate) settings: Vec<Setting>,
    /// Number of elements at the start of `settings` that come from the project file.
    pub(crate) of_project: usize,
    /// Names of the properties that come from the project file, each with its file and line.
    pub(crate) places: Vec<(String, String)>,
    /// Properties and property files of `-G`, which apply only to remote hosts.
    pub(crate) global: Vec<Setting>,
}

impl Sources {
    /// Returns the file and line of a setting in the project file, or only the file name if the line is unknown.
    fn place(&self, setting: &Setting) -> &str {
        let Setting::Jmeter(name, _) = setting else { return PROJECT_FILE };
        let place = self.places.iter().find(|(of, _)| of == name);
        place.map_or(PROJECT_FILE, |(_, place)| place.as_str())
    }
}

/// Properties that the `jmeter.properties` of a newly installed JMeter sets.
#[rustfmt::skip]
const SHIPPED: &[(&str, &str)] = &[
    ("cookies", "cookies"),
    ("csvdataset.file.encoding_list", "UTF-8|UTF-16|ISO-8859-15|US-ASCII"),
    ("remote_hosts", "127.0.0.1"),
    ("sampleresult.timestamp.start", "true"),
    ("summariser.name", "summary"),
    ("system.properties", "system.properties"),
    ("user.properties", "user.properties"),
];

/// Name of the file in a plan's folder that contains settings for its runs, for example properties.
pub(crate) const PROJECT_FILE: &str = "throng.toml";
/// Source of a system property that an option of Java has set.
const OPTION_OF_JAVA: &str = "an option of Java";

/// JMeter version whose behaviour Throng follows. Value of the property `jmeter.version`.
pub(crate) const JMETER_VERSION: &str = "5.6.3";

/// JMeter properties and system properties of a run, with their sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties {
    jmeter: BTreeMap<String, String>,
    system: BTreeMap<String, String>,
    /// Source of each value: the last flag or file that set the property.
    origins: BTreeMap<String, String>,
}

impl Properties {
    /// Loads all properties. Returns warnings about files that the user has not named. The error lists the files
    /// that the user has named and that cannot be read or parsed, one on each line.
    pub(crate) fn load(sources: &Sources, now_ms: i64) -> Result<(Self, Vec<String>), String> {
        let mut properties = Self { system: process(), ..Self::default() };
        properties.add_java_options(&sources.settings);
        let (mut warnings, mut refused) = (Vec::new(), Vec::new());
        let bin = sources.home.as_ref().map(|home| home.join("bin"));
        let shipped =
            bin.as_ref().map(|bin| bin.join("jmeter.properties")).filter(|file| file.is_file());
        let base = sources.base.clone().or(shipped);
        let to = if sources.base.is_some() { &mut refused } else { &mut warnings };
        let pairs = base.as_ref().and_then(|file| read(file, to).map(|pairs| (file, pairs)));
        if let Some((file, pairs)) = pairs {
            for (key, value) in pairs {
                properties.set(key, value, &file.display().to_string());
            }
        } else {
            let shipped = SHIPPED.iter().map(|(key, value)| (key.to_string(), value.to_string()));
            properties.jmeter.extend(shipped);
        }
        for (key, system) in [("user.properties", false), ("system.properties", true)] {
            let name = properties.jmeter.get(key).filter(|name| !name.is_empty());
            let Some(file) = name.and_then(|name| find(name, bin.as_deref())) else { continue };
            properties.add_file(&file, system, &mut warnings);
        }
        if let Some(home) = &sources.home {
            // The user has not set this property, but the workers of the run need it.
            properties.jmeter.insert("throng.jmeter.home".into(), home.display().to_string());
        }
        for (number, setting) in sources.settings.iter().enumerate() {
            let origin = if number < sources.of_project { sources.place(setting) } else { "-J" };
            properties.apply(setting, origin, &mut refused);
        }
        refused.extend(properties.illegible());
        if !refused.is_empty() {
            return Err(refused.join("\n"));
        }
        warnings.extend(properties.defaulted());
        properties.stamp(now_ms);
        properties.hand_on_system();
        Ok((properties, warnings))
    }

    /// Calls [`load`](Self::load) with the current time, and prints warnings and the error on standard error. Returns
    /// `None` after an error.
    pub(crate) fn load_or_tell(sources: &Sources) -> Option<Self> {
        match Self::load(sources, jiff::Timestamp::now().as_millisecond()) {
            Ok((properties, warnings)) => {
                for warning in &warnings {
                    terminal::warning(warning);
                }
                Some(properties)
            }
            Err(message) => {
                terminal::error(&message);
                None
            }
        }
    }

    /// Marks Java as unavailable, so that this process and the workers leave out elements that need it.
    pub(crate) fn leave_java_out(&mut self) {
        self.jmeter.insert(plan::compile::WITHOUT_JAVA.into(), "true".into());
    }

    /// Sets the plug-in classes that are available in Java. Elements of other plug-ins are left out, in this process
    /// and in the workers.
    pub(crate) fn set_plugins(&mut self, classes: &str) {
        self.jmeter.insert(plan::compile::PLUGINS.into(), classes.into());
    }

    /// Passes the system properties that the user has set to the JVMs of the run.
    fn hand_on_system(&mut self) {
        let set = self.origins.keys().filter_map(|key| Some((key, self.system.get(key)?)));
        // Options are separated by line breaks, so values with line breaks are left out.
        let set = set.filter(|(key, value)| !key.contains('\n') && !value.contains('\n'));
        let options: Vec<_> = set.map(|(key, value)| format!("-D{key}={value}")).collect();
        if !options.is_empty() {
            let options = options.join(&jvm::SEPARATOR.to_string());
            self.jmeter.insert(jvm::SYSTEM.into(), options);
        }
        let names = self.system.keys().filter(|name| !self.jmeter.contains_key(*name));
        let names: Vec<_> = names.map(String::as_str).collect();
        let names = names.join("\n");
        self.jmeter.insert(plan::function::UNLISTED.into(), names);
    }

    /// Passes the log levels of `-L` to the loggers of the run's JVMs.
    pub(crate) fn hand_on_levels(&mut self, levels: &[(String, String)]) {
        if !levels.is_empty() {
            let lines = levels.iter();
            let lines = lines.map(|(category, level)| format!("{}={level}", whole(category)));
            let lines: Vec<_> = lines.collect();
            self.jmeter.insert(jvm::LEVELS.into(), lines.join(&jvm::SEPARATOR.to_string()));
            let level = Levels::new(levels).0.of("org.apache.jmeter.threads.JMeterThread");
            if level <= Level::Debug && self.get(engine::LOG_SAMPLES).is_none() {
                self.jmeter.insert(engine::LOG_SAMPLES.into(), "true".into());
            }
        }
    }

    /// Returns an error message for the first property whose value the engine or Java cannot use. A run with this
    /// property would not start.
    pub(crate) fn complaint(&self) -> Option<String> {
        let get = |key: &str| self.get(key).map(str::to_owned);
        engine::complaint(get).or_else(|| jvm::Settings::from_properties(get).err())
    }

    /// Returns a property's value. Falls back to the system property of the same name.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.jmeter.get(key).or_else(|| self.system.get(key)).map(String::as_str)
    }

    /// Returns a property's value as an integer, or the default if the property is missing or is not an integer.
    pub(crate) fn int(&self, key: &str, default: i64) -> i64 {
        self.get(key).and_then(|text| text.trim().parse().ok()).unwrap_or(default)
    }

    /// Returns a property's value as a Boolean, parsed as in JMeter: `true` in upper or lower case.
    pub(crate) fn flag(&self, key: &str, default: bool) -> bool {
        self.get(key).map_or(default, |text| text.trim().eq_ignore_ascii_case("true"))
    }

    /// Returns JMeter properties and system properties. A JMeter property hides the system property of the same name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let system = self.system.iter().filter(|(key, _)| !self.jmeter.contains_key(*key));
        self.jmeter.iter().chain(system).map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns a copy of [`all`](Self::all) for the compiler and the engine.
    pub(crate) fn to_map(&self) -> HashMap<String, String> {
        self.all().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    /// Returns the number of worker processes that the user has set: `given`, the value of `--workers`, or else
    /// `throng.workers`. Returns `None` for 0, which means as many as the connections need.
    pub(crate) fn workers(&self, given: u32) -> Option<u32> {
        let of_property = u32::try_from(self.int("throng.workers", 0)).unwrap_or(0);
        Some(if given > 0 { given } else { of_property }).filter(|workers| *workers > 0)
    }

    /// Formats the properties that the user has set as a property file for `-q`. System properties are written as
    /// comments. Of secrets, only the names are written.
    pub(crate) fn file(&self) -> String {
        let mut out = String::from("# Properties of this run; read them back with -q.\n");
        for key in self.origins.keys() {
            if let Some(value) = self.jmeter.get(key) {
                out.push_str(&shown("", key, value));
            }
        }
        for key in self.origins.keys() {
            if let Some(value) = self.system.get(key) {
                out.push_str(&shown("# -D ", key, value));
            }
        }
        out
    }

    /// Returns the name and source of each property that was set and that Throng itself does not read. The plan may
    /// read it.
    pub(crate) fn unheeded(&self) -> Vec<(&str, &str)> {
        let origins = self.origins.iter().map(|(key, origin)| (key.as_str(), origin.as_str()));
        let heeded = |key: &str, origin: &str| {
            // Most of these options are only meant for Java, so they are not reported.
            let of_java =
                origin == OPTION_OF_JAVA && (key == "user.timezone" || why_not(key).is_none());
            of_java || self.get(key).is_none_or(|value| heeded::has_effect(key, value.trim()))
        };
        origins.filter(|(key, origin)| !heeded(key, origin)).collect()
    }

    /// Returns the names of properties that the user set and that start with `family`.
    pub(crate) fn set_in_family(&self, family: &str) -> Vec<&str> {
        self.origins.keys().map(String::as_str).filter(|name| name.starts_with(family)).collect()
    }

    fn set(&mut self, key: String, value: String, origin: &str) {
        self.origins.insert(key.clone(), origin.to_string());
        self.jmeter.insert(key, value);
    }

    fn set_system(&mut self, key: String, value: String, origin: &str) {
        self.origins.insert(key.clone(), origin.to_string());
        self.system.insert(key, value);
    }

    /// Sets the system properties that Java options define (`JVM_ARGS` and the other variables of JMeter's start
    /// script). Java has them before JMeter reads its files. The time zone takes effect only here, because JMeter
    /// reads its other properties too late for the time zone.
    fn add_java_options(&mut self, settings: &[Setting]) {
        let options = settings.iter().rev().find_map(|setting| match setting {
            Setting::Jmeter(key, options) if key == jvm::OPTIONS => Some(options.as_str()),
            _ => None,
        });
        let all = options.unwrap_or_default().split(jvm::SEPARATOR);
        for option in all.filter_map(|option| option.strip_prefix("-D")) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if !key.is_empty() {
                self.set_system(key.to_owned(), value.to_owned(), OPTION_OF_JAVA);
            }
        }
        if let Some(zone) = self.system.get("user.timezone").filter(|name| !name.is_empty()) {
            self.jmeter.insert(lang::zone::PROPERTY.into(), zone.clone());
            lang::zone::set(zone);
        }
    }

    fn add_file(&mut self, file: &Path, system: bool, warnings: &mut Vec<String>) {
        let origin = file.display().to_string();
        for (key, value) in read(file, warnings).unwrap_or_default() {
            if system {
                self.set_system(key, value, &origin);
            } else {
                self.set(key, value, &origin);
            }
        }
    }

    fn apply(&mut self, setting: &Setting, origin: &str, warnings: &mut Vec<String>) {
        match setting {
            Setting::File(file) => self.add_file(file, false, warnings),
            Setting::SystemFile(file) => self.add_file(file, true, warnings),
            Setting::Jmeter(key, value) if value.is_empty() => {
                self.jmeter.remove(key);
            }
            Setting::Jmeter(key, value) => self.set(key.clone(), value.clone(), origin),
            Setting::System(key, value) if value.is_empty() => {
                self.system.remove(key);
            }
            Setting::System(key, value) => self.set_system(key.clone(), value.clone(), "-D"),
        }
    }

    /// Replaces all properties with those of a run that is resumed, including those set at its start.
    pub(crate) fn restore(&mut self, values: &[(String, String)]) {
        self.jmeter = values.iter().cloned().collect();
        self.system.retain(|key, _| self.jmeter.contains_key(key));
    }

    /// Sets the properties that JMeter sets when it starts.
    fn stamp(&mut self, now_ms: i64) {
        let now = jiff::Timestamp::from_millisecond(now_ms)
            .unwrap_or_default()
            .to_zoned(lang::zone::here());
        let stamps = [
            ("START.MS", now_ms.to_string()),
            ("START.YMD", now.strftime("%Y%m%d").to_string()),
            ("START.HMS", now.strftime("%H%M%S").to_string()),
            ("jmeter.version", JMETER_VERSION.to_string()),
        ];
        self.jmeter.extend(stamps.map(|(key, value)| (key.to_string(), value)));
    }
}

impl Sources {
    /// Returns the JMeter properties of the command line and of `throng.toml` for the record: `-Jname` with the last
    /// value. The value is left out if it is a secret.
    pub(crate) fn recorded(&self) -> Vec<(String, String)> {
        let mut last: BTreeMap<&str, &str> = BTreeMap::new();
        for setting in &self.settings {
            if let Setting::Jmeter(name, value) = setting {
                last.insert(name, value);
            }
        }
        let shown = |(name, value): (&str, &str)| {
            let is_secret = secret::is_secret(name, value);
            let value = if is_secret { "(a secret, not written)" } else { value };
            (format!("-J{name}"), value.to_owned())
        };
        let global = self.global_named();
        last.into_iter().map(shown).chain(global).collect()
    }
}

/// Formats a line of the run's property file.
fn shown(before: &str, key: &str, value: &str) -> String {
    let line = property_file::line(key, value);
    if secret::is_secret(key, value) {
        let before = if before.is_empty() { "# " } else { before };
        return format!("{before}{}", property_file::line(key, "(a secret, not written)"));
    }
    format!("{before}{line}")
}

/// Returns the system properties that a Java program in this process would have.
fn process() -> BTreeMap<String, String> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let folder = std::env::current_dir().unwrap_or_default();
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        other => other,
    };
    let pairs = [
        ("user.dir", folder.display().to_string()),
        ("user.home", variable("HOME")),
        ("user.name", variable("USER")),
        ("java.io.tmpdir", "/tmp".to_string()),
        ("os.name", "Linux".to_string()),
        ("os.arch", arch.to_string()),
        ("file.separator", "/".to_string()),
        ("path.separator", ":".to_string()),
        ("line.separator", "\n".to_string()),
        ("file.encoding", "UTF-8".to_string()),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// Returns the path of a file in the working folder, or else in `bin`.
fn find(name: &str, bin: Option<&Path>) -> Option<PathBuf> {
    let here = PathBuf::from(name);
    if here.is_file() {
        return Some(here);
    }
    bin.map(|bin| bin.join(name)).filter(|file| file.is_file())
}

fn read(file: &Path, warnings: &mut Vec<String>) -> Option<Vec<(String, String)>> {
    let pairs = match plan::input::read_any(file) {
        Ok(bytes) => property_file::read(&bytes),
        Err(error) => Err(error.to_string()),
    };
    pairs
        .map_err(|error| {
            warnings.push(format!("cannot read the property file {}: {error}", file.display()));
        })
        .ok()
}

#[cfg(test)]
mod tests;
