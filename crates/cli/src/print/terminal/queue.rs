//! Queue of output to pipes and files while a plan runs, so that a full pipe does not delay any user of the run.
//!
//! A thread writes the output in order. Output to a terminal is not queued, because the view of a running test is shown
//! there. At the end the program waits until the reader has taken all output, or for [`HURRY`] after a signal to end.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IsTerminal};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::print::tty::Stream;

/// Largest number of queued bytes. Output beyond it is lost.
const MOST: usize = 64 << 20;
/// Longest wait for a reader after the user has asked to end.
const HURRY: Duration = Duration::from_secs(3);

static QUEUE: OnceLock<Queue> = OnceLock::new();

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Stream, Vec<u8>)>,
    /// Number of bytes that are queued or being written.
    bytes: usize,
    hurry: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) {
        let mut state = self.state();
        loop {
            let Some((to, bytes)) = state.waiting.pop_front() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            super::send_now(to, &bytes);
            state = self.state();
            state.bytes -= bytes.len();
            self.changed.notify_all();
        }
    }
}

/// Starts the writing thread. Without a thread, output is written directly.
pub(super) fn start() {
    if QUEUE.get().is_some() {
        return;
    }
    let write = || QUEUE.get_or_init(Queue::default).write();
    if std::thread::Builder::new().name("output".into()).spawn(write).is_ok() {
        QUEUE.get_or_init(Queue::default);
    }
}

/// Queues output. Returns false if the output is for a terminal, or if there is no thread.
pub(super) fn take(to: Stream, bytes: &[u8]) -> bool {
    let is_terminal = match to {
        Stream::Out => io::stdout().is_terminal(),
        Stream::Err => io::stderr().is_terminal(),
    };
    let Some(queue) = QUEUE.get().filter(|_| !is_terminal) else { return false };
    let mut state = queue.state();
    if state.bytes + bytes.len() > MOST {
        super::note(to, Err(io::Error::new(ErrorKind::TimedOut, "its reader takes nothing")));
        return true;
    }
    state.bytes += bytes.len();
    state.waiting.push_back((to, bytes.to_owned()));
    queue.changed.notify_all();
    true
}

/// Waits until all queued output is written.
pub(super) fn flush() {
    let Some(queue) = QUEUE.get() else { return };
    let mut state = queue.state();
    let mut end = None;
    while state.bytes > 0 {
        if state.hurry {
            let end = *end.get_or_insert_with(|| Instant::now() + HURRY);
            if Instant::now() >= end {
                super::note(
                    Stream::Out,
                    Err(io::Error::new(ErrorKind::TimedOut, "its reader takes nothing")),
                );
                return;
            }
        }
        let wait = queue.changed.wait_timeout(state, Duration::from_millis(100));
        state = wait.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Shortens the wait for readers, because the user has asked to end.
pub(super) fn hurry() {
    if let Some(queue) = QUEUE.get() {
        queue.state().hurry = true;
        queue.changed.notify_all();
    }
}
