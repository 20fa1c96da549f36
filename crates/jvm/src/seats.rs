//! Parked workers, and the tasks of running ones.
//!
//! Each worker has a slot, its seat. Idle workers are in a stack, so that the one parked last works first: its memory is still in the processor's caches, and the
//! others stay parked long enough to be ended. Cores wake workers, so nothing here takes a lock or blocks a caller other than the worker itself.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Release};

use rustix::thread::futex;

/// The top of an empty stack, and the seat below the lowest: seats count from 1 in the stack.
const NONE: u32 = 0;

/// Values of a seat's futex: parked, called to work, called to end.
const RESTS: u32 = 0;
const TO_WORK: u32 = 1;
const TO_LEAVE: u32 = 2;

/// The reason why a parked worker was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// There may be something to do.
    Work,
    /// The worker is not needed any more.
    Leave,
}

/// The task that a worker runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    /// The thread's number in the system.
    pub(crate) thread: i32,
    /// Number of the task among all tasks of this seat.
    pub(crate) task: u64,
    pub(crate) user: u64,
}

#[derive(Debug, Default)]
struct Seat {
    /// The seat below it in the stack.
    below: AtomicU32,
    call: AtomicU32,
    /// Time when the worker was parked, in the caller's clock.
    since: AtomicU64,
    thread: AtomicI32,
    user: AtomicU64,
    /// Tasks begun and tasks done, together: odd while one runs.
    tasks: AtomicU64,
}

/// All seats, and the stack of parked workers.
#[derive(Debug)]
pub(crate) struct Seats {
    all: Box<[Seat]>,
    /// The top: the seat's number in the lower half, a generation in the upper half, so that a stack that changed in between is not taken for the same (ABA).
    top: AtomicU64,
}

impl Seats {
    pub(crate) fn new(count: usize) -> Self {
        Self { all: (0..count).map(|_| Seat::default()).collect(), top: AtomicU64::new(0) }
    }

    /// Whether a worker is parked.
    pub(crate) fn any_rests(&self) -> bool {
        self.top.load(Acquire) as u32 != NONE
    }

    /// Pushes a worker onto the stack; [`Seats::rest`] must follow.
    pub(crate) fn sit_down(&self, seat: u32, now: u64) {
        let own = &self.all[seat as usize];
        own.call.store(RESTS, Release);
        own.since.store(now, Release);
        self.put_back(seat);
    }

    fn put_back(&self, seat: u32) {
        let _ = self.top.fetch_update(std::sync::atomic::Ordering::SeqCst, Acquire, |top| {
            self.all[seat as usize].below.store(top as u32, Release);
            Some(after(top, seat + 1))
        });
    }

    /// Waits until it is called.
    pub(crate) fn rest(&self, seat: u32) -> Call {
        let call = &self.all[seat as usize].call;
        loop {
            match call.load(Acquire) {
                TO_WORK => return Call::Work,
                TO_LEAVE => return Call::Leave,
                // The call's value is read again, whatever the reason for returning.
                _ => drop(futex::wait(call, futex::Flags::PRIVATE, RESTS, None)),
            }
        }
    }

    /// Wakes the worker that was parked last; false if none is parked.
    pub(crate) fn wake(&self) -> bool {
        let taken = self.top.fetch_update(std::sync::atomic::Ordering::SeqCst, Acquire, |top| {
            let seat = (top as u32).checked_sub(1)?;
            Some(after(top, self.all[seat as usize].below.load(Acquire)))
        });
        match taken {
            Ok(top) => {
                self.call(top as u32 - 1, TO_WORK);
                true
            }
            Err(_) => false,
        }
    }

    /// Ends workers that have been parked since before `earlier`, as far as `leaves` allows, those parked longest first.
    pub(crate) fn send_away(&self, earlier: u64, mut leaves: impl FnMut() -> bool) {
        let empty = |top| Some(after(top, NONE));
        let taken = self.top.fetch_update(std::sync::atomic::Ordering::SeqCst, Acquire, empty);
        let mut resting = Vec::new();
        let mut next = taken.unwrap_or_else(|top| top) as u32;
        while let Some(seat) = next.checked_sub(1) {
            resting.push(seat);
            next = self.all[seat as usize].below.load(Acquire);
        }
        for seat in resting.into_iter().rev() {
            if self.all[seat as usize].since.load(Acquire) < earlier && leaves() {
                self.call(seat, TO_LEAVE);
            } else {
                self.put_back(seat);
            }
        }
    }

    fn call(&self, seat: u32, what: u32) {
        let call = &self.all[seat as usize].call;
        call.store(what, Release);
        // It fails only for an invalid address.
        let _ = futex::wake(call, futex::Flags::PRIVATE, 1);
    }

    /// A worker begins a task.
    pub(crate) fn begin(&self, seat: u32, thread: i32, user: u64) {
        let seat = &self.all[seat as usize];
        seat.thread.store(thread, Release);
        seat.user.store(user, Release);
        seat.tasks.fetch_add(1, Release);
    }

    /// A worker has done its task.
    pub(crate) fn end(&self, seat: u32) {
        self.all[seat as usize].tasks.fetch_add(1, Release);
    }

    /// Running tasks with their seats.
    pub(crate) fn running(&self) -> impl Iterator<Item = (u32, Running)> + '_ {
        (0..).zip(&self.all).filter_map(|(at, seat)| {
            let task = seat.tasks.load(Acquire);
            let one =
                Running { thread: seat.thread.load(Acquire), user: seat.user.load(Acquire), task };
            (task % 2 == 1).then_some((at, one))
        })
    }
}

/// The stack's next state, with that place on top.
fn after(top: u64, place: u32) -> u64 {
    (((top >> 32) + 1) << 32) | u64::from(place)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    #[test]
    fn who_rested_last_works_first() {
        let seats = Seats::new(3);
        assert!(!seats.wake() && !seats.any_rests());
        for seat in [1, 0, 2] {
            seats.sit_down(seat, 0);
        }
        for seat in [2, 0, 1] {
            assert!(seats.wake());
            assert_eq!(seats.rest(seat), Call::Work);
        }
        assert!(!seats.wake());
    }

    #[test]
    fn those_that_rest_longest_are_sent_away() {
        let seats = Seats::new(4);
        for (seat, since) in [(0, 1), (1, 2), (2, 3), (3, 9)] {
            seats.sit_down(seat, since);
        }
        let mut may_go = 2;
        seats.send_away(5, || {
            may_go -= 1;
            may_go >= 0
        });
        assert_eq!([seats.rest(0), seats.rest(1)], [Call::Leave; 2]);
        assert!(seats.wake() && seats.wake() && !seats.wake());
        assert_eq!([seats.rest(3), seats.rest(2)], [Call::Work; 2]);
    }

    #[test]
    fn what_runs_is_seen() {
        let seats = Seats::new(2);
        seats.begin(1, 40, 7);
        let seen: Vec<_> = seats.running().collect();
        assert_eq!(seen, [(1, Running { thread: 40, task: 1, user: 7 })]);
        seats.end(1);
        assert_eq!(seats.running().count(), 0);
    }

    #[test]
    fn nobody_is_woken_twice_or_lost() {
        const ROUNDS: usize = 2000;
        let (seats, woken) = (Seats::new(4), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for seat in 0..4 {
                let (seats, woken) = (&seats, &woken);
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        seats.sit_down(seat, 0);
                        assert_eq!(seats.rest(seat), Call::Work);
                        woken.fetch_add(1, SeqCst);
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut calls = 0;
                    while calls < 2 * ROUNDS {
                        calls += usize::from(seats.wake());
                    }
                });
            }
        });
        assert_eq!(woken.into_inner(), 4 * ROUNDS);
    }
}
