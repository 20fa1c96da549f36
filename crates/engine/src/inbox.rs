//! The inbox of a core: messages from other threads.
//!
//! An event wakes a sleeping core. A core that has been woken and has not read its inbox yet needs no second event.
//! So a sender of many messages pays for one system call in total, not for one per message. A sender that will soon
//! send more can queue messages without waking the core. If the sender is then delayed, a timer wakes the core.

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

use crate::ids::{JobUser, RouteId, UserId, Waiter};
use crate::time::clock::Nanos;

/// Maximum time until a core reads messages that were queued without waking it.
const ALARM: Duration = Duration::from_millis(1);

/// The file descriptors that wake a core.
#[derive(Debug)]
pub(crate) struct Wake {
    event: EventFd,
    alarm: TimerFd,
    /// True if the event was raised and the core has not read its inbox since.
    raised: AtomicBool,
}

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let event = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let alarm = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        Ok(Self { event, alarm, raised: AtomicBool::new(false) })
    }

    /// Returns the timer that wakes the core for queued messages.
    pub(crate) fn alarm(&self) -> BorrowedFd<'_> {
        self.alarm.as_fd()
    }

    /// Wakes the core after a message was queued.
    pub(crate) fn raise(&self) {
        if !self.raised.swap(true, AcqRel) {
            let _ = self.event.write(1);
        }
    }

    /// Marks the inbox as about to be read. The event itself is not read, because it is registered edge-triggered.
    pub(crate) fn lower(&self) {
        self.raised.swap(false, AcqRel);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// Sender of messages to a core.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    sender: Sender<Message>,
    wake: Arc<Wake>,
}

impl Inbox {
    pub(crate) fn new(sender: Sender<Message>, wake: Arc<Wake>) -> Self {
        Self { sender, wake }
    }

    /// Creates an inbox for a test, with its receiver.
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

    /// Queues a message without waking the core. The core finds it when it next reads its inbox.
    pub(crate) fn leave(&self, message: Message) {
        let _ = self.sender.send(message);
    }

    /// Wakes the core.
    pub(crate) fn wake(&self) {
        self.wake.raise();
    }

    /// Wakes the core after [`ALARM`]. A second call postpones the wake-up.
    pub(crate) fn wake_soon(&self) {
        let after = Expiration::OneShot(ALARM.into());
        if self.wake.alarm.set(after, TimerSetTimeFlags::empty()).is_err() {
            self.wake();
        }
    }

    /// Returns true if both inboxes belong to the same core.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.wake, &other.wake)
    }
}

/// A request to the core that owns a barrier, a lock or a group of arrivals.
#[derive(Debug)]
pub(crate) enum OwnerRequest {
    /// A user waits at a barrier that opens when `size` users wait.
    Arrive { barrier: BarrierId, size: u32, waiter: Waiter },
    /// A user gives up waiting. The barrier then opens for all its users, as in JMeter.
    GiveUp { barrier: BarrierId, waiter: Waiter },
    /// A user asks for a lock.
    Lock { name: Box<str>, waiter: Waiter },
    /// A user releases a lock.
    Unlock { name: Box<str>, waiter: Waiter },
    /// A user of a group of arrivals waits for its next arrival.
    Free { group: GroupId, number: u32, waiter: Waiter },
    /// A user of a group of arrivals has ended.
    Leave { group: GroupId, number: u32 },
}

/// A message to a core.
#[derive(Debug)]
pub(crate) enum Message {
    Start {
        group: GroupId,
        at: Nanos,
    },
    Resolved {
        user: UserId,
        route: RouteId,
        /// The resolved host name, for comparison: the route's number may belong to another route by now.
        host: String,
        found: results::Found,
    },
    /// The resolved addresses of a host that the plan defines, with the names that were looked up.
    Looked {
        user: UserId,
        route: RouteId,
        addresses: Vec<(String, std::net::SocketAddr)>,
    },
    /// The answer of the plan's own name servers.
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
    /// The reply of a finished job, or the reason why it failed.
    Job {
        to: JobUser,
        reply: Result<Vec<u8>, String>,
        /// The time at which the job was done.
        done: Instant,
    },
    Recycle(Box<Snapshot>),
    /// A request to this core as the owner of a barrier, a lock or arrivals.
    OwnerRequest(OwnerRequest),
    /// Releases a waiting user of this core from a barrier or lock.
    LetGo(Waiter),
    /// Starts an iteration of a group at a given time: with a free user of this core, or with a new user.
    Arrival(GroupId, Option<Waiter>, Nanos),
    /// No further arrivals come to this group.
    NoArrivals(GroupId),
    /// Sets the number of users of a group in the whole run. `change` is the sequence number of the change.
    Users {
        group: GroupId,
        users: u32,
        change: u32,
    },
    /// Sets the rate at which iterations of a group start in the whole run.
    Rate {
        group: GroupId,
        rate: f64,
        change: u32,
    },
    /// Pauses or resumes the start of samples.
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
