//! Summaries in Markdown for a pull request, a job's page or a chat: the verdict first, then criteria, numbers with
//! their intervals, labels.
//!
//! They are made from the same data as the pages. Long lists are cut, with the number of omitted entries, so that a
//! summary fits into a comment on GitHub (65 536 characters). They contain no HTML. Tables use GitHub's syntax,
//! which GitLab and others support, too.

mod answers;
mod comparison;
mod run;
mod text;

use answers_words::{About, Confidence, Language, Words};
use text::{code, sentence};

use crate::captions::nothing;
use crate::model::{Criterion, Finding, Verdict, words};

use ::answers::verdict as answers_words;

pub use self::answers::{capacity, sweep};
pub use comparison::comparison;
pub use run::run;

/// Longest name in characters. `SENTENCE` is the longest sentence.
const NAME: usize = 80;
const SENTENCE: usize = 600;
/// Longest list of rules that lacked data, in characters. The list names all such rules.
const LACKING: usize = 6000;
/// Largest numbers of findings, criteria and table rows in a summary.
const MOST_FINDINGS: usize = 5;
const MOST_CRITERIA: usize = 40;
const MOST_ROWS: usize = 20;

/// A summary that is being written.
#[derive(Debug)]
struct Page {
    out: String,
    language: Language,
}

/// Name of a table column, and true for a column of numbers.
type Head = (Words, bool);

impl Page {
    fn new(language: Language) -> Self {
        Self { out: String::new(), language }
    }

    fn of<'w>(&self, words: &'w Words) -> &'w str {
        words.of(self.language)
    }

    /// Returns the literal in the language of the summary.
    fn both(&self, en: &'static str, zh: &'static str) -> &'static str {
        match self.language {
            Language::English => en,
            Language::Chinese => zh,
        }
    }

    fn say(&self, words: &Words) -> String {
        sentence(self.of(words), SENTENCE)
    }

    /// Adds Markdown to the summary. Text from outside must be escaped before.
    fn add(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// Adds the title of the summary: a sign, the kind of the summary, its subject and the result.
    fn title(&mut self, sign: &str, kind: (&'static str, &'static str), of: &str, result: &str) {
        let kind = self.both(kind.0, kind.1);
        let colon = self.both(": ", "：");
        let of = code(of, NAME);
        let between = if result.is_empty() { "" } else { " – " };
        self.add(&format!("## {sign} {kind}{colon}{of}{between}{result}\n\n"));
    }

    fn heading(&mut self, en: &'static str, zh: &'static str) {
        let words = self.both(en, zh);
        self.add(&format!("### {words}\n\n"));
    }

    fn paragraph(&mut self, words: &Words) {
        let said = self.say(words);
        if !said.is_empty() {
            self.add(&format!("{said}\n\n"));
        }
    }

    /// Adds warnings about missing data.
    fn flaws(&mut self, flaws: &[Words]) {
        for flaw in flaws {
            let warning = self.both("**Warning:**", "**注意：**");
            self.add(&format!("{warning} {}\n\n", self.say(flaw)));
        }
    }

    /// Adds a list of at most `most` sentences.
    fn list<'w>(&mut self, all: impl ExactSizeIterator<Item = &'w Words>, most: usize) {
        let left = all.len().saturating_sub(most);
        let lines: Vec<String> =
            all.take(most).map(|words| format!("- {}\n", self.say(words))).collect();
        self.add(&lines.concat());
        if left > 0 {
            self.add(&format!("- {}\n", self.left_out(left)));
        }
        self.add("\n");
    }

    fn left_out(&self, n: usize) -> String {
        match self.language {
            Language::English => format!("{n} more are left out."),
            Language::Chinese => format!("另有 {n} 条未列出。"),
        }
    }

    /// Adds a table; cells are Markdown.
    fn table(&mut self, heads: &[Head], rows: impl IntoIterator<Item = Vec<String>>) {
        let names: Vec<String> = heads.iter().map(|(words, _)| self.say(words)).collect();
        self.row(&names);
        let rule = |(_, number): &Head| String::from(if *number { "---:" } else { "---" });
        let rules: Vec<String> = heads.iter().map(rule).collect();
        self.row(&rules);
        for row in rows {
            self.row(&row);
        }
        self.add("\n");
    }

    fn row(&mut self, cells: &[String]) {
        let line = format!("| {} |\n", cells.join(" | "));
        self.add(&line);
    }

    /// Adds the criteria with their values. `states` are the words for met, not met and undecided.
    fn criteria(&mut self, criteria: &[Criterion], states: [(&'static str, &'static str); 3]) {
        if criteria.is_empty() {
            return;
        }
        self.heading("Criteria", "判定标准");
        let heads = [
            (words("", ""), false),
            (words("Criterion", "标准"), false),
            (words("Value", "数值"), true),
        ];
        let one = |criterion: &Criterion| {
            let (sign, (en, zh)) = match criterion.met {
                Some(true) => ("✅", states[0]),
                Some(false) => ("❌", states[1]),
                None => ("⚪", states[2]),
            };
            let state = format!("{sign} {}", self.both(en, zh));
            let value = sentence(self.of(&criterion.shown), NAME);
            let reason = criterion.reason.as_ref().map(|reason| self.say(reason));
            let value = match reason {
                Some(reason) if value.is_empty() => reason,
                Some(reason) => format!("{value}: {reason}"),
                None => value,
            };
            vec![
                state,
                code(&criterion.text, 2 * NAME),
                if value.is_empty() { "–".into() } else { value },
            ]
        };
        // Criteria that are not met come first, so that they are never cut in favour of others.
        let mut order: Vec<&Criterion> = criteria.iter().collect();
        order.sort_by_key(|criterion| {
            [Some(false), None, Some(true)].iter().position(|met| *met == criterion.met)
        });
        let rows: Vec<Vec<String>> = order.into_iter().take(MOST_CRITERIA).map(one).collect();
        self.table(&heads, rows);
        if criteria.len() > MOST_CRITERIA {
            let left = self.left_out(criteria.len() - MOST_CRITERIA);
            self.add(&format!("{left}\n\n"));
        }
    }

    /// Adds the findings as sentences, or a sentence that there are none.
    fn verdict(&mut self, verdict: &Verdict, criteria: &[Criterion]) {
        self.heading("Verdict", "结论");
        if doubts_generator(verdict) {
            let words = self.both(
                "**The generator did not keep up, or its machine was the bottleneck: figures of the target are doubtful.**",
                "**负载机或其所在机器成为瓶颈：被测系统的数据不可信。**",
            );
            self.add(&format!("{words}\n\n"));
        }
        if let Some(reason) = &verdict.undecided {
            let (word, end) =
                (self.both("**Undecided**: ", "**无法判定**："), self.both(".", "。"));
            let said = self.say(reason);
            self.add(&format!("{word}{said}{end}\n\n"));
        }
        if verdict.findings.is_empty() {
            let (silent, unchecked) = (verdict.silent.len(), verdict.unchecked.len());
            let not_met = criteria.iter().any(|criterion| criterion.met == Some(false));
            let Words { en, zh } = match verdict.undecided {
                Some(_) => words("", ""),
                None => nothing(not_met, verdict.lacks_for_limit.as_ref()),
            };
            let en = if en.is_empty() { en } else { en + " " };
            self.paragraph(&words(
                format!("{en}{silent} causes looked for, {unchecked} not for want of data."),
                format!("{zh}已检查 {silent} 种原因，{unchecked} 种因缺少数据未检查。"),
            ));
            if unchecked > 0 {
                self.paragraph(&words("Not checked for want of data:", "缺少数据而未检查："));
                for lacking in &verdict.lacking {
                    let said = sentence(self.of(lacking), LACKING);
                    self.add(&format!("- {said}\n"));
                }
                self.add("\n");
            }
            return;
        }
        for finding in verdict.findings.iter().take(MOST_FINDINGS) {
            let said = self.finding(finding);
            self.add(&said);
        }
        let left = verdict.findings.len().saturating_sub(MOST_FINDINGS);
        if left > 0 {
            let words = self.left_out(left);
            self.add(&format!("- {words}\n"));
        }
        if !verdict.hidden.is_empty() {
            let n = verdict.hidden.len();
            let held = words(
                if n == 1 {
                    "One finding about the target is held back because of that.".to_owned()
                } else {
                    format!("{n} findings about the target are held back because of that.")
                },
                format!("因此暂不给出关于被测系统的 {n} 条结论。"),
            );
            let said = self.say(&held);
            self.add(&format!("- {said}\n"));
        }
        self.add("\n");
    }

    fn finding(&self, finding: &Finding) -> String {
        let (en, zh) = match (finding.about, finding.confidence) {
            (About::Generator, _) => ("generator", "负载机"),
            (_, Confidence::Certain) => ("certain", "确定"),
            (_, Confidence::Arithmetic) => ("arithmetic", "计算得出"),
            (_, Confidence::Statistical) => ("statistical", "统计得出"),
            (_, Confidence::Hint) => ("hint", "提示"),
        };
        let said = self.say(&finding.words);
        let advice = self.say(&finding.advice);
        let advice = if advice.is_empty() { advice } else { format!(" {advice}") };
        format!("- {said} *({})*{advice}\n", self.both(en, zh))
    }
}

fn doubts_generator(verdict: &Verdict) -> bool {
    verdict.findings.iter().any(|finding| finding.about == About::Generator)
}

/// Words for the states of a criterion that a run must meet.
const STATES: [(&str, &str); 3] =
    [("met", "达标"), ("not met", "未达标"), ("undecided", "无法判定")];

/// Returns the sign for all criteria and the number of criteria that are not met; `None` without criteria.
fn result(criteria: &[Criterion]) -> Option<(&'static str, Words)> {
    if criteria.is_empty() {
        return None;
    }
    let all = criteria.len();
    let broken = criteria.iter().filter(|criterion| criterion.met == Some(false)).count();
    let open = criteria.iter().filter(|criterion| criterion.met.is_none()).count();
    Some(match (broken, open) {
        (0, 0) => ("✅", words("all criteria met", "全部达标")),
        (0, _) => (
            "⚪",
            words(
                format!("{open} of {all} criteria undecided"),
                format!("{all} 项标准中 {open} 项无法判定"),
            ),
        ),
        _ => (
            "❌",
            words(
                format!("{broken} of {all} criteria not met"),
                format!("{all} 项标准中 {broken} 项未达标"),
            ),
        ),
    })
}
