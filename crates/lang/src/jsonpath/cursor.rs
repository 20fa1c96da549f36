//! A position in the text of a path, with a movable end.
//!
//! Reading beyond the end of the text is the exception that Java would throw. Reading beyond the movable end is no
//! error, and some malformed paths depend on that.

use super::{Failure, failure::index_out_of_range};

type Reading<T> = Result<T, Failure>;

#[derive(Clone, Debug)]
pub(super) struct Cursor {
    text: Vec<char>,
    pub(super) at: usize,
    /// The movable end: index after the last character that belongs to the path.
    end: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let end = text.len();
        Self { text, at: 0, end }
    }

    pub(super) fn len(&self) -> usize {
        self.end
    }

    pub(super) fn char_at(&self, at: usize) -> Reading<char> {
        self.text.get(at).copied().ok_or_else(|| index_out_of_range(at))
    }

    pub(super) fn current(&self) -> Reading<char> {
        self.char_at(self.at)
    }

    pub(super) fn is(&self, value: char) -> Reading<bool> {
        Ok(self.current()? == value)
    }

    pub(super) fn last_is(&self, value: char) -> Reading<bool> {
        Ok(self.char_at(self.end.wrapping_sub(1))? == value)
    }

    pub(super) fn next_is(&self, value: char) -> bool {
        self.contains(self.at + 1) && self.text.get(self.at + 1) == Some(&value)
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        at < self.end
    }

    pub(super) fn in_bounds(&self) -> bool {
        self.contains(self.at)
    }

    pub(super) fn is_tail(&self) -> bool {
        self.at + 1 >= self.end
    }

    pub(super) fn cut_last(&mut self) {
        self.end = self.end.saturating_sub(1);
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> String {
        self.text.get(from..to).map(|part| part.iter().collect()).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        self.text.iter().collect()
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.at + 1 < self.end && self.text[self.at] == ' ' {
            self.at += 1;
        }
    }

    pub(super) fn trim(&mut self) {
        self.skip_blanks();
        while self.at + 1 < self.end && self.text[self.end - 1] == ' ' {
            self.end -= 1;
        }
    }

    fn next_significant(&self, from: usize) -> usize {
        let mut at = from + 1;
        while self.contains(at) && self.text[at] == ' ' {
            at += 1;
        }
        at
    }

    /// Returns the index of the next character that is not a blank, if that character is `value`.
    pub(super) fn index_of_next(&self, from: usize, value: char) -> Reading<Option<usize>> {
        let at = self.next_significant(from);
        Ok((self.char_at(at)? == value).then_some(at))
    }

    pub(super) fn next_significant_is(&self, from: usize, value: char) -> bool {
        self.next_significant_char(from) == value
    }

    /// Returns the next character that is not a blank, or a blank at the end.
    pub(super) fn next_significant_char(&self, from: usize) -> char {
        let at = self.next_significant(from);
        if self.contains(at) { self.text[at] } else { ' ' }
    }

    pub(super) fn previous_significant(&self, from: usize) -> Option<usize> {
        (0..from.min(self.end)).rev().find(|at| self.text[*at] != ' ')
    }

    pub(super) fn find(&self, from: usize, value: char) -> Option<usize> {
        (from..self.end).find(|at| self.text[*at] == value)
    }

    /// Returns the index of the next `value` after `from` that is not escaped by a backslash.
    pub(super) fn find_unescaped(&self, from: usize, value: char) -> Option<usize> {
        let mut escaped = false;
        for at in from + 1..self.end {
            if escaped {
                escaped = false;
            } else if self.text[at] == '\\' {
                escaped = true;
            } else if self.text[at] == value {
                return Some(at);
            }
        }
        None
    }

    /// Returns the index of the bracket that closes the bracket at `from`.
    pub(super) fn find_close(
        &self,
        from: usize,
        open: char,
        close: char,
        skip_regex: bool,
    ) -> Reading<Option<usize>> {
        let found = self.char_at(from)?;
        if found != open {
            return Err(Failure::InvalidPath(format!("Expected {open} but found {found}")));
        }
        let mut depth = 1;
        let mut at = from + 1;
        while self.contains(at) {
            let quote = self.char_at(at)?;
            if quote == '\'' || quote == '"' {
                let Some(end) = self.find_unescaped(at, quote) else {
                    let message = format!(
                        "Could not find matching close quote for {quote} when parsing : {}",
                        self.text()
                    );
                    return Err(Failure::InvalidPath(message));
                };
                at = end + 1;
            }
            if skip_regex && self.char_at(at)? == '/' {
                let Some(end) = self.find_unescaped(at, '/') else {
                    let message = format!(
                        "Could not find matching close for / when parsing regex in : {}",
                        self.text()
                    );
                    return Err(Failure::InvalidPath(message));
                };
                at = end + 1;
            }
            let value = self.char_at(at)?;
            if value == open {
                depth += 1;
            }
            if value == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(at));
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Skips blanks and consumes the character `value`. Any other character is an error.
    pub(super) fn expect(&mut self, value: char) -> Reading<()> {
        self.skip_blanks();
        if self.current()? != value {
            return Err(Failure::InvalidPath(format!("Expected character: {value}")));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips blanks and consumes `word` if it comes next. Returns false otherwise.
    pub(super) fn take(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let length = word.chars().count();
        let there =
            self.contains(self.at + length - 1) && self.slice(self.at, self.at + length) == word;
        if there {
            self.at += length;
        }
        there
    }
}
