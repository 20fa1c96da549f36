//! The verdict's findings for the view of a running test. They are computed on a thread of low priority.
//!
//! The rules see the last [`KEPT`] seconds. They run every [`BETWEEN`], or less often if they take long: they never
//! take more than a hundredth of a processor. A finding appears and disappears as on the live page, not with every
//! second.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use record::Now;
use report::live::{Course, Told};

/// Number of latest seconds that the rules evaluate. A second of a run with many labels takes half a megabyte.
const KEPT: usize = 120;
/// Minimum time between two evaluations of the rules.
const BETWEEN: Duration = Duration::from_secs(5);
/// Minimum pause after an evaluation of the rules, as a multiple of the duration of that evaluation.
const REST: u32 = 100;
/// Largest number of seconds in the thread's queue. If the queue is full, further seconds are left out.
const WAITING: usize = 8;
/// Nice value of the thread, which gives it a lower priority than the threads that run users.
const NICE: i32 = 10;

/// Current findings, the most important first.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// True if the run is too young to report that there are no findings.
    pub(super) early: bool,
    pub(super) findings: Vec<String>,
}

/// The latest findings, and the queue to the thread that computes them.
#[derive(Debug)]
pub(super) struct Findings {
    to: SyncSender<Box<Told>>,
    said: Arc<Mutex<Words>>,
}

impl Findings {
    /// Starts the thread, which ends when this value is dropped. Returns `None` if the thread cannot start; the view
    /// then has no findings.
    pub(super) fn start() -> Option<Self> {
        let (to, from) = sync_channel(WAITING);
        let said = Arc::new(Mutex::new(Words { early: true, findings: Vec::new() }));
        let told = Arc::clone(&said);
        let thread = std::thread::Builder::new().name("findings".into());
        thread.spawn(move || follow(&from, &told)).ok()?;
        Some(Self { to, said })
    }

    pub(super) fn tell(&self, now: &Now<'_>) {
        let _ = self.to.try_send(Box::new(Told::from(now)));
    }

    /// Returns the current findings.
    pub(super) fn said(&self) -> Words {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn follow(from: &Receiver<Box<Told>>, said: &Mutex<Words>) {
    let _ = rustix::process::setpriority_process(None, NICE);
    let mut course = Course::default();
    let mut judge_at = Instant::now() + BETWEEN;
    for told in from {
        course.keep(*told, KEPT);
        if Instant::now() < judge_at {
            continue;
        }
        let began = Instant::now();
        course.judge();
        let findings = course.said().findings.iter().map(|finding| finding.words.en.clone());
        let words = Words { early: course.is_early(), findings: findings.collect() };
        *said.lock().unwrap_or_else(PoisonError::into_inner) = words;
        judge_at = Instant::now() + BETWEEN.max(began.elapsed() * REST);
    }
}
