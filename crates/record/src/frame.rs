//! The facts of a run that do not change while it lasts: program, plan, machine, load, end.

/// Name of the setting that holds a hash of the plan's text, without properties.
pub const PLAN_TEXT: &str = "plan text";
/// The setting that says how many local ports each destination has, of all source addresses together.
pub const PORTS_EACH: &str = "ports_each";
/// The setting that says for which destinations the kernel gives ports in TIME_WAIT again: `net.ipv4.tcp_tw_reuse`.
pub const TIME_WAIT_REUSE: &str = "time_wait_reuse";
/// The setting that holds the bytes of a socket's receive buffer to begin with: the default of `net.ipv4.tcp_rmem`.
pub const RECEIVE_BUFFER: &str = "receive_buffer";

/// The setting that lists names which several samplers of the plan have, one a line.
pub const SHARED_NAMES: &str = "shared_names";

/// The setting that lists files which the plan reads and that were not there, one a line, each with its element and place.
pub const MISSING_FILES: &str = "missing_files";

/// The setting that says how many assertions the samplers of the plan have.
pub const ASSERTIONS: &str = "assertions";

/// The setting that lists the series of numbers in answers, `NAME=SOURCE`, one a line: the property as it was given.
const SERIES: &str = "-Jthrong.series";

/// The setting of a run whose users loop without end, as a main thread group has neither a number of loops nor a duration.
pub const ENDLESS: &str = "endless";
/// The setting that names the users whom a rate starts or keeps, where a plan has others as well.
pub const RATE_USERS: &str = "rate_users";

/// Facts about a run that do not change while it runs, and its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Version of the program that made the record; of JMeter's rows, empty.
    pub version: String,
    /// The plan's name, and a hash of its text with all that it includes.
    pub plan: String,
    pub plan_hash: u64,
    /// Epoch ms.
    pub start_ms: i64,
    /// Length of the run, ms; of a killed run, up to its last second.
    pub length_ms: i64,
    /// Time from the start of the first request to the end of the last one, ms, which rates are by; 0 where it is not
    /// known.
    pub ran_ms: i64,
    /// The machine: its processors and memory (bytes), and the threads that run users.
    pub processors: u32,
    pub memory: u64,
    pub threads: u32,
    pub load: Load,
    pub ending: Ending,
    /// Whether requests go to this very machine, so that generator and target share its processors.
    pub target_is_here: bool,
    /// Ports that the run can use towards its destinations; 0 where that was not counted.
    pub ports: u64,
    /// Settings that matter to a rule or a comparison, by name: `keep_alive`, `new_user_each_iteration`, `timeout_ms`,
    /// `dns_pinned` …, properties of the command line as `-Jname`, and [`PLAN_TEXT`].
    pub settings: Vec<(String, String)>,
}

impl Frame {
    /// Names and sources of the series of numbers in answers, by their place.
    pub fn series(&self) -> impl Iterator<Item = (&str, &str)> {
        let list = self.settings.iter().find(|(name, _)| name == SERIES);
        let lines = list.into_iter().flat_map(|(_, lines)| lines.lines());
        let lines = lines.filter(|line| !line.trim().is_empty());
        lines.map(|line| line.split_once('=').map_or((line, ""), |(a, b)| (a.trim(), b.trim())))
    }

    /// Whether samplers of the plan have assertions, as far as the record says it.
    pub fn has_assertions(&self) -> bool {
        let count = self.settings.iter().find(|(name, _)| name == ASSERTIONS);
        count.is_some_and(|(_, count)| count.parse().is_ok_and(|count: u64| count > 0))
    }

    /// The time that rates are by, s: that in which users ran, or the run's length.
    pub fn rate_s(&self) -> f64 {
        let ms = if self.ran_ms > 0 { self.ran_ms } else { self.length_ms };
        ms.max(1) as f64 / 1000.0
    }
}

/// The load that was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Users, where their number is given; the most at one time.
    pub users: u64,
    /// Starts per second that the plan or the user asks for (throughput timers, arrivals, `--rps`); the most at one time.
    pub rate: Option<f64>,
    /// How the rate that timers keep changes, from the start on: lengths, ms, and the rate at their begin and end. Empty: it
    /// does not.
    pub schedule: Vec<(i64, f64, f64)>,
    /// Length asked for, ms.
    pub length_ms: Option<i64>,
    /// Whether new work starts whatever the answers do.
    pub open: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// No end was written: the process was killed, or still runs.
    #[default]
    Unknown,
    Completed,
    Interrupted,
    StoppedByPlan,
    /// A threshold ended it.
    Aborted(String),
}

/// A moment of the run worth a line in every picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Epoch ms.
    pub at_ms: i64,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The load asked for, from here on.
    Users(u64),
    Rate(f64),
    Paused,
    WentOn,
    /// A phase of the load begins: `ramp`, `hold`, step number …
    Phase(String),
    /// The stop began: users end after their samples in flight, or at once.
    Stop {
        at_once: bool,
    },
    /// A user's own word.
    Note(String),
    /// A worker process or a machine of the fleet was lost.
    Lost(String),
}
