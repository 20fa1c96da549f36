//! The summary of a comparison.

use answers::verdict::Language;

use super::text::code;
use super::{NAME, Page, result};
use crate::first;
use crate::first::comparison::{LAMPS, facts, name};
use crate::model::{About, ComparisonPage, words};

/// Largest number of sentences, and of notes, in a summary.
const MOST_SENTENCES: usize = 8;
/// Largest number of other changes in a summary.
const MOST_CHANGED: usize = 12;

/// Renders the summary of a comparison as Markdown.
pub fn comparison(page: &ComparisonPage, language: Language) -> String {
    let mut out = Page::new(language);
    title(&mut out, page);
    for (side, about) in [("A", &page.a), ("B", &page.b)] {
        let line = side_of(&out, side, about);
        out.add(&line);
    }
    out.add("\n");
    out.verdict_heading();
    for doubt in page.validity.iter().filter(|doubt| doubt.refuses) {
        let said = out.say(&doubt.words);
        let cannot = out.both("**Cannot be compared:**", "**不能比较：**");
        out.add(&format!("{cannot} {said}.\n\n"));
    }
    out.list(page.sentences.iter(), MOST_SENTENCES);
    out.criteria(&page.criteria, LAMPS);
    changes(&mut out, page);
    let care: Vec<_> = page.validity.iter().filter(|doubt| !doubt.refuses).collect();
    if !care.is_empty() {
        out.heading("Warnings", "注意");
        out.list(care.iter().map(|doubt| &doubt.words), MOST_SENTENCES);
    }
    if !page.changed.is_empty() {
        out.shown(&first::comparison::changed(page), MOST_CHANGED);
    }
    out.notes(&page.notes);
    out.out
}

fn title(out: &mut Page, page: &ComparisonPage) {
    let refused = page.rows.is_empty();
    let worse = page.rows.iter().any(|row| row.different && row.is_worse());
    let better = page.rows.iter().any(|row| row.different && row.is_better());
    let differs = page.rows.iter().any(|row| row.different);
    let (sign, said) = match result(&page.criteria) {
        Some((sign, said)) if !refused => (sign, said),
        _ if refused => ("⚠️", words("cannot be compared", "不能比较")),
        _ if worse && better => ("⚠️", words("some better, some worse", "有好有坏")),
        _ if worse => ("⚠️", words("worse", "变差")),
        _ if better => ("✅", words("better", "变好")),
        _ if differs => ("⚠️", words("different", "有差异")),
        _ if page.is_undecided() => ("⚠️", words("undecided", "无法判定")),
        _ => ("✅", words("no difference beyond chance", "没有超出偶然的差异")),
    };
    let said = out.say(&said);
    out.title(sign, ("Comparison", "对比"), &page.b.title, &said);
}

fn side_of(out: &Page, side: &str, about: &About) -> String {
    format!("- **{side}** {} · {}\n", code(name(about), 2 * NAME), out.say(&facts(about)))
}

fn changes(out: &mut Page, page: &ComparisonPage) {
    let (table, more) = first::comparison::changes(page);
    if table.rows.is_empty() {
        return;
    }
    out.shown(&table, usize::MAX);
    if more > 0 {
        out.paragraph(&words(
            format!("{more} further rows are in the report."),
            format!("其余 {more} 行见报告。"),
        ));
    }
}
