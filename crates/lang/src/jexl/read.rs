//! Parses scripts and evaluates them at the same time.
//!
//! Operators from lowest to highest precedence: `?:` and `??`, `||`, `&&`, `|`, `^`, `&`, equality, order and matching
//! (at most one each without parentheses), `+ -`, `* / %`, unary. Then follow literals, names, parentheses and calls.

use std::borrow::Cow;
use std::cmp::Ordering::{Equal, Greater, Less};

use super::value::{Arithmetic, Fault, Value};
use super::{World, method};

/// Maximum nesting depth of a JEXL script.
const MAX_DEPTH: u32 = 64;

/// Reserved words: operators, and the beginnings of unsupported constructs.
const RESERVED: [&str; 33] = [
    "if", "else", "for", "foreach", "while", "do", "new", "var", "return", "break", "continue",
    "function", "true", "false", "null", "eq", "ne", "lt", "gt", "le", "ge", "and", "or", "not",
    "div", "mod", "empty", "size", "in", "let", "const", "throw", "NaN",
];

/// Mode of a pass over a script.
pub(super) enum Step<'s> {
    /// The pass only checks the syntax of the script.
    Reading,
    /// The pass evaluates the script, with the variables and properties of this world.
    Computing(&'s mut dyn World),
}

impl Step<'_> {
    /// Returns the result of a computation. A pass that only checks the syntax does not run the computation.
    fn compute<'a>(
        &self,
        work: impl FnOnce() -> Result<Value<'a>, Fault>,
    ) -> Result<Value<'a>, Fault> {
        match self {
            Self::Reading => Ok(Value::Null),
            Self::Computing(_) => work(),
        }
    }
}

/// Parser of a JEXL script; `rest` is the text that was not parsed yet.
pub(super) struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

type Read<'a> = Result<Value<'a>, Fault>;

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { rest: source, depth: 0 }
    }

    /// Parses expressions separated by `;`. The value of the last expression is the value of the script.
    pub(super) fn script(&mut self, step: &mut Step<'_>) -> Read<'a> {
        self.skip();
        let mut value = Value::Null;
        while !self.rest.is_empty() {
            value = self.expression(step)?;
            if !self.rest.is_empty() && !self.take(";") {
                return Err(Fault::Unreadable);
            }
        }
        match (value, step) {
            (Value::Undefined, Step::Computing(_)) => Err(Fault::Throws),
            (value, _) => Ok(value),
        }
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
    }

    /// Consumes the operator `token` if it comes next and is not the start of a longer operator.
    fn take(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        let longer = match token {
            "<" | ">" => rest.starts_with(['=', '<', '>']),
            "+" => rest.starts_with(['+', '=']),
            "-" => rest.starts_with(['-', '=', '>']),
            "*" | "/" | "%" => rest.starts_with(['=', '*', '/']),
            "!" => rest.starts_with(['=', '~', '^', '$']),
            "==" | "!=" => rest.starts_with('='),
            "&" => rest.starts_with(['&', '=']),
            "|" => rest.starts_with(['|', '=']),
            "^" => rest.starts_with('='),
            "?" => rest.starts_with([':', '?', '.']),
            _ => false,
        };
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '#');
        let word = token.ends_with(char::is_alphabetic) && rest.starts_with(goes_on);
        if longer || word {
            return false;
        }
        self.rest = rest;
        self.skip();
        true
    }

    fn takes_any<T: Copy>(&mut self, tokens: &[(&str, T)]) -> Option<T> {
        tokens.iter().find(|(token, _)| self.take(token)).map(|(_, meaning)| *meaning)
    }

    fn expression(&mut self, step: &mut Step<'_>) -> Read<'a> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Unreadable);
        }
        let value = self.ternary(step);
        self.depth -= 1;
        value
    }

    fn ternary(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let condition = self.or(step)?;
        let elvis = self.take("?:");
        if elvis || self.take("??") {
            let keeps = match step {
                Step::Reading => false,
                Step::Computing(_) if elvis => condition.holds()?,
                Step::Computing(_) => !matches!(condition, Value::Null | Value::Undefined),
            };
            let other = self.branch(!keeps, step)?;
            return Ok(if keeps { condition } else { other });
        }
        if !self.take("?") {
            return Ok(condition);
        }
        let holds = match step {
            Step::Reading => false,
            Step::Computing(_) => condition.holds()?,
        };
        let first = self.branch(holds, step)?;
        if !self.take(":") {
            return Err(Fault::Unreadable);
        }
        let second = self.branch(!holds, step)?;
        Ok(if holds { first } else { second })
    }

    /// Parses an operand. The operand is evaluated only if `live` is true and this pass evaluates.
    fn branch(&mut self, live: bool, step: &mut Step<'_>) -> Read<'a> {
        if live { self.expression(step) } else { self.expression(&mut Step::Reading) }
    }

    fn or(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let mut left = self.and(step)?;
        while self.take("||") || self.take("or") {
            let holds = matches!(step, Step::Computing(_)) && left.truth()?;
            let right = if holds { self.and(&mut Step::Reading)? } else { self.and(step)? };
            left = step.compute(|| Ok(Value::Bool(holds || right.truth()?)))?;
        }
        Ok(left)
    }

    fn and(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let mut left = self.bits(0, step)?;
        while self.take("&&") || self.take("and") {
            let holds = matches!(step, Step::Computing(_)) && left.truth()?;
            let right = if holds { self.bits(0, step)? } else { self.bits(0, &mut Step::Reading)? };
            left = step.compute(|| Ok(Value::Bool(holds && right.truth()?)))?;
        }
        Ok(left)
    }

    /// Parses operands joined by `|`, `^` and `&`; `^` binds tighter than `|`, and `&` binds tighter than `^`.
    fn bits(&mut self, level: usize, step: &mut Step<'_>) -> Read<'a> {
        let Some(operator) = ["|", "^", "&"].get(level) else { return self.equality(step) };
        let mut left = self.bits(level + 1, step)?;
        while self.take(operator) {
            let right = self.bits(level + 1, step)?;
            left = step.compute(|| {
                let (one, two) = (left.long()?, right.long()?);
                Ok(Value::Long([one | two, one ^ two, one & two][level]))
            })?;
        }
        Ok(left)
    }

    fn equality(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let left = self.order(step)?;
        let operators = [("==", true), ("!=", false), ("eq", true), ("ne", false)];
        let Some(wanted) = self.takes_any(&operators) else { return Ok(left) };
        let right = self.order(step)?;
        step.compute(|| Ok(Value::Bool(left.equals(&right)? == wanted)))
    }

    fn order(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let left = self.sum(step)?;
        let orders: [(&str, &[std::cmp::Ordering]); 8] = [
            ("<=", &[Less, Equal]),
            (">=", &[Greater, Equal]),
            ("<", &[Less]),
            (">", &[Greater]),
            ("le", &[Less, Equal]),
            ("ge", &[Greater, Equal]),
            ("lt", &[Less]),
            ("gt", &[Greater]),
        ];
        if let Some(wanted) = self.takes_any(&orders) {
            let right = self.sum(step)?;
            return step.compute(|| {
                let found = left.compare(&right)?;
                Ok(Value::Bool(found.is_some_and(|found| wanted.contains(&found))))
            });
        }
        let matchings: [(&str, (method::Matching, bool)); 6] = [
            ("=~", (method::Matching::Pattern, true)),
            ("!~", (method::Matching::Pattern, false)),
            ("=^", (method::Matching::Start, true)),
            ("!^", (method::Matching::Start, false)),
            ("=$", (method::Matching::End, true)),
            ("!$", (method::Matching::End, false)),
        ];
        let Some((how, wanted)) = self.takes_any(&matchings) else { return Ok(left) };
        if matches!(step, Step::Reading) && how == method::Matching::Pattern {
            self.check_pattern()?;
        }
        let right = self.sum(step)?;
        step.compute(|| Ok(Value::Bool(method::matches(how, &left, &right)? == wanted)))
    }

    /// Refuses a pattern that may have different meanings in Java and in this crate.
    fn check_pattern(&self) -> Result<(), Fault> {
        let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return Err(Fault::Unreadable);
        };
        let end = self.rest[1..].find(quote).ok_or(Fault::Unreadable)?;
        if method::is_common_pattern(&self.rest[1..=end]) { Ok(()) } else { Err(Fault::Unreadable) }
    }

    fn sum(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let mut left = self.product(step)?;
        let operators = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
        while let Some(how) = self.takes_any(&operators) {
            let right = self.product(step)?;
            left = step.compute(|| left.compute(how, &right))?;
        }
        Ok(left)
    }

    fn product(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let mut left = self.unary(step)?;
        let operators = [
            ("*", Arithmetic::Multiply),
            ("/", Arithmetic::Divide),
            ("%", Arithmetic::Modulo),
            ("div", Arithmetic::Divide),
            ("mod", Arithmetic::Modulo),
        ];
        while let Some(how) = self.takes_any(&operators) {
            let right = self.unary(step)?;
            left = step.compute(|| left.compute(how, &right))?;
        }
        Ok(left)
    }

    fn unary(&mut self, step: &mut Step<'_>) -> Read<'a> {
        // Unary operators may be repeated; a loop avoids recursion.
        let mut signs = Vec::new();
        let operators =
            [("!", '!'), ("not", '!'), ("-", '-'), ("+", '+'), ("empty", 'e'), ("size", 's')];
        while let Some(sign) = self.takes_any(&operators) {
            signs.push(sign);
        }
        let rest = self.rest;
        let mut value = match self.primary(step) {
            // A value that cannot be computed counts as empty and has no size.
            Err(Fault::Throws) if matches!(signs.last(), Some('e' | 's')) => {
                self.rest = rest;
                self.primary(&mut Step::Reading)?;
                Value::Undefined
            }
            value => value?,
        };
        for sign in signs.into_iter().rev() {
            value = step.compute(|| {
                Ok(match sign {
                    '!' => Value::Bool(!value.truth()?),
                    '-' => value.negated()?,
                    'e' => Value::Bool(value.is_empty()),
                    's' => Value::Int(value.size()),
                    _ => match value {
                        Value::Int(_) | Value::Long(_) | Value::Big(_) | Value::Double(_) => value,
                        _ => return Err(Fault::Throws),
                    },
                })
            })?;
        }
        Ok(value)
    }

    fn primary(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let first = self.rest.chars().next().ok_or(Fault::Unreadable)?;
        let mut value = match first {
            '(' => {
                self.take("(");
                let value = self.expression(step)?;
                if !self.take(")") {
                    return Err(Fault::Unreadable);
                }
                value
            }
            '"' | '\'' => Value::Text(self.quoted(first)?),
            '0'..='9' => self.number()?,
            c if c.is_alphabetic() || matches!(c, '_' | '$') => self.name(step)?,
            _ => return Err(Fault::Unreadable),
        };
        while self.rest.starts_with('.') {
            self.take(".");
            value = self.call(value, step)?;
        }
        if self.rest.starts_with(['[', '(', '{', '?'].as_slice()) && !self.continues_as_ternary() {
            return Err(Fault::Unreadable);
        }
        Ok(value)
    }

    fn continues_as_ternary(&self) -> bool {
        self.rest.starts_with('?') && !self.rest.starts_with("?.") && !self.rest.starts_with("?[")
    }

    /// Parses a name or keyword: letters, digits, `_` and `$`.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        self.skip();
        word
    }

    fn name(&mut self, step: &mut Step<'_>) -> Read<'a> {
        let word = self.word();
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "vars" => Value::Variables,
            "props" => Value::Properties,
            "log" => Value::Log,
            "ctx" | "sampler" | "sampleResult" | "OUT" => return Err(Fault::Unreadable),
            "threadName" => match step {
                Step::Reading => Value::Null,
                Step::Computing(world) => {
                    let mut name = String::new();
                    world.thread_name(&mut name);
                    Value::text(name)
                }
            },
            _ if RESERVED.contains(&word) => return Err(Fault::Unreadable),
            // The name of a function, or of a function in a namespace.
            _ if self.rest.starts_with(['(', '@']) => return Err(Fault::Unreadable),
            _ => Value::Undefined,
        };
        let is_object = matches!(value, Value::Variables | Value::Properties | Value::Log);
        if is_object && !self.rest.starts_with('.') {
            return Err(Fault::Unreadable);
        }
        Ok(value)
    }

    /// Parses the method call after a dot, with its parameters, and calls the method.
    fn call(&mut self, receiver: Value<'a>, step: &mut Step<'_>) -> Read<'a> {
        let name = self.word();
        if name.is_empty() || !self.take("(") {
            // A word after a dot without parentheses (a property, or a name with points) is not supported.
            return Err(Fault::Unreadable);
        }
        let mut values = Vec::new();
        if !self.take(")") {
            loop {
                values.push(self.expression(step)?);
                if self.take(")") {
                    break;
                }
                if !self.take(",") {
                    return Err(Fault::Unreadable);
                }
            }
        }
        match step {
            Step::Reading if method::is_known(name, values.len()) => Ok(Value::Null),
            Step::Reading => Err(Fault::Unreadable),
            Step::Computing(world) => method::call(&receiver, name, &values, *world),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Cow<'a, str>, Fault> {
        let body = &self.rest[1..];
        let mut text = String::new();
        let mut from = 0;
        let mut letters = body.char_indices();
        while let Some((at, c)) = letters.next() {
            if c == quote {
                self.rest = &body[at + 1..];
                self.skip();
                if from == 0 {
                    return Ok(Cow::Borrowed(&body[..at]));
                }
                text.push_str(&body[from..at]);
                return Ok(Cow::Owned(text));
            }
            if c == '\\' {
                text.push_str(&body[from..at]);
                let (_, escaped) = letters.next().ok_or(Fault::Unreadable)?;
                match escaped {
                    '\\' | '\'' | '"' => text.push(escaped),
                    'b' => text.push('\u{8}'),
                    't' => text.push('\t'),
                    'n' => text.push('\n'),
                    'f' => text.push('\u{c}'),
                    'r' => text.push('\r'),
                    'u' => return Err(Fault::Unreadable),
                    other => text.extend(['\\', other]),
                }
                from = letters.offset();
            }
            if matches!(c, '\n' | '\r') {
                return Err(Fault::Unreadable);
            }
        }
        Err(Fault::Unreadable)
    }

    fn number(&mut self) -> Read<'a> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut end = digits;
        let after = &self.rest[end..];
        let fraction = after
            .strip_prefix('.')
            .map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        if fraction > 0 {
            end += 1 + fraction;
            let rest = &self.rest[end..];
            if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
                let bare = exponent.trim_start_matches(['+', '-']);
                let sign = exponent.len() - bare.len();
                let count = bare.bytes().take_while(u8::is_ascii_digit).count();
                if count == 0 || sign > 1 {
                    return Err(Fault::Unreadable);
                }
                end += 1 + sign + count;
            }
        }
        let (number, rest) = self.rest.split_at(end);
        if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            // Other radixes, type suffixes, and words that start with digits are not supported.
            return Err(Fault::Unreadable);
        }
        self.rest = rest;
        self.skip();
        if fraction > 0 {
            return number.parse().map(Value::Double).map_err(|_| Fault::Unreadable);
        }
        if number.len() > 1 && number.starts_with('0') {
            let octal = i64::from_str_radix(number, 8).map_err(|_| Fault::Unreadable)?;
            return Ok(i32::try_from(octal).map_or(Value::Long(octal), Value::Int));
        }
        let number: i128 = number.parse().map_err(|_| Fault::Unreadable)?;
        Ok(match (i32::try_from(number), i64::try_from(number)) {
            (Ok(number), _) => Value::Int(number),
            (_, Ok(number)) => Value::Long(number),
            _ => Value::Big(number),
        })
    }
}
