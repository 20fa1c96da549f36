//! Where a core takes messages of other threads.
//!
//! A core that sleeps is woken by an event of its own; one that was woken already, and has not looked yet, needs no other: so whoever sends much pays for one call of the
//! system, not for one each. Who has more to send in a moment can leave messages meanwhile: should it be kept from waking the core then, an alarm does.

pub(crate) mod results;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use plan::plan::{BarrierId, GroupId};
use stats::Snapshot;

use crate::ids::{Addressee, RouteId, UserId, Waiter};
use crate::time::clock::Nanos;

/// After how long a core looks for messages that were left, at the latest.
const ALARM: Duration = Duration::from_millis(1);

/// The descriptors that wake a core.
#[derive(Debug)]
pub(crate) struct Wake {
    event: EventFd,
    alarm: TimerFd,
    /// It was raised, and the core has not looked since.
    raised: AtomicBool,
}

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let event = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let alarm = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        Ok(Self { event, alarm, raised: AtomicBool::new(false) })
    }

    /// Becomes readable, as the event does, anew each time when a core is to look for what was left.
    pub(crate) fn alarm(&self) -> BorrowedFd<'_> {
        self.alarm.as_fd()
    }

    /// There is something to look at, which was put there before.
    pub(crate) fn raise(&self) {
        if !self.raised.swap(true, AcqRel) {
            let _ = self.event.write(1);
        }
    }

    /// It is about to look. The event is not read: the driver is told of it once each time.
    pub(crate) fn lower(&self) {
        self.raised.swap(false, AcqRel);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// The way to a core.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    sender: Sender<Message>,
    wake: Arc<Wake>,
}

impl Inbox {
    pub(crate) fn new(sender: Sender<Message>, wake: Arc<Wake>) -> Self {
        Self { sender, wake }
    }

    /// One for a test, with its other end.
    #[cfg(test)]
    pub(crate) fn pair() -> (Self, std::sync::mpsc::Receiver<Message>) {
        let (sender, receiver) = std::sync::mpsc::channel();
        (Self::new(sender, Arc::new(Wake::new().expect("a descriptor"))), receiver)
    }

    pub(crate) fn send(&self, message: Message) {
        if self.sender.send(message).is_ok() {
            self.wake.raise();
        }
    }

    /// Without waking the core, which finds it when it looks the next time.
    pub(crate) fn leave(&self, message: Message) {
        let _ = self.sender.send(message);
    }

    /// Has the core look.
    pub(crate) fn wake(&self) {
        self.wake.raise();
    }

    /// Has the core look in a moment, which is put off if it is asked for again.
    pub(crate) fn wake_soon(&self) {
        let after = Expiration::OneShot(ALARM.into());
        if self.wake.alarm.set(after, TimerSetTimeFlags::empty()).is_err() {
            self.wake();
        }
    }

    /// It leads to the same core.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.wake, &other.wake)
    }
}

/// A question to the core that owns a barrier, a lock or a group of arrivals.
#[derive(Debug)]
pub(crate) enum Ask {
    /// A user is at a barrier that opens for so many.
    Arrive { barrier: BarrierId, size: u32, waiter: Waiter },
    /// A user waits no longer; a barrier opens for all who are there, as in JMeter.
    GiveUp { barrier: BarrierId, waiter: Waiter },
    /// A user wants a lock.
    Lock { name: Box<str>, waiter: Waiter },
    /// A user has no more use for it.
    Unlock { name: Box<str>, waiter: Waiter },
    /// A user is free for an arrival.
    Free { group: GroupId, number: u32, waiter: Waiter },
    /// A user of a group of arrivals has ended.
    Leave { group: GroupId, number: u32 },
}

/// To a core.
#[derive(Debug)]
pub(crate) enum Message {
    Start {
        group: GroupId,
        at: Nanos,
    },
    Resolved {
        user: UserId,
        route: RouteId,
        /// The name that was asked for; the route may be another's by now.
        host: String,
        found: results::Found,
    },
    /// Addresses of the plan's own, with the names they were found under.
    Looked {
        user: UserId,
        route: RouteId,
        addresses: Vec<(String, std::net::SocketAddr)>,
    },
    /// The answer of name servers of the plan's own.
    Named {
        user: UserId,
        route: RouteId,
        found: Result<Vec<(String, std::net::SocketAddr)>, String>,
    },
    Process {
        user: UserId,
        done: Box<results::Done>,
    },
    File {
        user: UserId,
        content: Box<results::Content>,
    },
    /// A job is done, or why it is not.
    Job {
        to: Addressee,
        reply: Result<Vec<u8>, String>,
        /// When it was done.
        done: Instant,
    },
    Recycle(Box<Snapshot>),
    /// Asks this core as the owner of a barrier or a lock.
    Ask(Ask),
    /// A user of this core may go on.
    LetGo(Waiter),
    /// A user of this core, one of a group, begins an iteration then: one that is free, or a new one.
    Arrival(GroupId, Option<Waiter>, Nanos),
    /// Nobody comes to that group any more.
    NoArrivals(GroupId),
    /// The run has so many users of a group from now on; changes are numbered.
    Users {
        group: GroupId,
        users: u32,
        change: u32,
    },
    /// Iterations of a group start at that rate from now on, in all of the run.
    Rate {
        group: GroupId,
        rate: f64,
        change: u32,
    },
    /// No sample begins, or samples begin again.
    Pause(bool),
    Stop,
    StopNow,
    End,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::driver::{Driver, Events, INBOX};
    use crate::time::clock::SECOND;

    #[test]
    fn a_core_that_has_not_looked_is_woken_once() {
        let wake = Wake::new().expect("a descriptor");
        (0..3).for_each(|_| wake.raise());
        assert_eq!(wake.event.read(), Ok(1));
        wake.lower();
        wake.raise();
        assert_eq!(wake.event.read(), Ok(1));
    }

    #[test]
    fn what_was_left_is_looked_for_in_a_moment_each_time() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let wake = Arc::new(Wake::new().expect("a descriptor"));
        let mut driver = Driver::new(&wake).expect("a driver");
        let inbox = Inbox::new(sender, wake);
        let mut events = Events::new();
        for _ in 0..2 {
            inbox.leave(Message::Stop);
            inbox.wake_soon();
            driver.wait(&mut events, Some(60 * SECOND)).expect("a kernel that waits");
            assert_eq!(events.iter().map(|event| event.token).collect::<Vec<_>>(), [INBOX]);
            assert!(matches!(receiver.try_recv(), Ok(Message::Stop)));
        }
    }
}
