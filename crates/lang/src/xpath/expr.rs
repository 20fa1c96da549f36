//! The syntax tree of an XPath expression.

/// An XPath expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Or(Vec<Expr>),
    And(Vec<Expr>),
    /// Operands with operators of the same precedence between them, applied from left to right.
    Chain(Box<Expr>, Vec<(Operator, Expr)>),
    Negative(Box<Expr>),
    Union(Vec<Expr>),
    Path(Path),
    Literal(Box<str>),
    Number(f64),
    Variable(Box<str>),
    Call(Function, Vec<Expr>),
}

/// A binary operator of XPath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// An XPath location path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) from: From,
    pub(super) steps: Vec<Step>,
}

/// The start of a location path: the context node, the root, or the nodes of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum From {
    Context,
    Root,
    /// The value of an expression, filtered by predicates.
    Expr(Box<Expr>, Vec<Predicate>),
}

/// A step of a location path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Predicate>,
    /// True if Xalan compares whole names in this step. Then, in a document without namespaces, a prefix is a part of
    /// the name.
    pub(super) whole_name: bool,
}

/// A predicate: a condition in brackets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Predicate {
    pub(super) expr: Expr,
    /// True if the predicate may depend on a node's position among the selected nodes.
    pub(super) is_positional: bool,
}

/// The axis of a step, such as `child` or `ancestor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    Self_,
}

/// The node test of a step, such as a name or `text()`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Node,
    Text,
    Comment,
    Instruction(Option<Box<str>>),
    /// A name test: the prefix's index among the expression's prefixes, and the local name; `None` matches any local
    /// name.
    Name(Option<usize>, Option<Box<str>>),
}

/// A function of XPath 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Last,
    Position,
    Count,
    Id,
    LocalName,
    NamespaceUri,
    Name,
    String,
    Concat,
    StartsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Boolean,
    Not,
    True,
    False,
    Lang,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
}

impl Expr {
    /// Returns true if the expression as a predicate depends on positions: its value is a number, or it uses
    /// `position()` or `last()`.
    pub(super) fn is_positional(&self) -> bool {
        match self {
            Self::Number(_) | Self::Negative(_) | Self::Variable(_) => true,
            Self::Chain(first, rest) => {
                let is_number = rest.last().is_some_and(|(operator, _)| operator.is_arithmetic());
                is_number
                    || first.uses_position()
                    || rest.iter().any(|(_, expr)| expr.uses_position())
            }
            Self::Call(function, _) => function.gives_number() || self.uses_position(),
            _ => self.uses_position(),
        }
    }

    /// Returns true if the expression contains `position()` or `last()` outside of the predicates in the expression.
    fn uses_position(&self) -> bool {
        match self {
            Self::Or(parts) | Self::And(parts) | Self::Union(parts) => {
                parts.iter().any(Self::uses_position)
            }
            Self::Chain(first, rest) => {
                first.uses_position() || rest.iter().any(|(_, expr)| expr.uses_position())
            }
            Self::Negative(inner) => inner.uses_position(),
            Self::Path(path) => match &path.from {
                From::Expr(inner, _) => inner.uses_position(),
                From::Context | From::Root => false,
            },
            Self::Literal(_) | Self::Number(_) | Self::Variable(_) => false,
            Self::Call(function, arguments) => {
                matches!(function, Function::Position | Function::Last)
                    || arguments.iter().any(Self::uses_position)
            }
        }
    }
}

impl Step {
    /// Returns true if the step selects all nodes along its axis.
    pub(super) fn is_free(&self) -> bool {
        self.test == Test::Node && self.predicates.is_empty()
    }

    /// Returns true if a predicate of the step depends on positions.
    pub(super) fn is_positional(&self) -> bool {
        self.predicates.iter().any(|predicate| predicate.is_positional)
    }
}

impl Operator {
    /// Returns the operator that gives the same result with swapped operands: `<` becomes `>`.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            other => other,
        }
    }

    fn is_arithmetic(self) -> bool {
        matches!(self, Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Modulo)
    }
}

impl Axis {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ancestor" => Self::Ancestor,
            "ancestor-or-self" => Self::AncestorOrSelf,
            "attribute" => Self::Attribute,
            "child" => Self::Child,
            "descendant" => Self::Descendant,
            "descendant-or-self" => Self::DescendantOrSelf,
            "following" => Self::Following,
            "following-sibling" => Self::FollowingSibling,
            "namespace" => Self::Namespace,
            "parent" => Self::Parent,
            "preceding" => Self::Preceding,
            "preceding-sibling" => Self::PrecedingSibling,
            "self" => Self::Self_,
            _ => return None,
        })
    }
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "last" => Self::Last,
            "position" => Self::Position,
            "count" => Self::Count,
            "id" => Self::Id,
            "local-name" => Self::LocalName,
            "namespace-uri" => Self::NamespaceUri,
            "name" => Self::Name,
            "string" => Self::String,
            "concat" => Self::Concat,
            "starts-with" => Self::StartsWith,
            "contains" => Self::Contains,
            "substring-before" => Self::SubstringBefore,
            "substring-after" => Self::SubstringAfter,
            "substring" => Self::Substring,
            "string-length" => Self::StringLength,
            "normalize-space" => Self::NormalizeSpace,
            "translate" => Self::Translate,
            "boolean" => Self::Boolean,
            "not" => Self::Not,
            "true" => Self::True,
            "false" => Self::False,
            "lang" => Self::Lang,
            "number" => Self::Number,
            "sum" => Self::Sum,
            "floor" => Self::Floor,
            "ceiling" => Self::Ceiling,
            "round" => Self::Round,
            _ => return None,
        })
    }

    /// Returns the allowed number of arguments, and its wording in Xalan's error message.
    pub(super) fn arity(self) -> (std::ops::RangeInclusive<usize>, &'static str) {
        match self {
            Self::Last | Self::Position | Self::True | Self::False => (0..=0, "0"),
            Self::Count | Self::Id | Self::Boolean | Self::Not | Self::Lang | Self::Sum => {
                (1..=1, "1")
            }
            Self::Floor | Self::Ceiling | Self::Round => (1..=1, "1"),
            Self::LocalName | Self::NamespaceUri | Self::Name | Self::String => (0..=1, "0 or 1"),
            Self::StringLength | Self::NormalizeSpace | Self::Number => (0..=1, "0 or 1"),
            Self::Concat => (2..=usize::MAX, ">1"),
            Self::StartsWith | Self::Contains | Self::SubstringBefore | Self::SubstringAfter => {
                (2..=2, "2")
            }
            Self::Substring => (2..=3, "2 or 3"),
            Self::Translate => (3..=3, "3"),
        }
    }

    /// Returns the function's name in expressions.
    pub(super) fn name(self) -> String {
        let mut name = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_ascii_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }

    /// Returns Xalan's name for the function: the end of a Java class name.
    pub(super) fn class(self) -> String {
        match self {
            Self::LocalName => "LocalPart".into(),
            Self::NamespaceUri => "Namespace".into(),
            Self::Name => "Qname".into(),
            other => format!("{other:?}"),
        }
    }

    /// Returns true if the function accepts a set of several nodes as argument, because it does not convert the set to
    /// a single value.
    pub(super) fn takes_sets(self) -> bool {
        matches!(self, Self::Count | Self::Boolean | Self::Not | Self::Sum | Self::Id)
    }

    fn gives_number(self) -> bool {
        matches!(
            self,
            Self::Last
                | Self::Position
                | Self::Count
                | Self::StringLength
                | Self::Number
                | Self::Sum
        ) || matches!(self, Self::Floor | Self::Ceiling | Self::Round)
    }
}
