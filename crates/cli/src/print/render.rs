//! Formats findings as text, in the style of compiler messages.
//!
//! ```text
//! error[bad-number]: the intProp n holds "x", which is not a number
//!   --> plan.jmx:12:3
//!    |
//! 12 |   <intProp name="n">x</intProp>
//!    |   ^^^^^^^^^^^^^^^^^^
//!    |
//!    = in: Test Plan > Users
//!    = help: write it as a stringProp
//! ```

use std::collections::HashMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use jmx::{Diag, Severity, Span};
use record::mask::source;
use serde::Serialize;

/// Width of a finding in columns. Of a longer source line, only the part around the finding is shown.
const WIDTH: usize = 120;

/// Use of colours in the output: none, or escape sequences for terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Ansi,
}

/// Formats one finding with its secrets masked. `plan` is the content of the plan file, or empty if it is not
/// available.
pub(crate) fn diag(diag: &Diag, file: &str, plan: &str, colour: Colour) -> String {
    let level = match diag.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let (message, help) = (source(&diag.message), diag.help.as_deref().map(source));
    let mut title = level.primary_title(message.as_str());
    if !diag.code.is_empty() {
        title = title.id(diag.code);
    }
    let line = diag.line as usize;
    let mut report = match line_of(plan, line) {
        Some((start, own)) => {
            let text = source(own);
            // A finding about a property has the span of its whole element. Of this span, only the line of the
            // property is marked.
            let whole = text.len() - text.trim_start().len()..text.trim_end().len();
            let marked = diag.span.filter(|_| *own == text);
            let marked = marked.and_then(|span| within(span, start, own)).unwrap_or(whole);
            let snippet = Snippet::source(text).line_start(line).path(file);
            title.element(snippet.annotation(AnnotationKind::Primary.span(marked)))
        }
        None if line > 0 => title.element(Origin::path(file).line(line)),
        None => title.element(Origin::path(file)),
    };
    if let Some(element) = &diag.element {
        report = report.element(Level::NOTE.with_name("in").message(path(element)));
    }
    if let Some(help) = &help {
        report = report.element(Level::HELP.message(help.as_str()));
    }
    let renderer = match colour {
        Colour::Plain => Renderer::plain(),
        Colour::Ansi => Renderer::styled(),
    };
    renderer.term_width(WIDTH).render(&[report]) + "\n"
}

/// Returns a non-empty line by its number, and its offset in the file.
fn line_of(source: &str, number: usize) -> Option<(usize, &str)> {
    let start = match number {
        0 => return None,
        1 => 0,
        _ => source.match_indices('\n').nth(number - 2)?.0 + 1,
    };
    let line = source[start..].lines().next()?;
    (!line.trim().is_empty()).then_some((start, line))
}

/// Returns the part of an element's span that lies in the line.
fn within(span: Span, start: usize, line: &str) -> Option<Range<usize>> {
    let from = (span.start as usize).checked_sub(start).filter(|from| *from <= line.len())?;
    let to = (span.end as usize).saturating_sub(start).min(line.len()).max(from);
    Some(line.floor_char_boundary(from)..line.ceil_char_boundary(to))
}

/// Returns the first few items of each kind, with the number of omitted items after the last one.
pub(crate) fn folded<'a, T: 'a>(
    all: impl IntoIterator<Item = &'a T>,
    few: usize,
    kind: impl Fn(&T) -> String,
    show: impl Fn(&T) -> String,
) -> String {
    let all: Vec<(&T, String)> = all.into_iter().map(|one| (one, kind(one))).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (_, kind) in &all {
        *counts.entry(kind).or_default() += 1;
    }
    let (mut shown, mut out) = (HashMap::<&str, usize>::new(), String::new());
    for (one, kind) in &all {
        let shown = shown.entry(kind).or_default();
        *shown += 1;
        if *shown <= few {
            out.push_str(&show(one));
        }
        let more = counts[&**kind] - few.min(counts[&**kind]);
        if *shown == few && more > 0 {
            out.push_str(&format!("  … and {more} more like this (check --json has all)\n"));
        }
    }
    out
}

/// Returns a key for grouping similar findings: severity, code and message, without the names and numbers in the
/// message.
pub(crate) fn kind(diag: &Diag) -> String {
    format!("{}[{}]{}", diag.severity.word(), diag.code, alike(&diag.message))
}

/// Returns a message without its quoted parts, and with each number replaced by 0.
pub(crate) fn alike(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut is_quoted, mut last) = (false, ' ');
    for c in text.chars() {
        is_quoted ^= c == '"';
        if !(is_quoted || c.is_ascii_digit() && last.is_ascii_digit()) {
            out.push(if c.is_ascii_digit() { '0' } else { c });
        }
        last = c;
    }
    out
}

/// Formats the path of an element. A long path is shortened in the middle.
pub(crate) fn path(path: &str) -> String {
    const ENDS: usize = 6;
    let path = source(path);
    let parts: Vec<&str> = path.split(" > ").collect();
    let left_out = parts.len().saturating_sub(2 * ENDS);
    if left_out < 2 {
        return path;
    }
    let (first, last) = (&parts[..ENDS], &parts[ENDS + left_out..]);
    format!("{} > … {left_out} more … > {}", first.join(" > "), last.join(" > "))
}

/// Formats a warning of the program itself, which has no position in a file.
pub(crate) fn warning(message: &str, colour: Colour) -> String {
    format!("{}: {message}\n", paint("33;1", "warning", colour))
}

/// Formats an error of the program itself, which has no position in a file.
pub(crate) fn error(message: &str, colour: Colour) -> String {
    format!("{}: {message}\n", paint("31;1", "error", colour))
}

/// Escape sequences for colours. This program and the renderer of findings send no other colour sequences to a
/// terminal.
pub(crate) const PAINT: [&str; 9] = [
    "\x1b[31;1m",
    "\x1b[33;1m",
    "\x1b[0m",
    "\x1b[1m",
    "\x1b[91m",
    "\x1b[92m",
    "\x1b[33m",
    "\x1b[94m",
    "\x1b[96m",
];

fn paint(code: &str, text: &str, colour: Colour) -> String {
    match colour {
        Colour::Plain => text.to_string(),
        Colour::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
    }
}

/// A finding in the structure of its JSON.
#[derive(Debug, Serialize)]
pub(crate) struct JsonDiag<'a> {
    severity: &'static str,
    code: &'a str,
    message: String,
    file: &'a str,
    line: u32,
    element: Option<String>,
    help: Option<String>,
}

pub(crate) fn json<'a>(diag: &'a Diag, file: &'a str) -> JsonDiag<'a> {
    JsonDiag {
        severity: diag.severity.word(),
        code: diag.code,
        message: source(&diag.message),
        file,
        line: diag.line,
        element: diag.element.as_deref().map(source),
        help: diag.help.as_deref().map(source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_counted() {
        let found: Vec<Diag> =
            (0..100).map(|n| Diag::warning("w", format!("{n} of \"{n}\""))).collect();
        let show = |diag: &Diag| diag.message.clone() + "\n";
        let shown = folded(&found, 2, kind, show);
        assert_eq!(
            shown,
            "0 of \"0\"\n1 of \"1\"\n  … and 98 more like this (check --json has all)\n"
        );
        assert_eq!(folded(&found[..2], 2, kind, show), "0 of \"0\"\n1 of \"1\"\n");
        assert_eq!(folded(&found, 1, |diag| diag.message.clone(), show).lines().count(), 100);
    }

    #[test]
    fn a_long_path_is_cut_in_the_middle() {
        let long = vec!["a"; 20].join(" > ");
        assert_eq!(path(&long), "a > a > a > a > a > a > … 8 more … > a > a > a > a > a > a");
        assert_eq!(path("a > b"), "a > b");
    }

    fn bad_number() -> Diag {
        let mut found = Diag::error("bad-number", "no number").help("write one");
        found.line = 2;
        found.element = Some("Plan > Users".into());
        found
    }

    #[test]
    fn a_finding_marks_its_place_and_shows_path_and_help() {
        let mut found = bad_number();
        found.span = Some(Span { start: 5, end: 8 });
        let text = diag(&found, "p.jmx", "<a>\n\t<b>\u{1}\n", Colour::Plain);
        assert_eq!(
            text,
            "error[bad-number]: no number\n --> p.jmx:2:2\n  |\n2 |     <b>␁\n  |     ^^^\n  |\n  = in: Plan > Users\n  \
             = help: write one\n"
        );
    }

    #[test]
    fn a_place_that_the_text_does_not_have_is_left_out() {
        let mut found = bad_number();
        for (start, end) in [(0, 3), (900, 901), (u32::MAX, 0), (6, u32::MAX)] {
            found.span = Some(Span { start, end });
            let text = diag(&found, "p.jmx", "<a>\n\t<ü>\n", Colour::Plain);
            assert!(text.contains("p.jmx:2:"), "{text}");
            assert!(text.contains("\n2 |     <ü>\n"), "{text}");
            let none = diag(&found, "p.jmx", "", Colour::Plain);
            assert!(none.starts_with("error[bad-number]: no number\n--> p.jmx:2\n"), "{none}");
        }
    }

    #[test]
    fn a_finding_without_a_place_is_short_and_long_lines_are_cut() {
        let found = Diag::warning("w", "m");
        let text = diag(&found, "p.jmx", "", Colour::Plain);
        assert_eq!(text, "warning[w]: m\n--> p.jmx\n");
        let mut found = Diag::warning("w", "m");
        found.line = 1;
        found.span = Some(Span { start: 40_000, end: 40_003 });
        let text = diag(&found, "p.jmx", &"x".repeat(90_000), Colour::Plain);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH + 20), "{text}");
        assert!(text.contains("^^^"), "{text}");
    }

    #[test]
    fn a_terminal_gets_the_colours_of_findings_and_nothing_else() {
        let mut found = bad_number();
        found.span = Some(Span { start: 5, end: 8 });
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            found.severity = severity;
            let text = diag(&found, "p.jmx", "<a>\n\t<b>\n", Colour::Ansi);
            assert!(text.contains("\x1b[1m"), "{text:?}");
            assert_eq!(crate::print::terminal::visible(&text), text);
        }
        found.message = "a\x1b]0;x\x07b\u{202e}".into();
        let text = diag(&found, "p.jmx", "<a>\n\x1b[8m\n", Colour::Plain);
        assert!(!text.contains(['\x1b', '\x07', '\u{202e}']), "{text:?}");
    }
}
