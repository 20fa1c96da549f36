//! The searchable forms of a pattern: automata where they can express it, otherwise backtracking.
//!
//! One automaton is for ASCII text, which keeps `\w` and `\b` small and fast; the other is for any string. Backtracking
//! handles look-ahead, backreferences and large counts, and text with a final newline if that matters for the pattern.
//! Each form is built on first use and shared by all cores.

use std::sync::OnceLock;

use regex_automata::meta;
use regex_syntax::hir::{
    Capture, Class as HirClass, ClassUnicode, ClassUnicodeRange, Dot, Hir, Look, Repetition,
};

use super::backtrack::Backtrack;
use super::class;
use super::syntax::{Node, Pattern};

/// Maximum [size](Node::size) of a pattern, in character positions, for which automata are built. An automaton with
/// more states than its cache holds examines all states for each byte.
const MAX_STATES: usize = 1000;
/// Maximum memory of an automaton in bytes.
const SIZE_LIMIT: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Program {
    pattern: Pattern,
    needs_backtracking: bool,
    distinguishes_final_newline: bool,
    ascii: OnceLock<Option<meta::Regex>>,
    unicode: OnceLock<Option<meta::Regex>>,
    backtracking: OnceLock<Option<Backtrack>>,
}

/// The form in which a pattern searches a string: automaton for ASCII, automaton for Unicode, or backtracking.
pub(super) enum Form<'a> {
    Ascii(&'a meta::Regex),
    Unicode(&'a meta::Regex),
    Backtracking(&'a Backtrack),
    /// No form of the pattern could be built within its limits.
    Nothing,
}

impl Program {
    pub(super) fn new(pattern: Pattern) -> Self {
        let needs_backtracking = pattern.root.size() > MAX_STATES
            || pattern
                .root
                .any(&|node| matches!(node, Node::Ahead { .. } | Node::Backreference(_)));
        let distinguishes_final_newline =
            pattern.root.any(&|node| matches!(node, Node::End | Node::LineStart));
        Self {
            pattern,
            needs_backtracking,
            distinguishes_final_newline,
            ascii: OnceLock::new(),
            unicode: OnceLock::new(),
            backtracking: OnceLock::new(),
        }
    }

    /// Returns the number of capturing groups in the pattern.
    pub(super) fn groups(&self) -> usize {
        self.pattern.groups as usize
    }

    /// Returns the form of the pattern that searches `text`, and builds it at its first use.
    pub(super) fn form(&self, text: &str) -> Form<'_> {
        if self.needs_backtracking || self.distinguishes_final_newline && text.ends_with('\n') {
            self.backtracking().map_or(Form::Nothing, Form::Backtracking)
        } else if text.is_ascii() {
            let built = self.ascii.get_or_init(|| self.build_automaton(true));
            built.as_ref().map_or(Form::Nothing, Form::Ascii)
        } else {
            let built = self.unicode.get_or_init(|| self.build_automaton(false));
            built.as_ref().map_or(Form::Nothing, Form::Unicode)
        }
    }

    fn build_automaton(&self, ascii: bool) -> Option<meta::Regex> {
        let hir = Renderer { ascii, ignore_case: self.pattern.ignore_case }.hir(&self.pattern.root);
        let config = meta::Config::new()
            .nfa_size_limit(Some(SIZE_LIMIT))
            .onepass_size_limit(Some(SIZE_LIMIT / 32));
        meta::Builder::new().configure(config).build_from_hir(&hir).ok()
    }

    /// Returns the backtracking form, with which a search after an empty match finds a longer match at the same
    /// position. Returns `None` for a pattern that always prefers the longest match: the search then continues at the
    /// next character.
    pub(super) fn onwards(&self) -> Option<&Backtrack> {
        let may_prefer_short = |node: &Node| {
            matches!(node, Node::Repeat { greedy: false, .. } | Node::Alternatives(_))
        };
        if !self.pattern.root.any(&may_prefer_short) {
            return None;
        }
        self.backtracking()
    }

    /// Returns the backtracking form of the pattern, which counts its steps.
    pub(super) fn backtracking(&self) -> Option<&Backtrack> {
        self.backtracking.get_or_init(|| Backtrack::new(&self.pattern)).as_ref()
    }
}

impl Node {
    /// Returns the number of character positions in the node, with all repetitions unrolled.
    fn size(&self) -> usize {
        match self {
            Self::Group(_, node) | Self::Ahead { node, .. } => node.size(),
            Self::Repeat { node, min, max, .. } => {
                node.size().saturating_mul(max.unwrap_or((*min).max(1)) as usize)
            }
            Self::Concat(nodes) | Self::Alternatives(nodes) => {
                nodes.iter().map(Self::size).fold(0, usize::saturating_add)
            }
            _ => 1,
        }
    }

    pub(super) fn any(&self, test: &dyn Fn(&Node) -> bool) -> bool {
        test(self)
            || match self {
                Self::Group(_, node) | Self::Ahead { node, .. } | Self::Repeat { node, .. } => {
                    node.any(test)
                }
                Self::Concat(nodes) | Self::Alternatives(nodes) => {
                    nodes.iter().any(|node| node.any(test))
                }
                _ => false,
            }
    }
}

struct Renderer {
    ascii: bool,
    ignore_case: bool,
}

impl Renderer {
    fn hir(&self, node: &Node) -> Hir {
        match node {
            Node::Empty => Hir::empty(),
            Node::Char(value) if !self.ignore_case => {
                Hir::literal(value.encode_utf8(&mut [0; 4]).as_bytes().to_vec())
            }
            Node::Char(value) => self.class(class::with_upper_case(&single(*value))),
            Node::Class(class) => self.class(class.ranges(self.ignore_case)),
            Node::Start => Hir::look(Look::Start),
            Node::LineStart => Hir::look(Look::StartLF),
            Node::End => Hir::look(Look::End),
            Node::LineEnd => Hir::look(Look::EndLF),
            Node::WordBoundary => {
                Hir::look(if self.ascii { Look::WordAscii } else { Look::WordUnicode })
            }
            Node::NotWordBoundary => {
                Hir::look(if self.ascii { Look::WordAsciiNegate } else { Look::WordUnicodeNegate })
            }
            Node::Group(index, node) => {
                Hir::capture(Capture { index: *index, name: None, sub: Box::new(self.hir(node)) })
            }
            Node::Repeat { node, min, max, greedy } => {
                let sub = Box::new(self.hir(node));
                Hir::repetition(Repetition { min: *min, max: *max, greedy: *greedy, sub })
            }
            Node::Concat(nodes) => Hir::concat(nodes.iter().map(|node| self.hir(node)).collect()),
            Node::Alternatives(nodes) => {
                Hir::alternation(nodes.iter().map(|node| self.hir(node)).collect())
            }
            // Patterns with these nodes are never searched with automata.
            Node::Never | Node::Ahead { .. } | Node::Backreference(_) => Hir::fail(),
        }
    }

    fn class(&self, mut ranges: ClassUnicode) -> Hir {
        if self.ascii {
            ranges.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\u{7F}')]));
        }
        if !self.ascii
            && ranges.ranges().len() == 1
            && ranges.ranges()[0] == ClassUnicodeRange::new('\0', char::MAX)
        {
            return Hir::dot(Dot::AnyChar);
        }
        Hir::class(HirClass::Unicode(ranges))
    }
}

fn single(value: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(value, value)])
}
