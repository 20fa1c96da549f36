//! The outcome of a run: one value in memory, built once at the end. Console, `summary.json`, `summary.txt`,
//! reports and JUnit are rendered from it.

use std::path::Path;

use answers::criterion;
use answers::machines::machines;
use answers::rules;
use answers::verdict::{Language, Verdict};
use fleet::Loss;
use record::Record;
use report::model::Cost;
use serde_json::{Map, Value, json};
use stats::summary::Summary;

use crate::judge::criteria::Judgement;
use crate::judge::verdict;
use crate::print::terminal;
use crate::run::identity::{self, End};
use crate::run::last_words::LastWords;
use crate::run::lost;
use crate::run::machines::about::Machines;
use crate::run::starts::Starts;

/// Result of a finished run.
#[derive(Debug)]
pub(crate) struct Outcome<'a> {
    pub(crate) plan: &'a Path,
    pub(crate) end: End,
    pub(crate) summary: Summary,
    pub(crate) cost: Cost,
    pub(crate) judgement: Judgement,
    /// Iteration starts that a rate requires. `None` without a rate.
    pub(crate) starts: Option<Starts>,
    /// Number of worker processes at the start of the run. 0 for a run in one process.
    pub(crate) workers: u32,
    /// Worker processes that died during the run.
    pub(crate) losses: &'a [Loss],
    /// The record with its verdict. `None` if the record is too long for memory and could not be read from its
    /// file.
    pub(crate) recorded: Option<Recorded>,
}

/// Record of a run, and the verdict on it.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) record: Record,
    pub(crate) verdict: Verdict,
}

impl Recorded {
    /// Applies the rules of the verdict to a record.
    pub(crate) fn new(record: Record) -> Self {
        Self { verdict: rules::verdict(&record), record }
    }
}

impl Outcome<'_> {
    pub(crate) fn verdict(&self) -> Option<&Verdict> {
        self.recorded.as_ref().map(|recorded| &recorded.verdict)
    }

    /// Returns the content of `summary.json`.
    pub(crate) fn json(&self, last: &LastWords, machines: &Machines) -> Value {
        let mut summary = match serde_json::to_value(&self.summary) {
            Ok(Value::Object(summary)) => summary,
            _ => Map::new(),
        };
        lost::add_to_json(&mut summary, self.workers, self.losses);
        machines.add_to_json(&mut summary);
        summary.insert("cost".into(), json!(self.cost));
        last.add_to_json(&mut summary);
        Starts::add_to_json(self.starts, &mut summary);
        self.judgement.add_to_json(&mut summary);
        summary.insert("verdict".into(), self.verdict().map_or(Value::Null, verdict::data));
        let java = self.recorded.iter().flat_map(|recorded| machines_of(&recorded.record));
        let java: Map<String, Value> = java.collect();
        if !java.is_empty() {
            summary.insert("java_machines".into(), java.into());
        }
        identity::add_to_json(
            &mut summary,
            self.plan,
            &self.end,
            self.judgement.cut_short.as_ref(),
        );
        Value::Object(summary)
    }

    /// Formats the outcome for the console and for `summary.txt`: lost results first, then the criteria, then
    /// everything else. `width` is the width of the terminal in columns; `as_jmeter` is true for JMeter's command line.
    pub(crate) fn text(
        &self,
        (last, machines): (&LastWords, &Machines),
        (language, width): (Language, Option<usize>),
        as_jmeter: bool,
    ) -> String {
        let not_met = self.judgement.outcome() == criterion::Outcome::NotMet;
        let verdict = self.verdict();
        let parts = [
            last.text(),
            self.judgement.text_of(&self.summary, as_jmeter),
            verdict.map(|found| verdict::text(found, not_met, language, width)).unwrap_or_default(),
            self.starts.map(Starts::text).unwrap_or_default(),
            self.summary.text_within(width),
            self.cost.text(),
            if machines.is_empty() || !self.losses.is_empty() {
                lost::text(self.workers, self.losses)
            } else {
                machines.text()
            },
            machines.tables(width),
        ];
        terminal::visible(&parts.concat()).into_owned()
    }
}

/// Returns the settings of each watched JVM as JSON, by host.
fn machines_of(record: &Record) -> impl Iterator<Item = (String, Value)> {
    machines(record).into_iter().map(|one| (one.host.to_owned(), json!(one)))
}
