//! Properties of hosts that each run the whole plan (`-R`, `-r`), as in JMeter's remote engines.
//!
//! A remote engine of JMeter reads the files of its own installation and receives the properties of `-G`. The rest
//! of the command line applies only to the client. A host of Throng has no such files. It receives the property
//! files that are read on this machine by default, without `-q` or `-S`, and then `-G`. Properties that belong to
//! the run rather than to the plan are sent to the hosts as in any run.

use lang::property_file;

use super::{Properties, Setting, Sources, read, secret};

/// Source of a property that was set for the hosts only.
const ORIGIN: &str = "-G";

/// Prefixes of properties that belong to the run: Throng's own properties, and the columns of result rows.
const OF_THE_RUN: [&str; 3] = ["throng.", "jmeter.save.saveservice.", "sample_variables"];

impl Properties {
    /// Returns the properties of the hosts, built from those of the coordinator. The error is about files of `-G`.
    pub(crate) fn of_hosts(&self, sources: &Sources, now_ms: i64) -> Result<Self, String> {
        let bare = Sources { settings: Vec::new(), ..sources.clone() };
        // The warnings were already printed when the coordinator's properties were loaded.
        let (mut hosts, _) = Self::load(&bare, now_ms)?;
        // System properties of this machine are not sent to the hosts.
        let of_system = [jvm::SYSTEM, plan::function::UNLISTED];
        let of_run = |key: &str| {
            OF_THE_RUN.iter().any(|family| key.starts_with(family)) && !of_system.contains(&key)
        };
        for (key, value) in self.jmeter.iter().filter(|(key, _)| of_run(key)) {
            hosts.jmeter.insert(key.clone(), value.clone());
        }
        let mut refused = Vec::new();
        for setting in &sources.global {
            match setting {
                Setting::Jmeter(key, value) | Setting::System(key, value) => {
                    hosts.set(key.clone(), value.clone(), ORIGIN);
                }
                Setting::File(file) | Setting::SystemFile(file) => {
                    for (key, value) in read(file, &mut refused).unwrap_or_default() {
                        hosts.set(key, value, ORIGIN);
                    }
                }
            }
        }
        if refused.is_empty() { Ok(hosts) } else { Err(refused.join("\n")) }
    }

    /// Returns the properties that were set on this machine and have a different value on the hosts, with their
    /// source.
    pub(crate) fn not_on<'a>(
        &'a self,
        hosts: &'a Self,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let origins = self.origins.iter().map(|(key, origin)| (key.as_str(), origin.as_str()));
        origins.filter(move |(key, _)| {
            let own = self.get(key);
            own.is_some()
                && own != hosts.get(key)
                && hosts.origins.get(*key).is_none_or(|of| of != ORIGIN)
        })
    }
}

impl Sources {
    /// Returns the lines about `-G` for the run's property file. They are comments, because `-q` reads the file for
    /// this machine only.
    pub(crate) fn global_lines(&self) -> String {
        let line = |(name, value): &(String, String)| property_file::line(name, value);
        self.global_named().iter().flat_map(|named| ["# ".to_owned(), line(named)]).collect()
    }

    /// Returns the settings of `-G` for the record: `-Gname` with the value, which is left out for secrets, or `-Gfile`
    /// without a value.
    pub(super) fn global_named(&self) -> Vec<(String, String)> {
        let named = |setting: &Setting| match setting {
            Setting::Jmeter(name, value) if secret::is_secret(name, value) => {
                (format!("{ORIGIN}{name}"), "(a secret, not written)".to_owned())
            }
            Setting::Jmeter(name, value) | Setting::System(name, value) => {
                (format!("{ORIGIN}{name}"), value.clone())
            }
            Setting::File(file) | Setting::SystemFile(file) => {
                (format!("{ORIGIN}{}", file.display()), String::new())
            }
        };
        self.global.iter().map(named).collect()
    }
}
