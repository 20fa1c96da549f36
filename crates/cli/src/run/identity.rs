//! The identity section of `summary.json`: its schema, the program, the plan, and the end of the run.

use std::path::Path;

use answers::verdict::Words;
use record::Ending;
use serde_json::{Map, Value, json};

/// Schema of `summary.json`. The number increases when a field is removed or changes its meaning.
pub(crate) const SCHEMA: &str = "throng-summary/2";

/// Reason for the end of a run, for the summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// All users have finished the plan.
    Completed,
    /// An element of the plan, or its action on a failed sample, has stopped the test.
    StoppedByPlan,
    /// Ctrl-C, a signal or JMeter's control port ended the run. `at_once` is false if samples in flight could finish.
    Interrupted { at_once: bool },
    /// A criterion of `--abort-if` ended the run.
    Threshold(String),
    /// An error prevented the run from continuing.
    Aborted(String),
}

impl End {
    /// Returns the reason for the run's end in the form of the record.
    pub(crate) fn recorded(&self) -> Ending {
        match self {
            Self::Completed => Ending::Completed,
            Self::StoppedByPlan => Ending::StoppedByPlan,
            Self::Interrupted { .. } => Ending::Interrupted,
            Self::Aborted(reason) | Self::Threshold(reason) => Ending::Aborted(reason.clone()),
        }
    }

    /// Returns the reason why criteria were judged on only part of the run. Returns `None` if the run was not cut
    /// short.
    pub(crate) fn early(&self) -> Option<Words> {
        let (en, zh) = match self {
            Self::Completed | Self::StoppedByPlan | Self::Threshold(_) => return None,
            Self::Interrupted { .. } => ("interrupted", "中断"),
            Self::Aborted(_) => ("aborted", "中止"),
        };
        Some(Words {
            en: format!("met so far; the run was {en} before its end"),
            zh: format!("目前满足；运行在结束前被{zh}"),
        })
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::StoppedByPlan => "stopped by the plan",
            Self::Interrupted { at_once: false } => "interrupted",
            Self::Interrupted { at_once: true } => "interrupted at once",
            Self::Threshold(_) => "ended by a criterion",
            Self::Aborted(_) => "aborted",
        }
    }
}

/// Adds `schema`, `throng`, `plan` and `end` to the summary's JSON, and the reason if errors cut the run short.
pub(crate) fn add_to_json(
    summary: &mut Map<String, Value>,
    plan: &Path,
    end: &End,
    cut_short: Option<&Words>,
) {
    let reason = match end {
        End::Aborted(reason) | End::Threshold(reason) => Some(reason),
        _ => cut_short.map(|why| &why.en),
    };
    summary.insert("schema".into(), SCHEMA.into());
    summary.insert("throng".into(), env!("CARGO_PKG_VERSION").into());
    summary.insert("plan".into(), plan.display().to_string().into());
    summary.insert("end".into(), json!({ "how": end.word(), "reason": reason }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_it_is_of() {
        let end = End::Aborted("no Java".into());
        let mut value = Map::from_iter([("requests".to_owned(), json!(3))]);
        add_to_json(&mut value, Path::new("a/plan.jmx"), &end, None);
        assert_eq!(value["schema"], SCHEMA);
        assert_eq!(value["plan"], "a/plan.jmx");
        assert_eq!(value["end"], json!({ "how": "aborted", "reason": "no Java" }));
        assert_eq!(
            (&value["requests"], &value["throng"]),
            (&3.into(), &env!("CARGO_PKG_VERSION").into())
        );
    }
}
