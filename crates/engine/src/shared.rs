//! The state of a run that all its cores see: settings, numbers of users, the ways between cores. Read at any time, changed
//! by atomics alone.

pub(crate) mod connections;
pub(crate) mod deadlines;
pub(crate) mod diary;
pub(crate) mod group;
pub(crate) mod polling;
pub(crate) mod savers;
pub(crate) mod trust;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::mpsc::Sender;
use std::time::Instant;

use plan::state::Shard;
use plan::vars::{Initial, VarId};

use crate::files::Reader;
use crate::inbox::Inbox;
use crate::net::nameserver::NameServers;
use crate::net::ports::Range;
use crate::net::resolve::Question;
use crate::settings::Settings;
use crate::shared::diary::Diary;
use crate::shared::group::{Counts, GroupSettings};
use crate::shared::savers::SaverStart;
use crate::shared::trust::Trust;
use crate::time::steps::Steps;

/// The state of a run that all its cores see.
#[derive(Debug)]
pub(crate) struct RunShared {
    /// Zero of its clock, and the nanoseconds since 1970 at it by the clock of the run.
    pub(crate) zero: (Instant, i64),
    pub(crate) cores: u32,
    /// Where a test steps the clock.
    pub(crate) steps: Option<Arc<Steps>>,
    /// Local ports that may be dealt out; `None` leaves it to the kernel.
    pub(crate) ports: Option<Range>,
    pub(crate) shard: Shard,
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    /// The run is to stop at once: what takes long on a core ends without a message, which the core does not read meanwhile.
    pub(crate) hurry: Arc<AtomicBool>,
    pub(crate) groups: Vec<GroupSettings>,
    /// End of each group with a duration, or start of one whose users have ends of their own, nanoseconds of the run's clock; set when the
    /// group starts.
    pub(crate) ends: Vec<AtomicI64>,
    /// When a group's users must end because a schedule that some of them pass has ended; [`i64::MAX`] is never.
    pub(crate) closings: Vec<AtomicI64>,
    pub(crate) counts: Counts,
    pub(crate) diary: Diary,
    pub(crate) initial: Arc<Initial>,
    pub(crate) shared: plan::function::Shared,
    pub(crate) state: plan::state::RunState,
    /// By the place of the listener in the plan.
    pub(crate) savers: Vec<Option<SaverStart>>,
    /// The plan's folder.
    pub(crate) base_dir: PathBuf,
    pub(crate) last_sample_ok: Option<VarId>,
    /// Where something looks at it, the variable of `USER_TOKEN`.
    pub(crate) user_token: Option<VarId>,
    pub(crate) hostname: String,
    pub(crate) resolver: Sender<Question>,
    pub(crate) files: Reader,
    /// Where the plan has name servers of its own.
    pub(crate) names: Option<NameServers>,
    /// Whether scripts may open HTTPS to any server.
    pub(crate) trust: Trust,
    pub(crate) inboxes: Vec<Inbox>,
}

impl RunShared {
    /// Which of all cores of the run, in all processes, the core of that number here is. Users are dealt out to the
    /// processes first, so that each has as many as any other.
    pub(crate) fn rank(&self, core: u32) -> u32 {
        core * self.shard.count + self.shard.index
    }

    /// All cores of the run.
    pub(crate) fn ranks(&self) -> u32 {
        self.cores * self.shard.count
    }

    pub(crate) fn inbox(&self, core: u32) -> Inbox {
        self.inboxes[core as usize].clone()
    }
}
