//! Reports and comparisons that are built on request.
//!
//! One page is built at a time, because a long run takes much memory and time. A few requests wait; further
//! requests are refused and asked to retry. A finished report is saved in its run's folder, if that folder is
//! writable.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use answers::verdict::Language;

use super::about::{Kind, State};
use super::catalogue::Found;
use crate::inputs::files;
use crate::pages::report;
use crate::questions::compare;
use crate::questions::place::{self, Reach};
use crate::results::file;

/// Largest number of requests that wait for a page to be built.
const WAITING: usize = 8;
/// Largest report that is served, in bytes.
const LARGEST: u64 = 256 << 20;
/// Largest number of comparisons that are held in memory only.
const KEPT: usize = 16;
/// Largest total size in bytes of the comparisons that are held in memory only.
const KEPT_BYTES: usize = 64 << 20;

/// Reason for refusing a request for a page.
#[derive(Debug)]
pub(super) enum Refused {
    /// Too many requests are waiting for pages to be built.
    Busy,
    /// The page cannot be built. Contains a message for the user.
    Words(String),
}

impl From<String> for Refused {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

pub(super) struct Maker {
    root: PathBuf,
    language: Language,
    work: Mutex<()>,
    waiting: AtomicUsize,
    /// Comparisons that are held in memory only, with address and page, oldest first.
    pages: Mutex<VecDeque<(String, Arc<[u8]>)>>,
}

/// Exclusive permission to build a page or delete entries.
pub(super) struct Turn<'a> {
    maker: &'a Maker,
    _work: MutexGuard<'a, ()>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.maker.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Maker {
    pub(super) fn new(root: PathBuf, language: Language) -> Self {
        Self {
            root,
            language,
            work: Mutex::default(),
            waiting: AtomicUsize::new(0),
            pages: Mutex::default(),
        }
    }

    /// Waits until no other request builds a page or deletes entries, and returns the exclusive permission to do so.
    /// Returns an error at once if too many requests wait.
    pub(super) fn turn(&self) -> Result<Turn<'_>, Refused> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Refused::Busy);
        }
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Turn { maker: self, _work: work })
    }

    /// Returns the report of an entry and builds it if there is none. The report of a running test shows its current
    /// state.
    pub(super) fn report(&self, entry: &Found) -> Result<Arc<[u8]>, Refused> {
        let file = entry.path.join(file::FILE);
        let is_over = entry.state != State::Running;
        let there = || files::read(&file, LARGEST).filter(|_| is_over);
        if let Some(html) = there() {
            return Ok(html.into());
        }
        let _turn = self.turn()?;
        // Another request may have built the report while this one waited.
        if let Some(html) = there() {
            return Ok(html.into());
        }
        files::plain(&entry.path)?;
        let html = report::below(&self.root, &entry.path, self.language)?;
        if is_over {
            // If the folder is not writable, the report is served without being saved.
            let _ = file::write(&file, &html);
        }
        Ok(html.into_bytes().into())
    }

    /// Compares two entries. Returns `Ok(Ok(address))` for a page in memory, and `Ok(Err(folder))` for a saved
    /// comparison.
    pub(super) fn compare(
        &self,
        a: &Found,
        b: &Found,
        keep: bool,
    ) -> Result<Result<String, String>, Refused> {
        if a.id == b.id {
            return Err(Refused::Words(
                "a run cannot be compared with itself; choose another run".into(),
            ));
        }
        let are = |kind| a.kind == kind && b.kind == kind;
        if !are(Kind::Run) && !are(Kind::Sweep) {
            return Err(Refused::Words("two runs can be compared, or two sweeps".into()));
        }
        let _turn = self.turn()?;
        files::plain(&a.path)?;
        files::plain(&b.path)?;
        let (json, page) = compare::of_folders(&a.path, &b.path, Reach::Below(&self.root))?;
        let html = ::report::comparison(&page, self.language);
        if keep {
            return Ok(Err(self.keep(&a.path, &json, &html)?));
        }
        let secret = web::random().map_err(|error| error.to_string())?;
        let address = format!("/report/{secret}");
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.push_back((address.clone(), html.into_bytes().into()));
        let bytes = |pages: &VecDeque<(String, Arc<[u8]>)>| {
            pages.iter().map(|page| page.1.len()).sum::<usize>()
        };
        while pages.len() > KEPT || bytes(&pages) > KEPT_BYTES && pages.len() > 1 {
            pages.pop_front();
        }
        Ok(Ok(address))
    }

    /// Saves a comparison in a new folder, as `throng compare` does. Returns the folder's name.
    fn keep(&self, a: &Path, json: &str, html: &str) -> Result<String, String> {
        let folder = place::create(&self.root, "compare", a)?;
        place::write_text(&folder, compare::FILE, json)?;
        let file = folder.join(file::FILE);
        file::write(&file, html)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        Ok(folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Returns the comparison with this address.
    pub(super) fn comparison(&self, address: &str) -> Option<Arc<[u8]>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.iter().find(|page| page.0 == address).map(|page| Arc::clone(&page.1))
    }
}
