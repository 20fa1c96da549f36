//! Parses tokens to a syntax tree, by the grammar that Groovy and BeanShell share for simple scripts.
//!
//! Loops, functions, classes, closures, lists and exceptions are refused. Groovy ends statements at line ends, and
//! allows calls without parentheses (`log.info "x"`). The depth of nesting is limited.

use super::lex::{Piece, Token, Word};
use super::tree::{Binary, Node, Stmt};
use super::{Language, NotSimple};

const DEEPEST: u32 = 60;

/// Words that begin unsupported constructs, or that cannot be names.
const RESERVED: [&str; 48] = [
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "try",
    "catch",
    "finally",
    "throw",
    "throws",
    "class",
    "interface",
    "enum",
    "trait",
    "assert",
    "synchronized",
    "static",
    "public",
    "private",
    "protected",
    "abstract",
    "native",
    "transient",
    "volatile",
    "package",
    "this",
    "super",
    "instanceof",
    "in",
    "break",
    "continue",
    "goto",
    "const",
    "import",
    "return",
    "if",
    "else",
    "new",
    "null",
    "true",
    "false",
    "as",
    "void",
    "var",
    "threadsafe",
    "extends",
    "implements",
];

const PRIMITIVES: [&str; 8] =
    ["int", "long", "double", "boolean", "float", "byte", "short", "char"];

type Result<T> = std::result::Result<T, NotSimple>;

/// Parses a whole script.
pub(super) fn script(words: &[Word], language: Language) -> Result<Vec<Stmt>> {
    let mut parser = Parser { words, at: 0, language, depth: 0 };
    let mut found = Vec::new();
    while parser.at < words.len() {
        if !parser.takes(";") {
            found.push(parser.statement()?);
        }
    }
    Ok(found)
}

struct Parser<'w> {
    words: &'w [Word],
    at: usize,
    language: Language,
    depth: u32,
}

impl<'w> Parser<'w> {
    fn token(&self, ahead: usize) -> Option<&'w Token> {
        self.words.get(self.at + ahead).map(|word| &word.token)
    }

    fn next_is(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.token(ahead), Some(Token::Sign(found)) if *found == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.next_is(0, sign);
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, sign: &str) -> Result<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn word(&self, ahead: usize) -> Option<&'w str> {
        match self.token(ahead) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.word(0) == Some(word);
        self.at += usize::from(found);
        found
    }

    /// Parses a name that the script defines or uses.
    fn name(&mut self) -> Result<&'w str> {
        match self.word(0).filter(|name| !RESERVED.contains(name)) {
            Some(name) => {
                self.at += 1;
                Ok(name)
            }
            None => Err(self.unexpected()),
        }
    }

    fn unexpected(&self) -> NotSimple {
        NotSimple::new(match self.token(0) {
            Some(Token::Name(name)) => format!("\u{201c}{name}\u{201d}"),
            Some(Token::Sign(sign)) => format!("\u{201c}{sign}\u{201d}"),
            Some(_) => "an unexpected value".to_owned(),
            None => "an unexpected end of the script".to_owned(),
        })
    }

    fn fresh_line(&self) -> bool {
        self.words.get(self.at).is_none_or(|word| word.fresh_line)
    }

    /// True if the previous statement ended with a semicolon.
    fn ended(&self) -> bool {
        self.at > 0 && matches!(self.words[self.at - 1].token, Token::Sign(";"))
    }

    /// Parses the end of a statement.
    fn end(&mut self) -> Result<()> {
        let groovy = self.language == Language::Groovy;
        // The end of the script ends its last statement: JMeter adds a semicolon to BeanShell's text.
        let over = self.at == self.words.len();
        let apart = self.fresh_line() || self.next_is(0, "}") || self.word(0) == Some("else");
        if self.takes(";") || over || groovy && apart {
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            return Err(NotSimple::new("code that is nested too deeply"));
        }
        self.depth += 1;
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }

    fn statement(&mut self) -> Result<Stmt> {
        self.deeper(Self::any_statement)
    }

    fn any_statement(&mut self) -> Result<Stmt> {
        if self.next_is(0, "{") {
            // In Groovy a brace at the start of a statement begins a closure.
            return match self.language {
                Language::Groovy => Err(NotSimple::new("a closure")),
                Language::BeanShell => self.block(),
            };
        }
        if self.takes_word("if") {
            let found = self.condition()?;
            // Only BeanShell allows a statement after a brace on the same line.
            let apart =
                self.fresh_line() || self.next_is(0, ";") || self.next_is(0, "}") || self.ended();
            return if apart || self.language == Language::BeanShell {
                Ok(found)
            } else {
                Err(self.unexpected())
            };
        }
        if self.takes_word("return") {
            let groovy = self.language == Language::Groovy;
            let bare = self.next_is(0, ";") || self.next_is(0, "}") || groovy && self.fresh_line();
            let value = if bare { None } else { Some(self.expression()?) };
            self.end()?;
            return Ok(Stmt::Return(value));
        }
        if self.takes_word("import") {
            return self.import();
        }
        if let Some(found) = self.declaration()? {
            return Ok(found);
        }
        let value = self.command()?;
        self.end()?;
        Ok(Stmt::Do(value))
    }

    fn condition(&mut self) -> Result<Stmt> {
        self.needs("(")?;
        let condition = self.expression()?;
        self.needs(")")?;
        let then = self.branch()?;
        let before = self.at;
        while self.takes(";") {}
        if self.takes_word("else") {
            // An empty statement before `else` ends the `if` in BeanShell, but not in Groovy.
            if self.at - 1 != before && self.language == Language::BeanShell {
                return Err(self.unexpected());
            }
            return Ok(Stmt::If(condition, then, Some(self.branch()?)));
        }
        self.at = before;
        Ok(Stmt::If(condition, then, None))
    }

    fn branch(&mut self) -> Result<Box<Stmt>> {
        if self.next_is(0, ";") {
            return Err(NotSimple::new("an empty branch"));
        }
        let found = if self.next_is(0, "{") { self.deeper(Self::block) } else { self.statement() };
        found.map(Box::new)
    }

    fn block(&mut self) -> Result<Stmt> {
        self.needs("{")?;
        let mut found = Vec::new();
        while !self.takes("}") {
            if !self.takes(";") {
                found.push(self.statement()?);
            }
        }
        Ok(Stmt::Block(found))
    }

    fn import(&mut self) -> Result<Stmt> {
        let mut path = self.name()?.to_owned();
        while self.takes(".") {
            path.push('.');
            if self.takes("*") {
                path.push('*');
                break;
            }
            path.push_str(self.name()?);
        }
        self.end()?;
        Ok(Stmt::Import(path))
    }

    /// Parses a declaration: `def x`, `String x = …`, `int a = 1, b`. Returns `None` for anything else.
    fn declaration(&mut self) -> Result<Option<Stmt>> {
        let start = self.at;
        let is_final = self.takes_word("final");
        let groovy = self.language == Language::Groovy;
        if is_final && !groovy {
            // The second run of the script would set the variable once more.
            return Err(NotSimple::new("a final variable"));
        }
        let kind = match self.word(0) {
            Some("def") if groovy => {
                self.at += 1;
                // `def String x` declares a `String`.
                match (self.word(0), self.word(1)) {
                    (Some(_), Some(_)) if !self.words[self.at + 1].fresh_line => {
                        return Err(NotSimple::new("an unsupported form of declaration"));
                    }
                    _ => None,
                }
            }
            Some(_)
                if matches!(self.token(1), Some(Token::Name(next)) if !RESERVED.contains(&&**next))
                    && self.words.get(self.at + 1).is_some_and(|word| !word.fresh_line)
                    && self.is_type() =>
            {
                Some(self.type_name()?)
            }
            // A type with its package, such as `java.util.Random r`.
            Some(_) if self.next_is(1, ".") => match self.qualified_declaration() {
                Some(kind) => Some(kind),
                None if is_final => return Err(self.unexpected()),
                None => return Ok(None),
            },
            _ if is_final => return Err(self.unexpected()),
            _ => return Ok(None),
        };
        let mut found = Vec::new();
        loop {
            let name = self.name()?.to_owned();
            if self.next_is(0, "(") || self.next_is(0, "[") {
                // The name belongs to a function or an array.
                return Err(NotSimple::new(if self.next_is(0, "(") {
                    "a function defined in the script"
                } else {
                    "an array"
                }));
            }
            let value = if self.takes("=") { Some(self.expression()?) } else { None };
            found.push((name, value));
            if !self.takes(",") {
                break;
            }
        }
        debug_assert!(self.at > start);
        self.end()?;
        Ok(Some(Stmt::Declare(kind, found)))
    }

    /// Returns true if the current token looks like a type.
    fn is_type(&self) -> bool {
        self.word(0).is_some_and(|word| {
            PRIMITIVES.contains(&word)
                || !RESERVED.contains(&word) && word.starts_with(|c: char| c.is_ascii_uppercase())
        })
    }

    fn type_name(&mut self) -> Result<String> {
        let mut name = self.name()?.to_owned();
        while self.next_is(0, ".") {
            self.at += 1;
            name.push('.');
            name.push_str(self.name()?);
        }
        Ok(name)
    }

    fn qualified_declaration(&mut self) -> Option<String> {
        let mut ahead = 0;
        let mut name = self.word(0)?.to_owned();
        while self.next_is(ahead + 1, ".") {
            name.push('.');
            name.push_str(self.word(ahead + 2)?);
            ahead += 2;
        }
        let next = self.word(ahead + 1).filter(|next| !RESERVED.contains(next))?;
        let on_line = !self.words[self.at + ahead + 1].fresh_line;
        let last = name.rsplit('.').next()?;
        if next.is_empty() || !on_line || !last.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        self.at += ahead + 1;
        Some(name)
    }

    /// Parses an expression as a statement. In Groovy the statement may be a call without parentheses.
    fn command(&mut self) -> Result<Node> {
        let value = self.expression()?;
        if self.language != Language::Groovy || self.fresh_line() {
            return Ok(value);
        }
        let argument = match self.token(0) {
            Some(
                Token::Text(_)
                | Token::Pieces(_)
                | Token::Int(_)
                | Token::Long(_)
                | Token::Double(_),
            ) => true,
            Some(Token::Name(name)) => {
                !RESERVED.contains(&&**name) || name == "new" || name == "null"
            }
            _ => false,
        };
        if !argument {
            return Ok(value);
        }
        let (on, name) = match value {
            Node::Name(name) => (None, name),
            Node::Field { on, name, safe: false } => (Some(on), name),
            _ => return Err(self.unexpected()),
        };
        let mut args = vec![self.expression()?];
        while self.takes(",") {
            args.push(self.expression()?);
        }
        Ok(Node::Call { on, name, args, safe: false })
    }

    fn expression(&mut self) -> Result<Node> {
        self.deeper(Self::assignment)
    }

    fn assignment(&mut self) -> Result<Node> {
        let left = self.choice()?;
        if self.takes("=") {
            return Ok(Node::Assign(Box::new(left), Box::new(self.expression()?)));
        }
        for (sign, operator) in [
            ("+=", Binary::Plus),
            ("-=", Binary::Minus),
            ("*=", Binary::Times),
            ("/=", Binary::Over),
            ("%=", Binary::Rest),
        ] {
            if self.takes(sign) {
                let value = self.expression()?;
                return Ok(Node::Change(operator, Box::new(left), Box::new(value)));
            }
        }
        Ok(left)
    }

    fn choice(&mut self) -> Result<Node> {
        let condition = self.or()?;
        if self.takes("?:") {
            return Ok(Node::Elvis(Box::new(condition), Box::new(self.deeper(Self::choice)?)));
        }
        if !self.takes("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.needs(":")?;
        let otherwise = self.expression()?;
        Ok(Node::Choice(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn or(&mut self) -> Result<Node> {
        let mut left = self.and()?;
        while self.takes("||") {
            left = Node::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Node> {
        let mut left = self.equality()?;
        while self.takes("&&") {
            left = Node::And(Box::new(left), Box::new(self.equality()?));
        }
        Ok(left)
    }

    fn binary(
        &mut self,
        signs: &[(&str, Binary)],
        next: fn(&mut Self) -> Result<Node>,
    ) -> Result<Node> {
        let mut left = next(self)?;
        'more: loop {
            for (sign, operator) in signs {
                // In Groovy `+` or `-` at the start of a line begins a new statement.
                let begins = matches!(*sign, "+" | "-") && self.language == Language::Groovy;
                if self.next_is(0, sign) && !(begins && self.fresh_line()) {
                    self.at += 1;
                    left = Node::Binary(*operator, Box::new(left), Box::new(next(self)?));
                    continue 'more;
                }
            }
            return Ok(left);
        }
    }

    fn equality(&mut self) -> Result<Node> {
        self.binary(&[("==", Binary::Equal), ("!=", Binary::Unequal)], Self::comparison)
    }

    fn comparison(&mut self) -> Result<Node> {
        let signs = [
            ("<=", Binary::LessOrEqual),
            (">=", Binary::GreaterOrEqual),
            ("<", Binary::Less),
            (">", Binary::Greater),
        ];
        let mut left = self.binary(&signs, Self::sum)?;
        // `as` has the precedence of a comparison.
        while self.language == Language::Groovy && self.takes_word("as") {
            left = Node::As(Box::new(left), self.type_name()?);
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Node> {
        self.binary(&[("+", Binary::Plus), ("-", Binary::Minus)], Self::product)
    }

    fn product(&mut self) -> Result<Node> {
        let signs = [("*", Binary::Times), ("/", Binary::Over), ("%", Binary::Rest)];
        self.binary(&signs, Self::unary)
    }

    fn unary(&mut self) -> Result<Node> {
        if self.takes("!") {
            return Ok(Node::Not(Box::new(self.deeper(Self::unary)?)));
        }
        if self.takes("-") {
            return Ok(Node::Minus(Box::new(self.deeper(Self::unary)?)));
        }
        for (sign, operator) in [("++", Binary::Plus), ("--", Binary::Minus)] {
            if self.takes(sign) {
                return Ok(Node::Step(operator, Box::new(self.unary()?)));
            }
        }
        if self.next_is(0, "(")
            && self.next_is(2, ")")
            && self.token(1).is_some_and(|_| self.casts())
            && let Some(kind) = self.word(1)
        {
            self.at += 3;
            return Ok(Node::Cast(Box::new(self.deeper(Self::unary)?), kind.to_owned()));
        }
        self.postfix()
    }

    /// Returns true if the current parenthesis begins a cast.
    fn casts(&self) -> bool {
        let known = ["String", "Integer", "Long", "Double", "Boolean"];
        self.word(1).is_some_and(|word| PRIMITIVES.contains(&word) || known.contains(&word))
    }

    fn postfix(&mut self) -> Result<Node> {
        let mut value = self.primary()?;
        loop {
            // The parenthesis of a call or the bracket of an index is on the same line as its operand.
            if self.fresh_line() && !self.next_is(0, ".") && !self.next_is(0, "?.") {
                return Ok(value);
            }
            let safe = self.language == Language::Groovy && self.takes("?.");
            if safe || self.takes(".") {
                let name = match self.token(0) {
                    Some(Token::Name(name)) => name.clone(),
                    _ => return Err(self.unexpected()),
                };
                self.at += 1;
                let on = Box::new(value);
                value = if self.next_is(0, "(") {
                    let args = self.arguments()?;
                    Node::Call { on: Some(on), name, args, safe }
                } else {
                    Node::Field { on, name, safe }
                };
            } else if self.takes("[") {
                let at = self.expression()?;
                self.needs("]")?;
                value = Node::Index(Box::new(value), Box::new(at));
            } else if self.takes("++") {
                value = Node::Step(Binary::Plus, Box::new(value));
            } else if self.takes("--") {
                value = Node::Step(Binary::Minus, Box::new(value));
            } else {
                return Ok(value);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<Node>> {
        self.needs("(")?;
        let mut found = Vec::new();
        if self.takes(")") {
            return self.no_closure(found);
        }
        loop {
            found.push(self.expression()?);
            if self.takes(")") {
                return self.no_closure(found);
            }
            self.needs(",")?;
        }
    }

    /// Refuses a brace after a call: in Groovy it is a closure argument.
    fn no_closure(&self, found: Vec<Node>) -> Result<Vec<Node>> {
        if self.language == Language::Groovy && self.next_is(0, "{") && !self.fresh_line() {
            return Err(NotSimple::new("a closure"));
        }
        Ok(found)
    }

    fn primary(&mut self) -> Result<Node> {
        let Some(token) = self.token(0) else { return Err(self.unexpected()) };
        match token {
            Token::Text(text) => {
                self.at += 1;
                Ok(Node::Text(text.clone()))
            }
            Token::Pieces(pieces) => {
                self.at += 1;
                self.pieces(pieces)
            }
            Token::Int(value) => {
                self.at += 1;
                Ok(Node::Int(*value))
            }
            Token::Long(value) => {
                self.at += 1;
                Ok(Node::Long(*value))
            }
            Token::Double(value) => {
                self.at += 1;
                Ok(Node::Double(*value))
            }
            Token::Sign("(") => {
                self.at += 1;
                let value = self.expression()?;
                self.needs(")")?;
                Ok(value)
            }
            Token::Sign("[") => Err(NotSimple::new("a list or a map")),
            Token::Sign("{") => Err(NotSimple::new("a closure")),
            Token::Sign(_) => Err(self.unexpected()),
            Token::Name(name) => self.named(name),
        }
    }

    fn named(&mut self, name: &str) -> Result<Node> {
        let word = match name {
            "true" | "false" => Node::Bool(name == "true"),
            "null" => Node::Null,
            "new" => {
                self.at += 1;
                let class = self.type_name()?;
                self.arguments()?;
                return Ok(Node::New(class));
            }
            _ if RESERVED.contains(&name) => return Err(self.unexpected()),
            _ => {
                self.at += 1;
                if self.next_is(0, "(") && !self.fresh_line() {
                    let args = self.arguments()?;
                    return Ok(Node::Call { on: None, name: name.to_owned(), args, safe: false });
                }
                return Ok(Node::Name(name.to_owned()));
            }
        };
        self.at += 1;
        Ok(word)
    }

    fn pieces(&mut self, pieces: &[Piece]) -> Result<Node> {
        let read = |piece: &Piece| match piece {
            Piece::Text(text) => Ok(Node::Text(text.clone())),
            Piece::Code(words) => {
                let mut inner = Parser { words, at: 0, language: self.language, depth: self.depth };
                let value = inner.expression()?;
                if inner.at < words.len() {
                    return Err(inner.unexpected());
                }
                Ok(value)
            }
        };
        pieces.iter().map(read).collect::<Result<_>>().map(Node::Joined)
    }
}
