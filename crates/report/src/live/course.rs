//! The state of a running test for its live page: the last minutes, and the events that each second causes.

use std::collections::BTreeSet;

use answers::lines::Scope;
use answers::rules;
use record::{CauseName, ClassName, Frame, Has, Label, Mark, Now, Record, Second, Series, State};
use serde::Serialize;
use serde_json::{Value, json};

use super::figures::{Figures, is_quota_limit, window};
use super::labels::Table;
use super::speaking::{Speaking, TO_COME};
use crate::model::{
    About, Agents, Cost, Criterion, Given, Known, MOST_CAUSES, Taken, Timeline, Verdict, is_series,
    words,
};

/// Number of the latest seconds that are kept for the rules.
const KEPT: usize = 900;
/// Number of the latest seconds that charts show.
const DRAWN: usize = 600;

/// A second of a running test, copied from the data that followers receive.
#[derive(Debug)]
pub struct Told {
    frame: Frame,
    second: Second,
    labels: Vec<Label>,
    causes: Vec<CauseName>,
    classes: Vec<ClassName>,
    series: Vec<Series>,
    marks: Vec<Mark>,
    criteria: Vec<Criterion>,
    state: State,
    users: Option<u64>,
}

/// Facts of a run that seconds do not contain.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Name of the run's folder.
    pub run: String,
    /// Properties that the user set, with secrets masked.
    pub properties: Vec<(String, String)>,
    /// The facts from which the cost of the run so far is computed.
    pub cost: Known,
}

impl From<&Now<'_>> for Told {
    fn from(now: &Now<'_>) -> Self {
        let criterion = |lamp: &record::Lamp| Criterion {
            text: lamp.criterion.clone(),
            met: lamp.is_good(),
            value: None,
            shown: words(lamp.value.clone(), lamp.value_zh.clone()),
            reason: None,
            of: None,
        };
        Self {
            frame: now.frame.clone(),
            second: now.second.clone(),
            labels: now.labels.to_vec(),
            causes: now.causes.to_vec(),
            classes: now.classes.to_vec(),
            series: now.series.to_vec(),
            marks: now.marks.to_vec(),
            criteria: now.criteria.iter().map(criterion).collect(),
            state: now.state,
            users: now.users,
        }
    }
}

/// A cause of errors, and the number of its errors in the run so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Sum {
    outcome: &'static str,
    code: String,
    message: String,
    first_label: String,
    count: u64,
    first_ms: i64,
    last_ms: i64,
}

/// The state of a running test, as its live page shows it.
#[derive(Debug, Default)]
pub struct Course {
    facts: Facts,
    /// The record of the last minutes of the run.
    record: Record,
    /// Causes with their numbers of errors, by number of the cause.
    sums: Vec<Sum>,
    /// Number of samples in the run so far, by number of the label.
    counts: Vec<u64>,
    criteria: Vec<Criterion>,
    state: State,
    users: Option<u64>,
    /// Ids of the columns that the open pages have, in the pages' order.
    columns: Vec<String>,
    speaking: Speaking,
    /// Resources that the run has used so far.
    taken: Taken,
    /// Number of times that the rules were evaluated.
    asked: u32,
    said: answers::verdict::Verdict,
    /// True if a criterion is not met or the CPU quota limits the generator.
    is_red: bool,
}

/// An event for the live page: its name and its data.
pub type Event = (&'static str, Value);

impl Course {
    pub fn new(facts: Facts) -> Self {
        Self { facts, ..Self::default() }
    }

    /// Adds a complete second. Returns the events that the second causes.
    pub fn add(&mut self, told: Told) -> Vec<Event> {
        let count = |course: &Self| course.sums.iter().map(|sum| sum.count).sum::<u64>();
        let errors = count(self);
        let (marks, criteria) = (told.marks.clone(), told.criteria.clone());
        self.keep(told, KEPT);
        let mut events = Vec::new();
        events.push(self.newest());
        for mark in &marks {
            events.push(("mark", json!(crate::model::Mark::from(mark))));
        }
        if criteria != self.criteria {
            events.push(("criteria", json!(criteria)));
            self.criteria = criteria;
        }
        if count(self) != errors {
            events.push(("errors", json!(self.causes())));
        }
        let is_red = self.criteria.iter().any(|criterion| criterion.met == Some(false))
            || is_quota_limit(&self.record.seconds);
        if is_red != self.is_red {
            self.is_red = is_red;
            events.push(self.verdict_event());
        }
        events
    }

    /// Adds a complete second for the rules only, without events for pages. At most `most` seconds are kept.
    pub fn keep(&mut self, told: Told, most: usize) {
        let Told { frame, second, labels, causes, classes, series, marks, .. } = told;
        self.sum(&second, &causes);
        self.take(&second);
        self.counts.resize(labels.len(), 0);
        for (label, samples, _) in second.labels.counts() {
            if let Some(sum) = self.counts.get_mut(label as usize) {
                *sum += samples;
            }
        }
        let record = &mut self.record;
        record.seconds.push(second);
        if record.seconds.len() > most {
            record.seconds.remove(0);
        }
        record.marks.extend(marks);
        let first_ms = record.seconds.first().map_or(0, |first| first.at_ms - i64::from(first.ms));
        let old = record.marks.iter().take_while(|mark| mark.at_ms < first_ms).count();
        record.marks.drain(..old);
        record.frame = Frame { length_ms: 0, ..frame };
        (record.labels, record.causes) = (labels, causes);
        (record.classes, record.series) = (classes, series);
        record.has = Has::of_run(record);
        (self.state, self.users) = (told.state, told.users);
    }

    /// Adds the resources that the run used in a second.
    fn take(&mut self, second: &Second) {
        let taken = &mut self.taken;
        taken.core_seconds += second.generator.cpu_s;
        taken.memory_byte_s += second.generator.memory as f64 * f64::from(second.ms) / 1000.0;
        taken.sent_bytes += second.all.sent;
        taken.received_bytes += second.all.received;
        taken.succeeded += second.all.count.saturating_sub(second.all.errors);
    }

    /// Returns the findings to show, as of the last call of [`Course::judge`].
    pub fn said(&self) -> &answers::verdict::Verdict {
        &self.said
    }

    /// Returns true if it is too early to say "No problem found": no rule can have reported a finding yet, or no
    /// rule had the data it needs.
    pub fn is_early(&self) -> bool {
        self.said.findings.is_empty() && (self.asked < TO_COME || self.said.silent.is_empty())
    }

    /// Returns the verdict for the live page.
    fn verdict(&self, timeline: &Timeline) -> Verdict {
        let scope = Scope::Live { is_early: self.is_early(), is_red: self.is_red };
        Verdict::new(&self.said, scope, timeline)
    }

    fn verdict_event(&self) -> Event {
        ("verdict", json!(self.verdict(&Timeline::live(&self.last(1)))))
    }

    /// Returns the newest second as an event with its value for each column. If there are new columns, the event tells
    /// pages to reload.
    fn newest(&mut self) -> Event {
        let timeline = Timeline::live(&self.last(1));
        let known: BTreeSet<&str> = self.columns.iter().map(String::as_str).collect();
        let new = timeline.columns.iter().map(|column| &column.id);
        let new: Vec<String> = new.filter(|id| !known.contains(id.as_str())).cloned().collect();
        if !new.is_empty() {
            self.columns.extend(new);
            return ("again", json!({}));
        }
        let value = |id: &String| match timeline.column(id) {
            Some(column) => column.figures().next().map(|(_, figure)| figure),
            None if is_series(id) => None,
            // Columns that contain only zeros are left out.
            None => Some(0.0),
        };
        let values: Vec<Option<f64>> = self.columns.iter().map(value).collect();
        let at_ms = timeline.at_ms.last();
        ("second", json!({ "at_ms": at_ms, "values": values, "heat": null, "now": self.now() }))
    }

    /// Evaluates the rules. Returns an event if their findings have changed. This takes a while for a long run.
    pub fn judge(&mut self) -> Option<Event> {
        let mut record = self.last(KEPT);
        let first = record.seconds.first()?;
        let start_ms = first.at_ms - i64::from(first.ms);
        if start_ms - record.frame.start_ms > 1500 {
            // For the rules, the run begins with the first kept second.
            record.frame.start_ms = start_ms;
            record.frame.load.schedule.clear();
        }
        record.frame.length_ms =
            record.seconds.last().map_or(0, |last| last.at_ms - record.frame.start_ms);
        let was_early = self.is_early();
        let said = self.speaking.hear(&rules::verdict(&record));
        self.asked = self.asked.saturating_add(1);
        let is_new = said != self.said;
        self.said = said;
        (is_new || was_early != self.is_early()).then(|| self.verdict_event())
    }

    /// Returns the run so far as the initial data of a page.
    pub fn page(&self) -> Value {
        let record = self.last(DRAWN);
        let mut timeline = Timeline::live(&record);
        let mut columns = Vec::new();
        for id in &self.columns {
            let at = timeline.columns.iter().position(|column| column.id == *id);
            columns.push(match at {
                Some(at) => {
                    let column = timeline.columns.swap_remove(at);
                    let mut values: Vec<Option<f64>> = vec![None; timeline.at_ms.len()];
                    column.figures().for_each(|(at, figure)| values[at] = Some(figure));
                    json!({ "id": column.id, "name": column.name, "unit": column.unit, "scale": 1, "values": values, "label": null })
                }
                None => {
                    let nothing = crate::model::words("", "");
                    let values = vec![0; timeline.at_ms.len()];
                    json!({ "id": id, "name": nothing, "unit": "count", "scale": 1, "values": values, "label": null })
                }
            });
        }
        let given = Given {
            record: &record,
            verdict: &self.said,
            run: &self.facts.run,
            criteria: &self.criteria,
            properties: &self.facts.properties,
            notes: &[],
            jmeter: None,
            agents: &Agents::default(),
            live: true,
        };
        json!({
            "kind": "run", "form": 1, "live": true,
            "about": About::new(&given),
            "verdict": self.verdict(&timeline),
            "criteria": self.criteria,
            "totals": {}, "labels": [], "rest": null, "samples": [], "classes": [], "targets": [], "jmeter": null,
            "causes": self.causes(),
            "timeline": {
                "step_ms": 1000, "at_ms": timeline.at_ms, "start_ms": record.frame.start_ms, "marks": timeline.marks,
                "warmup_ms": null, "steady": null, "heat": null, "columns": columns, "charts": timeline.charts,
            },
        })
    }

    /// Returns the current metrics for the first row of the live page and for its table of labels.
    pub fn now(&self) -> Value {
        let record = &self.record;
        let mut now = json!(Figures::new(record, self.users, self.state));
        now["labels"] = json!(Table::new(record, window(&record.seconds), &self.counts));
        let cost = Cost::new(&self.taken, &self.facts.cost).figures().into_iter();
        let cost =
            cost.map(|(name, value, note)| json!({ "name": name, "value": value, "note": note }));
        now["cost"] = cost.collect();
        now
    }

    /// Returns the causes with the most errors.
    fn causes(&self) -> Vec<&Sum> {
        let mut found: Vec<&Sum> = self.sums.iter().filter(|sum| sum.count > 0).collect();
        found.sort_by_key(|sum| std::cmp::Reverse(sum.count));
        found.truncate(MOST_CAUSES);
        found
    }

    fn sum(&mut self, second: &Second, causes: &[CauseName]) {
        for name in causes.iter().skip(self.sums.len()) {
            self.sums.push(Sum {
                outcome: name.outcome.as_str(),
                code: name.code.to_string(),
                message: name.message.to_string(),
                first_label: name.first_label.to_string(),
                count: 0,
                first_ms: second.at_ms,
                last_ms: second.at_ms,
            });
        }
        for (number, count) in &second.causes {
            if let Some(sum) = self.sums.get_mut(*number as usize) {
                sum.count += count;
                sum.last_ms = second.at_ms;
            }
        }
    }

    /// Returns a copy of the record with only its last seconds.
    fn last(&self, seconds: usize) -> Record {
        let from = self.record.seconds.len().saturating_sub(seconds);
        let from_ms =
            self.record.seconds.get(from).map_or(0, |first| first.at_ms - i64::from(first.ms));
        let Record { frame, labels, causes, classes, series, has, .. } = &self.record;
        Record {
            frame: frame.clone(),
            labels: labels.clone(),
            causes: causes.clone(),
            classes: classes.clone(),
            series: series.clone(),
            seconds: self.record.seconds[from..].to_vec(),
            marks: self.record.marks.iter().filter(|mark| mark.at_ms >= from_ms).cloned().collect(),
            has: *has,
            ..Record::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Part;
    use stats::hist::layout;

    use super::*;

    /// Returns a second without any problem.
    fn told(n: i64) -> Told {
        let mut all =
            Part { count: 50, elapsed: 500_000_000, longest: 10_000_000, ..Part::default() };
        all.service.add(layout::index_of(10_000), 50);
        Told {
            frame: Frame::default(),
            second: Second { at_ms: n * 1000, ms: 1000, users: 1, all, ..Second::default() },
            labels: Vec::new(),
            causes: Vec::new(),
            classes: Vec::new(),
            series: Vec::new(),
            marks: Vec::new(),
            criteria: Vec::new(),
            state: State::Running,
            users: None,
        }
    }

    /// Returns the text for a verdict without findings.
    fn nothing(verdict: &Value) -> &str {
        let lines = verdict["lines"].as_array().expect("lines");
        let line = lines.iter().find(|line| line["kind"] == "nothing").expect("a line");
        line["words"]["en"].as_str().expect("a text")
    }

    #[test]
    fn it_is_too_early_until_the_rules_could_speak() {
        let mut course = Course::default();
        let early = "Too early to say.";
        assert_eq!(nothing(&course.page()["verdict"]), early, "before the first second");
        (1..=60).for_each(|n| course.keep(told(n), KEPT));
        course.judge();
        assert_eq!(nothing(&course.page()["verdict"]), early, "a rule that spoke once is hidden");
        let (name, data) = course.judge().expect("the page must know that it is no longer early");
        assert_eq!((name, &data["findings"]), ("verdict", &json!([])));
        assert!(nothing(&data).starts_with("No problem found so far: "), "{data}");
    }

    #[test]
    fn beside_a_red_lamp_there_is_no_word_of_no_problem() {
        let mut course = Course::default();
        (1..=60).for_each(|n| course.keep(told(n), KEPT));
        (0..2).for_each(|_| drop(course.judge()));
        let calm = "No problem found so far: ";
        let red = "Not all checks are green; no cause found so far.";
        assert!(nothing(&course.page()["verdict"]).starts_with(calm));
        let criterion = |met| Criterion {
            text: "error% < 1%".into(),
            met,
            value: None,
            shown: words("2%", "2%"),
            reason: None,
            of: None,
        };
        let verdict = |events: &[Event]| {
            let found = events.iter().find(|(name, _)| *name == "verdict");
            found.map(|(_, data)| nothing(data).to_owned())
        };
        for (n, met, said) in [
            (61, Some(true), None),
            (62, Some(false), Some(red)),
            (63, Some(false), None),
            (64, None, Some(calm)),
        ] {
            let events = course.add(Told { criteria: vec![criterion(met)], ..told(n) });
            let found = verdict(&events);
            assert_eq!(found.is_some(), said.is_some(), "{n}: {found:?}");
            assert!(found.as_deref().unwrap_or("").starts_with(said.unwrap_or("")), "{found:?}");
        }
        let mut stopped = told(65);
        let generator = &mut stopped.second.generator;
        (generator.quota, generator.quota_periods, generator.quota_stopped) = (1.0, 10, 9);
        assert_eq!(verdict(&course.add(stopped)).as_deref(), Some(red), "a quota");
    }
}
