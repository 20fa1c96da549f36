//! The states of [`Reader`] within a tag: its name, and the names and values of its attributes.
//!
//! If the page ends within a tag, the tag is dropped. If it ends within a value, the value becomes text.

use super::{Kind, Reader, State, Thrown, Visitor, blank, ends_name};

impl Reader<'_> {
    pub(super) fn tag_open(&mut self) {
        self.tag.start(b"", Kind::Start);
        self.state = match self.take() {
            Some(b'!') => State::Markup,
            Some(b'/') => State::EndTagOpen,
            Some(b'?') => State::BogusComment,
            Some(byte) if byte.is_ascii_alphabetic() => State::TagName,
            _ => {
                self.next -= 1;
                self.keep(self.next - 1, self.next);
                State::Data
            }
        };
    }

    pub(super) fn end_tag_open(&mut self) {
        self.state = match self.take() {
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.tag.kind = Kind::End;
                State::TagName
            }
            Some(_) => State::BogusComment,
            None => State::Data,
        };
    }

    pub(super) fn tag_name(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        let from = self.next - 1;
        while let Some(byte) = self.take() {
            if ends_name(byte) {
                self.tag.name = &self.text[from..self.next - 1];
                return self.after_part(byte, page);
            }
        }
        self.goto(State::Data)
    }

    pub(super) fn before_name(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        match self.take_behind_blanks() {
            Some(byte @ (b'/' | b'>')) => self.after_part(byte, page),
            Some(_) => self.goto(State::Name),
            None => self.goto(State::Data),
        }
    }

    pub(super) fn name(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        self.name_at = (self.next - 1, self.next);
        while let Some(byte) = self.take() {
            self.name_at.1 = self.next - 1;
            if blank(byte) {
                return self.goto(State::AfterName);
            }
            if byte == b'=' {
                return self.goto(State::BeforeValue);
            }
            if byte == b'/' || byte == b'>' {
                self.add_name();
                return self.after_part(byte, page);
            }
        }
        self.goto(State::Data)
    }

    pub(super) fn after_name(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        match self.take_behind_blanks() {
            Some(byte @ (b'/' | b'>')) => self.after_part(byte, page),
            Some(b'=') => self.goto(State::BeforeValue),
            Some(_) => {
                self.add_name();
                self.goto(State::Name)
            }
            None => self.goto(State::Data),
        }
    }

    pub(super) fn before_value(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        match self.take_behind_blanks() {
            Some(quote @ (b'"' | b'\'')) => self.goto(State::Quoted(quote)),
            Some(b'>') => {
                self.add_name();
                self.emit(page)
            }
            Some(b'&') => {
                // The attribute's value then begins with the previous character.
                self.next -= 1;
                self.goto(State::Unquoted)
            }
            Some(_) => self.goto(State::Unquoted),
            None => self.goto(State::Data),
        }
    }

    pub(super) fn unquoted(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        self.value.clear();
        let from = self.next - 1;
        // The character may consist of more than the byte that was read.
        let first = self.input[from..].chars().next().unwrap_or(' ');
        self.value.push(first);
        self.next = from + first.len_utf8();
        while let Some(byte) = self.take() {
            if blank(byte) || byte == b'>' {
                self.add_value();
                return self.after_part(byte, page);
            }
            self.push(byte, b'>')?;
        }
        self.end_in_value()
    }

    pub(super) fn quoted(&mut self, quote: u8) -> Result<(), Thrown> {
        self.value.clear();
        while let Some(byte) = self.take() {
            if byte == quote {
                self.add_value();
                return self.goto(State::AfterQuoted);
            }
            self.push(byte, quote)?;
        }
        self.end_in_value()
    }

    pub(super) fn after_quoted(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        match self.take() {
            Some(byte) if ends_name(byte) => self.after_part(byte, page),
            Some(_) => {
                self.next -= 1;
                self.goto(State::BeforeName)
            }
            None => self.goto(State::Data),
        }
    }

    pub(super) fn self_closing(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        match self.take() {
            Some(b'>') => {
                self.tag.kind = Kind::SelfClosing;
                self.emit(page)
            }
            Some(_) => {
                self.next -= 1;
                self.goto(State::BeforeName)
            }
            None => self.goto(State::Data),
        }
    }

    fn take_behind_blanks(&mut self) -> Option<u8> {
        loop {
            match self.take() {
                Some(byte) if blank(byte) => {}
                other => return other,
            }
        }
    }

    /// Handles the end of the page within an attribute's value: the value becomes text.
    fn end_in_value(&mut self) -> Result<(), Thrown> {
        if self.keeps_text {
            self.content.push_str(&self.value);
        }
        self.goto(State::Data)
    }

    /// Adds the byte just read to the attribute's value, with the rest of its character. If the byte is `&`, resolves
    /// the character reference instead.
    fn push(&mut self, byte: u8, end: u8) -> Result<(), Thrown> {
        if byte == b'&' {
            return self.reference(Some(end));
        }
        let from = self.next - 1;
        let rest = &self.text[from..];
        let stop = |byte: &u8| matches!(byte, b'&' | b'>' | b'"' | b'\'') || blank(*byte);
        // Copy up to the next byte with a meaning. All bytes with a meaning are ASCII, so no character is cut.
        let length = 1 + rest[1..].iter().position(stop).unwrap_or(rest.len() - 1);
        self.value.push_str(&self.input[from..from + length]);
        self.next = from + length;
        Ok(())
    }

    fn add_name(&mut self) {
        self.tag.add(&self.text[self.name_at.0..self.name_at.1], None);
    }

    fn add_value(&mut self) {
        self.tag.add(&self.text[self.name_at.0..self.name_at.1], Some(&self.value));
    }

    /// Continues after a complete attribute name or value. `byte` ends the tag, begins its `/>`, or precedes another
    /// attribute.
    pub(super) fn after_part(&mut self, byte: u8, page: &mut impl Visitor) -> Result<(), Thrown> {
        match byte {
            b'>' => self.emit(page),
            b'/' => self.goto(State::SelfClosing),
            _ => self.goto(State::BeforeName),
        }
    }
}
