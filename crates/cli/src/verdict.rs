//! Formats the verdict on a run as text and as JSON.

pub(crate) mod verb;

use answers::rules;
use answers::verdict::{About, Confidence, Finding, Language, Verdict};
use serde_json::Value;

use crate::flags::Lang;

/// Default width of the text in columns.
pub(crate) const WIDTH: usize = 120;
const INDENT: &str = "  ";

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

/// Formats the verdict as text, followed by an empty line.
pub(crate) fn text(verdict: &Verdict, language: Language, width: Option<usize>) -> String {
    text_beside(verdict, false, language, width)
}

/// Formats the verdict as text. `not_met` is true if the run has missed a criterion.
pub(crate) fn text_beside(
    verdict: &Verdict,
    not_met: bool,
    language: Language,
    width: Option<usize>,
) -> String {
    let zh = language == Language::Chinese;
    let width = width.unwrap_or(WIDTH).clamp(40, WIDTH);
    let mut out = String::from(if zh { "结论\n" } else { "Verdict\n" });
    let mut line = |indent: &str, text: &str| out.push_str(&wrapped(indent, text, width));
    if verdict.doubts_generator() {
        let words = if zh {
            "负载机或其所在机器成为瓶颈：以下关于被测系统的数据不可信。"
        } else {
            "THE GENERATOR DID NOT KEEP UP, or its machine was the bottleneck: these results are doubtful."
        };
        line(INDENT, words);
    }
    if let Some(words) = &verdict.undecided {
        let (word, end) = if zh { ("无法判定：", "。") } else { ("UNDECIDED: ", ".") };
        line(INDENT, &format!("{word}{}{end}", words.of(language)));
    }
    for finding in &verdict.findings {
        out.push_str(&told(finding, "", language, width));
    }
    let mut line = |indent: &str, text: &str| out.push_str(&wrapped(indent, text, width));
    if verdict.findings.is_empty() {
        if verdict.undecided.is_none() {
            line(
                INDENT,
                ::report::captions::nothing(not_met, verdict.lacks_for_limit()).of(language),
            );
        }
        let names = |ids: &mut dyn Iterator<Item = &'static str>| {
            let words = ids.filter_map(rules::looks_for).map(|words| words.of(language).to_owned());
            words.collect::<Vec<_>>().join(if zh { "、" } else { ", " })
        };
        let checked = names(&mut verdict.silent.iter().copied());
        line(INDENT, &format!("{}{checked}.", if zh { "已检查：" } else { "Checked: " }));
        if !verdict.unchecked.is_empty() {
            line(INDENT, if zh { "缺少数据而未检查：" } else { "Not checked for want of data:" });
            let rest = INDENT.to_owned() + INDENT;
            for lacking in verdict.lacking() {
                line(&rest, &format!("- {}", lacking.of(language)));
            }
        }
    }
    if !verdict.hidden.is_empty() {
        let ids: Vec<&str> = verdict.hidden.iter().map(|finding| finding.id).collect();
        let ids = ids.join(", ");
        let words = if zh {
            format!("关于被测系统的结论因此暂不给出：{ids}")
        } else {
            format!("Not shown while the generator is in doubt: {ids}")
        };
        line(INDENT, &words);
    }
    out.push('\n');
    out
}

/// Formats a finding as text. `at` names the place of the finding if it is not obvious.
pub(crate) fn told(finding: &Finding, at: &str, language: Language, width: usize) -> String {
    let zh = language == Language::Chinese;
    let mut out = String::new();
    let mut line = |indent: &str, text: &str| out.push_str(&wrapped(indent, text, width));
    let rest = INDENT.to_owned() + INDENT;
    let words = finding.words.of(language);
    line(INDENT, &format!("* {at}{words} [{}]", confidence(finding, zh)));
    line(&rest, &format!("-> {}", finding.advice.of(language)));
    if !finding.exonerates.is_empty() {
        let list: Vec<&str> = finding.exonerates.iter().map(|w| w.of(language)).collect();
        let (head, between) =
            if zh { ("不是原因：", "；") } else { ("Not the cause: ", "; ") };
        line(&rest, &format!("{head}{}", list.join(between)));
    }
    line(&rest, &finding.doc);
    out
}

fn confidence(finding: &Finding, zh: bool) -> &'static str {
    match (finding.confidence, zh) {
        _ if finding.about == About::Generator && !zh => "generator",
        _ if finding.about == About::Generator => "负载机",
        (Confidence::Certain, false) => "certain",
        (Confidence::Certain, true) => "确定",
        (Confidence::Arithmetic, false) => "arithmetic",
        (Confidence::Arithmetic, true) => "计算得出",
        (Confidence::Statistical, false) => "statistical",
        (Confidence::Statistical, true) => "统计",
        (Confidence::Hint, false) => "hint",
        (Confidence::Hint, true) => "提示",
    }
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
        let undecided = text(&verdict, Language::English, Some(80));
        assert!(
            undecided.starts_with("Verdict\n  UNDECIDED: the run has no samples"),
            "{undecided}"
        );
        verdict.undecided = None;
        let english = text(&verdict, Language::English, Some(80));
        let first =
            "Verdict\n  No problem found. Whether the load reached a limit of the target was not\n";
        assert!(english.starts_with(first), "{english}");
        assert!(english.contains("checked: that needs 100 requests.\n  Checked: "), "{english}");
        assert!(english.contains("Not checked for want of data:\n"), "{english}");
        assert!(english.lines().all(|line| line.len() <= 80), "{english}");
        let chinese = text(&verdict, Language::Chinese, None);
        assert!(
            chinese.starts_with("结论\n  没有发现异常。负载是否达到被测系统的极限未检查："),
            "{chinese}"
        );
    }
}
