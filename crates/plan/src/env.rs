//! Everything that an expression may read and change: the variables and identity of one user, the state that
//! functions keep for a user, and the state that all users of the process share.
//!
//! Evaluation never blocks: shared counters are atomics, and properties are read from a snapshot, which is renewed
//! only after a property was written.

use lang::buffers::Buffers;
use lang::variables::Variables;

use crate::function::{Memory, Shared};
use crate::template::{Template, Thrown};
use crate::vars::{Names, Vars};

/// Everything that an evaluation reads and writes. The engine builds an `Env` on the stack for each step of a user.
#[derive(Debug)]
pub struct Env<'a> {
    /// Variable names of the plan.
    pub names: &'a Names,
    /// Variables of the user.
    pub vars: &'a mut Vars,
    /// Identity of the user.
    pub who: UserIdentity<'a>,
    /// State that functions keep for this user (per-user counters, file positions).
    pub memory: &'a mut Memory,
    /// State that elements keep for this user (its counters, its positions in CSV files, its column of User
    /// Parameters).
    pub notes: &'a mut crate::state::Memory,
    /// State that elements share between all users (CSV files, counters, throughput timers).
    pub run: &'a crate::state::RunState,
    /// State that functions share between all users (properties, counters, files, log).
    pub shared: &'a Shared,
    /// Reusable buffers and the random generator of the core.
    pub core: &'a mut Scratch,
    /// Clock of the evaluation, read only when an expression needs the time, because reading it costs as much as
    /// evaluating a short expression.
    pub clock: &'a dyn WallClock,
}

/// Source of the current time.
pub trait WallClock: std::fmt::Debug {
    /// Returns the time of day in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Returns the time in milliseconds since 1970 by a clock that is never adjusted; used for waits and schedules.
    fn run_ms(&self) -> i64 {
        self.now_ms()
    }
}

/// A constant time in milliseconds since 1970.
impl WallClock for i64 {
    fn now_ms(&self) -> i64 {
        *self
    }
}

impl Env<'_> {
    /// Returns the time of day in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Returns the time in milliseconds since 1970 by the clock of the run, which is never adjusted.
    pub fn run_ms(&self) -> i64 {
        self.clock.run_ms()
    }

    /// Calls `read` with the value of the variable whose name the template evaluates to; `None` if the variable is
    /// undefined.
    pub(crate) fn read_named<R>(
        &mut self,
        name: &Template,
        read: impl FnOnce(Option<&str>) -> R,
    ) -> R {
        let mut text = self.core.take();
        name.eval(self, &mut text);
        let made = read(self.vars.get_named(self.names, &text));
        self.core.give(text);
        made
    }
}

impl Variables for Env<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.vars.get_named(self.names, name)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.vars.set_named(self.names, name, value);
    }

    fn remove_variable(&mut self, name: &str) {
        self.vars.remove_named(self.names, name);
    }

    fn property(&mut self, name: &str) -> Option<&str> {
        self.core.cache.property(self.shared, name)
    }

    fn set_property(&mut self, name: &str, value: &str) -> Option<String> {
        self.shared.set_property(name, value).map(Into::into)
    }

    fn thread_name(&self, out: &mut String) {
        self.who.thread_name(out);
    }
}

/// Identity of a user as JMeter's thread context describes it.
#[derive(Clone, Copy, Debug)]
pub struct UserIdentity<'a> {
    /// Name of the test plan file (`__TestPlanName`).
    pub plan_file: &'a str,
    /// Prefix of user names: the host name if several hosts each run the whole plan, otherwise empty.
    pub prefix: &'a str,
    /// Evaluated name of the thread group.
    pub group: &'a str,
    /// Suffix of user names after the group name, such as `-ThreadStarter`; empty for most groups.
    pub tail: &'static str,
    /// Number of the group within its phase, from 1.
    pub group_number: u32,
    /// Number of the user within its group, from 0; thread names show it from 1.
    pub user: u32,
    /// Iteration of the group's main loop, from 1.
    pub iteration: u32,
    /// Evaluated name of the running sampler; empty if no sampler runs.
    pub sampler: &'a str,
}

impl UserIdentity<'_> {
    /// Appends the thread name, `<prefix><group> <group number>-<user number>`.
    pub fn thread_name(&self, out: &mut String) {
        use std::fmt::Write;
        let Self { prefix, group, tail, group_number, user, .. } = self;
        let _ = write!(out, "{prefix}{group}{tail} {group_number}-{}", user + 1);
    }
}

/// Reusable buffers of a core.
#[derive(Debug)]
pub struct Scratch {
    /// Random number generator.
    pub random: crate::random::Random,
    /// First exception that an evaluation threw since the field was last taken, as in JMeter. The caller that renders a
    /// sampler takes the exception and fails the sample (or ends the user, see [`Thrown::stops_user`]).
    pub thrown: Option<Thrown>,
    /// Set if a post-processor threw an exception, so that the sample is lost. The value says how the user goes on:
    /// continue or end.
    pub lost: Option<crate::result::Request>,
    /// Template of the running sampler's name, if it contains functions with side effects; evaluated each time that an
    /// expression reads the name.
    pub sampler: Option<crate::template::Template>,
    /// True while a sampler's name is being evaluated; reading the name then would recurse endlessly.
    pub naming: bool,
    /// Messages about lost samples that were logged. Each message is logged once.
    pub(crate) told: std::collections::HashSet<Box<str>>,
    /// Values that functions cache on this core.
    pub(crate) cache: crate::function::Cache,
    /// Contents of files that requests of this core send.
    pub(crate) files: crate::http::Contents,
    pub(crate) buffers: Buffers,
}

impl Scratch {
    /// Creates empty buffers and a random generator with the given seed.
    pub fn new(seed: u64) -> Self {
        let cache = crate::function::Cache::default();
        Self {
            random: crate::random::Random::new(seed),
            thrown: None,
            lost: None,
            sampler: None,
            naming: false,
            told: std::collections::HashSet::new(),
            cache,
            files: crate::http::Contents::default(),
            buffers: Buffers::default(),
        }
    }

    /// Takes an empty buffer; return it with [`Scratch::give`].
    pub fn take(&mut self) -> String {
        self.buffers.take()
    }

    /// Returns a buffer for reuse.
    pub fn give(&mut self, buffer: String) {
        self.buffers.give(buffer);
    }
}
