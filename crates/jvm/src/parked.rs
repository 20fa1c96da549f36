//! Parked workers, and the tasks of running workers.
//!
//! Each worker has a slot. Idle workers are in a stack, so that the one parked last works first: its memory is still in
//! the processor's caches. The others stay parked long enough to be ended. Cores wake workers, so nothing here takes a
//! lock or blocks a caller other than the worker itself.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Release};

use rustix::thread::futex;

/// Value that marks an empty stack, and the end of the stack below its lowest slot. Slot numbers in the stack start at
/// 1.
const NONE: u32 = 0;

/// Value of a slot's futex: the worker is parked.
const PARKED: u32 = 0;
/// Value of a slot's futex: the worker is woken to look for a task.
const TO_WORK: u32 = 1;
/// Value of a slot's futex: the worker is woken to end.
const TO_END: u32 = 2;

/// The reason why a parked worker was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A task may be queued for the worker.
    Work,
    /// The worker is no longer needed.
    End,
}

/// A task that is being run, and its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    /// The operating system's ID of the worker's thread.
    pub(crate) thread: i32,
    /// Number of the task among all tasks that were run in the worker's slot.
    pub(crate) task: u64,
    pub(crate) user: u64,
}

#[derive(Debug, Default)]
struct Slot {
    /// Number of the next slot below this one in the stack of parked workers.
    below: AtomicU32,
    call: AtomicU32,
    /// Time when the worker was parked, by the caller's clock in ms.
    since: AtomicU64,
    thread: AtomicI32,
    user: AtomicU64,
    /// Number of started tasks plus number of finished tasks: odd while a task runs.
    tasks: AtomicU64,
}

/// The slots of all workers, and the stack of the parked workers.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Box<[Slot]>,
    /// Top of the stack. The lower half is the number of the topmost slot. The upper half is a generation, by which a
    /// changed stack differs even if the same slot is on top again (ABA problem).
    top: AtomicU64,
}

impl Slots {
    pub(crate) fn new(count: usize) -> Self {
        Self { all: (0..count).map(|_| Slot::default()).collect(), top: AtomicU64::new(0) }
    }

    /// Returns true if at least one worker is parked.
    pub(crate) fn any_parked(&self) -> bool {
        self.top.load(Acquire) as u32 != NONE
    }

    /// Pushes a worker onto the stack; the caller must then call [`Slots::wait`].
    pub(crate) fn park(&self, slot: u32, now: u64) {
        let own = &self.all[slot as usize];
        own.call.store(PARKED, Release);
        own.since.store(now, Release);
        self.push(slot);
    }

    fn push(&self, slot: u32) {
        let _ = self.top.fetch_update(std::sync::atomic::Ordering::SeqCst, Acquire, |top| {
            self.all[slot as usize].below.store(top as u32, Release);
            Some(after(top, slot + 1))
        });
    }

    /// Blocks the worker until another thread wakes it.
    pub(crate) fn wait(&self, slot: u32) -> Call {
        let call = &self.all[slot as usize].call;
        loop {
            match call.load(Acquire) {
                TO_WORK => return Call::Work,
                TO_END => return Call::End,
                // Whatever the reason for returning, the loop reads the futex value again.
                _ => drop(futex::wait(call, futex::Flags::PRIVATE, PARKED, None)),
            }
        }
    }

    /// Wakes the worker that was parked last; returns false if no worker is parked.
    pub(crate) fn wake(&self) -> bool {
        let taken = self.top.fetch_update(std::sync::atomic::Ordering::SeqCst, Acquire, |top| {
            let slot = (top as u32).checked_sub(1)?;
            Some(after(top, self.all[slot as usize].below.load(Acquire)))
        });
        match taken {
            Ok(top) => {
                self.call(top as u32 - 1, TO_WORK);
                true
            }
            Err(_) => false,
        }
    }

    /// Ends workers that were parked before the time `earlier`. The workers that were parked longest come first; each
    /// ends only if `may_end` returns true.
    pub(crate) fn end_parked(&self, earlier: u64, mut may_end: impl FnMut() -> bool) {
        let empty = |top| Some(after(top, NONE));
        let taken = self.top.fetch_update(std::sync::atomic::Ordering::SeqCst, Acquire, empty);
        let mut parked = Vec::new();
        let mut next = taken.unwrap_or_else(|top| top) as u32;
        while let Some(slot) = next.checked_sub(1) {
            parked.push(slot);
            next = self.all[slot as usize].below.load(Acquire);
        }
        for slot in parked.into_iter().rev() {
            if self.all[slot as usize].since.load(Acquire) < earlier && may_end() {
                self.call(slot, TO_END);
            } else {
                self.push(slot);
            }
        }
    }

    fn call(&self, slot: u32, what: u32) {
        let call = &self.all[slot as usize].call;
        call.store(what, Release);
        // The wake-up fails only for an invalid address.
        let _ = futex::wake(call, futex::Flags::PRIVATE, 1);
    }

    /// Stores the thread and the user of a task that a worker begins, and counts the start.
    pub(crate) fn begin(&self, slot: u32, thread: i32, user: u64) {
        let slot = &self.all[slot as usize];
        slot.thread.store(thread, Release);
        slot.user.store(user, Release);
        slot.tasks.fetch_add(1, Release);
    }

    /// Counts the end of a worker's task.
    pub(crate) fn end(&self, slot: u32) {
        self.all[slot as usize].tasks.fetch_add(1, Release);
    }

    /// Returns the tasks that are being run, with the slots of their workers.
    pub(crate) fn running(&self) -> impl Iterator<Item = (u32, Running)> + '_ {
        (0..).zip(&self.all).filter_map(|(at, slot)| {
            let task = slot.tasks.load(Acquire);
            let one =
                Running { thread: slot.thread.load(Acquire), user: slot.user.load(Acquire), task };
            (task % 2 == 1).then_some((at, one))
        })
    }
}

/// Returns the value of `top` after the next change: the next generation, with slot `place` on top.
fn after(top: u64, place: u32) -> u64 {
    (((top >> 32) + 1) << 32) | u64::from(place)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    #[test]
    fn who_rested_last_works_first() {
        let slots = Slots::new(3);
        assert!(!slots.wake() && !slots.any_parked());
        for slot in [1, 0, 2] {
            slots.park(slot, 0);
        }
        for slot in [2, 0, 1] {
            assert!(slots.wake());
            assert_eq!(slots.wait(slot), Call::Work);
        }
        assert!(!slots.wake());
    }

    #[test]
    fn those_that_rest_longest_are_sent_away() {
        let slots = Slots::new(4);
        for (slot, since) in [(0, 1), (1, 2), (2, 3), (3, 9)] {
            slots.park(slot, since);
        }
        let mut may_go = 2;
        slots.end_parked(5, || {
            may_go -= 1;
            may_go >= 0
        });
        assert_eq!([slots.wait(0), slots.wait(1)], [Call::End; 2]);
        assert!(slots.wake() && slots.wake() && !slots.wake());
        assert_eq!([slots.wait(3), slots.wait(2)], [Call::Work; 2]);
    }

    #[test]
    fn what_runs_is_seen() {
        let slots = Slots::new(2);
        slots.begin(1, 40, 7);
        let seen: Vec<_> = slots.running().collect();
        assert_eq!(seen, [(1, Running { thread: 40, task: 1, user: 7 })]);
        slots.end(1);
        assert_eq!(slots.running().count(), 0);
    }

    #[test]
    fn nobody_is_woken_twice_or_lost() {
        const ROUNDS: usize = 2000;
        let (slots, woken) = (Slots::new(4), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for slot in 0..4 {
                let (slots, woken) = (&slots, &woken);
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        slots.park(slot, 0);
                        assert_eq!(slots.wait(slot), Call::Work);
                        woken.fetch_add(1, SeqCst);
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut calls = 0;
                    while calls < 2 * ROUNDS {
                        calls += usize::from(slots.wake());
                    }
                });
            }
        });
        assert_eq!(woken.into_inner(), 4 * ROUNDS);
    }
}
