//! Result rows: each core renders rows into chunks, and one thread writes the chunks to files.
//!
//! A chunk is handed to the writer when it is full or a second old, and is returned empty. On a slow disk, chunks
//! accumulate up to a limit. Beyond the limit rows are dropped, counted and reported, because a core never waits
//! for a disk. The writer's side of a file is in `output`.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use stats::jtl::Columns;

use crate::reports::line::Line;
use crate::results::backlog::Backlog;
use crate::results::output::{self, Failed, Made, Output};

/// Size in bytes from which a chunk is handed to the writer.
const CHUNK: usize = 64 * 1024;
/// Maximum number of chunks of all cores that may wait for the writer: 64 MiB.
const IN_FLIGHT: usize = 1024;
/// Maximum number of empty chunks kept for a core; others are freed.
const SPARE: usize = 4;

/// A result file and its settings.
#[derive(Clone, Debug)]
pub struct ResultFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The columns, and their format.
    pub columns: Columns,
    /// True if only failed samples are written.
    pub errors_only: bool,
    /// True if only passed samples are written.
    pub successes_only: bool,
}

/// A core's access to the result files.
#[derive(Debug)]
pub(crate) struct Rows {
    sinks: Vec<Sink>,
    /// Indices of the files that receive every sample (sinks of the whole run).
    roots: Vec<usize>,
    /// For each listener of the plan: index of its sink, if it writes a file.
    listeners: Vec<Option<usize>>,
    to_writer: Sender<Job>,
    backlog: Arc<Backlog>,
    back: Receiver<Vec<u8>>,
    /// Index of the writer's channel that returns chunks to this core.
    core: usize,
    dropped: u64,
    /// True if a file contains the bodies of sub-results.
    bodies: bool,
    /// True if a listener saves responses.
    saves: bool,
    pub(crate) variables: Arc<[String]>,
}

#[derive(Debug)]
struct Sink {
    columns: Arc<Columns>,
    errors_only: bool,
    successes_only: bool,
    file: usize,
    chunk: Vec<u8>,
    /// Number of samples in the chunk.
    samples: u64,
}

/// A chunk or a file that a core hands to the writer.
#[derive(Debug)]
enum Job {
    /// A part of a result file, with the number of the core that sends it.
    Chunk { core: usize, file: usize, rows: u64, bytes: Vec<u8> },
    /// The content of a separate file, such as a saved response.
    Response { path: PathBuf, bytes: Vec<u8> },
    /// A file that may not be written, with the reason.
    Refused(String),
}

impl Rows {
    /// Returns true if neither result files nor saved responses are written.
    pub(crate) fn is_idle(&self) -> bool {
        self.sinks.is_empty() && !self.saves
    }

    /// Returns the index of the sink of a listener, if the listener writes a file.
    pub(crate) fn of(&self, listener: plan::plan::ListenerId) -> Option<usize> {
        *self.listeners.get(listener.0 as usize)?
    }

    /// Returns the indices of the sinks that receive every sample.
    pub(crate) fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// Hands a response over to the writer, which saves it in a separate file.
    pub(crate) fn save(&mut self, path: PathBuf, bytes: Vec<u8>) {
        if self.backlog.chunks() >= IN_FLIGHT {
            self.dropped += 1;
            return;
        }
        self.backlog.add(1);
        let _ = self.to_writer.send(Job::Response { path, bytes });
    }

    /// Makes the writer count a response that must not be saved as a file. Only the first reason is reported.
    pub(crate) fn refuse(&mut self, why: String) {
        let _ = self.to_writer.send(Job::Refused(why));
    }

    /// Returns true if bodies of sub-results are written.
    pub(crate) fn with_bodies(&self) -> bool {
        self.bodies
    }

    /// Returns true if a sink accepts samples with this success status.
    pub(crate) fn takes(&self, sink: usize, success: bool) -> bool {
        let sink = &self.sinks[sink];
        let all = !sink.errors_only && !sink.successes_only;
        all || if success { sink.successes_only } else { sink.errors_only }
    }

    /// Returns the index of the file that a sink writes to.
    pub(crate) fn file(&self, sink: usize) -> usize {
        self.sinks[sink].file
    }

    /// Returns the columns of a sink and their format.
    pub(crate) fn columns(&self, sink: usize) -> Arc<Columns> {
        Arc::clone(&self.sinks[sink].columns)
    }

    /// Adds a sample: `write` appends it to the chunk.
    pub(crate) fn add(&mut self, at: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let sink = &mut self.sinks[at];
        write(&mut sink.chunk);
        sink.samples += 1;
        if sink.chunk.len() >= CHUNK {
            self.hand_over(at);
        }
    }

    /// Hands all collected rows over to the writer.
    pub(crate) fn flush(&mut self) {
        for at in 0..self.sinks.len() {
            if !self.sinks[at].chunk.is_empty() {
                self.hand_over(at);
            }
        }
    }

    fn hand_over(&mut self, at: usize) {
        let sink = &mut self.sinks[at];
        let samples = std::mem::take(&mut sink.samples);
        if self.backlog.chunks() >= IN_FLIGHT {
            self.dropped += samples;
            sink.chunk.clear();
            return;
        }
        let empty = self.back.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK + 4096));
        let bytes = std::mem::replace(&mut sink.chunk, empty);
        self.backlog.add(samples);
        let (core, file) = (self.core, sink.file);
        let _ = self.to_writer.send(Job::Chunk { core, file, rows: samples, bytes });
    }

    /// Returns the number of rows dropped since the last call.
    pub(crate) fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }
}

/// A writer thread that has not started yet, with the channels through which cores reach it.
#[allow(clippy::struct_field_names)] // The name `to_writer` describes where the chunks go.
#[derive(Debug)]
pub(crate) struct Writer {
    sinks: Vec<(ResultFile, usize)>,
    roots: usize,
    listeners: Vec<Option<usize>>,
    /// True if a listener saves responses.
    saves: bool,
    to_writer: Sender<Job>,
    backlog: Arc<Backlog>,
    /// Channels that return empty chunks to the cores.
    backs: Vec<SyncSender<Vec<u8>>>,
    jobs: Option<Receiver<Job>>,
    files: Vec<Output>,
    variables: Arc<[String]>,
}

impl Writer {
    /// Opens the files. For a run in one process, this writes headers into new files; for several processes, their
    /// coordinator has already written them with [`create`]. `roots` receive every sample; `listeners` are the
    /// plan's listeners.
    pub(crate) fn open(
        roots: &[ResultFile],
        listeners: &[Option<ResultFile>],
        variables: &[String],
        saves: bool,
        is_share: bool,
    ) -> io::Result<Self> {
        let (to_writer, jobs) = channel();
        let mut files = Vec::new();
        let mut by_path: HashMap<PathBuf, usize> = HashMap::new();
        let mut sinks = Vec::new();
        let mut of_listeners = Vec::new();
        let names: Vec<&str> = variables.iter().map(String::as_str).collect();
        for result in roots.iter().map(Some).chain(listeners.iter().map(Option::as_ref)) {
            of_listeners.push(result.is_some().then_some(sinks.len()));
            let Some(result) = result else { continue };
            let key = output::key(&result.path);
            let file = match by_path.get(&key) {
                Some(file) => *file,
                None => {
                    files.push(if is_share {
                        Output::shared(&result.path, &result.columns)?
                    } else {
                        Output::open_exclusive(&result.path, &result.columns, &names)?
                    });
                    by_path.insert(key, files.len() - 1);
                    files.len() - 1
                }
            };
            sinks.push((result.clone(), file));
        }
        Ok(Self {
            sinks,
            roots: roots.len(),
            listeners: of_listeners.split_off(roots.len()),
            saves,
            to_writer,
            backlog: Arc::default(),
            backs: Vec::new(),
            jobs: Some(jobs),
            files,
            variables: variables.into(),
        })
    }

    /// Returns the backlog of the writer thread.
    pub(crate) fn backlog(&self) -> Arc<Backlog> {
        Arc::clone(&self.backlog)
    }

    /// Returns a core's access to the files.
    pub(crate) fn rows(&mut self) -> Rows {
        let (back_sender, back) = sync_channel(SPARE);
        let core = self.backs.len();
        self.backs.push(back_sender);
        let sinks = self.sinks.iter().map(|(result, file)| Sink {
            columns: Arc::new(result.columns.clone()),
            errors_only: result.errors_only,
            successes_only: result.successes_only,
            file: *file,
            chunk: Vec::new(),
            samples: 0,
        });
        let with_bodies = |columns: &Columns| {
            columns.xml && (columns.response_data || columns.response_data_on_error)
        };
        Rows {
            bodies: self.saves || self.sinks.iter().any(|(result, _)| with_bodies(&result.columns)),
            sinks: sinks.collect(),
            roots: (0..self.roots).collect(),
            listeners: self.listeners.clone(),
            to_writer: self.to_writer.clone(),
            backlog: Arc::clone(&self.backlog),
            back,
            core,
            dropped: 0,
            saves: self.saves,
            // A separate copy per core, because cores change its reference count with every sample.
            variables: self.variables.iter().cloned().collect(),
        }
    }

    /// Starts the thread, which ends when the last core drops its access. The first write failure of each file is
    /// reported to `complain` at once, the amount of lost data at the end of the run.
    pub(crate) fn start(
        mut self,
        complain: impl Fn(Line) + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let jobs = self.jobs.take();
        let (mut files, backs, backlog) = (self.files, self.backs, self.backlog);
        drop(self.to_writer);
        std::thread::Builder::new().name("rows".into()).spawn(move || {
            let Some(jobs) = jobs else { return };
            let mut failed: Vec<Loss> = files.iter().map(|_| Loss::default()).collect();
            let (mut unsaved, mut refused) = (Loss::default(), 0u64);
            for job in jobs {
                let (core, file, rows, mut bytes) = match job {
                    Job::Chunk { core, file, rows, bytes } => (core, file, rows, bytes),
                    Job::Refused(why) => {
                        if refused == 0 {
                            complain(why.into());
                        }
                        refused += 1;
                        continue;
                    }
                    Job::Response { path, bytes } => {
                        if let Err(error) = backlog.write(1, || output::save(&path, &bytes)) {
                            let path = path.display();
                            let words = || format!("cannot save a response to {path}: {error}");
                            if unsaved.is_first(1, &error) {
                                complain(words().into());
                            }
                        }
                        continue;
                    }
                };
                let out = &mut files[file];
                if let Err(Failed { error, lost }) = backlog.write(rows, || out.write(&bytes))
                    && failed[file].is_first(lost, &error)
                {
                    let path = out.path().display();
                    complain(
                        format!("cannot write results to {path}: {error}; rows are being lost")
                            .into(),
                    );
                }
                bytes.clear();
                // If the core has enough empty chunks, or one huge row has enlarged this chunk, the chunk is
                // freed to save memory.
                if let Some(back) = backs.get(core).filter(|_| bytes.capacity() <= 2 * CHUNK) {
                    let _ = back.try_send(bytes);
                }
            }
            if unsaved.lost > 0 {
                let what = format!("responses could not be saved: {}", unsaved.why);
                complain(Line::Lost { count: unsaved.lost, what });
            }
            if refused > 0 {
                let what = "responses were not saved: their file names lead out of their folders";
                complain(Line::Lost { count: refused, what: what.to_owned() });
            }
            for (mut out, mut loss) in files.into_iter().zip(failed) {
                let ended = loss.ended(out.end());
                loss.report(out.path(), ended, &complain);
            }
        })
    }
}

/// Data that could not be written to a file.
#[derive(Debug, Default)]
struct Loss {
    /// Number of lost rows or separate files.
    lost: u64,
    /// The reason of the first failure.
    why: String,
}

impl Loss {
    /// Counts lost rows. Returns true if this is the first failure.
    fn is_first(&mut self, lost: u64, error: &io::Error) -> bool {
        self.lost += lost;
        let first = self.why.is_empty();
        if first {
            self.why = error.to_string();
        }
        first
    }

    /// Adds the rows that were lost when the file was ended. Returns false if the end tag is missing.
    fn ended(&mut self, end: Result<u64, Failed>) -> bool {
        match end {
            Ok(lost) => {
                self.lost += lost;
                true
            }
            Err(Failed { error, lost }) => {
                self.is_first(lost, &error);
                false
            }
        }
    }

    /// Reports the rows that a file lost. `ended` is false if the file's end tag could not be written.
    fn report(&self, path: &Path, ended: bool, complain: &impl Fn(Line)) {
        let path = path.display();
        let why = if self.why.is_empty() { "the disk is full" } else { &self.why };
        if self.lost > 0 {
            let what = format!("rows could not be written to {path}: {why}");
            complain(Line::Lost { count: self.lost, what });
        }
        if !ended {
            complain(Line::Lost { count: 0, what: format!("the end tag of {path}: {why}") });
        }
    }
}

/// Creates result files with their headers, for a run of several processes.
pub(crate) fn create(files: &[ResultFile], variables: &[String]) -> io::Result<Vec<Made>> {
    let names: Vec<&str> = variables.iter().map(String::as_str).collect();
    let mut seen = Vec::new();
    let mut made = Vec::new();
    for file in files {
        let key = output::key(&file.path);
        if !seen.contains(&key) {
            made.push(output::create(&file.path, &file.columns, &names)?.1);
            seen.push(key);
        }
    }
    Ok(made)
}

/// Ends the result files of a run of several processes. Returns messages about data that was lost at the end.
pub(crate) fn close(files: Vec<Made>) -> Vec<Line> {
    let lost = std::cell::RefCell::new(Vec::new());
    for file in files {
        let path = file.path().to_owned();
        let mut loss = Loss::default();
        let ended = loss.ended(file.close());
        loss.report(&path, ended, &|words| lost.borrow_mut().push(words));
    }
    lost.into_inner()
}
