//! A clock that a test advances, so that a day of a run passes in seconds.
//!
//! Instead of sleeping, a core moves its clock to the next due time, within the range that the test has allowed. It
//! first waits in real time for work in flight, such as an exchange or an unanswered heartbeat. A larger range
//! wakes no core, so a core receives exactly the messages that it would receive with the real clock. A run with the
//! real clock pays one comparison per iteration of the loop.

use std::io;

use crate::core::Core;
use crate::ids::UserId;
use crate::net::driver::Events;
use crate::time::clock::{MS, Nanos};
use crate::time::steps::Steps;
use crate::users::Wait;

/// Interval at which a core checks the allowed time, in nanoseconds of real time.
const PAUSE: Nanos = MS / 20;

impl Core<'_> {
    /// Waits for events. If nothing is in flight and no event is ready, the core's clock advances by `timeout` instead,
    /// or by the time that the test still allows.
    pub(crate) fn wait_stepped(
        &mut self,
        steps: &Steps,
        events: &mut Events,
        timeout: Nanos,
    ) -> io::Result<()> {
        if self.is_in_flight() {
            return self.cx.net.driver.wait(events, Some(timeout.min(MS)));
        }
        self.cx.net.driver.wait(events, Some(0))?;
        if events.iter().next().is_some() {
            return Ok(());
        }
        let step = timeout.min(steps.allowed() - self.cx.clock.now());
        if step > 0 {
            self.cx.clock.skip(step);
            return Ok(());
        }
        self.cx.net.driver.wait(events, Some(timeout.min(PAUSE)))
    }

    /// Returns true if the core waits for an answer from another process or thread.
    fn is_in_flight(&self) -> bool {
        let waits = (0..).zip(&self.cx.users.all).any(|(index, user)| {
            user.alive
                && match user.wait {
                    Wait::Session(_)
                    | Wait::Page(_)
                    | Wait::Job(_)
                    | Wait::File(_)
                    | Wait::Java => true,
                    Wait::WebSocket(_) => !self.websocket.holds(&self.cx, UserId::from(index)),
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
                    | Wait::Branches(_) => false,
                }
        });
        waits || self.sessions.held.awaits_answers()
    }
}
