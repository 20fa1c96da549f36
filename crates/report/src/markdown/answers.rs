//! Summaries of a sweep and of a search for capacity.

use answers::verdict::Language;

use super::{Page, doubts_generator};
use crate::first;
use crate::model::{CapacityPage, SweepPage, Words, words};

/// Largest number of table rows for points or probes in a summary.
const MOST_ROWS: usize = 60;
/// Largest number of notes in a summary.
const MOST_NOTES: usize = 12;

/// Renders the summary of a sweep as Markdown.
pub fn sweep(page: &SweepPage, language: Language) -> String {
    let mut out = Page::new(language);
    let sign = if doubts_generator(&page.verdict) { "⚠️" } else { "📈" };
    out.title(sign, ("Sweep", "阶梯测试"), &page.about.title, "");
    out.paragraph(&first::line(&page.about));
    out.list(
        page.sentences.iter().chain([&page.model.words]).collect::<Vec<_>>().into_iter(),
        MOST_NOTES,
    );
    out.verdict(&page.verdict);
    out.shown(&first::sweep::points(page), MOST_ROWS);
    out.paragraph(&words(
        "In parentheses: too few independent samples for that percentile. ○: not used for the model.",
        "括号内：独立样本太少。○：模型未采用。",
    ));
    out.notes(&page.notes);
    out.out
}

/// Renders the summary of a search for capacity as Markdown.
pub fn capacity(page: &CapacityPage, language: Language) -> String {
    let mut out = Page::new(language);
    let sign = match page.answer.lower {
        None => "❌",
        Some(_) if doubts_generator(&page.verdict) => "⚠️",
        Some(_) => "✅",
    };
    out.title(sign, ("Capacity", "容量"), &page.about.title, "");
    out.paragraph(&first::line(&page.about));
    out.list(page.sentences.iter(), MOST_NOTES);
    bounds(&mut out, page);
    out.criteria(&page.criteria, first::STATES);
    out.paragraph(&page.limited_by);
    out.verdict(&page.verdict);
    out.shown(&first::capacity::probes(page), MOST_ROWS);
    out.notes(&page.notes);
    out.out
}

fn bounds(out: &mut Page, page: &CapacityPage) {
    let shown = |bound: Option<f64>| bound.map_or_else(|| words("–", "–"), |at| page.axis.at(at));
    let holds = if page.answer.at_least {
        words("Holds, at least", "达标，至少")
    } else {
        words("Holds up to", "达标上限")
    };
    let heads = [(holds, true), (words("Does not hold at", "未达标"), true)];
    let cells = [page.answer.lower, page.answer.upper].map(|bound| out.say(&shown(bound)));
    out.table(&heads, [cells.to_vec()]);
}

impl Page {
    pub(super) fn notes(&mut self, notes: &[Words]) {
        if !notes.is_empty() {
            self.heading("Notes", "说明");
            self.list(notes.iter(), MOST_NOTES);
        }
    }
}
