//! Positions in data files that users share, identified by file and sharing mode. Looking up a position takes a
//! lock, once per user.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file::{self, Lines, Problem, Shape};
use super::parse;
use crate::plan::GroupId;
use crate::state::Deal;

/// The users that share a position in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Share {
    All,
    /// Users of the group with this index.
    Group(GroupId),
    User,
    /// Users of all elements with the same custom sharing name.
    Word(String),
}

/// Key that identifies a position: file, format and sharing mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) file: String,
    pub(super) encoding: String,
    pub(super) quoted: Option<char>,
    pub(super) skip_first: bool,
    pub(super) share: Share,
}

/// A position in a data file; several users may take lines from the same position.
#[derive(Debug)]
pub(super) struct Source {
    lines: Arc<Content>,
    quoted: Option<char>,
    next: AtomicU64,
    /// Division of the data lines among the processes of the run.
    deal: Deal,
}

/// The content of a file, or its single reader if the file is not kept in memory.
#[derive(Debug)]
struct Content {
    header: Option<String>,
    lines: Body,
}

#[derive(Debug)]
enum Body {
    Memory(file::Text),
    Stream(Mutex<file::Stream>),
}

impl Source {
    pub(super) fn header(&self) -> Option<&str> {
        self.lines.header.as_deref()
    }

    pub(super) fn quoted(&self) -> Option<char> {
        self.quoted
    }

    /// Appends the next line of this process's share to `out`, which is empty. Returns false at the end. If values may
    /// be quoted, the line keeps its line break.
    pub(super) fn next(&self, recycle: bool, out: &mut String) -> bool {
        let found = match &self.lines.lines {
            Body::Memory(text) => {
                let nth = self.deal.nth(self.next.fetch_add(1, Ordering::Relaxed));
                let len = text.len();
                let found = len > 0 && (recycle || nth < len);
                if found {
                    out.push_str(text.line(nth % len));
                }
                found
            }
            Body::Stream(stream) => {
                let mut stream = lock(stream);
                let mut more = true;
                for _ in 0..self.deal.gap(self.next.fetch_add(1, Ordering::Relaxed)) {
                    more &= stream.next(recycle, out);
                    out.clear();
                }
                more && stream.next(recycle, out)
            }
        };
        if self.quoted.is_none() {
            out.truncate(parse::without_break(out).len());
        }
        found
    }
}

/// All positions in data files of a run.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    folder: PathBuf,
    places: Mutex<HashMap<Key, Arc<Source>>>,
    files: Mutex<HashMap<(PathBuf, String, Shape), Arc<Content>>>,
}

impl Sources {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), ..Self::default() }
    }

    /// Reads a data file before its first use.
    pub(super) fn preload(&self, key: &Key) {
        // An error is reported by the first user that needs the file.
        let _ = self.content(key);
    }

    /// Returns the position for a key; `deal` divides the lines of a shared position.
    pub(super) fn source(&self, key: &Key, deal: Deal) -> Result<Arc<Source>, Problem> {
        if key.share == Share::User {
            return self.open(key, Deal::default());
        }
        let mut places = lock(&self.places);
        if let Some(place) = places.get(key) {
            return Ok(place.clone());
        }
        let place = self.open(key, deal)?;
        places.insert(key.clone(), place.clone());
        Ok(place)
    }

    fn open(&self, key: &Key, deal: Deal) -> Result<Arc<Source>, Problem> {
        let lines = self.content(key)?;
        if key.skip_first && lines.header.is_none() {
            return Err(format!("Could not read file header line for file {}", key.file));
        }
        Ok(Arc::new(Source { lines, quoted: key.quoted, next: AtomicU64::new(0), deal }))
    }

    fn content(&self, key: &Key) -> Result<Arc<Content>, Problem> {
        let path = self.resolve(&key.file);
        let shape = Shape { quoted: key.quoted, skip_first: key.skip_first };
        let id = (path, key.encoding.clone(), shape);
        let mut files = lock(&self.files);
        if let Some(content) = files.get(&id) {
            return Ok(content.clone());
        }
        let (header, lines, keep) = match file::open(&id.0, &key.encoding, shape)? {
            Lines::Memory(text) => (text.header().map(str::to_string), Body::Memory(text), true),
            // If the file is not in memory, each position has its own reader.
            Lines::Stream(stream) => {
                (stream.header().map(str::to_string), Body::Stream(Mutex::new(stream)), false)
            }
        };
        let content = Arc::new(Content { header, lines });
        if keep {
            files.insert(id, content.clone());
        }
        Ok(content)
    }

    /// Resolves a relative path in the working directory, then in the plan's folder.
    fn resolve(&self, file: &str) -> PathBuf {
        let path = Path::new(file);
        if path.is_absolute() || path.exists() {
            path.to_path_buf()
        } else {
            self.folder.join(path)
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Shard;

    /// Returns the lines, at most `most`, that `count` processes read alternately until one of them reaches the
    /// end.
    fn dealt(count: u32, recycle: bool, most: usize, text: &str) -> Vec<String> {
        let name = format!("throng-dealt-{}-{count}-{recycle}-{most}.csv", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, text).expect("writable");
        let key = Key {
            file: file.to_string_lossy().into_owned(),
            encoding: String::new(),
            quoted: None,
            skip_first: false,
            share: Share::All,
        };
        let processes: Vec<Sources> = (0..count).map(|_| Sources::default()).collect();
        let mut lines = Vec::new();
        'all: loop {
            for (index, sources) in (0..).zip(&processes) {
                let source =
                    sources.source(&key, Shard { index, count }.deal(count)).expect("readable");
                let mut line = String::new();
                if lines.len() == most || !source.next(recycle, &mut line) {
                    break 'all;
                }
                lines.push(line);
            }
        }
        let _ = std::fs::remove_file(file);
        lines
    }

    #[test]
    fn several_processes_read_each_line_once_a_round() {
        let text = "a\nb\nc\nd\ne\n";
        assert_eq!(dealt(3, false, 99, text), ["a", "b", "c", "d", "e"]);
        assert_eq!(dealt(2, true, 12, text).concat(), "abcdeabcdeab");
        assert_eq!(dealt(2, true, 12, text), dealt(1, true, 12, text));
    }
}
