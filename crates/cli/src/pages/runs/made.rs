//! Reports and comparisons that are made when somebody asks for them.
//!
//! One is made at a time, for a long run takes memory and time; a few requests wait for their turn, and further ones are
//! asked to come again. A report that is made is written into its run's folder, if that can be written to.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use answers::verdict::Language;

use super::about::{Kind, State};
use super::catalogue::Found;
use crate::questions::compare;
use crate::questions::place::{self, Reach};
use crate::{files, report};

/// Requests that wait for their turn, at most.
const WAITING: usize = 8;
/// Bytes of a report that is served, at most.
const LARGEST: u64 = 256 << 20;
/// Comparisons that are not kept as files, and their bytes, at most.
const KEPT: usize = 16;
const KEPT_BYTES: usize = 64 << 20;

/// The reason for which there is no page.
#[derive(Debug)]
pub(super) enum Refused {
    /// Too many ask at once.
    Busy,
    /// A sentence for the user.
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
    /// Comparisons for a look, the oldest first: their addresses and pages.
    pages: Mutex<VecDeque<(String, Arc<[u8]>)>>,
}

/// The turn of a request; no other works meanwhile.
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

    /// Waits until nobody else works.
    pub(super) fn turn(&self) -> Result<Turn<'_>, Refused> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Refused::Busy);
        }
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Turn { maker: self, _work: work })
    }

    /// The report of an entry, made if there is none; of a run that goes on as of now.
    pub(super) fn report(&self, entry: &Found) -> Result<Arc<[u8]>, Refused> {
        let file = entry.path.join(report::file::FILE);
        let is_over = entry.state != State::Running;
        let there = || files::read(&file, LARGEST).filter(|_| is_over);
        if let Some(html) = there() {
            return Ok(html.into());
        }
        let _turn = self.turn()?;
        // Somebody else may have asked for it before.
        if let Some(html) = there() {
            return Ok(html.into());
        }
        files::plain(&entry.path)?;
        let html = report::below(&self.root, &entry.path, self.language)?;
        if is_over {
            // Where nothing can be written, the page is as good.
            let _ = report::file::write(&file, &html);
        }
        Ok(html.into_bytes().into())
    }

    /// Compares two entries. `Ok(Ok(address))`: of a page for a look; `Ok(Err(folder))`: of one that is kept.
    pub(super) fn compare(
        &self,
        a: &Found,
        b: &Found,
        keep: bool,
    ) -> Result<Result<String, String>, Refused> {
        if a.id == b.id {
            return Err(Refused::Words("a run is compared with another one".into()));
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

    /// Writes a comparison into a folder of its own, as `throng compare` does; the folder's name.
    fn keep(&self, a: &Path, json: &str, html: &str) -> Result<String, String> {
        let folder = place::create(&self.root, "compare", a)?;
        place::write_text(&folder, compare::FILE, json)?;
        let file = folder.join(report::file::FILE);
        report::file::write(&file, html)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        Ok(folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// The comparison at that address.
    pub(super) fn comparison(&self, address: &str) -> Option<Arc<[u8]>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.iter().find(|page| page.0 == address).map(|page| Arc::clone(&page.1))
    }
}
