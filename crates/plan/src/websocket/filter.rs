//! Frame filters: config elements that discard frames on their way to a sampler that reads.
//!
//! How the plug-in reads through filters `[0]`, `[1]`, … `[n]`, which the engine does as well. Level *k* reads from level
//! *k + 1*, the last one from the connection:
//!
//! 1. Each level has a time left, which starts as what the level before it has left at that moment; the first one starts with the
//!    sampler's read timeout. The connection is read with the time left of the last level. 0 there means without end.
//! 2. A level measures, in whole milliseconds, how long its read took. Then it looks at the frame: if [`FrameFilter::discards`]
//!    it, a reply goes out where [`FrameFilter::replies`] says so, and a sub-result is added ([`super::wording::discarded`])
//!    that began when this level began to read this frame.
//! 3. *Whether or not it discarded*: where the time spent is less than the time left, it is taken off; otherwise the read fails with
//!    `Read timed out`. So a timeout of 0 always fails once a frame has come, and a frame that comes in the last
//!    millisecond fails even though it passes.
//! 4. A frame that was discarded makes the level read again (a level below starts with this level's time left); one that
//!    passes goes to the level before.
//!
//! A fault ([`FrameFilter::fault`]) shows when the level starts to read, before anything comes from the connection.

use super::{Frame, FrameKind, binary};
use crate::env::Env;
use crate::pattern::Pattern;
use crate::template::Template;
use crate::template::flag::Flag;

/// Index of a filter in [`Plan::frame_filters`](crate::plan::Plan::frame_filters).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilterId(pub u32);

/// A compiled frame filter.
#[derive(Debug)]
pub struct FrameFilter {
    pub(super) name: Template,
    pub(super) test: Test,
}

/// The test of a filter.
#[derive(Debug)]
pub(super) enum Test {
    Text(Comparison, Template),
    Pattern {
        /// The pattern must match the whole text.
        whole: bool,
        /// Frames that do not match are discarded.
        not: bool,
        pattern: Pattern,
    },
    Binary {
        comparison: Comparison,
        value: Template,
        /// Where the value is looked for; anywhere if this is no number.
        at: Template,
    },
    Ping {
        pings: bool,
        pongs: bool,
        reply: Flag,
    },
    /// A word in the plan that the plug-in does not know; the text of its exception.
    Unknown(String),
}

/// How a filter compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Any,
    Equals { not: bool },
    Contains { not: bool },
    StartsWith { not: bool },
    EndsWith { not: bool },
}

impl FrameFilter {
    /// Whether it discards a frame.
    pub fn discards(&self, frame: &Frame<'_>, env: &mut Env<'_>) -> bool {
        match &self.test {
            Test::Text(comparison, value) => {
                frame.kind == FrameKind::Text
                    && value.parsed(env, |value| {
                        comparison.holds(&String::from_utf8_lossy(frame.shown()), value)
                    })
            }
            Test::Pattern { whole, not, pattern } => {
                let text = String::from_utf8_lossy(frame.shown());
                frame.kind == FrameKind::Text
                    && pattern.with(env, |pattern, _| {
                        pattern.is_ok_and(|pattern| {
                            let found = if *whole {
                                pattern.matches(&text)
                            } else {
                                pattern.is_found_in(&text)
                            };
                            found != *not
                        })
                    })
            }
            Test::Binary { comparison, value, at } => {
                if frame.kind != FrameKind::Binary {
                    return false;
                }
                let at = at.parsed(env, |text| text.parse().ok());
                value.parsed(env, |value| {
                    let mut wanted = Vec::new();
                    // What is not binary compares as if it were nothing.
                    if binary::parse(value, &mut wanted).is_err() {
                        wanted.clear();
                    }
                    holds_in(frame.shown(), *comparison, &wanted, at)
                })
            }
            Test::Ping { pings, pongs, .. } => match frame.kind {
                FrameKind::Ping => *pings,
                FrameKind::Pong => *pongs,
                _ => false,
            },
            Test::Unknown(_) => false,
        }
    }

    /// Whether it answers a ping that it discards, with a pong of the same payload.
    pub fn replies(&self, env: &mut Env<'_>) -> bool {
        matches!(&self.test, Test::Ping { reply, .. } if reply.get(env))
    }

    /// Appends its name.
    pub fn name(&self, env: &mut Env<'_>, out: &mut String) {
        self.name.eval(env, out);
    }

    /// The exception, in Java's words, that keeps it from working at all.
    pub fn fault(&self, env: &mut Env<'_>) -> Option<String> {
        match &self.test {
            Test::Unknown(fault) => Some(fault.clone()),
            Test::Pattern { pattern, .. } => pattern.with(env, |pattern, _| {
                let malformed = pattern.err()?;
                Some(format!(
                    "java.util.regex.PatternSyntaxException: {}\n{}",
                    malformed.reason, malformed.pattern
                ))
            }),
            _ => None,
        }
    }

    /// A pattern that cannot be read, in words.
    pub(crate) fn complaint(&self) -> Option<String> {
        match &self.test {
            Test::Pattern { pattern: Pattern::Fixed(_, Err(malformed)), .. } => {
                Some(format!("{}: {}", malformed.pattern, malformed.reason))
            }
            Test::Unknown(fault) => Some(fault.clone()),
            _ => None,
        }
    }
}

impl Comparison {
    fn holds(self, text: &str, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Equals { not } => (text == value) != not,
            Self::Contains { not } => text.contains(value) != not,
            Self::StartsWith { not } => text.starts_with(value) != not,
            Self::EndsWith { not } => text.ends_with(value) != not,
        }
    }
}

/// Whether a comparison of bytes holds; `at` is where [`Comparison::Contains`] looks, `None` is anywhere.
fn holds_in(bytes: &[u8], how: Comparison, wanted: &[u8], at: Option<i32>) -> bool {
    match how {
        Comparison::Any => true,
        Comparison::Equals { not } => (bytes == wanted) != not,
        Comparison::Contains { not } => {
            let found = match at {
                None => binary::contains(bytes, wanted),
                Some(at) => usize::try_from(at).is_ok_and(|at| {
                    !wanted.is_empty()
                        && bytes.get(at..).is_some_and(|rest| rest.starts_with(wanted))
                }),
            };
            found != not
        }
        Comparison::StartsWith { not } => bytes.starts_with(wanted) != not,
        Comparison::EndsWith { not } => bytes.ends_with(wanted) != not,
    }
}
