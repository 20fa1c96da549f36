//! Result rows on their way to files: rendered on the core into chunks, written by one thread.
//!
//! A chunk that is full, or a second old, goes to the writer and comes back empty. A slow disk lets chunks pile up
//! to a bound; beyond it rows are dropped, counted and reported: a core never waits for a disk.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use plan::element::Shard;
use stats::jtl::{Columns, Row};

/// Bytes at which a chunk is handed over.
const CHUNK: usize = 64 * 1024;
/// Chunks that may be under way at once, all cores together: 64 MiB.
const UNDER_WAY: usize = 1024;

/// One result file.
#[derive(Clone, Debug)]
pub struct ResultFile {
    /// Where.
    pub path: PathBuf,
    /// Which columns, and how they are written.
    pub columns: Columns,
    /// Only failed samples.
    pub errors_only: bool,
    /// Only passed samples.
    pub successes_only: bool,
}

/// A core's end of the result files.
#[derive(Debug)]
pub(crate) struct Rows {
    sinks: Vec<Sink>,
    /// Sinks that get every sample.
    roots: Vec<usize>,
    /// The sink of each listener of the plan.
    listeners: Vec<usize>,
    to_writer: Sender<(usize, Vec<u8>)>,
    under_way: Arc<AtomicUsize>,
    back: Receiver<Vec<u8>>,
    dropped: u64,
    pub(crate) variables: Arc<[String]>,
}

#[derive(Debug)]
struct Sink {
    columns: Columns,
    errors_only: bool,
    successes_only: bool,
    file: usize,
    chunk: Vec<u8>,
}

impl Rows {
    /// Whether there is no result file at all.
    pub(crate) fn is_idle(&self) -> bool {
        self.sinks.is_empty()
    }

    /// The sinks for a sample that the given listeners of the plan take.
    pub(crate) fn sinks_for<'a>(
        &'a self,
        listeners: &'a [plan::plan::ListenerId],
    ) -> impl Iterator<Item = usize> + use<'a> {
        self.roots
            .iter()
            .copied()
            .chain(listeners.iter().filter_map(|id| self.listeners.get(id.0 as usize).copied()))
    }

    /// Whether a sink takes samples of that success.
    pub(crate) fn takes(&self, sink: usize, success: bool) -> bool {
        let sink = &self.sinks[sink];
        !(sink.errors_only && success || sink.successes_only && !success)
    }

    /// Which file a sink writes to.
    pub(crate) fn file(&self, sink: usize) -> usize {
        self.sinks[sink].file
    }

    /// Whether sub-results are written.
    pub(crate) fn with_subresults(&self, sink: usize) -> bool {
        self.sinks[sink].columns.subresults
    }

    /// Adds a row.
    pub(crate) fn write(&mut self, sink: usize, row: &Row<'_>) {
        let sink = &mut self.sinks[sink];
        sink.columns.row(row, &mut sink.chunk);
        if sink.chunk.len() >= CHUNK {
            Self::hand_over(sink, &self.to_writer, &self.under_way, &self.back, &mut self.dropped);
        }
    }

    /// Hands everything over.
    pub(crate) fn flush(&mut self) {
        for sink in &mut self.sinks {
            if !sink.chunk.is_empty() {
                Self::hand_over(
                    sink,
                    &self.to_writer,
                    &self.under_way,
                    &self.back,
                    &mut self.dropped,
                );
            }
        }
    }

    fn hand_over(
        sink: &mut Sink,
        to_writer: &Sender<(usize, Vec<u8>)>,
        under_way: &AtomicUsize,
        back: &Receiver<Vec<u8>>,
        dropped: &mut u64,
    ) {
        if under_way.load(Ordering::Relaxed) >= UNDER_WAY {
            *dropped += memchr::memchr_iter(b'\n', &sink.chunk).count() as u64;
            sink.chunk.clear();
            return;
        }
        let empty = back.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK + 4096));
        let full = std::mem::replace(&mut sink.chunk, empty);
        under_way.fetch_add(1, Ordering::Relaxed);
        let _ = to_writer.send((sink.file, full));
    }

    /// Rows dropped since the last call.
    pub(crate) fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }
}

/// The writer thread and what cores need to reach it.
#[allow(clippy::struct_field_names)] // `to_writer` says where the chunks go.
#[derive(Debug)]
pub(crate) struct Writer {
    sinks: Vec<(ResultFile, usize)>,
    roots: usize,
    to_writer: Sender<(usize, Vec<u8>)>,
    under_way: Arc<AtomicUsize>,
    backs: Vec<Sender<Vec<u8>>>,
    jobs: Option<Receiver<(usize, Vec<u8>)>>,
    files: Vec<(PathBuf, File)>,
    /// Whether no other process writes to the files.
    alone: bool,
    variables: Arc<[String]>,
}

impl Writer {
    /// Opens the files. The only process of a run writes headers into new ones; where there are several, whoever
    /// started them has done so by [`create`]. `roots` get every sample; `listeners` are those of the plan.
    pub(crate) fn open(
        roots: &[ResultFile],
        listeners: &[ResultFile],
        variables: &[String],
        shard: Shard,
    ) -> io::Result<Self> {
        let (to_writer, jobs) = channel();
        let mut files: Vec<(PathBuf, File)> = Vec::new();
        let mut by_path: HashMap<PathBuf, usize> = HashMap::new();
        let mut sinks = Vec::new();
        let names: Vec<&str> = variables.iter().map(String::as_str).collect();
        for result in roots.iter().chain(listeners) {
            let file = match by_path.get(&result.path) {
                Some(file) => *file,
                None => {
                    files.push((
                        result.path.clone(),
                        open(&result.path, &result.columns, &names, shard.count == 1)?,
                    ));
                    by_path.insert(result.path.clone(), files.len() - 1);
                    files.len() - 1
                }
            };
            sinks.push((result.clone(), file));
        }
        Ok(Self {
            sinks,
            roots: roots.len(),
            to_writer,
            under_way: Arc::default(),
            backs: Vec::new(),
            jobs: Some(jobs),
            files,
            alone: shard.count == 1,
            variables: variables.into(),
        })
    }

    /// A core's end.
    pub(crate) fn rows(&mut self) -> Rows {
        let (back_sender, back) = channel();
        self.backs.push(back_sender);
        let sinks = self.sinks.iter().map(|(result, file)| Sink {
            columns: result.columns.clone(),
            errors_only: result.errors_only,
            successes_only: result.successes_only,
            file: *file,
            chunk: Vec::new(),
        });
        Rows {
            sinks: sinks.collect(),
            roots: (0..self.roots).collect(),
            listeners: (self.roots..self.sinks.len()).collect(),
            to_writer: self.to_writer.clone(),
            under_way: Arc::clone(&self.under_way),
            back,
            dropped: 0,
            variables: Arc::clone(&self.variables),
        }
    }

    /// Starts the thread; it ends when the last core's end is dropped. Failures to write go to `complain`, once per file.
    pub(crate) fn start(
        mut self,
        complain: impl Fn(String) + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let jobs = self.jobs.take();
        let (mut files, backs, under_way) = (self.files, self.backs, self.under_way);
        let alone = self.alone;
        drop(self.to_writer);
        std::thread::Builder::new().name("rows".into()).spawn(move || {
            let Some(jobs) = jobs else { return };
            let mut failed = vec![0u64; files.len()];
            let mut turn = 0;
            for (file, mut chunk) in jobs {
                let (path, out) = &mut files[file];
                if let Err(error) = write_whole(out, &chunk, alone) {
                    if failed[file] == 0 {
                        complain(format!(
                            "cannot write results to {}: {error}; rows are being lost",
                            path.display()
                        ));
                    }
                    failed[file] += memchr::memchr_iter(b'\n', &chunk).count() as u64;
                }
                chunk.clear();
                under_way.fetch_sub(1, Ordering::Relaxed);
                turn = (turn + 1) % backs.len().max(1);
                if let Some(back) = backs.get(turn) {
                    let _ = back.send(chunk);
                }
            }
            for ((path, _), lost) in files.iter().zip(failed) {
                if lost > 0 {
                    complain(format!("{lost} rows could not be written to {}", path.display()));
                }
            }
        })
    }
}

/// Writes all of a chunk or nothing: half a row at the end would spoil the first one after it that finds room again.
/// A file that several processes append to grows by whole chunks, for the system lets one append at a time; there what
/// got half through is left to its own line, since what stands behind it by then may be another's.
fn write_whole(out: &mut File, chunk: &[u8], alone: bool) -> io::Result<()> {
    let mut written = 0;
    while written < chunk.len() {
        match out.write(&chunk[written..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                if !alone {
                    if written > 0 {
                        let _ = out.write(b"\n");
                    }
                    return Err(error);
                }
                // What is no regular file keeps what it got.
                if let Ok(length) = out.metadata().map(|data| data.len())
                    && written > 0
                {
                    let _ = out.set_len(length.saturating_sub(written as u64));
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Makes result files with their headers, for a run of several processes.
pub(crate) fn create(files: &[ResultFile], variables: &[String]) -> io::Result<()> {
    let names: Vec<&str> = variables.iter().map(String::as_str).collect();
    files.iter().try_for_each(|file| open(&file.path, &file.columns, &names, true).map(drop))
}

fn open(path: &Path, columns: &Columns, variables: &[&str], header: bool) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if header && columns.field_names && file.metadata()?.len() == 0 {
        let mut header = Vec::new();
        columns.header(variables, &mut header);
        file.write_all(&header)?;
    }
    Ok(file)
}
