//! A compiled script: expressions whose kinds are known and whose operations are all native.

use super::method::Method;
use super::tree::Binary;
use super::world::Operation;

/// A statement of compiled code.
#[derive(Debug)]
pub(super) enum Step {
    /// Evaluates an expression and discards its value.
    Drop(Expr),
    If(Expr, Vec<Step>, Vec<Step>),
    Return(Option<Expr>),
}

/// An expression of compiled code.
#[derive(Debug)]
pub(super) enum Expr {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Text(Box<str>),
    /// Reads the value of a local variable.
    Local(usize),
    /// Sets a local variable and returns its value.
    Set(usize, Box<Expr>),
    /// Concatenates the strings of all parts.
    Join(Vec<Expr>),
    /// Concatenates the strings of two sides; throws if both are `null`.
    JoinOrThrow(Box<Expr>, Box<Expr>),
    /// Applies an arithmetic operator to two numbers.
    Calculate(Binary, Box<Expr>, Box<Expr>),
    Compare(Binary, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Returns the left value unless it counts as false, otherwise the right value (`?:`).
    Elvis(Box<Expr>, Box<Expr>),
    Convert(Conversion, Box<Expr>),
    /// Calls a method of a value. With `safe` (`?.`), a call on `null` returns `null`.
    Method {
        method: Method,
        name: &'static str,
        on: Box<Expr>,
        args: Vec<Expr>,
        safe: bool,
    },
    /// Calls an operation of the host, such as reading a variable, writing a log line or parsing a number.
    Operation(Operation, Vec<Expr>),
}

/// Conversion of one kind of value to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Converts any value except `null` to its text in Java; `null` stays `null`.
    Text,
    /// Converts a number to an `int`; `null` stays `null`.
    Int,
    Long,
    Double,
    /// Parses text as a number, ignoring surrounding blanks; `null` stays `null`.
    ReadInt,
    ReadLong,
    ReadDouble,
    /// Throws an exception for `null`, which cannot become a primitive Java number. The string is the type's name in
    /// the exception's message.
    NotNull(&'static str),
}
