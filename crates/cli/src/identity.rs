//! The identity part of `summary.json`: its schema, the program, the plan, and how the run ended.

use std::path::Path;

use answers::verdict::Words;
use record::Ending;
use serde_json::{Value, json};

/// The form of `summary.json`. The number grows when a field that was there goes or means something else.
pub(crate) const SCHEMA: &str = "throng-summary/2";

/// The reason for the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// All users have ended, by the plan.
    Completed,
    /// An element of the plan, or its action on a failed sample, has stopped the test.
    StoppedByPlan,
    /// Ctrl-C, a signal or JMeter's control port; at once, or letting samples finish.
    Interrupted { at_once: bool },
    /// A criterion of `--abort-if` ended it.
    Threshold(String),
    /// Something kept it from going on.
    Aborted(String),
}

impl End {
    /// The end as the record has it.
    pub(crate) fn recorded(&self) -> Ending {
        match self {
            Self::Completed => Ending::Completed,
            Self::StoppedByPlan => Ending::StoppedByPlan,
            Self::Interrupted { .. } => Ending::Interrupted,
            Self::Aborted(reason) | Self::Threshold(reason) => Ending::Aborted(reason.clone()),
        }
    }

    /// Why what criteria ask for is met by a part of the run alone: something kept the run from its end.
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

/// The summary's JSON with `schema`, `throng`, `plan` and `end`; with the reason for which errors cut the run short.
pub(crate) fn into_json(json: String, plan: &Path, end: &End, cut_short: Option<&Words>) -> String {
    let Ok(Value::Object(mut summary)) = serde_json::from_str(&json) else { return json };
    let reason = match end {
        End::Aborted(reason) | End::Threshold(reason) => Some(reason),
        _ => cut_short.map(|why| &why.en),
    };
    summary.insert("schema".into(), SCHEMA.into());
    summary.insert("throng".into(), env!("CARGO_PKG_VERSION").into());
    summary.insert("plan".into(), plan.display().to_string().into());
    summary.insert("end".into(), json!({ "how": end.word(), "reason": reason }));
    serde_json::to_string_pretty(&summary).unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_it_is_of() {
        let end = End::Aborted("no Java".into());
        let json = into_json("{\"requests\": 3}".into(), Path::new("a/plan.jmx"), &end, None);
        let value: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(value["schema"], SCHEMA);
        assert_eq!(value["plan"], "a/plan.jmx");
        assert_eq!(value["end"], json!({ "how": "aborted", "reason": "no Java" }));
        assert_eq!(
            (&value["requests"], &value["throng"]),
            (&3.into(), &env!("CARGO_PKG_VERSION").into())
        );
    }
}
