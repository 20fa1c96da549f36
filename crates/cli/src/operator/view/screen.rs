//! Draws frames on the terminal, below the lines that were printed before.
//!
//! A frame is written in one write: the cursor moves up to the start of the last frame, each line overwrites its
//! old version, and the remaining old lines are deleted. There is no alternate screen and the cursor is not hidden.
//! Between two frames the cursor is at the start of the line below the frame. So a program that ends at any time,
//! by a panic or a signal that cannot be caught, leaves nothing to clean up. Line wrapping is off while a frame is
//! written, so that a terminal which draws a character wider than expected damages only one line. Terminals that
//! support synchronized output show the frame as a whole.

use std::time::{Duration, Instant};

use super::frame::{Drawn, Size, lines};
use super::{Look, View};
use crate::print::terminal;
use crate::print::tty::{self, Stream};

/// Interval between two frames.
const EACH: Duration = Duration::from_secs(1);
/// Interval for checking whether a frame must be redrawn early: the terminal size has changed, or other output was
/// printed.
const SOON: Duration = Duration::from_millis(100);
/// Time without a frame after which the process is assumed to have been suspended, so that other output may be on
/// the terminal.
const AWAY: Duration = Duration::from_secs(5);

/// Escape sequences before a frame: start synchronized output, and switch line wrapping off.
const BEGIN: &str = "\x1b[?2026h\x1b[?7l\r";
/// Escape sequences after a frame: switch line wrapping on, and end synchronized output.
const END: &str = "\x1b[?7h\x1b[?2026l";

/// The part of a terminal on which frames are drawn.
#[derive(Debug)]
pub(crate) struct Screen {
    stream: Stream,
    look: Look,
    /// Widths in columns of the lines that are shown on the terminal.
    shown: Vec<usize>,
    /// Terminal size for which the shown lines were formatted.
    size: Size,
    /// Time of the last frame.
    drawn: Instant,
    /// Time of the last check whether a frame must be redrawn.
    looked: Instant,
    /// True if other output was printed since the last frame.
    hidden: bool,
}

impl Screen {
    /// Creates a screen if the stream is a terminal that supports overwriting lines.
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

    /// Draws a frame of the view.
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

    /// Draws a frame if a second has passed, the terminal's size has changed, or other output was printed.
    pub(crate) fn refresh(&mut self, view: &View) {
        if self.looked.elapsed() < SOON {
            return;
        }
        self.looked = Instant::now();
        if self.hidden || self.drawn.elapsed() >= EACH || size(self.stream) != self.size {
            self.draw(view);
        }
    }

    /// Removes the view from the terminal before other output is printed.
    pub(crate) fn clear(&mut self) {
        if !self.shown.is_empty() {
            let up = self.rows(size(self.stream));
            if terminal::frame(self.stream, &format!("\r{}\x1b[J", go_up(up))) {
                self.shown.clear();
            }
            self.hidden = true;
        }
    }

    /// Returns the height of the last frame at the terminal's current size. A terminal that has become narrower
    /// wraps the lines of the frame.
    fn rows(&self, now: Size) -> usize {
        let columns = now.columns.max(1);
        let rows: usize = self.shown.iter().map(|width| width.div_ceil(columns).max(1)).sum();
        rows.min(now.lines.saturating_sub(1))
    }
}

/// Returns the bytes of a frame that replaces a frame of `up` lines.
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
