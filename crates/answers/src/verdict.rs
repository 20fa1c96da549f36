//! The verdict on a run: findings with their evidence, and the rules that found nothing or could not look.

use std::sync::Arc;

use record::Record;
use serde::Serialize;

/// How much a finding rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The kernel, the server or the plan said it.
    Certain,
    /// It follows from counted figures by arithmetic.
    Arithmetic,
    /// Two independent signs, each beyond chance.
    Statistical,
    /// Worth a look.
    Hint,
}

/// A sentence in the languages of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Words {
    pub en: String,
    pub zh: String,
}

/// A figure that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    pub metric: Arc<str>,
    pub value: f64,
    pub unit: &'static str,
    /// 95 % interval of the value, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The part of the run that it is about, epoch ms.
    pub from_ms: i64,
    pub to_ms: i64,
}

/// An answer to "what stopped it".
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the rule.
    pub id: &'static str,
    pub confidence: Confidence,
    pub words: Words,
    pub evidence: Vec<Evidence>,
    /// Causes that the same figures rule out.
    pub exonerates: Vec<Words>,
    pub advice: Words,
    /// Page of the documentation, with its heading.
    pub doc: &'static str,
}

/// All that the rules had to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// In the order of the rules.
    pub findings: Vec<Finding>,
    /// Findings about the target, held back because one about the generator speaks.
    pub hidden: Vec<Finding>,
    /// Names of the rules that looked and found nothing.
    pub silent: Vec<&'static str>,
    /// Names of the rules that could not look, and what they lacked.
    pub unchecked: Vec<(&'static str, &'static str)>,
}

/// The word of a rule on a record.
#[derive(Clone, Debug)]
pub enum Said {
    Nothing,
    /// The data that it lacks.
    Lacks(&'static str),
    Found(Box<Finding>),
}

/// A rule: a pure function of a record.
#[derive(Clone, Copy)]
pub struct Rule {
    pub id: &'static str,
    /// Whether it speaks of the generator, so that rules about the target are silent beside it.
    pub generator: bool,
    pub judge: fn(&Record) -> Said,
}

/// Applies rules in their order.
pub fn verdict(record: &Record, rules: &[Rule]) -> Verdict {
    let mut verdict = Verdict::default();
    let mut of_target = Vec::new();
    let mut generator_speaks = false;
    for rule in rules {
        match (rule.judge)(record) {
            Said::Nothing => verdict.silent.push(rule.id),
            Said::Lacks(what) => verdict.unchecked.push((rule.id, what)),
            Said::Found(finding) => {
                generator_speaks |= rule.generator;
                of_target.push((rule.generator, *finding));
            }
        }
    }
    for (generator, finding) in of_target {
        let list = if generator || !generator_speaks {
            &mut verdict.findings
        } else {
            &mut verdict.hidden
        };
        list.push(finding);
    }
    verdict
}
