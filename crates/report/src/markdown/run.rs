//! The summary of a run.

use answers::lines::Kind;
use answers::verdict::Language;
use stats::Number;

use super::text::{code, sentence};
use super::{MOST_ROWS, NAME, Page, SENTENCE, doubts_generator, result};
use crate::captions::{digits, grouped};
use crate::first::{self, Fact, Note};
use crate::model::{Cause, RunPage, Totals, Words, words};

/// Largest number of causes of errors in a summary.
const MOST_CAUSES: usize = 5;

/// Renders the summary of a run as Markdown.
pub fn run(page: &RunPage, language: Language) -> String {
    let mut out = Page::new(language);
    let ended = matches!(page.about.ending.kind, "completed" | "stopped_by_plan" | "unknown")
        && page.about.ending.reason.en.is_empty();
    let (sign, said) = match result(&page.criteria) {
        Some((sign, said)) => (sign, out.say(&said)),
        None if has_failed(&page.totals) => {
            let all = grouped(page.totals.samples as f64);
            let words =
                words(format!("all {all} requests failed"), format!("{all} 个请求全部失败"));
            ("⚠️", out.say(&words))
        }
        None if all_own_failures(&page.totals) > 0 => {
            let all = grouped(all_own_failures(&page.totals) as f64);
            let words = words(
                format!("all {all} transactions failed by their own assertions"),
                format!("{all} 个事务全部因自身断言失败"),
            );
            ("⚠️", out.say(&words))
        }
        None => ("📈", String::new()),
    };
    let undecided = page.verdict.has(Kind::Undecided) || page.is_incomplete;
    let doubtful = doubts_generator(&page.verdict) || !ended || undecided;
    let sign = if sign != "❌" && doubtful { "⚠️" } else { sign };
    let mut said = said;
    if page.is_incomplete {
        let between = if said.is_empty() { "" } else { out.both(", ", "，") };
        said = format!("{said}{between}{}", out.both("results incomplete", "结果不完整"));
    }
    out.title(sign, ("Load test", "负载测试"), &page.about.title, &said);
    out.paragraph(&first::line(&page.about));
    out.flaws(&page.about.flaws);
    out.verdict(&page.verdict);
    out.criteria(&page.criteria, first::STATES);
    numbers(&mut out, &page.totals);
    series(&mut out, page);
    labels(&mut out, page);
    causes(&mut out, page);
    if !page.alerts.is_empty() {
        out.shown(&first::alerts::table(&page.alerts), MOST_ROWS);
    }
    out.out
}

/// True if every request failed.
fn has_failed(totals: &Totals) -> bool {
    totals.samples > 0 && totals.failed.is_some_and(|failed| failed >= totals.samples)
}

/// Returns the number of transactions if all of them failed by their own assertions; 0 otherwise.
fn all_own_failures(totals: &Totals) -> u64 {
    let of = totals.transactions.filter(|of| of.own_failures >= of.samples);
    of.map_or(0, |of| of.samples)
}

fn numbers(out: &mut Page, totals: &Totals) {
    out.heading("Numbers", "数据");
    let heads = [
        (words("Figure", "指标"), false),
        (words("Value", "数值"), true),
        (words("95 % interval", "95 % 区间"), false),
    ];
    let row = |Fact { name, value, note }: Fact| {
        let said = |words: &Words| out.of(words).to_owned();
        let (value, interval) = match &note {
            Note::Interval(range) => (value, said(range)),
            Note::Remark(note) => (format!("{value} ({})", said(note)), String::new()),
            Note::None | Note::OnPage(_) => (value, String::new()),
        };
        [said(&name), value, interval].map(|text| sentence(&text, SENTENCE)).to_vec()
    };
    let rows: Vec<Vec<String>> = first::facts(totals).into_iter().map(row).collect();
    out.table(&heads, rows);
}

/// Adds the table of the data series that were extracted from responses.
fn series(out: &mut Page, page: &RunPage) {
    if page.series.is_empty() {
        return;
    }
    out.heading("Series", "序列");
    let heads = [
        (words("Series", "序列"), false),
        (words("Values", "数值个数"), true),
        (words("Mean", "平均"), true),
        (words("Min", "最小"), true),
        (words("Max", "最大"), true),
    ];
    let row = |(name, number): &(String, Number)| {
        let figure = |value: Option<f64>| value.map_or_else(String::new, digits);
        let known = |value: f64| (number.count > 0).then_some(value);
        let values = grouped(number.count as f64);
        let [mean, min, max] = [number.mean(), known(number.least), known(number.most)].map(figure);
        vec![code(name, NAME), values, mean, min, max]
    };
    out.table(&heads, page.series.iter().take(MOST_ROWS).map(row));
    if page.series.len() > MOST_ROWS {
        let left = out.left_out(page.series.len() - MOST_ROWS);
        out.add(&format!("{left}\n\n"));
    }
}

fn labels(out: &mut Page, page: &RunPage) {
    if page.labels.is_empty() {
        return;
    }
    let shown = &page.labels[..page.labels.len().min(MOST_ROWS)];
    let table = first::labels::table(page, shown, true);
    out.shown(&table, MOST_ROWS);
    let more = page.labels.len() - shown.len() + page.rest.as_ref().map_or(0, |rest| rest.labels);
    if more > 0 {
        out.paragraph(&words(
            format!("These {MOST_ROWS} took the most time; {more} more labels are in the report."),
            format!("以上为耗时最多的 {MOST_ROWS} 个；其余 {more} 个标签见报告。"),
        ));
    }
    if shown.iter().any(|label| label.folded > 0) {
        out.paragraph(&words(
            "A star stands for numbers or codes in which labels differed; those count as one.",
            "星号表示标签之间不同的数字或编码；它们合并计算。",
        ));
    }
    if table.rows.iter().flatten().any(|cell| cell.is_thin) {
        out.paragraph(&words(
            "In parentheses: too few samples for that percentile.",
            "括号内：样本太少，该百分位数不可靠。",
        ));
    }
}

fn causes(out: &mut Page, page: &RunPage) {
    if page.causes.is_empty() {
        return;
    }
    out.heading("Errors", "错误");
    let heads = [
        (words("Message", "消息"), false),
        (words("Code", "代码"), false),
        (words("Count", "次数"), true),
        (words("First at label", "首见标签"), false),
    ];
    let one = |cause: &Cause| {
        let message = if cause.message.is_empty() { &cause.outcome } else { &cause.message };
        vec![
            code(message, 2 * NAME),
            code(&cause.code, NAME),
            grouped(cause.count as f64),
            code(&cause.first_label, NAME),
        ]
    };
    out.table(&heads, page.causes.iter().take(MOST_CAUSES).map(one).collect::<Vec<_>>());
    let left = page.causes.len().saturating_sub(MOST_CAUSES);
    if left > 0 {
        out.paragraph(&words(
            format!("{left} more causes are in the report."),
            format!("其余 {left} 种原因见报告。"),
        ));
    }
}
