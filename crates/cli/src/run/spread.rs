//! Runs users in one process or in several. The events are the same in both cases.
//!
//! Users that need more descriptors than one process may open are divided among worker processes; so are the users
//! of a run with a requested number of workers. The main loop of the run does not depend on this.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Evaluated, Line, Live, Made, Options, Run, StartError, Users};
use fleet::remote::Agents;
use fleet::{Bus, Figures, Fleet, Job, Loss, Processes};
use plan::plan::Plan;
use stats::Snapshot;
use stats::process::Usage;

use crate::args::request::Request;
use crate::checks::preflight::Look;
use crate::exit::Exit;

/// A run in progress, in this process or in workers.
#[derive(Debug)]
pub(crate) enum Spread {
    Here(Box<Run>),
    /// A run in workers. Contains the result files that must be closed, and messages about data that was lost in
    /// closing them.
    Fleet(Box<Fleet>, Vec<Made>, Vec<Line>, Own),
}

/// Resource use of this process without its workers. Every report reads the value, but the system is asked for it only
/// at intervals.
#[derive(Debug, Default)]
pub(crate) struct Own(Cell<Option<(Instant, Usage)>>);

/// Interval for measuring the resource use of this process.
const READ: Duration = Duration::from_millis(100);

impl Own {
    fn usage(&self) -> Usage {
        let known = self.0.get().filter(|(at, _)| at.elapsed() < READ);
        let (at, usage) = known.unwrap_or_else(|| (Instant::now(), Usage::without_threads()));
        self.0.set(Some((at, usage)));
        usage
    }
}

/// An event of a run.
pub(crate) enum News {
    Snapshot(Box<Snapshot>),
    Log(Line),
    Lost(Loss),
    Idle,
    Finished,
}

/// Number of processes of a run. 1 means this process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) workers: u32,
    /// Number of descriptors that a process may open.
    pub(crate) descriptors: u64,
    /// True if the user has requested this number of processes.
    asked: bool,
}

/// Largest number of worker processes of a run, also if `--overcommit` starts a run that needs more.
const MOST_WORKERS: u32 = 1000;

impl Size {
    /// Returns the size that the checks before the run have found. `asked` is true if the user has requested it.
    pub(crate) fn new(found: &Look, asked: bool) -> Self {
        let workers = u32::try_from(found.workers).unwrap_or(MOST_WORKERS).clamp(1, MOST_WORKERS);
        Self { workers, descriptors: found.descriptors, asked }
    }

    /// Returns the message for the user about the processes, if there is one.
    pub(crate) fn words(self, users: u64, connections: u64) -> Option<String> {
        let Self { workers, descriptors, asked } = self;
        if workers > 1 && !asked {
            let with = if connections > users {
                format!(" with up to {connections} connections")
            } else {
                String::new()
            };
            return Some(format!(
                "{users} users{with} need more than the {descriptors} descriptors of one process: {workers} workers"
            ));
        }
        let fits = u64::from(workers) * fleet::held_per_process(descriptors);
        (users.max(connections) > fits).then(|| {
            format!(
                "{users} users on {workers} processes of {descriptors} descriptors: beyond about {fits} connections, \
                 opening one will fail; without --workers or throng.workers there are enough"
            )
        })
    }
}

/// Starts a run in this process, in `size` worker processes, or on agents. The error is a message for the user and the
/// exit code.
pub(crate) fn start(
    size: Size,
    request: &Request,
    text: Vec<u8>,
    plan: Plan,
    mut options: Options,
    mut evaluated: Evaluated,
    agents: Option<Agents>,
) -> Result<Spread, (String, Exit)> {
    if size.workers <= 1 && agents.is_none() {
        options.evaluated = Some(evaluated);
        let run = engine::start(Arc::new(plan), options).map_err(refused)?;
        return Ok(Spread::Here(Box::new(run)));
    }
    let files = engine::create_results(&plan, &options, &evaluated).map_err(refused)?;
    evaluated.take_complaints();
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let job = Job {
        name: request.plan.display().to_string(),
        text,
        properties: options.properties.into_iter().collect(),
        folder: options.base_dir,
        evaluated,
        results: options.results.into_iter().map(|file| file.path).collect(),
        // One thread per processor, divided among the workers, and at least one per worker.
        cores: match options.cores {
            0 => (processors / size.workers).max(1),
            n => n,
        },
        seed: options.seed,
        stop_on_loss: request.stop_on_loss,
    };
    let former = agents.as_ref().and_then(Agents::former);
    let (bus, notes): (Box<dyn Bus>, _) = match agents {
        Some(mut agents) => {
            let made = files.iter().map(|made| (made.path().to_owned(), made.has_rows())).collect();
            let notes = agents.set_results(made, &job.results, &job.folder);
            (Box::new(agents), notes.into_iter().map(Line::from).collect())
        }
        None => {
            let workers = Processes::start(size.workers)
                .map_err(|error| format!("cannot start {} workers: {error}", size.workers))
                .map_err(|message| (message, Exit::Aborted))?;
            (Box::new(workers), Vec::new())
        }
    };
    let fleet = match former {
        Some(share) => Fleet::resume(bus, &plan, job, share),
        None => Fleet::start(bus, &plan, job),
    };
    let fleet = fleet.map_err(|error| (error.to_string(), Exit::Aborted))?;
    Ok(Spread::Fleet(Box::new(fleet), files, notes, Own::default()))
}

/// Returns the reason why the engine does not start, and the exit code. Classes that Java cannot find are errors of
/// the plan, as in `throng check`.
fn refused(error: StartError) -> (String, Exit) {
    let exit = match error {
        StartError::Java(_) => Exit::Plan,
        StartError::Setting(_) => Exit::Usage,
        StartError::Results(_) | StartError::System(_) => Exit::Aborted,
    };
    (error.to_string(), exit)
}

impl Spread {
    /// Waits for the next event for at most `patience`.
    pub(crate) fn next_event(&mut self, patience: Duration) -> News {
        match self {
            Self::Here(run) => match run.next_event(patience) {
                engine::Event::Snapshot(snapshot) => News::Snapshot(snapshot),
                engine::Event::Log(line) => News::Log(line),
                engine::Event::Finished => News::Finished,
                engine::Event::Idle
                | engine::Event::BatchDone
                | engine::Event::Figures(_)
                | engine::Event::StopAsked { .. } => News::Idle,
            },
            Self::Fleet(fleet, files, lost, _) => match fleet.next_event(patience) {
                fleet::Event::Snapshot(snapshot) => News::Snapshot(snapshot),
                fleet::Event::Log(line) => News::Log(line),
                fleet::Event::Lost(loss) => News::Lost(loss),
                fleet::Event::Idle => News::Idle,
                fleet::Event::Finished => {
                    // Rows of other machines arrive only now. They must be written before the end tags of the
                    // files.
                    match fleet.collect() {
                        Some(words) => lost.extend(words.into_iter().map(Line::from)),
                        None => lost.extend(engine::close_results(std::mem::take(files))),
                    }
                    match lost.is_empty() {
                        true if files.is_empty() => News::Finished,
                        true => News::Idle,
                        false => News::Log(lost.remove(0)),
                    }
                }
            },
        }
    }

    /// Returns the memory of a processed snapshot for reuse.
    pub(crate) fn recycle(&mut self, snapshot: Box<Snapshot>) {
        match self {
            Self::Here(run) => run.recycle(snapshot),
            Self::Fleet(fleet, ..) => fleet.recycle(snapshot),
        }
    }

    /// Ends the run, gracefully or immediately.
    pub(crate) fn stop(&mut self, now: bool) {
        match (self, now) {
            (Self::Here(run), false) => run.stop(),
            (Self::Here(run), true) => run.stop_now(),
            (Self::Fleet(fleet, ..), false) => fleet.stop(),
            (Self::Fleet(fleet, ..), true) => fleet.stop_now(),
        }
    }

    /// Changes the load. Returns false if no running thread group is affected.
    pub(crate) fn change(&mut self, changes: &[Live]) -> bool {
        match self {
            Self::Here(run) => {
                let mut any = false;
                for live in changes {
                    any |= run.change(*live);
                }
                any
            }
            Self::Fleet(fleet, ..) => fleet.change(changes),
        }
    }

    pub(crate) fn users(&self) -> Users {
        match self {
            Self::Here(run) => run.users(),
            Self::Fleet(fleet, ..) => fleet.users(),
        }
    }

    /// Returns the number of threads that run users, in all processes.
    pub(crate) fn cores(&self) -> u32 {
        match self {
            Self::Here(run) => run.cores(),
            Self::Fleet(fleet, ..) => fleet.cores(),
        }
    }

    /// Returns the number of snapshots in a complete second of the run: one for each thread, or one for each machine.
    pub(crate) fn parts(&self) -> u32 {
        match self {
            Self::Here(run) => run.cores(),
            Self::Fleet(fleet, ..) => fleet.parts(),
        }
    }

    /// True if the incoming data was measured before this process started.
    pub(crate) fn replays(&self) -> bool {
        match self {
            Self::Here(_) => false,
            Self::Fleet(fleet, ..) => fleet.replays(),
        }
    }

    /// Returns the number of running worker processes. 0 means that the users are in this process.
    pub(crate) fn workers(&self) -> u32 {
        match self {
            Self::Here(_) => 0,
            Self::Fleet(fleet, ..) => fleet.workers(),
        }
    }

    /// Returns the CPU time and memory that this process and all workers have used so far. Memory is the sum of each
    /// process's private pages, plus the program's own pages once.
    pub(crate) fn usage(&self) -> Usage {
        match self {
            Self::Here(run) => run.usage(),
            Self::Fleet(fleet, _, _, own) => {
                let (own, workers) = (own.usage(), fleet.usage());
                Usage {
                    user_s: own.user_s + workers.user_s,
                    system_s: own.system_s + workers.system_s,
                    run_queue_s: workers.run_queue_s,
                    throttling: workers.throttling,
                    rows_waiting: workers.rows_waiting,
                    write_s: workers.write_s,
                    java: workers.java,
                    rss: own.rss + workers.rss,
                    rss_peak: own.rss_peak + workers.rss_peak,
                    ..own
                }
            }
        }
    }

    /// Returns the summed metrics of each agent, in the order of the agents. Empty if the users are on this machine.
    pub(crate) fn figures(&self) -> Vec<Figures> {
        match self {
            Self::Here(_) => Vec::new(),
            Self::Fleet(fleet, ..) => fleet.figures(),
        }
    }

    pub(crate) fn aborted(&self) -> Option<&str> {
        match self {
            Self::Here(run) => run.aborted(),
            Self::Fleet(fleet, ..) => fleet.aborted(),
        }
    }

    /// True if the plan has stopped the test.
    pub(crate) fn stopped_by_plan(&self) -> bool {
        match self {
            Self::Here(run) => run.stopped_by_plan(),
            Self::Fleet(fleet, ..) => fleet.stopped_by_plan(),
        }
    }
}
