//! Alerts of an Alertmanager that fired while the run went on, each a [`Fact`] of that host.

use std::sync::Arc;

use crate::Fact;

/// The beginning of the names of facts that are alerts; behind it is what tells them apart.
const NAME: &str = "alert ";

/// An alert, from its begin to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    pub name: String,
    /// `name=value`, separated by commas, without the name of the alert.
    pub labels: String,
    pub summary: String,
    /// Epoch ms of the begin as the Alertmanager says it, which may be before the run.
    pub from_ms: i64,
    /// Epoch ms; `None`: it fired when the run ended.
    pub until_ms: Option<i64>,
}

impl Alert {
    /// The alert as a fact of a host; `key` tells it from others. Texts are without control characters.
    pub fn fact(&self, host: &str, key: &str) -> Fact {
        let until = self.until_ms.map_or_else(String::new, |ms| ms.to_string());
        let Self { name, labels, summary, from_ms, .. } = self;
        let value = format!("{from_ms}\t{until}\t{name}\t{labels}\t{summary}");
        Fact { host: host.into(), name: format!("{NAME}{key}").into(), value: Arc::from(value) }
    }

    /// The alert that a fact is, if it is one.
    pub fn of(fact: &Fact) -> Option<Self> {
        fact.name.strip_prefix(NAME)?;
        let mut parts = fact.value.splitn(5, '\t');
        let (from, until) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok());
        let mut text = || parts.next().unwrap_or_default().to_owned();
        let (name, labels, summary) = (text(), text(), text());
        Some(Self { name, labels, summary, from_ms: from, until_ms: until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_is_read_as_it_was_written() {
        let mut alert = Alert {
            name: "Full".into(),
            labels: "instance=db:9100, job=node".into(),
            summary: "It is full.".into(),
            from_ms: 5,
            until_ms: None,
        };
        assert_eq!(Alert::of(&alert.fact("the Alertmanager", "1")).as_ref(), Some(&alert));
        alert.until_ms = Some(7);
        let fact = alert.fact("the Alertmanager", "1");
        assert_eq!(Alert::of(&fact).as_ref(), Some(&alert));
        assert_eq!(Alert::of(&Fact { name: Fact::JAVA.into(), ..fact }), None);
    }
}
