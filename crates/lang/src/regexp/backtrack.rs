//! Backtracking search, for patterns that an automaton cannot express: look-ahead and backreferences.
//!
//! Each step is counted ([`work`]). A long search begins to remember at which positions it has failed, and at which a
//! look-ahead has succeeded. From then on it visits each instruction at each string position at most once, so that its
//! cost is linear in both; patterns with backreferences or large counts are excepted. A loop over single characters is
//! one instruction, and one stack frame stands for all its lengths.

mod build;

use regex_syntax::hir::ClassUnicode;

use super::class;
use crate::work::{self, GaveUp};

/// Number of steps per text position after which a search begins to remember results.
const PATIENCE: u64 = 8;
/// Maximum memory in bytes for the remembered results of a search.
const MAX_MEMORY: usize = 64 << 20;
/// Maximum memory in bytes for the alternatives that a search has not tried yet.
const MAX_STACK: usize = 256 << 20;

/// A set of characters that an instruction matches.
#[derive(Debug)]
struct Chars {
    ascii: u128,
    others: Box<[(char, char)]>,
}

impl Chars {
    fn new(class: &ClassUnicode) -> Self {
        let mut ascii = 0u128;
        let mut others = Vec::new();
        for range in class.ranges() {
            for value in u32::from(range.start())..=u32::from(range.end()).min(127) {
                ascii |= 1 << value;
            }
            if range.end() > '\x7F' {
                others.push((range.start(), range.end()));
            }
        }
        Self { ascii, others: others.into() }
    }

    fn has(&self, value: char) -> bool {
        if value.is_ascii() {
            return self.ascii >> u32::from(value) & 1 != 0;
        }
        let at = self.others.partition_point(|(_, end)| *end < value);
        self.others.get(at).is_some_and(|(start, _)| *start <= value)
    }
}

/// A condition on a text position, which consumes no character.
#[derive(Clone, Copy, Debug)]
enum Anchor {
    Start,
    LineStart,
    End,
    LineEnd,
    WordBoundary,
    NotWordBoundary,
}

#[derive(Debug)]
enum Op {
    Chars(Chars),
    Anchor(Anchor),
    /// Continues with either of two instructions. The first is tried first.
    Split(usize, usize),
    Jump(usize),
    Save(usize),
    /// Matches repeated characters of a set: as many as possible if greedy, otherwise as few as possible.
    Run {
        chars: Chars,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
    /// Stores the start position of a loop's iteration in a register, to detect an empty iteration.
    Mark(usize),
    /// Leaves a loop if its iteration was empty. Contains the register with the iteration's start, and the instruction
    /// after the loop.
    IfEmpty(usize, usize),
    /// Sets the counter of a loop to 0. Contains the counter's register.
    Count(usize),
    /// Starts another iteration of a counted loop, or leaves the loop.
    Loop {
        counter: usize,
        min: u32,
        max: Option<u32>,
        greedy: bool,
        body: usize,
    },
    /// Tests whether the instructions up to `behind` match at this position; if `negated`, whether they do not match.
    /// `is_plain` is true if the instructions set no groups.
    Ahead {
        negated: bool,
        is_plain: bool,
        behind: usize,
    },
    Backreference(usize),
    Never,
    /// Ends the program or a look-ahead with a match.
    Match,
}

/// A regular expression compiled to instructions for a backtracking search.
#[derive(Debug)]
pub(super) struct Backtrack {
    ops: Vec<Op>,
    groups: usize,
    registers: usize,
    /// True if the result of each instruction depends only on the instruction and the text position. Only then may a
    /// search remember results.
    is_memorable: bool,
    ignore_case: bool,
    /// The characters with which a match of the pattern can begin, if known.
    first: Option<Chars>,
}

/// The matches that a search may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any match from the start position on.
    Any,
    /// Only a match that begins at the start position.
    Here,
    /// Any match that does not end at the start position.
    Onwards,
}

/// Memory of a backtracking search; the next search reuses it.
#[derive(Debug, Default)]
pub(super) struct Memory {
    stack: Vec<Frame>,
    slots: Vec<u32>,
    registers: Vec<u32>,
    trail: Vec<Visit>,
    /// For each instruction that is an unbounded run: start and end of the run that was measured last.
    runs: Vec<(u32, u32)>,
    /// Remembered results: two bits, failed and succeeded, for each instruction at each text position.
    known: Vec<u64>,
    /// True if the search remembers results, so that the results in `known` apply to the searched text.
    is_known: bool,
    /// Remaining steps until the search begins to remember.
    patience: u64,
}

/// An entry on the stack of a backtracking search. Text positions fit into 32 bits, because no searched text exceeds 4
/// GiB.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// An alternative that was not tried, with the number of visits when it was stored.
    Branch {
        pc: u32,
        at: u32,
        trail: u32,
    },
    /// A greedy run, which may be shortened if the search fails after it. `visit` is the run's visit, or `NOWHERE`.
    Shorter {
        pc: u32,
        least: u32,
        at: u32,
        visit: u32,
    },
    /// A non-greedy run, which may be extended by up to `more` characters. `visit` is the run's visit, or `NOWHERE`.
    Longer {
        pc: u32,
        at: u32,
        more: u32,
        visit: u32,
    },
    Slot {
        slot: u32,
        was: u32,
    },
    Register {
        register: u32,
        was: u32,
    },
}

/// A visit of an instruction at text position `from`. If a run fails there, it also fails at each position up to
/// `fails`; if it succeeds, it also succeeds up to `succeeds`.
#[derive(Clone, Copy, Debug)]
struct Visit {
    pc: u32,
    from: u32,
    fails: u32,
    succeeds: u32,
}

const NOWHERE: u32 = u32::MAX;

impl Backtrack {
    /// Finds the next match and stores the positions of its groups in `spans`. Returns false if there is no match, or
    /// if the search exceeds its work limit.
    pub(super) fn search(
        &self,
        text: &str,
        from: usize,
        kind: Kind,
        memory: &mut Memory,
        spans: &mut [Option<(usize, usize)>],
    ) -> bool {
        let slots = (self.groups + 1) * 2;
        memory.slots.clear();
        memory.slots.resize(slots, NOWHERE);
        memory.runs.resize(self.ops.len(), (NOWHERE, NOWHERE));
        memory.registers.clear();
        memory.registers.resize(self.registers, NOWHERE);
        memory.stack.clear();
        memory.trail.clear();
        if kind == Kind::Onwards {
            // A match must not end where the search begins, so failures depend on that position: remembered results are
            // invalid.
            memory.is_known = false;
        }
        let mut search = Search { program: self, text, from, kind, memory };
        let found = search.run();
        if kind == Kind::Onwards {
            memory.is_known = false;
        }
        let Some((start, end)) = found else { return false };
        for (number, span) in spans.iter_mut().enumerate() {
            *span = match memory.slots.get(number * 2..number * 2 + 2) {
                _ if number == 0 => Some((start, end)),
                Some(&[start, end]) if start != NOWHERE && end != NOWHERE => {
                    Some((start as usize, end as usize))
                }
                _ => None,
            };
        }
        true
    }
}

impl Memory {
    /// Makes the search remember results from its next step on.
    #[cfg(test)]
    pub(super) fn start_remembering(&mut self) {
        self.patience = 0;
    }

    /// Prepares the search state for another string.
    pub(super) fn renew(&mut self, text: &str) {
        self.is_known = false;
        self.runs.clear();
        self.patience = (text.len() as u64 + 64) * PATIENCE;
        if self.known.capacity() > 1 << 17 {
            self.known = Vec::new();
        }
        if self.stack.capacity() > 1 << 15 {
            self.stack = Vec::new();
        }
        if self.trail.capacity() > 1 << 15 {
            self.trail = Vec::new();
        }
    }
}

struct Search<'a> {
    program: &'a Backtrack,
    text: &'a str,
    from: usize,
    kind: Kind,
    memory: &'a mut Memory,
}

/// Error: the search has exceeded its work limit.
struct WorkLimit;

impl Search<'_> {
    fn run(&mut self) -> Option<(usize, usize)> {
        let mut at = self.from;
        loop {
            if let Some(first) = &self.program.first {
                let mut rest = self.text[at..].char_indices();
                let skipped = match rest.find(|(_, value)| first.has(*value)) {
                    Some((skipped, _)) => skipped,
                    // If no character is left with which a match can begin, the rest of the text is skipped.
                    None => self.text.len() - at + 1,
                };
                if skipped > 0 && self.kind == Kind::Here || !work::spend(skipped as u64 / 8) {
                    return None;
                }
                at += skipped;
                if at > self.text.len() {
                    return None;
                }
            }
            match self.attempt(0, at) {
                Ok(Some(end)) => return Some((at, end)),
                Ok(None) if self.kind != Kind::Here => {}
                _ => return None,
            }
            at += self.text[at..].chars().next()?.len_utf8();
        }
    }

    /// Runs the program from instruction `pc` at text position `at`. Returns the end of the preferred match.
    fn attempt(&mut self, pc: usize, at: usize) -> Result<Option<usize>, WorkLimit> {
        let bottom = self.memory.stack.len();
        let floor = self.memory.trail.len();
        let found = self.explore(pc, at, bottom);
        if matches!(found, Ok(None)) {
            self.fail_from(floor);
        }
        found
    }

    fn explore(
        &mut self,
        mut pc: usize,
        mut at: usize,
        bottom: usize,
    ) -> Result<Option<usize>, WorkLimit> {
        loop {
            if self.memory.patience == 0 && !self.memory.is_known {
                self.remember();
            }
            self.memory.patience = self.memory.patience.saturating_sub(1);
            if !work::spend(1) {
                return Err(WorkLimit);
            }
            if self.memory.stack.len() * size_of::<Frame>() > MAX_STACK {
                work::give_up(GaveUp::Memory(MAX_STACK));
                return Err(WorkLimit);
            }
            match self.step(pc, at)? {
                Step::To(next, place) => (pc, at) = (next, place),
                Step::Matched
                    if self.kind == Kind::Onwards && at == self.from && self.is_end(pc) =>
                {
                    match self.back(bottom) {
                        Some(next) => (pc, at) = next,
                        None => return Ok(None),
                    }
                }
                Step::Matched => return Ok(Some(at)),
                Step::Failed => match self.back(bottom) {
                    Some(next) => (pc, at) = next,
                    None => return Ok(None),
                },
            }
        }
    }

    /// Returns true if the instruction is the last one of the program, which ends the match.
    fn is_end(&self, pc: usize) -> bool {
        pc + 1 == self.program.ops.len()
    }

    fn step(&mut self, pc: usize, at: usize) -> Result<Step, WorkLimit> {
        let text = self.text;
        Ok(match &self.program.ops[pc] {
            Op::Chars(chars) => match text[at..].chars().next() {
                Some(value) if chars.has(value) => Step::To(pc + 1, at + value.len_utf8()),
                _ => Step::Failed,
            },
            Op::Anchor(place) if holds(*place, text, at) => Step::To(pc + 1, at),
            Op::Anchor(_) | Op::Never => Step::Failed,
            Op::Split(preferred, other) => {
                if self.is_visited(pc, at) {
                    return Ok(self.shortcut(pc, at));
                }
                let trail = self.memory.trail.len() as u32;
                self.visit(pc, at);
                self.branch(*other, at, trail);
                Step::To(*preferred, at)
            }
            Op::Jump(to) => Step::To(*to, at),
            Op::Save(slot) => {
                let was = std::mem::replace(&mut self.memory.slots[*slot], at as u32);
                self.memory.stack.push(Frame::Slot { slot: *slot as u32, was });
                Step::To(pc + 1, at)
            }
            Op::Run { chars, min, max, greedy } => {
                if self.is_visited(pc, at) {
                    return Ok(self.shortcut(pc, at));
                }
                self.begin_run(pc, at, chars, (*min, *max), *greedy)
            }
            Op::Mark(register) => {
                self.set(*register, at as u32);
                Step::To(pc + 1, at)
            }
            Op::IfEmpty(register, out) => Step::To(
                if self.memory.registers[*register] == at as u32 { *out } else { pc + 1 },
                at,
            ),
            Op::Count(counter) => {
                self.set(*counter, 0);
                Step::To(pc + 1, at)
            }
            Op::Loop { counter, min, max, greedy, body } => {
                self.end_iteration(*counter, (*min, *max), *body, pc + 1, at, *greedy)
            }
            Op::Ahead { negated, is_plain, behind } => {
                let found = self.look_ahead(pc + 1, at, *negated, *is_plain)?;
                if found == *negated { Step::Failed } else { Step::To(*behind, at) }
            }
            Op::Backreference(number) => match self.backreference(*number, at) {
                Some(end) => Step::To(pc + 1, end),
                None => Step::Failed,
            },
            Op::Match => Step::Matched,
        })
    }

    /// Starts another iteration of a counted loop, or leaves the loop. If the count allows both, the choice not taken
    /// becomes an alternative.
    fn end_iteration(
        &mut self,
        counter: usize,
        (min, max): (u32, Option<u32>),
        body: usize,
        out: usize,
        at: usize,
        greedy: bool,
    ) -> Step {
        let count = self.memory.registers[counter];
        if max.is_some_and(|max| count >= max) {
            return Step::To(out, at);
        }
        if count < min {
            self.set(counter, count + 1);
            return Step::To(body, at);
        }
        let trail = self.memory.trail.len() as u32;
        if greedy {
            self.branch(out, at, trail);
            self.set(counter, count + 1);
            Step::To(body, at)
        } else {
            // When the search returns to this alternative, the increased counter applies.
            self.set(counter, count + 1);
            self.branch(body, at, trail);
            self.set(counter, count);
            Step::To(out, at)
        }
    }

    /// Returns true if the instructions of a look-ahead match. The groups that they set are kept unless the look-ahead
    /// is negated.
    fn look_ahead(
        &mut self,
        pc: usize,
        at: usize,
        negated: bool,
        is_plain: bool,
    ) -> Result<bool, WorkLimit> {
        let floor = self.memory.trail.len();
        let height = self.memory.stack.len();
        let found = self.attempt(pc, at)?.is_some();
        if found && is_plain {
            self.succeed_from(floor);
        }
        // The visits recorded since then may include visits of nested look-aheads.
        self.memory.trail.truncate(floor);
        if negated {
            self.undo(height);
        } else {
            // The search cannot return into the look-ahead, but backtracking past it must reset its groups.
            self.keep_undoing(height);
        }
        Ok(found)
    }

    fn begin_run(
        &mut self,
        pc: usize,
        at: usize,
        chars: &Chars,
        (min, max): (u32, Option<u32>),
        greedy: bool,
    ) -> Step {
        let rest = &self.text[at..];
        let most = if greedy { max.unwrap_or(u32::MAX) } else { min };
        let (mut least, mut first, mut count) = (at, None, 0);
        for value in rest.chars().take(min.max(1) as usize).take_while(|value| chars.has(*value)) {
            count += 1;
            first.get_or_insert(at + value.len_utf8());
            least += if count <= min { value.len_utf8() } else { 0 };
        }
        if count < min || !work::spend(u64::from(count) / 8) {
            return Step::Failed;
        }
        // True if all but the shortest run have failed: the run that begins one character later is known to have
        // failed.
        let is_known = |next: usize| self.memory.is_known && self.has(self.bit(pc, next));
        let is_last = max.is_none() && first.is_none_or(is_known);
        let end = match (is_last, max) {
            (true, _) => least,
            (false, None) if greedy => self.end_of_run(pc, least, chars),
            _ => {
                let more = self.text[least..].chars().take((most - min) as usize);
                let more = more.take_while(|value| chars.has(*value));
                let (count, length) = more
                    .fold((0, 0), |(count, length), value| (count + 1, length + value.len_utf8()));
                if !work::spend(count / 8) {
                    return Step::Failed;
                }
                least + length
            }
        };
        let visit = self.visit(pc, at);
        self.note_run(visit, if max.is_none() { end } else { at }, end);
        if greedy {
            if end > least {
                let (pc, least, at) = (pc as u32, least as u32, end as u32);
                self.memory.stack.push(Frame::Shorter { pc, least, at, visit });
            }
        } else if !is_last && max.is_none_or(|max| max > min) {
            let more = max.map_or(NOWHERE, |max| max - min);
            self.memory.stack.push(Frame::Longer { pc: pc as u32, at: end as u32, more, visit });
        }
        Step::To(pc + 1, end)
    }

    /// Returns the position at which an unbounded run of `chars` ends.
    fn end_of_run(&mut self, pc: usize, at: usize, chars: &Chars) -> usize {
        let (from, end) = self.memory.runs[pc];
        if (from as usize..=end as usize).contains(&at) {
            return end as usize;
        }
        let end = self.text[at..].find(|value| !chars.has(value));
        let end = end.map_or(self.text.len(), |end| at + end);
        work::spend((end - at) as u64 / 8);
        self.memory.runs[pc] = (at as u32, end as u32);
        end
    }

    /// Records in a visit that its run ends at `end` and that, if it fails, it also fails from each position up to
    /// `fails`.
    fn note_run(&mut self, visit: u32, fails: usize, end: usize) {
        if visit == NOWHERE {
            return;
        }
        let Visit { pc, from, .. } = self.memory.trail[visit as usize];
        let succeeds = match &self.program.ops[pc as usize] {
            Op::Run { min: 0, max: None, .. } => end,
            Op::Run { min: 1, max: None, .. } => {
                let last = self.text[..end].chars().next_back();
                end - last.map_or(0, char::len_utf8)
            }
            _ => from as usize,
        };
        let visit = &mut self.memory.trail[visit as usize];
        visit.fails = visit.fails.max(fails as u32);
        visit.succeeds = from.max(succeeds as u32);
    }

    /// Removes entries from the stack down to the latest alternative, undoes the changes above it, and returns the
    /// instruction and text position at which to continue.
    fn back(&mut self, bottom: usize) -> Option<(usize, usize)> {
        while self.memory.stack.len() > bottom {
            match self.memory.stack.pop()? {
                Frame::Slot { slot, was } => self.memory.slots[slot as usize] = was,
                Frame::Register { register, was } => self.memory.registers[register as usize] = was,
                Frame::Branch { pc, at, trail } => {
                    // The visit of the instruction with the alternatives stays until the last alternative has failed.
                    let is_noted = (self.memory.trail.get(trail as usize))
                        .is_some_and(|visit| visit.from == at && self.splits(visit.pc, pc));
                    self.fail_from(trail as usize + usize::from(is_noted));
                    return Some((pc as usize, at as usize));
                }
                Frame::Shorter { pc, least, at, visit } => {
                    self.fail_behind(visit);
                    let (run, least, at) = (pc as usize, least as usize, at as usize);
                    let Some(value) = self.text[least..at].chars().next_back() else { continue };
                    let at = at - value.len_utf8();
                    if at > least {
                        let (least, at) = (least as u32, at as u32);
                        self.memory.stack.push(Frame::Shorter { pc, least, at, visit });
                    }
                    self.note_run(visit, 0, at);
                    return Some((run + 1, at));
                }
                Frame::Longer { pc, at, more, visit } => {
                    self.fail_behind(visit);
                    let (run, at) = (pc as usize, at as usize);
                    let Op::Run { chars, max, .. } = &self.program.ops[run] else { continue };
                    let next = self.text[at..].chars().next().filter(|value| chars.has(*value));
                    let Some(value) = next.filter(|_| more > 0) else { continue };
                    let at = at + value.len_utf8();
                    let more = if more == NOWHERE { more } else { more - 1 };
                    let is_endless = max.is_none();
                    self.memory.stack.push(Frame::Longer { pc, at: at as u32, more, visit });
                    self.note_run(visit, if is_endless { at } else { 0 }, at);
                    return Some((run + 1, at));
                }
            }
        }
        None
    }

    fn branch(&mut self, pc: usize, at: usize, trail: u32) {
        self.memory.stack.push(Frame::Branch { pc: pc as u32, at: at as u32, trail });
    }

    fn set(&mut self, register: usize, value: u32) {
        let was = std::mem::replace(&mut self.memory.registers[register], value);
        self.memory.stack.push(Frame::Register { register: register as u32, was });
    }

    /// Removes the entries of the stack above `height`, and undoes the changes of slots and registers that they record.
    fn undo(&mut self, height: usize) {
        for frame in self.memory.stack.drain(height..).rev() {
            match frame {
                Frame::Slot { slot, was } => self.memory.slots[slot as usize] = was,
                Frame::Register { register, was } => self.memory.registers[register as usize] = was,
                _ => {}
            }
        }
    }

    fn keep_undoing(&mut self, height: usize) {
        let mut kept = height;
        for at in height..self.memory.stack.len() {
            let frame = self.memory.stack[at];
            if matches!(frame, Frame::Slot { .. } | Frame::Register { .. }) {
                self.memory.stack[kept] = frame;
                kept += 1;
            }
        }
        self.memory.stack.truncate(kept);
    }

    fn backreference(&self, number: usize, at: usize) -> Option<usize> {
        let (start, end) =
            (*self.memory.slots.get(number * 2)?, *self.memory.slots.get(number * 2 + 1)?);
        if start == NOWHERE || end == NOWHERE {
            return None;
        }
        let (wanted, rest) = (self.text.get(start as usize..end as usize)?, &self.text[at..]);
        if !work::spend(wanted.len() as u64 / 8) {
            return None;
        }
        if !self.program.ignore_case {
            return rest.starts_with(wanted).then_some(at + wanted.len());
        }
        let (mut left, mut end) = (rest.chars(), at);
        for value in wanted.chars() {
            let other = left.next()?;
            if class::lower(value) != class::lower(other) {
                return None;
            }
            end += other.len_utf8();
        }
        Some(end)
    }
}

/// The result of executing one instruction.
enum Step {
    To(usize, usize),
    Matched,
    Failed,
}

/// Methods that remember the results of instructions.
impl Search<'_> {
    fn remember(&mut self) {
        self.memory.patience = u64::MAX;
        if !self.program.is_memorable {
            return;
        }
        let bits = self.program.ops.len().saturating_mul(self.text.len() + 1).saturating_mul(2);
        if bits / 8 > MAX_MEMORY || !work::spend(bits as u64 / 512) {
            return;
        }
        self.memory.known.clear();
        self.memory.known.resize(bits.div_ceil(64), 0);
        self.memory.is_known = true;
    }

    fn bit(&self, pc: usize, at: usize) -> usize {
        (pc * (self.text.len() + 1) + at) * 2
    }

    fn has(&self, bit: usize) -> bool {
        self.memory.known[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Returns true if the result of an instruction at a text position is remembered.
    fn is_visited(&self, pc: usize, at: usize) -> bool {
        if !self.memory.is_known {
            return false;
        }
        let bit = self.bit(pc, at);
        self.has(bit) || self.has(bit + 1)
    }

    fn shortcut(&self, pc: usize, at: usize) -> Step {
        // Success is only remembered within look-aheads that set no groups.
        if self.has(self.bit(pc, at)) { Step::Failed } else { Step::Matched }
    }

    /// Records a visit of an instruction and returns the visit's index. Returns `NOWHERE` if the search does not
    /// remember results yet.
    fn visit(&mut self, pc: usize, at: usize) -> u32 {
        if !self.memory.is_known {
            return NOWHERE;
        }
        let (pc, from) = (pc as u32, at as u32);
        self.memory.trail.push(Visit { pc, from, fails: from, succeeds: from });
        self.memory.trail.len() as u32 - 1
    }

    /// Returns true if instruction `at` is a [`Op::Split`] with this alternative.
    fn splits(&self, at: u32, alternative: u32) -> bool {
        matches!(self.program.ops[at as usize], Op::Split(_, other) if other == alternative as usize)
    }

    /// Records that all instructions visited after this visit have failed.
    fn fail_behind(&mut self, visit: u32) {
        self.fail_from(if visit == NOWHERE { 0 } else { visit as usize + 1 });
    }

    /// Records that all visits from index `first` on have failed.
    fn fail_from(&mut self, first: usize) {
        while self.memory.trail.len() > first {
            let Some(Visit { pc, from, fails, .. }) = self.memory.trail.pop() else { return };
            self.note(pc, from, fails, 0);
        }
    }

    /// Records that all visits from index `first` on have succeeded.
    fn succeed_from(&mut self, first: usize) {
        while self.memory.trail.len() > first {
            let Some(Visit { pc, from, succeeds, .. }) = self.memory.trail.pop() else { return };
            self.note(pc, from, succeeds, 1);
        }
    }

    fn note(&mut self, pc: u32, from: u32, to: u32, result: usize) {
        let mut noted = 0;
        for at in from..=to {
            let bit = self.bit(pc as usize, at as usize) + result;
            if self.has(bit) {
                // The result is recorded for all later positions already.
                break;
            }
            noted += 1;
            self.memory.known[bit / 64] |= 1 << (bit % 64);
        }
        work::spend(noted / 8);
    }
}

fn holds(place: Anchor, text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let is_word = |value: Option<char>| {
        value.is_some_and(|value| regex_syntax::try_is_word_character(value).unwrap_or(false))
    };
    let is_boundary =
        || is_word(text[..at].chars().next_back()) != is_word(text[at..].chars().next());
    match place {
        Anchor::Start => at == 0,
        Anchor::LineStart => at == 0 || at < text.len() && bytes[at - 1] == b'\n',
        Anchor::End => at == text.len() || at + 1 == text.len() && bytes[at] == b'\n',
        Anchor::LineEnd => bytes.get(at).is_none_or(|byte| *byte == b'\n'),
        Anchor::WordBoundary => is_boundary(),
        Anchor::NotWordBoundary => !is_boundary(),
    }
}
