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

/// What is known of a method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) method: Method,
    pub(super) name: &'static str,
    /// What it is a method of.
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

const fn java(
    method: Method,
    name: &'static str,
    args: &'static [Kinds],
    gives: Kinds,
    throws: bool,
) -> Known {
    Known { method, name, on: S, args, gives, groovy: false, throws }
}

const fn groovy(
    method: Method,
    name: &'static str,
    on: Kinds,
    args: &'static [Kinds],
    gives: Kinds,
    throws: bool,
) -> Known {
    Known { method, name, on, args, gives, groovy: true, throws }
}

const METHODS: &[Known] = &[
    Known {
        method: Method::Equals,
        name: "equals",
        on: T,
        args: &[T.union(Kinds::NULL)],
        gives: B,
        groovy: false,
        throws: false,
    },
    java(Method::EqualsIgnoreCase, "equalsIgnoreCase", &[S.union(Kinds::NULL)], B, false),
    java(Method::Contains, "contains", &[S], B, false),
    java(Method::StartsWith, "startsWith", &[S], B, false),
    java(Method::EndsWith, "endsWith", &[S], B, false),
    java(Method::Length, "length", &[], N, false),
    groovy(Method::Length, "size", S, &[], N, false),
    java(Method::IsEmpty, "isEmpty", &[], B, false),
    java(Method::IsBlank, "isBlank", &[], B, false),
    java(Method::Substring, "substring", &[N], T, true),
    java(Method::SubstringTo, "substring", &[N, N], T, true),
    java(Method::IndexOf, "indexOf", &[S], N, false),
    java(Method::IndexOfFrom, "indexOf", &[S, N], N, false),
    java(Method::LastIndexOf, "lastIndexOf", &[S], N, false),
    java(Method::Trim, "trim", &[], T, false),
    java(Method::Lower, "toLowerCase", &[], T, false),
    java(Method::Upper, "toUpperCase", &[], T, false),
    java(Method::Replace, "replace", &[S, S], T, false),
    java(Method::Concat, "concat", &[S], T, false),
    java(Method::CompareTo, "compareTo", &[T], N, false),
    java(Method::ToText, "toString", &[], T, false),
    groovy(Method::ToInt, "toInteger", S, &[], N, true),
    groovy(Method::ToLong, "toLong", S, &[], Kinds::LONG, true),
    groovy(Method::ToDouble, "toDouble", S, &[], Kinds::DOUBLE, true),
    groovy(Method::Take, "take", T, &[N], T, false),
    groovy(Method::Drop, "drop", T, &[N], T, false),
    groovy(Method::Reverse, "reverse", T, &[], T, false),
    groovy(Method::ToText, "toString", Kinds::NUMBER.union(B).union(Kinds::UUID), &[], T, false),
    groovy(Method::Int, "toInteger", Kinds::NUMBER, &[], N, false),
    groovy(Method::Long, "toLong", Kinds::NUMBER, &[], Kinds::LONG, false),
    groovy(Method::Double, "toDouble", Kinds::NUMBER, &[], Kinds::DOUBLE, false),
    groovy(Method::Int, "intValue", Kinds::NUMBER, &[], N, false),
    groovy(Method::Long, "longValue", Kinds::NUMBER, &[], Kinds::LONG, false),
    groovy(Method::Double, "doubleValue", Kinds::NUMBER, &[], Kinds::DOUBLE, false),
    groovy(Method::Round, "round", Kinds::DOUBLE, &[], Kinds::LONG, false),
    groovy(Method::Abs, "abs", Kinds::INT, &[], Kinds::INT, false),
    groovy(Method::Abs, "abs", Kinds::LONG, &[], Kinds::LONG, false),
    groovy(Method::Abs, "abs", Kinds::DOUBLE, &[], Kinds::DOUBLE, false),
    groovy(Method::IntDiv, "intdiv", Kinds::INT, &[N], N, true),
    Known {
        method: Method::ToText,
        name: "toString",
        on: Kinds::UUID,
        args: &[],
        gives: T,
        groovy: false,
        throws: false,
    },
];

/// The methods of that name with so many parameters.
pub(super) fn find(name: &str, args: usize) -> impl Iterator<Item = &'static Known> {
    METHODS.iter().filter(move |known| known.name == name && known.args.len() == args)
}
