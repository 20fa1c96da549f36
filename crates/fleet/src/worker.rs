//! A worker: runs its share of the plan's users and sends its measurements once a second.
//!
//! A separate thread receives messages; this thread sends what the engine reports. When the connection to the
//! coordinator closes, users are cut, rows and the last second are written, and the worker ends.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::offload::{Offload, Surroundings};
use engine::{Event, Handle, Options, Paced, ResultFile, Run};
use plan::plan::{GroupId, Plan};
use plan::state::Shard;
use stats::jtl::Columns;

use crate::frame::{self, Incoming};
use crate::message::{FromWorker, Report, Share, ToWorker, VERSION};
use crate::size::raise_descriptors;

/// Maximum wait for an event of the engine. Events wake the worker earlier.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval of heartbeats to the coordinator.
const BEAT: Duration = Duration::from_secs(1);

/// The JVM that runs in the worker.
#[derive(Debug)]
pub struct Java {
    /// Executes the worker's Java jobs.
    pub offload: Arc<dyn Offload>,
    /// Path of JMeter's installation folder.
    pub home: String,
}

/// Name of the property that lists the targets to which a run may connect. An agent sets this property to its own
/// permitted targets; the engine enforces it.
pub const ALLOWED: &str = "throng.targets.allowed";

/// Function that starts the JVM for a plan and the run's properties; it returns `None` if the plan needs no JVM.
pub type StartJava<'a> =
    &'a dyn Fn(&Plan, &HashMap<String, String>) -> Result<Option<Java>, String>;

/// Runs the worker process. Its standard input is the socket to the coordinator.
pub fn main(java: StartJava<'_>) -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    if socket.peer_addr().is_err() {
        return Err(io::Error::other("workers are started by `throng run`"));
    }
    let descriptors = raise_descriptors();
    let mut reader = socket.try_clone()?;
    let mut incoming = Incoming::default();
    let next = move || {
        let mut buffer = [0; 4096];
        loop {
            match incoming.next() {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(_) => return None,
            }
            match reader.read(&mut buffer) {
                Ok(0) => return None,
                Ok(n) => incoming.add(&buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    };
    let writer = Arc::new(Mutex::new(socket));
    beat(Arc::clone(&writer))?;
    let mut bytes = Vec::new();
    serve(descriptors, java, next, &mut |message| {
        bytes.clear();
        if frame::push(&mut bytes, &message).is_ok() {
            // The reading thread detects that the coordinator is gone.
            let _ = send(&writer, &bytes);
        }
    });
    Ok(())
}

/// Sends a heartbeat once a second, also while the plan compiles or Java starts. Only a stopped process sends none.
fn beat(writer: Arc<Mutex<UnixStream>>) -> io::Result<()> {
    let mut bytes = Vec::new();
    frame::push(&mut bytes, &FromWorker::Alive).map_err(io::Error::other)?;
    let beating = std::thread::Builder::new().name("beat".into()).spawn(move || {
        while send(&writer, &bytes).is_ok() {
            std::thread::sleep(BEAT);
        }
    });
    beating.map(drop)
}

/// Writes complete frames to the socket under a lock, because two threads send.
fn send(writer: &Mutex<UnixStream>, bytes: &[u8]) -> io::Result<()> {
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    writer.write_all(bytes)
}

/// Runs a share. `next` returns the next message, or `None` if the coordinator is gone; `say` sends a message.
pub fn serve(
    descriptors: u64,
    java: StartJava<'_>,
    mut next: impl FnMut() -> Option<ToWorker> + Send + 'static,
    say: &mut dyn FnMut(FromWorker),
) {
    say(FromWorker::Offer { version: VERSION, pid: std::process::id(), descriptors });
    let share = loop {
        match next() {
            Some(ToWorker::Plan(share)) => break share,
            Some(ToWorker::End) | None => return say(given_up(None)),
            Some(_) => {}
        }
    };
    let (mut run, offload) = match start(*share, java) {
        Ok(started) => started,
        Err(reason) => return say(given_up(Some(reason))),
    };
    say(FromWorker::Ready { cores: run.cores() });
    let handle = run.handle();
    let alone = Arc::new(AtomicBool::new(false));
    let noticed = Arc::clone(&alone);
    let obeying = std::thread::Builder::new().name("orders".into()).spawn(move || {
        while let Some(message) = next() {
            obey(message, &handle);
        }
        noticed.store(true, Ordering::Relaxed);
        handle.stop(true);
        handle.end();
    });
    if let Err(error) = obeying {
        return say(given_up(Some(error.to_string())));
    }
    let samples = report(&mut run, say);
    let aborted = run.aborted().map(str::to_string);
    if !alone.load(Ordering::Relaxed) {
        let whole = aborted.is_none();
        say(FromWorker::Done { aborted, samples });
        if let Some(offload) = offload {
            if whole {
                // Threads that still run are not reported, because the coordinator reads no more.
                let _ = offload.linger();
            }
            offload.leave(0);
        }
    }
}

fn obey(message: ToWorker, handle: &Handle) {
    match message {
        ToWorker::Start { groups, at, properties } => {
            handle.set_properties(&properties);
            handle.start(groups.into_iter().map(GroupId).collect(), at);
        }
        ToWorker::Adjust { elsewhere } => handle.users_elsewhere(&elsewhere),
        ToWorker::Change(changes) => changes.into_iter().for_each(|live| handle.change(live)),
        ToWorker::Stop { now } => handle.stop(now),
        ToWorker::End => handle.end(),
        // A process is on the same machine as its coordinator or agent, which confirms in its place.
        ToWorker::Plan(_) | ToWorker::Arm => {}
    }
}

/// Returns the last message of a worker that ends without having run users.
fn given_up(aborted: Option<String>) -> FromWorker {
    FromWorker::Done { aborted, samples: 0 }
}

/// Forwards the engine's events until the share is done. Returns the number of samples in its reports.
fn report(run: &mut Run, say: &mut dyn FnMut(FromWorker)) -> u64 {
    let (mut seq, mut version, mut samples) = (0, 0, 0);
    loop {
        match run.next_event(PATIENCE) {
            Event::Snapshot(snapshot) => {
                seq += 1;
                let users = run.users();
                let report = Report {
                    seq,
                    usage: run.usage(),
                    active: run.active_by_group().collect(),
                    started: users.started,
                    finished: users.finished,
                    snapshot,
                };
                samples += report.samples();
                say(FromWorker::Report(Box::new(report)));
            }
            Event::Figures(figures) => say(FromWorker::Figures(figures)),
            Event::Log(text) => say(FromWorker::Log(text)),
            Event::BatchDone => {
                let properties = run.properties_since(version).map(|(now, properties)| {
                    version = now;
                    properties
                });
                let properties = properties.unwrap_or_default();
                say(FromWorker::BatchDone { properties, changes: run.changes() });
            }
            Event::StopAsked { now } => say(FromWorker::StopAsked { now }),
            Event::Idle => {}
            Event::Finished => return samples,
        }
    }
}

/// Compiles the share's plan and starts its cores, which then wait. Also starts the JVM if the plan needs it.
fn start(share: Share, java: StartJava<'_>) -> Result<(Run, Option<Arc<dyn Offload>>), String> {
    let mut properties: HashMap<String, String> = share.properties.into_iter().collect();
    let columns = Columns::from_properties(|key| properties.get(key).cloned())
        .map_err(|error| error.to_string())?;
    let plan = compile(&share.name, share.plan, std::path::Path::new(&share.folder), &properties)?;
    if plan.hash != share.hash {
        return Err(
            "the compiled plan differs from the coordinator's: the program was replaced during the run"
                .into(),
        );
    }
    // The properties come from the run, but the permitted targets from this machine.
    properties.extend(share.allowed.map(|allowed| (ALLOWED.to_owned(), allowed)));
    properties.extend(share.host.map(|host| (engine::THREAD_PREFIX.to_owned(), host)));
    let (offload, home) = java(&plan, &properties)?.map(|java| (java.offload, java.home)).unzip();
    let surroundings = Surroundings {
        home: home.unwrap_or_default(),
        plan: share.name.clone().into(),
        ..Surroundings::default()
    };
    let file = |path| ResultFile {
        path,
        columns: columns.clone(),
        errors_only: false,
        successes_only: false,
    };
    let options = Options {
        cores: share.cores,
        properties,
        base_dir: share.folder.into(),
        results: share.results.into_iter().map(|path| file(path.into())).collect(),
        seed: share.seed,
        shard: Shard { index: share.index, count: share.count.max(1) },
        paced: Some(Paced { zero: share.zero }),
        offload: offload.clone(),
        surroundings,
        evaluated: Some(share.evaluated),
        steps: None,
    };
    let run = engine::start(Arc::new(plan), options).map_err(|error| error.to_string())?;
    Ok((run, offload))
}

fn compile(
    name: &str,
    text: Vec<u8>,
    folder: &std::path::Path,
    properties: &HashMap<String, String>,
) -> Result<Plan, String> {
    let (document, _) = jmx::parse(name, text).map_err(|jmx::NotXml(found)| found.message)?;
    let settings = plan::compile::Settings {
        properties: properties.clone(),
        folder: folder.to_path_buf(),
        java_backing: !properties.contains_key(plan::compile::WITHOUT_JAVA),
    };
    plan::compile::compile(&document, &settings)
        .plan
        .ok_or_else(|| "cannot compile the plan".to_string())
}
