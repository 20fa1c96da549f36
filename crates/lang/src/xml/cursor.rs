//! A position in a string, with methods that read names, whitespace and fixed words from there.

use super::fault::Fault;

/// A position in the text of a document.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn starts(&self, word: &str) -> bool {
        self.rest().starts_with(word)
    }

    /// Consumes `word` if it comes next in the text; returns true if `word` was there.
    pub(super) fn skip(&mut self, word: &str) -> bool {
        let is_here = self.starts(word);
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    /// Consumes a number of bytes, which must end at a character boundary, and returns them.
    pub(super) fn go(&mut self, bytes: usize) -> &'t str {
        let taken = &self.rest()[..bytes];
        self.at += bytes;
        taken
    }

    /// Consumes characters as long as the predicate is true, and returns them.
    pub(super) fn take_while(&mut self, mut is_taken: impl FnMut(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !is_taken(c)).unwrap_or(rest.len());
        self.go(end)
    }

    /// Consumes whitespace in the text; returns true if there was any.
    pub(super) fn spaces(&mut self) -> bool {
        !self.take_while(is_space).is_empty()
    }

    /// Consumes and returns an XML name, including colons; `None` if no name comes next.
    pub(super) fn name(&mut self) -> Option<&'t str> {
        self.peek().filter(|c| is_name_start(*c))?;
        Some(self.take_while(is_name))
    }

    /// Returns an error at this position. At the end of the text, the error always reports a premature end, and
    /// `message` is not used.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        if self.is_at_end() { Fault::cut() } else { Fault::new(message) }
    }
}

/// Fails for a character that no document may contain; `message` builds the message from its code.
pub(super) fn check(c: char, message: impl FnOnce(String) -> String) -> Result<(), Fault> {
    if is_char(c) { Ok(()) } else { Err(Fault::new(message(format!("{:x}", c as u32)))) }
}

pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Returns true for characters that an XML document may contain.
pub(super) fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

pub(super) fn is_name_start(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | '_' | ':' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}' | '\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}')
}

pub(super) fn is_name(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '0'..='9' | '-' | '.' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}' | '\u{2040}')
}
