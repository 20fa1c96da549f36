//! Looks after the workers: starts more when all are blocked, and passes interruptions on.
//!
//! Whether a worker is blocked is asked of the system: one that waits for a server leaves its processor to others, so another worker helps; while
//! all processors are busy with scripts, more threads would only take turns, and are added slowly, so that a long script does not hold up short ones.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::workers::{Shared, lock};

/// Told to the one who tends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice {
    /// A task came, and nobody was idle.
    Busy,
    /// What runs for this user is to be interrupted: all of it, or its sampler alone.
    Interrupt(u64, bool),
    /// Nobody will ask for anything any more.
    End,
}

/// How often is looked while tasks wait.
const LOOK: Duration = Duration::from_millis(1);

/// Looks for which all processors may be busy before one more thread is started all the same.
const PATIENCE: u32 = 10;

/// The kind of message that interrupts; the user's number follows, and whether its sampler alone is meant.
const INTERRUPT: u8 = 6;

/// Who tends.
struct Tender {
    shared: Arc<Shared>,
    notices: Receiver<Notice>,
    /// Users whose jobs are to be interrupted, for the thread that does it.
    interrupter: Option<Sender<(u64, bool)>>,
    /// It was told that the system gives no more threads.
    refused: bool,
}

/// Starts the thread.
pub(crate) fn start(shared: Arc<Shared>, notices: Receiver<Notice>) -> std::io::Result<()> {
    let mut tender = Tender { shared, notices, interrupter: None, refused: false };
    let tend = move || while tender.turn().is_continue() {};
    std::thread::Builder::new().name("java tending".into()).spawn(tend).map(drop)
}

impl Tender {
    fn turn(&mut self) -> ControlFlow<()> {
        let Ok(notice) = self.notices.recv() else { return ControlFlow::Break(()) };
        self.obey(notice)?;
        self.grow()?;
        ControlFlow::Continue(())
    }

    fn obey(&mut self, notice: Notice) -> ControlFlow<()> {
        match notice {
            Notice::Busy => self.shared.told.store(false, SeqCst),
            Notice::Interrupt(user, sampler) => self.interrupt(user, sampler),
            Notice::End => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Adds threads until no task waits, or nothing would be gained.
    fn grow(&mut self) -> ControlFlow<()> {
        let shared = Arc::clone(&self.shared);
        let (mut looks, mut done) = (0, shared.done.load(Relaxed));
        while shared.waiting() > 0 {
            // A moment, in which most tasks find their worker.
            std::thread::sleep(LOOK);
            let notices: Vec<_> = self.notices.try_iter().collect();
            notices.into_iter().try_for_each(|notice| self.obey(notice))?;
            let waiting = shared.waiting();
            let threads = shared.threads.load(Relaxed);
            if shared.idle.load(SeqCst) > 0 || threads >= shared.most {
                break;
            }
            let mut more = shared.least.saturating_sub(on_processors(&shared));
            if more > 0 {
                more = more.max(threads / 4);
            } else {
                looks += 1;
                if looks >= PATIENCE {
                    let now = shared.done.load(Relaxed);
                    // At that pace those who wait get their turn soon enough.
                    more = usize::from(now - done < waiting as u64);
                    (looks, done) = (0, now);
                }
            }
            for _ in 0..more.min(waiting).min(shared.most - threads) {
                if let Err(error) = shared.add_thread() {
                    if !std::mem::replace(&mut self.refused, true) {
                        shared.complain(format!(
                            "no more than {threads} threads for Java can be had ({error}); jobs wait for each other"
                        ));
                    }
                    return ControlFlow::Continue(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Passes an interruption on, by a thread of its own, for it may take its time.
    fn interrupt(&mut self, user: u64, sampler: bool) {
        if !lock(&self.shared.running).values().any(|one| one.user == user) {
            return;
        }
        let to = self.interrupter.get_or_insert_with(|| {
            let (to, users) = unbounded::<(u64, bool)>();
            let shared = Arc::clone(&self.shared);
            // Without it, what runs is left to itself.
            let _ = std::thread::Builder::new()
                .name("java interrupter".into())
                .spawn(move || interrupt_all(&shared, &users));
            to
        });
        let _ = to.send((user, sampler));
    }
}

fn interrupt_all(shared: &Shared, users: &Receiver<(u64, bool)>) {
    let served = shared.carrier.serve("java interrupter", &mut |carry| {
        for (user, sampler) in users {
            let mut message = vec![INTERRUPT];
            message.extend(user.to_le_bytes());
            if sampler {
                message.push(1);
            }
            if let Err(words) = carry(&message) {
                shared.complain(format!("an interruption failed: {words}"));
            }
        }
    });
    if let Err(words) = served {
        shared.complain(words);
    }
}

/// Workers that are on a processor or want one; at most as many as there are processors are counted.
fn on_processors(shared: &Shared) -> usize {
    let running: Vec<i32> = lock(&shared.running).values().map(|one| one.thread).collect();
    let on_one = |thread: &&i32| {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat"));
        // The state stands behind the name, which may hold anything but ends with the last parenthesis.
        stat.is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R')))
    };
    running.iter().filter(on_one).take(shared.least).count()
}
