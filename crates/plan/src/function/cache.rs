//! Values that functions cache per core, so that repeated evaluations need no lock and no allocation: a snapshot of
//! the properties written during the run, templates compiled at run time, date patterns, and whole files.

use std::collections::HashMap;
use std::fs::Metadata;
use std::sync::Arc;
use std::time::SystemTime;

use lang::charset::Charset;
use lang::java_date::Pattern;

use super::shared::{Map, Shared};
use crate::template::Template;

/// Number of entries at which a map of the cache is cleared: expressions and patterns built at run time could
/// otherwise make it grow without limit.
const MOST: usize = 1_000;

/// The cache of one core.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    version: u64,
    written: Arc<Map>,
    texts: HashMap<Box<str>, Template>,
    patterns: HashMap<Box<str>, Result<Arc<Pattern>, String>>,
    files: HashMap<Box<str>, CachedFile>,
    /// Current nesting depth of strings that are compiled and evaluated at run time (`__eval` and similar functions).
    pub(super) depth: u32,
}

/// A cached file, with its modification time and length when it was read.
#[derive(Debug)]
struct CachedFile {
    changed: Option<SystemTime>,
    length: u64,
    charset: Charset,
    text: Arc<str>,
}

impl Cache {
    /// Returns the value of a property.
    pub(crate) fn property<'a>(&'a mut self, shared: &'a Shared, name: &str) -> Option<&'a str> {
        if self.version != shared.version() {
            (self.version, self.written) = shared.written();
        }
        match self.written.get(name) {
            Some(value) => value.as_deref(),
            None => shared.started_with(name),
        }
    }

    /// Returns the cached template for a string that was built at run time.
    pub(super) fn text(&self, source: &str) -> Option<Template> {
        self.texts.get(source).cloned()
    }

    pub(super) fn keep_text(&mut self, source: &str, text: Template) {
        if self.texts.len() >= MOST {
            self.texts.clear();
        }
        self.texts.insert(source.into(), text);
    }

    /// Returns a compiled date pattern, or Java's error message.
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

    /// Returns the content of a file as a string. The file is read again only if it has changed.
    pub(super) fn file(
        &mut self,
        path: &str,
        state: &Metadata,
        charset: Charset,
    ) -> std::io::Result<Arc<str>> {
        let (changed, length) = (state.modified().ok(), state.len());
        if let Some(kept) = self.files.get(path)
            && (kept.changed, kept.length, kept.charset) == (changed, length, charset)
        {
            return Ok(Arc::clone(&kept.text));
        }
        let text: Arc<str> = charset.decode(&crate::input::read(path.as_ref())?).into();
        if self.files.len() >= MOST {
            self.files.clear();
        }
        self.files
            .insert(path.into(), CachedFile { changed, length, charset, text: Arc::clone(&text) });
        Ok(text)
    }
}
