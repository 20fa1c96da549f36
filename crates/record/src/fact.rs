//! Settings in force of watched hosts, as their exporters tell them.
//!
//! Unlike a [`Series`](crate::Series) a fact is known once for a run. Settings of a Java machine are the first; other
//! kinds of hosts may have others, and readers pass over names that they do not know.

use std::sync::Arc;

/// A setting of a watched host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The name that the user gave to the host.
    pub host: Arc<str>,
    /// One of the names here.
    pub name: Arc<str>,
    pub value: Arc<str>,
}

/// Facts of a record; what comes beyond is not kept.
const MOST: usize = 1000;

impl Fact {
    /// Bytes that the heap of a Java machine may take.
    pub const HEAP_MAX: &str = "heap_max";
    /// Collectors of a Java machine, separated by commas.
    pub const COLLECTORS: &str = "collectors";
    /// Version of the Java machine.
    pub const JAVA: &str = "java";
    /// Options of the Java machine, secrets masked.
    pub const ARGUMENTS: &str = "arguments";

    /// Adds a fact to a list in which each name stands once for a host; true if the list has changed.
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
