//! `throng run`, and JMeter's `-n -t`: executes a run from the request to the exit code.
//!
//! All problems are reported before the first user starts: findings of the plan, elements that cannot run, and
//! properties without effect. Then the run continues until it ends or is stopped. The files in its folder are
//! always up to date.

mod admission;
mod exports;
mod facts;
mod judging;
mod live;
mod monitors;
mod phases;
mod refusals;
mod reports;
mod settings;
pub(crate) mod traces;
mod waiting;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use answers::criterion::Judged;
use engine::offload::Offload;
use engine::{Evaluated, Line, Options};
use fleet::Loss;
use fleet::remote::Agents;
use plan::plan::Plan;
use record::Change;
use stats::aggregate::Percentages;
use stats::clock::{Steps, now_ms};
use stats::grouped::things;
use stats::jtl::Columns;
use stats::process::Usage;
use stats::summary::{Frame, Summary};
use stats::{Counter, Snapshot};

use self::admission::{Admitted, Room};
use self::monitors::MonitorFiles;
use self::traces::Traces;
use crate::args::request::Request;
use crate::args::{outputs, project};
use crate::checks::check::MissingFiles;
use crate::checks::preflight::{Host, Look};
use crate::exit::Exit;
use crate::inputs::load::{self, Loaded, Source};
use crate::inputs::properties::Properties;
use crate::inputs::{asked_load, plugins};
use crate::judge::criteria::{self, Judgement, Watch};
use crate::judge::junit;
use crate::operator::console::{Console, used};
use crate::operator::control::Control;
use crate::operator::interrupt::Interrupt;
use crate::operator::{control, ctl};
use crate::pages::live::LivePage;
use crate::print::log::Level;
use crate::print::terminal;
use crate::results::columns::ROWS;
use crate::results::dashboard::Dashboard;
use crate::run::identity::End;
use crate::run::kept::{self, Taken};
use crate::run::outcome::{Outcome, Recorded};
use crate::run::progress::Progress;
use crate::run::spread::{self, News, Size, Spread};
use crate::run::starts::Starts;
use crate::run::{cost, lost, machines};

/// Longest wait for an event between two checks whether the user has asked to end the run.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time for samples in flight to finish after a criterion has ended the run.
const ABORT_GRACE: Duration = Duration::from_secs(10);

/// Message for a plan whose thread groups are all setUp or tearDown groups.
const NO_MAIN_GROUP: &str = "all thread groups of the plan are setUp or tearDown thread groups: their samples count as the load";

/// Logger name of JMeter's engine, whose lines other tools search for.
const ENGINE_LOGGER: &str = "org.apache.jmeter.engine.StandardJMeterEngine";

/// Runs the plan file of the request.
pub(crate) fn run(mut request: Request) -> Exit {
    terminal::wait_for_nobody();
    let project = project::apply(&mut request);
    let promised = request.promised();
    let kept: Vec<PathBuf> = [Some(&request.plan), request.jtl.as_ref(), request.log.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    promised
        .around(kept.iter().map(|file| ("another file", &**file)), || run_with(request, project))
}

/// Runs the plan file of a request. `project` is the result of reading its throng.toml.
fn run_with(mut request: Request, project: Result<Option<String>, String>) -> Exit {
    match project {
        Ok(None) => {}
        Ok(Some(_)) if request.quiet => {}
        Ok(Some(words)) => terminal::err(&format!("{words}\n")),
        Err(message) => {
            terminal::error(&message);
            return Exit::Usage;
        }
    }
    let clash = outputs::clash([("the plan", &*request.plan)], request.written());
    if let Some(message) = clash {
        terminal::error(&message);
        return Exit::Usage;
    }
    let source = match request.made.take() {
        Some(made) => Some(Source::Made(made)),
        None => load::read(&request.plan),
    };
    let Some(source) = source else { return Exit::Usage };
    if let Source::Made(made) = &source
        && !request.quiet
    {
        terminal::err(&format!("{}\n", made.first_line(!request.load.is_empty())));
    }
    let (plan, bytes) = source.plan();
    run_plan(&Request { plan, ..request }, bytes)
}

/// Runs a plan whose content was already read.
pub(crate) fn run_plan(request: &Request, bytes: Vec<u8>) -> Exit {
    let mut console = Console::new(request.json, request.quiet);
    stages(request, bytes, None, &mut console).unwrap_or_else(|exit| exit)
}

/// Continues a run whose coordinator has ended.
pub(crate) fn resume(mut request: Request, taken: Taken) -> Exit {
    if let Err(message) = project::apply(&mut request) {
        terminal::error(&message);
        return Exit::Usage;
    }
    let bytes = taken.former.plan().to_vec();
    let mut console = Console::new(request.json, request.quiet);
    stages(&request, bytes, Some(taken), &mut console).unwrap_or_else(|exit| exit)
}

/// Executes the stages of a run in order. `Err` is the exit code of a run that has not started.
fn stages(
    request: &Request,
    bytes: Vec<u8>,
    taken: Option<Taken>,
    console: &mut Console,
) -> Result<Exit, Exit> {
    begin(request).map_err(|message| console.fail(&message, Exit::Usage))?;
    let former = taken.as_ref().map(|taken| taken.former.properties());
    let admitted = admission::admit(request, &bytes, (now_ms(), former), console)?;
    admission::warn_of_unheeded(request, &admitted, console);
    let Admitted { properties, of_plan, loaded, java } = admitted;
    let dashboard = Dashboard::of_run(request, &properties, console)?;
    let workers = properties.workers(request.workers);
    let missing = crate::checks::check::missing_in(&loaded);
    let Loaded { plan: Some(plan), source, .. } = loaded else { return Err(Exit::Plan) };
    // Reading the machine's limits takes a tenth of the time to the first request, so all checks share one reading.
    let host = Host::now();
    let room = Room { request, properties: &of_plan, workers, host: &host };
    // At this point the number of users is known only for the plan's own load.
    if request.load.is_empty() {
        room.check(&plan, None, console)?;
    }
    let columns = Columns::from_properties(|key| properties.get(key).map(str::to_string))
        .map_err(|error| console.fail(&error.to_string(), Exit::Usage))?;
    let live = LivePage::listen(request, console)?;
    let mut traces = match &taken {
        Some(taken) => Traces::again(request, &taken.folder, &properties, console)?,
        None => Traces::open(request, &source, &properties, now_ms(), console),
    };
    tell_of_plan(request, &properties, (&plan, taken.is_none()), &mut traces)?;
    let interrupt = Interrupt::install().map_err(|_| Exit::Bug)?.with_grace(&properties);
    let stops_itself = control::is_used(&plan);
    let control = (request.listen || stops_itself)
        .then(|| control::listen(&properties, &interrupt))
        .flatten();
    let port = control.as_ref().and_then(|control| control.port).filter(|_| stops_itself);
    // Workers and agents start their own JVMs.
    let java =
        java.filter(|_| request.fleet.is_none() && workers.is_none_or(|workers| workers == 1));
    let options = settings::options(request, &of_plan, (&plan, java), &columns, port, &mut traces)?;
    let evaluated = match &taken {
        Some(taken) => taken.former.evaluated().clone(),
        None => evaluate(request, &plan, &options, &mut traces)?,
    };
    let found = room.check(&plan, Some(&evaluated), traces.console)?;
    let start = Start {
        request,
        properties: &properties,
        bytes,
        plan,
        options,
        evaluated,
        found,
        missing,
        began_ms: taken.as_ref().map(|taken| taken.former.began_ms()),
    };
    let agents = start.gather(workers, &interrupt, taken, &mut traces)?;
    let around = (control.as_ref(), live.as_ref());
    let mut running = start.run(workers, agents, around, &mut traces)?;
    let losses = running.drive(&interrupt, control.as_ref(), &mut traces);
    let percentages = Percentages::from_properties(|key| properties.get(key).map(str::to_string));
    let properties = Traces::properties(request, &properties);
    let ending = Ending { request, interrupt: &interrupt, losses, dashboard, live, properties };
    Ok(ending.conclude(running, &percentages, &mut traces))
}

/// Reports that the plan was read. Deletes the results of an earlier run, as JMeter does, unless this run is a
/// takeover.
fn tell_of_plan(
    request: &Request,
    properties: &Properties,
    (plan, is_new): (&Plan, bool),
    traces: &mut Traces<'_>,
) -> Result<(), Exit> {
    traces.note(Level::Info, "throng", &format!("running {}", request.plan.display()));
    if is_new {
        settings::delete_results(request, plan)
            .map_err(|message| traces.console.fail(&message, Exit::Aborted))?;
    }
    traces.console.create_summarisers(properties, &plan.summarisers);
    let created = format!("Created the tree successfully using {}", request.plan.display());
    traces.console.jmeter_line(&created);
    Ok(())
}

/// Starts the clock of the run, and refuses output files that could not be written at its end.
fn begin(request: &Request) -> Result<(), String> {
    stats::clock::begin();
    terminal::wait_for_nobody();
    settings::refuse_unwritable(request)
}

/// Evaluates the expressions that a run needs before its start, and replaces the plan's load by the requested load.
fn evaluate(
    request: &Request,
    plan: &Plan,
    options: &Options,
    traces: &mut Traces<'_>,
) -> Result<Evaluated, Exit> {
    let mut evaluated = engine::evaluate(plan, options);
    for words in engine::unlike_results(plan, options, &evaluated) {
        traces.warn("throng", &words);
    }
    let changed = evaluated
        .give(plan, &request.load)
        .map_err(|message| traces.console.fail(&message, Exit::Usage))?;
    for line in asked_load::lines(&changed) {
        traces.note(Level::Info, "throng", &line);
        traces.console.line(&line);
    }
    Ok(evaluated)
}

/// Everything that is needed to start the engine or the workers.
struct Start<'a> {
    request: &'a Request,
    properties: &'a Properties,
    bytes: Vec<u8>,
    plan: Plan,
    options: Options,
    evaluated: Evaluated,
    found: Look,
    /// Names of the plan's missing files, which are written into the run's record.
    missing: MissingFiles,
    /// Start of a run that is taken over from another coordinator, in epoch milliseconds.
    began_ms: Option<i64>,
}

impl Start<'_> {
    /// Starts the users in this process or in workers, and reports the start. `Err` is the exit code if the start
    /// fails.
    fn run(
        self,
        workers: Option<u32>,
        agents: Option<Agents>,
        (control, live): (Option<&Control>, Option<&LivePage>),
        traces: &mut Traces<'_>,
    ) -> Result<Running, Exit> {
        let Self {
            request, bytes, plan, options, mut evaluated, mut found, missing, began_ms, ..
        } = self;
        let users = evaluated.users();
        let machines = agents.as_ref().map(Agents::about).unwrap_or_default();
        machines::instead(&mut found, &machines);
        let size = Size::new(&found, workers.is_some());
        let words = size.words(users, found.connections).filter(|_| machines.is_empty());
        for line in words.iter().chain(&found.warnings) {
            traces.warn("throng", line);
        }
        let before = Usage::now();
        let complaints = complaints(&mut evaluated, &mut found, (request, &plan));
        let home = options.surroundings.home.clone();
        let asked = live::Asked::new(&evaluated, &plan);
        let frame = facts::frame(request, &plan, evaluated.asked(&plan), &found, &missing);
        let watch = Watch::new(&request.criteria).knowing(&plan, &frame);
        traces.cost = cost::known(&plan, request.prices.as_ref());
        if !plan.has_main_group && !plan.groups.is_empty() {
            traces.warn("throng", NO_MAIN_GROUP);
        }
        let offload = options.offload.clone();
        exports::start(request, now_ms(), traces)?;
        let (hosts, files) = monitors::prepare(request, &plan, &options, &evaluated, traces);
        let run = spread::start(size, request, bytes, plan, options, evaluated, agents).map_err(
            |(message, exit)| {
                let advice = plugins::advice(&message, &home).map(|words| format!("\n  {words}"));
                traces.console.fail(&(message + &advice.unwrap_or_default()), exit)
            },
        )?;
        traces.folder.keep_to_owner(ROWS);
        let start_ms = began_ms.unwrap_or_else(now_ms);
        let frame = record::Frame { start_ms, threads: run.cores(), ..frame };
        tell_of_start(request, (start_ms, users), control, traces);
        let with_transactions = traces.console.counts_transactions();
        let mut progress = Progress::new(run.cores(), before, start_ms, with_transactions);
        progress.set_ports(found.ports);
        if !machines.is_empty() {
            progress.set_processors(found.processors.max(1) as u32);
        }
        progress.recording().set_frame(frame);
        progress.set_hosts(watch::Watch::start(hosts));
        // With agents, the users' connections are on other machines.
        if machines.is_empty() {
            progress.follow_retransmits();
        }
        for line in &complaints {
            traces.heard(line);
        }
        let watch = watch.starting(start_ms);
        let requests = ctl::Requests::new();
        let ctl = reachable(&requests, traces);
        if let Some(live) = live {
            let about = (traces.folder.path(), traces.cost.clone());
            traces.followers.push(live.begin(about, requests.sender(), asked.changeable()));
        }
        let workers = run.workers();
        progress.set_workers(workers, !machines.is_empty());
        let ctl = (requests, ctl);
        traces.machines = machines::about::Machines::new(machines);
        Ok(Running { run, workers, progress, files, before, start_ms, offload, watch, asked, ctl })
    }

    /// Gathers the agents of a run with --fleet.
    fn gather(
        &self,
        workers: Option<u32>,
        interrupt: &Interrupt,
        taken: Option<Taken>,
        traces: &mut Traces<'_>,
    ) -> Result<Option<Agents>, Exit> {
        let users: Vec<u32> = self.evaluated.users_by_group().collect();
        let asked = machines::Asked {
            dealt: plan::state::dealt_files(&self.plan, &users),
            request: self.request,
            properties: self.properties,
            options: &self.options,
            text: &self.bytes,
            workers,
            users: self.evaluated.users(),
            connections: self.found.connections,
            interrupt,
        };
        let place = self.request.rows_to.as_ref();
        let needs = match place {
            Some(_) if self.request.fleet.is_none() => Some("agents: give --fleet, too"),
            Some(_) if self.request.report.at_end => {
                Some("a run without -e, which reads rows here")
            }
            _ => None,
        };
        if let Some(needs) = needs {
            return Err(traces.console.fail(&format!("--rows-to needs {needs}"), Exit::Usage));
        }
        let mut agents = match taken {
            Some(taken) => Some(asked.resume(taken.former, traces)?),
            None => asked.gather(traces)?,
        };
        if let (Some(agents), Some(place)) = (&mut agents, place) {
            agents.set_rows_to(place.clone());
        }
        Ok(agents)
    }
}

/// Logs and prints the start of the run.
fn tell_of_start(
    request: &Request,
    (start_ms, users): (i64, u64),
    control: Option<&Control>,
    traces: &mut Traces<'_>,
) {
    traces.console.start(start_ms, machines::engines(request).as_deref());
    traces.note(Level::Info, ENGINE_LOGGER, "Running the test!");
    let words = format!("Running test ({start_ms})");
    traces.note(Level::Info, "org.apache.jmeter.JMeter", &words);
    let (plan, on) = (request.plan.display(), machines::on_each(request, users));
    traces.console.live_line(&format!("{plan}: {on}; Ctrl-C ends the run"));
    if let Some(control) = control {
        traces.console.jmeter_line(&control.line);
    }
}

/// Returns the warnings about the plan's values and about the machine, without duplicates, and without those about
/// settings that the requested load replaces.
fn complaints(
    evaluated: &mut Evaluated,
    found: &mut Look,
    (request, plan): (&Request, &Plan),
) -> Vec<Line> {
    let mut odd = std::mem::take(&mut found.odd_numbers);
    let of_run = evaluated.take_odd_numbers().into_iter();
    let of_run: Vec<_> = of_run.filter(|one| !odd.contains(one)).collect();
    odd.extend(of_run);
    odd.retain(|one| !asked_load::voids(&request.load, plan, evaluated, one));
    let mut complaints = evaluated.take_complaints();
    complaints.extend(odd.into_iter().map(|one| Line::Engine(one.message)));
    complaints
}

/// Opens the socket for `throng ctl` in the run's folder.
fn reachable(requests: &ctl::Requests, traces: &mut Traces<'_>) -> Option<ctl::Server> {
    let listen = |folder| ctl::Server::listen(folder, requests.sender());
    traces.folder.path().map(listen).transpose().unwrap_or_else(|error| {
        let words = format!("throng ctl cannot reach this run: its socket: {error}");
        traces.note(Level::Warn, "throng", &words);
        None
    })
}

/// A run in progress.
struct Running {
    run: Spread,
    /// Number of worker processes at the start of the run.
    workers: u32,
    progress: Progress,
    /// Files with the metrics of watched hosts, for the plan's PerfMon collectors.
    files: MonitorFiles,
    /// Resources that the generator had used before the first user.
    before: Usage,
    start_ms: i64,
    offload: Option<Arc<dyn Offload>>,
    /// Judges criteria during the run.
    watch: Watch,
    /// Current load, including the changes that were requested during the run.
    asked: live::Asked,
    /// Requests to change the load, and the socket that receives some of them. The socket exists as long as this
    /// field.
    ctl: (ctl::Requests, Option<ctl::Server>),
}

impl Running {
    /// Handles events of the engine and the user's requests to end, until the run is over. Returns the workers that
    /// have died.
    fn drive(
        &mut self,
        interrupt: &Interrupt,
        control: Option<&Control>,
        traces: &mut Traces<'_>,
    ) -> Vec<Loss> {
        let Self { run, progress, files, watch, asked: load, ctl, .. } = self;
        let (mut losses, mut obeyed, mut cut_at) = (Vec::new(), 0, None);
        let mut steps = Steps::default();
        loop {
            cut(&mut cut_at, run, progress, traces);
            tell_of_clock(&mut steps, progress, traces);
            for line in control.iter().flat_map(|control| control.said()) {
                traces.console.jmeter_line(&line);
                traces.note(Level::Info, "org.apache.jmeter.JMeter", &line);
            }
            files.tell(progress, traces);
            for (command, reply) in ctl.0.taken() {
                let mut on = live::Parts { run, progress, traces, interrupt };
                let _ = reply.send(load.obey(command, &mut on));
            }
            let asked = interrupt.asked();
            if asked > obeyed {
                obeyed = asked;
                stop(run, asked, traces);
                let change = Change::Stop { at_once: asked > 1 };
                progress.mark(change, if asked > 1 { "stop at once" } else { "stop" });
                // After SIGTERM or SIGHUP no user is present to press Ctrl-C a second time, and the program that
                // sent the signal has its own time limit.
                if asked == 1 && interrupt.is_by_program() {
                    let words =
                        format!("{} s after the signal to end", interrupt.grace().as_secs());
                    cut_at = Some((Instant::now() + interrupt.grace(), words));
                }
            }
            traces.console.refresh();
            let news = run.next_event(PATIENCE);
            let users = run.users();
            progress.set_users(users.active, users.started, users.finished);
            load.tell(obeyed > 0 || watch.has_ended(), users.started, progress, traces);
            match news {
                News::Snapshot(snapshot) => {
                    if let Some(judged) = measured(snapshot, run, watch, progress, traces) {
                        let words = criteria::words(&judged);
                        traces
                            .warn("throng", &format!("the run ends, as --abort-if says: {words}"));
                        run.stop(false);
                        let secs = ABORT_GRACE.as_secs();
                        let words = format!("{secs} s after --abort-if ended the run");
                        cut_at = Some((Instant::now() + ABORT_GRACE, words));
                    }
                }
                News::Log(line) => traces.heard(&line),
                News::Lost(loss) => losses.push(told_of(loss, progress, traces)),
                News::Idle => {
                    let second = progress.overdue(Instant::now());
                    if second.is_some() {
                        watch.add(progress.last());
                    }
                    traces.tell(second, progress);
                }
                News::Finished => {
                    let second = progress.finish();
                    traces.tell(second, progress);
                    return losses;
                }
            }
        }
    }
}

/// Adds a core's snapshot. Publishes the seconds that this completes. Returns the criterion that ends the run, if there
/// is one.
fn measured(
    mut snapshot: Box<Snapshot>,
    run: &mut Spread,
    watch: &mut Watch,
    progress: &mut Progress,
    traces: &mut Traces<'_>,
) -> Option<Judged> {
    progress.set_processes((run.cores(), run.parts()), run.workers(), run.usage());
    progress.set_replays(run.replays());
    let mut second = progress.add(&mut snapshot);
    run.recycle(snapshot);
    let mut ended = None;
    loop {
        if second.is_some() {
            watch.add(progress.last());
        }
        if let Some((first_ms, _)) = progress.totals().span_ms() {
            watch.begin(first_ms);
        }
        let judged = second.as_ref().and_then(|(second, _)| watch.close(second.at_ms));
        ended = ended.or(judged);
        let is_closed = second.is_some();
        if is_closed {
            progress.set_criteria(watch.lamps());
        }
        traces.tell(second, progress);
        if !is_closed {
            return ended;
        }
        second = progress.complete();
    }
}

/// Reports the death of a worker: in the record, in the log and on the console. Returns the loss.
fn told_of(loss: Loss, progress: &mut Progress, traces: &mut Traces<'_>) -> Loss {
    let words = lost::words(&loss);
    progress.mark(Change::Lost(words.clone()), &words);
    traces.note(Level::Error, "throng", &words);
    traces.console.warn(&words);
    loss
}

/// Cuts samples in flight when their time for finishing has passed.
fn cut(
    at: &mut Option<(Instant, String)>,
    run: &mut Spread,
    progress: &mut Progress,
    traces: &mut Traces<'_>,
) {
    if let Some((_, why)) = at.take_if(|(at, _)| Instant::now() >= *at) {
        let words = format!("samples in flight are cut, {why}");
        traces.warn("throng", &words);
        progress.mark(Change::Stop { at_once: true }, &words);
        run.stop(true);
    }
}

/// Records, logs and prints a change of the system clock.
fn tell_of_clock(steps: &mut Steps, progress: &mut Progress, traces: &mut Traces<'_>) {
    let Some(step) = steps.new_step(stats::clock::set_by_ms()) else { return };
    let (by, way) =
        (step.unsigned_abs() as f64 / 1000.0, if step < 0 { "back" } else { "forward" });
    let words = format!(
        "the system clock was set {way} by {by:.1} s: time stamps of rows follow it, times and rates of the run do not"
    );
    progress.mark(Change::Note(words.clone()), &words);
    traces.warn("throng", &words);
}

fn stop(run: &mut Spread, asked: usize, traces: &mut Traces<'_>) {
    run.stop(asked > 1);
    let message = if asked == 1 {
        "stopping: samples in flight finish; Ctrl-C again ends the run at once"
    } else {
        "stopping at once"
    };
    traces.warn("throng", message);
}

/// Ends watching hosts, and reports those that could not be read.
fn end_watching(progress: &mut Progress, traces: &mut Traces<'_>) {
    for watch::Failures { host, count, last } in progress.hosts().failures() {
        let words = format!("could not read {host} ({count} attempts), last error: {last}");
        traces.warn("watch", &words);
    }
    progress.set_hosts(watch::Watch::default());
}

/// Data for the end of a run: summary, report and exit code.
struct Ending<'a> {
    request: &'a Request,
    interrupt: &'a Interrupt,
    /// Worker processes that died during the run.
    losses: Vec<Loss>,
    dashboard: Option<Dashboard>,
    live: Option<LivePage>,
    /// Content of the properties file in the run's folder.
    properties: String,
}

impl Ending<'_> {
    fn conclude(
        &self,
        running: Running,
        percentages: &Percentages,
        traces: &mut Traces<'_>,
    ) -> Exit {
        let Running {
            run, workers, mut progress, mut files, before, start_ms, offload, watch, ..
        } = running;
        // Work after the last second, such as fetching rows from agents, does not count as part of the run's
        // duration.
        let end_ms = progress.ended_ms();
        exports::end(traces);
        let (first_ms, last_ms) = progress.totals().span_ms().unwrap_or((start_ms, end_ms));
        let ran_ms = if last_ms > first_ms { last_ms - first_ms } else { end_ms - start_ms };
        let length = Duration::from_millis(ran_ms.max(0) as u64);
        let end = self.end(&run, &watch);
        progress.recording().end(end_ms, ran_ms, &end.recorded());
        traces.record(&mut progress);
        let record = traces.recorded();
        let mut judgement = judging::judged(&watch, &end, &progress, length, record.as_ref());
        judgement.without_samples = judging::without_samples(&end, &progress, &watch);
        traces.note(Level::Info, ENGINE_LOGGER, "Notifying test listeners of end of test");
        files.tell(&mut progress, traces);
        files.close();
        end_watching(&mut progress, traces);
        let lines = traces.console.finish(progress.users(), (first_ms + ran_ms, now_ms()));
        traces.summariser_log(&lines);
        let totals = progress.totals();
        let frame = Frame { start_ms, end_ms, usage: used(&before, &run.usage()) };
        let summary =
            Summary::new(totals, &frame, percentages).over_time(totals, progress.timeline());
        let frame = progress.now().frame;
        let summary = summary
            .of_assertions(totals, frame.has_assertions())
            .with_series(totals, frame.series())
            .with_texts(|text| record::mask::urls(text).into_owned());
        let dropped = totals.counters.get(Counter::RowsDropped);
        if dropped > 0 {
            traces.last.add_lost(dropped, "rows or responses were dropped: the disk is too slow");
        }
        traces.machines.measured(&run.figures());
        let cost = cost::of(&summary, &traces.cost);
        let starts = Starts::of(&totals.counters, &self.request.load);
        let (plan, losses, recorded) =
            (&*self.request.plan, &*self.losses, record.map(Recorded::new));
        let outcome =
            Outcome { plan, end, summary, cost, judgement, starts, workers, losses, recorded };
        let json = traces.report(&outcome, self.request);
        let recorded = (outcome.recorded.as_ref(), json, &*self.properties);
        reports::write(self.request, self.dashboard.as_ref(), recorded, traces);
        exports::finish(traces);
        // The file is written after all steps that can lose results, so that it reports all losses.
        self.write_junit(&outcome, (start_ms, end_ms - start_ms), traces);
        traces.folder.path().into_iter().for_each(kept::forget);
        let last = std::mem::take(&mut traces.last);
        let whole = last.is_whole();
        last.lines(traces.log.path()).for_each(|line| traces.console.warn(&line));
        let exit = self.exit(&run, workers, (whole, &outcome.judgement), traces.console);
        let exit = terminal::closing(exit);
        if let Some(live) = &self.live {
            traces.followers.clear();
            live.end(traces.folder.path().filter(|_| !self.request.no_report));
        }
        if let Some(offload) = offload {
            leave(&*offload, exit, traces);
        }
        exit
    }

    /// Returns the reason for the run's end in the form of the summary.
    fn end(&self, run: &Spread, watch: &Watch) -> End {
        match run.aborted() {
            Some(reason) => End::Aborted(reason.to_owned()),
            None if let Some(judged) = watch.aborted() => End::Threshold(criteria::words(judged)),
            None if self.interrupt.asked() > 0 => {
                End::Interrupted { at_once: self.interrupt.asked() > 1 }
            }
            None if run.stopped_by_plan() => End::StoppedByPlan,
            None => End::Completed,
        }
    }

    /// Writes the JUnit file of the run, if it was requested.
    fn write_junit(
        &self,
        outcome: &Outcome<'_>,
        (start_ms, length_ms): (i64, i64),
        traces: &mut Traces<'_>,
    ) {
        let Some(path) = &self.request.junit else { return };
        let plan = self.request.plan.display().to_string();
        let broken = match &outcome.end {
            End::Threshold(why) => {
                Some((junit::FAILURE, format!("it was ended by --abort-if: {why}")))
            }
            End::Completed | End::StoppedByPlan if !self.losses.is_empty() => {
                let n = self.losses.len() as u64;
                let was = if n == 1 { "was" } else { "were" };
                Some((junit::FAILURE, format!("{} {was} lost", things(n, "worker"))))
            }
            End::Completed | End::StoppedByPlan => None,
            End::Interrupted { .. } => Some((junit::ERROR, "it was interrupted".to_string())),
            End::Aborted(reason) => Some((junit::ERROR, format!("it was aborted: {reason}"))),
        };
        let lost: Vec<String> = traces.last.losses().collect();
        let lost = lost.join("; ");
        let facts = junit::Facts { plan: &plan, start_ms, length_ms, broken, lost: &lost };
        if let Err(error) = std::fs::write(path, junit::xml(&facts, &outcome.judgement)) {
            traces.console.warn(&format!("cannot write {}: {error}", path.display()));
            traces.last.add_lost(0, "the file of --junit");
        }
    }

    /// Returns the exit code of the run. `whole` is true if no output was lost.
    fn exit(
        &self,
        run: &Spread,
        workers: u32,
        (whole, judgement): (bool, &Judgement),
        console: &mut Console,
    ) -> Exit {
        let aborted = match run.aborted() {
            Some(jvm::EXITS) if workers == 0 => {
                console.warn(&format!(
                    "{}; Throng exits with the code that the script passed",
                    jvm::EXITS
                ));
                true
            }
            Some(reason) => {
                console.fail(&format!("the run was aborted: {reason}"), Exit::Aborted);
                true
            }
            None => false,
        };
        if let Some(why) = judgement.without_samples {
            console.warn(why);
        }
        if let Some(why) = &judgement.cut_short {
            console.warn(&why.en);
        }
        let interrupt = self.interrupt;
        // JMeter exits with 0 if the test was ended through its control port. With JMeter's command line, Throng
        // does the same.
        let interrupted = interrupt.asked() > 0 && (interrupt.signalled() || !self.request.listen);
        // If there were no samples, or if errors ended the run, JMeter exits with 0.
        let decides_nothing = judgement.without_samples.is_some() || judgement.cut_short.is_some();
        let undecided = decides_nothing && !self.request.listen;
        let applying = [
            (aborted, Exit::Aborted),
            (interrupted, Exit::Interrupted),
            (!self.losses.is_empty(), Exit::WorkersLost),
            (true, judgement.exit()),
            (undecided, Exit::Undecided),
            (!whole, Exit::Lost),
        ];
        Exit::first(applying.into_iter().filter(|(applies, _)| *applies).map(|(_, exit)| exit))
    }
}

/// Lets the JVM finish its work and exits. If a script has set an exit code, that code is used.
fn leave(offload: &dyn Offload, exit: Exit, traces: &mut Traces<'_>) {
    if exit == Exit::Ok
        && let Some(words) = offload.linger()
    {
        traces.warn("throng", &words);
    }
    terminal::closing(exit);
    offload.leave(exit as u8);
}
