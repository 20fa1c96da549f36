//! Splits a script into commands and words as a POSIX shell does, without running anything.
//!
//! Quotes (`'…'`, `"…"`, `$'…'`), continued lines, comments, `;`, `&&`, `|`, redirections and here-documents are read.
//! Values of variables that the script itself sets are inserted; other variables stay references
//! ([`word`]). The result of a command substitution is a variable, too. Reading never fails.

mod command;
mod expand;

use crate::findings::Findings;
use crate::word;

/// A simple command of a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Command {
    /// The command's name and arguments, without quotes.
    pub(crate) words: Vec<String>,
    /// Line of the first word, from 1.
    pub(crate) line: u32,
    /// Standard input of the command, if the script names one.
    pub(crate) input: Option<Input>,
}

/// Standard input of a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    /// A here-document, a here-string or the output of `echo`.
    Text(String),
    /// Name of a file.
    File(String),
    /// The output of a command that is not run.
    Unknown,
}

/// Variables of a script.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// Names and values that the script sets, in order.
    assigned: Vec<(String, String)>,
    /// Names of variables whose values are unknown, in the order of their first use.
    pub(crate) unknown: Vec<String>,
}

/// Largest value of a variable that is inserted, in bytes. A few assignments could double a value endlessly.
const MOST_BYTES: usize = 1 << 20;

impl Variables {
    /// Appends the value of a variable, or a reference to it.
    pub(crate) fn push(&mut self, name: &str, out: &mut String) {
        let assigned = self.assigned.iter().rev().find(|(known, _)| known == name);
        match assigned {
            Some((_, value)) if value.len() + out.len() <= MOST_BYTES => out.push_str(value),
            _ => {
                if !self.unknown.iter().any(|known| known == name) {
                    self.unknown.push(name.to_owned());
                }
                word::push_reference(out, name);
            }
        }
    }
}

/// A here-document whose lines have not been read yet.
struct Pending {
    /// Number of the command that reads the document.
    command: usize,
    end: String,
    /// True for `<<-`: tabs at the beginning of lines are removed.
    strips_tabs: bool,
    /// True if variables in the document are replaced.
    expands: bool,
}

/// A script that is being read.
struct Shell<'a> {
    text: Vec<char>,
    at: usize,
    line: u32,
    /// The command that is being read.
    current: Command,
    /// Output of the command before a `|`.
    piped: Option<Input>,
    pending: Vec<Pending>,
    commands: Vec<Command>,
    /// Number of command substitutions so far.
    substitutions: u32,
    variables: &'a mut Variables,
    findings: &'a mut Findings,
}

/// Splits a script into its commands. Assignments and loops are not commands.
pub(crate) fn split(
    text: &str,
    variables: &mut Variables,
    findings: &mut Findings,
) -> Vec<Command> {
    let text = word::plain(text).replace("\r\n", "\n").chars().collect();
    let mut shell = Shell {
        text,
        at: 0,
        line: 1,
        current: Command::default(),
        piped: None,
        pending: Vec::new(),
        commands: Vec::new(),
        substitutions: 0,
        variables,
        findings,
    };
    shell.read();
    shell.commands
}

/// A word and whether a part of it was quoted.
struct Word {
    text: String,
    quoted: bool,
}

impl Shell<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn peek_after(&self, count: usize) -> Option<char> {
        self.text.get(self.at + count).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    /// Skips a character if it is the next one.
    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn read(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.next();
                    self.read_documents();
                    self.end_command(false);
                }
                '\\' if self.peek_after(1) == Some('\n') => self.at_next(2),
                ' ' | '\t' | '\r' => self.at_next(1),
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                ';' | '&' | '|' | '(' | ')' => self.operator(c),
                '<' | '>' => self.redirect(),
                _ => self.take_word(),
            }
        }
        self.read_documents();
        self.end_command(false);
    }

    fn at_next(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    fn operator(&mut self, c: char) {
        self.next();
        if c == '&' && self.peek() == Some('>') {
            // `&>` sends both outputs to a file.
            return self.redirect();
        }
        let doubled = self.take(c);
        if c == '|' {
            self.take('&');
        }
        self.end_command(c == '|' && !doubled);
    }

    fn take_word(&mut self) {
        let line = self.line;
        let from = self.at;
        let word = self.word();
        let number = !word.quoted && word.text.chars().all(|c| c.is_ascii_digit());
        if number && !word.text.is_empty() && matches!(self.peek(), Some('<' | '>')) {
            return self.redirect();
        }
        if self.at == from {
            // No character is left in place, whatever it is.
            self.next();
            return;
        }
        if self.current.words.is_empty() {
            self.current.line = line;
        }
        self.current.words.push(word.text);
    }

    /// Reads a redirection from its first `<` or `>`.
    fn redirect(&mut self) {
        let output = self.next() == Some('>');
        if output {
            let _ = self.take('>') || self.take('&') || self.take('|');
            self.blanks();
            self.word();
            return;
        }
        if !self.take('<') {
            let _ = self.take('&') || self.take('>');
            self.blanks();
            let file = self.word().text;
            self.current.input = Some(Input::File(file));
        } else if self.take('<') {
            self.blanks();
            let text = self.word().text + "\n";
            self.current.input = Some(Input::Text(text));
        } else {
            let strips_tabs = self.take('-');
            self.blanks();
            let Word { text: end, quoted } = self.word();
            let command = self.commands.len();
            self.pending.push(Pending { command, end, strips_tabs, expands: !quoted });
        }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.next();
        }
    }

    /// Reads the here-documents that begin after the current line.
    fn read_documents(&mut self) {
        for document in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while self.peek().is_some() {
                let mut line = String::new();
                while let Some(c) = self.next() {
                    line.push(c);
                    if c == '\n' {
                        break;
                    }
                }
                let tabs = document.strips_tabs;
                let kept = if tabs { line.trim_start_matches('\t') } else { &line };
                if kept.trim_end_matches('\n') == document.end {
                    break;
                }
                body.push_str(kept);
            }
            if document.expands {
                body = self.expanded(&body);
            }
            let command = self.commands.get_mut(document.command).unwrap_or(&mut self.current);
            command.input = Some(Input::Text(body));
        }
    }

    /// Replaces variables in the text of a here-document.
    fn expanded(&mut self, body: &str) -> String {
        let text = std::mem::replace(&mut self.text, body.chars().collect());
        let (at, line) = (std::mem::replace(&mut self.at, 0), self.line);
        let mut out = String::new();
        while let Some(c) = self.peek() {
            match c {
                '$' => self.dollar(&mut out),
                '`' => self.backquotes(&mut out),
                '\\' => self.escape_in_quotes(&mut out, false),
                _ => {
                    self.next();
                    out.push(c);
                }
            }
        }
        (self.text, self.at, self.line) = (text, at, line);
        out
    }
}

#[cfg(test)]
mod tests;
