//! Abilities of the terminal behind standard output and standard error: colours, lines that are written over, columns.

use std::io::{self, IsTerminal};

use crate::render::Colour;

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// Colours of what goes to standard error.
pub(crate) fn error_colour() -> Colour {
    colour(&io::stderr())
}

/// Colours of what goes to standard output.
pub(crate) fn output_colour() -> Colour {
    colour(&io::stdout())
}

/// One rule for all output: colours on a terminal, unless NO_COLOR or TERM=dumb say otherwise; CLICOLOR_FORCE asks for
/// them anywhere. A build server (`CI`) is asked for nothing: what a terminal can do is the same there.
fn colour(stream: &(impl anstream::stream::RawStream + IsTerminal)) -> Colour {
    let choice = anstream::AutoStream::choice(stream);
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|forced| forced != "0");
    if choice == anstream::ColorChoice::Never || !(forced || renews_lines(stream)) {
        Colour::Plain
    } else {
        Colour::Ansi
    }
}

/// Whether a line can be written over: on a terminal that is not a dumb one.
pub(crate) fn renews_lines(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether lines of that stream can be written over.
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

/// Whether the surroundings ask for a set of characters other than UTF-8.
pub(crate) fn is_ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let set = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    // Containers often say nothing, and their terminals show UTF-8.
    set.is_some_and(|set| {
        let set = set.to_ascii_lowercase();
        !(set.contains("utf-8") || set.contains("utf8"))
    })
}

/// Columns and lines of a terminal; 80 and 24 where it does not know.
pub(crate) fn size(stream: Stream) -> (usize, usize) {
    let size = match stream {
        Stream::Out => rustix::termios::tcgetwinsize(rustix::stdio::stdout()),
        Stream::Err => rustix::termios::tcgetwinsize(rustix::stdio::stderr()),
    };
    let known = |number: u16, default| if number == 0 { default } else { usize::from(number) };
    size.map_or((80, 24), |size| (known(size.ws_col, 80), known(size.ws_row, 24)))
}

/// Columns of standard output, if it is a terminal.
pub(crate) fn output_width() -> Option<usize> {
    std::io::stdout().is_terminal().then(|| width(false))
}

/// Columns of the terminal, less one; 80 where it does not know.
pub(crate) fn width(stderr: bool) -> usize {
    size(if stderr { Stream::Err } else { Stream::Out }).0 - 1
}
