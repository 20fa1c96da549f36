//! Findings as text, in the form compilers have made familiar.
//!
//! ```text
//! error[bad-number]: the intProp n holds "x", which is not a number
//!   --> plan.jmx:12
//!    |
//! 12 |   <intProp name="n">x</intProp>
//!    |
//!    = in: Test Plan > Users
//!    = help: write it as a stringProp
//! ```

use std::collections::HashMap;

use jmx::{Diag, Severity};
use serde::Serialize;

/// The longest part of a line that is shown, in characters.
const WIDTH: usize = 120;

/// Colours, where the output is a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Ansi,
}

/// One finding. `source` is the plan's text, empty where it is not at hand.
pub(crate) fn diag(diag: &Diag, file: &str, source: &str, colour: Colour) -> String {
    let code = if diag.code.is_empty() { String::new() } else { format!("[{}]", diag.code) };
    let word =
        paint(severity_colour(diag.severity), &format!("{}{code}", diag.severity.word()), colour);
    let mut out = format!("{word}: {}\n", diag.message);
    let margin = " ".repeat(diag.line.to_string().len());
    if diag.line > 0 {
        out.push_str(&format!("{margin}--> {file}:{}\n", diag.line));
        if let Some(text) =
            source.lines().nth(diag.line as usize - 1).filter(|text| !text.trim().is_empty())
        {
            out.push_str(&format!("{margin} |\n{} | {}\n{margin} |\n", diag.line, shortened(text)));
        }
    } else {
        out.push_str(&format!("{margin}--> {file}\n"));
    }
    if let Some(element) = &diag.element {
        out.push_str(&format!("{margin} = in: {}\n", path(element)));
    }
    if let Some(help) = &diag.help {
        out.push_str(&format!("{margin} = help: {help}\n"));
    }
    out
}

/// Of a list, the first few of each kind; behind the last of them, how many more there are.
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

/// The key by which findings are alike: everything but its place, and names and numbers in its message.
pub(crate) fn kind(diag: &Diag) -> String {
    format!("{}[{}]{}", diag.severity.word(), diag.code, alike(&diag.message))
}

/// A text without what is quoted in it, and with any number as a 0.
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

/// The path of an element; the middle of a long one is left out.
pub(crate) fn path(path: &str) -> String {
    const ENDS: usize = 6;
    let parts: Vec<&str> = path.split(" > ").collect();
    let left_out = parts.len().saturating_sub(2 * ENDS);
    if left_out < 2 {
        return path.to_owned();
    }
    let (first, last) = (&parts[..ENDS], &parts[ENDS + left_out..]);
    format!("{} > … {left_out} more … > {}", first.join(" > "), last.join(" > "))
}

/// A warning of the program itself, without a place in a file.
pub(crate) fn warning(message: &str, colour: Colour) -> String {
    format!("{}: {message}\n", paint("33;1", "warning", colour))
}

/// An error of the program itself.
pub(crate) fn error(message: &str, colour: Colour) -> String {
    format!("{}: {message}\n", paint("31;1", "error", colour))
}

fn severity_colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "31;1",
        Severity::Warning => "33;1",
        Severity::Note => "36;1",
    }
}

/// The escape sequences around a colour: all that is ever sent to a terminal of this kind.
pub(crate) const PAINT: [&str; 4] = ["\x1b[31;1m", "\x1b[33;1m", "\x1b[36;1m", "\x1b[0m"];

fn paint(code: &str, text: &str, colour: Colour) -> String {
    match colour {
        Colour::Plain => text.to_string(),
        Colour::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
    }
}

/// The line without control characters, cut to the width.
fn shortened(text: &str) -> String {
    let mut out: String = text
        .trim_end()
        .replace('\t', "  ")
        .chars()
        .filter(|char| !char.is_control())
        .take(WIDTH)
        .collect();
    if text.trim_end().chars().count() > WIDTH {
        out.push('…');
    }
    out
}

/// A finding as JSON shows it.
#[derive(Debug, Serialize)]
pub(crate) struct JsonDiag<'a> {
    severity: &'static str,
    code: &'a str,
    message: &'a str,
    file: &'a str,
    line: u32,
    element: Option<&'a str>,
    help: Option<&'a str>,
}

pub(crate) fn json<'a>(diag: &'a Diag, file: &'a str) -> JsonDiag<'a> {
    JsonDiag {
        severity: diag.severity.word(),
        code: diag.code,
        message: &diag.message,
        file,
        line: diag.line,
        element: diag.element.as_deref(),
        help: diag.help.as_deref(),
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

    #[test]
    fn a_finding_shows_its_line_path_and_help() {
        let mut found = Diag::error("bad-number", "no number").help("write one");
        found.line = 2;
        found.element = Some("Plan > Users".into());
        let text = diag(&found, "p.jmx", "<a>\n\t<b>\u{1}\n", Colour::Plain);
        assert_eq!(
            text,
            "error[bad-number]: no number\n --> p.jmx:2\n  |\n2 |   <b>\n  |\n  = in: Plan > Users\n  = help: write one\n"
        );
    }

    #[test]
    fn a_finding_without_a_place_is_short_and_long_lines_are_cut() {
        let found = Diag::warning("w", "m");
        assert_eq!(
            diag(&found, "p.jmx", "", Colour::Ansi),
            "\x1b[33;1mwarning[w]\x1b[0m: m\n --> p.jmx\n"
        );
        assert_eq!(shortened(&"x".repeat(500)).chars().count(), WIDTH + 1);
    }
}
