//! States of the workers' threads as the kernel reports them: computing, blocked outside the process, or waiting for
//! each other.
//!
//! A thread that waits for a server, a disk or a pipe leaves its processor to another thread. A thread that waits for a
//! lock of this process mostly gets it at once. It counts as blocked only if it still waits in the same job after
//! several polls. The same holds for threads that sleep or wait for a pool.

use std::collections::HashMap;
use std::fs::read_to_string;

use crate::parked::Running;

/// Number of consecutive polls at which a thread must have waited in the same task before it counts as blocked.
const PROOF: u32 = 3;

/// Numbers of workers that run a task, by thread state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct States {
    /// Number of threads that run on a processor or are ready to run.
    pub(crate) computing: usize,
    /// Number of computing threads that are still in the same task as at the previous poll.
    pub(crate) at_length: usize,
    /// Number of threads that are blocked outside the process, or that have waited in the same task for several polls.
    pub(crate) blocked: usize,
}

/// Memory of earlier polls of the thread states.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    /// For each slot whose task waited at the previous poll: number of the task, and number of consecutive polls with
    /// the task waiting.
    waited: HashMap<u32, (u64, u32)>,
    /// For each slot whose task computed at the previous poll: number of the task.
    computed: HashMap<u32, u64>,
}

/// The state of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Computes,
    /// The thread waits for a lock, or sleeps.
    Waits,
    /// The thread waits for something outside of the process.
    Blocked,
}

impl Readings {
    /// Reads the states of the threads that run tasks.
    pub(crate) fn read(&mut self, running: impl Iterator<Item = (u32, Running)>) -> States {
        self.judge(running.map(|(slot, one)| (slot, one.task, state(one.thread))))
    }

    fn judge(&mut self, all: impl Iterator<Item = (u32, u64, State)>) -> States {
        let mut states = States::default();
        let (mut waited, mut computed) = (HashMap::new(), HashMap::new());
        for (worker, task, state) in all {
            match state {
                State::Computes => {
                    states.computing += 1;
                    states.at_length += usize::from(self.computed.get(&worker) == Some(&task));
                    computed.insert(worker, task);
                }
                State::Blocked => states.blocked += 1,
                State::Waits => {
                    let before = self.waited.get(&worker).filter(|(of, _)| *of == task);
                    let readings = before.map_or(0, |(_, readings)| *readings) + 1;
                    waited.insert(worker, (task, readings));
                    states.blocked += usize::from(readings >= PROOF);
                }
            }
        }
        (self.waited, self.computed) = (waited, computed);
        states
    }
}

fn state(thread: i32) -> State {
    let Ok(stat) = read_to_string(format!("/proc/{thread}/stat")) else {
        return State::Waits;
    };
    // In `/proc/…/stat` the state follows the thread's name in parentheses. The name may contain anything, so the last
    // parenthesis counts.
    let letter = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    match letter {
        Some('R') => State::Computes,
        Some('S') => match read_to_string(format!("/proc/{thread}/wchan")).as_deref() {
            // The kernel function in which the thread waits; some kernels hide it.
            Err(_) | Ok("" | "0") => State::Waits,
            Ok(place) if place.starts_with("futex") || place.contains("nanosleep") => State::Waits,
            Ok(_) => State::Blocked,
        },
        _ => State::Blocked,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn waiting_is_blocking_once_it_lasts_in_one_task() {
        let mut readings = Readings::default();
        let mut blocked = |task, state| readings.judge([(1, task, state)].into_iter()).blocked;
        let of_one = [7, 7, 7, 7].map(|task| blocked(task, State::Waits));
        assert_eq!(of_one, [0, 0, 1, 1]);
        assert_eq!([8, 9, 10, 11].map(|task| blocked(task, State::Waits)), [0; 4]);
        assert_eq!(blocked(11, State::Waits), 0);
        assert_eq!(blocked(11, State::Computes), 0);
        assert_eq!(blocked(11, State::Waits), 0, "it begins anew");
        assert_eq!(blocked(11, State::Blocked), 1, "at once");
    }

    #[test]
    fn a_thread_that_reads_is_blocked_and_this_one_computes() {
        assert_eq!(state(rustix::thread::gettid().as_raw_nonzero().get()), State::Computes);
        let (to, from) = channel();
        let (mut out, into) = std::io::pipe().expect("a pipe");
        let reading = std::thread::spawn(move || {
            to.send(rustix::thread::gettid().as_raw_nonzero().get()).expect("a listener");
            std::io::Read::read(&mut out, &mut [0]).expect("a byte")
        });
        let thread = from.recv().expect("a number");
        // If the kernel hides the function, the state is only known as waiting.
        let place = || read_to_string(format!("/proc/{thread}/wchan"));
        let hidden = || place().map_or(true, |place| place.is_empty() || place == "0");
        loop {
            match state(thread) {
                State::Blocked => break,
                State::Waits if hidden() => break,
                _ => std::thread::yield_now(),
            }
        }
        std::io::Write::write_all(&mut { into }, b"x").expect("a reader");
        assert_eq!(reading.join().expect("a thread"), 1);
    }
}
