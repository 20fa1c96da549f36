//! A script as it is written: statements and expressions, without a meaning yet.

/// A statement.
#[derive(Debug)]
pub(super) enum Stmt {
    /// An expression for what it does, or for its value.
    Do(Node),
    /// Variables with a type (`def` is none) and what they start with.
    Declare(Option<String>, Vec<(String, Option<Node>)>),
    /// A condition with what is done if it holds and what otherwise.
    If(Node, Box<Stmt>, Option<Box<Stmt>>),
    /// Statements in braces.
    Block(Vec<Stmt>),
    /// The end of the script, with its value.
    Return(Option<Node>),
    /// A name that is made known.
    Import(String),
}

/// An expression.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    /// Text with code in it: each part is a text or has a value.
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
    /// An object of a class made anew.
    New(String),
    Index(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Choice(Box<Node>, Box<Node>, Box<Node>),
    Elvis(Box<Node>, Box<Node>),
    /// `x as T`.
    As(Box<Node>, String),
    /// `(T) x`.
    Cast(Box<Node>, String),
    Assign(Box<Node>, Box<Node>),
    /// `x += y` and the like.
    Change(Binary, Box<Node>, Box<Node>),
    /// `x++` and the like.
    Step(Binary, Box<Node>),
}

/// Operators with two sides that are both computed.
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
