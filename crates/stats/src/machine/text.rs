//! Parsers for the text formats in /proc: words after a name, rows with headings, numbers.
//!
//! The parsers never fail and return 0 for anything unexpected: files differ between kernels, are missing in
//! containers, and may be truncated.

/// Returns the number after the word `word` in the first line that begins with `line`, as in /proc/net/sockstat.
pub(super) fn word(text: &str, line: &str, word: &str) -> u64 {
    let line = text.lines().find_map(|l| l.strip_prefix(line)).unwrap_or_default();
    let mut words = line.split_ascii_whitespace();
    words.find(|w| *w == word).and_then(|_| words.next()).map_or(0, number)
}

/// Converts the number of KiB in the line that begins with `line` to bytes, as in /proc/meminfo.
pub(super) fn kib(text: &str, line: &str) -> u64 {
    let line = text.lines().find_map(|l| l.strip_prefix(line)).unwrap_or_default();
    line.split_ascii_whitespace().next().map_or(0, number).saturating_mul(1024)
}

/// A pair of lines, one with names and one with numbers, as in /proc/net/snmp and netstat.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Headed<'t> {
    names: &'t str,
    numbers: &'t str,
}

impl<'t> Headed<'t> {
    /// Finds the pair of lines that begin with `line`; both are empty if there is none.
    pub(super) fn new(text: &'t str, line: &str) -> Self {
        let mut lines = text.lines().filter_map(|l| l.strip_prefix(line));
        Self { names: lines.next().unwrap_or_default(), numbers: lines.next().unwrap_or_default() }
    }

    pub(super) fn get(&self, name: &str) -> u64 {
        let at = self.names.split_ascii_whitespace().position(|n| n == name);
        at.and_then(|at| self.numbers.split_ascii_whitespace().nth(at)).map_or(0, number)
    }
}

/// Parses a non-negative number; anything else is 0.
pub(super) fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or(0)
}

/// Returns the number of ports in a range such as `32768  60999`, both ends included.
pub(super) fn ports(text: &str) -> u64 {
    let mut ends = text.split_ascii_whitespace().map(number);
    match (ends.next(), ends.next()) {
        (Some(low), Some(high)) if low <= high && (1..=65_535).contains(&high) => high - low + 1,
        _ => 0,
    }
}
