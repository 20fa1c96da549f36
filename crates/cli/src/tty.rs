//! Abilities of the terminal behind standard output and standard error: colours, lines that are written over, columns.

use std::io::{self, IsTerminal};

use crate::render::Colour;

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

/// Columns of standard output, if it is a terminal.
pub(crate) fn output_width() -> Option<usize> {
    std::io::stdout().is_terminal().then(|| width(false))
}

/// Columns of the terminal, less one; 80 where it does not know.
pub(crate) fn width(stderr: bool) -> usize {
    let size = if stderr {
        rustix::termios::tcgetwinsize(rustix::stdio::stderr())
    } else {
        rustix::termios::tcgetwinsize(rustix::stdio::stdout())
    };
    let columns = size.map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { 79 } else { columns - 1 }
}
