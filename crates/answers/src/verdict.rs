//! The verdict on a run: findings with their evidence, the rules that found nothing, and the rules that lacked data.

use serde::Serialize;

/// The strength of the evidence for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The kernel, the server or the plan reports the fact itself.
    Certain,
    /// The finding follows from counted metrics by arithmetic.
    Arithmetic,
    /// Two independent signs, each of them statistically significant.
    Statistical,
    /// A hint that should be checked.
    Hint,
}

/// The part of a test that a finding concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The finding is about the load generator or its machine, so measurements of the target are doubtful.
    Generator,
    /// The plan, or the length of the run.
    Test,
    /// The target, or the network path to it. Hidden while there is a finding about the generator, unless it is
    /// certain.
    Target,
    /// The run itself, whatever the cause is.
    Run,
}

/// A sentence in both languages of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Words {
    pub en: String,
    pub zh: String,
}

/// Language of the sentences in a report.
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

/// A metric that supports a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    pub metric: String,
    pub value: f64,
    pub unit: &'static str,
    /// 95 % interval of the value, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// Start of the part of the run that the metric covers, epoch ms.
    pub from_ms: i64,
    /// End of the part of the run that the metric covers, epoch ms.
    pub to_ms: i64,
}

/// A host or a number series that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A watched host.
    Host(String),
    /// A series of numbers in responses. The name is the user's.
    Series(String),
}

/// A finding: a statement about what limited or disturbed the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Id of the rule that reported the finding.
    pub id: &'static str,
    pub about: About,
    pub confidence: Confidence,
    /// The statement of the finding.
    pub words: Words,
    /// Metrics that support the finding.
    pub evidence: Vec<Evidence>,
    /// Causes that the same metrics rule out.
    pub exonerates: Vec<Words>,
    pub advice: Words,
    /// Command that prints the documentation of the rule: `throng explain ID`.
    pub doc: String,
    /// Rules whose findings are consequences of this finding. The verdict lists those findings after it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub explains: &'static [&'static str],
    /// Watched hosts or number series that the finding names.
    #[serde(skip)]
    pub subjects: Vec<Subject>,
}

impl Finding {
    /// Returns true if a finding about the generator makes this finding doubtful: it is about the target, and is based
    /// on metrics rather than on a message of the server or the kernel.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.about == About::Target && self.confidence != Confidence::Certain
    }
}

/// Source of data that a rule lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Data that each run of Throng records, and no result file contains.
    Run,
    /// Data that watched hosts report.
    Hosts,
    /// Another run: under a different load, or a longer one.
    Other,
}

/// A rule that lacks the data it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    pub id: &'static str,
    /// Subject of the rule in a few words.
    #[serde(skip)]
    pub looks_for: Words,
    /// The data that the rule needs and does not have.
    pub lacks: Words,
    #[serde(skip)]
    pub source: Source,
}

/// Results of all rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// Findings in the order of the rules, hints last. A finding that follows from another one is listed after it.
    pub findings: Vec<Finding>,
    /// Findings about the target that are not certain. They are hidden because there is a finding about the generator.
    pub hidden: Vec<Finding>,
    /// Ids of the rules that had their data and found nothing.
    pub silent: Vec<&'static str>,
    /// Rules that lack the data they need.
    pub unchecked: Vec<Unchecked>,
    /// Reason why the data do not decide whether something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Words>,
}

/// Returns the kind of data that a rule lacks, in words: the name of its source, or the name of the data itself.
fn kind_of(Unchecked { source, lacks, .. }: &Unchecked) -> Words {
    let (en, zh) = match source {
        Source::Run => (
            "data that throng run records and a result file does not contain",
            "throng run 记录而结果文件没有的数据",
        ),
        Source::Hosts => {
            ("figures of watched hosts (--watch NAME=URL)", "被监视主机的指标（--watch NAME=URL）")
        }
        Source::Other => {
            // The advice after a colon is put into parentheses, because readers would take text after a colon for the
            // list of rules.
            let aside = |text: &str, colon, open, close| match text.split_once(colon) {
                Some((what, how)) => format!("{what}{open}{how}{close}"),
                None => text.to_owned(),
            };
            return Words {
                en: aside(&lacks.en, ": ", " (", ")"),
                zh: aside(&lacks.zh, "：", "（", "）"),
            };
        }
    };
    Words { en: en.into(), zh: zh.into() }
}

impl Verdict {
    /// True if the generator or its machine limits what the run can show.
    pub fn doubts_generator(&self) -> bool {
        self.findings.iter().any(|finding| finding.about == About::Generator)
    }

    /// Returns one line for each kind of missing data, with the rules that need it; empty if no rule lacks data.
    pub fn lacking(&self) -> Vec<Words> {
        let mut groups: Vec<(Words, Vec<Words>)> = Vec::new();
        for one in &self.unchecked {
            let kind = kind_of(one);
            match groups.iter_mut().find(|group| group.0 == kind) {
                Some(group) => group.1.push(one.looks_for.clone()),
                None => groups.push((kind, vec![one.looks_for.clone()])),
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

    /// Returns the data that are missing to tell whether the load reached a limit of the target. `None` if a rule
    /// searched the limit, or if the answer is known: an open load that the target kept up with reached no limit.
    pub fn lacks_for_limit(&self) -> Option<&Words> {
        let one = self.unchecked.iter().find(|one| one.id == "concurrency_limit")?;
        (!self.silent.contains(&"queue_grows")).then_some(&one.lacks)
    }

    /// Removes a finding. Its rule then counts as one that found nothing.
    pub fn remove(&mut self, id: &'static str) {
        let before = self.findings.len() + self.hidden.len();
        self.findings.retain(|finding| finding.id != id);
        self.hidden.retain(|finding| finding.id != id);
        if self.findings.len() + self.hidden.len() < before {
            self.silent.push(id);
        }
    }

    /// Adds a finding to the verdict; its rule no longer counts as one that found nothing. `place` returns the position
    /// of a rule in the order of all rules.
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

/// Result of a rule on a record.
#[derive(Clone, Debug)]
pub enum Said {
    /// The rule had its data and found nothing.
    Nothing,
    /// The rule lacks data: their source, and a phrase that names them.
    Lacks(Source, Words),
    Found(Box<Finding>),
}

impl Said {
    /// Builds the result of a rule that lacks a load.
    pub(crate) fn lacks_load(lacks: Words) -> Self {
        Self::Lacks(Source::Other, lacks)
    }

    pub fn is_found(&self) -> bool {
        matches!(self, Self::Found(_))
    }
}

/// Returns true if `finding` is only a hint and `of` is not, because a hint does not explain a stronger finding.
fn is_guess(finding: &Finding, of: &Finding) -> bool {
    finding.confidence == Confidence::Hint && of.confidence != Confidence::Hint
}

/// Sorts findings: a finding follows the finding that explains it, and hints come last.
pub(crate) fn in_order(mut rest: Vec<Finding>) -> Vec<Finding> {
    let mut out = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let explained = |at: usize| {
            let id = rest[at].id;
            let explains = |f: &Finding| f.explains.contains(&id) && !is_guess(f, &rest[at]);
            rest.iter().enumerate().any(|(other, f)| other != at && explains(f))
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
