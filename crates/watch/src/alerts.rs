//! Alerts of an Alertmanager that fire during a run. They are polled through its API v2.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;
use ureq::Agent;

use crate::scrape::{agent, text};
use crate::{Alert, Reporter, is_over};

/// Time between two polls of an Alertmanager. An Alertmanager itself delays alerts by seconds to group them.
const PACE: Duration = Duration::from_secs(2);
/// Maximum number of reported starts and ends of alerts in one run.
const MOST: usize = 200;
/// Maximum number of characters in each of an alert's texts: description, name, labels and summary.
const LONGEST: usize = 160;

/// An alert in the API's response: only the fields that are used.
#[derive(Debug, Deserialize)]
struct ApiAlert {
    fingerprint: String,
    #[serde(rename = "startsAt")]
    starts_at: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// Returns the URL of the active alerts for the URL of an Alertmanager.
pub(crate) fn address(url: &str) -> String {
    format!(
        "{}/api/v2/alerts?active=true&silenced=false&inhibited=false",
        url.trim_end_matches('/')
    )
}

pub(crate) fn follow(url: &str, reporter: &mut Reporter, ended: &Receiver<()>) {
    let (agent, url) = (agent(url), address(url));
    let mut firing = Firing::since(Timestamp::now().as_millisecond());
    loop {
        let asked = Instant::now();
        let now = Timestamp::now().as_millisecond();
        match ask(&agent, &url) {
            Ok(given) => reporter.alerts(firing.add(given, now)),
            Err(why) => reporter.failure(&why),
        }
        if is_over(ended, PACE.saturating_sub(asked.elapsed()).max(PACE / 10)) {
            return;
        }
    }
}

/// Polls an Alertmanager once; returns the number of alerts that fire now.
pub(crate) fn once(url: &str) -> Result<usize, String> {
    ask(&agent(url), &address(url)).map(|given| given.len())
}

fn ask(agent: &Agent, url: &str) -> Result<Vec<ApiAlert>, String> {
    let text = text(agent, url, "application/json")?;
    read(&text).map_err(|words| format!("{}: {words}", record::mask::url(url)))
}

fn read(text: &str) -> Result<Vec<ApiAlert>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("not a response of Alertmanager's API v2: {error}"))
}

/// The firing alerts by their fingerprint.
#[derive(Debug, Default)]
struct Firing {
    now: BTreeMap<String, FiringAlert>,
    /// Time of the first poll in ms since 1970.
    since_ms: i64,
    /// Number of starts and ends reported so far.
    reported: usize,
    /// Message about omitted alerts; `None` once it was reported.
    more: Option<String>,
}

/// A firing alert.
#[derive(Debug)]
struct FiringAlert {
    /// Start of the alert as text, in the form in which the API sent it.
    starts_at: String,
    words: String,
    about: record::Alert,
}

impl FiringAlert {
    fn event(&self, key: &str, at_ms: i64, words: String) -> Alert {
        // An alert that fires a second time has a new start and counts as a new alert.
        let key = format!("{key} {}", self.starts_at);
        Alert { at_ms, words, about: Some((key, self.about.clone())) }
    }
}

impl Firing {
    fn since(since_ms: i64) -> Self {
        let more = Some(format!(
            "alerts started or ended more than {MOST} times: further ones are not shown"
        ));
        Self { since_ms, more, ..Self::default() }
    }

    /// Compares the alerts of a poll with those of the previous poll; returns those that started or ended. An alert
    /// that started before the first poll gets the time of that poll.
    fn add(&mut self, given: Vec<ApiAlert>, now_ms: i64) -> Vec<Alert> {
        let mut events = Vec::new();
        let mut next = BTreeMap::new();
        for alert in given {
            let known = self.now.remove(&alert.fingerprint);
            let is_new = known.is_none_or(|held| held.starts_at != alert.starts_at);
            let at_ms =
                alert.starts_at.parse::<Timestamp>().map_or(now_ms, Timestamp::as_millisecond);
            let about = about(&alert, at_ms.min(now_ms));
            let words = words(&about, &alert.labels);
            let held = FiringAlert { starts_at: alert.starts_at, words, about };
            if is_new {
                let before =
                    if at_ms < self.since_ms { " (firing since before the run)" } else { "" };
                let text = format!("alert {}{before}", held.words);
                let at_ms = at_ms.min(now_ms).max(self.since_ms);
                events.push(held.event(&alert.fingerprint, at_ms, text));
            }
            next.insert(alert.fingerprint, held);
        }
        for (key, mut held) in std::mem::replace(&mut self.now, next) {
            held.about.until_ms = Some(now_ms);
            events.push(held.event(&key, now_ms, format!("alert ended: {}", held.words)));
        }
        if events.len() > MOST - self.reported {
            events.truncate(MOST - self.reported);
            let more = self.more.take();
            events.extend(more.map(|words| Alert { at_ms: now_ms, words, about: None }));
        }
        self.reported = (self.reported + events.len()).min(MOST);
        events
    }
}

/// Returns the alert in the form in which the run's record stores alerts.
fn about(alert: &ApiAlert, from_ms: i64) -> record::Alert {
    let name = alert.labels.get("alertname").map_or("without a name", String::as_str);
    let others = alert.labels.iter().filter(|(name, _)| *name != "alertname");
    let labels: Vec<String> = others.map(|(name, value)| format!("{name}={value}")).collect();
    let summary = alert.annotations.get("summary").or_else(|| alert.annotations.get("description"));
    let summary = summary.and_then(|text| text.lines().next()).unwrap_or_default();
    let [name, labels, summary] = [name, &labels.join(", "), summary].map(plain);
    record::Alert { name, labels, summary, from_ms, until_ms: None }
}

/// Returns a description of an alert: its name, its instance, and the first line of its summary.
fn words(about: &record::Alert, labels: &BTreeMap<String, String>) -> String {
    let mut words = about.name.clone();
    if let Some(instance) = labels.get("instance") {
        words += &format!(" ({instance})");
    }
    if !about.summary.is_empty() {
        words += &format!(": {}", about.summary);
    }
    plain(&words)
}

/// Returns a string of limited length without control characters.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(alerts: &[(&str, &str, &str)]) -> Vec<ApiAlert> {
        let one = |(fingerprint, starts_at, name): &(&str, &str, &str)| {
            format!(
                r#"{{"fingerprint":"{fingerprint}","startsAt":"{starts_at}","endsAt":"2026-01-02T00:00:00Z",
                "status":{{"state":"active","silencedBy":[],"inhibitedBy":[]}},"receivers":[{{"name":"x"}}],
                "labels":{{"alertname":"{name}","instance":"db:9100"}},"annotations":{{"summary":"It is full.\nMore."}}}}"#
            )
        };
        let list: Vec<String> = alerts.iter().map(one).collect();
        read(&format!("[{}]", list.join(","))).expect("an answer")
    }

    #[test]
    fn begins_and_ends_are_told_once() {
        // 2026-01-01T00:00:00Z is second 1 767 225 600 since 1970.
        let at = |second: i64| 1_767_225_600_000 + 1000 * second;
        let mut firing = Firing::since(at(1));
        let told = |alerts: Vec<Alert>| -> Vec<(i64, String)> {
            alerts.into_iter().map(|alert| (alert.at_ms - at(0), alert.words)).collect()
        };
        let old = ("a", "2025-12-31T23:00:00Z", "Old");
        let expected = "alert Old (db:9100): It is full. (firing since before the run)";
        assert_eq!(told(firing.add(given(&[old]), at(1))), [(1000, expected.to_owned())]);
        assert_eq!(told(firing.add(given(&[old]), at(3))), []);
        let new = ("b", "2026-01-01T00:00:04.250+00:00", "New");
        let begins = (4250, "alert New (db:9100): It is full.".to_owned());
        assert_eq!(told(firing.add(given(&[old, new]), at(5))), [begins]);
        let ends = (7000, "alert ended: Old (db:9100): It is full.".to_owned());
        assert_eq!(told(firing.add(given(&[new]), at(7))), [ends]);
        let again = ("b", "2026-01-01T00:00:08Z", "New");
        assert_eq!(told(firing.add(given(&[again]), at(9)))[0].0, 8000, "it began anew");
        let late = ("c", "2025-12-31T23:59:00Z", "Late");
        assert_eq!(
            told(firing.add(given(&[again, late]), at(11)))[0].0,
            1000,
            "not before the first answer"
        );
    }

    #[test]
    fn the_record_has_an_alert_from_its_begin_to_its_end() {
        let mut firing = Firing::since(1_767_225_600_000);
        let old = given(&[("a", "2025-12-31T23:59:59Z", "Old")]);
        let about = |alerts: Vec<Alert>| alerts[0].about.clone().expect("an alert");
        let (key, begun) = about(firing.add(old, 1_767_225_600_500));
        assert_eq!((begun.from_ms, begun.until_ms), (1_767_225_599_000, None));
        assert_eq!((&*begun.name, &*begun.labels), ("Old", "instance=db:9100"));
        assert_eq!(begun.summary, "It is full.");
        let (same, ended) = about(firing.add(Vec::new(), 1_767_225_603_000));
        assert_eq!((same, ended.until_ms), (key, Some(1_767_225_603_000)));
    }

    #[test]
    fn alerts_are_bounded_and_other_answers_are_named() {
        let mut firing = Firing::since(0);
        let names: Vec<String> = (0..500).map(|n| format!("{n}")).collect();
        let many: Vec<(&str, &str, &str)> =
            names.iter().map(|name| (name.as_str(), "2026-01-01T00:00:00Z", "Many")).collect();
        let events = firing.add(given(&many), 0);
        assert_eq!(events.len(), MOST + 1);
        assert!(events[MOST].words.contains("further ones are not shown"), "{:?}", events[MOST]);
        assert_eq!(firing.add(Vec::new(), 1).len(), 0);
        assert!(
            read("<html>").is_err_and(|words| words.contains("not a response of Alertmanager"))
        );
        assert!(read(r#"{"status":"success"}"#).is_err());
        assert_eq!(address("http://a:9093/"), address("http://a:9093"));
    }
}
