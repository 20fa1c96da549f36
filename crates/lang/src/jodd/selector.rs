//! Parses CSSelly's selectors: every comma separates groups, wherever it is, and backslashes are dropped.
//!
//! A selector that JMeter cannot read is [`Unreadable`]; nothing else is rejected. The nesting of `:has` and `:not` is
//! limited.

/// Maximum nesting depth of selectors. Deep nesting does not work in Jodd either, because it does not match nested
/// brackets.
const MAX_DEPTH: u32 = 8;

/// Error: the text is not a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// Selectors that were separated by commas.
#[derive(Debug)]
pub struct Selectors(pub(super) Vec<Vec<Step>>);

/// A step of a CSS selector: a combinator, an element name and tests.
#[derive(Debug)]
pub(super) struct Step {
    /// Combinator between this step and the previous one.
    pub(super) from: Combinator,
    /// Name of the element; `None` matches any element.
    pub(super) element: Option<String>,
    pub(super) tests: Vec<Test>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

/// A test of an element, or of its position among the results.
#[derive(Debug)]
pub(super) enum Test {
    Attribute { name: String, value: Option<(Match, String)> },
    Class(PseudoClass),
    NthChild(Nth),
    NthLastChild(Nth),
    NthOfType(Nth),
    NthLastOfType(Nth),
    Contains(String),
    Has(Selectors),
    Not(Selectors),
    Eq(i32),
    Greater(i32),
    Less(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Equals,
    Includes,
    Dash,
    Prefix,
    Suffix,
    Substring,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PseudoClass {
    Empty,
    FirstChild,
    FirstOfType,
    LastChild,
    LastOfType,
    OnlyChild,
    OnlyOfType,
    Root,
    First,
    Last,
    Even,
    Odd,
    /// Matches a form element with this `type`.
    Type(&'static str),
    Input,
    Header,
    Parent,
    Selected,
    Checked,
}

/// Position formula `an+b` of a pseudo class such as `:nth-child`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nth {
    pub(super) a: i32,
    pub(super) b: i32,
}

impl Nth {
    fn parse(text: &str) -> Result<Self, Unreadable> {
        let text = text.replace(['+', ' ', '\t', '\n', '\r'], "");
        let number = |text: &str| text.parse::<i32>().map_err(|_| Unreadable);
        Ok(match &*text {
            "odd" => Self { a: 2, b: 1 },
            "even" => Self { a: 2, b: 0 },
            _ => match text.split_once('n') {
                None => Self { a: 0, b: number(&text)? },
                Some((a, b)) => Self {
                    a: match a {
                        "" => 1,
                        "-" => -1,
                        a => number(a)?,
                    },
                    b: if b.is_empty() { 0 } else { number(b)? },
                },
            },
        })
    }

    pub(super) fn holds(self, value: i32) -> bool {
        let (value, a, b) = (i64::from(value), i64::from(self.a), i64::from(self.b));
        match a {
            0 => value == b,
            1.. => value >= b && (value - b) % a == 0,
            _ => value <= b && (b - value) % -a == 0,
        }
    }
}

impl Selectors {
    /// Parses CSS selectors in CSSelly's dialect.
    pub fn parse(source: &str) -> Result<Self, Unreadable> {
        Self::parse_at(source, 0)
    }

    fn parse_at(source: &str, depth: u32) -> Result<Self, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(Unreadable);
        }
        let mut groups = Vec::new();
        // Consecutive commas count as one.
        let mut rest = Some(source);
        while let Some(text) = rest {
            let (group, next) = match text.find(',') {
                Some(at) => (&text[..at], Some(text[at..].trim_start_matches(','))),
                None => (text, None),
            };
            groups.push(Reader { text: group, at: 0, depth }.steps()?);
            rest = next;
        }
        Ok(Self(groups))
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0xC)
}

impl<'t> Reader<'t> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let accepted = self.byte() == Some(byte);
        self.at += usize::from(accepted);
        accepted
    }

    fn blanks(&mut self) -> bool {
        let start = self.at;
        while self.byte().is_some_and(is_blank) {
            self.at += 1;
        }
        self.at > start
    }

    fn steps(&mut self) -> Result<Vec<Step>, Unreadable> {
        let mut steps = Vec::new();
        let mut from = Combinator::Descendant;
        loop {
            self.blanks();
            if self.byte().is_none() {
                // A string without steps is not a selector.
                return if steps.is_empty() { Err(Unreadable) } else { Ok(steps) };
            }
            let element = match self.identifier() {
                Some(name) => Some(plain(name)),
                None => {
                    self.accept(b'*');
                    None
                }
            };
            let tests = self.tests()?;
            steps.push(Step { from, element, tests });
            if self.byte().is_none() {
                return Ok(steps);
            }
            // A line end directly after an element does not count as a blank.
            if matches!(self.byte(), Some(b'\n' | b'\r' | 0xC)) {
                return Err(Unreadable);
            }
            let blank = self.blanks();
            from = match self.byte() {
                Some(b'>') => Combinator::Child,
                Some(b'+') => Combinator::Next,
                Some(b'~') => Combinator::Later,
                _ if blank => Combinator::Descendant,
                _ => return Err(Unreadable),
            };
            if from != Combinator::Descendant {
                self.at += 1;
            }
        }
    }

    /// Returns the length of a name's letter at an offset, including an escape; `None` if it is no letter.
    fn letter(&self, at: usize, first: bool) -> Option<usize> {
        let bytes = self.text.as_bytes();
        match *bytes.get(at)? {
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => Some(1),
            b'0'..=b'9' | b'-' if !first => Some(1),
            b'\\' => {
                let hex = bytes[at + 1..].iter().take(6).take_while(|b| b.is_ascii_hexdigit());
                match hex.count() {
                    0 => {
                        let next = self.text.get(at + 1..)?.chars().next()?;
                        let ends_line = matches!(next, '\n' | '\r' | '\u{C}');
                        (!ends_line).then(|| 1 + next.len_utf8())
                    }
                    digits => {
                        let end = at + 1 + digits;
                        let blank = match bytes.get(end..).unwrap_or_default() {
                            [b'\r', b'\n', ..] => 2,
                            [byte, ..] if is_blank(*byte) => 1,
                            _ => 0,
                        };
                        Some(1 + digits + blank)
                    }
                }
            }
            byte if !byte.is_ascii() => self.text.get(at..)?.chars().next().map(char::len_utf8),
            _ => None,
        }
    }

    fn letters(&mut self) {
        while let Some(length) = self.letter(self.at, false) {
            self.at += length;
        }
    }

    fn identifier(&mut self) -> Option<&'t str> {
        let start = self.at;
        let signed = start + usize::from(self.byte() == Some(b'-'));
        self.at = signed + self.letter(signed, true)?;
        self.letters();
        Some(&self.text[start..self.at])
    }

    fn tests(&mut self) -> Result<Vec<Test>, Unreadable> {
        let mut tests = Vec::new();
        loop {
            let start = self.at;
            match self.byte() {
                Some(b'[') => {
                    self.at += 1;
                    // The end of the text closes an open bracket.
                    while !self.accept(b']') && self.byte().is_some() {
                        tests.push(self.attribute()?);
                    }
                }
                Some(b'#') => {
                    self.at += 1;
                    self.letters();
                    let id = plain(&self.text[start + 1..self.at]);
                    if id.is_empty() {
                        return Err(Unreadable);
                    }
                    tests.push(attribute("id", Match::Equals, id));
                }
                Some(b'.') => {
                    self.at += 1;
                    let class = plain(self.identifier().ok_or(Unreadable)?);
                    tests.push(attribute("class", Match::Includes, class));
                }
                Some(b':') => {
                    self.at += 1;
                    self.accept(b':');
                    let name = self.identifier().ok_or(Unreadable)?;
                    if !self.accept(b'(') {
                        tests.push(Test::Class(pseudo_class(name).ok_or(Unreadable)?));
                    } else if self.byte().is_some() {
                        let body = self.body()?;
                        tests.push(self.function(name, body)?);
                    }
                }
                _ => return Ok(tests),
            }
        }
    }

    fn attribute(&mut self) -> Result<Test, Unreadable> {
        let start = self.at;
        self.blanks();
        self.identifier().ok_or(Unreadable)?;
        self.blanks();
        let before = self.at;
        if matches!(self.byte(), Some(b'~' | b'|' | b'^' | b'$' | b'*')) {
            self.at += 1;
        }
        if !self.accept(b'=') {
            self.at = before;
            let name = plain(self.text[start..before].trim());
            return Ok(Test::Attribute { name: name.to_lowercase(), value: None });
        }
        self.blanks();
        match self.byte() {
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote)?,
            _ => _ = self.identifier().ok_or(Unreadable)?,
        }
        self.blanks();
        let text = plain(&self.text[start..self.at]);
        let (name, value) = text.split_once('=').ok_or(Unreadable)?;
        let (kind, name) = match name.as_bytes().last() {
            Some(b'~') => (Match::Includes, &name[..name.len() - 1]),
            Some(b'|') => (Match::Dash, &name[..name.len() - 1]),
            Some(b'^') => (Match::Prefix, &name[..name.len() - 1]),
            Some(b'$') => (Match::Suffix, &name[..name.len() - 1]),
            Some(b'*') => (Match::Substring, &name[..name.len() - 1]),
            _ => (Match::Equals, name),
        };
        let value = Some((kind, unquoted(value)?));
        Ok(Test::Attribute { name: name.trim().to_lowercase(), value })
    }

    fn quoted(&mut self, quote: u8) -> Result<(), Unreadable> {
        self.at += 1;
        // Jodd takes the last quotation mark before the end of the line. The first one is equivalent, because the rest
        // would make no sense otherwise.
        while let Some(byte) = self.byte() {
            match byte {
                _ if byte == quote => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    let next = self.text[self.at + 1..].chars().next().ok_or(Unreadable)?;
                    self.at += 1 + next.len_utf8();
                }
                b'\n' | b'\r' | 0xC => return Err(Unreadable),
                _ => self.at += 1,
            }
        }
        Err(Unreadable)
    }

    /// Returns the text up to the closing bracket.
    fn body(&mut self) -> Result<&'t str, Unreadable> {
        let start = self.at;
        while let Some(byte) = self.byte() {
            match byte {
                b')' => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at - 1]);
                }
                b'"' | b'\'' => {
                    let at = self.at;
                    if self.quoted(byte).is_err() {
                        self.at = at + 1;
                    }
                }
                b'\\' => {
                    let next = self.text[self.at + 1..].chars().next().ok_or(Unreadable)?;
                    self.at += 1 + next.len_utf8();
                }
                _ => self.at += 1,
            }
        }
        Err(Unreadable)
    }

    fn function(&self, name: &str, body: &str) -> Result<Test, Unreadable> {
        let number = || body.trim().parse::<i32>().map_err(|_| Unreadable);
        let nested = || Selectors::parse_at(stripped(body), self.depth + 1);
        Ok(match name {
            "nth-child" => Test::NthChild(Nth::parse(body)?),
            "nth-last-child" => Test::NthLastChild(Nth::parse(body)?),
            "nth-of-type" => Test::NthOfType(Nth::parse(body)?),
            "nth-last-of-type" => Test::NthLastOfType(Nth::parse(body)?),
            "eq" => Test::Eq(number()?),
            "gt" => Test::Greater(number()?),
            "lt" => Test::Less(number()?),
            "contains" => Test::Contains(stripped(body).to_owned()),
            "has" => Test::Has(nested()?),
            "not" => Test::Not(nested()?),
            _ => return Err(Unreadable),
        })
    }
}

fn attribute(name: &str, kind: Match, value: String) -> Test {
    Test::Attribute { name: name.to_owned(), value: Some((kind, value)) }
}

/// Removes all backslashes from a part of a selector.
fn plain(text: &str) -> String {
    text.replace('\\', "")
}

/// Removes the first and the last character, if the text begins with a quotation mark.
fn stripped(text: &str) -> &str {
    if !text.starts_with(['"', '\'']) {
        return text;
    }
    let mut inner = text.chars();
    inner.next();
    inner.next_back();
    inner.as_str()
}

fn unquoted(value: &str) -> Result<String, Unreadable> {
    if value.is_empty() {
        return Err(Unreadable);
    }
    Ok(stripped(value).trim_matches(|c| c <= ' ').to_owned())
}

fn pseudo_class(name: &str) -> Option<PseudoClass> {
    const TYPES: [&str; 9] =
        ["button", "checkbox", "file", "image", "password", "radio", "reset", "submit", "text"];
    Some(match name {
        "empty" => PseudoClass::Empty,
        "first-child" => PseudoClass::FirstChild,
        "first-of-type" => PseudoClass::FirstOfType,
        "last-child" => PseudoClass::LastChild,
        "last-of-type" => PseudoClass::LastOfType,
        "only-child" => PseudoClass::OnlyChild,
        "only-of-type" => PseudoClass::OnlyOfType,
        "root" => PseudoClass::Root,
        "first" => PseudoClass::First,
        "last" => PseudoClass::Last,
        "even" => PseudoClass::Even,
        "odd" => PseudoClass::Odd,
        "input" => PseudoClass::Input,
        "header" => PseudoClass::Header,
        "parent" => PseudoClass::Parent,
        "selected" => PseudoClass::Selected,
        "checked" => PseudoClass::Checked,
        other => PseudoClass::Type(TYPES.into_iter().find(|known| *known == other)?),
    })
}
