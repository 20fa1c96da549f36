//! Puts frames on the terminal, below what was printed before.
//!
//! A frame is one write: the cursor goes up to the frame before, each line is written over its old one, and what is left
//! of that is deleted. There is no alternate screen, the cursor is not hidden, and between two writes it stands at the
//! begin of the line below the frame: a program that ends anywhere, by a panic or a signal that cannot be caught, leaves
//! nothing to tidy up. While a frame is written, lines are not wrapped, so that a terminal that takes a character for
//! wider than it is spoils that line only; terminals that know synchronized output show the frame at once.

use std::time::{Duration, Instant};

use super::frame::{Drawn, Size, lines};
use super::{Look, View};
use crate::terminal;
use crate::tty::{self, Stream};

/// Time between two frames; a change of the size and lines printed meanwhile are seen after a tenth of it.
const EACH: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_millis(100);
/// After such a time without a frame the program was stopped, and something else may stand on the terminal.
const AWAY: Duration = Duration::from_secs(5);

/// Begin and end of synchronized output, with lines that are not wrapped.
const BEGIN: &str = "\x1b[?2026h\x1b[?7l\r";
const END: &str = "\x1b[?7h\x1b[?2026l";

/// The part of a terminal that frames are drawn on.
#[derive(Debug)]
pub(crate) struct Screen {
    stream: Stream,
    look: Look,
    /// Columns of the lines that are there now.
    shown: Vec<usize>,
    /// The size for which they were made.
    size: Size,
    drawn: Instant,
    looked: Instant,
    /// Something was printed since the last frame.
    hidden: bool,
}

impl Screen {
    /// A screen on that stream, if it is a terminal whose lines can be written over.
    pub(crate) fn new(stream: Stream) -> Option<Self> {
        let now = Instant::now();
        tty::renews(stream).then(|| Self {
            stream,
            look: Look { colours: tty::has_colours(stream), ascii: tty::is_ascii() },
            shown: Vec::new(),
            size: Size { columns: 0, lines: 0 },
            drawn: now,
            looked: now,
            hidden: false,
        })
    }

    /// Draws the view.
    pub(crate) fn draw(&mut self, view: &View) {
        let size = size(self.stream);
        let lines = lines(view, size, self.look);
        let away = self.drawn.elapsed() > AWAY;
        let up = if away { 0 } else { self.rows(size) };
        (self.drawn, self.looked) = (Instant::now(), Instant::now());
        if !terminal::frame(self.stream, &frame(&lines, up)) {
            return;
        }
        self.shown = lines.iter().map(|(_, width)| *width).collect();
        (self.size, self.hidden) = (size, false);
    }

    /// Draws the view if it is time: a second has passed, the terminal has another size, or something was printed.
    pub(crate) fn refresh(&mut self, view: &View) {
        if self.looked.elapsed() < SOON {
            return;
        }
        self.looked = Instant::now();
        if self.hidden || self.drawn.elapsed() >= EACH || size(self.stream) != self.size {
            self.draw(view);
        }
    }

    /// Takes the view off the terminal, before something is printed.
    pub(crate) fn clear(&mut self) {
        if !self.shown.is_empty() {
            let up = self.rows(size(self.stream));
            if terminal::frame(self.stream, &format!("\r{}\x1b[J", go_up(up))) {
                self.shown.clear();
            }
            self.hidden = true;
        }
    }

    /// Lines of the terminal that the frame takes now. Terminals wrap what is there when they become narrower.
    fn rows(&self, now: Size) -> usize {
        let columns = now.columns.max(1);
        let rows: usize = self.shown.iter().map(|width| width.div_ceil(columns).max(1)).sum();
        rows.min(now.lines.saturating_sub(1))
    }
}

/// The bytes of a frame over one that takes so many lines.
fn frame(lines: &[Drawn], up: usize) -> String {
    let mut out = format!("{BEGIN}{}", go_up(up));
    for (line, _) in lines {
        out.push_str(line);
        out.push_str("\x1b[K\r\n");
    }
    out.push_str("\x1b[J");
    out.push_str(END);
    out
}

fn go_up(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}A") }
}

fn size(stream: Stream) -> Size {
    let (columns, lines) = tty::size(stream);
    Size { columns, lines }
}
