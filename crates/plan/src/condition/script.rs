//! Interpreter for the part of scripting languages that conditions use; it evaluates while parsing.
//!
//! Operators by increasing precedence: `||`, `&&`, equality, order, `+ -`, `* / %`, unary; then literals,
//! parentheses and `.length`. Values are converted by JavaScript's rules. Where JEXL and Groovy convert
//! differently, their [`Dialect`] is respected, or the script is unsupported. A script that throws an exception (an
//! unknown name, an assignment without a variable) is distinguished from an unsupported script.

use std::borrow::Cow;

/// Maximum nesting depth of an expression.
const MAX_DEPTH: u32 = 64;

/// The script language whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    JavaScript,
    Jexl,
    Groovy,
}

/// The reason why the evaluation of a script returns no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The script throws an exception.
    Throws,
    /// This interpreter does not support the script.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
enum Value<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
}

/// True if the script's value is `true`; false if the script throws.
pub(super) fn is_true(source: &str) -> bool {
    // JMeter compares the value as a string, so that the string "true" also counts.
    evaluate(source, Dialect::JavaScript).is_ok_and(|value| value.text() == "true")
}

/// Appends the script's value to `out`. Returns false if the script has none.
pub(super) fn append(source: &str, dialect: Dialect, out: &mut String) -> bool {
    let value = evaluate(source, dialect);
    if let Ok(value) = &value {
        out.push_str(&value.text());
    }
    value.is_ok()
}

/// Returns true if the interpreter can evaluate the script, and its value is a Boolean.
pub(super) fn is_comparison(source: &str, dialect: Dialect) -> bool {
    matches!(evaluate(source, dialect), Ok(Value::Bool(_)))
}

/// Returns true if the interpreter can evaluate the script, or is certain that it throws an exception.
pub(super) fn is_known(source: &str) -> bool {
    !matches!(evaluate(source, Dialect::JavaScript), Err(Fault::Unknown))
}

fn evaluate(source: &str, dialect: Dialect) -> Result<Value<'_>, Fault> {
    let mut reader = Reader { rest: source, depth: 0, dialect };
    reader.skip();
    if reader.rest.is_empty() {
        return Err(Fault::Throws);
    }
    let value = reader.or()?;
    reader.take(";");
    match reader.rest.bytes().next() {
        None => Ok(value),
        Some(b'=') => Err(Fault::Throws),
        // Two values in succession, such as a word without quotes after a number, are also a syntax error in
        // JavaScript.
        Some(c) if c.is_ascii_alphanumeric() || c == b'"' || c == b'\'' || !c.is_ascii() => {
            Err(Fault::Throws)
        }
        Some(_) => Err(Fault::Unknown),
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
    dialect: Dialect,
}

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Consumes `token` if it is next. An operator does not match the start of a longer operator.
    fn take(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        let longer = match token {
            "<" | ">" => rest.starts_with(['=', '<', '>']),
            "+" | "-" => rest.starts_with(token) || rest.starts_with('='),
            "*" | "/" | "%" => rest.starts_with(['=', '*', '/']),
            "!" => rest.starts_with('='),
            "==" | "!=" => rest.starts_with('='),
            _ => false,
        };
        if longer {
            return false;
        }
        self.rest = rest;
        self.skip();
        true
    }

    fn or(&mut self) -> Result<Value<'a>, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Unknown);
        }
        let mut left = self.and()?;
        while self.take("||") {
            let right = self.and();
            let left_holds = left.truth(self.dialect);
            left = if left_holds { skipped(right, left)? } else { right? };
            left = self.logical(left);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Value<'a>, Fault> {
        let mut left = self.equality()?;
        while self.take("&&") {
            let right = self.equality();
            let left_holds = left.truth(self.dialect);
            left = if left_holds { right? } else { skipped(right, left)? };
            left = self.logical(left);
        }
        Ok(left)
    }

    /// Returns the value of `&&` and `||`: an operand in JavaScript, a Boolean in other languages.
    fn logical(&self, value: Value<'a>) -> Value<'a> {
        match self.dialect {
            Dialect::JavaScript => value,
            _ => Value::Bool(value.truth(self.dialect)),
        }
    }

    fn equality(&mut self) -> Result<Value<'a>, Fault> {
        let mut left = self.order()?;
        loop {
            if self.dialect != Dialect::JavaScript
                && (self.rest.starts_with("===") || self.rest.starts_with("!=="))
            {
                return Err(Fault::Unknown);
            }
            left = Value::Bool(if self.take("===") {
                left == self.order()?
            } else if self.take("!==") {
                left != self.order()?
            } else if self.take("==") {
                left.equals(&self.order()?, self.dialect)?
            } else if self.take("!=") {
                !left.equals(&self.order()?, self.dialect)?
            } else {
                return Ok(left);
            });
        }
    }

    fn order(&mut self) -> Result<Value<'a>, Fault> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let mut left = self.sum()?;
        loop {
            left = Value::Bool(if self.take("<=") {
                matches!(left.compare(&self.sum()?, self.dialect)?, Some(Less | Equal))
            } else if self.take(">=") {
                matches!(left.compare(&self.sum()?, self.dialect)?, Some(Greater | Equal))
            } else if self.take("<") {
                left.compare(&self.sum()?, self.dialect)? == Some(Less)
            } else if self.take(">") {
                left.compare(&self.sum()?, self.dialect)? == Some(Greater)
            } else {
                return Ok(left);
            });
        }
    }

    fn sum(&mut self) -> Result<Value<'a>, Fault> {
        let mut left = self.product()?;
        loop {
            left = if self.take("+") {
                let right = self.product()?;
                if self.dialect == Dialect::Jexl
                    && matches!(left, Value::Text(_)) != matches!(right, Value::Text(_))
                {
                    return Err(Fault::Unknown);
                }
                if matches!(left, Value::Text(_)) || matches!(right, Value::Text(_)) {
                    Value::Text(Cow::Owned([left.text(), right.text()].concat()))
                } else {
                    Value::Number(left.number() + right.number())
                }
            } else if self.take("-") {
                Value::Number(left.number() - self.product()?.number())
            } else {
                return Ok(left);
            };
        }
    }

    fn product(&mut self) -> Result<Value<'a>, Fault> {
        let mut left = self.unary()?;
        loop {
            left = Value::Number(if self.take("*") {
                left.number() * self.unary()?.number()
            } else if self.dialect != Dialect::JavaScript && self.rest.starts_with('/') {
                // JEXL and Groovy divide integers differently: one returns an integer, the other a decimal number.
                // So the script is unsupported.
                return Err(Fault::Unknown);
            } else if self.take("/") {
                left.number() / self.unary()?.number()
            } else if self.take("%") {
                left.number() % self.unary()?.number()
            } else {
                return Ok(left);
            });
        }
    }

    fn unary(&mut self) -> Result<Value<'a>, Fault> {
        // Signs may be repeated; a loop avoids recursion.
        let mut signs = Vec::new();
        loop {
            signs.push(if self.take("!") {
                '!'
            } else if self.take("-") {
                '-'
            } else if self.take("+") {
                '+'
            } else {
                break;
            });
        }
        let mut value = self.primary()?;
        for sign in signs.into_iter().rev() {
            value = match sign {
                '!' => Value::Bool(!value.truth(self.dialect)),
                '-' => Value::Number(-value.number()),
                _ => Value::Number(value.number()),
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Value<'a>, Fault> {
        let Some(first) = self.rest.chars().next() else { return Err(Fault::Throws) };
        let mut value = match first {
            '(' => {
                self.take("(");
                let value = self.or()?;
                if !self.take(")") {
                    return Err(
                        if self.rest.starts_with(|c: char| c.is_alphanumeric() || c == '=') {
                            Fault::Throws
                        } else {
                            Fault::Unknown
                        },
                    );
                }
                value
            }
            '"' | '\'' => self.quoted(first)?,
            '0'..='9' | '.' => self.digits()?,
            c if c.is_alphabetic() || c == '_' || c == '$' => self.word()?,
            _ => return Err(Fault::Unknown),
        };
        if let (Value::Text(text), true) = (&value, self.rest.starts_with(".length")) {
            let rest = &self.rest[".length".len()..];
            if rest.starts_with(['(', '_', '$']) || rest.starts_with(char::is_alphanumeric) {
                return Err(Fault::Unknown);
            }
            if self.dialect != Dialect::JavaScript {
                return Err(Fault::Unknown);
            }
            value = Value::Number(text.encode_utf16().count() as f64);
            self.rest = rest;
        }
        self.skip();
        if self.rest.starts_with(['.', '[', '(']) { Err(Fault::Unknown) } else { Ok(value) }
    }

    fn quoted(&mut self, quote: char) -> Result<Value<'a>, Fault> {
        let body = &self.rest[1..];
        let mut text = Cow::Borrowed("");
        let mut escaped = false;
        for (at, c) in body.char_indices() {
            if escaped {
                escaped = false;
                let known = match c {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' | 'f' | 'v' | 'u' | 'x' | '0'..='9' => return Err(Fault::Unknown),
                    other => other,
                };
                text.to_mut().push(known);
            } else if c == '\\' {
                if let Cow::Borrowed(_) = text {
                    text = Cow::Owned(body[..at].to_string());
                }
                escaped = true;
            } else if c == quote {
                if let Cow::Borrowed(_) = text {
                    text = Cow::Borrowed(&body[..at]);
                }
                if self.dialect == Dialect::Groovy && quote == '"' && text.contains('$') {
                    // The string contains an expression.
                    return Err(Fault::Unknown);
                }
                self.rest = &body[at + 1..];
                return Ok(Value::Text(text));
            } else if matches!(c, '\n' | '\r') {
                return Err(Fault::Throws);
            } else if let Cow::Owned(text) = &mut text {
                text.push(c);
            }
        }
        Err(Fault::Throws)
    }

    fn digits(&mut self) -> Result<Value<'a>, Fault> {
        let plain = |c: char| c.is_ascii_digit() || c == '.';
        let mut end = self.rest.find(|c| !plain(c)).unwrap_or(self.rest.len());
        let exponent = &self.rest[end..];
        if exponent.starts_with(['e', 'E']) {
            let digits = exponent[1..].trim_start_matches(['+', '-']);
            let sign = exponent.len() - 1 - digits.len();
            let count = digits.bytes().take_while(u8::is_ascii_digit).count();
            if count > 0 && sign <= 1 {
                end += 1 + sign + count;
            }
        }
        let (number, rest) = self.rest.split_at(end);
        // Numbers that are not supported: octal, hexadecimal and big numbers, and names that start with a digit.
        if rest.starts_with(['x', 'X', 'o', 'O', 'b', 'B', 'n']) && number == "0" {
            return Err(Fault::Unknown);
        }
        if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Err(Fault::Throws);
        }
        if number.len() > 1 && number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit())
        {
            return octal(number).inspect(|_| self.rest = rest);
        }
        self.rest = rest;
        number.parse().map(Value::Number).map_err(|_| Fault::Throws)
    }

    fn word(&mut self) -> Result<Value<'a>, Fault> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ if self.dialect != Dialect::JavaScript => return Err(Fault::Unknown),
            "undefined" => Value::Undefined,
            "NaN" => Value::Number(f64::NAN),
            "Infinity" => Value::Number(f64::INFINITY),
            "typeof" | "new" | "function" | "var" | "if" | "void" | "delete" | "this" | "eval"
            | "let" | "const" | "return" | "throw" | "try" | "for" | "while" | "do" | "switch"
            | "importPackage" | "Packages" | "java" | "load" | "print" | "Math" | "Date"
            | "String" | "Number" | "parseInt" | "parseFloat" | "JSON" | "isNaN" => {
                return Err(Fault::Unknown);
            }
            // A name with a call or a member may exist and is unsupported; any other name is undefined.
            _ if rest.trim_start().starts_with(['.', '(', '[']) => return Err(Fault::Unknown),
            _ => return Err(Fault::Throws),
        };
        self.rest = rest;
        Ok(value)
    }
}

/// Returns the value of `&&` or `||` if one operand is skipped. The skipped operand is not executed, but must be
/// valid.
fn skipped<'a>(unread: Result<Value<'a>, Fault>, value: Value<'a>) -> Result<Value<'a>, Fault> {
    match unread {
        // Parsing stopped inside the operand, so the rest of the script cannot be parsed.
        Err(fault) => Err(fault),
        Ok(_) => Ok(value),
    }
}

/// Parses a number with a leading zero: octal, unless it contains an 8 or a 9.
fn octal(digits: &str) -> Result<Value<'static>, Fault> {
    let radix = if digits.contains(['8', '9']) { 10 } else { 8 };
    u64::from_str_radix(digits, radix).map(|n| Value::Number(n as f64)).map_err(|_| Fault::Unknown)
}

impl Value<'_> {
    fn truth(&self, dialect: Dialect) -> bool {
        match self {
            Value::Undefined | Value::Null => false,
            Value::Bool(value) => *value,
            Value::Number(value) => *value != 0.0 && !value.is_nan(),
            Value::Text(value) => {
                !(value.is_empty() || dialect == Dialect::Jexl && value == "false")
            }
        }
    }

    fn number(&self) -> f64 {
        match self {
            Value::Undefined => f64::NAN,
            Value::Null => 0.0,
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Number(value) => *value,
            Value::Text(value) => match value.trim() {
                "" => 0.0,
                text => match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
                    Some(digits) => u64::from_str_radix(digits, 16).map_or(f64::NAN, |n| n as f64),
                    None if text.ends_with(|c: char| c.is_ascii_digit() || c == '.') => {
                        text.parse().unwrap_or(f64::NAN)
                    }
                    None => f64::NAN,
                },
            },
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Value::Undefined => "undefined".into(),
            Value::Null => "null".into(),
            Value::Bool(value) => if *value { "true" } else { "false" }.into(),
            Value::Number(value) if value.is_nan() => "NaN".into(),
            Value::Number(value) if value.is_infinite() => {
                if *value > 0.0 { "Infinity" } else { "-Infinity" }.into()
            }
            Value::Number(value) => format!("{}", value + 0.0).into(),
            Value::Text(value) => value.as_ref().into(),
        }
    }

    fn equals(&self, other: &Self, dialect: Dialect) -> Result<bool, Fault> {
        Ok(match (self, other) {
            (Value::Undefined | Value::Null, Value::Undefined | Value::Null) => true,
            (Value::Undefined | Value::Null, _) | (_, Value::Undefined | Value::Null) => false,
            (Value::Text(one), Value::Text(two)) => one == two,
            (Value::Number(one), Value::Number(two)) => one == two,
            (Value::Bool(one), Value::Bool(two)) => one == two,
            (one, two) => match dialect {
                Dialect::JavaScript => one.number() == two.number(),
                Dialect::Groovy => false,
                Dialect::Jexl => match (one, two) {
                    (Value::Number(_), _) | (_, Value::Number(_)) => {
                        one.strict_number()? == two.strict_number()?
                    }
                    _ => one.truth(dialect) == two.truth(dialect),
                },
            },
        })
    }

    fn compare(&self, other: &Self, dialect: Dialect) -> Result<Option<std::cmp::Ordering>, Fault> {
        Ok(match (self, other) {
            (Value::Text(one), Value::Text(two)) => {
                Some(one.encode_utf16().cmp(two.encode_utf16()))
            }
            (Value::Number(one), Value::Number(two)) => one.partial_cmp(two),
            (one, two) => match dialect {
                Dialect::JavaScript => one.number().partial_cmp(&two.number()),
                Dialect::Groovy => return Err(Fault::Throws),
                Dialect::Jexl => one.strict_number()?.partial_cmp(&two.strict_number()?),
            },
        })
    }

    /// Converts a value to a number where JEXL requires one. Strings that are not numbers throw an exception.
    fn strict_number(&self) -> Result<f64, Fault> {
        match self.number() {
            number if number.is_nan() => Err(Fault::Throws),
            number => Ok(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_javascript() {
        for source in [
            "true",
            " 1 == 1 ",
            r#""a" == 'a'"#,
            "1 < 2 && 2 < 3",
            "20<=30<70",
            "true == true",
            r#""10" == 10"#,
            r#"10 > "9""#,
            r#""10" < "9""#,
            "!(1 > 2)",
            "7 % 2 == 1",
            r#""abc".length == 3"#,
            r#""a" + 1 == "a1""#,
            "null == undefined",
            "1 != 2;",
            r#""true""#,
            "false || true",
            "010 == 8",
            "-1 < +1",
            r#""it\'s" == "it's""#,
        ] {
            assert!(is_true(source), "{source}");
            assert!(is_known(source), "{source}");
        }
        for source in [
            "",
            "false",
            "1",
            "\"yes\"",
            "1 === \"1\"",
            "NaN == NaN",
            "Tom == \"Tom\"",
            "5%2=0",
            "<EOF> == 1",
            "a b",
            "null > 0",
        ] {
            assert!(!is_true(source), "{source}");
        }
    }

    #[test]
    fn what_needs_a_jvm_is_told_apart_from_what_throws() {
        for source in [
            "vars.get(\"a\") == 1",
            "\"abc\".startsWith(\"a\")",
            "1 ? 2 : 3",
            "[1][0]",
            "/x/.test(1)",
            "1 == 1 ? true : false",
        ] {
            assert!(!is_known(source), "{source}");
        }
        for source in ["Tom == 1", "\"open", "5%2=0", ""] {
            assert!(is_known(source), "{source}");
        }
    }

    #[test]
    fn dialects_differ_where_types_mix() {
        use Dialect::*;
        let value = |source: &str, dialect| {
            let mut out = String::new();
            append(source, dialect, &mut out).then_some(out)
        };
        for (source, jexl, groovy) in [
            (r#""10" == 10"#, Some("true"), Some("false")),
            (r#""a" == 1"#, None, Some("false")),
            (r#""10" > 9"#, Some("true"), None),
            (r#""10" > "9""#, Some("false"), Some("false")),
            ("1 && 2", Some("true"), Some("true")),
            (r#""false" || false"#, Some("false"), Some("true")),
            ("!(3 != 3)", Some("true"), Some("true")),
            ("null == 1", Some("false"), Some("false")),
        ] {
            assert_eq!(value(source, Jexl).as_deref(), jexl, "{source}");
            assert_eq!(value(source, Groovy).as_deref(), groovy, "{source}");
        }
        assert!(is_comparison("1 == 3", Jexl) && is_comparison("'x' != \"y\"", Groovy));
        for source in
            ["1 + 1", "empty(x)", "not true", "vars.get('a') == 1", "1 === 1", "4 / 2 == 2"]
        {
            assert!(!is_comparison(source, Jexl), "{source}");
            assert!(!is_comparison(source, Groovy), "{source}");
        }
        assert!(!is_comparison(r#""$x" == """#, Groovy));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "(".repeat(100_000);
        assert!(!is_true(&deep));
        assert!(!is_true(&"!".repeat(100_000)));
    }
}
