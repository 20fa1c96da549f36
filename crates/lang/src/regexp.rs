//! Regular expressions as in JMeter: the Perl 5 dialect of Jakarta ORO.
//!
//! A pattern is compiled once and shared. The state that a search writes (caches, group positions) is kept per thread,
//! so that repeated searches take no lock and allocate nothing. Patterns that are known only at run time are cached per
//! thread, just as JMeter caches the last thousand.

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

/// Maximum number of patterns known only at run time that a thread caches.
const REMEMBERED: usize = 1000;

/// Maximum number of bytes that automaton searches read to find all matches in one string.
const MOST_LOOKED: usize = 1 << 30;

/// A compiled regular expression in ORO's dialect.
#[derive(Debug)]
pub struct Regexp {
    id: u64,
    program: Program,
}

/// Error: ORO rejects the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The pattern that ORO rejects.
    pub pattern: String,
    /// ORO's message about the rejected pattern.
    pub reason: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invalid expression: {}\n{}", self.pattern, self.reason)
    }
}

impl std::error::Error for Malformed {}

/// A match in a text, with the positions of its groups.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    text: &'a str,
    spans: &'a [Option<(usize, usize)>],
}

impl<'a> Found<'a> {
    /// Returns the text of a group; 0 is the whole match. Returns `None` if the group does not exist or did not take
    /// part.
    #[inline]
    pub fn group(&self, number: usize) -> Option<&'a str> {
        let (start, end) = (*self.spans.get(number)?)?;
        self.text.get(start..end)
    }

    /// Returns the byte positions of the groups; the first is the whole match.
    #[inline]
    pub fn spans(&self) -> &'a [Option<(usize, usize)>] {
        self.spans
    }
}

/// A thread's memory for searches with one pattern: caches, group positions.
#[derive(Default)]
struct Memory {
    ascii: Option<(meta::Cache, Captures)>,
    unicode: Option<(meta::Cache, Captures)>,
    backtrack: backtrack::Memory,
    spans: Vec<Option<(usize, usize)>>,
}

/// Cache of patterns that are known only at run time, including invalid ones.
type Remembered = HashMap<Box<str>, Result<Rc<Regexp>, Malformed>>;

thread_local! {
    static MEMORIES: RefCell<HashMap<u64, Box<Memory>>> = RefCell::default();
    static REMEMBERED_PATTERNS: RefCell<Remembered> = RefCell::default();
}

impl Regexp {
    /// Compiles a regular expression.
    pub fn new(pattern: &str) -> Result<Self, Malformed> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let read = syntax::read(pattern)
            .map_err(|reason| Malformed { pattern: pattern.into(), reason })?;
        Ok(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), program: Program::new(read) })
    }

    /// Returns the compiled pattern from this thread's cache. Compiles the pattern if the cache lacks it.
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

    /// Returns the number of capturing groups in the pattern.
    #[inline]
    pub fn groups(&self) -> usize {
        self.program.groups()
    }

    /// Returns true if the pattern matches anywhere in the text.
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

    /// Returns true if the pattern matches the whole text, and Perl's rules prefer this match to shorter matches at the
    /// start of the text.
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

    /// Visits all matches from left to right; no two matches end at the same position.
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
        // Each automaton search is linear, but may read far beyond the match that it finds. If many searches read far,
        // backtracking takes over.
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

    /// Runs `work` with this thread's memory for the pattern. The memory is removed meanwhile, because a search may
    /// start another search.
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

/// Finds the next match from `from` on, stores the positions of its groups in `spans`, and returns the end of the
/// match.
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

/// Runs a backtracking search from the start of the text. Returns the end of the match.
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
