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

use ::answers::lines::{Kind, Line, title};
use ::answers::verdict::{Language, Words};
use text::{code, sentence};

use crate::first::{Cell, Table};
use crate::model::{Criterion, Verdict, words};

pub use self::answers::{capacity, sweep};
pub use comparison::comparison;
pub use run::run;

/// Longest name in characters. Longer names are cut.
const NAME: usize = 80;
/// Longest sentence in characters. Longer sentences are cut.
const SENTENCE: usize = 600;
/// Longest list of rules that lacked data, in characters. The list names all such rules.
const LACKING: usize = 6000;
/// Largest number of findings in a summary.
const MOST_FINDINGS: usize = 5;
/// Largest number of criteria in a summary.
const MOST_CRITERIA: usize = 40;
/// Largest number of rows of a table in a summary.
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

    /// Adds a table of the first screen with its heading, at most `most` rows of it.
    fn shown(&mut self, of: &Table, most: usize) {
        self.add(&format!("### {}\n\n", self.of(&of.title)));
        let mut heads: Vec<Head> = Vec::new();
        for head in &of.heads {
            heads.push((head.words.clone(), head.is_number));
            if head.has_intervals {
                heads.push((words("95 % interval", "95 % 区间"), false));
            }
        }
        let row = |row: &Vec<Cell>| {
            let mut cells = Vec::new();
            for (head, cell) in of.heads.iter().zip(row) {
                cells.push(self.cell(cell));
                if head.has_intervals {
                    cells.push(cell.interval.clone().unwrap_or_else(|| "–".to_owned()));
                }
            }
            cells
        };
        let rows: Vec<Vec<String>> = of.rows.iter().take(most).map(row).collect();
        self.table(&heads, rows);
        if of.rows.len() > most {
            let left = self.left_out(of.rows.len() - most);
            self.add(&format!("{left}\n\n"));
        }
    }

    fn cell(&self, of: &Cell) -> String {
        let text = self.of(&of.text);
        let shown = match text {
            "" => String::new(),
            name if of.is_name => code(name, NAME),
            number if of.value.is_some() => number.replace('<', "&lt;"),
            text => sentence(text, SENTENCE),
        };
        let tag = |tag: &Words| match self.language {
            Language::English => format!(" ({})", tag.en),
            Language::Chinese => format!("（{}）", tag.zh),
        };
        match (of.is_thin, of.sign) {
            (true, _) => format!("({shown})"),
            (false, "") => shown + &of.tags.iter().map(tag).collect::<String>(),
            (false, sign) => format!("{sign} {shown}"),
        }
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

    fn verdict_heading(&mut self) {
        let title = title();
        self.add(&format!("### {}\n\n", self.of(&title)));
    }

    /// Adds the lines of the verdict.
    fn verdict(&mut self, verdict: &Verdict) {
        self.verdict_heading();
        let (lines, left, after) = verdict.short(MOST_FINDINGS);
        let said = |lines: &[&Line]| lines.iter().map(|line| self.line(line)).collect::<String>();
        let left = if left > 0 { format!("- {}\n", self.left_out(left)) } else { String::new() };
        let all = [said(&lines), left, said(&after)].concat();
        self.add(&all);
        if !verdict.findings.is_empty() {
            self.add("\n");
        }
    }

    /// Renders a line of the verdict.
    fn line(&self, line: &Line) -> String {
        let said = self.say(&line.words);
        match line.kind {
            Kind::Doubt => format!("**{said}**\n\n"),
            Kind::Undecided => {
                let head = self.of(&line.head);
                let rest = said.strip_prefix(head).unwrap_or_default();
                format!("**{head}**{rest}\n\n")
            }
            // The numbers of rules follow in the same paragraph.
            Kind::Nothing => said + self.both(" ", ""),
            Kind::Finding => {
                let tag = line.tag.as_ref().map_or("", |tag| self.of(tag));
                format!("- {said} *({tag})*")
            }
            Kind::Advice => format!(" {said}"),
            Kind::Held => format!("- {said}\n"),
            Kind::Counts => format!("{said}\n\n"),
            Kind::Unchecked => {
                let item = |item: &Words| format!("- {}\n", sentence(self.of(item), LACKING));
                format!("{said}\n\n{}\n", line.items.iter().map(item).collect::<String>())
            }
            // The last line of a finding.
            Kind::Explain => "\n".to_owned(),
            // A summary is short.
            Kind::NotTheCause | Kind::Checked => String::new(),
        }
    }
}

fn doubts_generator(verdict: &Verdict) -> bool {
    verdict.has(Kind::Doubt)
}

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
