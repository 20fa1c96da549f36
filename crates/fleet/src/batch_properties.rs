//! Properties that users have set: what setUp groups set, main groups read, in whichever process.
//!
//! Between two batches of groups all workers get them. A value that a worker got so comes back with what it has set
//! itself, and does not count again: another worker may have set another one since.

use std::collections::BTreeMap;

/// Properties that users have set, and those that were sent to all workers.
#[derive(Debug, Default)]
pub(crate) struct BatchProperties {
    set: BTreeMap<String, String>,
    sent: BTreeMap<String, String>,
}

impl BatchProperties {
    /// Takes the properties of a worker that is through with a batch.
    pub(crate) fn add(&mut self, properties: Vec<(String, String)>) {
        let sent = &self.sent;
        let own = properties.into_iter().filter(|(key, value)| sent.get(key) != Some(value));
        self.set.extend(own);
    }

    /// Takes those that another coordinator has sent with the last batch.
    pub(crate) fn restore(&mut self, sent: &[(String, String)]) {
        self.sent = sent.iter().cloned().collect();
        self.set.clone_from(&self.sent);
    }

    /// All of them, for the batch that starts.
    pub(crate) fn send(&mut self) -> Vec<(String, String)> {
        self.sent.clone_from(&self.set);
        self.sent.clone().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_comes_back_does_not_undo_a_newer_one() {
        let mut properties = BatchProperties::default();
        let of = |value: &str| vec![("x".to_owned(), value.to_owned())];
        properties.add(of("1"));
        assert_eq!(properties.send(), of("1"));
        properties.add(of("2"));
        properties.add(of("1"));
        assert_eq!(properties.send(), of("2"));
    }
}
