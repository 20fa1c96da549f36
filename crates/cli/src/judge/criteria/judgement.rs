//! The judgement of a run's criteria. The console, `summary.json`, JUnit, reports and the exit code are all based
//! on this value.

use answers::criterion::{Judged, Outcome, Source};
use answers::verdict::Words;
use serde_json::{Map, Value, json};
use stats::grouped::things;
use stats::summary::Summary;

use crate::exit::Exit;

/// Judgement of a run by its criteria.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Judgement {
    /// Results of the criteria that the run must meet.
    pub(crate) judged: Vec<Judged>,
    /// The criterion that ended the run, with the value at that moment.
    pub(crate) aborted: Option<Judged>,
    /// Criteria that could have ended the run but had no data to judge. All of them are undecided.
    pub(crate) unguarded: Vec<Judged>,
    /// Reason why the run has no samples. `None` if it has samples.
    pub(crate) without_samples: Option<&'static str>,
    /// Set if errors ended the run, or many of its users, before the load was complete. Contains the reason.
    pub(crate) cut_short: Option<Words>,
}

impl Judgement {
    /// Returns the worst outcome of all criteria.
    pub(crate) fn outcome(&self) -> Outcome {
        let has = |outcome| self.all().any(|judged| judged.outcome == outcome);
        if self.aborted.is_some() || has(Outcome::NotMet) {
            Outcome::NotMet
        } else if has(Outcome::Undecided) {
            Outcome::Undecided
        } else {
            Outcome::Met
        }
    }

    /// Returns the exit code for the outcome of the criteria.
    pub(crate) fn exit(&self) -> Exit {
        match self.outcome() {
            Outcome::Met => Exit::Ok,
            Outcome::NotMet => Exit::Criteria,
            Outcome::Undecided => Exit::Undecided,
        }
    }

    /// Returns all criteria that did not end the run.
    fn all(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().chain(&self.unguarded)
    }

    /// Returns a line for each criterion that is missed or undecided.
    pub(crate) fn missed(&self) -> impl Iterator<Item = String> {
        let of = |judged: &Judged| format!("{}: {}", label(judged.outcome), words(judged));
        let missed = self.all().filter(|judged| judged.outcome != Outcome::Met).map(of);
        let ended = |judged: &Judged| format!("a criterion ended the run: {}", words(judged));
        self.aborted.as_ref().map(ended).into_iter().chain(missed)
    }

    /// Formats the criteria with their values. Returns a warning instead if the run has no criteria, and every request
    /// failed or every transaction failed by its own assertions. `as_jmeter` is true if the run was started with the
    /// options of JMeter's command line, which has no criteria.
    pub(crate) fn text_of(&self, summary: &Summary, as_jmeter: bool) -> String {
        if !self.is_empty() {
            return self.text();
        }
        let (own, transactions) =
            (summary.transactions_failed_by_own_assertions, summary.transactions);
        let what = if summary.requests > 0 && summary.failed >= summary.requests {
            format!("EVERY REQUEST FAILED ({})", things(summary.requests, "request"))
        } else if transactions > 0 && own >= transactions {
            let n = things(transactions, "transaction");
            format!("EVERY TRANSACTION FAILED BY ITS OWN ASSERTIONS ({n})")
        } else {
            return String::new();
        };
        let how = if as_jmeter {
            "as in JMeter"
        } else {
            "no criterion was given, and --fail 'error% < 1' makes it 4"
        };
        format!("{what}. The exit code does not say so: {how}.\n\n")
    }

    fn is_empty(&self) -> bool {
        self.aborted.is_none() && self.all().next().is_none()
    }

    /// Formats the criteria with their values. Returns an empty string without criteria.
    fn text(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut out = String::from("Criteria\n");
        if let Some(aborted) = &self.aborted {
            out.push_str(&format!("  ENDED THE RUN  {}\n", words(aborted)));
        }
        let is_wide = self.all().any(|judged| judged.outcome == Outcome::Undecided);
        let width = if is_wide { 9 } else { 7 };
        let line = |judged: &Judged, before: &str| {
            let word = label(judged.outcome);
            format!("  {word:width$}  {before}{}\n", words(judged))
        };
        out.extend(self.judged.iter().map(|judged| line(judged, "")));
        out.extend(self.unguarded.iter().map(|judged| line(judged, "abort if ")));
        out.push('\n');
        out
    }

    /// Adds `criteria` to the summary's JSON if there are criteria.
    pub(crate) fn add_to_json(&self, summary: &mut Map<String, Value>) {
        if self.is_empty() {
            return;
        }
        let list = |all: &[Judged]| all.iter().map(data).collect::<Vec<_>>();
        let outcome = self.outcome();
        let value = json!({
            "passed": outcome == Outcome::Met,
            "outcome": outcome.word(),
            "judged": list(&self.judged),
            "unguarded": list(&self.unguarded),
            "ended_by": self.aborted.as_ref().map(data),
        });
        summary.insert("criteria".into(), value);
    }
}

fn data(judged: &Judged) -> Value {
    let mut value = json!({
        "criterion": judged.criterion.to_string(),
        "label": judged.criterion.label.as_deref().map(record::mask::urls),
        "value": judged.value,
        "shown": judged.criterion.shown(judged.value),
        "holds": judged.outcome.is_met(),
        "outcome": judged.outcome.word(),
        "reason": judged.reason,
    });
    if judged.source != Source::Requests && judged.value.is_some() {
        value["of"] = json!(judged.of_transactions());
    }
    value
}

/// Returns the word for an outcome on the console.
fn label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Met => "met",
        Outcome::NotMet => "NOT MET",
        Outcome::Undecided => "UNDECIDED",
    }
}

/// Formats a criterion with its value.
pub(crate) fn words(judged: &Judged) -> String {
    format!("{}: {}", judged.criterion, judged.shown())
}
