//! The lines of a verdict in English and Chinese. The console, the pages and the summaries only lay them out.

use serde::Serialize;

use crate::rules;
use crate::verdict::{About, Confidence, Finding, Language, Verdict, Words};

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The generator did not keep up, so that figures are doubtful.
    Doubt,
    /// The data do not decide whether something is wrong; with the reason.
    Undecided,
    /// There are no findings.
    Nothing,
    /// A finding. The `Advice`, `NotTheCause` and `Explain` lines after it belong to it.
    Finding,
    /// Advice about the finding.
    Advice,
    /// Causes that the finding rules out.
    NotTheCause,
    /// Command that explains the rule of the finding.
    Explain,
    /// Findings about the target that are not shown while the generator is in doubt.
    Held,
    /// Numbers of rules that found nothing and of rules that lacked data.
    Counts,
    /// Subjects of the rules that found nothing.
    Checked,
    /// Rules that lacked data, grouped by the missing data.
    Unchecked,
}

impl Kind {
    /// True if the line belongs to a finding.
    pub fn is_of_finding(self) -> bool {
        matches!(self, Self::Finding | Self::Advice | Self::NotTheCause | Self::Explain)
    }

    /// True if the line tells what was checked. Short layouts show these lines only for a verdict without findings.
    pub fn is_check(self) -> bool {
        matches!(self, Self::Counts | Self::Checked | Self::Unchecked)
    }
}

/// A line of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    pub kind: Kind,
    /// The beginning of `words` that layouts may emphasize; empty if there is none.
    pub head: Words,
    /// The whole text of the line; for the kind `Unchecked`, without its items.
    pub words: Words,
    /// Elements of a list. `words` contains them too, except for the kind `Unchecked`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Words>,
    /// Strength of a finding's evidence, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Words>,
}

impl Line {
    fn new(kind: Kind, words: Words) -> Self {
        Self { kind, head: both("", ""), words, items: Vec::new(), tag: None }
    }

    /// Builds a line of a head and a text after it.
    fn headed(kind: Kind, head: Words, rest: &Words) -> Self {
        let words = both(head.en.clone() + &rest.en, head.zh.clone() + &rest.zh);
        Self { head, ..Self::new(kind, words) }
    }

    /// Builds a line of a head and a list after it. `en`, `zh`: separators between the items in each language.
    fn list(kind: Kind, head: Words, items: Vec<Words>, en: &str, zh: &str) -> Self {
        let text = |of: fn(&Words) -> &str, between: &str| {
            items.iter().map(of).collect::<Vec<_>>().join(between)
        };
        let en = format!(": {}.", text(|words| &words.en, en));
        let zh = format!("：{}。", text(|words| &words.zh, zh));
        Self { items, ..Self::headed(kind, head, &both(en, zh)) }
    }

    /// Returns the head and the rest of the line in a language.
    pub fn parts(&self, language: Language) -> (&str, &str) {
        let words = self.words.of(language);
        words.split_at(self.head.of(language).len().min(words.len()))
    }
}

/// Subject of a verdict, and further facts on which the verdict's lines depend.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// A run that has ended.
    Run {
        /// True if the run missed a criterion: its verdict does not say "No problem found".
        not_met: bool,
    },
    /// The run that decided a capacity search.
    Search {
        /// True if a load above the capacity did not hold.
        is_limited: bool,
    },
    /// The points of a sweep. Some of them may be doubtful and others not.
    Points,
    /// A running test.
    Live {
        /// True if the rules could not find anything yet.
        is_early: bool,
        /// True if a criterion is not met so far, or the CPU quota limits the generator.
        is_red: bool,
    },
}

fn both(en: impl Into<String>, zh: impl Into<String>) -> Words {
    Words { en: en.into(), zh: zh.into() }
}

/// Returns the heading of a verdict.
pub fn title() -> Words {
    both("Verdict", "结论")
}

/// Returns all lines of a verdict in their order. A layout may leave out findings in the middle, and lines about checks
/// at the end.
pub fn lines(verdict: &Verdict, scope: Scope) -> Vec<Line> {
    let mut out = Vec::new();
    if verdict.doubts_generator() {
        out.push(doubt(scope));
    }
    match &verdict.undecided {
        Some(reason) => out.push(undecided(reason)),
        None if verdict.findings.is_empty() => {
            out.push(Line::new(Kind::Nothing, nothing(verdict, scope)));
        }
        None => {}
    }
    out.extend(verdict.findings.iter().flat_map(finding));
    if !verdict.hidden.is_empty() {
        out.push(Line::new(Kind::Held, held(&verdict.hidden)));
    }
    out.push(Line::new(Kind::Counts, counts(verdict)));
    if !verdict.silent.is_empty() {
        let subject = |id: &&'static str| rules::looks_for(id).unwrap_or_else(|| both(*id, *id));
        let subjects = verdict.silent.iter().map(subject).collect();
        let head = both("Checked", "已检查");
        out.push(Line::list(Kind::Checked, head, subjects, ", ", "、"));
    }
    if !verdict.unchecked.is_empty() {
        let head = both("Not checked for lack of data", "缺少数据而未检查");
        let items = verdict.lacking();
        out.push(Line { items, ..Line::headed(Kind::Unchecked, head, &both(":", "：")) });
    }
    out
}

/// Returns the sentence that stands for a verdict without findings in a list of runs. `reason` says why the run is
/// undecided, if it is.
pub fn without_findings(reason: Option<&Words>, not_met: bool) -> Words {
    match reason {
        Some(reason) => undecided(reason).words,
        None => nothing(&Verdict::default(), Scope::Run { not_met }),
    }
}

/// Returns the lines of a finding.
pub fn finding(of: &Finding) -> Vec<Line> {
    let tag = if of.about == About::Generator { of.about.words() } else { of.confidence.words() };
    let mut out = vec![Line { tag: Some(tag), ..Line::new(Kind::Finding, of.words.clone()) }];
    if !of.advice.en.is_empty() {
        out.push(Line::new(Kind::Advice, of.advice.clone()));
    }
    if !of.exonerates.is_empty() {
        let head = both("Not the cause", "不是原因");
        out.push(Line::list(Kind::NotTheCause, head, of.exonerates.clone(), "; ", "；"));
    }
    out.push(Line::new(Kind::Explain, both(&*of.doc, &*of.doc)));
    out
}

/// Returns the text for a running test of which the rules could not find anything yet.
pub fn too_early() -> Words {
    both("Too early to say.", "现在下结论为时过早。")
}

fn doubt(scope: Scope) -> Line {
    let head = both("The generator did not keep up", "负载机或其所在机器成为瓶颈");
    let rest = both(
        ", or its machine was the bottleneck: figures of the target are doubtful.",
        "：被测系统的数据不可信。",
    );
    match scope {
        Scope::Run { .. } | Scope::Search { .. } | Scope::Live { .. } => {
            Line::headed(Kind::Doubt, head, &rest)
        }
        Scope::Points => {
            let head = both(
                "At some points the generator did not keep up",
                "在部分测点，负载机或其所在机器成为瓶颈",
            );
            let rest = both(
                ", or its machine was the bottleneck: figures of those points are doubtful.",
                "：这些测点的数据不可信。",
            );
            Line::headed(Kind::Doubt, head, &rest)
        }
    }
}

fn undecided(reason: &Words) -> Line {
    let rest = both(format!(": {}.", reason.en), format!("：{}。", reason.zh));
    Line::headed(Kind::Undecided, both("Undecided", "无法判定"), &rest)
}

/// Returns the text for a verdict without findings. Beside a criterion that is not met, it does not say "No problem
/// found".
fn nothing(verdict: &Verdict, scope: Scope) -> Words {
    let (silent, unchecked) = (verdict.silent.len(), verdict.unchecked.len());
    match scope {
        Scope::Live { is_early: true, .. } => too_early(),
        Scope::Live { is_red: true, .. } => both(
            "Not all checks are green; no cause found so far.",
            "并非所有检查都为绿色，目前尚未找到原因。",
        ),
        Scope::Live { .. } => both(
            format!(
                "No problem found so far: {silent} causes looked for, {unchecked} not checked yet."
            ),
            format!("目前没有发现异常：已检查 {silent} 种原因，{unchecked} 种尚未检查。"),
        ),
        Scope::Run { not_met: true } => both(
            "No cause was found for the criteria that are not met.",
            "未找到判定标准未达标的原因。",
        ),
        Scope::Search { is_limited: true } => {
            both("No cause of the limit was found.", "未找到容量受限的原因。")
        }
        // The search itself looked for a limit.
        Scope::Search { is_limited: false } => both("No problem found.", "没有发现异常。"),
        Scope::Run { .. } | Scope::Points => {
            let (en, zh) = match verdict.lacks_for_limit() {
                None => (String::new(), String::new()),
                Some(Words { en, zh }) => (
                    format!(
                        " Whether the load reached a limit of the target was not checked: that needs {en}."
                    ),
                    format!("负载是否达到被测系统的极限未检查：这需要{zh}。"),
                ),
            };
            both(format!("No problem found.{en}"), format!("没有发现异常。{zh}"))
        }
    }
}

/// Returns the line about findings that are not shown, with the names of their rules.
fn held(hidden: &[Finding]) -> Words {
    let n = hidden.len();
    let ids: Vec<&str> = hidden.iter().map(|finding| finding.id).collect();
    let (findings, are) = if n == 1 { ("finding", "is") } else { ("findings", "are") };
    both(
        format!(
            "{n} {findings} about the target {are} held back while the generator is in doubt: {}.",
            ids.join(", ")
        ),
        format!("负载机存疑，暂不给出关于被测系统的 {n} 条结论：{}。", ids.join("、")),
    )
}

fn counts(verdict: &Verdict) -> Words {
    let (silent, unchecked) = (verdict.silent.len(), verdict.unchecked.len());
    both(
        format!("{silent} causes looked for, {unchecked} not checked for lack of data."),
        format!("已检查 {silent} 种原因，{unchecked} 种因缺少数据未检查。"),
    )
}

impl Confidence {
    /// Returns the confidence as a word for readers.
    pub fn words(self) -> Words {
        match self {
            Self::Certain => both("certain", "确定"),
            Self::Arithmetic => both("arithmetic", "计算得出"),
            Self::Statistical => both("statistical", "统计得出"),
            Self::Hint => both("hint", "提示"),
        }
    }
}

impl About {
    /// Returns the part of the test as a word for readers.
    pub fn words(self) -> Words {
        match self {
            Self::Generator => both("generator", "负载机"),
            Self::Test => both("test", "测试本身"),
            Self::Target => both("target", "被测系统"),
            Self::Run => both("run", "本次运行"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::say::found;
    use crate::verdict::{Source, Unchecked};

    const CALM: Scope = Scope::Run { not_met: false };

    fn of(findings: Vec<Finding>, hidden: Vec<Finding>) -> Verdict {
        Verdict { findings, hidden, silent: vec!["ports", "tls_cost"], ..Verdict::default() }
    }

    fn kinds(lines: &[Line]) -> Vec<Kind> {
        lines.iter().map(|line| line.kind).collect()
    }

    fn text(verdict: &Verdict, kind: Kind, scope: Scope) -> (String, String) {
        let found = lines(verdict, scope).into_iter().find(|line| line.kind == kind);
        found.map(|line| (line.words.en, line.words.zh)).unwrap_or_default()
    }

    #[test]
    fn lines_come_in_their_order_and_findings_have_theirs() {
        let told =
            found("machine_busy", About::Generator, Confidence::Arithmetic, both("A.", "甲。"))
                .advise(both("Wait.", "等待。"))
                .rules_out(both("x", "子"))
                .rules_out(both("y", "丑"));
        let hint = found("drift", About::Run, Confidence::Hint, both("B.", "乙。"));
        let held = found("plateau", About::Target, Confidence::Statistical, both("C.", "丙。"));
        let verdict = of(vec![told, hint], vec![held]);
        let all = lines(&verdict, CALM);
        let (finding, explain) = (Kind::Finding, Kind::Explain);
        let expected = [Kind::Doubt, finding, Kind::Advice, Kind::NotTheCause, explain];
        let after = [finding, explain, Kind::Held, Kind::Counts, Kind::Checked];
        assert_eq!(kinds(&all), [expected, after].concat());
        let tags: Vec<_> = all.iter().filter_map(|line| line.tag.as_ref()).collect();
        assert_eq!(tags, [&both("generator", "负载机"), &both("hint", "提示")]);
        assert_eq!(all[3].words, both("Not the cause: x; y.", "不是原因：子；丑。"));
        assert_eq!(all[3].parts(Language::English), ("Not the cause", ": x; y."));
        let (en, zh) = text(&verdict, Kind::Held, CALM);
        assert_eq!(
            en,
            "1 finding about the target is held back while the generator is in doubt: plateau."
        );
        assert_eq!(zh, "负载机存疑，暂不给出关于被测系统的 1 条结论：plateau。");
        assert_eq!(
            text(&verdict, Kind::Checked, CALM),
            (
                "Checked: local ports that run out, the cost of TLS handshakes.".into(),
                "已检查：本地端口用尽、TLS 握手的开销。".into()
            )
        );
        let doubt = text(&verdict, Kind::Doubt, Scope::Points).0;
        assert!(doubt.starts_with("At some points the generator did not keep up, or"), "{doubt}");
    }

    #[test]
    fn a_verdict_without_findings_says_so_as_far_as_that_is_known() {
        let mut verdict = of(Vec::new(), Vec::new());
        let nothing = |verdict: &Verdict, scope| text(verdict, Kind::Nothing, scope).0;
        assert_eq!(nothing(&verdict, CALM), "No problem found.");
        assert_eq!(nothing(&verdict, Scope::Points), "No problem found.");
        let search = |is_limited| Scope::Search { is_limited };
        assert_eq!(nothing(&verdict, search(false)), "No problem found.");
        assert_eq!(nothing(&verdict, search(true)), "No cause of the limit was found.");
        let not_met = Scope::Run { not_met: true };
        assert!(nothing(&verdict, not_met).starts_with("No cause was found for the criteria"));
        for (is_early, is_red, words) in [
            (true, true, "Too early to say."),
            (true, false, "Too early to say."),
            (false, true, "Not all checks are green; no cause found so far."),
            (false, false, "No problem found so far: 2 causes looked for, 0 not checked yet."),
        ] {
            assert_eq!(nothing(&verdict, Scope::Live { is_early, is_red }), words);
        }
        verdict.unchecked.push(Unchecked {
            id: "concurrency_limit",
            looks_for: both("a limit", "上限"),
            lacks: both("a light load", "轻负载"),
            source: Source::Other,
        });
        assert!(nothing(&verdict, CALM).ends_with("was not checked: that needs a light load."));
        assert_eq!(nothing(&verdict, search(false)), "No problem found.");
        verdict.unchecked.clear();
        verdict.undecided = Some(both("no samples", "没有样本"));
        let expected = [Kind::Undecided, Kind::Counts, Kind::Checked];
        assert_eq!(kinds(&lines(&verdict, not_met)), expected);
        assert_eq!(
            text(&verdict, Kind::Undecided, CALM),
            ("Undecided: no samples.".into(), "无法判定：没有样本。".into())
        );
    }

    #[test]
    fn a_list_of_runs_has_one_sentence_without_findings() {
        let reason = both("no samples", "没有样本");
        assert_eq!(without_findings(Some(&reason), true).en, "Undecided: no samples.");
        assert_eq!(without_findings(None, false).en, "No problem found.");
        assert!(without_findings(None, true).en.starts_with("No cause was found"));
    }
}
