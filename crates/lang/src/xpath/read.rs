//! Parses tokens to an expression, with the grammar and the error messages of Xalan's parser.

use super::expr::{Axis, Expr, From, Function, Operator, Path, Predicate, Step, Test};
use super::lex::pieces;
use super::query::Unusable;
use crate::java;

/// Maximum nesting depth of XPath expressions.
const MAX_DEPTH: u32 = 100;

/// Names of the XSLT functions that Xalan supports in addition to the functions of XPath. This module rejects them.
const OF_XSLT: [&str; 10] = [
    "current",
    "key",
    "document",
    "document-location",
    "format-number",
    "generate-id",
    "system-property",
    "unparsed-entity-uri",
    "function-available",
    "element-available",
];

/// Parses an XPath expression; returns it with the prefixes that it contains.
pub(super) fn read(query: &str) -> Result<(Expr, Vec<Box<str>>), Unusable> {
    let mut parser = Parser { pieces: pieces(query)?, at: 0, prefixes: Vec::new(), depth: 0 };
    let expr = parser.expr()?;
    if parser.at < parser.pieces.len() {
        let extra: Vec<_> =
            parser.pieces[parser.at..].iter().map(|piece| format!("'{piece}'")).collect();
        return Err(Unusable::wrong(format!("Extra illegal tokens: {}", extra.join(", "))));
    }
    Ok((expr, parser.prefixes))
}

struct Parser<'q> {
    pieces: Vec<&'q str>,
    at: usize,
    prefixes: Vec<Box<str>>,
    depth: u32,
}

impl<'q> Parser<'q> {
    fn piece(&self) -> Option<&'q str> {
        self.pieces.get(self.at).copied()
    }

    fn ahead(&self, by: usize) -> &'q str {
        self.pieces.get(self.at + by).copied().unwrap_or("")
    }

    fn is(&self, word: &str) -> bool {
        self.piece() == Some(word)
    }

    fn skip(&mut self, word: &str) -> bool {
        let is_here = self.is(word);
        self.at += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, word: &str) -> Result<(), Unusable> {
        if self.skip(word) {
            return Ok(());
        }
        let found = self.piece().unwrap_or("");
        Err(Unusable::wrong(format!("Expected {word}, but found: {found}")))
    }

    fn first(&self) -> Option<char> {
        self.piece()?.chars().next()
    }

    fn expr(&mut self) -> Result<Expr, Unusable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unusable::beyond("expressions are nested too deeply"));
        }
        let mut parts = vec![self.and()?];
        while self.skip("or") {
            parts.push(self.and()?);
        }
        self.depth -= 1;
        Ok(single(parts, Expr::Or))
    }

    fn and(&mut self) -> Result<Expr, Unusable> {
        let mut parts = vec![self.equality()?];
        while self.skip("and") {
            parts.push(self.equality()?);
        }
        Ok(single(parts, Expr::And))
    }

    fn equality(&mut self) -> Result<Expr, Unusable> {
        self.chain(Self::relation, |parser| {
            if parser.is("!") && parser.ahead(1) == "=" {
                parser.at += 2;
                return Some(Operator::NotEqual);
            }
            parser.skip("=").then_some(Operator::Equal)
        })
    }

    fn relation(&mut self) -> Result<Expr, Unusable> {
        self.chain(Self::sum, |parser| {
            if parser.skip("<") {
                let or_equal = parser.skip("=");
                return Some(if or_equal { Operator::LessOrEqual } else { Operator::Less });
            }
            parser.skip(">").then(|| {
                if parser.skip("=") { Operator::GreaterOrEqual } else { Operator::Greater }
            })
        })
    }

    fn sum(&mut self) -> Result<Expr, Unusable> {
        self.chain(Self::product, |parser| {
            if parser.skip("+") {
                return Some(Operator::Add);
            }
            parser.skip("-").then_some(Operator::Subtract)
        })
    }

    fn product(&mut self) -> Result<Expr, Unusable> {
        self.chain(Self::unary, |parser| {
            let operator = match parser.piece()? {
                "*" => Operator::Multiply,
                "div" => Operator::Divide,
                "mod" => Operator::Modulo,
                _ => return None,
            };
            parser.at += 1;
            Some(operator)
        })
    }

    fn chain(
        &mut self,
        part: impl Fn(&mut Self) -> Result<Expr, Unusable>,
        operator: impl Fn(&mut Self) -> Option<Operator>,
    ) -> Result<Expr, Unusable> {
        let first = part(self)?;
        let mut rest = Vec::new();
        while let Some(operator) = operator(self) {
            rest.push((operator, part(self)?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) })
    }

    fn unary(&mut self) -> Result<Expr, Unusable> {
        let is_negative = self.skip("-");
        let mut parts = vec![self.path()?];
        while self.skip("|") {
            parts.push(self.path()?);
        }
        let expr = single(parts, Expr::Union);
        Ok(if is_negative { Expr::Negative(Box::new(expr)) } else { expr })
    }

    fn path(&mut self) -> Result<Expr, Unusable> {
        let Some(primary) = self.primary()? else {
            return self.location().map(Expr::Path);
        };
        let predicates = self.predicates()?;
        let has_steps = self.skip("/");
        if !has_steps && predicates.is_empty() {
            return Ok(primary);
        }
        let mut steps = Vec::new();
        if has_steps && !self.steps(&mut steps)? {
            return Err(Unusable::wrong(
                "A relative location path was expected following the '/' or '//' token.",
            ));
        }
        let from = From::Expr(Box::new(primary), predicates);
        Ok(Expr::Path(Path { steps: joined(steps, None), from }))
    }

    /// Parses a primary expression; returns `None` if it must be a location path.
    fn primary(&mut self) -> Result<Option<Expr>, Unusable> {
        let Some(piece) = self.piece() else { return Ok(None) };
        let mut letters = piece.chars();
        let (first, second) = (letters.next().unwrap_or(' '), letters.next());
        Ok(Some(match first {
            '\'' | '"' => {
                self.at += 1;
                Expr::Literal(piece[1..piece.len() - 1].into())
            }
            '$' => {
                self.at += 1;
                let mut name = self.piece().unwrap_or("null");
                self.at += 1;
                if self.skip(":") {
                    name = self.piece().unwrap_or("null");
                    self.at += 1;
                }
                Expr::Variable(name.into())
            }
            '(' => {
                self.at += 1;
                let inner = self.expr()?;
                self.expect(")")?;
                inner
            }
            _ if first.is_numeric() || first == '.' && second.is_some_and(char::is_numeric) => {
                self.at += 1;
                let is_plain = !piece.contains(['e', 'E']);
                let number = java::parse_double(piece).filter(|_| is_plain);
                Expr::Number(number.ok_or_else(|| {
                    Unusable::wrong(format!("{piece} could not be formatted to a number!"))
                })?)
            }
            _ if self.ahead(1) == "(" && !is_node_type(piece) => self.call(piece)?,
            _ if self.ahead(1) == ":" && self.ahead(3) == "(" => {
                return Err(Unusable::beyond("only Xalan has extension functions"));
            }
            _ => return Ok(None),
        }))
    }

    fn call(&mut self, name: &str) -> Result<Expr, Unusable> {
        let Some(function) = Function::named(name) else {
            return Err(if OF_XSLT.contains(&name) {
                Unusable::beyond(format!("{name}() is an XSLT function"))
            } else {
                Unusable::wrong(format!("Could not find function: {name}"))
            });
        };
        self.at += 1;
        self.expect("(")?;
        let mut arguments = Vec::new();
        while self.piece().is_some_and(|piece| piece != ")") {
            if self.is(",") {
                return Err(Unusable::wrong("Found ',' but no preceding argument!"));
            }
            arguments.push(self.expr()?);
            if !self.is(")") {
                self.expect(",")?;
                if self.is(")") {
                    return Err(Unusable::wrong("Found ',' but no following argument!"));
                }
            }
        }
        self.expect(")")?;
        let (arity, word) = function.arity();
        if !arity.contains(&arguments.len()) {
            return Err(Unusable::wrong(format!(
                "org.apache.xpath.functions.Func{} only allows {word} arguments",
                function.class()
            )));
        }
        Ok(Expr::Call(function, arguments))
    }

    fn location(&mut self) -> Result<Path, Unusable> {
        let Some(piece) = self.piece() else {
            return Err(Unusable::wrong(
                "A location path was expected, but the end of the XPath expression was found instead.",
            ));
        };
        let is_absolute = self.skip("/");
        let mut steps = Vec::new();
        let is_relative = self.piece().is_some() && self.steps(&mut steps)?;
        if !is_relative && !is_absolute {
            return Err(Unusable::wrong(format!(
                "A location path was expected, but the following token was encountered:  {piece}"
            )));
        }
        let from = if is_absolute { From::Root } else { From::Context };
        Ok(Path { steps: joined(steps, Some(&from)), from })
    }

    /// Parses steps separated by `/`; returns `false` if there is no step.
    fn steps(&mut self, steps: &mut Vec<Step>) -> Result<bool, Unusable> {
        if !self.step(steps)? {
            return Ok(false);
        }
        while self.skip("/") {
            if !self.step(steps)? {
                return Err(Unusable::wrong(STEP));
            }
        }
        Ok(true)
    }

    fn step(&mut self, steps: &mut Vec<Step>) -> Result<bool, Unusable> {
        let is_deep = self.skip("/");
        if is_deep {
            steps.push(step(Axis::DescendantOrSelf, Test::Node));
        }
        if self.skip(".") {
            if self.is("[") {
                return Err(Unusable::wrong(
                    "'..[predicate]' or '.[predicate]' is illegal syntax.  Use 'self::node()[predicate]' instead.",
                ));
            }
            steps.push(step(Axis::Self_, Test::Node));
        } else if self.skip("..") {
            steps.push(step(Axis::Parent, Test::Node));
        } else if self.first().is_some_and(|c| matches!(c, '*' | '@' | '_') || c.is_alphabetic()) {
            let mut made = self.basis()?;
            made.predicates = self.predicates()?;
            steps.push(made);
        } else if is_deep {
            return Err(Unusable::wrong(STEP));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn basis(&mut self) -> Result<Step, Unusable> {
        let axis = if self.ahead(1) == "::" {
            let name = self.piece().unwrap_or("");
            self.at += 2;
            Axis::named(name)
                .ok_or_else(|| Unusable::wrong(format!("illegal axis name: {name}")))?
        } else if self.skip("@") {
            Axis::Attribute
        } else {
            Axis::Child
        };
        Ok(step(axis, self.test()?))
    }

    fn test(&mut self) -> Result<Test, Unusable> {
        let piece = self.piece().unwrap_or("null");
        if self.ahead(1) == "(" {
            self.at += 2;
            let test = match piece {
                "node" => Test::Node,
                "text" => Test::Text,
                "comment" => Test::Comment,
                "processing-instruction" => {
                    let target = self.piece().filter(|piece| *piece != ")");
                    if let Some(target) = target {
                        if !target.starts_with(['\'', '"']) {
                            return Err(Unusable::wrong(format!(
                                "Pattern literal ({target}) needs to be quoted!"
                            )));
                        }
                        self.at += 1;
                    }
                    Test::Instruction(target.map(|target| target[1..target.len() - 1].into()))
                }
                _ => return Err(Unusable::wrong(format!("Unknown nodetype: {piece}"))),
            };
            self.expect(")")?;
            return Ok(test);
        }
        let mut prefix = None;
        if self.ahead(1) == ":" {
            self.at += 2;
            prefix = Some(self.prefix(piece));
        }
        let local = self.piece().unwrap_or("null");
        let local = match local.chars().next() {
            Some('*') => None,
            Some(c) if (c == '_' || c.is_alphabetic()) && self.piece().is_some() => {
                Some(local.into())
            }
            _ => {
                return Err(Unusable::wrong(
                    "A node test that matches either NCName:* or QName was expected.",
                ));
            }
        };
        self.at += 1;
        Ok(Test::Name(prefix, local))
    }

    fn prefix(&mut self, prefix: &str) -> usize {
        let known = self.prefixes.iter().position(|known| **known == *prefix);
        known.unwrap_or_else(|| {
            self.prefixes.push(prefix.into());
            self.prefixes.len() - 1
        })
    }

    fn predicates(&mut self) -> Result<Vec<Predicate>, Unusable> {
        let mut predicates = Vec::new();
        while self.skip("[") {
            let expr = self.expr()?;
            self.expect("]")?;
            let is_positional = expr.is_positional();
            predicates.push(Predicate { expr, is_positional });
        }
        Ok(predicates)
    }
}

const STEP: &str = "A location step was expected following the '/' or '//' token.";

fn is_node_type(name: &str) -> bool {
    matches!(name, "node" | "text" | "comment" | "processing-instruction")
}

fn step(axis: Axis, test: Test) -> Step {
    Step { axis, test, predicates: Vec::new(), whole_name: false }
}

/// Merges `//name` into one step if no predicate depends on positions. If a path consists of this step only, Xalan
/// compares whole names in the step.
fn joined(steps: Vec<Step>, from: Option<&From>) -> Vec<Step> {
    let any = step(Axis::DescendantOrSelf, Test::Node);
    let own: Vec<&Step> =
        steps.iter().filter(|step| step.axis != Axis::Self_ || !step.is_free()).collect();
    let whole_name = match (from, &own[..]) {
        (Some(From::Context | From::Root), [deep, child]) => {
            **deep == any && child.axis == Axis::Child && !child.is_positional()
        }
        (Some(From::Root), [below]) => below.axis == Axis::Descendant && !below.is_positional(),
        _ => false,
    };
    let mut joined: Vec<Step> = Vec::with_capacity(steps.len());
    for mut step in steps {
        step.whole_name = whole_name;
        let is_deep = joined.last().is_some_and(|last| last.axis == any.axis && last.is_free());
        if !step.is_positional() && step.axis == Axis::Child && is_deep {
            joined.pop();
            step.axis = Axis::Descendant;
        }
        joined.push(step);
    }
    joined
}

fn single(mut parts: Vec<Expr>, several: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { several(parts) }
}
