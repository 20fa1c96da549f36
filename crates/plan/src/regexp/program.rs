//! A pattern in the forms that search: automata where they can express it, backtracking where they cannot.
//!
//! One automaton is for text of ASCII characters, which keeps `\w` and `\b` small and fast; the other is for any
//! text. Backtracking serves look-ahead and backreferences, and text with a final newline if the pattern
//! distinguishes it. Each form is built when first needed and shared by all cores.

use std::sync::OnceLock;

use regex_automata::meta;
use regex_syntax::hir::{
    Capture, Class as HirClass, ClassUnicode, ClassUnicodeRange, Dot, Hir, Look, Repetition,
};

use super::class;
use super::syntax::{Node, Pattern};

/// Steps after which backtracking gives up, as if there were no match.
const BACKTRACK_LIMIT: usize = 10_000_000;
/// Bytes that an automaton may take.
const SIZE_LIMIT: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Program {
    pattern: Pattern,
    needs_backtracking: bool,
    distinguishes_final_newline: bool,
    ascii: OnceLock<Option<meta::Regex>>,
    unicode: OnceLock<Option<meta::Regex>>,
    backtracking: OnceLock<Option<fancy_regex::Regex>>,
    backtracking_at_start: OnceLock<Option<fancy_regex::Regex>>,
    backtracking_onwards: OnceLock<Option<fancy_regex::Regex>>,
}

/// What searches a certain text.
pub(super) enum Form<'a> {
    Ascii(&'a meta::Regex),
    Unicode(&'a meta::Regex),
    Backtracking(&'a fancy_regex::Regex),
    /// No form could be built within its limits.
    Nothing,
}

impl Program {
    pub(super) fn new(pattern: Pattern) -> Self {
        let needs_backtracking =
            pattern.root.any(&|node| matches!(node, Node::Ahead { .. } | Node::Backreference(_)));
        let distinguishes_final_newline =
            pattern.root.any(&|node| matches!(node, Node::End | Node::LineStart));
        Self {
            pattern,
            needs_backtracking,
            distinguishes_final_newline,
            ascii: OnceLock::new(),
            unicode: OnceLock::new(),
            backtracking: OnceLock::new(),
            backtracking_at_start: OnceLock::new(),
            backtracking_onwards: OnceLock::new(),
        }
    }

    /// Capturing groups.
    pub(super) fn groups(&self) -> usize {
        self.pattern.groups as usize
    }

    /// The form to search `text` with; `at_start` if only a match at its start counts.
    pub(super) fn form(&self, text: &str, at_start: bool) -> Form<'_> {
        if self.needs_backtracking || self.distinguishes_final_newline && text.ends_with('\n') {
            let built = if at_start {
                self.backtracking_at_start.get_or_init(|| self.build_backtracking(r"\A(?:", ")"))
            } else {
                self.backtracking.get_or_init(|| self.build_backtracking("(?:", ")"))
            };
            built.as_ref().map_or(Form::Nothing, Form::Backtracking)
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

    /// The form for matches that do not end where the search starts; `None` if the pattern prefers long matches
    /// anyway, so that it is enough to search from the next character on.
    pub(super) fn onwards(&self) -> Option<&fancy_regex::Regex> {
        let may_prefer_short = |node: &Node| {
            matches!(node, Node::Repeat { greedy: false, .. } | Node::Alternatives(_))
        };
        if !self.pattern.root.any(&may_prefer_short) {
            return None;
        }
        self.backtracking_onwards
            .get_or_init(|| self.build_backtracking("(?:", r")(?!\G)"))
            .as_ref()
    }

    fn build_backtracking(&self, before: &str, after: &str) -> Option<fancy_regex::Regex> {
        let mut source = String::from(before);
        write_fancy(&self.pattern.root, self.pattern.ignore_case, &mut source);
        source.push_str(after);
        fancy_regex::RegexBuilder::new(&source)
            .backtrack_limit(BACKTRACK_LIMIT)
            .delegate_size_limit(SIZE_LIMIT)
            .build()
            .ok()
    }
}

impl Node {
    fn any(&self, test: &dyn Fn(&Node) -> bool) -> bool {
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
            // These two are never searched for with automata.
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

/// Appends the pattern in the notation of the backtracking engine.
fn write_fancy(node: &Node, ignore_case: bool, out: &mut String) {
    match node {
        Node::Empty => out.push_str("(?:)"),
        Node::Never => out.push_str(r"[^\x{0}-\x{10FFFF}]"),
        Node::Char(value) if !ignore_case => {
            out.push_str(&format!(r"\x{{{:X}}}", u32::from(*value)));
        }
        Node::Char(value) => write_class(&class::with_upper_case(&single(*value)), out),
        Node::Class(class) => write_class(&class.ranges(ignore_case), out),
        Node::Start => out.push_str(r"\A"),
        Node::LineStart => out.push_str(r"(?:\A|(?m:^)(?!\z))"),
        Node::End => out.push_str(r"(?=\n?\z)"),
        Node::LineEnd => out.push_str("(?m:$)"),
        Node::WordBoundary => out.push_str(r"\b"),
        Node::NotWordBoundary => out.push_str(r"\B"),
        Node::Group(_, node) => {
            out.push('(');
            write_fancy(node, ignore_case, out);
            out.push(')');
        }
        Node::Ahead { negated, node } => {
            out.push_str(if *negated { "(?!" } else { "(?=" });
            write_fancy(node, ignore_case, out);
            out.push(')');
        }
        Node::Backreference(number) if ignore_case => out.push_str(&format!(r"(?i:\{number})")),
        Node::Backreference(number) => out.push_str(&format!(r"(?:\{number})")),
        Node::Repeat { node, min, max, greedy } => {
            out.push_str("(?:");
            write_fancy(node, ignore_case, out);
            out.push_str(&match max {
                Some(max) => format!("){{{min},{max}}}"),
                None => format!("){{{min},}}"),
            });
            if !greedy {
                out.push('?');
            }
        }
        Node::Concat(nodes) => nodes.iter().for_each(|node| write_fancy(node, ignore_case, out)),
        Node::Alternatives(nodes) => {
            out.push_str("(?:");
            for (n, node) in nodes.iter().enumerate() {
                if n > 0 {
                    out.push('|');
                }
                write_fancy(node, ignore_case, out);
            }
            out.push(')');
        }
    }
}

fn write_class(ranges: &ClassUnicode, out: &mut String) {
    if ranges.ranges().is_empty() {
        return write_fancy(&Node::Never, false, out);
    }
    out.push('[');
    for range in ranges.ranges() {
        out.push_str(&format!(
            r"\x{{{:X}}}-\x{{{:X}}}",
            u32::from(range.start()),
            u32::from(range.end())
        ));
    }
    out.push(']');
}
