//! Effective settings of watched hosts, as their exporters report them.
//!
//! Unlike a [`Series`](crate::Series), a fact has one value for a run. All names so far are settings of JVMs. Other
//! kinds of hosts may get their own names; readers ignore unknown names.

use std::sync::Arc;

/// A setting of a watched host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Name of the host, as the user chose it.
    pub host: Arc<str>,
    /// Name of the setting: one of the constants of this type.
    pub name: Arc<str>,
    pub value: Arc<str>,
}

/// Largest number of facts in a record. Further facts are dropped.
const MOST: usize = 1000;

impl Fact {
    /// Name of the setting for the maximum heap size of a JVM, in bytes.
    pub const HEAP_MAX: &str = "heap_max";
    /// Name of the setting for the garbage collectors of a JVM, separated by commas.
    pub const COLLECTORS: &str = "collectors";
    /// Name of the setting for the version of the JVM.
    pub const JAVA: &str = "java";
    /// Name of the setting for the command-line options of the JVM, with secrets masked.
    pub const ARGUMENTS: &str = "arguments";
    /// Name of the setting for misplaced JVM options: they stand after the program's name, so that Java passes them
    /// to the program as arguments. Example: `-jar app.jar -Xmx1g`. Values of several JVMs on a host are separated
    /// by `; `.
    pub const MISPLACED: &str = "misplaced_options";

    /// Adds a fact to a list in which each name occurs once per host. Returns true if the list has changed.
    pub fn put(self, facts: &mut Vec<Self>) -> bool {
        match facts.iter().position(|one| one.host == self.host && one.name == self.name) {
            Some(place) if facts[place].value == self.value => return false,
            Some(place) => facts[place] = self,
            None if facts.len() < MOST => facts.push(self),
            None => return false,
        }
        true
    }
}
