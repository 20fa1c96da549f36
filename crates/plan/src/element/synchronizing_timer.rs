//! Synchronizing Timer: users wait until so many of them are there.
//!
//! 0 are all users of the group. In a run of several processes, each lets its own users go together: as many as are its part of the number.

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::plan::BarrierId;
use crate::template::Template;

/// A compiled Synchronizing Timer.
#[derive(Debug)]
pub struct SyncTimer {
    /// Which one it is; copies for several groups share it.
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
    /// How many users go together, of `users` in the group; `None` if nobody waits.
    pub fn size(&self, users: u32, env: &mut Env<'_>) -> Option<u32> {
        match self.size.int(env) {
            0 => Some(users),
            size => u32::try_from(size).ok(),
        }
    }

    /// How long a user waits for the others, milliseconds; 0 is without limit.
    pub fn timeout_ms(&self, env: &mut Env<'_>) -> i64 {
        self.timeout_ms.long(env)
    }
}
