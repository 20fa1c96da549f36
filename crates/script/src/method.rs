//! The supported methods of strings and numbers, with the kinds of their parameters and results.
//!
//! [`find`] looks a call up in the table. Methods of Groovy's own library are marked. Positions and lengths count
//! UTF-16 units, as in Java.

use super::kind::Kinds;

/// A method of strings or numbers that scripts can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Equals,
    EqualsIgnoreCase,
    Contains,
    StartsWith,
    EndsWith,
    Length,
    IsEmpty,
    IsBlank,
    Substring,
    SubstringTo,
    IndexOf,
    IndexOfFrom,
    LastIndexOf,
    Trim,
    Lower,
    Upper,
    Replace,
    Concat,
    CompareTo,
    ToText,
    ToInt,
    ToLong,
    ToDouble,
    Take,
    Drop,
    Reverse,
    Int,
    Long,
    Double,
    Round,
    Abs,
    IntDiv,
}

/// An entry of the table of supported methods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) method: Method,
    pub(super) name: &'static str,
    /// Kinds of values that have the method.
    pub(super) on: Kinds,
    pub(super) args: &'static [Kinds],
    pub(super) gives: Kinds,
    /// True if only Groovy has the method, or if only Groovy calls it on numbers.
    pub(super) groovy: bool,
    /// True if the method may throw even if no operand is `null`.
    pub(super) throws: bool,
}

const T: Kinds = Kinds::TEXT;
const N: Kinds = Kinds::INT;
const B: Kinds = Kinds::BOOL;
/// All kinds that a method accepts as a string.
const S: Kinds = Kinds::STRING;

const fn known(
    method: Method,
    name: &'static str,
    on: Kinds,
    args: &'static [Kinds],
    gives: Kinds,
) -> Known {
    Known { method, name, on, args, gives, groovy: false, throws: false }
}

impl Known {
    const fn groovy(self) -> Self {
        Self { groovy: true, ..self }
    }

    const fn throwing(self) -> Self {
        Self { throws: true, ..self }
    }
}

const METHODS: &[Known] = &[
    known(Method::Equals, "equals", T, &[T.union(Kinds::NULL)], B),
    known(Method::EqualsIgnoreCase, "equalsIgnoreCase", S, &[S.union(Kinds::NULL)], B),
    known(Method::Contains, "contains", S, &[S], B),
    known(Method::StartsWith, "startsWith", S, &[S], B),
    known(Method::EndsWith, "endsWith", S, &[S], B),
    known(Method::Length, "length", S, &[], N),
    known(Method::Length, "size", S, &[], N).groovy(),
    known(Method::IsEmpty, "isEmpty", S, &[], B),
    known(Method::IsBlank, "isBlank", S, &[], B),
    known(Method::Substring, "substring", S, &[N], T).throwing(),
    known(Method::SubstringTo, "substring", S, &[N, N], T).throwing(),
    known(Method::IndexOf, "indexOf", S, &[S], N),
    known(Method::IndexOfFrom, "indexOf", S, &[S, N], N),
    known(Method::LastIndexOf, "lastIndexOf", S, &[S], N),
    known(Method::Trim, "trim", S, &[], T),
    known(Method::Lower, "toLowerCase", S, &[], T),
    known(Method::Upper, "toUpperCase", S, &[], T),
    known(Method::Replace, "replace", S, &[S, S], T),
    known(Method::Concat, "concat", S, &[S], T),
    known(Method::CompareTo, "compareTo", S, &[T], N),
    known(Method::ToText, "toString", S, &[], T),
    known(Method::ToInt, "toInteger", S, &[], N).groovy().throwing(),
    known(Method::ToLong, "toLong", S, &[], Kinds::LONG).groovy().throwing(),
    known(Method::ToDouble, "toDouble", S, &[], Kinds::DOUBLE).groovy().throwing(),
    known(Method::Take, "take", T, &[N], T).groovy(),
    known(Method::Drop, "drop", T, &[N], T).groovy(),
    known(Method::Reverse, "reverse", T, &[], T).groovy(),
    known(Method::ToText, "toString", Kinds::NUMBER.union(B).union(Kinds::UUID), &[], T).groovy(),
    known(Method::Int, "toInteger", Kinds::NUMBER, &[], N).groovy(),
    known(Method::Long, "toLong", Kinds::NUMBER, &[], Kinds::LONG).groovy(),
    known(Method::Double, "toDouble", Kinds::NUMBER, &[], Kinds::DOUBLE).groovy(),
    known(Method::Int, "intValue", Kinds::NUMBER, &[], N).groovy(),
    known(Method::Long, "longValue", Kinds::NUMBER, &[], Kinds::LONG).groovy(),
    known(Method::Double, "doubleValue", Kinds::NUMBER, &[], Kinds::DOUBLE).groovy(),
    known(Method::Round, "round", Kinds::DOUBLE, &[], Kinds::LONG).groovy(),
    known(Method::Abs, "abs", Kinds::INT, &[], Kinds::INT).groovy(),
    known(Method::Abs, "abs", Kinds::LONG, &[], Kinds::LONG).groovy(),
    known(Method::Abs, "abs", Kinds::DOUBLE, &[], Kinds::DOUBLE).groovy(),
    known(Method::IntDiv, "intdiv", Kinds::INT, &[N], N).groovy().throwing(),
    known(Method::ToText, "toString", Kinds::UUID, &[], T),
];

/// Returns the methods with that name and number of parameters.
pub(super) fn find(name: &str, args: usize) -> impl Iterator<Item = &'static Known> {
    METHODS.iter().filter(move |known| known.name == name && known.args.len() == args)
}
