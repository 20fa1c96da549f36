//! The facts of a run that do not change while it runs, such as program, plan, machine and load; and its ending.

/// Name of the setting that holds a hash of the plan's text, without properties.
pub const PLAN_TEXT: &str = "plan text";
/// Name of the setting that holds the number of local ports for each destination, over all source addresses together.
pub const PORTS_EACH: &str = "ports_each";
/// Name of the setting that says for which destinations the kernel reuses ports in TIME_WAIT: `net.ipv4.tcp_tw_reuse`.
pub const TIME_WAIT_REUSE: &str = "time_wait_reuse";
/// Name of the setting that holds the initial size of a socket's receive buffer in bytes: the default of
/// `net.ipv4.tcp_rmem`.
pub const RECEIVE_BUFFER: &str = "receive_buffer";

/// Name of the setting that lists names shared by several samplers of the plan, one per line.
pub const SHARED_NAMES: &str = "shared_names";

/// Name of the setting that lists files that the plan reads but that did not exist, one per line with element and
/// position.
pub const MISSING_FILES: &str = "missing_files";

/// Name of the setting that lists files that Include Controllers of the plan name but that could not be included, one
/// per line.
pub const MISSING_INCLUDES: &str = "missing_includes";

/// Name of the setting that holds the number of assertions on the samplers of the plan.
pub const ASSERTIONS: &str = "assertions";

/// Name of the setting that lists the data series extracted from responses, one `NAME=SOURCE` per line: the
/// property as the user set it.
const SERIES: &str = "-Jthrong.series";

/// Name of the setting that marks a run whose users loop forever: a main thread group has neither a loop count nor
/// a duration.
pub const ENDLESS: &str = "endless";
/// Name of the setting that exists only if the plan has a main thread group.
pub const MAIN_GROUP: &str = "main_group";
/// Name of the setting that holds the number of users in thread groups whose load is a rate, such as arrivals or groups
/// with a throughput timer. It exists only if other groups have no rate.
pub const RATE_USERS: &str = "rate_users";

/// Facts about a run that do not change while it runs, and its ending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Version of the program that made the record; empty for a record from a result file.
    pub version: String,
    /// Path of the plan, as given on the command line.
    pub plan: String,
    /// Hash of the plan's text with all included files.
    pub plan_hash: u64,
    /// Start of the run, epoch ms.
    pub start_ms: i64,
    /// Length of the run, ms. For a killed run, it ends with the last recorded second.
    pub length_ms: i64,
    /// Time from the start of the first request to the end of the last request, ms. Rates are relative to it. 0 if
    /// unknown.
    pub ran_ms: i64,
    /// Number of processors of the generator's machine.
    pub processors: u32,
    /// Memory of the generator's machine, bytes.
    pub memory: u64,
    /// Number of threads that run users.
    pub threads: u32,
    pub load: Load,
    pub ending: Ending,
    /// True if requests go to this machine, so that generator and target share its processors.
    pub target_is_here: bool,
    /// Number of local ports that the run can use towards its destinations; 0 if they were not counted.
    pub ports: u64,
    /// Settings that a rule or a comparison needs, by name: `keep_alive`, `new_user_each_iteration`, `timeout_ms`,
    /// `dns_pinned` …; properties of the command line as `-Jname`; and [`PLAN_TEXT`].
    pub settings: Vec<(String, String)>,
}

impl Frame {
    /// Returns names and sources of the data series extracted from responses, in the order of their indices.
    pub fn series(&self) -> impl Iterator<Item = (&str, &str)> {
        let list = self.settings.iter().find(|(name, _)| name == SERIES);
        let lines = list.into_iter().flat_map(|(_, lines)| lines.lines());
        let lines = lines.filter(|line| !line.trim().is_empty());
        lines.map(|line| line.split_once('=').map_or((line, ""), |(a, b)| (a.trim(), b.trim())))
    }

    /// Returns true if the record says that samplers of the plan have assertions.
    pub fn has_assertions(&self) -> bool {
        let count = self.settings.iter().find(|(name, _)| name == ASSERTIONS);
        count.is_some_and(|(_, count)| count.parse().is_ok_and(|count: u64| count > 0))
    }

    /// Returns the time to which rates are relative, in seconds: the time in which users ran if known, else the
    /// length of the run.
    pub fn rate_s(&self) -> f64 {
        let ms = if self.ran_ms > 0 { self.ran_ms } else { self.length_ms };
        ms.max(1) as f64 / 1000.0
    }
}

/// Period in which the requested rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatePeriod {
    pub length_ms: i64,
    /// Samples per second at the beginning of the period.
    pub begin: f64,
    /// Samples per second at the end of the period.
    pub end: f64,
}

/// The requested load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Largest requested number of users at one time, if the plan sets their number.
    pub users: u64,
    /// Largest requested number of starts per second at one time, from throughput timers, arrivals or `--rps`.
    pub rate: Option<f64>,
    /// Rate that timers keep, from the start on. Empty if the rate is constant.
    pub schedule: Vec<RatePeriod>,
    /// Requested length of the run, ms.
    pub length_ms: Option<i64>,
    /// True if new work starts regardless of the responses: an open workload.
    pub open: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// No ending was recorded: the process was killed, or the run continues.
    #[default]
    Unknown,
    Completed,
    Interrupted,
    StoppedByPlan,
    /// A threshold ended the run; the string names it.
    Aborted(String),
}

/// An event of the run that every chart marks with a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Time of the event, epoch ms.
    pub at_ms: i64,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The requested number of users changed to this value.
    Users(u64),
    Rate(f64),
    Paused,
    WentOn,
    /// A phase of the load begins: `ramp`, `hold`, step number …
    Phase(String),
    /// The stop of the run began: users end after their samples in flight, or at once.
    Stop {
        at_once: bool,
    },
    /// A note that the user added.
    Note(String),
    /// A worker process or a machine of the fleet was lost.
    Lost(String),
}
