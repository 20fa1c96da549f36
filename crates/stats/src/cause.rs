//! Errors by cause: the count of each cause, and its first example.
//!
//! A cause consists of outcome, response code and message. The number of distinct causes is limited by [`MAX_CAUSES`];
//! further causes are counted under one name, so no error is lost. Counting a known cause costs two hashes and no
//! allocation.
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::sample::Outcome;

pub const MAX_CAUSES: usize = 256;
/// Maximum length of a message in bytes, so that a body quoted in a message does not fill memory.
const MAX_TEXT: usize = 300;
/// Response code under which causes beyond [`MAX_CAUSES`] are counted.
pub const OTHER: &str = "(other causes)";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub outcome: Outcome,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub count: u64,
    /// Label of the first sample with this cause.
    pub first_label: Arc<str>,
    /// Start of the first sample with this cause, epoch ms.
    pub first_ms: i64,
}

impl Cause {
    fn is(&self, outcome: Outcome, code: &str, message: &str) -> bool {
        self.outcome == outcome && &*self.code == code && &*self.message == message
    }
}

/// A bounded set of causes.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    list: Vec<Cause>,
    index: HashMap<u64, u32>,
    hasher: RandomState,
}

impl Causes {
    pub fn add(
        &mut self,
        outcome: Outcome,
        code: &str,
        message: &str,
        label: &Arc<str>,
        at_ms: i64,
    ) {
        self.add_n(outcome, cut(code), cut(message), 1, label, at_ms);
    }

    pub fn merge(&mut self, other: &[Cause]) {
        for c in other {
            self.add_n(c.outcome, &c.code, &c.message, c.count, &c.first_label, c.first_ms);
        }
    }

    fn add_n(
        &mut self,
        outcome: Outcome,
        code: &str,
        message: &str,
        n: u64,
        label: &Arc<str>,
        at_ms: i64,
    ) {
        let hash = self.hasher.hash_one((outcome, code, message));
        if let Some(&i) = self.index.get(&hash) {
            let cause = &mut self.list[i as usize];
            if cause.is(outcome, code, message) {
                cause.count += n;
                if at_ms < cause.first_ms {
                    cause.first_ms = at_ms;
                    cause.first_label = Arc::clone(label);
                }
                return;
            }
        }
        if self.list.len() >= MAX_CAUSES && code != OTHER {
            self.add_n(Outcome::Other, OTHER, "", n, label, at_ms);
            return;
        }
        self.index.insert(hash, self.list.len() as u32);
        self.list.push(Cause {
            outcome,
            code: code.into(),
            message: message.into(),
            count: n,
            first_label: Arc::clone(label),
            first_ms: at_ms,
        });
    }

    /// Moves all causes into `into` and empties the set.
    pub fn drain_into(&mut self, into: &mut Vec<Cause>) {
        into.append(&mut self.list);
        self.index.clear();
    }

    pub fn list(&self) -> &[Cause] {
        &self.list
    }
}

/// Cuts a string to the maximum length of a stored text, `MAX_TEXT` bytes.
pub fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
