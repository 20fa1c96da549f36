//! The verdict in sentences.

use answers::verdict::{About, Confidence, Words};

use crate::captions::nothing;
use crate::html::Html;
use crate::model::{Criterion, Finding, Verdict, words};

/// Largest number of findings about the first screen. The page of findings shows all.
const MOST: usize = 5;

/// Renders the verdict on one run. Its criteria affect the text for a verdict without findings.
pub(crate) fn section(out: &mut Html, verdict: &Verdict, criteria: &[Criterion]) {
    let doubt = words(
        "The generator did not keep up, or its machine was the bottleneck: figures of the target are doubtful.",
        "负载机或其所在机器成为瓶颈：被测系统的数据不可信。",
    );
    with(out, verdict, &doubt, criteria);
}

/// Renders the verdict on the points of a sweep. Some points may be doubtful and others not.
pub(crate) fn of_points(out: &mut Html, verdict: &Verdict) {
    let doubt = words(
        "At some points the generator did not keep up, or its machine was the bottleneck: figures of those points are doubtful.",
        "在部分测点，负载机或其所在机器成为瓶颈：这些测点的数据不可信。",
    );
    with(out, verdict, &doubt, &[]);
}

fn with(out: &mut Html, verdict: &Verdict, doubt: &Words, criteria: &[Criterion]) {
    out.raw("<section class=\"verdict\"><h2>").both("Verdict", "结论").raw("</h2>");
    if verdict.findings.iter().any(|finding| finding.about == About::Generator) {
        out.raw("<p class=\"doubt\">").words(doubt).raw("</p>");
    }
    if let Some(reason) = &verdict.undecided {
        let said =
            words(format!("Undecided: {}.", reason.en), format!("无法判定：{}。", reason.zh));
        out.raw("<p class=\"sentence\">").words(&said).raw("</p>");
    }
    if verdict.findings.is_empty() {
        looked_for(out, verdict, criteria);
    }
    for finding in verdict.findings.iter().take(MOST) {
        sentence(out, finding);
    }
    if verdict.findings.len() > MOST {
        let more = verdict.findings.len() - MOST;
        out.raw("<p class=\"why\">");
        out.words(&words(
            format!("{more} more on the page of findings."),
            format!("另有 {more} 条，见结论明细。"),
        ))
        .raw("</p>");
    }
    if !verdict.hidden.is_empty() {
        let n = verdict.hidden.len();
        out.raw("<p class=\"why\">").words(&words(
            if n == 1 {
                "One finding about the target is held back because of that.".to_owned()
            } else {
                format!("{n} findings about the target are held back because of that.")
            },
            format!("因此暂不给出关于被测系统的 {n} 条结论。"),
        ));
        out.raw("</p>");
    }
    out.raw("</section>");
}

/// Renders the text for a verdict without findings, with the causes that were checked and those that could not be
/// checked.
fn looked_for(out: &mut Html, verdict: &Verdict, criteria: &[Criterion]) {
    if verdict.undecided.is_none() {
        let not_met = criteria.iter().any(|criterion| criterion.met == Some(false));
        out.raw("<p class=\"sentence\">")
            .words(&nothing(not_met, verdict.lacks_for_limit.as_ref()))
            .raw("</p>");
    }
    out.raw("<details><summary>").words(&words(
        format!(
            "{} causes looked for, {} not for want of data",
            verdict.silent.len(),
            verdict.unchecked.len()
        ),
        format!(
            "已检查 {} 种原因，{} 种因缺少数据未检查",
            verdict.silent.len(),
            verdict.unchecked.len()
        ),
    ));
    let silent = verdict.silent.iter().map(|rule| &rule.looks_for);
    out.raw("</summary><p class=\"why\">").words(&listed("Checked", "已检查", silent)).raw("</p>");
    if !verdict.unchecked.is_empty() {
        let words = words("Not checked for want of data:", "缺少数据而未检查：");
        out.raw("<p class=\"why\">").words(&words).raw("</p><ul class=\"why\">");
        for lacking in &verdict.lacking {
            out.raw("<li>").words(lacking).raw("</li>");
        }
        out.raw("</ul>");
    }
    out.raw("</details>");
}

fn sentence(out: &mut Html, finding: &Finding) {
    let (en, zh) = match (finding.about, finding.confidence) {
        (About::Generator, _) => ("generator", "负载机"),
        (_, Confidence::Certain) => ("certain", "确定"),
        (_, Confidence::Arithmetic) => ("arithmetic", "计算得出"),
        (_, Confidence::Statistical) => ("statistical", "统计得出"),
        (_, Confidence::Hint) => ("hint", "提示"),
    };
    out.raw("<p class=\"sentence\">")
        .words(&finding.words)
        .raw(" <small class=\"tag\">")
        .both(en, zh)
        .raw("</small></p>");
    if !finding.advice.en.is_empty() {
        out.raw("<p class=\"todo\">").words(&finding.advice).raw("</p>");
    }
    if !finding.exonerates.is_empty() {
        out.raw("<p class=\"free\">")
            .words(&listed("Not the cause", "不是原因", finding.exonerates.iter()))
            .raw("</p>");
    }
}

fn listed<'w>(en: &str, zh: &str, list: impl Iterator<Item = &'w Words> + Clone) -> Words {
    let all_en: Vec<&str> = list.clone().map(|words| &*words.en).collect();
    let all_zh: Vec<&str> = list.map(|words| &*words.zh).collect();
    words(format!("{en}: {}.", all_en.join("; ")), format!("{zh}：{}。", all_zh.join("；")))
}
