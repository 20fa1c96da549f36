//! Parses the Perl 5 dialect of Jakarta ORO 2.0.8, which JMeter uses.
//!
//! The parser accepts and rejects the same patterns as ORO, with the same messages. Two facts about ORO matter. ORO
//! parses a pattern twice and keeps the modifiers of the first pass, so that `(?i)` anywhere applies to the whole
//! pattern. ORO supports neither look-behind, possessive quantifiers, `\p{…}`, `\Q…\E` nor `\z`. Each parse takes one
//! pass. Nesting is limited, so that no pattern can exhaust the stack.

use super::class::{Class, Set};

/// Largest bound of a repetition. ORO stores bounds in 16 bits; the largest value means "unbounded".
const UNBOUNDED: u32 = 0xFFFF;
/// Maximum nesting depth of groups in a pattern.
const MAX_DEPTH: u32 = 200;
/// Character that stands for the end of a pattern, as in ORO's parser.
const END: char = '\u{FFFF}';

/// A node of a parsed regular expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Empty,
    /// A node that never matches.
    Never,
    Char(char),
    Class(Class),
    /// Matches at the start of the text.
    Start,
    /// Matches at the start of a line, but not after a final newline.
    LineStart,
    /// Matches at the end of the text, or before its final newline.
    End,
    /// Matches at the end of a line.
    LineEnd,
    WordBoundary,
    NotWordBoundary,
    Group(u32, Box<Node>),
    Ahead {
        negated: bool,
        node: Box<Node>,
    },
    Backreference(u32),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
    Concat(Vec<Node>),
    Alternatives(Vec<Node>),
}

/// A member of a character class: a character, or a set such as `\d`. True in `Set` means the complement of the set.
enum Member {
    Char(char),
    Set(Set, bool),
}

/// A parsed regular expression.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) root: Node,
    /// Number of capturing groups in the pattern.
    pub(super) groups: u32,
    /// True if upper and lower case are not distinguished: the text is compared in lower case.
    pub(super) ignore_case: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    single_line: bool,
    extended: bool,
}

impl Flags {
    fn set(&mut self, letter: char, value: bool) {
        match letter {
            'i' => self.ignore_case = value,
            'm' => self.multi_line = value,
            's' => self.single_line = value,
            'x' => self.extended = value,
            _ => {}
        }
    }
}

/// ORO's message for a rejected pattern.
type Rejected = String;

/// Parses a regular expression in ORO's dialect.
pub(super) fn read(source: &str) -> Result<Pattern, Rejected> {
    let text: Vec<char> = source.chars().collect();
    let mut first = Reader { text: &text, at: 0, flags: Flags::default(), groups: 0, depth: 0 };
    first.expression(false)?;
    let mut reader = Reader { text: &text, at: 0, flags: first.flags, groups: 0, depth: 0 };
    let Some(root) = reader.expression(false)? else {
        return Err("Unknown compilation error.".into());
    };
    Ok(Pattern { root, groups: reader.groups, ignore_case: reader.flags.ignore_case })
}

struct Reader<'a> {
    text: &'a [char],
    at: usize,
    flags: Flags,
    groups: u32,
    depth: u32,
}

/// The kind of a group: capturing, `(?:…)`, or a look-ahead. The characters after `(` determine it.
#[derive(Clone, Copy)]
enum Opened {
    Capture(u32),
    Plain,
    Ahead { negated: bool },
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or(END)
    }

    fn value(&self) -> char {
        self.peek(0)
    }

    fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn step(&mut self, by: usize) {
        self.at = (self.at + by).min(self.text.len());
    }

    fn rest(&self) -> String {
        self.text[self.at..].iter().collect()
    }

    /// Consumes and returns a character of the pattern. Also consumes comments and ignored whitespace after it.
    fn bump(&mut self) -> char {
        let taken = self.value();
        self.step(1);
        self.skip_ignored();
        taken
    }

    fn skip_ignored(&mut self) {
        loop {
            let value = self.value();
            if value == '(' && self.peek(1) == '?' && self.peek(2) == '#' {
                self.skip_past(')');
            } else if self.flags.extended && super::class::is_whitespace(value) {
                self.step(1);
            } else if self.flags.extended && value == '#' {
                self.skip_past('\n');
            } else {
                return;
            }
        }
    }

    fn skip_past(&mut self, last: char) {
        while !self.at_end() && self.value() != last {
            self.step(1);
        }
        self.step(1);
    }

    /// Parses alternatives up to `)` or the end of the pattern. Returns `None` for modifiers or a comment, for which
    /// ORO returns no node; ORO then ends the parse.
    fn expression(&mut self, in_parentheses: bool) -> Result<Option<Node>, Rejected> {
        let mut kind = Opened::Plain;
        if in_parentheses {
            if self.value() == '?' {
                self.step(1);
                let value = self.value();
                self.step(1);
                match value {
                    ':' => {}
                    '=' => kind = Opened::Ahead { negated: false },
                    '!' => kind = Opened::Ahead { negated: true },
                    '#' => {
                        while !self.at_end() && self.value() != ')' {
                            self.step(1);
                        }
                        if self.value() != ')' {
                            return Err("Sequence (?#... not terminated".into());
                        }
                        self.bump();
                        return Ok(None);
                    }
                    _ => {
                        self.at -= 1;
                        self.modifiers()?;
                        return Ok(None);
                    }
                }
            } else {
                self.groups += 1;
                kind = Opened::Capture(self.groups);
            }
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("Expression is too large.".into());
        }
        let unknown = || Rejected::from("Unknown compilation error.");
        let mut alternatives = vec![self.branch()?.ok_or_else(unknown)?];
        while self.value() == '|' {
            self.bump();
            alternatives.push(self.branch()?.ok_or_else(unknown)?);
        }
        self.depth -= 1;
        let unmatched = "Unmatched parentheses.";
        if in_parentheses {
            if self.at_end() || self.bump() != ')' {
                return Err(unmatched.into());
            }
        } else if !self.at_end() {
            return Err(unmatched.into());
        }
        let node = match alternatives.len() {
            1 => alternatives.remove(0),
            _ => Node::Alternatives(alternatives),
        };
        Ok(Some(match kind {
            Opened::Plain => node,
            Opened::Capture(number) => Node::Group(number, Box::new(node)),
            Opened::Ahead { negated } => Node::Ahead { negated, node: Box::new(node) },
        }))
    }

    /// Parses modifiers such as `i-s)`. Modifiers apply to the rest of the pattern, even beyond the end of the group.
    fn modifiers(&mut self) -> Result<(), Rejected> {
        let mut on = true;
        loop {
            match self.value() {
                '-' => on = false,
                letter @ ('i' | 'o' | 'g' | 'm' | 's' | 'x') => self.flags.set(letter, on),
                ')' => break,
                other => return Err(format!("Sequence (?{other}...) not recognized")),
            }
            self.step(1);
        }
        self.bump();
        Ok(())
    }

    /// Parses one alternative of a pattern. Returns `None` like [`Reader::expression`].
    fn branch(&mut self) -> Result<Option<Node>, Rejected> {
        self.skip_ignored();
        let mut parts = Vec::new();
        while !self.at_end() && !matches!(self.value(), '|' | ')') {
            match self.piece()? {
                Some(piece) => parts.push(piece),
                None => return Ok(None),
            }
        }
        Ok(Some(match parts.len() {
            0 => Node::Empty,
            1 => parts.remove(0),
            _ => Node::Concat(parts),
        }))
    }

    /// Parses an atom of a pattern with its quantifier.
    fn piece(&mut self) -> Result<Option<Node>, Rejected> {
        let Some(atom) = self.atom()? else { return Ok(None) };
        if self.value() == '(' && self.peek(1) == '?' && self.peek(2) == '#' {
            self.skip_ignored();
        }
        let (min, max) = match self.value() {
            '{' if self.is_interval(self.at) => self.interval()?,
            '*' => (0, UNBOUNDED),
            '+' => (1, UNBOUNDED),
            '?' => (0, 1),
            _ => return Ok(Some(atom)),
        };
        self.bump();
        let greedy = self.value() != '?';
        if !greedy {
            self.bump();
        }
        if self.is_quantifier(self.at) {
            return Err("Nested repetitions *?+ in expression".into());
        }
        // ORO counts repetitions by the characters that they consume, and a word boundary consumes none.
        let eats_nothing = matches!(atom, Node::WordBoundary | Node::NotWordBoundary);
        if eats_nothing {
            return Ok(Some(if min == 0 { Node::Empty } else { Node::Never }));
        }
        let max = (max < UNBOUNDED).then_some(max);
        Ok(Some(Node::Repeat { node: Box::new(atom), min, max, greedy }))
    }

    fn is_quantifier(&self, at: usize) -> bool {
        match self.text.get(at) {
            Some('*' | '+' | '?') => true,
            Some('{') => self.is_interval(at),
            _ => false,
        }
    }

    /// Returns true if `{n}`, `{n,}` or `{n,m}` is at this position; any other brace is a plain character.
    fn is_interval(&self, at: usize) -> bool {
        let digits = |mut at: usize| {
            while self.text.get(at).is_some_and(char::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let first = digits(at + 1);
        if first == at + 1 {
            return false;
        }
        let end = if self.text.get(first) == Some(&',') { digits(first + 1) } else { first };
        self.text.get(end) == Some(&'}')
    }

    /// Parses an interval up to its closing brace, which is not consumed.
    fn interval(&mut self) -> Result<(u32, u32), Rejected> {
        let close = (self.at..self.text.len()).find(|at| self.text[*at] == '}').unwrap_or(self.at);
        let inner: String = self.text[self.at + 1..close].iter().collect();
        self.at = close;
        let number = |text: &str| {
            text.parse::<i32>().map(|n| n as u32).map_err(|_| {
                format!(
                    "Unexpected number format exception.  Please report this bug.NumberFormatException message: \
                     For input string: \"{text}\""
                )
            })
        };
        let (min, max) = match inner.split_once(',') {
            None => (number(&inner)?, number(&inner)?),
            Some((min, "")) => (number(min)?, UNBOUNDED),
            Some((min, max)) => (number(min)?, number(max)?),
        };
        if max != 0 && max < min {
            return Err(format!("Invalid interval {{{min},{max}}}"));
        }
        Ok((min, max.max(min)))
    }

    fn atom(&mut self) -> Result<Option<Node>, Rejected> {
        let mut after_modifiers = false;
        loop {
            let value = self.value();
            match value {
                '^' => {
                    self.bump();
                    return Ok(Some(if self.flags.multi_line {
                        Node::LineStart
                    } else {
                        Node::Start
                    }));
                }
                '$' => {
                    self.bump();
                    return Ok(Some(if self.flags.multi_line { Node::LineEnd } else { Node::End }));
                }
                '.' => {
                    self.bump();
                    return Ok(Some(Node::Class(if self.flags.single_line {
                        Class::any()
                    } else {
                        Class::dot()
                    })));
                }
                '[' => {
                    self.step(1);
                    return self.class().map(Some);
                }
                '(' => {
                    self.bump();
                    if let Some(group) = self.expression(true)? {
                        return Ok(Some(group));
                    }
                    after_modifiers = true;
                }
                '|' | ')' if after_modifiers => return Ok(None),
                '|' | ')' => return Err(format!("Error in expression at {}", self.rest())),
                '?' | '+' | '*' => return Err("?+* follows nothing in expression".into()),
                '\\' => return self.escape().map(Some),
                END if self.at_end() => {
                    // After modifiers at the very end, ORO reads their closing parenthesis a second time.
                    return Err("Unmatched parentheses.".into());
                }
                _ => {
                    self.bump();
                    return Ok(Some(self.literal(value)));
                }
            }
        }
    }

    fn literal(&self, value: char) -> Node {
        Node::Char(if self.flags.ignore_case { super::class::lower(value) } else { value })
    }

    fn escape(&mut self) -> Result<Node, Rejected> {
        self.step(1);
        let value = self.value();
        if self.at_end() {
            return Err("Trailing \\ in expression.".into());
        }
        if let Some((set, complement)) = Set::of_letter(value) {
            self.bump();
            return Ok(Node::Class(Class::of(set, complement)));
        }
        let node = match value {
            'A' | 'G' => Node::Start,
            'Z' => Node::End,
            'b' => Node::WordBoundary,
            'B' => Node::NotWordBoundary,
            '1'..='9' => {
                let mut end = self.at;
                while self.text.get(end).is_some_and(char::is_ascii_digit) {
                    end += 1;
                }
                let digits: String = self.text[self.at..end].iter().collect();
                let number: u32 = digits.parse().unwrap_or(u32::MAX);
                if number <= self.groups {
                    self.at = end - 1;
                    self.bump();
                    return Ok(Node::Backreference(number));
                }
                if number <= 9 {
                    return Err(format!("Invalid backreference: \\{number}"));
                }
                let value = self.octal();
                self.skip_ignored();
                return Ok(self.literal(value));
            }
            _ => {
                let value = self.escaped_char(false);
                self.skip_ignored();
                return Ok(self.literal(value));
            }
        };
        self.bump();
        Ok(node)
    }

    /// Parses the character of an escape, from after the backslash to the end of the escape.
    fn escaped_char(&mut self, in_class: bool) -> char {
        let value = self.value();
        match value {
            'n' => self.simple('\n'),
            'r' => self.simple('\r'),
            't' => self.simple('\t'),
            'f' => self.simple('\u{C}'),
            'e' => self.simple('\u{1B}'),
            'a' => self.simple('\u{7}'),
            'b' if in_class => self.simple('\u{8}'),
            'x' => {
                self.step(1);
                self.hex()
            }
            'c' => {
                self.step(1);
                let letter = self.value();
                self.step(1);
                char::from_u32(u32::from(super::class::upper(letter)) ^ 64).unwrap_or(letter)
            }
            '0' => self.octal(),
            '1'..='9' if in_class => self.octal(),
            other => self.simple(other),
        }
    }

    fn simple(&mut self, value: char) -> char {
        self.step(1);
        value
    }

    fn octal(&mut self) -> char {
        let mut value = 0;
        for _ in 0..3 {
            let Some(digit) = self.value().to_digit(8) else { break };
            value = value * 8 + digit;
            self.step(1);
        }
        char::from_u32(value).unwrap_or('\0')
    }

    fn hex(&mut self) -> char {
        let mut value = 0;
        for _ in 0..2 {
            // ORO reads an `x` among the digits as a zero.
            let digit = match self.value() {
                'x' => 0,
                other => match other.to_digit(16) {
                    Some(digit) => digit,
                    None => break,
                },
            };
            value = value * 16 + digit;
            self.step(1);
        }
        char::from_u32(value).unwrap_or('\0')
    }

    /// Parses a character class, from after its opening bracket.
    fn class(&mut self) -> Result<Node, Rejected> {
        let bad_range = || Rejected::from("Invalid [] range in expression.");
        let negated = self.value() == '^';
        if negated {
            self.step(1);
        }
        let mut class = Class::new(negated);
        let mut first = matches!(self.value(), ']' | '-');
        let mut posix_negated = false;
        let mut from: Option<char> = None;
        while (!self.at_end() && self.value() != ']') || first {
            first = false;
            let value = match self.member(&mut posix_negated) {
                Member::Char(value) => value,
                Member::Set(..) if from.is_some() => return Err(bad_range()),
                Member::Set(set, complement) => {
                    class.push_set(set, complement, posix_negated);
                    continue;
                }
            };
            match from.take() {
                Some(from) if from > value => return Err(bad_range()),
                Some(from) => class.push_range(from, value, self.flags.ignore_case),
                None if self.value() == '-'
                    && self.at + 1 < self.text.len()
                    && self.peek(1) != ']' =>
                {
                    self.step(1);
                    from = Some(value);
                }
                None => class.push_range(value, value, self.flags.ignore_case),
            }
        }
        if self.value() != ']' {
            return Err("Unmatched [] in expression.".into());
        }
        self.bump();
        Ok(Node::Class(class))
    }

    /// Parses the next member of a class, or the start of a range.
    fn member(&mut self, posix_negated: &mut bool) -> Member {
        let value = self.value();
        self.step(1);
        match value {
            '\\' => match Set::of_letter(self.value()) {
                Some((set, complement)) => {
                    self.step(1);
                    Member::Set(set, complement)
                }
                None => Member::Char(self.escaped_char(true)),
            },
            '[' => match self.posix(posix_negated) {
                Some(posix) => Member::Set(posix, false),
                None => Member::Char('['),
            },
            _ => Member::Char(value),
        }
    }

    /// Consumes `:name:]` or `:^name:]` and returns its class; consumes nothing if the text is not the name of a class.
    fn posix(&mut self, negated: &mut bool) -> Option<Set> {
        if self.value() != ':' {
            return None;
        }
        let mut at = self.at + 1;
        *negated = self.text.get(at) == Some(&'^');
        at += usize::from(*negated);
        let end =
            at + self.text[at.min(self.text.len())..].iter().position(|value| *value == ':')?;
        if self.text.get(end + 1) != Some(&']') {
            return None;
        }
        let name: String = self.text[at..end].iter().collect();
        let set = Set::posix(&name)?;
        self.at = end + 2;
        Some(set)
    }
}
