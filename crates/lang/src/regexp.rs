//! Regular expressions as JMeter understands them: the Perl 5 dialect of Jakarta ORO.
//!
//! A pattern is compiled once and shared; what a search needs to write (caches, group positions) is kept per
//! thread, so that a warm search takes no lock and allocates nothing. Patterns known only at run time are kept
//! in a cache per thread, as JMeter keeps its thousand last ones.

mod backtrack;
mod class;
mod program;
mod syntax;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, meta};

use crate::work;
use backtrack::{Backtrack, Kind};
use program::{Form, Program};

/// Patterns made at run time that a thread remembers.
const REMEMBERED: usize = 1000;

/// Bytes that the searches of automata for the matches of one text may look at.
const MOST_LOOKED: usize = 1 << 30;

/// A compiled pattern.
#[derive(Debug)]
pub struct Regexp {
    id: u64,
    program: Program,
}

/// A pattern that ORO rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The pattern.
    pub pattern: String,
    /// The error, in ORO's words.
    pub reason: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invalid expression: {}\n{}", self.pattern, self.reason)
    }
}

impl std::error::Error for Malformed {}

/// Positions of a match and its groups.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    text: &'a str,
    spans: &'a [Option<(usize, usize)>],
}

impl<'a> Found<'a> {
    /// Text of a group, 0 being the whole match; `None` if it took no part or does not exist.
    #[inline]
    pub fn group(&self, number: usize) -> Option<&'a str> {
        let (start, end) = (*self.spans.get(number)?)?;
        self.text.get(start..end)
    }

    /// Byte positions of the groups, the whole match first.
    #[inline]
    pub fn spans(&self) -> &'a [Option<(usize, usize)>] {
        self.spans
    }
}

/// A thread's caches for one pattern.
#[derive(Default)]
struct Memory {
    ascii: Option<(meta::Cache, Captures)>,
    unicode: Option<(meta::Cache, Captures)>,
    backtrack: backtrack::Memory,
    spans: Vec<Option<(usize, usize)>>,
}

/// Patterns made at run time, also those that cannot be read.
type Remembered = HashMap<Box<str>, Result<Rc<Regexp>, Malformed>>;

thread_local! {
    static MEMORIES: RefCell<HashMap<u64, Box<Memory>>> = RefCell::default();
    static REMEMBERED_PATTERNS: RefCell<Remembered> = RefCell::default();
}

impl Regexp {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<Self, Malformed> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let read = syntax::read(pattern)
            .map_err(|reason| Malformed { pattern: pattern.into(), reason })?;
        Ok(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), program: Program::new(read) })
    }

    /// The pattern from this thread's cache, compiled if it is not there.
    pub fn remembered(pattern: &str) -> Result<Rc<Self>, Malformed> {
        REMEMBERED_PATTERNS.with_borrow_mut(|known| {
            if let Some(known) = known.get(pattern) {
                return known.clone();
            }
            if known.len() >= REMEMBERED {
                MEMORIES.with_borrow_mut(|memories| {
                    for old in known.values().flatten() {
                        memories.remove(&old.id);
                    }
                });
                known.clear();
            }
            let made = Self::new(pattern).map(Rc::new);
            known.insert(pattern.into(), made.clone());
            made
        })
    }

    /// Number of capturing groups.
    #[inline]
    pub fn groups(&self) -> usize {
        self.program.groups()
    }

    /// Whether the pattern matches somewhere in the text.
    #[inline]
    pub fn is_found_in(&self, text: &str) -> bool {
        self.with_memory(|memory| match self.program.form(text) {
            Form::Ascii(regex) => is_found(regex, &mut memory.ascii, text),
            Form::Unicode(regex) => is_found(regex, &mut memory.unicode, text),
            Form::Backtracking(program) => {
                backtrack(program, &mut memory.backtrack, text, Kind::Any).is_some()
            }
            Form::Nothing => false,
        })
    }

    /// Whether the first match that Perl's rules prefer at the start of the text is the whole text.
    #[inline]
    pub fn matches(&self, text: &str) -> bool {
        self.with_memory(|memory| match self.program.form(text) {
            Form::Ascii(regex) => is_whole(regex, &mut memory.ascii, text),
            Form::Unicode(regex) => is_whole(regex, &mut memory.unicode, text),
            Form::Backtracking(program) => {
                backtrack(program, &mut memory.backtrack, text, Kind::Here) == Some(text.len())
            }
            Form::Nothing => false,
        })
    }

    /// Visits the matches from left to right; no two of them end at the same place.
    pub fn each(&self, text: &str, visit: impl FnMut(Found<'_>) -> ControlFlow<()>) {
        work::bounded(|| self.with_memory(|memory| self.each_with(memory, text, visit)));
    }

    fn each_with(
        &self,
        memory: &mut Memory,
        text: &str,
        mut visit: impl FnMut(Found<'_>) -> ControlFlow<()>,
    ) {
        let form = self.program.form(text);
        let Memory { ascii, unicode, backtrack, spans } = memory;
        spans.resize(self.groups() + 1, None);
        backtrack.renew(text);
        // Each search of an automaton is linear, but may look far beyond the match that it finds; many that do are another's work.
        let (mut looked, most) = (0, MOST_LOOKED.max(text.len() * 64));
        let mut find = |from: usize, onwards: bool, spans: &mut [Option<(usize, usize)>]| {
            let kind = if onwards { Kind::Onwards } else { Kind::Any };
            looked += text.len() - from;
            let counted = if looked > most { self.program.backtracking() } else { None };
            let program = match &form {
                Form::Nothing => return None,
                _ if onwards => self.program.onwards()?,
                Form::Ascii(_) | Form::Unicode(_) if counted.is_some() => counted?,
                Form::Backtracking(program) => program,
                Form::Ascii(regex) => return groups_from(regex, ascii, text, from, spans),
                Form::Unicode(regex) => return groups_from(regex, unicode, text, from, spans),
            };
            program.search(text, from, kind, backtrack, spans).then(|| spans[0].map_or(0, |s| s.1))
        };
        let (mut from, mut last_end) = (0, None);
        while let Some(mut end) = find(from, false, spans) {
            if last_end == Some(end) {
                let next = if self.program.onwards().is_some() {
                    find(from, true, spans)
                } else {
                    let Some(skipped) = text[from..].chars().next() else { return };
                    find(from + skipped.len_utf8(), false, spans)
                };
                match next {
                    Some(next) => end = next,
                    None => return,
                }
            }
            if visit(Found { text, spans }).is_break() || !work::spend(1) {
                return;
            }
            (from, last_end) = (end, Some(end));
        }
    }

    /// Lends this thread's memory for the pattern. It is taken out meanwhile, as a search may lead to another.
    fn with_memory<R>(&self, work: impl FnOnce(&mut Memory) -> R) -> R {
        let mut memory = MEMORIES.with_borrow_mut(|all| all.remove(&self.id)).unwrap_or_default();
        let result = work(&mut memory);
        MEMORIES.with_borrow_mut(|all| all.insert(self.id, memory));
        result
    }
}

fn warm<'a>(
    regex: &meta::Regex,
    slot: &'a mut Option<(meta::Cache, Captures)>,
) -> &'a mut (meta::Cache, Captures) {
    slot.get_or_insert_with(|| (regex.create_cache(), regex.create_captures()))
}

fn is_found(regex: &meta::Regex, slot: &mut Option<(meta::Cache, Captures)>, text: &str) -> bool {
    let (cache, _) = warm(regex, slot);
    regex.search_half_with(cache, &Input::new(text).earliest(true)).is_some()
}

fn is_whole(regex: &meta::Regex, slot: &mut Option<(meta::Cache, Captures)>, text: &str) -> bool {
    let (cache, _) = warm(regex, slot);
    let found = regex.search_half_with(cache, &Input::new(text).anchored(Anchored::Yes));
    found.is_some_and(|found| found.offset() == text.len())
}

/// Positions of the next match's groups; the answer is where it ends.
fn groups_from(
    regex: &meta::Regex,
    slot: &mut Option<(meta::Cache, Captures)>,
    text: &str,
    from: usize,
    spans: &mut [Option<(usize, usize)>],
) -> Option<usize> {
    let (cache, captures) = warm(regex, slot);
    regex.search_captures_with(cache, &Input::new(text).range(from..), captures);
    for (number, span) in spans.iter_mut().enumerate() {
        *span = captures.get_group(number).map(|found| (found.start, found.end));
    }
    Some(captures.get_match()?.end())
}

/// Where the first match of that kind ends.
fn backtrack(
    program: &Backtrack,
    memory: &mut backtrack::Memory,
    text: &str,
    kind: Kind,
) -> Option<usize> {
    memory.renew(text);
    let mut spans = [None];
    let found = work::bounded(|| program.search(text, 0, kind, memory, &mut spans)).0;
    spans[0].filter(|_| found).map(|(_, end)| end)
}
