//! Syntax tree of a script: statements and expressions, before names and types are resolved.

/// A statement of a script.
#[derive(Debug)]
pub(super) enum Stmt {
    /// An expression, evaluated for its effect or as the script's value.
    Do(Node),
    /// Declaration of variables: the type (`None` for `def`), and each name with its initial value.
    Declare(Option<String>, Vec<(String, Option<Node>)>),
    /// A condition with the statement for true and the statement for false.
    If(Node, Box<Stmt>, Option<Box<Stmt>>),
    /// A block of statements in braces.
    Block(Vec<Stmt>),
    /// Ends the script with a value.
    Return(Option<Node>),
    /// An import of a class or a package.
    Import(String),
}

/// An expression of a script.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    /// Text with code in it: each part is a string or an expression.
    Joined(Vec<Node>),
    Int(i32),
    Long(i64),
    Double(f64),
    Bool(bool),
    Null,
    Name(String),
    Field {
        on: Box<Node>,
        name: String,
        safe: bool,
    },
    Call {
        on: Option<Box<Node>>,
        name: String,
        args: Vec<Node>,
        safe: bool,
    },
    /// Creates an object of a class: `new T()`.
    New(String),
    Index(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Choice(Box<Node>, Box<Node>, Box<Node>),
    Elvis(Box<Node>, Box<Node>),
    /// A conversion `x as T` in Groovy.
    As(Box<Node>, String),
    /// A cast `(T) x`.
    Cast(Box<Node>, String),
    Assign(Box<Node>, Box<Node>),
    /// A compound assignment such as `x += y`.
    Change(Binary, Box<Node>, Box<Node>),
    /// An increment or decrement such as `x++`.
    Step(Binary, Box<Node>),
}

/// Binary operators that evaluate both operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Plus,
    Minus,
    Times,
    Over,
    Rest,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
