//! Rules of the verdict that already speak, for the view: asked on a thread of low priority.
//!
//! They see the last [`KEPT`] seconds, and are asked every [`BETWEEN`], or more rarely where an answer takes long: they
//! never take more than a hundredth of a processor. A finding comes and goes as on the live page, not with every second.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use record::Now;
use report::live::{Course, Told};

/// Seconds that the rules see: a second of a run with many labels takes half a megabyte.
const KEPT: usize = 120;
const BETWEEN: Duration = Duration::from_secs(5);
/// The rules are asked again after so many times what they took.
const REST: u32 = 100;
/// Seconds that may wait for the thread; further ones are left out.
const WAITING: usize = 8;
/// The priority of the thread: behind those of users.
const NICE: i32 = 10;

/// The sentences that stand, the most important first.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// It is too early to say that nothing stands out.
    pub(super) early: bool,
    pub(super) findings: Vec<String>,
}

/// The rules' words, as of late.
#[derive(Debug)]
pub(super) struct Findings {
    to: SyncSender<Box<Told>>,
    said: Arc<Mutex<Words>>,
}

impl Findings {
    /// Starts the thread, which ends with this value. Without it there are no findings, and the view is as good.
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

    /// The sentences that stand now.
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
