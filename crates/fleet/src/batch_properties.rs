//! Properties that users have set: main groups read what setUp groups set, in any process.
//!
//! Between two batches of groups, all workers get these properties. A worker returns received values together with its
//! own changes. An unchanged received value is ignored, because another worker may have set a newer one.

use std::collections::BTreeMap;

/// Properties that users have set so far, and the properties that were sent to all workers with the last batch.
#[derive(Debug, Default)]
pub(crate) struct BatchProperties {
    set: BTreeMap<String, String>,
    sent: BTreeMap<String, String>,
}

impl BatchProperties {
    /// Merges the properties that a worker reported at the end of a batch.
    pub(crate) fn add(&mut self, properties: Vec<(String, String)>) {
        let sent = &self.sent;
        let own = properties.into_iter().filter(|(key, value)| sent.get(key) != Some(value));
        self.set.extend(own);
    }

    /// Restores the properties that the previous coordinator sent with its last batch.
    pub(crate) fn restore(&mut self, sent: &[(String, String)]) {
        self.sent = sent.iter().cloned().collect();
        self.set.clone_from(&self.sent);
    }

    /// Returns all properties that users have set, to be sent with the next batch.
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
