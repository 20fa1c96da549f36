//! The compiled plan: the meaning of a `.jmx` file, resolved once and shared by all cores as one `Arc`.
//!
//! As in JMeter, the engine asks controllers for the next sampler ([`Controller`]). JMeter's scoping (which config
//! elements, processors, timers, assertions and listeners apply to a sampler) is resolved into each [`Sampler`]. A
//! plan never changes during a run: changing state is in [`RunState`](crate::state::RunState) and in the users.

use std::sync::Arc;

use crate::action::Action;
use crate::assertion::Assertion;
use crate::condition::Condition;
use crate::element::{
    CounterConfig, CsvDataSet, KeystoreConfig, RandomVariable, RedisDataSet, Timer, UserParameters,
};
use crate::extract::Extractor;
use crate::gateway::Gateway;
use crate::http::{Http, Session};
use crate::java_backed::{JavaBacked, JavaBackedId, Job, TextRange};
use crate::number::Setting;
use crate::result::Request;
use crate::script::Scripted;
use crate::template::Template;
use crate::vars::{Names, VarId};
use crate::websocket::{FrameFilter, Heartbeat, WebSocket};

/// Index of a thread group in [`Plan::groups`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

impl GroupId {
    /// Returns the index into [`Plan::groups`].
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Index of a controller in [`Plan::controllers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControllerId(pub u32);
/// Index of a sampler in [`Plan::samplers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerId(pub u32);
/// Index of a listener in [`Plan::listeners`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListenerId(pub u32);

/// Index of the barrier of a Synchronizing Timer. Copies of a timer for several groups have the same barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierId(pub u32);

/// A compiled plan.
#[derive(Debug)]
pub struct Plan {
    /// Name of the Test Plan element.
    pub name: String,
    /// File name of the plan without folders.
    pub file: String,
    /// Names of all variables that the plan mentions.
    pub names: Names,
    /// User Defined Variables in JMeter's order of evaluation. Variables of one block cannot refer to each other.
    pub variables: Vec<Vec<(VarId, Template)>>,
    /// Thread groups, in the order of the file.
    pub groups: Vec<Group>,
    /// True if the file has a main thread group, enabled or not. setUp and tearDown groups are not main groups.
    pub has_main_group: bool,
    /// True if a setUp or tearDown group is enabled.
    pub has_groups_aside: bool,
    /// Controllers of all groups.
    pub controllers: Vec<Controller>,
    /// Samplers of all groups.
    pub samplers: Vec<Sampler>,
    /// Listeners that process results.
    pub listeners: Vec<Listener>,
    /// Names of Generate Summary Results listeners, in addition to the summariser that the properties set.
    pub summarisers: Vec<String>,
    /// PerfMon collectors, which monitor hosts during the run.
    pub monitors: Vec<crate::element::PerfMon>,
    /// CSV Data Set Config elements.
    pub csv: Vec<CsvDataSet>,
    /// Redis Data Set elements.
    pub redis: Vec<RedisDataSet>,
    /// Counter elements.
    pub counters: Vec<CounterConfig>,
    /// Random Variable elements.
    pub randoms: Vec<RandomVariable>,
    /// User Parameters elements.
    pub user_parameters: Vec<UserParameters>,
    /// HTTP URL Re-writing Modifiers, which search every response for a session id.
    pub sessions: Vec<Session>,
    /// True if the plan has HTML Link Parsers, for which every response is kept.
    pub follows_links: bool,
    /// True if an expression calls `__samplerName`, which returns the name of the previous sampler between two samples.
    pub asks_for_sampler: bool,
    /// HTTP Cookie Manager elements.
    pub cookie_managers: Vec<CookieManager>,
    /// HTTP Cache Manager elements.
    pub cache_managers: Vec<CacheManager>,
    /// HTTP Authorization Manager elements.
    pub auth_managers: Vec<AuthManager>,
    /// Keystore Configurations, which choose client keys from the key store.
    pub keystores: Vec<KeystoreConfig>,
    /// DNS Cache Manager elements.
    pub dns_managers: Vec<DnsCacheManager>,
    /// Natively run scripts of pre-processors.
    pub scripts: Vec<Arc<Scripted>>,
    /// Frame filters of WebSocket samplers ([`FilterId`](crate::websocket::FilterId)).
    pub frame_filters: Vec<FrameFilter>,
    /// Heartbeats of WebSocket connections ([`HeartbeatId`](crate::websocket::HeartbeatId)).
    pub heartbeats: Vec<Heartbeat>,
    /// Mobile gateways whose requests are signed and encrypted.
    pub gateways: Vec<Gateway>,
    /// Time limits of Sample Timeout elements, in milliseconds.
    pub timeouts: Vec<Template>,
    /// Number of throughput timers, each of which has state that users share.
    pub throughput_timers: u32,
    /// Number of Throughput Controllers, each of which has state that users share.
    pub throughput_controllers: u32,
    /// True if groups run one after another (`TestPlan.serialize_threadgroups`).
    pub serialize_groups: bool,
    /// True if tearDown groups run even after the run was stopped.
    pub teardown_on_shutdown: bool,
    /// True in functional mode: results keep their response data.
    pub functional_mode: bool,
    /// Elements and expressions that only Java can run.
    pub java_backed: JavaBacked,
    /// Jars and folders for Java's class path (`TestPlan.user_define_classpath`).
    pub class_path: Vec<String>,
    /// True if the name of a Transaction Controller contains function calls, so that it must be evaluated for each
    /// transaction.
    pub names_call: bool,
    /// Hash of the plan's XML and of the properties.
    pub hash: u64,
    pub text_hash: u64,
}

impl Plan {
    /// Returns the kind of a sampler; `None` if there is no current sampler.
    pub fn kind_of(&self, sampler: Option<SamplerId>) -> Option<&SamplerKind> {
        Some(&self.samplers[sampler?.0 as usize].kind)
    }

    /// Returns the samplers of a group, in the order of the file.
    pub fn samplers_of(&self, group: &Group) -> Vec<SamplerId> {
        let (mut found, mut open) = (Vec::new(), vec![Child::Controller(group.main)]);
        while let Some(child) = open.pop() {
            match child {
                Child::Sampler(id) => {
                    found.push(id);
                    if let SamplerKind::Parallel(parallel) = &self.samplers[id.0 as usize].kind {
                        let branches = parallel.branches.iter().rev();
                        open.extend(branches.map(|branch| Child::Controller(*branch)));
                    }
                }
                Child::Controller(id) => {
                    open.extend(self.controllers[id.0 as usize].children.iter().rev());
                }
            }
        }
        found
    }
}

/// Phase of the run in which a group runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Runs before all main groups (setUp groups).
    Setup,
    /// Generates the load (main groups).
    Main,
    /// Runs after all main groups (tearDown groups).
    Teardown,
}

/// Action of a user after a failed sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Continues with the next element.
    Continue,
    /// Starts the next iteration of the thread group.
    NextLoop,
    /// Ends the user.
    StopUser,
    /// Ends the run after the samples in flight are complete.
    StopTest,
    /// Ends the run immediately.
    StopTestNow,
}

/// A thread group.
#[derive(Debug)]
pub struct Group {
    /// Name of the group, evaluated when the run starts.
    pub name: Template,
    /// Phase in which the group runs.
    pub phase: Phase,
    /// Number of the group within its phase, from 1; part of thread names.
    pub number: u32,
    /// Rule by which users start and end.
    pub profile: Profile,
    /// Number of users.
    pub users: Template,
    /// Ramp-up time in seconds.
    pub ramp_up: Template,
    /// True if `duration` and `delay` apply.
    pub scheduler: bool,
    /// Duration in seconds.
    pub duration: Template,
    /// Start delay in seconds.
    pub delay: Template,
    /// True if each user is created at its start time, instead of creating all users at the start of the group.
    pub delayed_start: bool,
    /// Action after a failed sample.
    pub on_error: OnError,
    /// True if a user keeps its cookies and connections between iterations.
    pub same_user: bool,
    /// Main loop controller; its children are the elements of the group.
    pub main: ControllerId,
    /// Number of state slots per user of this group ([`Controller::slot`]).
    pub slots: u32,
    /// Path of the group's element, for messages.
    pub path: String,
}

impl Group {
    /// Returns the scheduler's setting because of which no user starts, as in JMeter: a negative delay, or a duration
    /// that is not positive. Both are in seconds.
    pub fn refused_time(&self, delay_s: i64, duration_s: i64) -> Option<Setting> {
        // With delayed thread creation, JMeter does not check for a negative delay.
        if delay_s < 0 && !self.delayed_start {
            return Some(Setting::Delay);
        }
        (duration_s <= 0).then_some(Setting::Duration)
    }
}

/// Rule by which the users of a group start and end.
#[derive(Debug)]
pub enum Profile {
    /// Users start evenly over the ramp-up and run until the group ends (Thread Group).
    RampUp,
    /// Table of user counts; each row has users, start delay, start-up time, hold time and shutdown time, in
    /// seconds.
    Rows(Vec<[Template; 5]>),
    /// Steps (Stepping Thread Group): total users, start delay, users per step, users of the first step, time
    /// between steps, ramp-up of a step, hold time at full load, users per stop step, and time between stop steps.
    /// Times in seconds.
    Steps(Box<[Template; 9]>),
    /// Number of concurrent users to keep (Concurrency Thread Group): target, ramp-up, steps, hold time, and the
    /// unit of both times (`M` is minutes, otherwise seconds). A user that ends early is replaced.
    Concurrency(Box<[Template; 5]>),
    /// Iterations start at scheduled times, and any idle user runs them.
    Arrivals(Box<crate::element::Arrivals>),
    /// Users start at scheduled times and run one iteration each (Open Model Thread Group).
    Open {
        /// The schedule as a string.
        schedule: Template,
        /// Seed of the random arrival times; 0 means a different seed in each run.
        seed: Template,
    },
}

/// A child of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// A sampler.
    Sampler(SamplerId),
    /// A nested controller.
    Controller(ControllerId),
}

/// A controller. Its state is in the slots of each user.
#[derive(Debug)]
pub struct Controller {
    /// Name of the controller.
    pub name: Template,
    /// Kind of the controller, with its settings.
    pub kind: ControllerKind,
    /// Parent controller; `None` for the main loop of a group.
    pub parent: Option<ControllerId>,
    /// Index of the controller's first state slot in a user. The engine defines the contents of the slots.
    pub slot: u32,
    /// Number of the controller's state slots.
    pub slots: u32,
    /// Children in the order of the file.
    pub children: Vec<Child>,
    /// Templates that Java evaluates before the controller chooses a child.
    pub evaluates: TextRange,
    /// Events at the start of each iteration of this controller.
    pub on_iteration: Vec<OnIteration>,
    /// The variable `__jm__<name>__idx`, if the plan mentions it.
    pub index: Option<VarId>,
}

/// Kinds of controllers.
#[derive(Debug)]
pub enum ControllerKind {
    /// Runs its children once.
    Simple,
    /// Runs its children a number of times.
    Loop {
        /// Number of passes of the loop.
        count: LoopCount,
        /// True if a user that has completed the loop never runs it again (`LoopController.continue_forever` is
        /// false).
        once: bool,
    },
    /// Runs its children if a condition is true.
    If {
        /// Condition of the If Controller.
        condition: Condition,
        /// True if the condition is evaluated before each child, not only on entry.
        evaluate_all: bool,
    },
    /// Repeats its children while a condition is true.
    While(WhileCondition),
    /// Runs its children once per value of a numbered series of variables.
    ForEach(ForEach),
    /// Runs its children only in the user's first iteration.
    OnceOnly,
    /// Measures its children as one sample.
    Transaction(Transaction),
    /// Runs one child per pass, in turn or at random.
    Interleave(Interleave),
    /// Runs all children once, in a random order that is drawn for each pass.
    RandomOrder,
    /// Runs the child selected by number or by name.
    Switch(Template),
    /// Runs one child per pass, selected by weight.
    WeightedSwitch(WeightedSwitch),
    /// Repeats its children for a time in seconds.
    Runtime(Template),
    /// Runs its children in only some of the parent's iterations.
    Throughput(ThroughputController),
    /// Sets variables each time a sampler is requested from it.
    Parameterized(crate::element::Parameters),
    /// Runs its children while the user holds the lock of this name, which all users share.
    Critical(Template),
    /// Runs the samplers that its Java class chooses.
    JavaBacked(JavaBackedId),
    /// Contains one child of a Parallel Controller and runs it once. Its parent is the parent of the Parallel
    /// Controller.
    Branch,
}

impl ControllerKind {
    /// Returns the number of state slots (u32 each) that a user needs for a controller with `children` children:
    /// the current child, flags, an iteration count, and the state of the controller's kind.
    pub fn slots(&self, children: u32) -> u32 {
        3 + match self {
            Self::Loop { .. } | Self::Interleave(_) => 1,
            Self::Runtime(_) | Self::Throughput(_) => 2,
            Self::RandomOrder => children,
            // Slots for the chosen child, the number of passes, and the passes of each row.
            Self::WeightedSwitch(switch) => 2 + switch.weights.len() as u32,
            _ => 0,
        }
    }

    /// Returns true for loop controllers. Flow Control Actions can break loops, and loops restart with each iteration
    /// of their parent.
    pub fn iterates(&self) -> bool {
        matches!(self, Self::Loop { .. } | Self::While(_) | Self::ForEach(_))
    }
}

/// An Interleave or a Random Controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interleave {
    /// True for a Random Controller, which draws the next child at random.
    pub random: bool,
    /// True if a child controller runs completely in one pass, instead of one of its samplers.
    pub whole_controllers: bool,
    /// True if the users begin with different children.
    pub across_users: bool,
}

/// A Weighted Switch Controller.
#[derive(Debug)]
pub struct WeightedSwitch {
    /// Weights of the children in their order; whole numbers.
    pub weights: Vec<Template>,
    /// True if the next child is drawn at random. Otherwise the child that is furthest below its share is next.
    pub random: bool,
}

/// A Throughput Controller.
#[derive(Debug)]
pub struct ThroughputController {
    /// Limit on the number of iterations in which the children run.
    pub share: ThroughputShare,
    /// True if the limit applies to each user separately.
    pub per_user: bool,
    /// Index among the plan's Throughput Controllers ([`Plan::throughput_controllers`]).
    pub at: u32,
}

/// Limit of a Throughput Controller.
#[derive(Debug)]
pub enum ThroughputShare {
    /// Maximum number of executions; a value that is not a number counts as 1.
    Total(Template),
    /// Percentage of iterations; a value that is not a number counts as 100.
    Percent(Template),
}

/// Number of passes of a loop.
#[derive(Debug)]
pub enum LoopCount {
    /// Endless loop.
    Forever,
    /// Number of passes, evaluated when the loop starts; -1 means endless.
    Count(Template),
    /// Number of passes, evaluated when the loop starts; zero, negative and empty values mean endless.
    Limit(Template),
}

/// Condition of a While controller.
#[derive(Debug)]
pub enum WhileCondition {
    /// Blank: repeats until the last sample of an iteration has failed.
    Blank,
    /// `LAST`: like blank, but the loop is skipped if the previous sample has failed.
    Last,
    /// Expression: repeats until its value is `false`.
    Expression(Template),
}

/// A ForEach controller.
#[derive(Debug)]
pub struct ForEach {
    /// Prefix of the input variable names.
    pub input: Template,
    /// Name of the output variable.
    pub output: Template,
    /// Index before the first value (exclusive); empty means 0.
    pub start: Template,
    /// Last index (inclusive); empty means no limit.
    pub end: Template,
    /// True if `_` separates prefix and number.
    pub separator: bool,
}

/// A Transaction controller.
#[derive(Debug)]
pub struct Transaction {
    /// True if the samples of its children become sub-results of one sample.
    pub parent: bool,
    /// True if the duration includes timers and processors.
    pub include_timers: bool,
    /// Listeners that record the transaction's sample.
    pub listeners: Vec<ListenerId>,
    /// Assertions in the scope of the transaction itself (parent mode).
    pub checks: Vec<Assertion>,
    /// Parts of the transaction's sample that its assertions and listeners read.
    pub needs: Needs,
    /// Path of the controller's element, for messages.
    pub path: String,
}

/// Event at the start of a controller's iteration; numbers are indexes into tables of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnIteration {
    /// Reads a line for an entry of `Plan::csv`.
    Csv(u32),
    /// Fetches a value for an entry of `Plan::redis`.
    Redis(u32),
    /// Increments a counter of `Plan::counters`.
    Counter(u32),
    /// Draws a value for an entry of `Plan::randoms`.
    Random(u32),
    /// Sets the variables of an entry of `Plan::user_parameters`, if the entry sets them once per iteration.
    UserParameters(u32),
    /// Has no effect at the start of an iteration: entries of `Plan::scripts` run before samplers.
    Script(u32),
    /// Notifies a controller that its parent starts an iteration.
    Controller(ControllerId),
}

/// Work of a pre-processor, done before the sampler's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Sets the variables that an entry of `Plan::user_parameters` defines.
    UserParameters(u32),
    /// Runs a script of `Plan::scripts`.
    Script(u32),
    /// Runs a job in Java.
    Job(Job),
}

bitflags::bitflags! {
    /// Parts of a response that processors, assertions or listeners read. Other parts are counted and dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Needs: u16 {
        /// Response header lines.
        const HEADERS = 1;
        /// Bytes of the response body.
        const BODY = 2;
        /// Response body as a string.
        const TEXT = 4;
        /// Request headers as a string.
        const REQUEST_HEADERS = 8;
        /// Request line and request body as a string.
        const SAMPLER_DATA = 16;
        /// URL of the request as a string.
        const URL = 32;
        /// The values for the row of a result file.
        const ROW = 64;
        /// The number or bodies of sub-results.
        const SUBS = 128;
        /// Links of an HTML page, whose embedded resources are downloaded.
        const PAGE = 256;
        /// Label of the sample, which a script may change.
        const LABEL = 512;
    }
}

/// A sampler with the elements in its scope.
#[derive(Debug)]
pub struct Sampler {
    /// Label of the sampler, evaluated for each sample.
    pub name: Template,
    /// Kind of the sampler, with its settings.
    pub kind: SamplerKind,
    /// Parent controller of the sampler.
    pub controller: ControllerId,
    /// Pre-processors, in JMeter's order.
    pub before: Vec<Before>,
    /// Sample Timeouts that apply to the sampler: indexes into `Plan::timeouts`.
    pub timeouts: Vec<u32>,
    /// Timers in scope; their delays are added up.
    pub timers: Vec<Timer>,
    /// Templates of the sampler and its config elements that Java evaluates right before the sampler runs.
    pub evaluates: TextRange,
    /// Post-processors, in JMeter's order.
    pub after: Vec<Extractor>,
    /// Assertions, in JMeter's order.
    pub checks: Vec<Assertion>,
    /// Listeners in scope.
    pub listeners: Vec<ListenerId>,
    /// Loop control or stop requested after a failure, in addition to the group's `on_error`.
    pub on_failure: OnFailure,
    /// Parts of the response that elements in scope read.
    pub needs: Needs,
    /// Path of the sampler's element, for messages.
    pub path: String,
}

/// Loop control or stop that a Result Status Action requests when a sampler fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnFailure {
    /// Request to end the user or the run.
    pub stop: Request,
    /// Request to leave the current iteration or loop.
    pub leave: Request,
}

/// Kinds of samplers.
#[derive(Debug)]
pub enum SamplerKind {
    /// HTTP Request.
    Http(Box<Http>),
    /// Debug Sampler.
    Debug(crate::element::DebugSampler),
    /// Flow Control Action: changes the flow, produces no result.
    Action(Action),
    /// Java Request with the built-in test classes.
    Java(crate::element::JavaSampler),
    /// TCP Sampler.
    Tcp(Box<crate::element::TcpSampler>),
    /// jp@gc HTTP Raw Request.
    HttpRaw(Box<crate::element::HttpRaw>),
    /// jp@gc UDP Request.
    Udp(Box<crate::element::UdpSampler>),
    /// SSE Sampler: reads events from a response that stays open.
    Sse(Box<crate::element::SseSampler>),
    /// OS Process Sampler: runs a program on this machine.
    Process(Box<crate::element::OsProcess>),
    /// jp@gc Dummy Sampler.
    Dummy(Box<crate::element::DummySampler>),
    /// A WebSocket sampler or a WebSocket hold sampler.
    WebSocket(Box<WebSocket>),
    /// JSR223 Sampler or BeanShell Sampler with a simple script.
    Script(Arc<Scripted>),
    /// bzm Parallel Controller: runs its children in parallel.
    Parallel(Box<Parallel>),
    /// A sampler that its Java class runs.
    JavaBacked(JavaBackedId),
}

/// A bzm Parallel Controller.
#[derive(Debug)]
pub struct Parallel {
    /// True if the samples of the branches become sub-results of one sample and are not passed to listeners
    /// separately.
    pub parent: bool,
    /// Maximum number of branches that run at the same time; `None` means all.
    pub most: Option<Template>,
    /// Controllers of the kind [`ControllerKind::Branch`], one for each child.
    pub branches: Vec<ControllerId>,
}

/// Managers that apply to an HTTP request: indexes into tables of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Managers {
    /// True if the cookie manager has an unusable configuration, which fails each sample.
    pub cookie_handler_missing: bool,
    /// Index in `Plan::cookie_managers`.
    pub cookies: Option<u32>,
    /// Index in `Plan::cache_managers`.
    pub cache: Option<u32>,
    /// Index in `Plan::auth_managers`.
    pub auth: Option<u32>,
    /// Index in `Plan::dns_managers`.
    pub dns: Option<u32>,
    /// Index in `Plan::gateways`.
    pub gateway: Option<u32>,
}

/// A Cache Manager.
#[derive(Debug)]
pub struct CacheManager {
    /// True if the cache is cleared at each iteration of the group.
    pub clear_each_iteration: bool,
    /// True if the group's same-user setting decides about clearing the cache.
    pub controlled_by_group: bool,
    /// True if unexpired responses are not requested again; otherwise each request is conditional.
    pub use_expires: bool,
    /// Maximum number of cache entries per user.
    pub most: Template,
}

/// An Authorization Manager.
#[derive(Debug)]
pub struct AuthManager {
    /// Credentials; the first entry that matches a URL applies.
    pub entries: Vec<Authorization>,
}

/// Credentials for the URLs under a prefix.
#[derive(Debug)]
pub struct Authorization {
    /// Prefix of the URLs to which the credentials are sent.
    pub url: Template,
    /// User name for the URLs.
    pub user: Template,
    /// Password for the URLs.
    pub password: Template,
    /// Domain of the user name, often empty.
    pub domain: Template,
    /// Realm of the challenges to answer; empty means any realm.
    pub realm: Template,
    /// True if the credentials are sent only after a challenge (`DIGEST`).
    pub waits: bool,
}

/// A DNS Cache Manager.
#[derive(Debug)]
pub struct DnsCacheManager {
    /// True if users resolve names again at each iteration of the group.
    pub clear_each_iteration: bool,
    /// Name servers to query instead of the system's.
    pub servers: Vec<Template>,
    /// Hosts with static addresses.
    pub hosts: Vec<StaticHost>,
}

/// A host with static addresses.
#[derive(Debug)]
pub struct StaticHost {
    /// Name of the host.
    pub name: Template,
    /// Addresses or names, separated by commas.
    pub addresses: Template,
}

/// A Cookie Manager.
#[derive(Debug)]
pub struct CookieManager {
    /// True if cookies are cleared at each iteration of the group.
    pub clear_each_iteration: bool,
    /// True if the group's same-user setting decides about clearing cookies.
    pub controlled_by_group: bool,
    /// Cookie policy as named in the plan (`standard`, `compatibility`, `ignoreCookies`, …).
    pub policy: String,
    /// Cookies that every user starts with.
    pub cookies: Vec<UserCookie>,
}

/// Cookie that the plan sets.
#[derive(Debug)]
pub struct UserCookie {
    /// Name of the cookie.
    pub name: Template,
    /// Value of the cookie.
    pub value: Template,
    /// Domain of the cookie.
    pub domain: Template,
    /// Path of the cookie.
    pub path: Template,
    /// True if the cookie is sent only over TLS.
    pub secure: bool,
    /// True if the cookie counts as received with a `Domain` attribute.
    pub domain_given: bool,
    /// True if the cookie counts as received with a `Path` attribute.
    pub path_given: bool,
    /// Version of the cookie, which old policies send.
    pub version: i32,
}

/// A listener that processes results.
#[derive(Debug)]
pub struct Listener {
    /// Name of the listener's element.
    pub name: String,
    /// Kind of the listener, with its settings.
    pub kind: ListenerKind,
}

/// A kind of listener.
#[derive(Debug)]
pub enum ListenerKind {
    /// Writes results to a file, as CSV rows or XML elements.
    File(FileWriter),
    /// Saves each response to a separate file.
    Saver(Box<crate::element::ResponseSaver>),
    /// Sends metrics to a server.
    Backend(BackendListener),
    /// Passes results to its Java class.
    JavaBacked(JavaBackedId),
}

/// A Result Collector with a file name.
#[derive(Debug)]
pub struct FileWriter {
    /// File name, evaluated when the run starts.
    pub file: Template,
    /// True if only failed samples are written.
    pub errors_only: bool,
    /// True if only successful samples are written.
    pub successes_only: bool,
    /// Save configuration with the plan's names, e.g. `("time", "true")`; `None` if the properties apply.
    pub options: Option<Vec<(String, String)>>,
}

/// A Backend Listener.
#[derive(Debug)]
pub struct BackendListener {
    /// JMeter's client class that the listener uses.
    pub client: BackendKind,
    /// Parameters (name and value), evaluated when the run starts.
    pub parameters: Vec<(Template, Template)>,
}

/// JMeter's client classes of Backend Listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// `InfluxdbBackendListenerClient`: aggregated metrics per interval.
    Influx,
    /// `InfluxDBRawBackendListenerClient`: each sample.
    InfluxRaw,
    /// `GraphiteBackendListenerClient`: aggregated metrics per interval.
    Graphite,
}
