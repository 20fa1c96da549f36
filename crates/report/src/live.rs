//! The live page of a running test: its HTML, and its data second by second. Also the HTML of the page that lists all
//! runs.
//!
//! `ui/src/live/protocol.ts` and `ui/src/runs/protocol.ts` define the protocols between these pages and the server.
mod course;
mod figures;
mod labels;
mod speaking;

use answers::verdict::Language;

pub use course::{Course, Event, Facts, Told};

use crate::file::hash;
use crate::html::Html;

/// The script that `ui` builds for the live page.
const SCRIPT: &str = include_str!("../../../ui/dist/live.js");
/// The style sheet that `ui` builds for the live page.
const STYLE: &str = include_str!("../../../ui/dist/live.css");
/// The script that `ui` builds for the page that lists runs.
const RUNS_SCRIPT: &str = include_str!("../../../ui/dist/runs.js");
/// The style sheet that `ui` builds for the page that lists runs.
const RUNS_STYLE: &str = include_str!("../../../ui/dist/runs.css");

/// A page whose script loads its data from the server, and the content security policy of the page.
#[derive(Debug)]
pub struct Shell {
    pub html: String,
    pub policy: String,
}

/// Renders the live page of a running test.
pub fn page(language: Language) -> Shell {
    shell("Throng", SCRIPT, STYLE, language)
}

/// Renders the page that lists the runs of a folder.
pub fn runs(language: Language) -> Shell {
    shell("Throng", RUNS_SCRIPT, RUNS_STYLE, language)
}

/// Renders a page that has only this script and style; the script builds the content.
pub(crate) fn shell(title: &str, script: &str, style: &str, language: Language) -> Shell {
    let zh = language == Language::Chinese;
    let mut head = Html::new();
    head.raw("<!doctype html>\n<html lang=\"").raw(if zh { "zh-CN" } else { "en" });
    head.raw(
        "\"><head><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">",
    );
    head.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    head.raw("<link rel=\"icon\" href=\"data:,\"><title>").text(title).raw("</title><style>");
    let mut body = Html::new();
    body.raw("</style></head><body><header class=\"top\"><div></div><div id=\"tools\"><label>");
    body.raw("<input type=\"checkbox\" id=\"zh\"").raw(if zh { " checked" } else { "" });
    body.raw(">中文</label></div></header><main><noscript>").both(
        "This page needs JavaScript; the report of the run does not.",
        "本页需要 JavaScript；运行报告则不需要。",
    );
    body.raw("</noscript><div id=\"pages\"></div></main><script>");
    let html = [head.as_str(), style, body.as_str(), script, "</script></body></html>\n"].concat();
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(script),
        hash(style)
    );
    Shell { html, policy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_cannot_end_its_own_element() {
        for (script, style) in [(SCRIPT, STYLE), (RUNS_SCRIPT, RUNS_STYLE)] {
            let (script, style) = (script.to_ascii_lowercase(), style.to_ascii_lowercase());
            assert!(!script.contains("</script") && !script.contains("<!--"));
            assert!(!style.contains("</style"));
        }
        let page = page(Language::Chinese);
        assert!(
            page.html.contains("id=\"zh\" checked") && page.policy.contains("connect-src 'self'")
        );
    }
}
