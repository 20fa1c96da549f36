//! Detects too few samples for the metrics that are shown.

use record::Record;
use record::frame::{Ending, MISSING_FILES};
use stats::grouped::{count, things};

use super::figures::{requests, span};
use super::realism::setting;
use super::say::{found, lacks, words};
use crate::autocorrelation::effective;
use crate::verdict::{About, Confidence, Said};

/// Smallest number of independent samples that must lie beyond a percentile, for the percentile to be meaningful.
const BEYOND: f64 = 10.0;
/// The percentile that every summary shows.
const SHOWN: f64 = 0.99;
/// Smallest number of seconds for an estimate of independence.
const SECONDS: usize = 20;

/// Returns the finding about a run without samples if it was completed: the run is no evidence of anything.
fn nothing(record: &Record) -> Said {
    if record.frame.ending != Ending::Completed {
        return lacks!("requests", "请求");
    }
    if let Some(missing) = setting(record, MISSING_FILES) {
        let (first, more) = missing.split_once('\n').unwrap_or((missing, ""));
        let (more, more_zh) = match more.lines().count() {
            0 => Default::default(),
            n => (
                format!(", and {} missing", things(n as u64, "other file")),
                format!("，另缺 {n} 个文件"),
            ),
        };
        let said = words!(
            "No request was sent: {first}{more}. Users who need a file that cannot be read stop at once.",
            "没有发出任何请求：{first}{more_zh}。文件无法读取时，需要它的用户立即停止。"
        );
        return found("too_few_samples", About::Test, Confidence::Certain, said)
            .with("requests", 0.0, "requests", span(&record.seconds))
            .advise(words!(
                "Put the file in the folder of the plan, or correct its path in the element; throng check names all such files.",
                "将文件放到计划所在的文件夹，或在元件中更正路径；throng check 会列出所有这样的文件。"
            ))
            .said();
    }
    found(
        "too_few_samples",
        About::Test,
        Confidence::Certain,
        words!(
            "The run has no sample at all: it says nothing about the target.",
            "本次运行没有任何样本：不能说明被测系统的任何情况。"
        ),
    )
    .with("requests", 0.0, "requests", span(&record.seconds))
    .advise(words!(
        "Check whether the plan's thread groups and samplers are enabled, and whether a controller or an error before them ends each iteration (throng check, and the run's log).",
        "检查计划的线程组和采样器是否启用，以及是否有控制器或之前的错误结束了每次迭代（throng check 和运行日志）。"
    ))
    .said()
}

pub(super) fn too_few_samples(record: &Record) -> Said {
    let seconds = &record.seconds;
    let n = requests(seconds);
    if n == 0 {
        return nothing(record);
    }
    // Neighbouring samples are similar, so the means of the seconds are used to estimate the effective number of
    // independent samples.
    let means: Vec<f64> = seconds
        .iter()
        .filter(|s| s.all.count > 0)
        .map(|s| s.all.elapsed as f64 / s.all.count as f64)
        .collect();
    let worth = if means.len() >= SECONDS {
        (effective(&means) / means.len() as f64).clamp(0.0, 1.0)
    } else {
        1.0
    };
    let independent = n as f64 * worth;
    let beyond = independent * (1.0 - SHOWN);
    // If changes of the target, and not chance, move the means, only the number of samples decides.
    if n as f64 * (1.0 - SHOWN) >= BEYOND {
        return Said::Nothing;
    }
    let (all, need) = (count(n), count((BEYOND / (1.0 - SHOWN)).round() as u64));
    let noun = if n == 1 { "request" } else { "requests" };
    found(
        "too_few_samples",
        About::Test,
        Confidence::Arithmetic,
        words!(
            "p99 is unreliable: {all} {noun}, at least {need} needed.",
            "样本太少，不足以给出 p99：只有 {all} 个请求；有意义的 p99 至少需要 {need} 个。"
        ),
    )
    .with("requests", n as f64, "requests", span(seconds))
    .with("beyond_p99", beyond, "requests", span(seconds))
    .advise(words!(
        "Run longer, or judge by the median and the mean.",
        "延长运行时间，或以中位数和均值评价。"
    ))
    .said()
}
