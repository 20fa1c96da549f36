//! `throng run`, and JMeter's `-n -t`: from the request to the exit code.
//!
//! All problems are reported before the first user starts: findings of the plan, elements that cannot
//! run, properties without effect. Then the run goes on until it ends or is stopped; its folder is up to date
//! at every moment.

use std::path::PathBuf;
use std::time::Duration;

use engine::{Options, ResultFile};
use fleet::Loss;
use plan::plan::{ListenerKind, Plan};
use stats::Counter;
use stats::aggregate::Percentages;
use stats::grouped::count;
use stats::jtl::Columns;
use stats::process::Usage;
use stats::snapshot::Brief;
use stats::snapshot_file::Second;
use stats::summary::{Frame, Summary};

use crate::console::{Console, used};
use crate::control::Control;
use crate::exit::Exit;
use crate::failing;
use crate::folder::Folder;
use crate::identity::{self, End};
use crate::interrupt::Interrupt;
use crate::java::{self, Machine};
use crate::last_words::LastWords;
use crate::load::{self, Loaded};
use crate::log::{Level, Log};
use crate::preflight::{About, Look};
use crate::progress::Progress;
use crate::properties::Properties;
use crate::request::{OVERCOMMIT, Request};
use crate::spread::{self, News, Size, Spread};
use crate::{check, control, log, lost, plugins, preflight, terminal, tty};

/// How long to wait for events before checking whether the user wants to end.
const PATIENCE: Duration = Duration::from_millis(100);

/// The logger of JMeter's engine, whose lines tools look for.
const ENGINE_LOGGER: &str = "org.apache.jmeter.engine.StandardJMeterEngine";

/// Runs the plan file of the request.
pub(crate) fn run(request: Request) -> Exit {
    match load::read(&request.plan) {
        Some(bytes) => run_plan(&request, bytes),
        None => Exit::Usage,
    }
}

/// Runs a plan whose text is at hand.
pub(crate) fn run_plan(request: &Request, bytes: Vec<u8>) -> Exit {
    let mut console = Console::new(request.json, request.quiet);
    let (mut properties, warnings) = match Properties::load(&request.sources, now_ms()) {
        Ok(loaded) => loaded,
        Err(message) => return console.fail(&message, Exit::Usage),
    };
    for warning in &warnings {
        console.warn(warning);
    }
    properties.hand_on_levels(&request.levels);
    let mut loaded = load::load(&request.plan, bytes.clone(), &properties);
    let mut missing = None;
    let needed = loaded.plan.as_ref().map(|plan| {
        let needed = java::needed(plan, |key| properties.get(key).map(str::to_owned))?;
        let mut diags = needed.map_or(Vec::new(), |needed| check::missing_classes(plan, &needed));
        // The Java machine itself tells what the plan can do without.
        diags.retain(|diag| diag.severity == jmx::Severity::Error);
        Ok::<_, String>(diags)
    });
    match needed {
        Some(Ok(diags)) => loaded.diags.extend(diags),
        Some(Err(words)) => {
            // What needs it is then named as what cannot run.
            properties.leave_java_out();
            loaded = load::load(&request.plan, bytes.clone(), &properties);
            missing = Some(words);
        }
        None => {}
    }
    if !may_run(&loaded, request.skip_unsupported, missing.as_deref(), &mut console) {
        return Exit::Plan;
    }
    for line in check::unheeded(&properties, &loaded) {
        console.warn(&line);
    }
    if let Some(file) = &request.log_config {
        let file = file.display();
        console.warn(&format!(
            "{file} is not read: -i (--jmeterlogconf) configures log4j; use -L LEVEL and -j FILE"
        ));
    }
    if request.report_asked {
        console.warn(
            "-e and -o: there is no HTML report yet, and the run goes on without it; its summary and Aggregate Report are in \
             its folder, and JMeter makes the report of the rows that -l writes: jmeter -g FILE -o FOLDER",
        );
    }
    let workers = match spread::asked(request, &properties) {
        Ok(workers) => workers,
        Err(message) => return console.fail(&message, Exit::Usage),
    };
    let overcommits = properties.flag(OVERCOMMIT, false);
    let about = |users| About {
        properties: properties.all().map(|(key, value)| (key.into(), value.into())).collect(),
        folder: request.folder(),
        users,
        workers: workers.map(u64::from),
    };
    let found = loaded.plan.as_ref().map(|plan| preflight::look(plan, about(None)));
    if let Some(message) = found.as_ref().and_then(|found| refusal(found, overcommits)) {
        return console.fail(&message, Exit::TooSmall);
    }
    let columns = match Columns::from_properties(|key| properties.get(key).map(str::to_string)) {
        Ok(columns) => columns,
        Err(error) => return console.fail(&error.to_string(), Exit::Usage),
    };
    let mut folder =
        Folder::create(&request.runs, &request.plan, now_ms()).unwrap_or_else(|error| {
            let runs = request.runs.display();
            console.warn(&format!(
                "cannot make the run's folder under {runs}: {error}; the run writes no files there"
            ));
            Folder::default()
        });
    let written = [
        folder.write("plan.jmx", &loaded.source),
        folder.write("properties.txt", &properties.file()),
    ];
    written.into_iter().flatten().for_each(|message| console.warn(&message));
    let short_names = properties.flag("throng.log.short_names", false);
    let mut log = open_log(request, &folder, short_names, &mut console);
    note(
        &mut log,
        &mut console,
        Level::Info,
        "throng",
        &format!("running {}", request.plan.display()),
    );
    let Loaded { plan: Some(plan), .. } = loaded else { return Exit::Plan };
    if let Err(message) = delete_results(request, &plan) {
        return console.fail(&message, Exit::Aborted);
    }
    console.create_summarisers(&properties, &plan.summarisers);
    console.jmeter_line(&format!("Created the tree successfully using {}", request.plan.display()));
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let stops_itself = control::is_used(&plan);
    let control = (request.listen || stops_itself)
        .then(|| control::listen(&properties, &interrupt))
        .flatten();
    let mut options = Options {
        cores: request.cores as u32,
        properties: properties
            .all()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
        base_dir: request.folder(),
        results: result_files(request, &folder, &columns),
        seed: seed(),
        ..Options::default()
    };
    if let Some(port) = control.as_ref().and_then(|control| control.port).filter(|_| stops_itself) {
        options.properties.insert("jmeterengine.nongui.port".into(), port.to_string());
    }
    match java(request, &properties, &plan, &folder, &mut (&mut console, &mut log)) {
        Ok(None) => {}
        Ok(Some(machine)) => {
            options.offload = Some(machine.offload);
            options.surroundings.home = machine.home;
            options.surroundings.plan.clone_from(&request.plan);
        }
        Err(message) => return console.fail(&message, Exit::Plan),
    }
    let mut evaluated = engine::evaluate(&plan, &options);
    let users = evaluated.users();
    // Once more: of some groups it is only known now how many users they have.
    let found = preflight::look(&plan, about(Some(evaluated.at_once_by_group().collect())));
    if let Some(message) = refusal(&found, overcommits) {
        return console.fail(&message, Exit::TooSmall);
    }
    let size = Size::of(workers, users.max(found.connections));
    if let Some(words) = size.words(users, found.connections) {
        note(&mut log, &mut console, Level::Warn, "throng", &words);
        console.warn(&words);
    }
    for line in &found.warnings {
        note(&mut log, &mut console, Level::Warn, "throng", line);
        console.warn(line);
    }
    let before = Usage::now();
    let mut complaints = evaluated.take_complaints();
    // Warnings that were known before are printed once.
    complaints.retain(|text| !found.odd_numbers.contains(text));
    complaints.extend(found.odd_numbers.iter().cloned());
    let home = options.surroundings.home.clone();
    let offload = options.offload.clone();
    let mut run = match spread::start(size, request, bytes, plan, options, evaluated) {
        Ok(run) => run,
        Err((message, exit)) => {
            let advice = plugins::advice(&message, &home).map(|words| format!("\n  {words}"));
            return console.fail(&(message + &advice.unwrap_or_default()), exit);
        }
    };
    folder.keep_to_owner("results.jtl");
    let start_ms = now_ms();
    console.start(start_ms);
    note(&mut log, &mut console, Level::Info, ENGINE_LOGGER, "Running the test!");
    let running = format!("Running test ({start_ms})");
    note(&mut log, &mut console, Level::Info, "org.apache.jmeter.JMeter", &running);
    console.live_line(&format!("{}: {users} users; Ctrl-C ends the run", request.plan.display()));
    if let Some(control) = &control {
        console.jmeter_line(&control.line);
    }
    let workers = run.workers();
    let mut progress = Progress::new(run.cores(), before, start_ms, console.counts_transactions());
    progress.set_ports(found.ports);
    let mut traces = Traces {
        console: &mut console,
        folder: &mut folder,
        log: &mut log,
        last: LastWords::default(),
    };
    for text in &complaints {
        heard(text, &mut traces);
    }
    let losses = drive(&mut run, &mut progress, (&interrupt, control.as_ref()), &mut traces);
    let mut last = traces.last;
    let end_ms = now_ms();
    let ended = "Notifying test listeners of end of test";
    note(&mut log, &mut console, Level::Info, ENGINE_LOGGER, ended);
    let lines = console.finish(progress.users(), end_ms);
    summariser_log(&lines, &mut log, &mut console);
    let frame = Frame { start_ms, end_ms, usage: used(&before, &run.usage()) };
    let percentages = Percentages::from_properties(|key| properties.get(key).map(str::to_string));
    let summary = Summary::new(progress.totals(), &frame, &percentages)
        .over_time(progress.totals(), progress.timeline());
    let dropped = progress.totals().counters.get(Counter::RowsDropped);
    if dropped > 0 {
        last.add_lost(&format!("{dropped} rows or responses were dropped: the disk is too slow"));
    }
    let end = match run.aborted() {
        Some(reason) => End::Aborted(reason.to_owned()),
        None if interrupt.asked() > 0 => End::Interrupted { at_once: interrupt.asked() > 1 },
        None if run.stopped_by_plan() => End::StoppedByPlan,
        None => End::Completed,
    };
    report(&summary, (workers, &losses), (request, &end), (&mut folder, &mut last), &mut console);
    let whole = last.is_whole();
    last.lines(log.path()).for_each(|line| console.warn(&line));
    let exit = match run.aborted() {
        Some(jvm::EXITS) if workers == 0 => {
            console.warn(&format!("{}, by the exit code that it gave", jvm::EXITS));
            Exit::Aborted
        }
        Some(reason) => console.fail(&format!("the run was aborted: {reason}"), Exit::Aborted),
        // JMeter ends with 0 when its control port has ended the test, and so does its command line here.
        None if interrupt.asked() > 0 && (interrupt.signalled() || !request.listen) => {
            Exit::Interrupted
        }
        None if !losses.is_empty() => Exit::WorkersLost,
        None if !whole => Exit::Lost,
        None => Exit::Ok,
    };
    let exit = terminal::closing(exit);
    if let Some(offload) = offload {
        if exit == Exit::Ok
            && let Some(words) = offload.linger()
        {
            note(&mut log, &mut console, Level::Warn, "throng", &words);
            console.warn(&words);
        }
        // A script's own exit code counts.
        offload.leave(exit as u8);
    }
    exit
}

/// Why a run is not started, if what this machine has is too little to hold it, unless it is to be started all the same.
fn refusal(found: &Look, overcommits: bool) -> Option<String> {
    if overcommits || found.refusals.is_empty() {
        return None;
    }
    let lines = found.refusals.join("\n  ");
    Some(format!(
        "this machine cannot hold {} users, and the run was not started:\n  {lines}\n  throng preflight has the sums; --overcommit \
         ({OVERCOMMIT}=true) starts the run all the same",
        count(found.users)
    ))
}

/// Starts the Java machine, if the plan needs one. Workers that were asked for start their own.
fn java(
    request: &Request,
    properties: &Properties,
    plan: &Plan,
    folder: &Folder,
    (console, log): &mut (&mut Console, &mut Log),
) -> Result<Option<Machine>, String> {
    let get = |key: &str| properties.get(key).map(str::to_owned);
    let Some(needed) = java::needed(plan, get)? else { return Ok(None) };
    if spread::asked(request, properties)?.is_some_and(|workers| workers > 1) {
        return Ok(None);
    }
    console.line(&needed.words);
    note(log, console, Level::Info, "throng", &needed.words);
    let machine = needed.start(plan, folder.file("java-crash.log").as_deref())?;
    for warning in &machine.warnings {
        note(log, console, Level::Warn, "throng", warning);
        console.warn(warning);
    }
    Ok(Some(machine))
}

/// Prints the problems of the plan, and says whether it can be run nevertheless.
fn may_run(loaded: &Loaded, skip: bool, no_java: Option<&str>, console: &mut Console) -> bool {
    console.report(&loaded.findings(tty::error_colour()));
    if let Some(words) = no_java {
        console.warn(words);
    }
    let obstacles: Vec<_> = loaded.obstacles().collect();
    if !obstacles.is_empty() {
        let heading =
            if skip { "left out, because they cannot run:" } else { "these elements cannot run:" };
        let lines = check::elements_lines(&loaded.name, obstacles.iter().copied());
        console.warn(&format!("{heading}\n{}", lines.trim_end()));
    }
    if !loaded.is_valid() {
        console.fail("the plan has errors and was not run", Exit::Plan);
        return false;
    }
    if !obstacles.is_empty() && !skip {
        console.fail(
            "the plan was not run; --skip-unsupported (throng run) runs it without these elements",
            Exit::Plan,
        );
        return false;
    }
    true
}

/// The outputs of a run: console, log and folder.
struct Traces<'a> {
    console: &'a mut Console,
    folder: &'a mut Folder,
    log: &'a mut Log,
    last: LastWords,
}

/// The loop of a run: events of the engine, and the user's wish to end. Returns the workers that died.
fn drive(
    run: &mut Spread,
    progress: &mut Progress,
    (interrupt, control): (&Interrupt, Option<&Control>),
    traces: &mut Traces<'_>,
) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut obeyed = 0;
    loop {
        for line in control.iter().flat_map(|control| control.said()) {
            traces.console.jmeter_line(&line);
            note(traces.log, traces.console, Level::Info, "org.apache.jmeter.JMeter", &line);
        }
        let asked = interrupt.asked();
        if asked > obeyed {
            obeyed = asked;
            stop(run, asked, traces);
        }
        let news = run.next_event(PATIENCE);
        let users = run.users();
        progress.set_users(users.active, users.started, users.finished);
        match news {
            News::Snapshot(snapshot) => {
                progress.set_processes(run.cores(), run.workers(), run.usage());
                let second = progress.add(&snapshot);
                run.recycle(snapshot);
                tell(second, progress, traces);
            }
            News::Log(text) => heard(&text, traces),
            News::Lost(loss) => {
                let words = lost::words(&loss);
                note(traces.log, traces.console, Level::Error, "throng", &words);
                traces.console.warn(&words);
                losses.push(loss);
            }
            News::Idle => tell(progress.overdue(now_ms()), progress, traces),
            News::Finished => {
                tell(progress.close(), progress, traces);
                return losses;
            }
        }
    }
}

fn stop(run: &mut Spread, asked: usize, traces: &mut Traces<'_>) {
    run.stop(asked > 1);
    let message = if asked == 1 {
        "stopping: samples in flight finish; Ctrl-C again ends the run at once"
    } else {
        "stopping at once"
    };
    note(traces.log, traces.console, Level::Warn, "throng", message);
    traces.console.warn(message);
}

/// A line of the plan's own, as `__log` sends it with its level in front, goes to the log; what the engine has to say
/// concerns the user at once.
fn heard(text: &str, traces: &mut Traces<'_>) {
    match text.split_once(": ") {
        Some(("Stdout", text)) => traces.console.line(text),
        Some(("Stderr", text)) => traces.console.report(&format!("{text}\n")),
        Some(("Ended", text)) => {
            let words = format!("a user was ended by {text}");
            note(traces.log, traces.console, Level::Warn, "engine", &words);
            if traces.last.add_end(text) {
                traces.console.warn_some(&words);
            }
        }
        Some(("Lost", text)) => {
            note(traces.log, traces.console, Level::Warn, "engine", text);
            traces.last.add_lost(text);
        }
        Some((level, text)) if log::level(level).is_some() => {
            let level = log::level(level).unwrap_or(Level::Info);
            let (logger, at_ms, text) =
                plan::function::parts_of(text).unwrap_or(("plan", None, text));
            if let Some(trouble) = traces.log.write_at(at_ms, level, logger, text) {
                traces.console.warn(&trouble);
            }
            if let Some(words) = failing::script(logger, text)
                && traces.last.add_failure(words.clone())
            {
                traces.console.warn(&format!("a script failed: {words}"));
            }
        }
        _ => {
            note(traces.log, traces.console, Level::Warn, "engine", text);
            if traces.last.add_said(text) {
                traces.console.warn_some(text);
            }
        }
    }
}

/// Writes a finished second down and shows it.
fn tell(second: Option<(Second, Brief)>, progress: &Progress, traces: &mut Traces<'_>) {
    let Some((second, sums)) = second else { return };
    let lines = traces.console.second(&second, &sums, progress.elapsed_s(second.at_ms));
    summariser_log(&lines, traces.log, traces.console);
    if let Some(message) = traces.folder.write_second(&second) {
        traces.console.warn(&message);
    }
}

/// The summary, on the console and in the folder.
fn report(
    summary: &Summary,
    (workers, losses): (u32, &[Loss]),
    (request, end): (&Request, &End),
    (folder, last): (&mut Folder, &mut LastWords),
    console: &mut Console,
) {
    if folder.seconds_lost() > 0 {
        last.add_lost(&format!("{} lines of seconds.jsonl", folder.seconds_lost()));
    }
    let text = format!("{}{}{}", last.text(), summary.text(), lost::text(workers, losses));
    let text = terminal::visible(&text);
    let json = lost::into_json(summary.json().unwrap_or_default(), workers, losses);
    let json = last.add_to_json(json);
    let json = identity::into_json(json, &request.plan, end);
    for (name, text) in [("summary.json", &*json), ("summary.txt", &*text)] {
        if let Some(message) = folder.write(name, text) {
            console.warn(&message);
            last.add_lost(name);
        }
    }
    let shown = match console.table_width() {
        Some(width) => &format!(
            "{}{}{}",
            last.text(),
            summary.text_within(Some(width)),
            lost::text(workers, losses)
        ),
        None => &*text,
    };
    console.put(&format!("\n{shown}\n"));
    if let Some(path) = folder.path() {
        console.line(&format!("Results: {}", path.display()));
    }
    if request.json {
        terminal::json(&json);
    }
}

/// With `-f`, deletes the result files of the command line and of the plan's listeners. A listener whose file name is
/// an expression keeps its file, as in JMeter, which looks for a file of that very name.
fn delete_results(request: &Request, plan: &Plan) -> Result<(), String> {
    if !request.force {
        return Ok(());
    }
    let listeners = plan.listeners.iter().filter_map(|listener| match &listener.kind {
        ListenerKind::File(writer) => writer.file.fixed(),
        ListenerKind::Saver(_) | ListenerKind::Backend(_) | ListenerKind::Hosted(_) => None,
    });
    let listeners = listeners.map(PathBuf::from);
    for path in request.jtl.iter().cloned().chain(listeners).filter(|path| path.is_file()) {
        std::fs::remove_file(&path)
            .map_err(|error| format!("cannot delete {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Result files of the command line; those that exist are appended to.
fn result_files(request: &Request, folder: &Folder, columns: &Columns) -> Vec<ResultFile> {
    let own = folder.file("results.jtl").filter(|_| request.jtl_in_folder);
    let file = |path: PathBuf| ResultFile {
        path,
        columns: columns.clone(),
        errors_only: false,
        successes_only: false,
    };
    request.jtl.iter().cloned().chain(own).map(file).collect()
}

fn open_log(request: &Request, folder: &Folder, short_names: bool, console: &mut Console) -> Log {
    let Some(path) = request.log.clone().or_else(|| folder.file("throng.log")) else {
        return Log::none();
    };
    // What is not in the run's folder is as the user has it.
    let mode = if request.log.is_some() { 0o666 } else { 0o600 };
    match Log::open(&path, mode, &request.levels, short_names) {
        Ok((log, unknown)) => {
            for message in &unknown {
                console.warn(message);
            }
            log
        }
        Err(error) => {
            console.warn(&format!(
                "cannot write the log {}: {error}; the run goes on without it",
                path.display()
            ));
            Log::none()
        }
    }
}

fn note(log: &mut Log, console: &mut Console, level: Level, category: &str, message: &str) {
    if let Some(trouble) = log.write(level, category, message) {
        console.warn(&trouble);
    }
}

/// The summariser's lines under the category they have in JMeter's log, which scripts look for.
fn summariser_log(lines: &[String], log: &mut Log, console: &mut Console) {
    if console.logs_summary() {
        for line in lines {
            note(log, console, Level::Info, "org.apache.jmeter.reporters.Summariser", line);
        }
    }
}

/// Different in every run.
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
