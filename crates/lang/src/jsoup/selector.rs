//! Parses selectors in jsoup's dialect.
//!
//! A selector consists of groups separated by commas, a group of compounds joined by combinators, and a compound of
//! tests that all must pass. Element names, classes and values are compared ignoring case, ids with case.

/// A CSS selector that was parsed.
#[derive(Clone, Debug)]
pub struct Selector(pub(super) Vec<Group>);

/// Error: the selector cannot be parsed. Contains the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

/// Compounds from left to right, each with the combinator before it. The first combinator has a meaning only if the
/// group is relative to the root.
pub(super) type Group = Vec<(Combinator, Compound)>;
/// Tests that an element must all pass.
pub(super) type Compound = Vec<Test>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combinator {
    /// Combinator before the first compound of a group that may match anywhere in the document.
    Anywhere,
    Descendant,
    Child,
    Next,
    Later,
}

/// The required relation of an attribute's value to the selector's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Start,
    End,
    Part,
}

#[derive(Clone, Debug)]
pub(super) enum Test {
    All,
    /// Name of the element, in lower case.
    Name(String),
    /// Name of the element without its namespace prefix.
    AnySpace(String),
    Id(String),
    Class(String),
    Has(String),
    /// Prefix of the name of some attribute that the element must have.
    HasPrefix(String),
    Attribute(String, Comparison, String),
    /// `:lt(n)`, `:gt(n)` and `:eq(n)`: relation of the element's position among its siblings, from 0, to `n`.
    SiblingPosition(std::cmp::Ordering, i64),
    /// Position by the formula `step * n + offset`. `from_end` counts from the last sibling; `of_type` counts only
    /// siblings of the same name.
    Nth {
        step: i64,
        offset: i64,
        from_end: bool,
        of_type: bool,
    },
    Only {
        of_type: bool,
    },
    Empty,
    Root,
    Contains(String),
    ContainsOwn(String),
    Within(Selector),
    Not(Selector),
    Is(Selector),
}

/// Maximum nesting depth of CSS selectors.
const MAX_DEPTH: u32 = 16;

impl Selector {
    /// Parses a CSS selector in jsoup's dialect.
    pub fn parse(source: &str) -> Result<Self, Unreadable> {
        Self::read(source, 0)
    }

    fn read(source: &str, depth: u32) -> Result<Self, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(unreadable(source));
        }
        let mut reader = Reader { source, rest: source.trim_matches(|c| c <= ' '), depth };
        if reader.rest.is_empty() {
            return Err(unreadable(source));
        }
        let mut groups = Vec::new();
        let mut group = Group::new();
        let mut combinator = Combinator::Anywhere;
        loop {
            if let Some(found) = reader.combinator() {
                combinator = found;
            }
            let compound = reader.compound()?;
            group.push((combinator, compound));
            let blank = reader.skip();
            if reader.rest.is_empty() {
                groups.push(group);
                return Ok(Self(groups));
            }
            if let Some(rest) = reader.rest.strip_prefix(',') {
                reader.rest = rest;
                reader.skip();
                groups.push(std::mem::take(&mut group));
                combinator = Combinator::Anywhere;
                if reader.starts_with_combinator() {
                    return Err(unreadable(source));
                }
            } else if !reader.starts_with_combinator() {
                if !blank {
                    return Err(unreadable(source));
                }
                combinator = Combinator::Descendant;
            }
        }
    }
}

fn unreadable(source: &str) -> Unreadable {
    Unreadable(format!("unknown selector {source}"))
}

struct Reader<'a> {
    source: &'a str,
    rest: &'a str,
    depth: u32,
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r')
}

impl<'a> Reader<'a> {
    fn fail<T>(&self) -> Result<T, Unreadable> {
        Err(unreadable(self.source))
    }

    fn skip(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(is_blank);
        let skipped = rest.len() < self.rest.len();
        self.rest = rest;
        skipped
    }

    fn starts_with_combinator(&self) -> bool {
        self.rest.starts_with(['>', '+', '~'])
    }

    fn combinator(&mut self) -> Option<Combinator> {
        let found = match self.rest.as_bytes().first()? {
            b'>' => Combinator::Child,
            b'+' => Combinator::Next,
            b'~' => Combinator::Later,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        self.skip();
        Some(found)
    }

    fn compound(&mut self) -> Result<Compound, Unreadable> {
        let mut tests = Compound::new();
        while let Some(first) = self.rest.chars().next() {
            let test = match first {
                '#' => Test::Id(self.behind_sign()?),
                '.' => Test::Class(self.behind_sign()?.to_lowercase()),
                '[' => self.attribute()?,
                ':' => self.pseudo()?,
                '*' if self.rest.starts_with("*|") => {
                    self.rest = &self.rest[2..];
                    Test::AnySpace(self.identifier(false)?.to_lowercase())
                }
                '*' => {
                    self.rest = &self.rest[1..];
                    Test::All
                }
                c if c.is_alphanumeric() => {
                    if !tests.is_empty() {
                        return self.fail();
                    }
                    Test::Name(self.identifier(true)?.to_lowercase().replace('|', ":"))
                }
                _ => break,
            };
            tests.push(test);
        }
        if tests.is_empty() { self.fail() } else { Ok(tests) }
    }

    fn behind_sign(&mut self) -> Result<String, Unreadable> {
        self.rest = &self.rest[1..];
        self.identifier(false)
    }

    /// Parses a name of letters, digits, `-` and `_`; escapes are not supported.
    fn identifier(&mut self, with_space: bool) -> Result<String, Unreadable> {
        let belongs = |c: char| {
            c.is_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii() || with_space && c == '|'
        };
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() || rest.starts_with('\\') {
            return self.fail();
        }
        self.rest = rest;
        Ok(word.to_string())
    }

    /// Parses the text from `open` to the matching `close`. Brackets in quotes do not count.
    fn balanced(&mut self, open: char, close: char) -> Result<&'a str, Unreadable> {
        let body = self.rest.strip_prefix(open).ok_or_else(|| unreadable(self.source))?;
        let (mut depth, mut quote) = (1, None);
        for (at, c) in body.char_indices() {
            match (quote, c) {
                (_, '\\') => return self.fail(),
                (Some(begun), c) if c == begun => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, c) if c == open => depth += 1,
                (None, c) if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        self.rest = &body[at + 1..];
                        return Ok(&body[..at]);
                    }
                }
                _ => {}
            }
        }
        self.fail()
    }

    fn attribute(&mut self) -> Result<Test, Unreadable> {
        let inside = self.balanced('[', ']')?;
        let name = |text: &str| text.trim().to_lowercase();
        let Some(at) = inside.find('=') else {
            let key = name(inside);
            return match key.strip_prefix('^') {
                _ if key.is_empty() || key.starts_with("abs:") => self.fail(),
                Some(prefix) => Ok(Test::HasPrefix(prefix.to_string())),
                None => Ok(Test::Has(key)),
            };
        };
        let (mut key, value) = (&inside[..at], &inside[at + 1..]);
        let mut comparison = Comparison::Equal;
        for (sign, meaning) in [
            ('!', Comparison::Unequal),
            ('^', Comparison::Start),
            ('$', Comparison::End),
            ('*', Comparison::Part),
        ] {
            if let Some(bare) = key.strip_suffix(sign) {
                (key, comparison) = (bare, meaning);
            }
        }
        let key = name(key);
        if key.is_empty() || key.ends_with('~') || key.starts_with("abs:") {
            return self.fail();
        }
        let value = value.trim_matches(|c| c <= ' ');
        if value.is_empty() {
            return self.fail();
        }
        let quoted = ['"', '\''].iter().find_map(|quote| {
            value.strip_prefix(*quote).and_then(|value| value.strip_suffix(*quote))
        });
        // A quoted value is trimmed, except when it is compared with the start or the end of an attribute.
        let trims = !matches!(comparison, Comparison::Start | Comparison::End);
        let value = match quoted {
            Some(quoted) if trims => quoted.trim_matches(|c| c <= ' ').to_lowercase(),
            Some(quoted) => quoted.to_lowercase(),
            None => value.to_lowercase(),
        };
        Ok(Test::Attribute(key, comparison, value))
    }

    fn pseudo(&mut self) -> Result<Test, Unreadable> {
        self.rest = &self.rest[1..];
        let name = self.identifier(false)?.to_lowercase();
        let nth = |step, offset, from_end, of_type| Test::Nth { step, offset, from_end, of_type };
        Ok(match &*name {
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, true, false),
            "first-of-type" => nth(0, 1, false, true),
            "last-of-type" => nth(0, 1, true, true),
            "only-child" => Test::Only { of_type: false },
            "only-of-type" => Test::Only { of_type: true },
            "empty" => Test::Empty,
            "root" => Test::Root,
            "lt" => Test::SiblingPosition(std::cmp::Ordering::Less, self.index()?),
            "gt" => Test::SiblingPosition(std::cmp::Ordering::Greater, self.index()?),
            "eq" => Test::SiblingPosition(std::cmp::Ordering::Equal, self.index()?),
            "nth-child" => self.nth(false, false)?,
            "nth-last-child" => self.nth(true, false)?,
            "nth-of-type" => self.nth(false, true)?,
            "nth-last-of-type" => self.nth(true, true)?,
            "contains" => Test::Contains(self.searched()?),
            "containsown" => Test::ContainsOwn(self.searched()?),
            "has" => Test::Within(self.inner()?),
            "not" => Test::Not(self.inner()?),
            "is" => Test::Is(self.inner()?),
            _ => return self.fail(),
        })
    }

    fn inner(&mut self) -> Result<Selector, Unreadable> {
        let inside = self.balanced('(', ')')?;
        Selector::read(inside, self.depth + 1)
    }

    fn searched(&mut self) -> Result<String, Unreadable> {
        let inside = self.balanced('(', ')')?;
        let mut text = String::new();
        super::text::push_normalised(inside, &mut text);
        if inside.is_empty() { self.fail() } else { Ok(text.to_lowercase()) }
    }

    fn index(&mut self) -> Result<i64, Unreadable> {
        let inside = self.balanced('(', ')')?.trim();
        if inside.is_empty() || !inside.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.fail();
        }
        inside.parse::<i32>().map(i64::from).or_else(|_| self.fail())
    }

    /// Parses a position formula such as `odd`, `even`, `3` or `2n+1`.
    fn nth(&mut self, from_end: bool, of_type: bool) -> Result<Test, Unreadable> {
        let inside = self.balanced('(', ')')?.trim().to_lowercase();
        let number = |text: &str| text.parse::<i32>().ok().map(i64::from);
        let (step, offset) = match &*inside {
            "odd" => (2, 1),
            "even" => (2, 0),
            text => match text.split_once('n') {
                None => (0, number(text).map_or_else(|| self.fail(), Ok)?),
                Some((step, offset)) => {
                    let step = match step {
                        // jsoup ignores the sign of a step without digits.
                        "" | "+" | "-" => Some(1),
                        step => number(step),
                    };
                    let offset = if offset.is_empty() { Some(0) } else { number(offset) };
                    step.zip(offset).map_or_else(|| self.fail(), Ok)?
                }
            },
        };
        Ok(Test::Nth { step, offset, from_end, of_type })
    }
}
