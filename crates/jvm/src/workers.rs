//! Threads that run jobs: one fewer than processors at first, more while they are blocked and jobs wait, and fewer again.
//!
//! Handing a job over takes no lock that is ever held for long: it goes into a queue, and one thread that only looks after the others ([`crate::tend`]) is
//! told when nobody was idle. A job is always finished, with its reply or with words about why there is none.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use engine::offload::{Job, Offload};

use crate::carrier::Carrier;
use crate::tend::{self, Notice};

/// A worker that has had nothing to do for so long ends, unless it is one of the first; and so does one when for so long not even half of them were needed.
const REST: Duration = Duration::from_secs(30);

/// How much less than a core's claim to a processor is a worker's, and that of the threads that Java starts, as a nice value: a tenth.
pub(crate) const NICE: i32 = 10;

/// Something to carry.
#[derive(Debug)]
struct Task {
    message: Vec<u8>,
    user: u64,
    done: Done,
}

/// Who waits for a reply.
#[derive(Debug)]
enum Done {
    Call(Sender<Result<Vec<u8>, String>>),
    Job(Job),
}

impl Task {
    fn finish(self, reply: Result<Vec<u8>, String>) {
        match self.done {
            // Whoever asked may have gone.
            Done::Call(to) => drop(to.send(reply)),
            Done::Job(job) => job.finish(reply),
        }
    }
}

/// The threads, as the engine sees them.
#[derive(Debug)]
pub struct Workers {
    queue: Sender<Task>,
    shared: Arc<Shared>,
}

/// What workers and the one who tends them see.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) carrier: Box<dyn Carrier>,
    tasks: Receiver<Task>,
    notices: Sender<Notice>,
    /// Threads at first and at least: one processor is left to the cores.
    pub(crate) least: usize,
    /// Threads that can compute at once.
    pub(crate) processors: usize,
    /// Threads at most.
    pub(crate) most: usize,
    stack: usize,
    pub(crate) threads: AtomicUsize,
    /// Threads that wait for a task.
    pub(crate) idle: AtomicUsize,
    /// Tasks done so far.
    pub(crate) done: AtomicU64,
    /// Threads that are to end when they have done their task.
    pub(crate) surplus: AtomicUsize,
    /// When more than half of the threads were needed, milliseconds after the beginning.
    needed: AtomicU64,
    began: Instant,
    /// A busy notice is under way.
    pub(crate) told: AtomicBool,
    numbers: AtomicU64,
    pub(crate) running: Mutex<HashMap<u64, Running>>,
    /// Users whose jobs are not to be begun any more.
    cut: Mutex<HashSet<u64>>,
    any_cut: AtomicBool,
    complaints: Mutex<Vec<String>>,
}

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    /// The thread's number in the system.
    pub(crate) thread: i32,
    /// Which of all tasks it runs.
    pub(crate) task: u64,
    pub(crate) user: u64,
}

impl Workers {
    /// Starts the first threads.
    pub(crate) fn start(
        carrier: Box<dyn Carrier>,
        most: usize,
        stack: usize,
    ) -> Result<Arc<Self>, String> {
        let (queue, tasks) = unbounded();
        let (notices, noticed) = unbounded();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            carrier,
            tasks,
            notices,
            least: (processors - 1).clamp(1, most),
            processors,
            most,
            stack,
            threads: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            surplus: AtomicUsize::new(0),
            needed: AtomicU64::new(0),
            began: Instant::now(),
            told: AtomicBool::new(false),
            numbers: AtomicU64::new(0),
            running: Mutex::default(),
            cut: Mutex::default(),
            any_cut: AtomicBool::new(false),
            complaints: Mutex::default(),
        });
        for _ in 0..shared.least {
            shared.add_thread().map_err(|error| format!("cannot start a thread: {error}"))?;
        }
        tend::start(Arc::clone(&shared), noticed)
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Arc::new(Self { queue, shared }))
    }

    /// Threads that there are.
    pub fn threads(&self) -> usize {
        self.shared.threads.load(Relaxed)
    }

    fn give(&self, task: Task) {
        if let Err(error) = self.queue.send(task) {
            error.into_inner().finish(Err("there are no threads that run Java any more".into()));
            return;
        }
        self.shared.notice_busy();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let _ = self.shared.notices.send(Notice::End);
    }
}

impl Offload for Workers {
    fn submit(&self, mut job: Job) {
        let message = std::mem::take(&mut job.message);
        self.give(Task { message, user: job.user, done: Done::Job(job) });
    }

    fn call(&self, message: Vec<u8>) -> Result<Vec<u8>, String> {
        let (to, reply) = bounded(1);
        self.give(Task { message, user: 0, done: Done::Call(to) });
        reply.recv().unwrap_or_else(|_| Err("there is no reply from Java".into()))
    }

    fn interrupt(&self, user: u64) {
        lock(&self.shared.cut).insert(user);
        self.shared.any_cut.store(true, Relaxed);
        let _ = self.shared.notices.send(Notice::Interrupt(user, false));
    }

    fn interrupt_sample(&self, user: u64) {
        let _ = self.shared.notices.send(Notice::Interrupt(user, true));
    }

    fn complaint(&self) -> Option<String> {
        let mut complaints = lock(&self.shared.complaints);
        (!complaints.is_empty()).then(|| complaints.remove(0))
    }
}

impl Shared {
    /// Tasks that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.tasks.len()
    }

    /// Has somebody look, where tasks wait and nobody is idle. Whoever hands a task over asks for it, and whoever takes one: an idle thread that was
    /// counted on by both may just have taken another.
    fn notice_busy(&self) {
        if self.idle.load(SeqCst) == 0 && !self.tasks.is_empty() && !self.told.swap(true, SeqCst) {
            let _ = self.notices.send(Notice::Busy);
        }
    }

    pub(crate) fn complain(&self, words: String) {
        lock(&self.complaints).push(words);
    }

    /// Starts one more worker.
    pub(crate) fn add_thread(self: &Arc<Self>) -> std::io::Result<()> {
        let number = self.numbers.fetch_add(1, Relaxed) + 1;
        let name = format!("java worker {number}");
        let shared = Arc::clone(self);
        self.threads.fetch_add(1, Relaxed);
        let started = std::thread::Builder::new()
            .name(name.clone())
            .stack_size(self.stack)
            .spawn(move || shared.work(number, &name));
        if started.is_err() {
            self.threads.fetch_sub(1, Relaxed);
        }
        started.map(drop)
    }

    /// A worker's life.
    fn work(self: &Arc<Self>, number: u64, name: &str) {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        step_back();
        let mut tasks = 0;
        let served = self.carrier.serve(name, &mut |carry| {
            while let Some(task) = self.next_task() {
                self.notice_busy();
                if self.is_cut(task.user) {
                    task.finish(Err("the run has ended".into()));
                    continue;
                }
                tasks += 1;
                lock(&self.running)
                    .insert(number, Running { thread, user: task.user, task: tasks });
                let reply = carry(&task.message);
                lock(&self.running).remove(&number);
                self.done.fetch_add(1, Relaxed);
                task.finish(reply);
            }
        });
        let Err(words) = served else { return };
        self.complain(words.clone());
        if self.threads.fetch_sub(1, Relaxed) == 1 {
            // Nobody else is there, and those who wait must hear of it.
            for task in &self.tasks {
                task.finish(Err(words.clone()));
            }
        }
    }

    /// The next task; `None` when there are none for long, or never again. The thread is then no longer counted.
    fn next_task(&self) -> Option<Task> {
        if self.surplus.load(Relaxed) > 0 && self.surplus.swap(0, Relaxed) > 0 && self.leaves() {
            return None;
        }
        if let Ok(task) = self.tasks.try_recv() {
            return Some(task);
        }
        let idle = self.idle.fetch_add(1, SeqCst) + 1;
        if self.are_too_many(idle) && self.leaves() {
            self.idle.fetch_sub(1, SeqCst);
            return None;
        }
        let task = loop {
            match self.tasks.recv_timeout(REST) {
                Ok(task) => break Some(task),
                Err(error) if error.is_disconnected() => {
                    self.threads.fetch_sub(1, Relaxed);
                    break None;
                }
                Err(_) if self.leaves() => break None,
                Err(_) => {}
            }
        };
        self.idle.fetch_sub(1, SeqCst);
        task
    }

    /// Takes this thread out of the count, unless it is one of the first.
    fn leaves(&self) -> bool {
        let one_less = |threads: usize| (threads > self.least).then(|| threads - 1);
        self.threads.fetch_update(Relaxed, Relaxed, one_less).is_ok()
    }

    /// Whether at most half of the threads had something to do each time one of them had nothing, for long. They take turns, so that none of them rests that long.
    fn are_too_many(&self, idle: usize) -> bool {
        let now = self.began.elapsed().as_millis() as u64;
        if idle * 2 <= self.threads.load(Relaxed) {
            self.needed.store(now, Relaxed);
            return false;
        }
        now.saturating_sub(self.needed.load(Relaxed)) > REST.as_millis() as u64
    }

    fn is_cut(&self, user: u64) -> bool {
        self.any_cut.load(Relaxed) && lock(&self.cut).contains(&user)
    }
}

/// Has this thread, and those it will start, come behind the cores where they want the same processor.
pub(crate) fn step_back() {
    // Where it is not allowed, all are equal.
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// What a lock guards is consistent even after a panic elsewhere.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
