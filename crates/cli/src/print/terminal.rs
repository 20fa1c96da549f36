//! Standard output and standard error. Only this module writes to them.
//!
//! Strings from plans and servers are displayed, never interpreted. Control characters, which could move the cursor
//! or hide text, and characters that change the direction of writing are shown as `\x1b` or `\u{202e}`. The only
//! escape sequences that pass are the program's own colours. If the reader of a pipe has closed it (`throng … |
//! head`), output is dropped silently. Any other failure of standard output is reported, and the exit code is not
//! 0. While a plan runs, a separate thread ([`queue`]) writes to pipes and files.

mod queue;

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::sync::Mutex;

use crate::exit::Exit;
use crate::print::render::{self, PAINT};
use crate::print::tty::{self, Stream};

/// The first error in writing to standard output.
static FAILED: Mutex<Option<String>> = Mutex::new(None);

/// The last error that was printed. If the command is refused, this is the reason.
static LAST_ERROR: Mutex<Option<String>> = Mutex::new(None);

/// Prints a string on standard output.
pub(crate) fn out(text: &str) {
    write(Stream::Out, text);
}

/// Prints a string on standard error.
pub(crate) fn err(text: &str) {
    write(Stream::Err, text);
}

/// Prints a string, which may have several lines or be part of a line.
pub(crate) fn write(to: Stream, text: &str) {
    send(to, visible(text).as_bytes());
}

/// Prints JSON on standard output. Control characters are escaped as JSON requires.
pub(crate) fn json(text: &str) {
    let mut shown = String::with_capacity(text.len() + 1);
    for char in text.chars() {
        if char != '\n' && is_hidden(char) {
            shown.push_str(&format!("\\u{:04x}", u32::from(char)));
        } else {
            shown.push(char);
        }
    }
    shown.push('\n');
    send(Stream::Out, shown.as_bytes());
}

/// Replaces the terminal's current line.
pub(crate) fn renew(to: Stream, text: &str) {
    send(to, format!("\r\x1b[2K{}", visible(text)).as_bytes());
}

/// Writes a frame of the view of a running test. Strings from outside must already be escaped. The frame is one
/// write that bypasses the stream's own buffer, which splits at line ends. Returns false if the terminal does not
/// accept output now (Ctrl-S); the run must not wait for the terminal.
pub(crate) fn frame(to: Stream, text: &str) -> bool {
    if !takes(to) {
        return false;
    }
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let sent = match to {
            Stream::Out => rustix::io::write(rustix::stdio::stdout(), rest),
            Stream::Err => rustix::io::write(rustix::stdio::stderr(), rest),
        };
        match sent {
            Ok(sent) => rest = &rest[sent..],
            Err(rustix::io::Errno::INTR) => {}
            // Another program has set the terminal to non-blocking mode.
            Err(rustix::io::Errno::AGAIN) => return true,
            Err(error) => {
                note(to, Err(error.into()));
                return true;
            }
        }
    }
    true
}

/// True if the terminal accepts output without blocking.
fn takes(stream: Stream) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let (out, err) = (rustix::stdio::stdout(), rustix::stdio::stderr());
    let of = if stream == Stream::Out { &out } else { &err };
    let mut polled = [PollFd::new(of, PollFlags::OUT)];
    poll(&mut polled, Some(&rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 })) != Ok(0)
}

/// Prints an error message of the program on standard error.
pub(crate) fn error(message: &str) {
    note_error(message);
    err(&render::error(message, tty::error_colour()));
}

/// Stores an error message as the last printed error.
pub(crate) fn note_error(message: &str) {
    if let Ok(mut last) = LAST_ERROR.lock() {
        *last = Some(message.to_owned());
    }
}

/// Removes and returns the last printed error.
pub(crate) fn take_last_error() -> Option<String> {
    LAST_ERROR.lock().ok().and_then(|mut last| last.take())
}

/// Prints a warning of the program on standard error.
pub(crate) fn warning(message: &str) {
    err(&render::warning(message, tty::error_colour()));
}

/// Stores the error of output that another library printed, like clap's help, so that the exit code is not 0.
pub(crate) fn printed(result: io::Result<()>) {
    let result = result.and_then(|()| io::stdout().flush());
    note(Stream::Out, result);
}

/// Returns the exit code of the program. If output was lost, the exit code is not 0, whatever code was intended.
pub(crate) fn closing(exit: Exit) -> Exit {
    queue::flush();
    let failed = FAILED.lock().ok().and_then(|mut failed| failed.take());
    let Some(why) = failed else { return exit };
    error(&format!("standard output is incomplete: {why}"));
    queue::flush();
    Exit::first([exit, Exit::Lost])
}

/// Starts the queue. From now on, a slow reader of standard output or standard error cannot block the program.
pub(crate) fn wait_for_nobody() {
    queue::start();
}

/// Writes all queued output before another program replaces this process.
pub(crate) fn flush() {
    queue::flush();
}

/// Shortens the wait for slow readers, because the user has asked to end. Output that they do not read soon is
/// lost.
pub(crate) fn hurry() {
    queue::hurry();
}

fn send(to: Stream, bytes: &[u8]) {
    if !queue::take(to, bytes) {
        send_now(to, bytes);
    }
}

fn send_now(to: Stream, bytes: &[u8]) {
    let sent = match to {
        Stream::Out => {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        }
        Stream::Err => io::stderr().lock().write_all(bytes),
    };
    note(to, sent);
}

fn note(to: Stream, result: io::Result<()>) {
    let Err(error) = result else { return };
    if to == Stream::Out
        && error.kind() != ErrorKind::BrokenPipe
        && let Ok(mut failed) = FAILED.lock()
    {
        failed.get_or_insert(error.to_string());
    }
}

/// Returns a string in which all characters that a terminal would interpret are escaped.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let own = PAINT.iter().find(|sequence| rest.starts_with(**sequence));
        let length = own.map_or(char.len_utf8(), |sequence| sequence.len());
        match char {
            _ if own.is_some() => shown.push_str(&rest[..length]),
            '\r' if rest.starts_with("\r\n") => {}
            _ => show(char, is_hidden(char), &mut shown),
        }
        rest = &rest[length..];
    }
    Cow::Owned(shown)
}

/// Returns a string from outside as part of one line: line ends, tabs and the program's own colours are also
/// escaped.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let is_odd = |char| is_hidden(char) || matches!(char, '\n' | '\t');
    if !text.chars().any(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    text.chars().for_each(|char| show(char, is_odd(char), &mut shown));
    Cow::Owned(shown)
}

fn show(char: char, escaped: bool, to: &mut String) {
    match char {
        _ if !escaped => to.push(char),
        ..'\u{100}' => to.push_str(&format!("\\x{:02x}", u32::from(char))),
        _ => to.push_str(&format!("\\u{{{:x}}}", u32::from(char))),
    }
}

/// Returns true for control characters except line ends and tabs, for characters that change the writing direction,
/// and for line separators.
fn is_hidden(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        _ => char.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::render::Colour;

    #[test]
    fn nothing_passes_that_a_terminal_obeys_but_our_colours() {
        let told =
            render::warning("a\x1b]0;x\x07\x1b[8mb\u{9b}2Kc\u{202e}d\re\r\n\tü", Colour::Ansi);
        assert_eq!(
            visible(&told),
            "\x1b[33;1mwarning\x1b[0m: a\\x1b]0;x\\x07\\x1b[8mb\\x9b2Kc\\u{202e}d\\x0de\n\tü\n"
        );
        assert!(matches!(visible("plain\n"), Cow::Borrowed(_)));
        assert_eq!(one_line("a\x1b[31;1mb\n\t\u{2028}"), "a\\x1b[31;1mb\\x0a\\x09\\u{2028}");
    }
}
