//! A clock that a test steps, so that a day of a run passes in seconds.
//!
//! Where a core would sleep, its clock is moved on to the next due time, up to what the test has allowed; what is in flight (an exchange, a
//! heartbeat without its answer) is waited for in real time first. The allowance wakes nobody: a core sees of the run's other threads
//! exactly what it would see without it. A run without one pays one comparison per turn of the loop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::core::Core;
use crate::ids::UserId;
use crate::net::driver::Events;
use crate::time::clock::{MS, Nanos};
use crate::users::Wait;
use crate::websocket::State;

/// How long a core waits, in real time, before it looks again whether it may go on.
const PAUSE: Nanos = MS / 20;

/// How far the clock of a run may go.
#[derive(Debug, Default)]
pub struct Steps(AtomicI64);

impl Steps {
    /// An allowance that is used up: the run stands at its start.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Allows the clock to go on to so long after the run's start.
    pub fn allow(&self, until: Duration) {
        self.0.store(i64::try_from(until.as_nanos()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    fn allowed(&self) -> Nanos {
        self.0.load(Ordering::Relaxed)
    }
}

impl Core<'_> {
    /// Waits for events; `timeout` of the core's clock passes at once if nothing is in flight.
    pub(crate) fn wait_stepped(
        &mut self,
        steps: &Steps,
        events: &mut Events,
        timeout: Nanos,
    ) -> io::Result<()> {
        if self.is_in_flight() {
            return self.net.driver.wait(events, Some(timeout.min(MS)));
        }
        self.net.driver.wait(events, Some(0))?;
        if events.iter().next().is_some() {
            return Ok(());
        }
        let step = timeout.min(steps.allowed() - self.clock.now());
        if step > 0 {
            self.clock.skip(step);
            return Ok(());
        }
        self.net.driver.wait(events, Some(timeout.min(PAUSE)))
    }

    /// Whether something outside of this core is to answer.
    fn is_in_flight(&self) -> bool {
        let waits = (0..).zip(&self.users.all).any(|(index, user)| {
            user.alive
                && match user.wait {
                    Wait::Exchange(_)
                    | Wait::Resolve(_)
                    | Wait::Session(_)
                    | Wait::SocketResolve(_)
                    | Wait::Page(_)
                    | Wait::Job(_)
                    | Wait::File(_)
                    | Wait::Java => true,
                    Wait::Socket(_) => !self.holds(UserId::from(index)),
                    Wait::Ready
                    | Wait::Delay(_)
                    | Wait::Pause(_)
                    | Wait::Sleep(_)
                    | Wait::Barrier(_)
                    | Wait::Met(_)
                    | Wait::Lock
                    | Wait::Arrival
                    | Wait::Queued
                    | Wait::Done
                    | Wait::Lanes(_) => false,
                }
        });
        waits
            || self
                .websocket
                .sockets
                .all
                .iter()
                .any(|one| one.state == State::Open && one.beat_at > 0)
    }
}
