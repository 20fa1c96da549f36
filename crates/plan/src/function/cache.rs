//! What functions keep for a core so that warm evaluations neither lock nor allocate: a snapshot of the properties
//! written during the run, texts compiled at run time, and date patterns.

use std::collections::HashMap;
use std::sync::Arc;

use super::java_date::Pattern;
use super::shared::{Map, Shared};
use crate::text::Text;

/// Entries after which a map of the cache starts afresh: expressions and patterns that are made up at run time
/// could otherwise grow it without bound.
const MOST: usize = 1_000;

/// The cache of one core.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    version: u64,
    written: Arc<Map>,
    texts: HashMap<Box<str>, Option<Text>>,
    patterns: HashMap<Box<str>, Result<Arc<Pattern>, String>>,
    /// Levels of run-time evaluation at the moment.
    pub(super) depth: u32,
}

impl Cache {
    /// The value of a property.
    pub(super) fn property<'a>(&'a mut self, shared: &'a Shared, name: &str) -> Option<&'a str> {
        if self.version != shared.version() {
            (self.version, self.written) = shared.written();
        }
        self.written.get(name).or_else(|| shared.started_with(name)).map(|value| &**value)
    }

    /// Text that was compiled before under the same source.
    pub(super) fn text(&self, source: &str) -> Option<Option<Text>> {
        self.texts.get(source).cloned()
    }

    pub(super) fn keep_text(&mut self, source: &str, text: Option<Text>) {
        if self.texts.len() >= MOST {
            self.texts.clear();
        }
        self.texts.insert(source.into(), text);
    }

    /// A date pattern, or Java's complaint about it.
    pub(super) fn pattern(&mut self, source: &str) -> Result<Arc<Pattern>, String> {
        if let Some(known) = self.patterns.get(source) {
            return known.clone();
        }
        if self.patterns.len() >= MOST {
            self.patterns.clear();
        }
        let pattern = Pattern::parse(source).map(Arc::new);
        self.patterns.insert(source.into(), pattern.clone());
        pattern
    }
}
