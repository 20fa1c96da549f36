//! The pool supervisor: starts more workers when workers are blocked, ends workers when too many compute, and forwards
//! interruptions.
//!
//! The kernel reports whether a worker is blocked ([`crate::thread_states`]). A worker that waits for a server leaves
//! its processor to others, so another worker helps. More workers that compute would only take processors from the
//! cores. They are added slowly, so that scripts that never end do not block all others for good.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use engine::message::{Interruption, Kind};

use crate::thread_states::{Readings, States};
use crate::workers::Shared;

/// A message to the supervisor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice {
    /// A task was queued although no worker was idle.
    Busy,
    /// The jobs of a user must be interrupted. If the flag is true, only the user's sampler is interrupted.
    Interrupt(u64, bool),
    /// The pool is closing: no more tasks will come.
    End,
}

/// Shortest interval between two polls of the workers' thread states while tasks are queued.
const INTERVAL: Duration = Duration::from_millis(1);
/// Addition to the interval per worker, because reading the state of each thread takes time.
const INTERVAL_EACH: Duration = Duration::from_micros(100);

/// Maximum factor by which the interval grows while polls lead to no change of the pool.
const SLOWEST: u32 = 8;

/// Time after which a parked worker is ended, unless only the minimum number of workers is left.
const PARKED_AT_MOST: Duration = Duration::from_secs(30);

/// Time for which tasks must have been queued before workers may use all processors.
const BACKLOG: Duration = Duration::from_millis(500);

/// Time without a finished task after which one more thread is started for queued tasks, regardless of thread states.
const PATIENCE: Duration = Duration::from_millis(250);

/// Number of consecutive polls with queued tasks but no computing worker, after which threads are added: the workers'
/// waits may be too short for a poll to see them as blocked.
const IDLE: u32 = 3;

/// Number of consecutive polls with too many computing workers, after which one worker ends.
const CROWDED: u32 = 20;

/// State of the supervisor's thread.
struct Supervisor {
    shared: Arc<Shared>,
    notices: Receiver<Notice>,
    /// Channel to the thread that interrupts jobs: user, and true to interrupt only the user's sampler.
    interrupter: Option<Sender<(u64, bool)>>,
    /// True if it was logged that the system allows no more threads.
    refused: bool,
}

/// Starts the supervisor's thread.
pub(crate) fn start(shared: Arc<Shared>, notices: Receiver<Notice>) -> std::io::Result<()> {
    let mut supervisor = Supervisor { shared, notices, interrupter: None, refused: false };
    let supervise = move || while supervisor.turn().is_continue() {};
    std::thread::Builder::new().name("java supervisor".into()).spawn(supervise).map(drop)
}

impl Supervisor {
    fn turn(&mut self) -> ControlFlow<()> {
        match self.notices.recv_timeout(PARKED_AT_MOST) {
            Ok(notice) => {
                self.handle(notice)?;
                self.grow()?;
            }
            Err(error) if error.is_disconnected() => return ControlFlow::Break(()),
            Err(_) => self.shared.end_parked(PARKED_AT_MOST),
        }
        ControlFlow::Continue(())
    }

    fn handle(&mut self, notice: Notice) -> ControlFlow<()> {
        match notice {
            Notice::Busy => self.shared.notified.store(false, SeqCst),
            Notice::Interrupt(user, sampler) => self.interrupt(user, sampler),
            Notice::End => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Adds threads until no task is queued, or more threads would not help.
    fn grow(&mut self) -> ControlFlow<()> {
        let shared = Arc::clone(&self.shared);
        let mut course = QueuedPeriod::new(shared.done.load(Relaxed));
        let mut times = 1;
        while shared.waiting() > 0 {
            // During this pause most queued tasks find a worker.
            let threads = u32::try_from(shared.threads.load(Relaxed)).unwrap_or(u32::MAX);
            let before = shared.done.load(Relaxed);
            std::thread::sleep((INTERVAL + INTERVAL_EACH * threads) * times);
            let notices: Vec<_> = self.notices.try_iter().collect();
            notices.into_iter().try_for_each(|notice| self.handle(notice))?;
            let (waiting, threads) = (shared.waiting(), shared.threads.load(Relaxed));
            if shared.slots.any_parked() || threads >= shared.most {
                break;
            }
            if shared.done.load(Relaxed) - before >= waiting as u64 {
                // Queued tasks will probably find a worker before the next poll.
                times = (2 * times).min(SLOWEST);
                continue;
            }
            let states = course.readings.read(shared.slots.running());
            let pool = Pool { threads, least: shared.least, processors: shared.processors };
            let more = course.more(pool, states, shared.done.load(Relaxed), Instant::now());
            if course.is_crowded(pool, states) {
                shared.surplus.store(1, Relaxed);
            }
            times = if more > 0 { 1 } else { (2 * times).min(SLOWEST) };
            for _ in 0..more.min(waiting).min(shared.most - threads) {
                if let Err(error) = shared.add_thread() {
                    if !std::mem::replace(&mut self.refused, true) {
                        shared.complain(format!(
                            "the operating system allows only {threads} threads for Java ({error}); jobs wait for free \
                            threads"
                        ));
                    }
                    return ControlFlow::Continue(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Forwards an interruption on a separate thread, because it may take long.
    fn interrupt(&mut self, user: u64, sampler: bool) {
        if !self.shared.slots.running().any(|(_, one)| one.user == user) {
            return;
        }
        let to = self.interrupter.get_or_insert_with(|| {
            let (to, users) = unbounded::<(u64, bool)>();
            let shared = Arc::clone(&self.shared);
            // If the thread cannot start, running jobs are not interrupted.
            let _ = std::thread::Builder::new()
                .name("java interrupter".into())
                .spawn(move || interrupt_all(&shared, &users));
            to
        });
        let _ = to.send((user, sampler));
    }
}

fn interrupt_all(shared: &Shared, users: &Receiver<(u64, bool)>) {
    let served = shared.carrier.serve("java interrupter", &mut |_, carry| {
        for (user, sampler_only) in users {
            let mut message = vec![Kind::Interrupt as u8];
            message.extend(Interruption { user, sampler_only }.to_bytes());
            if let Err(words) = carry(&message) {
                shared.complain(format!("cannot interrupt a job: {words}"));
            }
        }
    });
    if let Err(words) = served {
        shared.complain(words);
    }
}

/// Number of threads of the pool, and the limits of that number.
#[derive(Clone, Copy, Debug)]
struct Pool {
    threads: usize,
    least: usize,
    processors: usize,
}

/// State of a period in which tasks are continuously queued.
#[derive(Debug)]
struct QueuedPeriod {
    readings: Readings,
    began: Instant,
    /// Number of tasks done, and the time of its last change. Adding a thread because of [`PATIENCE`] also sets the
    /// time.
    done: (u64, Instant),
    crowded: u32,
    idle: u32,
}

impl QueuedPeriod {
    fn new(done: u64) -> Self {
        let now = Instant::now();
        Self { readings: Readings::default(), began: now, done: (done, now), crowded: 0, idle: 0 }
    }

    /// Returns the number of threads to add to the pool.
    fn more(&mut self, pool: Pool, states: States, done: u64, now: Instant) -> usize {
        if done != self.done.0 {
            self.done = (done, now);
        }
        // New threads count as computing, because they soon will.
        self.idle = if states.computing == 0 { self.idle + 1 } else { 0 };
        let free = pool.threads.saturating_sub(states.blocked);
        let lasts = now.duration_since(self.began) >= BACKLOG;
        let wanted = if lasts { pool.processors } else { pool.least };
        if free < wanted {
            // If all threads are blocked, new threads will be blocked as well, so half as many are added. A thread that
            // has just begun and does not compute is about to block, and does not count against this rule. When it did,
            // threads were added one at a time, each poll took longer than the one before, and the last of 500 users
            // waited for half a minute.
            let follow = if states.computing == 0 { states.blocked / 2 } else { 0 };
            return follow.max(wanted - free);
        }
        if self.idle >= IDLE {
            self.idle = 0;
            return (pool.threads / 2).max(1);
        }
        if now.duration_since(self.done.1) >= PATIENCE {
            self.done.1 = now;
            return 1;
        }
        0
    }

    /// Returns true if one worker should end, because too many have computed for many polls.
    fn is_crowded(&mut self, pool: Pool, states: States) -> bool {
        let crowded = states.at_length > 2 * pool.processors;
        self.crowded = if crowded { self.crowded + 1 } else { 0 };
        if self.crowded < CROWDED {
            return false;
        }
        self.crowded = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: Pool = Pool { threads: 3, least: 3, processors: 4 };

    fn states(computing: usize, blocked: usize) -> States {
        States { at_length: computing, computing, blocked }
    }

    #[test]
    fn threads_are_added_for_those_that_are_blocked() {
        let mut course = QueuedPeriod::new(0);
        let now = course.began;
        let mut more = |pool, states| course.more(pool, states, 0, now);
        assert_eq!(more(POOL, states(3, 0)), 0);
        assert_eq!(more(POOL, states(1, 2)), 2);
        assert_eq!(more(POOL, states(0, 0)), 0, "they only begin");
        let many = Pool { threads: 100, ..POOL };
        assert_eq!(more(many, states(0, 100)), 50);
        assert_eq!(more(many, states(0, 99)), 49, "one has only begun");
        assert_eq!(more(many, states(1, 99)), 2);
        assert_eq!(more(many, states(97, 3)), 0);
    }

    #[test]
    fn threads_are_added_while_tasks_wait_and_nothing_computes() {
        let mut course = QueuedPeriod::new(0);
        let now = course.began;
        let mut more = |computing| course.more(POOL, states(computing, 0), 0, now);
        assert_eq!([0, 0, 1, 0, 0, 0, 0].map(&mut more), [0, 0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn those_that_compute_use_all_processors_when_the_queue_lasts() {
        let mut course = QueuedPeriod::new(0);
        let later = course.began + BACKLOG;
        assert_eq!(course.more(POOL, states(3, 0), 1, later), 1);
        let four = Pool { threads: 4, ..POOL };
        assert_eq!(course.more(four, states(4, 0), 2, later + PATIENCE), 0, "one was done");
        assert_eq!(course.more(four, states(4, 0), 2, later + 2 * PATIENCE), 1);
        assert_eq!(course.more(four, states(5, 0), 2, later + 2 * PATIENCE), 0, "one at a time");
    }

    #[test]
    fn a_crowd_that_lasts_loses_one() {
        let mut course = QueuedPeriod::new(0);
        let mut crowded = |computing| course.is_crowded(POOL, states(computing, 0));
        assert!(!(1..CROWDED).any(|_| crowded(9)));
        assert!(crowded(9));
        assert!(!(1..CROWDED).any(|_| crowded(9)));
        assert!(!crowded(8), "twice the processors are not many");
        assert!(!crowded(9));
    }
}
