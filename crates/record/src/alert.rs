//! Alerts of an Alertmanager that fired during the run. Each alert is stored as a [`Fact`] of the Alertmanager's host.

use std::sync::Arc;

use crate::Fact;

/// Prefix of the names of facts that hold alerts. A key that identifies the alert follows the prefix.
const NAME: &str = "alert ";

/// An alert with its start and its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    pub name: String,
    /// Labels as `name=value`, separated by commas, without the name of the alert.
    pub labels: String,
    pub summary: String,
    /// Start of the alert as the Alertmanager reports it, epoch ms. It may be before the run.
    pub from_ms: i64,
    /// End of the alert, epoch ms; `None` if the alert still fired when the run ended.
    pub until_ms: Option<i64>,
}

impl Alert {
    /// Builds a fact from the alert. `key` distinguishes the alert from others of the host. No string may contain
    /// control characters.
    pub fn fact(&self, host: &str, key: &str) -> Fact {
        let until = self.until_ms.map_or_else(String::new, |ms| ms.to_string());
        let Self { name, labels, summary, from_ms, .. } = self;
        let value = format!("{from_ms}\t{until}\t{name}\t{labels}\t{summary}");
        Fact { host: host.into(), name: format!("{NAME}{key}").into(), value: Arc::from(value) }
    }

    /// Parses the alert from a fact; `None` if the fact is not an alert.
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
