//! Threads that run jobs in Java: at first one fewer than processors, more while threads are blocked and jobs are
//! queued, then fewer again.
//!
//! Submitting a job takes no lock: the job goes into a queue, and one parked worker is woken ([`crate::parked`]),
//! unless a worker is already looking for work. A worker reads the queue before it parks, so it finds the job that
//! follows its own reply without being woken. A worker that finds a job wakes another worker if more jobs are queued.
//! If no worker is parked, the pool supervisor ([`crate::supervisor`]) gets a notice. While jobs are short and follow
//! each other, a core is woken once for several replies ([`crate::wake_batch`]). Every job is finished, with its reply
//! or with an error message.

use std::collections::HashSet;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use engine::message::{Kind, Memory, Status};
use engine::offload::{Job, Offload};

use crate::carrier::Carrier;
use crate::parked::{Call, Slots};
use crate::supervisor::{self, Notice};
use crate::wake_batch::WakeBatch;

/// Nice value of workers: on a shared processor they get a tenth of the time of a core.
const NICE: i32 = 10;

/// Reason that is reported if a script has ended the JVM, and thereby the run.
pub const EXITS: &str = "a script ended the process (System.exit)";

/// Time limit for Java to exit at the end of this process. Telemetry clients need some seconds to send their remaining
/// data.
const EXIT: Duration = Duration::from_secs(15);

/// Number of slots in addition to the maximum number of threads: an ending worker keeps its slot for a moment after it
/// is no longer counted.
const SPARE_SLOTS: u32 = 64;

/// A message for Java, with the receiver of the reply.
#[derive(Debug)]
struct Task {
    message: Vec<u8>,
    user: u64,
    done: Done,
}

/// The receiver of the reply to a task.
#[derive(Debug)]
enum Done {
    Call(Sender<Result<Vec<u8>, String>>),
    Job(Job),
}

impl Task {
    fn finish(self, reply: Result<Vec<u8>, String>) {
        match self.done {
            // The thread that waits for the reply may have ended.
            Done::Call(to) => drop(to.send(reply)),
            Done::Job(job) => job.finish(reply),
        }
    }

    /// Delivers the reply to the task's receiver. `goes_on` is true if the worker continues with another task.
    fn deliver(self, reply: Result<Vec<u8>, String>, batch: &mut WakeBatch, goes_on: bool) {
        match self.done {
            Done::Call(_) => self.finish(reply),
            Done::Job(job) => batch.deliver(job, reply, goes_on),
        }
    }
}

/// The pool of threads that run jobs in Java, as the engine uses it.
#[derive(Debug)]
pub struct Workers {
    queue: Sender<Task>,
    shared: Arc<Shared>,
}

/// State shared by the worker threads and their supervisor.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) carrier: Box<dyn Carrier>,
    tasks: Receiver<Task>,
    notices: Sender<Notice>,
    /// Minimum and initial number of threads: one fewer than processors, because the cores need one.
    pub(crate) least: usize,
    /// Number of workers that can compute at the same time.
    pub(crate) processors: usize,
    /// Maximum number of worker threads.
    pub(crate) most: usize,
    stack: usize,
    pub(crate) threads: AtomicUsize,
    pub(crate) slots: Slots,
    /// Slots without a worker.
    free: Mutex<Vec<u32>>,
    /// Number of threads that look for a task, or that are being woken or started to look for one.
    looking: AtomicUsize,
    /// Number of tasks done since the pool's start.
    pub(crate) done: AtomicU64,
    /// Number of threads that must end after their current task.
    pub(crate) surplus: AtomicUsize,
    began: Instant,
    /// True if a busy notice was sent that the supervisor has not read yet.
    pub(crate) notified: AtomicBool,
    /// True if the pool accepts no more tasks.
    pub(crate) closed: AtomicBool,
    numbers: AtomicU64,
    /// Users whose queued jobs must not be started.
    cut: Mutex<HashSet<u64>>,
    any_cut: AtomicBool,
    complaints: Mutex<Vec<String>>,
    /// Use of the JVM's heap at the last poll.
    pub(crate) memory: Mutex<Option<Memory>>,
    /// The reason why no more jobs run; set when the JVM has ended.
    ending: OnceLock<String>,
}

impl Workers {
    /// Starts a thread that waits until a script ends the process or until Java's own process ends.
    pub(crate) fn watch_exit(&self) -> std::io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let watch = move || {
            let _ = shared.carrier.serve("java exit", &mut |_, carry| {
                let exit = carry(&[Kind::AwaitExit as u8]).map(|_| EXITS.to_owned());
                let _ = shared.ending.set(exit.unwrap_or_else(|words| words));
            });
        };
        std::thread::Builder::new().name("java exit".into()).spawn(watch).map(drop)
    }

    /// Starts the thread that polls the use of the heap.
    pub(crate) fn watch_memory(&self) -> std::io::Result<()> {
        crate::memory::watch(Arc::clone(&self.shared))
    }

    /// Starts the pool with its first threads.
    pub(crate) fn start(
        carrier: Box<dyn Carrier>,
        most: usize,
        stack: usize,
    ) -> Result<Arc<Self>, String> {
        let (queue, tasks) = unbounded();
        let (notices, noticed) = unbounded();
        let slots = u32::try_from(most).unwrap_or(u32::MAX).saturating_add(SPARE_SLOTS);
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
            slots: Slots::new(slots as usize),
            // The end of the list is used first, so low slot numbers come first.
            free: Mutex::new((0..slots).rev().collect()),
            looking: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            surplus: AtomicUsize::new(0),
            began: Instant::now(),
            notified: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            numbers: AtomicU64::new(0),
            cut: Mutex::default(),
            any_cut: AtomicBool::new(false),
            complaints: Mutex::default(),
            memory: Mutex::default(),
            ending: OnceLock::new(),
        });
        for _ in 0..shared.least {
            shared.add_thread().map_err(|error| format!("cannot start a thread: {error}"))?;
        }
        supervisor::start(Arc::clone(&shared), noticed)
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Arc::new(Self { queue, shared }))
    }

    /// Returns the current number of worker threads.
    pub fn threads(&self) -> usize {
        self.shared.threads.load(Relaxed)
    }

    /// Closes the pool: idle threads end.
    fn close(&self) {
        self.shared.closed.store(true, SeqCst);
        while self.shared.wake() {}
        let _ = self.shared.notices.send(Notice::End);
    }

    fn submit(&self, task: Task) {
        if let Err(error) = self.queue.send(task) {
            error.into_inner().finish(Err("all threads that run Java have ended".into()));
            return;
        }
        self.shared.wake_if_queued();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.close();
    }
}

impl Offload for Workers {
    fn submit(&self, mut job: Job) {
        let message = std::mem::take(&mut job.message);
        self.submit(Task { message, user: job.user, done: Done::Job(job) });
    }

    fn call(&self, message: Vec<u8>) -> Result<Vec<u8>, String> {
        let (to, reply) = bounded(1);
        self.submit(Task { message, user: 0, done: Done::Call(to) });
        reply.recv().unwrap_or_else(|_| Err("Java sent no reply".into()))
    }

    fn interrupt(&self, user: u64) {
        lock(&self.shared.cut).insert(user);
        self.shared.any_cut.store(true, Relaxed);
        let _ = self.shared.notices.send(Notice::Interrupt(user, false));
    }

    fn interrupt_sample(&self, user: u64) {
        let _ = self.shared.notices.send(Notice::Interrupt(user, true));
    }

    fn ending(&self) -> Option<String> {
        let known = || self.shared.ending.get().cloned();
        // Samples fail as soon as the child process is gone. The thread that waits for its end gets the reason at the
        // same moment.
        for _ in 0..100 {
            if known().is_some() || self.shared.carrier.ended().is_none() {
                return known();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.shared.carrier.ended()
    }

    fn linger(&self) -> Option<String> {
        if self.ending().is_some() {
            return None;
        }
        self.close();
        let mut words = String::new();
        let _ = self.shared.carrier.serve("java end", &mut |_, carry| {
            // The reply consists of a status and a string.
            let reply = carry(&[Kind::Linger as u8]).unwrap_or_default();
            if let Some((status, reply)) = reply.split_first()
                && *status == Status::Well as u8
            {
                words = String::from_utf8_lossy(reply).into_owned();
            }
        });
        (!words.is_empty()).then_some(words)
    }

    fn leave(&self, code: u8) {
        self.close();
        let ending = self.shared.ending.get();
        let allows = ending.is_some();
        // If a script has ended the process, its exit code is used even if that is 0.
        let least = if ending.is_some_and(|why| why == EXITS) { 0 } else { code };
        let message =
            if allows { vec![Kind::AllowExit as u8] } else { vec![Kind::ExitWith as u8, code] };
        let (done, failed) = bounded::<()>(0);
        let shared = Arc::clone(&self.shared);
        let end = move || {
            let _ = shared.carrier.serve("java end", &mut |_, carry| drop(carry(&message)));
            // If Java was only allowed to exit, another Java thread now ends the process. Otherwise the call has
            // returned only because it failed, or because Java's own process has ended.
            shared.carrier.exit(if allows { EXIT } else { Duration::ZERO }, least);
            drop(done);
        };
        if std::thread::Builder::new().name("java end".into()).spawn(end).is_ok() {
            let _ = failed.recv_timeout(EXIT);
        }
    }

    fn memory(&self) -> Option<Memory> {
        *lock(&self.shared.memory)
    }

    fn complaint(&self) -> Option<String> {
        let mut complaints = lock(&self.shared.complaints);
        (!complaints.is_empty()).then(|| complaints.remove(0))
    }
}

impl Shared {
    /// Returns the number of queued tasks.
    pub(crate) fn waiting(&self) -> usize {
        self.tasks.len()
    }

    /// Wakes a worker if tasks are queued and no worker is looking for one. Called after a task was queued or found,
    /// and before a worker parks, because a task may have been queued after the worker looked.
    pub(crate) fn wake_if_queued(&self) {
        fence(SeqCst);
        while !self.tasks.is_empty() {
            if self.looking.compare_exchange(0, 1, SeqCst, SeqCst).is_err() || self.slots.wake() {
                // The woken worker calls this function for the next task.
                return;
            }
            self.looking.fetch_sub(1, SeqCst);
            if !self.slots.any_parked() {
                if !self.notified.swap(true, SeqCst) {
                    let _ = self.notices.send(Notice::Busy);
                }
                return;
            }
        }
    }

    /// Wakes a parked worker to look for a task.
    fn wake(&self) -> bool {
        self.looking.fetch_add(1, SeqCst);
        let woken = self.slots.wake();
        if !woken {
            self.looking.fetch_sub(1, SeqCst);
        }
        woken
    }

    pub(crate) fn complain(&self, words: String) {
        lock(&self.complaints).push(words);
    }

    /// Starts one more worker thread.
    pub(crate) fn add_thread(self: &Arc<Self>) -> std::io::Result<()> {
        let full = || std::io::Error::other("all slots are in use");
        let slot = lock(&self.free).pop().ok_or_else(full)?;
        let number = self.numbers.fetch_add(1, Relaxed) + 1;
        let name = format!("java worker {number}");
        let shared = Arc::clone(self);
        self.threads.fetch_add(1, Relaxed);
        self.looking.fetch_add(1, SeqCst);
        let started = std::thread::Builder::new()
            .name(name.clone())
            .stack_size(self.stack)
            .spawn(move || shared.work(slot, &name));
        if started.is_err() {
            self.threads.fetch_sub(1, Relaxed);
            self.looking.fetch_sub(1, SeqCst);
            lock(&self.free).push(slot);
        }
        started.map(drop)
    }

    /// Runs a worker: carries tasks to Java until the worker must end.
    fn work(self: &Arc<Self>, slot: u32, name: &str) {
        let served = self.carrier.serve(name, &mut |thread, carry| {
            lower_priority(thread);
            let mut batch = WakeBatch::new();
            while let Some(task) = self.next_task(slot, &mut batch) {
                let is_cut = self.is_cut(task.user);
                let reply = if is_cut {
                    Err("the run has ended".into())
                } else {
                    self.slots.begin(slot, thread, task.user);
                    batch.begin();
                    let reply = carry(&task.message);
                    batch.end();
                    self.slots.end(slot);
                    self.done.fetch_add(1, Relaxed);
                    reply
                };
                // Count this worker as looking before it delivers the reply: a job that follows from the reply then
                // finds it.
                self.looking.fetch_add(1, SeqCst);
                task.deliver(reply, &mut batch, !self.tasks.is_empty());
            }
        });
        lock(&self.free).push(slot);
        let Err(words) = served else { return };
        self.looking.fetch_sub(1, SeqCst);
        self.wake_if_queued();
        self.complain(words.clone());
        if self.threads.fetch_sub(1, Relaxed) == 1 {
            // No other worker is left, so the queued tasks must fail.
            for task in &self.tasks {
                task.finish(Err(words.clone()));
            }
        }
    }

    /// Returns the next task of a worker that is counted as looking, or `None` if the worker must end. Afterwards the
    /// worker is no longer counted. Before it parks, it wakes the cores that have unread replies from it.
    fn next_task(&self, slot: u32, batch: &mut WakeBatch) -> Option<Task> {
        let is_surplus = self.surplus.load(Relaxed) > 0 && self.surplus.swap(0, Relaxed) > 0;
        if is_surplus && self.may_end() {
            self.looking.fetch_sub(1, SeqCst);
            self.wake_if_queued();
            return None;
        }
        loop {
            let task = self.tasks.try_recv().ok();
            let ends = task.is_none() && self.closed.load(SeqCst);
            if ends {
                self.threads.fetch_sub(1, Relaxed);
            } else if task.is_none() {
                batch.wake();
                self.slots.park(slot, self.now());
            }
            self.looking.fetch_sub(1, SeqCst);
            self.wake_if_queued();
            if task.is_some() || ends {
                return task;
            }
            if self.closed.load(SeqCst) {
                // The pool was closed before this worker parked.
                self.wake();
            }
            if self.slots.wait(slot) == Call::End {
                return None;
            }
        }
    }

    /// Returns the milliseconds since the pool's start.
    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Ends workers that have been parked for at least `limit`, except the minimum number.
    pub(crate) fn end_parked(&self, limit: Duration) {
        if let Some(earlier) = self.now().checked_sub(limit.as_millis() as u64) {
            self.slots.end_parked(earlier, || self.may_end());
            // During the call above, parked workers were missing from the stack.
            self.wake_if_queued();
        }
    }

    /// Decrements the number of threads, unless only the minimum number is left. Returns true if the thread may end.
    fn may_end(&self) -> bool {
        let one_less = |threads: usize| (threads > self.least).then(|| threads - 1);
        self.threads.fetch_update(Relaxed, Relaxed, one_less).is_ok()
    }

    fn is_cut(&self, user: u64) -> bool {
        self.any_cut.load(Relaxed) && lock(&self.cut).contains(&user)
    }
}

/// Lowers the priority of a worker's thread below the priority of the cores' threads.
fn lower_priority(thread: i32) {
    // If the system does not allow it, the thread keeps its priority.
    if let Some(thread) = rustix::process::Pid::from_raw(thread) {
        let _ = rustix::process::setpriority_process(Some(thread), NICE);
    }
}

/// Locks a mutex, even a poisoned one. Its data is consistent even after a panic elsewhere.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
