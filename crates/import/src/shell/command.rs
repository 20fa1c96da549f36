//! Simple commands: assignments, reserved words before a command, and the output of a command before a pipe.

use super::{Command, Input, Shell};

/// Words before a command that do not change the request.
const BEFORE: &[&str] = &[
    "$", "!", "{", "if", "then", "else", "elif", "do", "while", "until", "time", "sudo", "exec",
    "nohup", "command", "env",
];
/// Commands that set variables.
const SETTERS: &[&str] = &["export", "readonly", "local", "declare", "typeset"];
/// Words of loops and conditions, which are not followed.
const LOOPS: &[&str] = &["for", "while", "until"];

impl Shell<'_> {
    /// Ends the command that is being read. `pipes` is true before `|`.
    pub(super) fn end_command(&mut self, pipes: bool) {
        let mut command = std::mem::take(&mut self.current);
        let piped = self.piped.take();
        if command.words.is_empty() {
            return;
        }
        command.input = command.input.or(piped);
        if LOOPS.contains(&command.words[0].as_str()) {
            self.findings.line = command.line;
            let message = "loops of a script are not followed: each request in them is sent once per iteration";
            self.findings.warn("shell-loop", message);
        }
        let skipped = command.words.iter().take_while(|word| BEFORE.contains(&word.as_str()));
        command.words.drain(..skipped.count());
        if command.words.first().is_some_and(|word| SETTERS.contains(&word.as_str())) {
            command.words.remove(0);
            command.words.retain(|word| assignment(word).is_some());
        }
        let set = command.words.iter().take_while(|word| assignment(word).is_some()).count();
        if set == command.words.len() {
            for word in &command.words {
                self.assign(word);
            }
        }
        command.words.drain(..set);
        if pipes {
            self.piped = Some(output(&command));
        }
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }

    /// Sets a variable. A value that is the result of a command becomes a variable of the plan, with this name.
    fn assign(&mut self, word: &str) {
        let Some((name, value)) = assignment(word) else { return };
        let value = match crate::word::pieces(value)[..] {
            [crate::word::Piece::Reference(inner)] if inner.starts_with("command_") => {
                let unused = inner.to_owned();
                self.variables.unknown.retain(|known| *known != unused);
                self.variables.assigned.retain(|(known, _)| known != name);
                return;
            }
            _ => value.to_owned(),
        };
        self.variables.assigned.push((name.to_owned(), value));
    }
}

/// Returns the name and value of an assignment.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut chars = name.chars();
    let first = chars.next()?;
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!first.is_ascii_digit() && valid(first) && chars.all(valid)).then_some((name, value))
}

/// Returns the output of a command, as far as it is known without running the command.
fn output(command: &Command) -> Input {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    match words[..] {
        ["echo", "-n", ref rest @ ..] => Input::Text(rest.join(" ")),
        ["echo", ref rest @ ..] if rest.first().is_none_or(|word| !word.starts_with('-')) => {
            Input::Text(rest.join(" ") + "\n")
        }
        ["printf", text] if !text.contains(['%', '\\']) => Input::Text(text.to_owned()),
        ["printf", "%s", text] => Input::Text(text.to_owned()),
        ["cat", file] if !file.starts_with('-') => Input::File(file.to_owned()),
        ["cat"] => command.input.clone().unwrap_or(Input::Unknown),
        _ => Input::Unknown,
    }
}
