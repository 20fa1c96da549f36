//! The parts that the first screens of sweeps and searches share: title, answer, notes.

use answers::verdict::Words;

use super::utc;
use crate::html::Html;
use crate::model::About;

/// Renders the heading of a page of a sweep or search: title of the answer, the plan, and the runs.
pub(super) fn heading(
    out: &mut Html,
    (en, zh): (&'static str, &'static str),
    about: &About,
    runs: &Words,
) {
    out.raw("<div><h1 class=\"hostile\">").both(en, zh).raw(": ").text(&about.title);
    out.raw("</h1><p class=\"hostile\">").words(runs).raw(" · ").text(&utc(about.start_ms));
    out.raw(" · ").text(&about.program).raw(" · ").text(&about.run).raw("</p></div>");
}

/// Renders the answer in sentences, with further paragraphs below it.
pub(super) fn section(out: &mut Html, sentences: &[Words], below: &[Words]) {
    out.raw("<section class=\"verdict\"><h2>").both("Answer", "答案").raw("</h2>");
    for sentence in sentences {
        out.raw("<p class=\"sentence hostile\">").words(sentence).raw("</p>");
    }
    for words in below {
        out.raw("<p class=\"why hostile\">").words(words).raw("</p>");
    }
    out.raw("</section>");
}

pub(super) fn notes(out: &mut Html, notes: &[Words]) {
    if notes.is_empty() {
        return;
    }
    out.raw("<section><h2>").both("Notes", "说明").raw("</h2><ul>");
    for note in notes {
        out.raw("<li class=\"hostile\">").words(note).raw("</li>");
    }
    out.raw("</ul></section>");
}
