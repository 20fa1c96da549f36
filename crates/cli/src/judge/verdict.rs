//! Formats the verdict on a run as text and as JSON.

use answers::lines::{Kind, Line, Scope, lines, title};
use answers::verdict::{Language, Verdict, Words};
use clap::ValueEnum;
use serde_json::Value;

/// Default width of the text in columns.
pub(crate) const WIDTH: usize = 120;
/// Indentation of one level.
const INDENT: &str = "  ";

/// A language of the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    En,
    Zh,
}

/// Returns the requested language, or the language of the environment.
pub(crate) fn language(asked: Option<Lang>) -> Language {
    let surroundings = || {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set).unwrap_or_default()
    };
    match asked {
        Some(Lang::En) => Language::English,
        Some(Lang::Zh) => Language::Chinese,
        None if surroundings().starts_with("zh") => Language::Chinese,
        None => Language::English,
    }
}

/// Returns the verdict as JSON.
pub(crate) fn data(verdict: &Verdict) -> Value {
    serde_json::to_value(verdict).unwrap_or_default()
}

/// Formats the verdict as text, followed by an empty line. `not_met` is true if the run has missed a criterion.
pub(crate) fn text(
    verdict: &Verdict,
    not_met: bool,
    language: Language,
    width: Option<usize>,
) -> String {
    let lines = lines(verdict, Scope::Run { not_met });
    let has_findings = !verdict.findings.is_empty();
    let is_shown =
        |line: &&Line| line.kind != Kind::Counts && !(has_findings && line.kind.is_check());
    let said = layout(lines.iter().filter(is_shown), language, width);
    format!("{}\n{said}\n", title().of(language))
}

/// Formats lines of a verdict as text.
pub(crate) fn layout<'l>(
    lines: impl IntoIterator<Item = &'l Line>,
    language: Language,
    width: Option<usize>,
) -> String {
    let width = width.unwrap_or(WIDTH).clamp(40, WIDTH);
    let rest = INDENT.repeat(2);
    let one = |line: &Line| {
        let words = line.words.of(language);
        match line.kind {
            Kind::Doubt | Kind::Undecided => {
                let (head, rest) = line.parts(language);
                wrapped(INDENT, &format!("{}{rest}", head.to_uppercase()), width)
            }
            Kind::Finding => {
                let tag = line.tag.as_ref().map_or("", |tag| tag.of(language));
                wrapped(INDENT, &format!("* {words} [{tag}]"), width)
            }
            Kind::Advice => wrapped(&rest, &format!("-> {words}"), width),
            Kind::NotTheCause | Kind::Explain => wrapped(&rest, words, width),
            Kind::Unchecked => {
                let item =
                    |item: &Words| wrapped(&rest, &format!("- {}", item.of(language)), width);
                wrapped(INDENT, words, width) + &line.items.iter().map(item).collect::<String>()
            }
            Kind::Nothing | Kind::Held | Kind::Counts | Kind::Checked => {
                wrapped(INDENT, words, width)
            }
        }
    };
    lines.into_iter().map(one).collect()
}

/// Wraps a string at a number of columns. Chinese has no spaces: a line can break after any character, and each is
/// two columns wide.
pub(crate) fn wrapped(indent: &str, text: &str, width: usize) -> String {
    let wide = |c: char| if c >= '\u{2e80}' { 2 } else { 1 };
    let (mut out, mut line, mut column) = (String::new(), String::new(), indent.len());
    let mut word = String::new();
    let mut place = |word: &mut String, line: &mut String, column: &mut usize| {
        let columns: usize = word.trim_end().chars().map(wide).sum();
        if *column + columns > width && !line.is_empty() {
            out.push_str(&format!("{indent}{}\n", line.trim_end()));
            line.clear();
            *column = indent.len();
        }
        *column += word.chars().map(wide).sum::<usize>();
        line.push_str(word);
        word.clear();
    };
    for c in text.chars() {
        word.push(c);
        if c == ' ' || wide(c) == 2 {
            place(&mut word, &mut line, &mut column);
        }
    }
    place(&mut word, &mut line, &mut column);
    out + &format!("{indent}{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use answers::rules;

    use super::*;

    #[test]
    fn lines_break_at_words_and_within_chinese() {
        assert_eq!(wrapped("  ", "one two three", 9), "  one two\n  three\n");
        assert_eq!(wrapped("", "一二三四", 4), "一二\n三四\n");
        assert_eq!(wrapped("", "abcdefgh ij", 4), "abcdefgh\nij\n");
    }

    #[test]
    fn a_run_without_findings_says_what_was_checked() {
        let mut verdict = rules::verdict(&record::Record::default());
        let undecided = text(&verdict, false, Language::English, Some(80));
        assert!(
            undecided.starts_with("Verdict\n  UNDECIDED: the run has no samples"),
            "{undecided}"
        );
        verdict.undecided = None;
        let english = text(&verdict, false, Language::English, Some(80));
        let first =
            "Verdict\n  No problem found. Whether the load reached a limit of the target was not\n";
        assert!(english.starts_with(first), "{english}");
        assert!(english.contains("checked: that needs 100 requests.\n  Checked: "), "{english}");
        assert!(english.contains("Not checked for lack of data:\n"), "{english}");
        assert!(english.lines().all(|line| line.len() <= 80), "{english}");
        let chinese = text(&verdict, false, Language::Chinese, None);
        assert!(
            chinese.starts_with("结论\n  没有发现异常。负载是否达到被测系统的极限未检查："),
            "{chinese}"
        );
    }
}
