//! Frame filters: config elements that discard frames before they reach a sampler.
//!
//! The engine reads through filters `[0]`, `[1]`, … `[n]` like the plug-in. Filter *k* reads from filter *k + 1*,
//! and the last filter from the connection:
//!
//! 1. Each filter has a time budget. It starts with the remaining budget of the previous filter; the first filter
//!    starts with the sampler's read timeout. The connection is read with the remaining budget of the last filter;
//!    0 means no limit.
//! 2. A filter measures the duration of its read in whole milliseconds. Then it checks the frame. If
//!    [`FrameFilter::discards`] returns true, it sends a reply if [`FrameFilter::replies`] requires it, and adds a
//!    sub-result ([`super::wording::discarded`]) that began when this read began.
//! 3. *Whether the frame was discarded or not*: if the duration is less than the budget, it is subtracted;
//!    otherwise the read fails with `Read timed out`. So a budget of 0 always fails after a frame was received,
//!    and a frame received in the last millisecond fails even if it passes.
//! 4. After a discarded frame, the filter reads the next one (the following filter starts with this filter's
//!    remaining budget). A frame that passes goes to the filter before.
//!
//! A fault of a filter ([`FrameFilter::fault`]) is reported when the filter starts to read, before anything is
//! received.

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

/// Test that decides which frames a filter discards.
#[derive(Debug)]
pub(super) enum Test {
    Text(Comparison, Template),
    Pattern {
        /// True if the pattern must match the whole string.
        whole: bool,
        /// True if frames that do not match are discarded.
        not: bool,
        pattern: Pattern,
    },
    Binary {
        comparison: Comparison,
        value: Template,
        /// Position of the value in the payload. If this is not a number, any position is accepted.
        at: Template,
    },
    Ping {
        pings: bool,
        pongs: bool,
        reply: Flag,
    },
    /// A property of the filter has a value that the plug-in does not know. The string is the message of the plug-in's
    /// exception.
    Unknown(String),
}

/// Comparison of a frame's payload with the filter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Any,
    Equals { not: bool },
    Contains { not: bool },
    StartsWith { not: bool },
    EndsWith { not: bool },
}

impl FrameFilter {
    /// True if the filter discards the frame.
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
                    // A value that is not hexadecimal counts as empty.
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

    /// True if the filter answers a discarded ping with a pong that has the same payload.
    pub fn replies(&self, env: &mut Env<'_>) -> bool {
        matches!(&self.test, Test::Ping { reply, .. } if reply.get(env))
    }

    /// Appends the name of the filter to `out`.
    pub fn name(&self, env: &mut Env<'_>, out: &mut String) {
        self.name.eval(env, out);
    }

    /// Returns the Java exception that prevents the filter from working, if any.
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

    /// Returns the message about the filter's pattern if the pattern is constant and invalid.
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

/// Returns true if the bytes of a payload pass the comparison. `at` is the position for [`Comparison::Contains`];
/// `None` means any position.
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
