//! A comparison in sentences: what differs and by how much, or what would have shown.

use answers::compare::{Comparison, Difference, Outcome, Row, Settings};
use answers::criterion::Times;
use answers::verdict::Words;
use stats::grouped::count;

use super::signed;
use crate::model::words;

/// Labels that are told in the sentence, at most.
const MOST: usize = 10;

/// The differences, or the smallest that would have shown: a sentence each.
pub fn sentences(comparison: &Comparison) -> Vec<Words> {
    let mut out = differences(comparison);
    let is_silent = comparison.all.refusal.is_none() && comparison.different().next().is_none();
    let is_silent = is_silent && failures(comparison).is_none();
    if is_silent && comparison.missing_labels.is_none() {
        out.push(nothing(comparison));
    }
    // Settings that stayed explain why nothing differs.
    if comparison.different().next().is_none() {
        out.extend(comparison.same_java.iter().cloned());
    }
    out
}

/// The differences, a sentence each, or the reason for which nothing can be said of them.
pub fn differences(comparison: &Comparison) -> Vec<Words> {
    let within = match comparison.runs {
        (1, 1) => words("within these two runs", "就这两次运行而言"),
        (a, b) => {
            words(format!("between {a} and {b} runs"), format!("A 运行 {a} 次，B 运行 {b} 次"))
        }
    };
    let different: Vec<_> = comparison.different().collect();
    let mut out = Vec::new();
    if let Some(Words { en, zh }) = &comparison.missing_labels {
        out.push(words(
            format!("The work is not the same: {en}. Figures of all requests cannot be compared."),
            format!("工作内容不同：{zh}。全部请求的数据无法比较。"),
        ));
    } else if let Some(Words { en, zh }) = &comparison.shifted_label {
        out.push(words(
            format!("The mix is not the same: {en}. Compare labels rather than all requests."),
            format!("请求比例不同：{zh}。应比较各标签，而非全部请求。"),
        ));
    }
    let of_all = |row: &Row| row.label.is_empty() && comparison.missing_labels.is_none();
    for (_, difference) in different.iter().filter(|(row, _)| of_all(row)) {
        let change = change(difference);
        let name = metric(difference.metric, comparison.times);
        out.push(words(
            format!("B's {} is {}, {}.", name.en, change.en, within.en),
            format!("{}，B 的{}{}。", within.zh, name.zh, change.zh),
        ));
    }
    out.extend(failures(comparison));
    let of_labels: Vec<Words> =
        comparison.labels.iter().filter_map(|row| most_changed(row, comparison.times)).collect();
    if !of_labels.is_empty() {
        let more = of_labels.len().saturating_sub(MOST);
        let told = &of_labels[..of_labels.len().min(MOST)];
        let listed = |of: fn(&Words) -> &str, between: &str| {
            told.iter().map(of).collect::<Vec<_>>().join(between)
        };
        let (more_en, more_zh) = match more {
            0 => (String::new(), String::new()),
            more => (format!(", and {more} more"), format!("，另有 {more} 个")),
        };
        out.push(words(
            format!("Labels that differ: {}{more_en}.", listed(|words| &words.en, ", ")),
            format!("有差异的标签：{}{more_zh}。", listed(|words| &words.zh, "、")),
        ));
    }
    if let Some(refusal) = &comparison.all.refusal {
        out.push(words(
            format!("Nothing can be said of chance: {refusal}."),
            "数据太少，无法判断差异是否出于偶然。",
        ));
    }
    out
}

/// The failures of the whole runs where they differ beyond chance and those that are compared do not.
fn failures(comparison: &Comparison) -> Option<Words> {
    let is_told = |one: &Difference| is_errors(one) && one.result == Outcome::Different;
    let failures = comparison.all.failures.as_ref()?;
    let is_large = failures.change.abs() >= Settings::default().error_floor;
    if !failures.is_beyond || !is_large || comparison.all.differences.iter().any(is_told) {
        return None;
    }
    let Words { en, zh } = failures.words();
    Some(words(format!("{en}."), format!("{zh}。")))
}

/// All requests of both sides, and those that are compared where these are not all.
pub fn counted(comparison: &Comparison) -> Vec<Words> {
    let Row { samples, recorded, failed, .. } = &comparison.all;
    let unknown = |side| comparison.errors_unknown.contains(&side);
    let side = |side: &'static str, all: u64, failed: u64| {
        let all = count(all);
        if unknown(side) {
            return words(format!("{side} {all}"), format!("{side} {all}"));
        }
        let failed = count(failed);
        words(format!("{side} {all} ({failed} failed)"), format!("{side} {all}（{failed} 个失败）"))
    };
    let (a, b) = (side("A", recorded.0, failed.0), side("B", recorded.1, failed.1));
    let mut out = vec![words(
        format!("Requests: {}, {}.", a.en, b.en),
        format!("请求：{}，{}。", a.zh, b.zh),
    )];
    if samples != recorded {
        let (a, b) = (count(samples.0), count(samples.1));
        out.push(words(
            format!(
                "Compared are {a} of A and {b} of B, those under steady load: ramp, warm-up and end are left out."
            ),
            format!("参与比较的是稳定负载下的请求：A {a} 个，B {b} 个；爬升、预热和结束阶段未计入。"),
        ));
    }
    out
}

fn nothing(comparison: &Comparison) -> Words {
    let visible: Vec<(&Difference, String)> =
        comparison.all.differences.iter().filter_map(|d| Some((d, visible(d)?))).collect();
    let name = |of: &Difference| metric(of.metric, comparison.times);
    let en: Vec<String> =
        visible.iter().map(|(d, least)| format!("{} by {least}", name(d).en)).collect();
    let zh: Vec<String> =
        visible.iter().map(|(d, least)| format!("{} {least}", name(d).zh)).collect();
    words(
        format!(
            "No difference that these runs can show; what would have shown is a change of {}.",
            en.join(", ")
        ),
        format!("这些运行未显示出差异；能显示的最小变化为：{}。", zh.join("、")),
    )
}

/// The label with its largest change that counts, errors apart.
fn most_changed(row: &Row, times: Times) -> Option<Words> {
    let counts =
        row.differences.iter().filter(|difference| difference.result == Outcome::Different);
    let size = |difference: &&Difference| {
        if is_errors(difference) { 0.0 } else { difference.change.abs() }
    };
    let most = counts.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let (en, zh) = if is_errors(most) {
        let points = most.change * 100.0;
        (format!("{points:+.2} points"), format!("{points:+.2} 个百分点"))
    } else {
        (signed(most.change), signed(most.change))
    };
    let name = metric(most.metric, times);
    Some(words(
        format!("{} ({} {en})", row.label, name.en),
        format!("{}（{} {zh}）", row.label, name.zh),
    ))
}

pub fn is_errors(difference: &Difference) -> bool {
    difference.metric == "error%"
}

/// A figure that is compared, by its name; times with the word that says which they are.
pub fn metric(name: &str, times: Times) -> Words {
    match name {
        "rate" => words(name, "速率"),
        "error%" => words(name, "错误率"),
        time => {
            let Words { en, zh } = times.word();
            let figure = if time == "mean" { "平均值" } else { time };
            words(format!("{en} {time}"), format!("{zh}时间 {figure}"))
        }
    }
}

/// `7.1 % higher (95 % interval +4.0 % to +10.3 %)`.
fn change(difference: &Difference) -> Words {
    let (way, way_zh) = if difference.change > 0.0 { ("higher", "高") } else { ("lower", "低") };
    let size = difference.change.abs() * 100.0;
    let interval = difference.interval.map(|(low, high)| {
        let points = (low * 100.0, high * 100.0);
        if is_errors(difference) {
            (format!("{:+.2}", points.0), format!("{:+.2} points", points.1), " 个百分点")
        } else {
            (signed(low), signed(high), "")
        }
    });
    let (en, zh) = match interval {
        Some((low, high, unit)) => (
            format!(" (95 % interval {low} to {high})"),
            format!("（95 % 区间 {low} 至 {}{unit}）", high.trim_end_matches(" points")),
        ),
        None => (String::new(), String::new()),
    };
    if is_errors(difference) {
        words(format!("{size:.2} points {way}{en}"), format!("{way_zh} {size:.2} 个百分点{zh}"))
    } else {
        words(format!("{size:.1} % {way}{en}"), format!("{way_zh} {size:.1} %{zh}"))
    }
}

fn visible(difference: &Difference) -> Option<String> {
    let least = difference.visible?;
    Some(if is_errors(difference) {
        format!("±{:.2} points", least * 100.0)
    } else {
        format!("±{:.1} %", least * 100.0)
    })
}
