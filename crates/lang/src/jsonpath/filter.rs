//! Parses the filters of a JSONPath, such as `[?(@.price < 10 && @.title)]`.

use super::cursor::Cursor;
use super::failure::Failure;
use super::number::Decimal;
use super::path::{self, MAX_DEPTH, Path};
use super::read::read as read_json;
use super::value::Value;

type Reading<T> = Result<T, Failure>;

/// Maximum number of backtracking steps of a pattern in a filter.
pub(super) const MAX_BACKTRACKS: usize = 1_000_000;

/// A condition on a node of the document.
#[derive(Clone, Debug)]
pub(super) enum Filter {
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Box<Filter>),
    Relation {
        left: Operand,
        operator: Operator,
        right: Operand,
    },
    /// A test whether a path leads to a node: if `expected` is true, the path must lead to one; otherwise it must not.
    Exists {
        path: Path,
        expected: bool,
    },
}

/// An operand of a comparison in a filter.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Path {
        path: Path,
        exists: bool,
    },
    String(String),
    Number(Decimal),
    Bool(bool),
    Null,
    /// A list or object written in the filter. `value` is `None` if the text cannot be parsed.
    Json {
        text: String,
        value: Option<Value<'static>>,
    },
    Pattern(Box<fancy_regex::Regex>),
}

/// A comparison operator in a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    GreaterOrEqual,
    LessOrEqual,
    Equal,
    SameTypeEqual,
    NotEqual,
    SameTypeNotEqual,
    Less,
    Greater,
    Matches,
    NotIn,
    In,
    Contains,
    Size,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
    /// An operator of Jayway that is never true for operands written in a filter: `ALL`, `TYPE`, `MATCHES`, `EXISTS`.
    Unusable,
}

impl Operator {
    fn read(text: &str) -> Reading<Self> {
        Ok(match text.to_uppercase().as_str() {
            ">=" => Self::GreaterOrEqual,
            "<=" => Self::LessOrEqual,
            "==" => Self::Equal,
            "===" => Self::SameTypeEqual,
            "!=" => Self::NotEqual,
            "!==" => Self::SameTypeNotEqual,
            "<" => Self::Less,
            ">" => Self::Greater,
            "=~" => Self::Matches,
            "NIN" => Self::NotIn,
            "IN" => Self::In,
            "CONTAINS" => Self::Contains,
            "SIZE" => Self::Size,
            "EMPTY" => Self::Empty,
            "SUBSETOF" => Self::SubsetOf,
            "ANYOF" => Self::AnyOf,
            "NONEOF" => Self::NoneOf,
            "ALL" | "TYPE" | "MATCHES" | "EXISTS" => Self::Unusable,
            _ => return invalid(format!("Filter operator {text} is not supported!")),
        })
    }
}

fn invalid<T>(message: impl Into<String>) -> Reading<T> {
    Err(Failure::InvalidPath(message.into()))
}

/// Parses a filter of a JSONPath, with its brackets.
pub(super) fn read(source: &str, depth: u32) -> Reading<Filter> {
    let mut cursor = Cursor::new(source);
    cursor.trim();
    if !cursor.is('[')? || !cursor.last_is(']')? {
        return invalid(format!("Filter must start with '[' and end with ']'. {source}"));
    }
    cursor.at += 1;
    cursor.cut_last();
    cursor.trim();
    if !cursor.is('?')? {
        return invalid(format!("Filter must start with '[?' and end with ']'. {source}"));
    }
    cursor.at += 1;
    cursor.trim();
    if !cursor.is('(')? || !cursor.last_is(')')? {
        return invalid(format!("Filter must start with '[?(' and end with ')]'. {source}"));
    }
    let mut reader = Reader { cursor, depth };
    let read = reader.any().and_then(|filter| {
        reader.cursor.skip_blanks();
        if reader.cursor.in_bounds() {
            let rest = reader.cursor.slice(reader.cursor.at, reader.cursor.len());
            return invalid(format!("Expected end of filter expression instead of: {rest}"));
        }
        Ok(filter)
    });
    match read {
        Err(Failure::Index(_) | Failure::Other(_)) => {
            let cursor = &reader.cursor;
            let current = cursor.current()?;
            invalid(format!(
                "Failed to parse filter: {}, error on position: {}, char: {current}",
                cursor.text(),
                cursor.at
            ))
        }
        read => read,
    }
}

struct Reader {
    cursor: Cursor,
    depth: u32,
}

impl Reader {
    fn current_significant(&mut self) -> Reading<char> {
        self.cursor.skip_blanks();
        self.cursor.current()
    }

    fn any(&mut self) -> Reading<Filter> {
        self.joined("||", Self::all, Filter::Any)
    }

    fn all(&mut self) -> Reading<Filter> {
        self.joined("&&", Self::operand_of_all, Filter::All)
    }

    /// Parses filters that are joined by the operator `sign`. A single filter is returned unchanged.
    fn joined(
        &mut self,
        sign: &str,
        operand: fn(&mut Self) -> Reading<Filter>,
        join: fn(Vec<Filter>) -> Filter,
    ) -> Reading<Filter> {
        let mut filters = vec![operand(self)?];
        loop {
            let start = self.cursor.at;
            if !self.cursor.take(sign) {
                self.cursor.at = start;
                break;
            }
            filters.push(operand(self)?);
        }
        Ok(if filters.len() == 1 { filters.remove(0) } else { join(filters) })
    }

    fn operand_of_all(&mut self) -> Reading<Filter> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return invalid("Filter is nested too deeply");
        }
        let read = self.nested();
        self.depth -= 1;
        read
    }

    fn nested(&mut self) -> Reading<Filter> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        if self.cursor.is('!')? {
            self.cursor.expect('!')?;
            if matches!(self.current_significant()?, '$' | '@') {
                self.cursor.at = start;
            } else {
                return Ok(Filter::Not(Box::new(self.operand_of_all()?)));
            }
        }
        if self.current_significant()? == '(' {
            self.cursor.expect('(')?;
            let filter = self.any()?;
            self.cursor.expect(')')?;
            return Ok(filter);
        }
        self.relation()
    }

    fn relation(&mut self) -> Reading<Filter> {
        let left = self.operand()?;
        let start = self.cursor.at;
        match self.operator_and_operand() {
            Ok((operator, right)) => return Ok(Filter::Relation { left, operator, right }),
            Err(Failure::InvalidPath(_) | Failure::NotFound(_)) => self.cursor.at = start,
            Err(other) => return Err(other),
        }
        match left {
            Operand::Path { path, exists } => Ok(Filter::Exists { path, expected: exists }),
            _ => invalid("Expected path node"),
        }
    }

    fn operator_and_operand(&mut self) -> Reading<(Operator, Operand)> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        if is_operator_char(self.cursor.current()?) {
            while self.cursor.in_bounds() && is_operator_char(self.cursor.current()?) {
                self.cursor.at += 1;
            }
        } else {
            while self.cursor.in_bounds() && self.cursor.current()? != ' ' {
                self.cursor.at += 1;
            }
        }
        let operator = Operator::read(&self.cursor.slice(start, self.cursor.at))?;
        Ok((operator, self.operand()?))
    }

    fn operand(&mut self) -> Reading<Operand> {
        match self.current_significant()? {
            '$' | '@' => self.path(),
            '!' => {
                self.cursor.at += 1;
                match self.current_significant()? {
                    '$' | '@' => self.path(),
                    _ => invalid("Unexpected character: !"),
                }
            }
            quote @ ('\'' | '"') => self.string(quote),
            't' | 'f' => self.bool(),
            'n' => self.null(),
            open @ ('{' | '[') => self.json(open),
            '/' => self.pattern(),
            _ => self.number(),
        }
    }

    fn path(&mut self) -> Reading<Operand> {
        let cursor = &mut self.cursor;
        let before = cursor.previous_significant(cursor.at);
        let exists = match before {
            Some(at) => cursor.char_at(at)? != '!',
            None => true,
        };
        let start = cursor.at;
        cursor.at += 1;
        while cursor.in_bounds() {
            if cursor.is('[')? {
                let Some(close) = cursor.find_close(cursor.at, '[', ']', false)? else {
                    return invalid(format!(
                        "Square brackets does not match in filter {}",
                        cursor.text()
                    ));
                };
                cursor.at = close + 1;
            }
            let closes = cursor.is(')')? && !closes_function(cursor, start)?;
            let current = cursor.current()?;
            if !cursor.in_bounds() || is_operator_char(current) || current == ' ' || closes {
                break;
            }
            cursor.at += 1;
        }
        let text = cursor.slice(start, cursor.at);
        Ok(Operand::Path { path: path::read(&text, self.depth + 1)?, exists })
    }

    fn string(&mut self, quote: char) -> Reading<Operand> {
        let cursor = &mut self.cursor;
        let start = cursor.at;
        let Some(end) = cursor.find_unescaped(start, quote) else {
            return invalid(format!(
                "String literal does not have matching quotes. Expected {quote} in {}",
                cursor.text()
            ));
        };
        cursor.at = end + 1;
        Ok(Operand::String(path::unescape(&cursor.slice(start + 1, end))?))
    }

    fn bool(&mut self) -> Reading<Operand> {
        let cursor = &mut self.cursor;
        let length = if cursor.is('t')? { 4 } else { 5 };
        let word = cursor.slice(cursor.at, cursor.at + length);
        if !cursor.contains(cursor.at + length - 1) || !matches!(word.as_str(), "true" | "false") {
            return invalid("Expected boolean literal");
        }
        cursor.at += length;
        Ok(Operand::Bool(word == "true"))
    }

    fn null(&mut self) -> Reading<Operand> {
        let cursor = &mut self.cursor;
        if !cursor.contains(cursor.at + 3) || cursor.slice(cursor.at, cursor.at + 4) != "null" {
            return invalid("Expected <null> value");
        }
        cursor.at += 4;
        Ok(Operand::Null)
    }

    fn json(&mut self, open: char) -> Reading<Operand> {
        let cursor = &mut self.cursor;
        let start = cursor.at;
        let close = if open == '[' { ']' } else { '}' };
        let Some(end) = cursor.find_close(start, open, close, false)? else {
            return invalid(format!("String not closed. Expected ' in {}", cursor.text()));
        };
        cursor.at = end + 1;
        let text = cursor.slice(start, end + 1);
        let value = read_json(&text).ok().map(Value::into_owned);
        Ok(Operand::Json { text, value })
    }

    fn pattern(&mut self) -> Reading<Operand> {
        let cursor = &mut self.cursor;
        let start = cursor.at;
        let Some(end) = cursor.find_unescaped(start, '/') else {
            return invalid(format!("Pattern not closed. Expected / in {}", cursor.text()));
        };
        let mut behind = end + 1;
        while cursor.contains(behind)
            && matches!(cursor.char_at(behind)?, 'd' | 'i' | 'x' | 'm' | 's' | 'u' | 'U')
        {
            behind += 1;
        }
        cursor.at = behind;
        let flags: String =
            cursor.slice(end + 1, behind).chars().filter(|flag| "ixms".contains(*flag)).collect();
        let flags = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
        let source = format!(r"\A(?:{flags}{})\z", cursor.slice(start + 1, end));
        match fancy_regex::RegexBuilder::new(&source)
            .unicode_mode(true)
            .backtrack_limit(MAX_BACKTRACKS)
            .build()
        {
            Ok(pattern) => Ok(Operand::Pattern(Box::new(pattern))),
            Err(error) => Err(Failure::Other(error.to_string())),
        }
    }

    fn number(&mut self) -> Reading<Operand> {
        let cursor = &mut self.cursor;
        let start = cursor.at;
        while cursor.in_bounds() && matches!(cursor.current()?, '0'..='9' | '-' | '.' | 'E' | 'e') {
            cursor.at += 1;
        }
        match Decimal::parse(&cursor.slice(start, cursor.at)) {
            Some(number) => Ok(Operand::Number(number)),
            None => Err(Failure::Other("java.lang.NumberFormatException".into())),
        }
    }
}

fn is_operator_char(value: char) -> bool {
    matches!(value, '<' | '>' | '=' | '~' | '!')
}

/// Returns true if the closing parenthesis at the cursor belongs to a function of the path that starts at `start`.
fn closes_function(cursor: &Cursor, start: usize) -> Reading<bool> {
    let Some(open) = cursor.previous_significant(cursor.at) else { return Ok(false) };
    if cursor.char_at(open)? != '(' {
        return Ok(false);
    }
    for at in (start + 1..open).rev() {
        if cursor.char_at(at)? == '.' {
            return Ok(true);
        }
    }
    Ok(false)
}
