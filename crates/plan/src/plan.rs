//! The compiled plan: what a `.jmx` means, resolved once and shared by all cores as one `Arc`.
//!
//! Controllers are asked for the next sampler, as in JMeter ([`Controller`]); JMeter's scoping (which config elements, processors,
//! timers, assertions and listeners apply to a sampler) is resolved into each [`Sampler`]. Nothing in here
//! changes while a run goes on: what does is in [`RunState`](crate::state::RunState) and in the users.

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
use crate::result::Request;
use crate::script::Scripted;
use crate::template::Template;
use crate::vars::{Names, VarId};
use crate::websocket::{FrameFilter, Heartbeat, WebSocket};

/// Index of a thread group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

impl GroupId {
    /// Its place among those of the plan.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Index of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControllerId(pub u32);
/// Index of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerId(pub u32);
/// Index of a listener that does something with results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListenerId(pub u32);

/// A Synchronizing Timer of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierId(pub u32);

/// A compiled plan.
#[derive(Debug)]
pub struct Plan {
    /// Name of the Test Plan element.
    pub name: String,
    /// File name of the plan without folders.
    pub file: String,
    /// Names of all variables that the text mentions.
    pub names: Names,
    /// User Defined Variables in the order in which JMeter evaluates them; variables of one block do not see each other.
    pub variables: Vec<Vec<(VarId, Template)>>,
    /// Thread groups, in the order of the file.
    pub groups: Vec<Group>,
    /// The file has a main thread group, enabled or not: setUp and tearDown groups are not the load.
    pub has_main_group: bool,
    /// A setUp or tearDown group is enabled.
    pub has_groups_aside: bool,
    /// Controllers of all groups.
    pub controllers: Vec<Controller>,
    /// Samplers of all groups.
    pub samplers: Vec<Sampler>,
    /// Listeners that do something with results.
    pub listeners: Vec<Listener>,
    /// Names under which the run is summed up as it goes, beside that of the properties.
    pub summarisers: Vec<String>,
    /// PerfMon collectors, which watch hosts.
    pub monitors: Vec<crate::element::PerfMon>,
    /// CSV files read by users.
    pub csv: Vec<CsvDataSet>,
    /// Redis Data Sets.
    pub redis: Vec<RedisDataSet>,
    /// Counters.
    pub counters: Vec<CounterConfig>,
    /// Random variables.
    pub randoms: Vec<RandomVariable>,
    /// User Parameters.
    pub user_parameters: Vec<UserParameters>,
    /// HTTP URL Re-writing Modifiers, which look at every answer.
    pub sessions: Vec<Session>,
    /// There are HTML Link Parsers, for which every answer is kept.
    pub follows_links: bool,
    /// Some expression asks for the name of the sampler, which may be the last one's.
    pub asks_for_sampler: bool,
    /// Cookie managers.
    pub cookie_managers: Vec<CookieManager>,
    /// Cache managers.
    pub cache_managers: Vec<CacheManager>,
    /// Authorization managers.
    pub auth_managers: Vec<AuthManager>,
    /// Choices of keys out of the key store.
    pub keystores: Vec<KeystoreConfig>,
    /// DNS cache managers.
    pub dns_managers: Vec<DnsCacheManager>,
    /// Scripts of pre-processors.
    pub scripts: Vec<Arc<Scripted>>,
    /// Frame filters of WebSocket samplers ([`FilterId`](crate::websocket::FilterId)).
    pub frame_filters: Vec<FrameFilter>,
    /// Heartbeats of WebSocket connections ([`HeartbeatId`](crate::websocket::HeartbeatId)).
    pub heartbeats: Vec<Heartbeat>,
    /// Mobile gateways that requests are signed and encrypted for.
    pub gateways: Vec<Gateway>,
    /// Time limits of Sample Timeouts.
    pub timeouts: Vec<Template>,
    /// Number of throughput timers (each has shared state).
    pub throughput_timers: u32,
    /// Number of Throughput Controllers (each has shared state).
    pub throughput_controllers: u32,
    /// Groups run one after another (`TestPlan.serialize_threadgroups`).
    pub serialize_groups: bool,
    /// tearDown groups run even when the run is stopped.
    pub teardown_on_shutdown: bool,
    /// Functional mode: results keep their data.
    pub functional_mode: bool,
    /// The part that only Java can do.
    pub java_backed: JavaBacked,
    /// Jars and folders that Java is to find classes in (`TestPlan.user_define_classpath`).
    pub class_path: Vec<String>,
    /// Whether the name of a Transaction Controller calls functions.
    pub names_call: bool,
    /// Hash of the plan's text and properties, and of the text alone.
    pub hash: u64,
    pub text_hash: u64,
}

impl Plan {
    /// Returns the kind of a sampler; none where no sampler is at work.
    pub fn kind_of(&self, sampler: Option<SamplerId>) -> Option<&SamplerKind> {
        Some(&self.samplers[sampler?.0 as usize].kind)
    }

    /// The samplers of a group, in the order of the file.
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

/// When a group runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before all main groups.
    Setup,
    /// The load.
    Main,
    /// After all main groups.
    Teardown,
}

/// The deed of a user after a failed sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Goes on.
    Continue,
    /// Starts the next iteration of its group.
    NextLoop,
    /// Ends.
    StopUser,
    /// The run ends after the samples in flight.
    StopTest,
    /// The run ends at once.
    StopTestNow,
}

/// A thread group.
#[derive(Debug)]
pub struct Group {
    /// Name, evaluated at the start.
    pub name: Template,
    /// When it runs.
    pub phase: Phase,
    /// Number among the groups of its phase, from 1; part of thread names.
    pub number: u32,
    /// How its users start and end.
    pub profile: Profile,
    /// Number of users.
    pub users: Template,
    /// Ramp-up, seconds.
    pub ramp_up: Template,
    /// Whether duration and delay count.
    pub scheduler: bool,
    /// Duration, seconds.
    pub duration: Template,
    /// Start delay, seconds.
    pub delay: Template,
    /// Users are created when they start, not at once.
    pub delayed_start: bool,
    /// After a failed sample.
    pub on_error: OnError,
    /// Keeps cookies and connections over iterations.
    pub same_user: bool,
    /// The main loop controller; its body is the group.
    pub main: ControllerId,
    /// How many state slots a user of this group has ([`Controller::slot`]).
    pub slots: u32,
    /// Path of the element, for messages.
    pub path: String,
}

/// How the users of a group start and end.
#[derive(Debug)]
pub enum Profile {
    /// One after another over the ramp-up, and together.
    RampUp,
    /// By a table: users, delay, start-up, hold and shutdown, seconds.
    Rows(Vec<[Template; 5]>),
    /// In steps: users, delay, users a step, users of the first step, time between steps, ramp-up of a step, flight time, and how many
    /// stop how often; times in seconds.
    Steps(Box<[Template; 9]>),
    /// As many as are wanted at once: target, ramp-up, steps, hold, and the unit of both times (`M` is minutes, else seconds). Whoever ends
    /// before the group does is replaced.
    Concurrency(Box<[Template; 5]>),
    /// Iterations at moments of a schedule, run by whoever is free.
    Arrivals(Box<crate::element::Arrivals>),
    /// At moments of a schedule, for one iteration each.
    Open {
        /// The schedule.
        schedule: Template,
        /// For arrivals by chance; 0 is another one for each run.
        seed: Template,
    },
}

/// A child of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// A sampler.
    Sampler(SamplerId),
    /// Another controller.
    Controller(ControllerId),
}

/// A controller. What it remembers is in the slots of each user.
#[derive(Debug)]
pub struct Controller {
    /// Name.
    pub name: Template,
    /// Its kind, with settings.
    pub kind: ControllerKind,
    /// The controller around it; `None` for a group's main loop.
    pub parent: Option<ControllerId>,
    /// First of its state slots in a user; what they hold is the engine's.
    pub slot: u32,
    /// How many they are.
    pub slots: u32,
    /// Its children, in the order of the file.
    pub children: Vec<Child>,
    /// Texts that Java evaluates before it is asked.
    pub evaluates: TextRange,
    /// Events at the start of each of its iterations.
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
        /// How often.
        count: LoopCount,
        /// Once it has ended, the user never enters it again (`LoopController.continue_forever` is false).
        once: bool,
    },
    /// Runs its children if a condition holds.
    If {
        /// The condition.
        condition: Condition,
        /// Whether `Test` operations stand before each sampler.
        evaluate_all: bool,
    },
    /// Repeats while a condition holds.
    While(WhileCondition),
    /// Once per value of a series of variables.
    ForEach(ForEach),
    /// Only in the user's first iteration.
    OnceOnly,
    /// Measures its children as one sample.
    Transaction(Transaction),
    /// One child a pass, in turn or by chance.
    Interleave(Interleave),
    /// Runs its children once, in an order that is drawn anew each time.
    RandomOrder,
    /// Runs the child that a number or a name chooses.
    Switch(Template),
    /// Runs the child that its weight chooses.
    WeightedSwitch(WeightedSwitch),
    /// Repeats for a number of seconds.
    Runtime(Template),
    /// Runs its children in a part of the iterations around it.
    Throughput(ThroughputController),
    /// Sets variables each time it is asked for a sampler.
    Parameterized(crate::element::Parameters),
    /// Runs its children while no other user is in a section of that name.
    Critical(Template),
    /// Runs what its own class in Java picks.
    JavaBacked(JavaBackedId),
    /// Holds one child of a Parallel Controller and runs it once; the controller around it is the one around the Parallel Controller.
    Branch,
}

impl ControllerKind {
    /// State slots (u32 each) that a user needs for a controller with so many children: the number of the current child, flags, a
    /// count of iterations, and what its kind remembers besides.
    pub fn slots(&self, children: u32) -> u32 {
        3 + match self {
            Self::Loop { .. } | Self::Interleave(_) => 1,
            Self::Runtime(_) | Self::Throughput(_) => 2,
            Self::RandomOrder => children,
            // Which child was chosen, passes, and passes of each row.
            Self::WeightedSwitch(switch) => 2 + switch.weights.len() as u32,
            _ => 0,
        }
    }

    /// Whether it can be broken out of, and begins anew with each iteration of the controller around it.
    pub fn iterates(&self) -> bool {
        matches!(self, Self::Loop { .. } | Self::While(_) | Self::ForEach(_))
    }
}

/// An Interleave or a Random Controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interleave {
    /// The next child is drawn, not the following one.
    pub random: bool,
    /// A child that is a controller runs all of what it holds, not one sampler.
    pub whole_controllers: bool,
    /// Users begin with different children.
    pub across_users: bool,
}

/// A Weighted Switch Controller.
#[derive(Debug)]
pub struct WeightedSwitch {
    /// Weights of its children in their order, whole numbers.
    pub weights: Vec<Template>,
    /// The next child is drawn, not the one furthest behind its share.
    pub random: bool,
}

/// A Throughput Controller.
#[derive(Debug)]
pub struct ThroughputController {
    /// How much of the iterations.
    pub share: ThroughputShare,
    /// Each user counts for itself.
    pub per_user: bool,
    /// Which of the plan's ([`Plan::throughput_controllers`]).
    pub at: u32,
}

/// How much a Throughput Controller runs.
#[derive(Debug)]
pub enum ThroughputShare {
    /// So many times at most; what is no number is 1.
    Total(Template),
    /// In so many percent of iterations; what is no number is 100.
    Percent(Template),
}

/// How often a loop runs.
#[derive(Debug)]
pub enum LoopCount {
    /// Without end.
    Forever,
    /// A number, evaluated when the loop starts; -1 is without end.
    Count(Template),
    /// A number, evaluated when the loop starts; 0, none and what is below are without end.
    Limit(Template),
}

/// Condition of a While controller.
#[derive(Debug)]
pub enum WhileCondition {
    /// Blank: until the last sample of an iteration failed.
    Blank,
    /// `LAST`: as blank, but not entered if the sample before failed.
    Last,
    /// An expression: ends when it is `false`.
    Expression(Template),
}

/// A ForEach controller.
#[derive(Debug)]
pub struct ForEach {
    /// Prefix of the input variables.
    pub input: Template,
    /// Output variable.
    pub output: Template,
    /// Index before the first; empty is 0.
    pub start: Template,
    /// Last index; empty is without bound.
    pub end: Template,
    /// `_` between prefix and number.
    pub separator: bool,
}

/// A Transaction controller.
#[derive(Debug)]
pub struct Transaction {
    /// The children become sub-results of one sample.
    pub parent: bool,
    /// Timers and processors count as part of the time.
    pub include_timers: bool,
    /// Listeners that write its sample down.
    pub listeners: Vec<ListenerId>,
    /// Assertions in scope of the transaction itself (parent mode).
    pub checks: Vec<Assertion>,
    /// Parts of its sample that these and the listeners read.
    pub needs: Needs,
    /// Path of the element, for messages.
    pub path: String,
}

/// An event when an iteration of a controller starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnIteration {
    /// Reads a line of `Plan::csv`.
    Csv(u32),
    /// Fetches a value for `Plan::redis`.
    Redis(u32),
    /// Steps `Plan::counters`.
    Counter(u32),
    /// Draws `Plan::randoms`.
    Random(u32),
    /// Marks `Plan::user_parameters` as due.
    UserParameters(u32),
    /// Nothing yet: `Plan::scripts` run before samplers.
    Script(u32),
    /// Tells a controller that the one around it begins an iteration.
    Controller(ControllerId),
}

/// Work before a sampler's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Sets `Plan::user_parameters`.
    UserParameters(u32),
    /// Runs a script of `Plan::scripts`.
    Script(u32),
    /// Java does something.
    Job(Job),
}

bitflags::bitflags! {
    /// Parts of a response that somebody reads; everything else is counted and dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Needs: u16 {
        /// Header lines.
        const HEADERS = 1;
        /// Bytes of the body.
        const BODY = 2;
        /// The body as text.
        const TEXT = 4;
        /// Request headers as text.
        const REQUEST_HEADERS = 8;
        /// Request line and body as text.
        const SAMPLER_DATA = 16;
        /// The URL as text.
        const URL = 32;
        /// A row is written.
        const ROW = 64;
        /// The number or bodies of sub-results.
        const SUBS = 128;
        /// The links of a page: what is embedded in it is loaded.
        const PAGE = 256;
        /// A script may give it another label.
        const LABEL = 512;
    }
}

/// A sampler with everything in its scope.
#[derive(Debug)]
pub struct Sampler {
    /// Label, evaluated for each sample.
    pub name: Template,
    /// Its kind, with settings.
    pub kind: SamplerKind,
    /// The controller it stands in.
    pub controller: ControllerId,
    /// Pre-processors, in JMeter's order.
    pub before: Vec<Before>,
    /// Time limits of Sample Timeouts, milliseconds: places in `Plan::timeouts`.
    pub timeouts: Vec<u32>,
    /// Timers in scope; their delays add up.
    pub timers: Vec<Timer>,
    /// Texts of its own and of its configuration that Java evaluates right before it runs.
    pub evaluates: TextRange,
    /// Post-processors, in JMeter's order.
    pub after: Vec<Extractor>,
    /// Assertions, in JMeter's order.
    pub checks: Vec<Assertion>,
    /// Result files in scope.
    pub listeners: Vec<ListenerId>,
    /// Requests of its failure to its user, beside what its group says.
    pub on_failure: OnFailure,
    /// Parts of the response that are read.
    pub needs: Needs,
    /// Path of the element, for messages.
    pub path: String,
}

/// The request to a user that the failure of a sampler makes.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnFailure {
    /// To end.
    pub stop: Request,
    /// To leave for elsewhere.
    pub leave: Request,
}

/// Kinds of samplers.
#[derive(Debug)]
pub enum SamplerKind {
    /// HTTP Request.
    Http(Box<Http>),
    /// Debug Sampler.
    Debug(crate::element::DebugSampler),
    /// Flow Control Action: changes the flow, makes no result.
    Action(Action),
    /// Java Request with the built-in test classes.
    Java(crate::element::JavaSampler),
    /// TCP Sampler.
    Tcp(Box<crate::element::TcpSampler>),
    /// jp@gc HTTP Raw Request.
    HttpRaw(Box<crate::element::HttpRaw>),
    /// jp@gc UDP Request.
    Udp(Box<crate::element::UdpSampler>),
    /// SSE Sampler: events of a response that stays.
    Sse(Box<crate::element::SseSampler>),
    /// OS Process Sampler: a program of this machine.
    Process(Box<crate::element::OsProcess>),
    /// jp@gc Dummy Sampler.
    Dummy(Box<crate::element::DummySampler>),
    /// A WebSocket sampler, or a hold.
    WebSocket(Box<WebSocket>),
    /// JSR223 Sampler or BeanShell Sampler with a simple script.
    Script(Arc<Scripted>),
    /// bzm Parallel Controller: runs what it holds side by side.
    Parallel(Box<Parallel>),
    /// A sampler run by its own class in Java.
    JavaBacked(JavaBackedId),
}

/// A bzm Parallel Controller.
#[derive(Debug)]
pub struct Parallel {
    /// Samples of its branches become part of one sample, and nobody else is told.
    pub parent: bool,
    /// How many branches run at the same time; `None` is all.
    pub most: Option<Template>,
    /// Controllers of the kind [`ControllerKind::Branch`], one for each child that it holds.
    pub branches: Vec<ControllerId>,
}

/// Managers of a user's HTTP requests: places in the tables of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Managers {
    /// The cookie manager is one that cannot work, and lets each sample fail.
    pub cookie_handler_missing: bool,
    /// In `Plan::cookie_managers`.
    pub cookies: Option<u32>,
    /// In `Plan::cache_managers`.
    pub cache: Option<u32>,
    /// In `Plan::auth_managers`.
    pub auth: Option<u32>,
    /// In `Plan::dns_managers`.
    pub dns: Option<u32>,
    /// In `Plan::gateways`.
    pub gateway: Option<u32>,
}

/// A Cache Manager.
#[derive(Debug)]
pub struct CacheManager {
    /// Everything kept is forgotten at each iteration of the group.
    pub clear_each_iteration: bool,
    /// That is decided by the group's same-user setting.
    pub controlled_by_group: bool,
    /// Answers that have not expired are not asked for again; otherwise all are asked for on condition.
    pub use_expires: bool,
    /// The most entries of a user.
    pub most: Template,
}

/// An Authorization Manager.
#[derive(Debug)]
pub struct AuthManager {
    /// The first that fits a URL counts.
    pub entries: Vec<Authorization>,
}

/// Credentials for URLs.
#[derive(Debug)]
pub struct Authorization {
    /// The beginning of such URLs.
    pub url: Template,
    /// Name.
    pub user: Template,
    /// Password.
    pub password: Template,
    /// Domain of the name, often empty.
    pub domain: Template,
    /// Only for challenges of this realm; empty is any.
    pub realm: Template,
    /// They are not sent before the server asks (`DIGEST`).
    pub waits: bool,
}

/// A DNS Cache Manager.
#[derive(Debug)]
pub struct DnsCacheManager {
    /// Users look names up anew at each iteration of the group.
    pub clear_each_iteration: bool,
    /// Name servers that are asked instead of the system's.
    pub servers: Vec<Template>,
    /// Hosts with addresses of the plan's own.
    pub hosts: Vec<StaticHost>,
}

/// A host with addresses of the plan's own.
#[derive(Debug)]
pub struct StaticHost {
    /// Its name.
    pub name: Template,
    /// Addresses or names, separated by commas.
    pub addresses: Template,
}

/// A Cookie Manager.
#[derive(Debug)]
pub struct CookieManager {
    /// Cookies are cleared at each iteration of the group.
    pub clear_each_iteration: bool,
    /// Clearing is decided by the group's same-user setting.
    pub controlled_by_group: bool,
    /// Policy as the plan names it (`standard`, `compatibility`, `ignoreCookies`, …).
    pub policy: String,
    /// Cookies that every user starts with.
    pub cookies: Vec<UserCookie>,
}

/// A cookie that the plan sets.
#[derive(Debug)]
pub struct UserCookie {
    /// Name.
    pub name: Template,
    /// Value.
    pub value: Template,
    /// Domain.
    pub domain: Template,
    /// Path.
    pub path: Template,
    /// Only over TLS.
    pub secure: bool,
    /// It counts as one whose `Set-Cookie` had a `Domain`.
    pub domain_given: bool,
    /// It counts as one whose `Set-Cookie` had a `Path`.
    pub path_given: bool,
    /// Its version, which old policies send.
    pub version: i32,
}

/// A listener that does something with results.
#[derive(Debug)]
pub struct Listener {
    /// Name of the element.
    pub name: String,
    /// Its kind, with settings.
    pub kind: ListenerKind,
}

/// A kind of listener.
#[derive(Debug)]
pub enum ListenerKind {
    /// Writes rows or elements to a file.
    File(FileWriter),
    /// Saves responses, each to a file of its own.
    Saver(Box<crate::element::ResponseSaver>),
    /// Sends figures to a server.
    Backend(BackendListener),
    /// Its own class in Java is told.
    JavaBacked(JavaBackedId),
}

/// One Result Collector with a file name.
#[derive(Debug)]
pub struct FileWriter {
    /// File name, evaluated at the start.
    pub file: Template,
    /// Only failed samples.
    pub errors_only: bool,
    /// Only passed samples.
    pub successes_only: bool,
    /// Its save configuration in the words of the file, e.g. `("time", "true")`; none: that of the properties.
    pub options: Option<Vec<(String, String)>>,
}

/// One Backend Listener.
#[derive(Debug)]
pub struct BackendListener {
    /// Which of JMeter's clients it is.
    pub client: BackendKind,
    /// Its parameters, evaluated at the start.
    pub parameters: Vec<(Template, Template)>,
}

/// JMeter's clients of Backend Listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// `InfluxdbBackendListenerClient`: figures by interval.
    Influx,
    /// `InfluxDBRawBackendListenerClient`: every sample.
    InfluxRaw,
    /// `GraphiteBackendListenerClient`: figures by interval.
    Graphite,
}
