//! A compiled script: expressions whose kinds are known and whose operations are all native.

use super::method::Method;
use super::tree::Binary;
use super::world::Deed;

/// A statement.
#[derive(Debug)]
pub(super) enum Step {
    /// Computes an expression whose value nobody gets.
    Drop(Expr),
    If(Expr, Vec<Step>, Vec<Step>),
    Return(Option<Expr>),
}

/// An expression.
#[derive(Debug)]
pub(super) enum Expr {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Text(Box<str>),
    /// The value of a local variable.
    Local(usize),
    /// Sets a local variable and gives its value.
    Set(usize, Box<Expr>),
    /// Texts of all parts, one behind the other.
    Join(Vec<Expr>),
    /// The same of two sides, of which one at least must not be `null`.
    JoinOrThrow(Box<Expr>, Box<Expr>),
    /// Numbers.
    Reckon(Binary, Box<Expr>, Box<Expr>),
    Compare(Binary, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The first unless it counts as false.
    Elvis(Box<Expr>, Box<Expr>),
    Convert(Conversion, Box<Expr>),
    /// A method of a value; `safe`: `null` has none and gives `null`.
    Method {
        method: Method,
        name: &'static str,
        on: Box<Expr>,
        args: Vec<Expr>,
        safe: bool,
    },
    /// Something with what is around the script.
    Deed(Deed, Vec<Expr>),
}

/// Makes one kind of value from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Text as it is; everything else but `null` as it is written.
    Text,
    /// Numbers; `null` stays.
    Int,
    Long,
    Double,
    /// Text that is read as a number, blanks around it left out; `null` stays.
    ReadInt,
    ReadLong,
    ReadDouble,
    /// `null` cannot be a number of Java's; its word in the message.
    NotNull(&'static str),
}
