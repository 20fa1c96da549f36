//! Tokenizes the tags, scripts and conditional comments of a page like Lagarto 5.0.13.
//!
//! A state machine over the bytes of the text with Lagarto's states, including its deviations from HTML: a closing
//! `</script >` with a blank opens another script, `<!--->` is an exception, `<noscript>` hides its content. Every
//! state consumes at least a byte or ends the page, so that the time is linear. Names and values are ranges of the
//! text; only attribute values are copied.

mod in_tag;

use super::reference;
pub use super::tag::{Kind, Tag};

/// A Java exception, in its text form, that ends the parsing of a page.
pub type Thrown = String;

pub(super) const OUT_OF_BOUNDS: &str = "java.lang.IndexOutOfBoundsException";

/// Receiver of the tokens of a page.
pub trait Visitor {
    /// True if the visitor needs the text of the page and all attributes.
    const READS_ALL: bool;

    /// Receives a tag.
    fn tag(&mut self, tag: &Tag<'_>) -> Result<(), Thrown>;
    /// Receives a script tag with its content.
    fn script(&mut self, tag: &Tag<'_>, body: &str) -> Result<(), Thrown>;
    /// Receives a piece of the page's text, in order; called only if [`Self::READS_ALL`] is true.
    fn text(&mut self, text: &str);
    /// Receives the start of a conditional comment, with its condition.
    fn begin_condition(&mut self, expression: &str) -> Result<(), Thrown>;
    /// Receives the end of a conditional comment.
    fn end_condition(&mut self) -> Result<(), Thrown>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Data,
    TagOpen,
    EndTagOpen,
    TagName,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
    AfterQuoted,
    SelfClosing,
    BogusComment,
    Markup,
    CommentStart,
    CommentStartDash,
    Comment,
    CommentEndDash,
    CommentEnd,
    CommentEndBang,
    Doctype,
    /// Text of a raw element, up to the closing tag with this name. True if references in the text are resolved.
    Raw(&'static str, bool),
    Script,
    ScriptEscape,
    ScriptEscaped,
    ScriptEscapedDash,
    ScriptEscapedDashDash,
    ScriptEscapedLess,
    DoubleEscaped,
    DoubleEscapedDash,
    DoubleEscapedDashDash,
    DoubleEscapedLess,
}

const RAW: [&str; 6] = ["xmp", "style", "iframe", "noembed", "noframes", "noscript"];
const WITH_REFERENCES: [&str; 2] = ["textarea", "title"];

/// Tokenizes a page. With `conditional`, conditional comments are evaluated.
pub fn read<V: Visitor>(text: &str, conditional: bool, page: &mut V) -> Result<(), Thrown> {
    let mut reader = Reader {
        input: text,
        text: text.as_bytes(),
        next: 0,
        conditional,
        keeps_text: V::READS_ALL,
        content: String::new(),
        body_at: 0,
        tag: Tag::new(V::READS_ALL),
        name_at: (0, 0),
        value: String::new(),
        comment: None,
        state: State::Data,
    };
    while reader.step(page)? {}
    Ok(())
}

struct Reader<'t> {
    input: &'t str,
    text: &'t [u8],
    /// Index of the next byte to read.
    next: usize,
    conditional: bool,
    keeps_text: bool,
    /// Text that was read but not yet passed to the visitor.
    content: String,
    /// Position at which the text of the current raw element begins; tags within the text of a raw element have no
    /// meaning.
    body_at: usize,
    tag: Tag<'t>,
    /// Start and end of the current attribute's name.
    name_at: (usize, usize),
    /// Value of the current attribute.
    value: String,
    /// Start of the current comment; `None` where Lagarto loses the position.
    comment: Option<usize>,
    state: State,
}

fn blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' ')
}

impl Reader<'_> {
    fn take(&mut self) -> Option<u8> {
        let byte = self.text.get(self.next).copied();
        self.next += 1;
        byte
    }

    /// Returns true if `what` is at this position, followed by at least one more byte.
    fn has(&self, what: &str, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        rest.len() > what.len() && rest.starts_with(what.as_bytes())
    }

    fn find(&self, what: &[u8], from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        memchr::memmem::find(rest, what).map_or(self.text.len().max(from), |at| from + at)
    }

    /// Runs one state of the tokenizer. Returns false at the end of the page.
    fn step(&mut self, page: &mut impl Visitor) -> Result<bool, Thrown> {
        match self.state {
            State::Data => return self.data(page),
            State::TagOpen => self.tag_open(),
            State::EndTagOpen => self.end_tag_open(),
            State::TagName => self.tag_name(page)?,
            State::BeforeName => self.before_name(page)?,
            State::Name => self.name(page)?,
            State::AfterName => self.after_name(page)?,
            State::BeforeValue => self.before_value(page)?,
            State::Unquoted => self.unquoted(page)?,
            State::Quoted(quote) => self.quoted(quote)?,
            State::AfterQuoted => self.after_quoted(page)?,
            State::SelfClosing => self.self_closing(page)?,
            State::BogusComment => {
                let from = self.next - 1;
                let end = self.find(b">", from);
                self.next = end + 1;
                self.state = State::Data;
                self.end_comment(Some(from), end, page)?;
            }
            State::Markup => self.markup(page)?,
            State::CommentStart
            | State::CommentStartDash
            | State::Comment
            | State::CommentEndDash
            | State::CommentEnd
            | State::CommentEndBang => self.comment(page)?,
            State::Doctype => self.doctype()?,
            State::Raw(name, references) => self.raw(name, references, page)?,
            _ => self.script(page)?,
        }
        Ok(true)
    }

    /// Adds a range of the page to the text for the visitor, if the visitor reads text.
    fn keep(&mut self, mut from: usize, to: usize) {
        if self.keeps_text {
            // The range may start inside a character.
            while from < to && !self.input.is_char_boundary(from) {
                from += 1;
            }
            self.content.push_str(self.input.get(from..to).unwrap_or_default());
        }
    }

    /// Passes the text that was collected to the visitor.
    fn flush(&mut self, page: &mut impl Visitor) {
        if !self.content.is_empty() {
            page.text(&self.content);
            self.content.clear();
        }
    }

    fn data(&mut self, page: &mut impl Visitor) -> Result<bool, Thrown> {
        loop {
            let from = self.next;
            let rest = self.text.get(from..).unwrap_or_default();
            let Some(at) = memchr::memchr2(b'<', b'&', rest) else {
                self.keep(from, self.text.len());
                self.flush(page);
                return Ok(false);
            };
            self.keep(from, from + at);
            self.next += at + 1;
            if rest[at] == b'<' {
                self.flush(page);
                self.state = State::TagOpen;
                return Ok(true);
            }
            self.reference(None)?;
        }
    }

    /// Resolves the character reference after an `&`, and appends the character to the content. In an attribute,
    /// `allowed` is the quote around the attribute's value: the character is appended to that value, and an `&` directly
    /// before the quote begins no reference.
    fn reference(&mut self, allowed: Option<u8>) -> Result<(), Thrown> {
        let Some(byte) = self.text.get(self.next) else { return Ok(()) };
        if Some(*byte) == allowed {
            return Ok(());
        }
        let out = if allowed.is_some() { &mut self.value } else { &mut self.content };
        self.next += reference::resolve(self.input, self.next, allowed.is_some(), out)?;
        if !self.keeps_text {
            self.content.clear();
        }
        Ok(())
    }

    /// Passes a complete tag to the visitor.
    fn emit(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        self.state = State::Data;
        if self.tag.kind != Kind::End {
            self.body_at = self.next;
            if self.tag.is("script") {
                self.state = State::Script;
                return Ok(());
            }
            for (names, references) in [(&RAW[..], false), (&WITH_REFERENCES[..], true)] {
                if let Some(name) = names.iter().find(|name| self.tag.is(name)) {
                    self.state = State::Raw(name, references);
                }
            }
        }
        page.tag(&self.tag)
    }

    fn markup(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        let at = self.next;
        self.next += 1;
        let rest = self.text.get(at..).unwrap_or_default();
        self.state = State::BogusComment;
        if self.has("--", at) {
            self.state = State::CommentStart;
            self.next += 1;
        } else if rest.len() >= 7 && rest[..7].eq_ignore_ascii_case(b"doctype") {
            self.state = State::Doctype;
            self.next = at + 7;
        } else if self.conditional && self.has("[if ", at) {
            let end = self.find(b"]>", at + 4);
            // Lagarto does not see an end mark at the very end of a page.
            let end = if end + 2 == self.text.len() { self.text.len() } else { end };
            self.next = end + 2;
            self.state = State::Data;
            page.begin_condition(&self.input[at + 1..end])?;
        } else if self.conditional && self.has("[endif]", at) {
            self.next = self.find(b">", at + 7) + 1;
            self.state = State::Data;
            page.end_condition()?;
        }
        Ok(())
    }

    fn comment(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        if self.state == State::CommentStart {
            self.comment = Some(self.next);
        } else if self.state == State::Comment {
            self.next = self.find(b"-", self.next);
        }
        let Some(byte) = self.take() else {
            self.state = State::Data;
            let start = self.comment;
            return self.end_comment(start, self.text.len(), page);
        };
        let at = self.next - 1;
        let cut = match (self.state, byte) {
            (State::CommentStart, b'-') => return self.goto(State::CommentStartDash),
            (State::CommentStart, b'>') => at,
            (State::CommentStartDash, b'-') => return self.goto(State::CommentEnd),
            (State::CommentStartDash, b'>') => {
                let start = self.comment;
                self.end_comment(start, at, page)?;
                return self.goto(State::Comment);
            }
            (State::Comment, b'-') => return self.goto(State::CommentEndDash),
            (State::CommentEndDash | State::CommentEnd, b'-') => {
                return self.goto(State::CommentEnd);
            }
            (State::CommentEnd, b'!') => return self.goto(State::CommentEndBang),
            (State::CommentEndBang, b'-') => return self.goto(State::CommentEndDash),
            (State::CommentEnd, b'>') => at - 2,
            (State::CommentEndBang, b'>') => at - 3,
            _ => return self.goto(State::Comment),
        };
        self.state = State::Data;
        let start = self.comment;
        self.end_comment(start, cut, page)
    }

    fn goto(&mut self, state: State) -> Result<(), Thrown> {
        self.state = state;
        Ok(())
    }

    fn end_comment(
        &mut self,
        from: Option<usize>,
        to: usize,
        page: &mut impl Visitor,
    ) -> Result<(), Thrown> {
        let Some(from) = from else {
            return Err(if self.conditional {
                let length = self.input.encode_utf16().count();
                format!(
                    "java.lang.ArrayIndexOutOfBoundsException: Index -1 out of bounds for length {length}"
                )
            } else {
                OUT_OF_BOUNDS.to_string()
            });
        };
        const END: &str = "<![endif]";
        if self.conditional && self.has("[if ", from) {
            let body = self.text.get(from + 3..to).unwrap_or_default();
            let Some(end) = memchr::memchr(b']', body).map(|at| from + 3 + at) else {
                return Err(OUT_OF_BOUNDS.to_string());
            };
            if end + 1 >= self.text.len() {
                return Err(reference::beyond(self.input));
            }
            self.next = end + 2;
            self.state = State::Data;
            return page.begin_condition(&self.input[from + 1..end]);
        }
        if self.conditional && to > END.len() && self.has(END, to - END.len()) {
            self.state = State::Data;
            return page.end_condition();
        }
        if from > to {
            return Err(OUT_OF_BOUNDS.to_string());
        }
        self.comment = None;
        Ok(())
    }

    /// Skips to the end of a document type. If the page ends within its quotes, that is an exception.
    fn doctype(&mut self) -> Result<(), Thrown> {
        let at = self.next;
        let end = self.find(b">", at).min(self.text.len());
        self.next = end + 1;
        self.state = State::Data;
        if end == self.text.len() && open_identifier(&self.text[at..end]) {
            return Err(reference::beyond(self.input));
        }
        Ok(())
    }

    /// Reads the text of a raw element up to the closing tag `name`. Without `references`, the text is passed on only
    /// if the closing tag exists.
    fn raw(
        &mut self,
        name: &'static str,
        references: bool,
        page: &mut impl Visitor,
    ) -> Result<(), Thrown> {
        loop {
            let (text, at) = (self.text, self.next);
            let rest = text.get(at..).unwrap_or_default();
            let next = if references {
                memchr::memchr2(b'<', b'&', rest)
            } else {
                memchr::memchr(b'<', rest)
            };
            let less = at + next.unwrap_or(rest.len());
            if references {
                self.keep(at, less);
            }
            self.next = less + 1;
            match text.get(less) {
                None => return self.goto(State::Data),
                Some(b'&') => {
                    self.reference(None)?;
                    continue;
                }
                Some(_) => {}
            }
            let open = self.take() == Some(b'/')
                && self.take().is_some_and(|byte| byte.is_ascii_alphabetic());
            if !open {
                if references {
                    self.keep_odd(less);
                }
                continue;
            }
            let from = self.next - 1;
            let byte = loop {
                match self.take() {
                    Some(byte) if byte.is_ascii_alphabetic() => {}
                    other => break other,
                }
            };
            let Some(byte) = byte.filter(|byte| ends_name(*byte)) else { continue };
            let found = &self.text[from..self.next - 1];
            if found.eq_ignore_ascii_case(name.as_bytes()) {
                if !references {
                    self.keep(self.body_at, less);
                }
                self.flush(page);
                let kind = if byte == b'/' { Kind::SelfClosing } else { Kind::End };
                self.tag.start(found, kind);
                return self.after_part(byte, page);
            }
        }
    }

    /// Adds the text from a `<` at `from` that does not begin a tag, up to the current position; a character is not
    /// split.
    fn keep_odd(&mut self, from: usize) {
        let mut to = self.next;
        if to > self.text.len() {
            return;
        }
        while !self.input.is_char_boundary(to) {
            to += 1;
        }
        self.next = to;
        self.keep(from, to);
    }

    fn script(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        if self.state == State::Script {
            self.next = self.find(b"<", self.next);
        }
        let Some(byte) = self.take() else {
            // If the page ends within escaped text, the text and its script are lost.
            let whole = matches!(
                self.state,
                State::Script
                    | State::ScriptEscape
                    | State::ScriptEscaped
                    | State::ScriptEscapedLess
            );
            self.state = State::Data;
            return if whole { self.end_script(self.text.len(), page) } else { Ok(()) };
        };
        self.state = match (self.state, byte) {
            (State::Script, _) => return self.script_less(page),
            (State::ScriptEscape, b'-') if self.take() == Some(b'-') => {
                State::ScriptEscapedDashDash
            }
            (State::ScriptEscape, _) => State::Script,
            (State::ScriptEscaped, b'-') => State::ScriptEscapedDash,
            (State::ScriptEscapedDash, b'-' | b'<') => State::ScriptEscapedDashDash,
            (State::ScriptEscapedDashDash, b'-') => State::ScriptEscapedDashDash,
            (State::ScriptEscapedDashDash, b'>') => State::Script,
            (State::ScriptEscaped | State::ScriptEscapedDashDash, b'<') => State::ScriptEscapedLess,
            (State::ScriptEscapedLess, b'/') => {
                self.next += 1;
                State::ScriptEscaped
            }
            (State::ScriptEscapedLess, byte) if byte.is_ascii_alphabetic() => {
                let opens = self.script_tag(self.next - 1);
                if opens { State::DoubleEscaped } else { State::ScriptEscaped }
            }
            (State::DoubleEscaped, b'-') => State::DoubleEscapedDash,
            (State::DoubleEscapedDash | State::DoubleEscapedDashDash, b'-') => {
                State::DoubleEscapedDashDash
            }
            (State::DoubleEscapedDashDash, b'>') => State::Script,
            (State::DoubleEscapedLess, b'/') => {
                let closes = self.script_tag(self.next);
                if closes { State::ScriptEscaped } else { State::DoubleEscaped }
            }
            (State::DoubleEscapedLess, _) => State::DoubleEscaped,
            (
                State::DoubleEscaped | State::DoubleEscapedDash | State::DoubleEscapedDashDash,
                b'<',
            ) => State::DoubleEscapedLess,
            (State::DoubleEscaped | State::DoubleEscapedDash | State::DoubleEscapedDashDash, _) => {
                State::DoubleEscaped
            }
            _ => State::ScriptEscaped,
        };
        Ok(())
    }

    fn end_script(&self, to: usize, page: &mut impl Visitor) -> Result<(), Thrown> {
        page.script(&self.tag, self.input.get(self.body_at..to).unwrap_or_default())
    }

    /// Handles the character after a `<` in a script.
    fn script_less(&mut self, page: &mut impl Visitor) -> Result<(), Thrown> {
        match self.take() {
            Some(b'/') => {}
            Some(b'!') => return self.goto(State::ScriptEscape),
            _ => return Ok(()),
        }
        if !self.take().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Ok(());
        }
        let from = self.next - 1;
        let byte = loop {
            match self.take() {
                Some(byte) if byte.is_ascii_alphabetic() => {}
                other => break other,
            }
        };
        let name = self.text.get(from..self.next - 1).unwrap_or_default();
        match byte {
            Some(byte) if !name.eq_ignore_ascii_case(b"script") || !ends_name(byte) => Ok(()),
            Some(b'>') => {
                self.state = State::Data;
                self.end_script(from - 2, page)
            }
            // The open tag continues after the script.
            Some(byte) => self.after_part(byte, page),
            None => Ok(()),
        }
    }

    /// Skips a tag's name that begins at `from`, and the byte after it. Returns true if the name is `script`.
    fn script_tag(&mut self, from: usize) -> bool {
        let rest = self.text.get(from..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        self.next = from + length + 1;
        rest[..length].eq_ignore_ascii_case(b"script")
            && rest.get(length).is_some_and(|byte| ends_name(*byte))
    }
}

fn ends_name(byte: u8) -> bool {
    blank(byte) || matches!(byte, b'/' | b'>')
}

/// Returns true if the page ends within the quotes of a document type's identifier.
fn open_identifier(text: &[u8]) -> bool {
    let skip = |text: &mut &[u8]| {
        let blanks = text.iter().take_while(|byte| blank(**byte)).count();
        *text = &text[blanks..];
    };
    let mut rest = text;
    skip(&mut rest);
    let name = rest.iter().take_while(|byte| !blank(**byte)).count();
    rest = &rest[name..];
    skip(&mut rest);
    let mut identifiers = match rest.get(..6) {
        Some(word) if word.eq_ignore_ascii_case(b"public") => 2,
        Some(word) if word.eq_ignore_ascii_case(b"system") => 1,
        _ => return false,
    };
    rest = &rest[6..];
    while identifiers > 0 {
        skip(&mut rest);
        let Some(quote @ (b'"' | b'\'')) = rest.first() else { return false };
        let Some(end) = memchr::memchr(*quote, &rest[1..]) else { return true };
        rest = &rest[end + 2..];
        identifiers -= 1;
    }
    false
}
