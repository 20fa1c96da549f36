//! Methods of texts and numbers that are known here, with the kinds they take and give.
//!
//! One table; [`find`] looks a call up in it. Those of Groovy's own library are marked. Positions and lengths count UTF-16 units,
//! as Java's do.

use super::kind::Kinds;

/// A method.
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

/// The facts of a method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) method: Method,
    pub(super) name: &'static str,
    /// The kinds that have it.
    pub(super) on: Kinds,
    pub(super) args: &'static [Kinds],
    pub(super) gives: Kinds,
    /// Only Groovy has it, or only there numbers have methods.
    pub(super) groovy: bool,
    /// It may throw even if nothing is `null`.
    pub(super) throws: bool,
}

const T: Kinds = Kinds::TEXT;
const N: Kinds = Kinds::INT;
const B: Kinds = Kinds::BOOL;
/// Whatever can be a text where a method asks for one.
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

/// The methods of that name with so many parameters.
pub(super) fn find(name: &str, args: usize) -> impl Iterator<Item = &'static Known> {
    METHODS.iter().filter(move |known| known.name == name && known.args.len() == args)
}
