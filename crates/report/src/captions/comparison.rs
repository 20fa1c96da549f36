//! Sentences about a comparison: the differences and their sizes, or the smallest differences that the data could
//! have shown.

use answers::compare::{CHECKS, Comparison, Difference, ERRORS, Outcome, Row, SERIES, is_share};
use answers::criterion::Times;
use answers::verdict::Words;
use stats::grouped::{count, things};

use super::{points, signed};
use crate::model::words;

/// Largest number of labels that a sentence names.
const MOST: usize = 10;

/// Returns a sentence for each difference, or one about the smallest difference that the data could have shown.
pub fn sentences(comparison: &Comparison) -> Vec<Words> {
    let mut out = differences(comparison);
    let is_silent = comparison.all.refusal.is_none() && comparison.different().next().is_none();
    if is_silent && comparison.missing_labels.is_none() && mostly_failed(&comparison.all).is_none()
    {
        out.extend(nothing(comparison));
    }
    // Unchanged settings explain why nothing differs.
    if comparison.different().next().is_none() {
        out.extend(comparison.same_java.iter().cloned());
    }
    out
}

/// Returns a sentence for each difference, or the reason why differences cannot be judged.
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
    out.extend(mostly_failed(&comparison.all));
    let of_all = |row: &Row| row.label.is_empty() && comparison.missing_labels.is_none();
    let is_told = |(row, one): &&(&Row, &Difference)| of_all(row) || is_share(one.metric);
    let of_requests = different.iter().filter(|(row, _)| row.label.is_empty());
    for (row, difference) in of_requests.filter(is_told) {
        let change = change(difference);
        let name = metric(difference.metric, comparison.times);
        out.push(words(
            format!("B's {} is {}, {}.", name.en, change.en, within.en),
            format!("{}，B 的{}{}。", within.zh, name.zh, change.zh),
        ));
        out.extend(happened(row, difference.metric));
    }
    out.extend(undecided(&comparison.all));
    out.extend(unread(comparison));
    out.extend(labels_that_differ(comparison));
    let of_series = different.iter().filter(|(_, one)| one.metric == SERIES);
    for (row, difference) in of_series {
        let (change, name) = (change(difference), &row.label);
        out.push(words(
            format!("The mean of B's series {name} is {}, {}.", change.en, within.en),
            format!("{}，B 的序列 {name} 平均值{}。", within.zh, change.zh),
        ));
    }
    if let Some(refusal) = &comparison.all.refusal {
        out.push(words(
            format!("No significance test of rate and times: {refusal}."),
            "数据太少，无法判断速率和时间的差异是否出于偶然。",
        ));
    }
    out
}

/// Returns the sentence that lists metrics that are undecided because of unreadable samples; `None` without such
/// metrics.
fn unread(comparison: &Comparison) -> Option<Words> {
    let Words { en, zh } = comparison.unread.as_ref()?;
    let is_open = |row: &&Row| row.differences.iter().any(|one| one.result == Outcome::Unread);
    let open = comparison.all.differences.iter().filter(|one| one.result == Outcome::Unread);
    let names: Vec<Words> = open.map(|one| metric(one.metric, comparison.times)).collect();
    let list = |of: fn(&Words) -> &str, between: &str| {
        names.iter().map(of).collect::<Vec<_>>().join(between)
    };
    let (list, list_zh) = (list(|name| &name.en, ", "), list(|name| &name.zh, "、"));
    let of_labels = comparison.labels.iter().filter(is_open).count();
    if names.is_empty() && of_labels == 0 {
        return None;
    }
    if names.is_empty() {
        let labels = things(of_labels as u64, "label");
        return Some(words(
            format!("{en}: figures of {labels} are undecided."),
            format!("{zh}：{of_labels} 个标签的数据无法判定。"),
        ));
    }
    let verb = if names.len() == 1 { "is" } else { "are" };
    Some(words(format!("{en}: {list} {verb} undecided."), format!("{zh}：{list_zh}无法判定。")))
}

/// Lists the labels that differ, each with its largest change.
fn labels_that_differ(comparison: &Comparison) -> Option<Words> {
    let of_labels: Vec<Words> =
        comparison.labels.iter().filter_map(|row| most_changed(row, comparison.times)).collect();
    if of_labels.is_empty() {
        return None;
    }
    let more = of_labels.len().saturating_sub(MOST);
    let told = &of_labels[..of_labels.len().min(MOST)];
    let listed = |of: fn(&Words) -> &str, between: &str| {
        told.iter().map(of).collect::<Vec<_>>().join(between)
    };
    let (more_en, more_zh) = match more {
        0 => (String::new(), String::new()),
        more => (format!(", and {more} more"), format!("，另有 {more} 个")),
    };
    Some(words(
        format!("Labels that differ: {}{more_en}.", listed(|words| &words.en, ", ")),
        format!("有差异的标签：{}{more_zh}。", listed(|words| &words.zh, "、")),
    ))
}

/// Returns a sentence about the sides on which most samples failed.
fn mostly_failed(row: &Row) -> Option<Words> {
    if row.differences.iter().all(|one| one.result != Outcome::MostlyFailed) {
        return None;
    }
    let of = [("A", row.recorded.0, row.failed.0), ("B", row.recorded.1, row.failed.1)];
    let sides = of.into_iter().filter(|(_, all, failed)| 2 * failed > *all);
    let sides: Vec<&str> = sides.map(|(side, ..)| side).collect();
    Some(words(
        format!(
            "Most samples of {} failed: times and rates are those of failures, and are not compared.",
            sides.join(" and of ")
        ),
        format!("{} 的多数样本失败：时间和速率是失败样本的，不作比较。", sides.join(" 和 ")),
    ))
}

/// Returns the numbers of failures that a difference of error rates, or of rates of unexpected responses, is based on.
fn happened(row: &Row, metric: &str) -> Option<Words> {
    let counts = match metric {
        ERRORS => &row.failures,
        CHECKS => &row.unexpected,
        _ => return None,
    };
    let Words { en, zh } = counts.as_ref()?.words();
    Some(words(format!("{en}."), format!("{zh}。")))
}

/// Returns sentences about failures that do not decide whether the sides differ: failures in a few short events, and
/// failures that may be chance.
fn undecided(row: &Row) -> Vec<Words> {
    let is_open = |one: &&Difference| {
        is_share(one.metric) && !matches!(one.result, Outcome::Different | Outcome::BelowFloor)
    };
    let of = |one: &Difference| {
        let counts = if one.metric == ERRORS { &row.failures } else { &row.unexpected };
        let is_open = one.result == Outcome::MayBeChance;
        let counts = counts.as_ref().filter(|of| is_open || of.short_events.is_some())?;
        let Words { en, zh } = counts.undecided();
        Some(words(format!("{en}."), format!("{zh}。")))
    };
    row.differences.iter().filter(is_open).filter_map(of).collect()
}

/// Returns the note about differences that may be chance.
pub fn may_be_chance(comparison: &Comparison) -> Option<Words> {
    let rows = std::iter::once(&comparison.all).chain(&comparison.labels).chain(&comparison.series);
    let each = rows.flat_map(|row| row.differences.iter().map(move |one| (row, one)));
    let all: Vec<_> = each.filter(|(_, one)| one.interval.is_some()).collect();
    let n = all.len();
    // Only the rate and the p95 of a label are always shown.
    let is_shown = |(row, one): &&(&Row, &Difference)| {
        row.label.is_empty() || matches!(one.metric, "rate" | "p95" | SERIES)
    };
    let mut shown = all.iter().filter(is_shown);
    shown.any(|(_, one)| one.result == Outcome::MayBeChance && !is_share(one.metric)).then(|| {
        words(
            format!(
                "May be chance: the interval excludes zero change, but 1 of 20 intervals does so by chance, and {n} are compared."
            ),
            format!("可能是偶然：区间不含零变化，但每 20 个区间约有 1 个因偶然如此，而共比较了 {n} 个。"),
        )
    })
}

/// Returns the numbers of all requests of both sides, and the numbers of compared requests if these differ.
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
                "The comparison uses {a} of A and {b} of B, those under steady load: ramp, warm-up and end are left out."
            ),
            format!("参与比较的是稳定负载下的请求：A {a} 个，B {b} 个；爬升、预热和结束阶段未计入。"),
        ));
    }
    out
}

/// Returns the sentence for a comparison without a difference, with the smallest change that the runs could have shown.
/// Returns `None` if unreadable samples leave all metrics undecided.
fn nothing(comparison: &Comparison) -> Option<Words> {
    let decided = comparison.all.differences.iter().filter(|d| d.result != Outcome::Unread);
    let visible: Vec<(&Difference, Words)> =
        decided.filter_map(|d| Some((d, visible(d)?))).collect();
    if visible.is_empty() && comparison.unread.is_some() {
        return None;
    }
    let name = |of: &Difference| metric(of.metric, comparison.times);
    let en: Vec<String> =
        visible.iter().map(|(d, least)| format!("{} by {}", name(d).en, least.en)).collect();
    let zh: Vec<String> =
        visible.iter().map(|(d, least)| format!("{} {}", name(d).zh, least.zh)).collect();
    Some(words(
        format!(
            "No difference that these runs can show; they would have shown a change of {}.",
            en.join(", ")
        ),
        format!("这些运行未显示出差异；能显示的最小变化为：{}。", zh.join("、")),
    ))
}

/// Returns the label of a row with its largest significant change. Changes of error rates are chosen only if there are
/// no others.
fn most_changed(row: &Row, times: Times) -> Option<Words> {
    let counts =
        row.differences.iter().filter(|difference| difference.result == Outcome::Different);
    let size = |difference: &&Difference| {
        if is_share(difference.metric) { 0.0 } else { difference.change.abs() }
    };
    let most = counts.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let (en, zh) = if is_share(most.metric) {
        let Words { en, zh } = points(most.change);
        (en, zh)
    } else {
        (signed(most.change), signed(most.change))
    };
    let name = metric(most.metric, times);
    Some(words(
        format!("{} ({} {en})", row.label, name.en),
        format!("{}（{} {zh}）", row.label, name.zh),
    ))
}

/// Returns the name of a compared metric. Metrics of times include the kind of time.
pub fn metric(name: &str, times: Times) -> Words {
    match name {
        "rate" => words(name, "速率"),
        ERRORS => words(name, "错误率"),
        CHECKS => words(name, "符合预期率"),
        SERIES => words(name, "序列"),
        time => {
            let Words { en, zh } = times.word();
            let figure = if time == "mean" { "平均值" } else { time };
            words(format!("{en} {time}"), format!("{zh}时间 {figure}"))
        }
    }
}

/// Formats a change: `7.1 % higher (95 % interval +4.0 % to +10.3 %)`.
fn change(difference: &Difference) -> Words {
    let (way, way_zh) = if difference.change > 0.0 { ("higher", "高") } else { ("lower", "低") };
    let size = difference.change.abs() * 100.0;
    let interval = difference.interval.map(|(low, high)| {
        let points = (low * 100.0, high * 100.0);
        if is_share(difference.metric) {
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
    if is_share(difference.metric) {
        words(format!("{size:.2} points {way}{en}"), format!("{way_zh} {size:.2} 个百分点{zh}"))
    } else {
        words(format!("{size:.1} % {way}{en}"), format!("{way_zh} {size:.1} %{zh}"))
    }
}

fn visible(difference: &Difference) -> Option<Words> {
    let least = difference.visible? * 100.0;
    Some(if is_share(difference.metric) {
        words(format!("±{least:.2} points"), format!("±{least:.2} 个百分点"))
    } else {
        words(format!("±{least:.1} %"), format!("±{least:.1} %"))
    })
}
