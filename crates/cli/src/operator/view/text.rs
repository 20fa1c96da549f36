//! Text for frames: lines of a known width, colours and numbers.

use unicode_width::UnicodeWidthChar;

use crate::print::terminal;

/// Style of a part of a line. A style never carries information that the line does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
    Warning,
    Chart,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Bad => "31;1",
            Self::Warning => "33;1",
            Self::Chart => "36",
        }
    }
}

/// Abilities of the terminal: colours, and characters beyond ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) colours: bool,
    /// True if the terminal shows ASCII only.
    pub(crate) ascii: bool,
}

/// A line under construction, never wider than its limit.
#[derive(Debug)]
pub(super) struct Line {
    text: String,
    width: usize,
    limit: usize,
    look: Look,
    /// Columns left blank before the next part.
    gap: usize,
}

impl Line {
    pub(super) fn new(limit: usize, look: Look) -> Self {
        Self { text: String::new(), width: 0, limit, look, gap: 0 }
    }

    /// Returns the number of free columns in the line.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.width + self.gap)
    }

    /// Adds a string, which may come from a plan or a server. A string that is too long is cut and ends in an
    /// ellipsis.
    pub(super) fn add(&mut self, style: Style, text: &str) -> &mut Self {
        let (text, width) = cut(text, self.left());
        if width == 0 {
            return self;
        }
        self.text.extend(std::iter::repeat_n(' ', self.gap));
        self.width += self.gap + width;
        self.gap = 0;
        let text = if self.look.ascii { ascii(&text) } else { text };
        match style.code() {
            "" => self.text.push_str(&text),
            code if self.look.colours => self.text.push_str(&format!("\x1b[{code}m{text}\x1b[0m")),
            _ => self.text.push_str(&text),
        }
        self
    }

    /// Adds a right-aligned text in a field of `columns` columns.
    pub(super) fn right(&mut self, style: Style, text: &str, columns: usize) -> &mut Self {
        let (text, width) = cut(text, columns);
        self.gap(columns - width).add(style, &text)
    }

    /// Appends the content of another line, which is `columns` columns wide.
    pub(super) fn raw(&mut self, made: &str, columns: usize) -> &mut Self {
        if columns > 0 {
            self.text.extend(std::iter::repeat_n(' ', self.gap));
            self.text.push_str(made);
            self.width += self.gap + columns;
            self.gap = 0;
        }
        self
    }

    /// Leaves columns blank before the next part. At the end of a line they are not written.
    pub(super) fn gap(&mut self, columns: usize) -> &mut Self {
        self.gap += columns;
        self
    }

    /// Starts the next part at this column, counted from 0.
    pub(super) fn to(&mut self, column: usize) -> &mut Self {
        self.gap = column.saturating_sub(self.width);
        self
    }

    /// Returns the line and its width.
    pub(super) fn done(self) -> (String, usize) {
        (self.text, self.width)
    }
}

/// Returns a string as one line, cut to a width and with terminal control characters replaced. Also returns its
/// width.
pub(super) fn cut(text: &str, columns: usize) -> (String, usize) {
    // A character may have no width, so the number of characters is limited as well, because a string from outside
    // may have any length.
    let most = columns * 4 + 16;
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let shown = terminal::one_line(&text[..end]);
    let whole = end == text.len();
    let (mut out, mut width, mut fits) = (String::new(), 0, (0, 0));
    for char in shown.chars() {
        let next = width + char.width().unwrap_or(0);
        if next > columns {
            return ellipsis(out, fits, columns);
        }
        out.push(char);
        width = next;
        if width < columns {
            fits = (out.len(), width);
        }
    }
    if whole { (out, width) } else { ellipsis(out, fits, columns) }
}

/// Cuts a string to leave one column, and appends the ellipsis.
fn ellipsis(mut out: String, (end, width): (usize, usize), columns: usize) -> (String, usize) {
    if columns == 0 {
        return (String::new(), 0);
    }
    out.truncate(end);
    out.push('…');
    (out, width + 1)
}

/// Converts a string to ASCII of the same width, for a terminal without UTF-8.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\0'..='\x7f' => out.push(char),
            '…' => out.push('~'),
            '✓' => out.push('+'),
            '✗' => out.push('x'),
            '·' | '–' => out.push('-'),
            _ => out.extend(std::iter::repeat_n('?', char.width().unwrap_or(0))),
        }
    }
    out
}

/// Returns the width of a string in columns.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|char| char.width().unwrap_or(0)).sum()
}

/// Formats a number with its noun: `1 user`, `20 users`.
pub(super) fn things(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Formats a number; from 10,000 on, its thousands are separated.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    if number < 10_000 {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() + 4);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Formats a rate per second.
pub(super) fn rate(per_s: f64) -> String {
    if per_s > 0.0 && per_s < 9.95 { format!("{per_s:.1}") } else { count(per_s.round() as u64) }
}

/// Formats a time given in milliseconds, with its unit.
pub(super) fn time(ms: f64) -> String {
    match ms {
        ..0.995 => format!("{ms:.2} ms"),
        ..99.95 => format!("{ms:.1} ms"),
        ..9_999.5 => format!("{ms:.0} ms"),
        _ => format!("{:.1} s", ms / 1000.0),
    }
}

/// Formats a share as a percentage.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let share = part as f64 * 100.0 / whole.max(1) as f64;
    match share {
        0.0 => "0 %".to_owned(),
        ..0.01 => "<0.01 %".to_owned(),
        ..9.995 => format!("{share:.2} %"),
        99.95.. if part < whole => "99.9 %".to_owned(),
        _ => format!("{share:.0} %"),
    }
}

/// Formats a duration: `01:15`, `1:00:05`.
pub(super) fn clock(ms: i64) -> String {
    let s = ms.max(0) / 1000;
    let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m:02}:{s:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_columns_and_obeyed_by_no_terminal() {
        for (text, columns, expected) in [
            ("Login", 5, "Login"),
            ("Login", 4, "Log…"),
            ("查询订单", 8, "查询订单"),
            ("查询订单", 7, "查询订…"),
            ("查询订单", 6, "查询…"),
            ("查", 1, "…"),
            ("a\nb\tc\x1b[31;1md", 40, "a\\x0ab\\x09c\\x1b[31;1md"),
            ("e\u{301}te\u{301}", 3, "e\u{301}te\u{301}"),
            ("x", 0, ""),
        ] {
            let (shown, columns_taken) = cut(text, columns);
            assert_eq!(shown, expected, "{text:?} in {columns}");
            assert!(columns_taken == width(&shown) && columns_taken <= columns, "{text:?}");
        }
        let (shown, _) = cut(&format!("a{}", "\u{301}".repeat(1_000_000)), 10);
        assert!(shown.len() < 200, "characters without a width are not without a limit");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0, 9_999, 10_000, 1_234_567].map(count), ["0", "9999", "10 000", "1 234 567"]);
        assert_eq!([0.0, 0.25, 9.99, 12_345.6].map(rate), ["0", "0.2", "10", "12 346"]);
        assert_eq!(
            [0.123, 1.0, 99.94, 99.96, 1234.4, 12_345.0].map(time),
            ["0.12 ms", "1.0 ms", "99.9 ms", "100 ms", "1234 ms", "12.3 s"]
        );
        let shares = [(0, 0), (1, 100_000), (1, 200), (99_999, 100_000), (5, 5)];
        assert_eq!(
            shares.map(|(part, whole)| percent(part, whole)),
            ["0 %", "<0.01 %", "0.50 %", "99.9 %", "100 %"]
        );
        assert_eq!([59_999, 60_000, 3_605_000].map(clock), ["00:59", "01:00", "1:00:05"]);
    }

    #[test]
    fn a_line_is_never_wider_than_its_limit() {
        let look = Look { colours: true, ascii: false };
        let mut line = Line::new(12, look);
        line.add(Style::Plain, "ab").gap(2).right(Style::Bad, "7", 3).gap(1);
        line.add(Style::Dim, "查询订单");
        let (text, width) = line.done();
        assert_eq!((text.as_str(), width), ("ab    \x1b[31;1m7\x1b[0m \x1b[2m查…\x1b[0m", 11));
        let mut line = Line::new(12, Look { colours: false, ascii: true });
        line.add(Style::Bad, "✗ 查询订单订单");
        assert_eq!(line.done(), ("x ????????~".to_owned(), 11));
    }
}
