//! The verdict on a run: findings with their evidence, and the rules that found nothing or could not look.

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

/// The part of a test that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The generator or its machine: figures of the target are doubtful.
    Generator,
    /// The plan or the length of the run.
    Test,
    /// The target, or the way to it. Hidden while a finding about the generator stands, unless it is certain.
    Target,
    /// The run itself, whatever the cause.
    Run,
}

/// A sentence in the languages of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Words {
    pub en: String,
    pub zh: String,
}

/// A language of sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

impl Words {
    pub fn of(&self, language: Language) -> &str {
        match language {
            Language::English => &self.en,
            Language::Chinese => &self.zh,
        }
    }
}

/// A figure that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    pub metric: String,
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
    pub about: About,
    pub confidence: Confidence,
    pub words: Words,
    pub evidence: Vec<Evidence>,
    /// Causes that the same figures rule out.
    pub exonerates: Vec<Words>,
    pub advice: Words,
    /// Page of the documentation, with its heading.
    pub doc: String,
    /// Rules whose findings follow from this one: they stand behind it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub explains: &'static [&'static str],
}

impl Finding {
    /// Whether a generator in doubt makes it doubtful: what it says about the target rests on figures, not on words of the
    /// server or the kernel.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.about == About::Target && self.confidence != Confidence::Certain
    }
}

/// A rule that could not look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    pub id: &'static str,
    /// The rule's subject in a few words.
    #[serde(skip)]
    pub looks_for: Words,
    /// The data that it lacks.
    pub lacks: Words,
}

/// All that the rules had to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// In the order of the rules, hints last; a finding that follows from another stands behind it.
    pub findings: Vec<Finding>,
    /// Findings about the target that are not certain, held back because one about the generator stands.
    pub hidden: Vec<Finding>,
    /// Names of the rules that looked and found nothing.
    pub silent: Vec<&'static str>,
    pub unchecked: Vec<Unchecked>,
    /// The reason for which the data do not decide whether anything is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Words>,
}

/// Data that each run of Throng records, and no result file has.
const OF_RUNS: &[&str] = &[
    "20 answers kept with their phases",
    "completions of each 100 ms",
    "counters of TLS handshakes",
    "counters of connections",
    "figures of the generator",
    "figures of the generator's machine",
    "the labels that each address served",
    "the number of free ports",
    "the phases of requests",
    "the rate that was asked for",
    "times of connects",
];

/// The kind of data that a rule lacks: what a run records, what watched hosts tell, or the data themselves.
fn kind_of(lacks: &Words) -> Words {
    let (en, zh) = if OF_RUNS.contains(&&*lacks.en) {
        (
            "what throng run records and a result file does not have",
            "throng run 记录而结果文件没有的数据",
        )
    } else if lacks.en.contains("watched") {
        ("figures of watched hosts (--watch NAME=URL)", "被监控主机的指标（--watch NAME=URL）")
    } else {
        // The advice behind a colon would be taken for the rules.
        let aside = |text: &str, colon, open, close| match text.split_once(colon) {
            Some((what, how)) => format!("{what}{open}{how}{close}"),
            None => text.to_owned(),
        };
        return Words {
            en: aside(&lacks.en, ": ", " (", ")"),
            zh: aside(&lacks.zh, "：", "（", "）"),
        };
    };
    Words { en: en.into(), zh: zh.into() }
}

impl Verdict {
    /// Whether the generator or its machine limits what the run can show.
    pub fn doubts_generator(&self) -> bool {
        self.findings.iter().any(|finding| finding.about == About::Generator)
    }

    /// The rules that could not look, a line for each kind of data that is missing; empty where all looked.
    pub fn lacking(&self) -> Vec<Words> {
        let mut groups: Vec<(Words, Vec<Words>)> = Vec::new();
        for Unchecked { looks_for, lacks, .. } in &self.unchecked {
            let kind = kind_of(lacks);
            match groups.iter_mut().find(|group| group.0 == kind) {
                Some(group) => group.1.push(looks_for.clone()),
                None => groups.push((kind, vec![looks_for.clone()])),
            }
        }
        let list = |of: &[Words], text: fn(&Words) -> &str, between: &str| {
            of.iter().map(text).collect::<Vec<_>>().join(between)
        };
        let line = |(kind, subjects): &(Words, Vec<Words>)| Words {
            en: format!("needs {}: {}", kind.en, list(subjects, |words| &words.en, ", ")),
            zh: format!("需要{}：{}", kind.zh, list(subjects, |words| &words.zh, "、")),
        };
        groups.iter().map(line).collect()
    }

    /// The data that are missing to say whether the load reached a limit of the target; `None` where that was looked for, or
    /// known: an open load with which the target kept up reached none.
    pub fn lacks_for_limit(&self) -> Option<&Words> {
        let one = self.unchecked.iter().find(|one| one.id == "concurrency_limit")?;
        (!self.silent.contains(&"queue_grows")).then_some(&one.lacks)
    }

    /// Takes a finding back: its rule is one that found nothing.
    pub fn remove(&mut self, id: &'static str) {
        let before = self.findings.len() + self.hidden.len();
        self.findings.retain(|finding| finding.id != id);
        self.hidden.retain(|finding| finding.id != id);
        if self.findings.len() + self.hidden.len() < before {
            self.silent.push(id);
        }
    }

    /// Adds a finding of one of the rules that found nothing by itself. `place`: where a rule stands among all.
    pub fn add(&mut self, finding: Finding, place: impl Fn(&str) -> Option<usize>) {
        self.silent.retain(|id| *id != finding.id);
        self.unchecked.retain(|one| one.id != finding.id);
        let hide = self.doubts_generator() && finding.is_doubtful();
        let list = if hide { &mut self.hidden } else { &mut self.findings };
        list.push(finding);
        list.sort_by_key(|finding| place(finding.id));
        if !hide {
            self.findings = in_order(std::mem::take(&mut self.findings));
        }
    }
}

/// The word of a rule on a record.
#[derive(Clone, Debug)]
pub enum Said {
    Nothing,
    /// The data that it lacks.
    Lacks(Words),
    Found(Box<Finding>),
}

impl Said {
    pub fn is_found(&self) -> bool {
        matches!(self, Self::Found(_))
    }
}

/// Moves findings behind the one that explains them, and hints behind all others.
pub(crate) fn in_order(mut rest: Vec<Finding>) -> Vec<Finding> {
    let mut out = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let explained = |at: usize| {
            let id = rest[at].id;
            rest.iter().enumerate().any(|(other, f)| other != at && f.explains.contains(&id))
        };
        let first = |of: &dyn Fn(usize) -> bool| (0..rest.len()).find(|at| of(*at));
        let is_hint = |at: usize| rest[at].confidence == Confidence::Hint;
        let next = first(&|at| !explained(at) && !is_hint(at))
            .or_else(|| first(&|at| !explained(at)))
            .unwrap_or(0);
        out.push(rest.remove(next));
    }
    out
}
