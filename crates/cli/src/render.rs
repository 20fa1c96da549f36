//! Findings as text, in the form compilers have made familiar.
//!
//! ```text
//! error[bad-number]: the intProp n holds "x", which is no number
//!   --> plan.jmx:12
//!    |
//! 12 |   <intProp name="n">x</intProp>
//!    |
//!    = in: Test Plan > Users
//!    = help: write it as a stringProp
//! ```

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
        out.push_str(&format!("{margin} = in: {element}\n"));
    }
    if let Some(help) = &diag.help {
        out.push_str(&format!("{margin} = help: {help}\n"));
    }
    out
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

/// What a colour begins and ends with: all that is ever sent to a terminal of this kind.
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
