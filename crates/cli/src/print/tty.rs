//! Abilities of the terminal behind standard output and standard error: colours, overwriting of lines, and width.

use std::io::{self, IsTerminal};

use crate::print::render::Colour;

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// Returns the use of colours on standard error.
pub(crate) fn error_colour() -> Colour {
    colour(&io::stderr())
}

/// Returns the use of colours on standard output.
pub(crate) fn output_colour() -> Colour {
    colour(&io::stdout())
}

/// Returns the use of colours on a stream. A terminal has colours unless NO_COLOR or TERM=dumb is set; CLICOLOR_FORCE
/// enables them for any output. The variable `CI` has no effect, because a build server's terminal has the same
/// abilities.
fn colour(stream: &(impl anstream::stream::RawStream + IsTerminal)) -> Colour {
    let choice = anstream::AutoStream::choice(stream);
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|forced| forced != "0");
    if choice == anstream::ColorChoice::Never || !(forced || renews_lines(stream)) {
        Colour::Plain
    } else {
        Colour::Ansi
    }
}

/// True if lines can be overwritten: on a terminal that is not dumb.
pub(crate) fn renews_lines(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// True if lines of this stream can be overwritten.
pub(crate) fn renews(stream: Stream) -> bool {
    match stream {
        Stream::Out => renews_lines(&io::stdout()),
        Stream::Err => renews_lines(&io::stderr()),
    }
}

pub(crate) fn has_colours(stream: Stream) -> bool {
    let colour = match stream {
        Stream::Out => output_colour(),
        Stream::Err => error_colour(),
    };
    colour == Colour::Ansi
}

/// True if the environment sets a character encoding other than UTF-8.
pub(crate) fn is_ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let set = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    // Containers often set no encoding, and their terminals support UTF-8.
    set.is_some_and(|set| {
        let set = set.to_ascii_lowercase();
        !(set.contains("utf-8") || set.contains("utf8"))
    })
}

/// Returns the columns and lines of a terminal, or 80 and 24 if they are unknown.
pub(crate) fn size(stream: Stream) -> (usize, usize) {
    let size = match stream {
        Stream::Out => rustix::termios::tcgetwinsize(rustix::stdio::stdout()),
        Stream::Err => rustix::termios::tcgetwinsize(rustix::stdio::stderr()),
    };
    let known = |number: u16, default| if number == 0 { default } else { usize::from(number) };
    size.map_or((80, 24), |size| (known(size.ws_col, 80), known(size.ws_row, 24)))
}

/// Returns the width of standard output in columns, if it is a terminal.
pub(crate) fn output_width() -> Option<usize> {
    std::io::stdout().is_terminal().then(|| width(false))
}

/// Returns the width of the terminal minus one column. If the width is unknown, 80 columns are assumed.
pub(crate) fn width(stderr: bool) -> usize {
    size(if stderr { Stream::Err } else { Stream::Out }).0 - 1
}
