//! Alerts that an Alertmanager has while a run lasts, read by its API v2 and nothing else.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;
use ureq::Agent;

use crate::scrape::{agent, text};
use crate::{Alert, Teller, is_over};

/// Time between two questions. An Alertmanager groups alerts for seconds itself.
const PACE: Duration = Duration::from_secs(2);
/// Alerts of one run, at most: begins and ends.
const MOST: usize = 200;
/// Characters of the words of an alert.
const LONGEST: usize = 160;

/// An alert in the API's answer, as far as it is read.
#[derive(Debug, Deserialize)]
struct Given {
    fingerprint: String,
    #[serde(rename = "startsAt")]
    starts_at: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// The address of the active alerts, from that of the Alertmanager.
pub(crate) fn address(url: &str) -> String {
    format!(
        "{}/api/v2/alerts?active=true&silenced=false&inhibited=false",
        url.trim_end_matches('/')
    )
}

pub(crate) fn follow(url: &str, teller: &mut Teller, ended: &Receiver<()>) {
    let (agent, url) = (agent(url), address(url));
    let mut firing = Firing::since(Timestamp::now().as_millisecond());
    loop {
        let asked = Instant::now();
        let now = Timestamp::now().as_millisecond();
        match ask(&agent, &url) {
            Ok(given) => teller.alerts(firing.add(given, now)),
            Err(why) => teller.failure(&why),
        }
        if is_over(ended, PACE.saturating_sub(asked.elapsed()).max(PACE / 10)) {
            return;
        }
    }
}

/// The number of alerts that fire now.
pub(crate) fn once(url: &str) -> Result<usize, String> {
    ask(&agent(url), &address(url)).map(|given| given.len())
}

fn ask(agent: &Agent, url: &str) -> Result<Vec<Given>, String> {
    let text = text(agent, url, "application/json")?;
    read(&text).map_err(|words| format!("{}: {words}", record::mask::url(url)))
}

fn read(text: &str) -> Result<Vec<Given>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the answer is not that of an Alertmanager's API v2: {error}"))
}

/// The alerts that fire, by their fingerprint: begin and words.
#[derive(Debug, Default)]
struct Firing {
    now: BTreeMap<String, (String, String)>,
    /// Epoch ms of the first question.
    since_ms: i64,
    told: usize,
    /// Said once when alerts are left out.
    more: Option<String>,
}

impl Firing {
    fn since(since_ms: i64) -> Self {
        let more =
            Some(format!("more than {MOST} begins and ends of alerts: the rest is left out"));
        Self { since_ms, more, ..Self::default() }
    }

    /// Begins and ends since the last answer. An alert that began before the first question has the time of that.
    fn add(&mut self, given: Vec<Given>, now_ms: i64) -> Vec<Alert> {
        let mut told = Vec::new();
        let mut next = BTreeMap::new();
        for alert in given {
            let words = words(&alert);
            let known = self.now.remove(&alert.fingerprint);
            if known.is_none_or(|(begin, _)| begin != alert.starts_at) {
                let at_ms =
                    alert.starts_at.parse::<Timestamp>().map_or(now_ms, Timestamp::as_millisecond);
                let before =
                    if at_ms < self.since_ms { " (fires since before the run)" } else { "" };
                let text = format!("alert {words}{before}");
                told.push(Alert { at_ms: at_ms.min(now_ms).max(self.since_ms), words: text });
            }
            next.insert(alert.fingerprint, (alert.starts_at, words));
        }
        for (_, words) in std::mem::replace(&mut self.now, next).into_values() {
            told.push(Alert { at_ms: now_ms, words: format!("alert ended: {words}") });
        }
        if told.len() > MOST - self.told {
            told.truncate(MOST - self.told);
            told.extend(self.more.take().map(|words| Alert { at_ms: now_ms, words }));
        }
        self.told = (self.told + told.len()).min(MOST);
        told
    }
}

/// The name of an alert, its instance, and the first line of its summary.
fn words(alert: &Given) -> String {
    let label = |name: &str| alert.labels.get(name).map(String::as_str);
    let mut words = label("alertname").unwrap_or("without a name").to_owned();
    if let Some(instance) = label("instance") {
        words += &format!(" ({instance})");
    }
    let summary = alert.annotations.get("summary").or_else(|| alert.annotations.get("description"));
    if let Some(line) = summary.and_then(|text| text.lines().next()).filter(|line| !line.is_empty())
    {
        words += &format!(": {line}");
    }
    let words = words.chars().map(|c| if c.is_control() { ' ' } else { c });
    words.take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(alerts: &[(&str, &str, &str)]) -> Vec<Given> {
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
        // 2026-01-01T00:00:00Z is second 1 767 225 600.
        let at = |second: i64| 1_767_225_600_000 + 1000 * second;
        let mut firing = Firing::since(at(1));
        let told = |alerts: Vec<Alert>| -> Vec<(i64, String)> {
            alerts.into_iter().map(|alert| (alert.at_ms - at(0), alert.words)).collect()
        };
        let old = ("a", "2025-12-31T23:00:00Z", "Old");
        let expected = "alert Old (db:9100): It is full. (fires since before the run)";
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
    fn alerts_are_bounded_and_other_answers_are_named() {
        let mut firing = Firing::since(0);
        let names: Vec<String> = (0..500).map(|n| format!("{n}")).collect();
        let many: Vec<(&str, &str, &str)> =
            names.iter().map(|name| (name.as_str(), "2026-01-01T00:00:00Z", "Many")).collect();
        let told = firing.add(given(&many), 0);
        assert_eq!(told.len(), MOST + 1);
        assert!(told[MOST].words.contains("the rest is left out"), "{:?}", told[MOST]);
        assert_eq!(firing.add(Vec::new(), 1).len(), 0);
        assert!(read("<html>").is_err_and(|words| words.contains("not that of an Alertmanager")));
        assert!(read(r#"{"status":"success"}"#).is_err());
        assert_eq!(address("http://a:9093/"), address("http://a:9093"));
    }
}
