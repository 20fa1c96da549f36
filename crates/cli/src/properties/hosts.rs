//! The properties of hosts that each run the whole plan, as JMeter's remote engines have them.
//!
//! An engine of JMeter's reads the files of its own installation and gets what `-G` says; the rest of the command line
//! is the client's alone. A host of Throng has no such files, so it gets those that are read here without being named by
//! `-q` or `-S`, then `-G`. What belongs to the run, and not to the plan, goes to the hosts as in any run.

use lang::property_file;

use super::{Properties, Setting, Sources, read, secret};

/// The option of a property for hosts alone.
const ORIGIN: &str = "-G";

/// Families of properties that belong to the run: Throng's own, and the columns of result rows.
const OF_THE_RUN: [&str; 3] = ["throng.", "jmeter.save.saveservice.", "sample_variables"];

impl Properties {
    /// The properties of the hosts; these are those of the coordinator. The error is about files of `-G`.
    pub(crate) fn of_hosts(&self, sources: &Sources, now_ms: i64) -> Result<Self, String> {
        let bare = Sources { settings: Vec::new(), ..sources.clone() };
        // Warnings were told when the coordinator's were read.
        let (mut hosts, _) = Self::load(&bare, now_ms)?;
        // System properties of this machine are not those of the hosts.
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

    /// Names of those that were set here and are otherwise on the hosts, with where they were set.
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
    /// Lines of the run's property file about `-G`: comments, since `-q` reads the file back for this machine.
    pub(crate) fn global_lines(&self) -> String {
        let line = |(name, value): &(String, String)| property_file::line(name, value);
        self.global_named().iter().flat_map(|named| ["# ".to_owned(), line(named)]).collect()
    }

    /// The settings of `-G` as a record keeps them: `-Gname` and the value, if it is no secret; `-Gfile` and nothing.
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
