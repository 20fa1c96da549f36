//! Synchronizing Timer: users wait until a number of users has arrived.
//!
//! A size of 0 means all users of the group. If the run has several processes, each process releases its own users as
//! soon as its share of the number has arrived.

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::plan::BarrierId;
use crate::template::Template;

/// A compiled Synchronizing Timer.
#[derive(Debug)]
pub struct SyncTimer {
    /// Index of the timer's barrier. If several groups use the timer, its copies have the same index.
    pub at: BarrierId,
    size: Template,
    timeout_ms: Template,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> SyncTimer {
    SyncTimer {
        at: BarrierId(id.index() as u32),
        size: ctx.prop_or(id, "groupSize", "0"),
        timeout_ms: ctx.prop_or(id, "timeoutInMs", "0"),
    }
}

impl SyncTimer {
    /// Returns the number of users to release together; `None` if the size is negative, so that users do not wait.
    /// `users` is the number of users in the group.
    pub fn size(&self, users: u32, env: &mut Env<'_>) -> Option<u32> {
        match self.size.int(env) {
            0 => Some(users),
            size => u32::try_from(size).ok(),
        }
    }

    /// Returns the maximum wait in milliseconds; 0 means no limit.
    pub fn timeout_ms(&self, env: &mut Env<'_>) -> i64 {
        self.timeout_ms.long(env)
    }
}
