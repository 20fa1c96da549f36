//! The lines of the verdict.

use answers::lines::{Kind, Line, title};

use crate::html::Html;
use crate::model::{Verdict, words};

/// Largest number of findings on the first screen. The page of findings shows all.
const MOST: usize = 5;

/// Renders the verdict with its first findings.
pub(crate) fn section(out: &mut Html, verdict: &Verdict) {
    out.raw("<section class=\"verdict\"><h2>").words(&title()).raw("</h2>");
    let (lines, left, after) = verdict.short(MOST);
    for line in lines {
        one(out, line);
    }
    if left > 0 {
        let said = words(
            format!("{left} more on the page of findings."),
            format!("另有 {left} 条，见结论明细。"),
        );
        out.raw("<p class=\"why\">").words(&said).raw("</p>");
    }
    for line in &after {
        one(out, line);
    }
    let is_open = after.iter().any(|line| line.kind == Kind::Counts);
    out.raw(if is_open { "</details></section>" } else { "</section>" });
}

fn one(out: &mut Html, line: &Line) {
    let class = match line.kind {
        // The page of findings links to the explanations.
        Kind::Explain => return,
        Kind::Counts => {
            out.raw("<details><summary>").words(&line.words).raw("</summary>");
            return;
        }
        Kind::Doubt => "<p class=\"doubt\">",
        Kind::Undecided | Kind::Nothing | Kind::Finding => "<p class=\"sentence\">",
        Kind::Advice => "<p class=\"todo\">",
        Kind::NotTheCause => "<p class=\"free\">",
        Kind::Held | Kind::Checked | Kind::Unchecked => "<p class=\"why\">",
    };
    out.raw(class).words(&line.words);
    if let Some(tag) = &line.tag {
        out.raw(" <small class=\"tag\">").words(tag).raw("</small>");
    }
    out.raw("</p>");
    if line.kind == Kind::Unchecked {
        out.raw("<ul class=\"why\">");
        for lacking in &line.items {
            out.raw("<li>").words(lacking).raw("</li>");
        }
        out.raw("</ul>");
    }
}
