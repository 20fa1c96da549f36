//! The state of a run that all its cores share: settings, numbers of users, inboxes of the cores. Cores read it at
//! any time and change it only through atomics.

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
use crate::time::clock::Zero;
use crate::time::steps::Steps;

/// The state of a run that all its cores share.
#[derive(Debug)]
pub(crate) struct RunShared {
    pub(crate) zero: Zero,
    pub(crate) cores: u32,
    /// In tests: the time up to which the clock may advance.
    pub(crate) steps: Option<Arc<Steps>>,
    /// The system's local ports; `None` leaves the choice of ports to the kernel.
    pub(crate) ports: Option<Range>,
    pub(crate) shard: Shard,
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    /// True if the run must stop at once. Long work on a core checks this flag, because the core reads no messages
    /// during that work.
    pub(crate) hurry: Arc<AtomicBool>,
    pub(crate) groups: Vec<GroupSettings>,
    /// For each group: its end if it has a duration, or its start if its users have individual ends, in nanoseconds
    /// of the run's clock. Set when the group starts.
    pub(crate) ends: Vec<AtomicI64>,
    /// Per group: time at which its users must end because its schedule has ended; [`i64::MAX`] is never.
    pub(crate) closings: Vec<AtomicI64>,
    pub(crate) counts: Counts,
    pub(crate) diary: Diary,
    pub(crate) initial: Arc<Initial>,
    pub(crate) shared: plan::function::Shared,
    pub(crate) state: plan::state::RunState,
    /// State of listeners that save responses, by the index of the listener in the plan.
    pub(crate) savers: Vec<Option<SaverStart>>,
    /// Path of the plan's folder.
    pub(crate) base_dir: PathBuf,
    pub(crate) last_sample_ok: Option<VarId>,
    /// The variable of `USER_TOKEN`, if the plan uses it.
    pub(crate) user_token: Option<VarId>,
    pub(crate) hostname: String,
    pub(crate) resolver: Sender<Question>,
    pub(crate) files: Reader,
    /// The plan's own name servers, if it has any.
    pub(crate) names: Option<NameServers>,
    /// State that decides whether scripts may open HTTPS to any server.
    pub(crate) trust: Trust,
    pub(crate) inboxes: Vec<Inbox>,
}

impl RunShared {
    /// Returns the rank of a core of this process among the cores of all processes. Ranks alternate between the
    /// processes, so that all processes get the same number of users.
    pub(crate) fn rank(&self, core: u32) -> u32 {
        core * self.shard.count + self.shard.index
    }

    /// Returns the number of cores of all processes.
    pub(crate) fn ranks(&self) -> u32 {
        self.cores * self.shard.count
    }

    pub(crate) fn inbox(&self, core: u32) -> Inbox {
        self.inboxes[core as usize].clone()
    }
}
