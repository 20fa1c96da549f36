//! Parses expressions from tokens to nodes, with the precedences of jmespath-core's grammar.
//!
//! The parts of an expression are compiled from the last to the first. Each part gets the compiled later parts as its
//! `rest`, because a projected list applies all later parts to each of its elements. Therefore the parts are first
//! parsed into a small tree. Nesting is limited.

use crate::utf16::push_unit;
use std::fmt::Write;

use super::Failure;
use super::function::Function;
use super::node::{Node, Order};
use super::read::read_literal;
use super::token::{Kind, Token, split};

/// Maximum number of operators and brackets in an expression. JMeter is limited only by its stack.
const MAX_SIGNS: usize = 300;
/// Maximum nesting depth of an expression. JMeter is limited only by its stack.
const MAX_DEPTH: u32 = 60;

/// Tokens that can start an expression, as messages of jmespath-core's generated parser list them.
const EXPRESSION: &str =
    "{'!', '(', '*', '[', '{', '[?', '@', '`', RAW_STRING, JSON_CONSTANT, NAME, STRING}";
/// Tokens that can follow a dot, as messages of the generated parser list them.
const CHAINED: &str = "{'*', '[', '{', JSON_CONSTANT, NAME, STRING}";
/// Tokens that can be a name, as messages of the generated parser list them.
const IDENTIFIER: &str = "{JSON_CONSTANT, NAME, STRING}";
/// Tokens that can start a JSON value, as messages of the generated parser list them.
const JSON: &str = "{'[', '{', JSON_CONSTANT, STRING, REAL_OR_EXPONENT_NUMBER, SIGNED_INT}";

/// Syntax tree of a JMESPath expression.
enum Tree<'t> {
    Property(String),
    Text(String),
    Literal(String),
    Current,
    Bracket(Bracket<'t>),
    Wildcard,
    List(Vec<Tree<'t>>),
    Hash(Vec<(String, Tree<'t>)>),
    Call(Token<'t>, Vec<Argument<'t>>),
    Paren(Box<Tree<'t>>),
    Not(Box<Tree<'t>>),
    Chain(Box<Tree<'t>>, Box<Tree<'t>>),
    Bracketed(Box<Tree<'t>>, Bracket<'t>),
    Compare(Order, Box<Tree<'t>>, Box<Tree<'t>>),
    And(Box<Tree<'t>>, Box<Tree<'t>>),
    Or(Box<Tree<'t>>, Box<Tree<'t>>),
    Pipe(Box<Tree<'t>>, Box<Tree<'t>>),
}

enum Argument<'t> {
    Value(Tree<'t>),
    Expression(Tree<'t>),
}

enum Bracket<'t> {
    Index(Token<'t>),
    Star,
    Flatten,
    Slice([Option<Token<'t>>; 3]),
    Select(Box<Tree<'t>>),
}

/// Precedence of the pipe operator. An operator with a higher precedence binds tighter.
const PIPE: u8 = 3;
/// Precedence of `||`.
const OR: u8 = 11;
/// Precedence of `&&`.
const AND: u8 = 12;
/// Precedence of comparison operators.
const COMPARE: u8 = 13;
/// Precedence of `!`.
const NOT: u8 = 14;

/// An error message, and its position in the expression in bytes.
pub(super) type Problem = (String, usize);

type Reading<T> = Result<T, Problem>;

/// Parses a JMESPath expression into a node.
pub(super) fn parse(source: &str) -> Result<Node, Failure> {
    let mut problems = Vec::new();
    let tokens = split(source, &mut problems);
    let is_sign = |token: &&Token<'_>| {
        matches!(token.kind, Kind::Sign | Kind::Comparator)
            && !matches!(token.text, "," | ":" | "]" | ")" | "}" | "@" | "`")
    };
    if tokens.iter().filter(is_sign).count() > MAX_SIGNS {
        problems.push((format!("more than {MAX_SIGNS} operators and brackets"), 0));
        return Err(unreadable(source, &problems));
    }
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let tree = match parser.whole() {
        Ok(tree) if problems.is_empty() => tree,
        Ok(_) => return Err(unreadable(source, &problems)),
        Err(problem) => {
            problems.push(problem);
            return Err(unreadable(source, &problems));
        }
    };
    let mut compiler = Compiler { problems };
    let node = compiler.node(&tree, None)?;
    if compiler.problems.is_empty() {
        Ok(node)
    } else {
        Err(unreadable(source, &compiler.problems))
    }
}

fn unreadable(source: &str, problems: &[Problem]) -> Failure {
    let mut message = format!("Unable to compile expression \"{source}\": ");
    for (n, (what, at)) in problems.iter().enumerate() {
        let position = source[..*at].chars().count();
        let separator = if n > 0 { ", " } else { "" };
        let _ = write!(message, "{separator}{what} at position {position}");
    }
    Failure(message)
}

struct Parser<'s, 't> {
    tokens: &'s [Token<'t>],
    at: usize,
    depth: u32,
}

impl<'t> Parser<'_, 't> {
    fn peek(&self) -> Token<'t> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn ahead(&self, by: usize) -> Token<'t> {
        self.tokens[(self.at + by).min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn accept(&mut self, sign: &str) -> bool {
        let accepted = self.peek().is(sign);
        self.at += usize::from(accepted);
        accepted
    }

    fn expect(&mut self, sign: &str) -> Reading<()> {
        if self.accept(sign) {
            return Ok(());
        }
        let found = self.peek();
        if found.kind == Kind::End {
            return Err((format!("syntax error missing '{sign}' at '<EOF>'"), found.at));
        }
        self.unexpected(&format!("'{sign}'"))
    }

    fn unexpected<T>(&self, expected: &str) -> Reading<T> {
        let found = self.peek();
        let next = self.ahead(1);
        let fits = match next.kind {
            Kind::Name => expected.contains(" NAME"),
            Kind::Constant => expected.contains("JSON_CONSTANT"),
            Kind::Quoted => expected.contains(" STRING"),
            Kind::Raw => expected.contains("RAW_STRING"),
            Kind::Integer => expected.contains("SIGNED_INT"),
            Kind::Real => expected.contains("REAL"),
            Kind::Sign => expected.contains(&format!("'{}'", next.text)),
            Kind::Comparator => false,
            Kind::End => expected == "<EOF>",
        };
        let kind = if fits && found.kind != Kind::End { "extraneous" } else { "mismatched" };
        Err((format!("syntax error {kind} input '{}' expecting {expected}", found.text), found.at))
    }

    fn whole(&mut self) -> Reading<Tree<'t>> {
        let tree = self.expression(0)?;
        if self.peek().kind == Kind::End {
            return Ok(tree);
        }
        self.unexpected(if self.ahead(1).kind == Kind::End {
            "<EOF>"
        } else {
            "{<EOF>, '.', '&&', '||', '|', '[', '[?', COMPARATOR}"
        })
    }

    /// Consumes `sign`, which ends a comma-separated list. Otherwise the error names the expected tokens.
    fn close(&mut self, sign: &str, expected: &str) -> Reading<()> {
        if self.accept(sign) { Ok(()) } else { self.unexpected(expected) }
    }

    /// Reports a syntax error: the text since token `from` is not the start of any kind of bracket.
    fn no_bracket<T>(&self, from: usize) -> Reading<T> {
        let end = (self.at + 1).min(self.tokens.len() - 1);
        let read: String = self.tokens[from..end].iter().map(|token| token.text).collect();
        Err((format!("syntax error no viable alternative at input '{read}'"), self.peek().at))
    }

    fn expression(&mut self, least: u8) -> Reading<Tree<'t>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((format!("nested more than {MAX_DEPTH} times"), self.peek().at));
        }
        let tree = self.operators(least);
        self.depth -= 1;
        tree
    }

    /// Parses an expression, as long as its operators have at least the precedence `least`.
    fn operators(&mut self, least: u8) -> Reading<Tree<'t>> {
        let mut left = self.primary()?;
        loop {
            let next = self.peek();
            let level = match next.kind {
                Kind::Comparator => COMPARE,
                Kind::Sign => match next.text {
                    "&&" => AND,
                    "||" => OR,
                    "|" => PIPE,
                    "." => {
                        self.at += 1;
                        let chained = self.chained()?;
                        left = Tree::Chain(Box::new(left), Box::new(chained));
                        continue;
                    }
                    "[" | "[?" => {
                        let bracket = self.bracket()?;
                        left = Tree::Bracketed(Box::new(left), bracket);
                        continue;
                    }
                    _ => return Ok(left),
                },
                _ => return Ok(left),
            };
            if level < least {
                return Ok(left);
            }
            self.at += 1;
            let (one, two) = (Box::new(left), Box::new(self.expression(level + 1)?));
            left = match level {
                PIPE => Tree::Pipe(one, two),
                OR => Tree::Or(one, two),
                AND => Tree::And(one, two),
                _ => Tree::Compare(Order::of(next.text), one, two),
            };
        }
    }

    fn primary(&mut self) -> Reading<Tree<'t>> {
        let token = self.peek();
        if token.kind == Kind::Name && self.ahead(1).is("(") {
            return self.call();
        }
        match token.kind {
            Kind::Name | Kind::Constant | Kind::Quoted => Ok(Tree::Property(self.identifier()?)),
            Kind::Raw => {
                self.at += 1;
                Ok(Tree::Text(unescape_raw(inner(token.text))))
            }
            Kind::Sign => match token.text {
                "!" => {
                    self.at += 1;
                    Ok(Tree::Not(Box::new(self.expression(NOT)?)))
                }
                "(" => {
                    self.at += 1;
                    let inside = self.expression(0)?;
                    self.expect(")")?;
                    Ok(Tree::Paren(Box::new(inside)))
                }
                "*" => {
                    self.at += 1;
                    Ok(Tree::Wildcard)
                }
                "@" => {
                    self.at += 1;
                    Ok(Tree::Current)
                }
                "`" => self.literal(),
                "{" => self.hash(),
                "[" if !self.begins_bracket() => self.list(),
                "[" | "[?" => Ok(Tree::Bracket(self.bracket()?)),
                _ => self.unexpected(EXPRESSION),
            },
            _ => self.unexpected(EXPRESSION),
        }
    }

    /// Returns true if the bracket that follows selects from a list, false if it creates a list.
    fn begins_bracket(&self) -> bool {
        let next = self.ahead(1);
        next.kind == Kind::Integer
            || next.is(":")
            || next.is("]")
            || next.is("*") && self.ahead(2).is("]")
    }

    fn chained(&mut self) -> Reading<Tree<'t>> {
        let token = self.peek();
        match token.kind {
            Kind::Name if self.ahead(1).is("(") => self.call(),
            Kind::Name | Kind::Constant | Kind::Quoted => Ok(Tree::Property(self.identifier()?)),
            Kind::Sign if token.text == "[" => self.list(),
            Kind::Sign if token.text == "{" => self.hash(),
            Kind::Sign if token.text == "*" => {
                self.at += 1;
                Ok(Tree::Wildcard)
            }
            _ => self.unexpected(CHAINED),
        }
    }

    fn identifier(&mut self) -> Reading<String> {
        let token = self.peek();
        let name = match token.kind {
            Kind::Name | Kind::Constant => token.text.to_owned(),
            Kind::Quoted => unescape_identifier(inner(token.text)),
            _ => return self.unexpected(IDENTIFIER),
        };
        self.at += 1;
        Ok(name)
    }

    fn bracket(&mut self) -> Reading<Bracket<'t>> {
        let start = self.at;
        if self.take().text == "[?" {
            let test = self.expression(0)?;
            self.expect("]")?;
            return Ok(Bracket::Select(Box::new(test)));
        }
        if self.accept("]") {
            return Ok(Bracket::Flatten);
        }
        if self.accept("*") {
            self.expect("]")?;
            return Ok(Bracket::Star);
        }
        let mut parts = [None; 3];
        let mut part = 0;
        loop {
            if self.peek().kind == Kind::Integer && parts[part].is_none() {
                parts[part] = Some(self.take());
            } else if part < 2 && self.accept(":") {
                part += 1;
            } else {
                break;
            }
        }
        if part == 0 && !self.peek().is("]") {
            return self.no_bracket(start);
        }
        self.expect("]")?;
        match parts {
            [Some(index), ..] if part == 0 => Ok(Bracket::Index(index)),
            _ => Ok(Bracket::Slice(parts)),
        }
    }

    fn list(&mut self) -> Reading<Tree<'t>> {
        self.expect("[")?;
        let mut parts = vec![self.expression(0)?];
        while self.accept(",") {
            parts.push(self.expression(0)?);
        }
        self.close("]", "{',', ']'}")?;
        Ok(Tree::List(parts))
    }

    fn hash(&mut self) -> Reading<Tree<'t>> {
        self.expect("{")?;
        let mut parts = Vec::new();
        loop {
            let key = self.identifier()?;
            self.expect(":")?;
            parts.push((key, self.expression(0)?));
            if !self.accept(",") {
                break;
            }
        }
        self.close("}", "{',', '}'}")?;
        Ok(Tree::Hash(parts))
    }

    fn call(&mut self) -> Reading<Tree<'t>> {
        let name = self.take();
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.accept(")") {
            return Ok(Tree::Call(name, arguments));
        }
        loop {
            arguments.push(if self.accept("&") {
                Argument::Expression(self.expression(0)?)
            } else {
                Argument::Value(self.expression(0)?)
            });
            if !self.accept(",") {
                break;
            }
        }
        self.close(")", "{')', ','}")?;
        Ok(Tree::Call(name, arguments))
    }

    /// Returns the JSON text between backquotes, without blanks between its tokens.
    fn literal(&mut self) -> Reading<Tree<'t>> {
        self.expect("`")?;
        let mut json = String::new();
        self.json(&mut json)?;
        self.expect("`")?;
        Ok(Tree::Literal(unescape_backquotes(&json)))
    }

    fn json(&mut self, out: &mut String) -> Reading<()> {
        let token = self.peek();
        match token.kind {
            Kind::Quoted => self.json_text(out),
            Kind::Integer | Kind::Real | Kind::Constant => {
                self.at += 1;
                out.push_str(token.text);
                Ok(())
            }
            Kind::Sign if matches!(token.text, "[" | "{") => {
                let is_list = token.text == "[";
                let end = if is_list { "]" } else { "}" };
                self.at += 1;
                out.push_str(token.text);
                if !self.peek().is(end) {
                    loop {
                        if !is_list {
                            if self.peek().kind != Kind::Quoted {
                                return self.unexpected("STRING");
                            }
                            self.json_text(out)?;
                            self.expect(":")?;
                            out.push(':');
                        }
                        self.json(out)?;
                        if !self.accept(",") {
                            break;
                        }
                        out.push(',');
                    }
                }
                self.expect(end)?;
                out.push_str(end);
                Ok(())
            }
            _ => self.unexpected(JSON),
        }
    }

    fn json_text(&mut self, out: &mut String) -> Reading<()> {
        let token = self.take();
        let bytes = token.text.as_bytes();
        let bare = (0..bytes.len()).find(|at| bytes[*at] == b'`' && bytes[at - 1] != b'\\');
        if let Some(bare) = bare {
            return Err(("syntax error unexpected `".into(), token.at + bare));
        }
        out.push_str(token.text);
        Ok(())
    }
}

/// Removes the quotes at both ends of a text.
fn inner(quoted: &str) -> &str {
    &quoted[1..quoted.len() - 1]
}

fn unescape_raw(text: &str) -> String {
    unescape(text, |escaped| matches!(escaped, '\'' | '\\').then_some(escaped))
}

fn unescape_backquotes(text: &str) -> String {
    unescape(text, |escaped| (escaped == '`').then_some(escaped))
}

/// Replaces escapes by the characters that `known` returns for them. Escapes unknown to `known` stay unchanged.
fn unescape(text: &str, known: impl Fn(char) -> Option<char>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        let Some(escaped) = rest.next() else { break };
        match known(escaped) {
            Some(meant) => out.push(meant),
            None => out.extend(['\\', escaped]),
        }
    }
    out
}

fn unescape_identifier(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut high = None;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let unit = match rest.as_bytes().get(at + 1) {
            Some(b'u') => {
                rest.get(at + 2..at + 6).and_then(|code| u16::from_str_radix(code, 16).ok())
            }
            _ => None,
        };
        if at > 0 && high.take().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        out.push_str(&rest[..at]);
        if let Some(unit) = unit {
            push_unit(&mut out, &mut high, unit);
            rest = &rest[at + 6..];
            continue;
        }
        if high.take().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        let end = rest.len().min(at + 2);
        let escape = &rest[at..end];
        out.push_str(match escape {
            "\\\"" => "\"",
            "\\/" => "/",
            "\\\\" => "\\",
            "\\b" => "\u{8}",
            "\\f" => "\u{C}",
            "\\n" => "\n",
            "\\r" => "\r",
            "\\t" => "\t",
            other => other,
        });
        rest = &rest[end..];
    }
    if high.is_some() {
        out.push(char::REPLACEMENT_CHARACTER);
    }
    out.push_str(rest);
    out
}

struct Compiler {
    problems: Vec<Problem>,
}

impl Compiler {
    /// Compiles `tree` to a node. The node applies `rest`, the nodes of the following text, to its result.
    fn node(&mut self, tree: &Tree<'_>, rest: Option<Node>) -> Result<Node, Failure> {
        let node = match tree {
            Tree::Property(name) => Node::Property(name.as_str().into()),
            Tree::Text(text) => Node::Value(super::Value::text(text)),
            Tree::Literal(json) => match read_literal(json) {
                Ok(value) => Node::Value(value),
                Err(failure) => return Err(literal_failure(&failure)),
            },
            Tree::Current => return Ok(rest.unwrap_or(Node::Current)),
            Tree::Bracket(bracket) => return self.bracket(bracket, rest),
            Tree::Wildcard => return Ok(spread(Node::Values, rest)),
            Tree::List(parts) => Node::List(self.nodes(parts)?),
            Tree::Hash(parts) => {
                let mut made = Vec::with_capacity(parts.len());
                for (key, part) in parts {
                    made.push((key.as_str().into(), self.node(part, None)?));
                }
                Node::Hash(made)
            }
            Tree::Call(name, arguments) => self.call(name, arguments)?,
            Tree::Paren(inside) => self.node(inside, None)?,
            Tree::Not(inside) => return Ok(Node::Not(Box::new(self.node(inside, rest)?))),
            Tree::Chain(left, chained) => {
                let rest = self.node(chained, rest)?;
                return self.node(left, Some(rest));
            }
            Tree::Bracketed(left, Bracket::Flatten) => {
                let left = self.node(left, None)?;
                return Ok(left.then(Some(spread(Node::Flatten, rest))));
            }
            Tree::Bracketed(left, bracket) => {
                let rest = self.bracket(bracket, rest)?;
                return self.node(left, Some(rest));
            }
            Tree::Compare(order, left, right) => {
                let right = Box::new(self.node(right, None)?);
                Node::Compare(*order, Box::new(self.node(left, None)?), right)
            }
            Tree::And(left, right) => {
                let left = Box::new(self.node(left, None)?);
                Node::And(left, Box::new(self.node(right, None)?))
            }
            Tree::Or(left, right) => {
                let left = Box::new(self.node(left, None)?);
                Node::Or(left, Box::new(self.node(right, None)?))
            }
            Tree::Pipe(left, right) => {
                let right = self.node(right, rest)?;
                return Ok(self.node(left, None)?.then(Some(right)));
            }
        };
        Ok(node.then(rest))
    }

    fn nodes(&mut self, trees: &[Tree<'_>]) -> Result<Vec<Node>, Failure> {
        trees.iter().map(|tree| self.node(tree, None)).collect()
    }

    fn bracket(&mut self, bracket: &Bracket<'_>, rest: Option<Node>) -> Result<Node, Failure> {
        Ok(match bracket {
            Bracket::Index(index) => Node::Index(integer(index)?).then(rest),
            Bracket::Star => Node::Each(Box::new(rest.unwrap_or(Node::Current))),
            Bracket::Flatten => spread(Node::Flatten, rest),
            Bracket::Slice(parts) => {
                let mut bounds = [None; 3];
                for (bound, part) in bounds.iter_mut().zip(parts) {
                    *bound = part.as_ref().map(integer).transpose()?;
                }
                if let (Some(0), Some(step)) = (bounds[2], &parts[2]) {
                    self.problems.push(("invalid value 0 for step size".into(), step.at));
                }
                spread(Node::slice(bounds), rest)
            }
            Bracket::Select(test) => {
                let test = Box::new(self.node(test, None)?);
                spread(Node::Select(test), rest)
            }
        })
    }

    fn call(&mut self, name: &Token<'_>, arguments: &[Argument<'_>]) -> Result<Node, Failure> {
        let mut made = Vec::with_capacity(arguments.len());
        for argument in arguments {
            made.push(match argument {
                Argument::Value(tree) => (false, self.node(tree, None)?),
                Argument::Expression(tree) => (true, self.node(tree, None)?),
            });
        }
        let Some(function) = Function::named(name.text) else {
            self.problems.push((format!("unknown function \"{}\"", name.text), name.at));
            return Ok(Node::Current);
        };
        if let Some(problem) = function.arity_problem(made.len()) {
            self.problems.push((problem, name.at));
        }
        Ok(Node::Call(function, made))
    }
}

/// Returns a node that applies `rest` to each element of the list that `node` returns.
fn spread(node: Node, rest: Option<Node>) -> Node {
    node.then(rest.map(|rest| Node::Each(Box::new(rest))))
}

fn integer(token: &Token<'_>) -> Result<i32, Failure> {
    token.text.parse().map_err(|_| Failure(format!("For input string: \"{}\"", token.text)))
}

/// Returns the error of a literal that the expression's grammar accepts but Jackson rejects, such as line ends in
/// strings.
fn literal_failure(failure: &Failure) -> Failure {
    Failure(format!("com.fasterxml.jackson.core.JsonParseException: {}", failure.0))
}
