//! Compiles a pattern to a backtracking program.
//!
//! Repetitions of single characters are one instruction. Other repetitions are unrolled, or counted if they are large.
//! The cost arises once per pattern.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::super::class;
use super::super::syntax::{Node, Pattern};
use super::{Anchor, Backtrack, Chars, Op};

/// Maximum number of instructions for the copies of a repeated node. A repetition with more is compiled to a counted
/// loop.
const MAX_WRITTEN: usize = 4000;
/// Maximum number of instructions of a program. Larger patterns are not searched.
const MAX_PROGRAM: usize = 1 << 20;

impl Backtrack {
    /// Compiles a pattern to a backtracking program; `None` if it is too large.
    pub(in crate::regexp) fn new(pattern: &Pattern) -> Option<Self> {
        let mut made = Self {
            ops: Vec::new(),
            groups: pattern.groups as usize,
            registers: 0,
            is_memorable: true,
            ignore_case: pattern.ignore_case,
            first: None,
        };
        made.write(&pattern.root)?;
        made.ops.push(Op::Match);
        made.first = first(&pattern.root, pattern.ignore_case).map(|class| Chars::new(&class));
        Some(made)
    }

    fn write(&mut self, node: &Node) -> Option<()> {
        if self.ops.len() > MAX_PROGRAM {
            return None;
        }
        match node {
            Node::Empty => {}
            Node::Never => self.ops.push(Op::Never),
            Node::Char(_) | Node::Class(_) => {
                let chars = Chars::new(&single(node, self.ignore_case)?);
                self.ops.push(Op::Chars(chars));
            }
            Node::Start => self.ops.push(Op::Anchor(Anchor::Start)),
            Node::LineStart => self.ops.push(Op::Anchor(Anchor::LineStart)),
            Node::End => self.ops.push(Op::Anchor(Anchor::End)),
            Node::LineEnd => self.ops.push(Op::Anchor(Anchor::LineEnd)),
            Node::WordBoundary => self.ops.push(Op::Anchor(Anchor::WordBoundary)),
            Node::NotWordBoundary => self.ops.push(Op::Anchor(Anchor::NotWordBoundary)),
            Node::Group(number, node) => {
                let slot = *number as usize * 2;
                self.ops.push(Op::Save(slot));
                self.write(node)?;
                self.ops.push(Op::Save(slot + 1));
            }
            Node::Ahead { negated, node } => self.ahead(*negated, node)?,
            Node::Backreference(number) => {
                self.is_memorable = false;
                self.ops.push(Op::Backreference(*number as usize));
            }
            Node::Repeat { node, min, max, greedy } => self.repeat(node, *min, *max, *greedy)?,
            Node::Concat(nodes) => {
                for node in nodes {
                    self.write(node)?;
                }
            }
            Node::Alternatives(nodes) => self.alternatives(nodes)?,
        }
        Some(())
    }

    fn ahead(&mut self, negated: bool, node: &Node) -> Option<()> {
        let is_plain = !node.any(&|node| matches!(node, Node::Group(..)));
        let at = self.ops.len();
        self.ops.push(Op::Ahead { negated, is_plain, behind: 0 });
        self.write(node)?;
        self.ops.push(Op::Match);
        let end = self.ops.len();
        if let Op::Ahead { behind, .. } = &mut self.ops[at] {
            *behind = end;
        }
        Some(())
    }

    fn alternatives(&mut self, nodes: &[Node]) -> Option<()> {
        let Some((last, others)) = nodes.split_last() else { return Some(()) };
        let mut ends = Vec::new();
        for node in others {
            let split = self.ops.len();
            self.ops.push(Op::Split(split + 1, 0));
            self.write(node)?;
            ends.push(self.ops.len());
            self.ops.push(Op::Jump(0));
            self.ops[split] = Op::Split(split + 1, self.ops.len());
        }
        self.write(last)?;
        for end in ends {
            self.ops[end] = Op::Jump(self.ops.len());
        }
        Some(())
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>, greedy: bool) -> Option<()> {
        if let Some(class) = single(node, self.ignore_case) {
            self.ops.push(Op::Run { chars: Chars::new(&class), min, max, greedy });
            return Some(());
        }
        if copies(min, max).saturating_mul(size(node) + 4) > MAX_WRITTEN {
            return self.counted(node, min, max, greedy);
        }
        let Some(max) = max else {
            for _ in 1..min {
                self.write(node)?;
            }
            return self.endless(node, min > 0, greedy);
        };
        for _ in 0..min {
            self.write(node)?;
        }
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.ops.len());
            self.ops.push(Op::Never);
            let register = self.mark();
            self.write(node)?;
            // After an empty iteration, the loop ends.
            splits.push(self.ops.len());
            self.ops.push(Op::IfEmpty(register, 0));
        }
        let end = self.ops.len();
        for at in splits {
            self.ops[at] = match self.ops[at] {
                Op::IfEmpty(register, _) => Op::IfEmpty(register, end),
                _ if greedy => Op::Split(at + 1, end),
                _ => Op::Split(end, at + 1),
            };
        }
        Some(())
    }

    /// Compiles the unbounded repetition of a node: one or more times if `at_least_once`, otherwise zero or more times.
    fn endless(&mut self, node: &Node, at_least_once: bool, greedy: bool) -> Option<()> {
        let start = self.ops.len();
        if !at_least_once {
            self.ops.push(Op::Never);
        }
        let register = self.mark();
        self.write(node)?;
        let end = self.ops.len() + 2;
        self.ops.push(Op::IfEmpty(register, end));
        let body = start + usize::from(!at_least_once);
        let split = if greedy { (body, end) } else { (end, body) };
        if at_least_once {
            self.ops.push(Op::Split(split.0, split.1));
        } else {
            self.ops[start] = Op::Split(split.0, split.1);
            self.ops.push(Op::Jump(start));
        }
        Some(())
    }

    fn counted(&mut self, node: &Node, min: u32, max: Option<u32>, greedy: bool) -> Option<()> {
        self.is_memorable = false;
        let counter = self.register();
        self.ops.push(Op::Count(counter));
        let entry = self.ops.len();
        self.ops.push(Op::Jump(0));
        let body = self.ops.len();
        let register = self.mark();
        self.write(node)?;
        let at = self.ops.len();
        self.ops.push(Op::IfEmpty(register, at + 2));
        self.ops[entry] = Op::Jump(at + 1);
        self.ops.push(Op::Loop { counter, min, max, greedy, body });
        Some(())
    }

    fn mark(&mut self) -> usize {
        let register = self.register();
        self.ops.push(Op::Mark(register));
        register
    }

    fn register(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }
}

/// Estimates the number of instructions to which a node is compiled.
fn size(node: &Node) -> usize {
    match node {
        Node::Group(_, node) | Node::Ahead { node, .. } => size(node) + 2,
        Node::Repeat { node, .. } if matches!(**node, Node::Char(_) | Node::Class(_)) => 1,
        Node::Repeat { node, min, max, .. } => {
            let size = size(node) + 4;
            let written = copies(*min, *max).saturating_mul(size);
            if written > MAX_WRITTEN { size } else { written }
        }
        Node::Concat(nodes) | Node::Alternatives(nodes) => {
            nodes.iter().map(|node| size(node) + 2).fold(0, usize::saturating_add)
        }
        _ => 1,
    }
}

/// Returns the number of copies of a node that a repetition without counter needs.
fn copies(min: u32, max: Option<u32>) -> usize {
    max.unwrap_or(min.max(1)) as usize
}

/// Returns the character set of a node that always matches exactly one character, otherwise `None`.
fn single(node: &Node, ignore_case: bool) -> Option<ClassUnicode> {
    let of = |value: char| ClassUnicode::new([ClassUnicodeRange::new(value, value)]);
    match node {
        Node::Char(value) if ignore_case => Some(class::with_upper_case(&of(*value))),
        Node::Char(value) => Some(of(*value)),
        Node::Class(class) => Some(class.ranges(ignore_case)),
        _ => None,
    }
}

/// Returns the characters with which each match of a node begins; `None` if they are unknown.
fn first(node: &Node, ignore_case: bool) -> Option<ClassUnicode> {
    match node {
        Node::Char(_) | Node::Class(_) => single(node, ignore_case),
        Node::Group(_, node) => first(node, ignore_case),
        Node::Repeat { node, min: 1.., .. } => first(node, ignore_case),
        Node::Concat(nodes) => {
            let is_condition = |node: &&Node| {
                matches!(
                    node,
                    Node::Start
                        | Node::LineStart
                        | Node::WordBoundary
                        | Node::NotWordBoundary
                        | Node::Ahead { .. }
                )
            };
            first(nodes.iter().find(|node| !is_condition(node))?, ignore_case)
        }
        Node::Alternatives(nodes) => {
            let mut all = ClassUnicode::empty();
            for node in nodes {
                all.union(&first(node, ignore_case)?);
            }
            Some(all)
        }
        _ => None,
    }
}
