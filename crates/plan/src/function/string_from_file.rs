//! `__StringFromFile`: each call in the plan reads its file line by line, for all users together.
//!
//! A file is read into memory when it is opened, and again at its end. With a start number, the file name is a
//! pattern of Java's `DecimalFormat`, and numbered files are read one after the other; after the last file, the
//! user ends. A lock protects the position, because JMeter's function is also synchronized.

use lang::decimal_format::DecimalFormat;

use super::{Call, Level, trim};
use crate::env::Env;
use crate::template::{Outcome, Thrown};

/// Value if a line cannot be read.
const ERROR: &str = "**ERR**";

/// Reading position of a `__StringFromFile` call.
#[derive(Debug, Default)]
pub(super) struct Lines {
    started: bool,
    text: Option<String>,
    at: usize,
    current: Option<i32>,
    start: Option<i32>,
    end: Option<i32>,
}

/// Runs `__StringFromFile(file, variable = StringFromFile_, start, end)`.
pub(super) fn read(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    match call.site {
        Some(site) => {
            let shared = env.shared;
            next_line(&mut shared.site(site).lines(), call, env, out)?;
        }
        None => next_line(&mut Lines::default(), call, env, out)?,
    }
    if !call.has(1) {
        env.vars.set_named(env.names, "StringFromFile_", &out[start..]);
    }
    call.store(1, env, &out[start..])
}

fn next_line(lines: &mut Lines, call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    if !lines.started {
        lines.started = true;
        lines.open(call, env)?;
    }
    if lines.text.is_none() {
        return lines.nothing(env, out);
    }
    if let Some(line) = lines.line() {
        out.push_str(line);
        return Ok(());
    }
    lines.open(call, env)?;
    if lines.text.is_none() {
        return lines.nothing(env, out);
    }
    // An empty file has no line, and Java prints the null reference as `null`.
    out.push_str(lines.line().unwrap_or("null"));
    Ok(())
}

impl Lines {
    /// Appends `**ERR**` if there is no file to read. After the last file of a sequence, returns the exception that
    /// ends the user.
    fn nothing(&self, env: &Env<'_>, out: &mut String) -> Outcome {
        if self.end.is_some() {
            env.shared.log(Level::Info, "__StringFromFile: detected end of sequence.");
            return Err(Thrown::new(Thrown::STOP_USER, "End of sequence"));
        }
        out.push_str(ERROR);
        Ok(())
    }

    fn open(&mut self, call: &Call, env: &mut Env<'_>) -> Outcome {
        self.text = None;
        let mut file = call.arg(0, env)?;
        if call.has(2) {
            self.start = number(call, 2, env)?;
        }
        let current = *self.current.get_or_insert(self.start.unwrap_or(1));
        if call.has(3) {
            self.end = number(call, 3, env)?;
        }
        if call.has(2) {
            if self.end.is_some_and(|end| current > end) {
                return Ok(());
            }
            if self.start.is_some()
                && let Some(format) = DecimalFormat::parse(&file)
            {
                file.clear();
                format.write(i64::from(current), &mut file);
            }
            self.current = Some(current.wrapping_add(1));
        }
        match crate::input::read_to_string(file.as_ref()) {
            Ok(text) => (self.text, self.at) = (Some(text), 0),
            Err(error) => env
                .shared
                .log(Level::Error, format!("__StringFromFile: cannot read {file}: {error}")),
        }
        env.core.give(file);
        Ok(())
    }

    /// Returns the next line, which ends with LF, CR or CR LF.
    fn line(&mut self) -> Option<&str> {
        let rest = self.text.as_deref()?.get(self.at..)?;
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        self.at += (end + ending).min(rest.len());
        Some(&rest[..end])
    }
}

/// Evaluates a numeric parameter; `None` if it is not a number, or -2, JMeter's marker for a missing number.
fn number(call: &Call, n: usize, env: &mut Env<'_>) -> Result<Option<i32>, Thrown> {
    let text = call.arg(n, env)?;
    let number = text.parse().ok();
    if number.is_none() {
        let words = format!("__StringFromFile: {} is not a number and is ignored", trim(&text));
        env.shared.log(Level::Warn, words);
    }
    env.core.give(text);
    Ok(number.filter(|number| *number != -2))
}
