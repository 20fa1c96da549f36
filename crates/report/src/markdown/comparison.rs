//! The summary of a comparison.

use answers::verdict::Language;

use super::text::{code, sentence};
use super::{NAME, Page, result};
use crate::captions::figure;
use crate::first::comparison::{LAMPS, facts, moved, name, shown};
use crate::model::{About, ComparedRow as Row, ComparisonPage, words};

/// Largest number of sentences and notes. `MOST_CHANGED` is the largest number of other changes.
const MOST_SENTENCES: usize = 8;
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
    changed(&mut out, page);
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
    let (rows, more) = shown(page);
    if rows.is_empty() {
        return;
    }
    out.heading("Changes from A to B", "从 A 到 B 的变化");
    let heads = [
        (words("Label", "标签"), false),
        (words("Figure", "指标"), false),
        (words("A", "A"), true),
        (words("B", "B"), true),
        (words("Change", "变化"), true),
        (words("95 % interval", "95 % 区间"), true),
        (words("", ""), false),
    ];
    let lines: Vec<Vec<String>> = rows.into_iter().map(|row| line(out, row)).collect();
    out.table(&heads, lines);
    if more > 0 {
        out.paragraph(&words(
            format!("{more} further rows are in the report."),
            format!("其余 {more} 行见报告。"),
        ));
    }
}

fn line(out: &Page, row: &Row) -> Vec<String> {
    let label = match &row.label {
        Some(label) => code(label, NAME),
        None => out.both("all requests", "所有请求").to_owned(),
    };
    let side = |value: f64| sentence(&figure(value, row.unit), NAME);
    let interval = match row.low.zip(row.high) {
        Some((low, high)) => {
            let (low, high) = (moved(low, row.unit), moved(high, row.unit));
            format!("{} … {}", out.of(&low), out.of(&high))
        }
        None => "–".to_owned(),
    };
    let change = moved(row.change, row.unit);
    let state = match row.different {
        _ if row.open.is_some() => row.open.as_ref().map_or("", |open| out.of(open)),
        true if row.is_worse() => out.both("❌ worse", "❌ 变差"),
        true if row.is_better() => out.both("✅ better", "✅ 变好"),
        true => out.both("different", "有差异"),
        false if row.small => out.both("too small to count", "太小，不计入"),
        false if row.low.is_none() => out.both("too little data", "数据太少"),
        false => out.both("within chance", "在偶然范围内"),
    };
    vec![
        label,
        out.say(&row.metric),
        side(row.a),
        side(row.b),
        out.of(&change).to_owned(),
        interval,
        state.to_owned(),
    ]
}

fn changed(out: &mut Page, page: &ComparisonPage) {
    if page.changed.is_empty() {
        return;
    }
    out.heading("Also changed", "其他变化");
    let heads =
        [(words("What", "内容"), false), (words("A", "A"), false), (words("B", "B"), false)];
    let rows: Vec<Vec<String>> = page
        .changed
        .iter()
        .take(MOST_CHANGED)
        .map(|one| vec![out.say(&one.what), code(&one.a, NAME), code(&one.b, NAME)])
        .collect();
    out.table(&heads, rows);
    let left = page.changed.len().saturating_sub(MOST_CHANGED);
    if left > 0 {
        let left = out.left_out(left);
        out.add(&format!("{left}\n\n"));
    }
}
