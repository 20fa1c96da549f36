//! The start of a run: builds the state that cores share from settings and evaluated expressions, then starts
//! listeners, Java and cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use plan::plan::{ListenerId, Plan};

use crate::core::{Core, Parts};
use crate::files::Reader;
use crate::inbox::{Inbox, Message, Wake};
use crate::net::driver::Driver;
use crate::net::nameserver::NameServers;
use crate::net::ports::Range;
use crate::net::resolve;
use crate::offload::Finding;
use crate::reports::Report;
use crate::reports::line::Line;
use crate::results::feed::{BackendSettings, Relay};
use crate::results::rows::Writer;
use crate::run::backend::Backend;
use crate::run::error::StartError;
use crate::run::evaluated::Evaluated;
use crate::run::options::Options;
use crate::run::prepare::{LAST_SAMPLE_OK, Prepared, evaluate, prepare, roots};
use crate::run::{Run, forward_log, hostname, instant};
use crate::settings::Settings;
use crate::shared::RunShared;
use crate::shared::diary::Diary;
use crate::shared::group::Counts;
use crate::shared::trust::Trust;
use crate::time::clock::{Nanos, Zero};

/// Stack size of a core's thread in bytes, for a plan without nested controllers.
const STACK: usize = 2 << 20;
/// Additional stack size in bytes for each level of controllers: the search for the next sampler recurses through all
/// levels.
const STACK_OF_LEVEL: usize = 16 << 10;

/// Starts a run.
pub fn start(plan: Arc<Plan>, mut options: Options) -> Result<Run, StartError> {
    let evaluated = match options.evaluated.take() {
        Some(evaluated) => evaluated,
        None => evaluate(&plan, &options),
    };
    options.properties.extend(evaluated.properties.iter().cloned());
    let (to_log, log) = channel();
    let base_dir = options.base_dir.clone();
    let shared = plan::function::Shared::new(options.properties.clone(), base_dir, to_log)
        .dealt_out(options.shard.deal(evaluated.users_by_group().max().unwrap_or(0)));
    let settings = settings_of(&plan, &options, &evaluated)?;
    let mut prepared = prepare(&plan, &options, evaluated)?;
    let java = start_java(&plan, &options, &mut prepared, &shared).map_err(StartError::Java)?;
    // The time that Java takes to read its part of the plan is not part of the run's duration.
    let zero = match options.paced {
        Some(paced) => Zero { at: instant(paced.zero), wall_ns: paced.zero },
        None => Zero::now(),
    };
    let mut listeners = Listeners::open(&plan, &options, &mut prepared, &settings)?;
    let (reports_in, reports) = channel();
    for complaint in prepared.complaints.drain(..) {
        let _ = reports_in.send(Report::Log(complaint));
    }
    let (inboxes, ends) = inboxes(cores_of(&options)).map_err(StartError::System)?;
    let shared = shared_state(&plan, &options, prepared, settings, shared, zero, inboxes)?;
    let cores = Cores { plan: &plan, run: &shared, java: &java, reports: &reports_in };
    let threads = cores.start(ends, &mut listeners).map_err(StartError::System)?;
    let relay = listeners.relay.clone();
    let backlog = listeners.writer.backlog();
    let (writer, senders) = listeners.start(&shared, &reports_in).map_err(StartError::System)?;
    forward_log(log, reports_in.clone());
    let paced = options.paced.is_some();
    let mut run = Run::new(&plan, shared, java, reports_in, reports, paced);
    (run.threads, run.writer, run.senders, run.relay) = (threads, Some(writer), senders, relay);
    run.backlog = backlog;
    if run.batches.is_some() {
        run.start_next();
    }
    Ok(run)
}

fn cores_of(options: &Options) -> u32 {
    match options.cores {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        n => n,
    }
}

fn settings_of(
    plan: &Plan,
    options: &Options,
    evaluated: &Evaluated,
) -> Result<Settings, StartError> {
    let mut settings = Settings::from_properties(|key| options.properties.get(key).cloned());
    if let Some(complaint) = &settings.complaint {
        return Err(StartError::Setting(complaint.clone()));
    }
    settings.results.keep_sub_labels |= plan.functional_mode;
    settings.connect.secure.load_keys(&evaluated.keys()?).map_err(StartError::Setting)?;
    Ok(settings)
}

/// The receiving end of a core's inbox.
type End = (Receiver<Message>, Arc<Wake>);

fn inboxes(cores: u32) -> std::io::Result<(Vec<Inbox>, Vec<End>)> {
    let mut inboxes = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..cores {
        let (sender, receiver) = channel();
        let wake = Arc::new(Wake::new()?);
        inboxes.push(Inbox::new(sender, Arc::clone(&wake)));
        ends.push((receiver, wake));
    }
    Ok((inboxes, ends))
}

/// Builds the state that all cores share from the prepared plan, the settings, and the state of functions.
fn shared_state(
    plan: &Plan,
    options: &Options,
    prepared: Prepared,
    settings: Settings,
    functions: plan::function::Shared,
    zero: Zero,
    inboxes: Vec<Inbox>,
) -> Result<Arc<RunShared>, StartError> {
    let groups = plan.groups.len();
    let asks = plan.dns_managers.iter().any(|manager| !manager.servers.is_empty());
    let names = asks.then(|| NameServers::start(settings.connect.names.clone())).transpose();
    Ok(Arc::new(RunShared {
        zero,
        cores: cores_of(options),
        steps: options.steps.clone(),
        ports: Range::of_system(),
        shard: options.shard,
        seed: options.seed,
        hurry: Arc::default(),
        ends: (0..groups).map(|_| Nanos::MAX.into()).collect(),
        closings: (0..groups).map(|_| Nanos::MAX.into()).collect(),
        counts: Counts::new(groups),
        diary: Diary::new(|key| options.properties.get(key).cloned()),
        groups: prepared.groups,
        initial: Arc::new(prepared.initial),
        shared: functions,
        state: prepared.state,
        savers: prepared.savers,
        base_dir: options.base_dir.clone(),
        last_sample_ok: plan.names.find(LAST_SAMPLE_OK),
        user_token: plan.names.find(plan::element::USER_TOKEN),
        hostname: hostname(),
        resolver: resolve::start(settings.connect.addresses).map_err(StartError::System)?,
        files: Reader::default(),
        names: names.map_err(StartError::System)?,
        // With a Keystore Configuration, JMeter sets up TLS before the first user.
        trust: Trust::new(settings.connect.secure.accepts_all(), !plan.keystores.is_empty()),
        settings,
        inboxes,
    }))
}

/// The arguments with which every core is started.
struct Cores<'a> {
    plan: &'a Arc<Plan>,
    run: &'a Arc<RunShared>,
    java: &'a Arc<crate::java::Shared>,
    reports: &'a Sender<Report>,
}

impl Cores<'_> {
    fn start(
        &self,
        ends: Vec<End>,
        listeners: &mut Listeners,
    ) -> std::io::Result<Vec<JoinHandle<()>>> {
        // All cores get their rows before the first core starts.
        let rows: Vec<_> = ends.iter().map(|_| listeners.writer.rows()).collect();
        let mut threads = Vec::new();
        let stack = STACK + levels(self.plan) * STACK_OF_LEVEL;
        for ((index, rows), (inbox, wake)) in (0..).zip(rows).zip(ends) {
            let driver = Driver::new(&wake)?;
            let feeds = listeners.feeds(self.reports);
            let (plan, run, java) =
                (Arc::clone(self.plan), Arc::clone(self.run), Arc::clone(self.java));
            let reports = self.reports.clone();
            let thread = std::thread::Builder::new()
                .name(format!("core-{index}"))
                .stack_size(stack)
                .spawn(move || {
                    let parts = Parts {
                        plan: &plan,
                        run: &run,
                        java,
                        index,
                        driver,
                        inbox,
                        wake,
                        reports: reports.clone(),
                        rows,
                        feeds,
                    };
                    let ended = Core::new(parts).run();
                    let _ =
                        reports.send(Report::CoreEnded(ended.err().map(|error| error.to_string())));
                });
            threads.push(thread?);
        }
        Ok(threads)
    }
}

/// The writer of rows, the Backend Listeners, and their feeds.
struct Listeners {
    writer: Writer,
    backends: Vec<(ListenerId, Backend)>,
    /// In a process of a distributed run: the Backend Listeners that the coordinator runs.
    away: Vec<(ListenerId, BackendSettings)>,
    relay: Relay,
}

impl Listeners {
    fn open(
        plan: &Plan,
        options: &Options,
        prepared: &mut Prepared,
        settings: &Settings,
    ) -> Result<Self, StartError> {
        let property = |key: &str| options.properties.get(key).cloned();
        let (mut backends, mut away) = (Vec::new(), Vec::new());
        for (at, settings) in prepared.backends.drain(..) {
            let id = ListenerId(at as u32);
            if options.paced.is_some() {
                away.push((id, settings));
                continue;
            }
            match Backend::open(&settings, &property) {
                Ok(backend) => backends.push((id, backend)),
                Err(unusable) => {
                    prepared.complaints.push(unusable.message_for(&settings.name).into());
                }
            }
        }
        let writer = Writer::open(
            &roots(plan, &options.results),
            &prepared.listeners,
            &settings.results.sample_variables,
            prepared.savers.iter().any(Option::is_some),
            options.paced.is_some(),
        )
        .map_err(|error| StartError::Results(error.to_string()))?;
        Ok(Self { writer, backends, away, relay: Relay::default() })
    }

    /// Returns a core's feeds to Backend Listeners.
    fn feeds(&self, reports: &Sender<Report>) -> Vec<(ListenerId, crate::results::feed::Feed)> {
        let here = self.backends.iter().map(|(id, backend)| (*id, backend.feed()));
        let away = self.away.iter();
        here.chain(away.map(|(id, settings)| (*id, self.relay.feed(settings, *id, reports))))
            .collect()
    }

    /// Starts the threads of the writer and of the Backend Listeners.
    fn start(
        self,
        run: &Arc<RunShared>,
        reports: &Sender<Report>,
    ) -> std::io::Result<(JoinHandle<()>, Vec<JoinHandle<()>>)> {
        let say = |reports: Sender<Report>| {
            move |line: Line| {
                let _ = reports.send(Report::Log(line));
            }
        };
        let complain = |reports| {
            let say = say(reports);
            move |text: String| say(text.into())
        };
        let writer = self.writer.start(say(reports.clone()))?;
        let mut senders = Vec::new();
        for (_, backend) in self.backends {
            let run = Arc::clone(run);
            let users = move || {
                let of = |count: &AtomicU32| count.load(Ordering::Relaxed);
                (of(&run.counts.started), of(&run.counts.finished))
            };
            senders.push(backend.start(users, complain(reports.clone()))?);
        }
        Ok((writer, senders))
    }
}

/// Makes a JVM read its part of the plan. Returns its findings, and lines for the log. [`start`] includes this
/// step.
///
/// # Errors
///
/// The reason why the JVM cannot read the plan, as a message.
pub fn set_up(plan: &Plan, options: &Options) -> Result<(Vec<Finding>, Vec<Line>), String> {
    match &options.offload {
        Some(offload) if !plan.java_backed.is_empty() => {
            let read = crate::java::session::set_up(&**offload, plan, options.facts(), &[])?;
            Ok((read.findings, read.said))
        }
        _ => Ok((Vec::new(), Vec::new())),
    }
}

/// Makes Java read its part of the plan, if it has any, and start the test.
fn start_java(
    plan: &Plan,
    options: &Options,
    prepared: &mut Prepared,
    shared: &plan::function::Shared,
) -> Result<Arc<crate::java::Shared>, String> {
    if plan.java_backed.is_empty() {
        return Ok(Arc::default());
    }
    let offload = options.offload.clone().ok_or("no JVM is running")?;
    let groups = prepared.groups.iter().map(|group| (group.name.clone(), group.users));
    let groups: Vec<_> = groups.collect();
    let (facts, initial) = (options.facts(), &mut prepared.initial);
    let begun = crate::java::session::begin(&*offload, plan, facts, &groups, initial, shared)?;
    prepared.complaints.extend(begun.said);
    Ok(Arc::new(crate::java::Shared::new(offload, begun.hearing)))
}

/// Returns the depth of the deepest controller of a plan.
fn levels(plan: &Plan) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(plan.controllers.len());
    for controller in &plan.controllers {
        // Parents precede their children.
        let above = controller.parent.and_then(|parent| depths.get(parent.0 as usize));
        depths.push(above.map_or(0, |above| above + 1));
    }
    depths.into_iter().max().unwrap_or(0)
}
