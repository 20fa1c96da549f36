//! The agent: reads orders from standard input, runs its shares in its own processes, and sends one report a second.
//!
//! Measurements are written to the agent's disk before they are sent, and are resent until they are acknowledged. The
//! agent runs only under a grant of the coordinator. When the grant expires, users stop, so that no load generator runs
//! on unattended.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::Live;

use super::disk::Disk;
use super::line::nanos;
use super::offer::offered;
use super::recover;
use super::region::RelayAgents;
use super::relay::{Out, Relay};
use super::squeeze::{pack, unpack};
use super::stdio::{Orders, Output, UNREAD};
use super::store::{RunFolder, Store};
use super::takeover_socket;
use super::wire::{self, Assignment, FromAgent, Named, PIECE, Results, RunState, ToAgent};
use crate::account::{Entry, Sender};
use crate::bus::Bus;
use crate::message::{FromWorker, ToWorker};
use crate::processes::Processes;

/// Interval of heartbeats and of requests for a grant.
const BEAT: Duration = Duration::from_secs(1);
/// Maximum wait for a message of the processes before the agent reads further orders.
pub(super) const PATIENCE: Duration = Duration::from_millis(20);
/// Interval at which a relay sends the totals of each of its agents.
const FIGURES: Duration = Duration::from_secs(10);
/// Time after which an unacknowledged record is resent.
pub(super) const RESEND: Duration = Duration::from_secs(3);
/// Maximum time for samples in flight to end after the grant has expired.
const LAST_SAMPLES: Duration = Duration::from_secs(10);
/// The reason that is reported if users stop because the grant has expired.
pub(super) const ALONE: &str =
    "an agent received no message from the coordinator for longer than the grace time";
const SECOND: i64 = 1_000_000_000;

/// Runs an agent until its coordinator releases it. `allowed` lists the targets that the agent may load; an empty list
/// permits all. `takeover` names a run that another coordinator takes over: if an agent on this machine works for that
/// run, this process forwards the stream to that agent.
pub fn main(allowed: &str, takeover: Option<&str>) -> io::Result<()> {
    let clock = Instant::now();
    if let Some(run) = takeover
        && let Some(stream) = takeover_socket::reach(&store()?, run)?
    {
        return takeover_socket::carry(stream);
    }
    let output = Output::new()?;
    output.say(&FromAgent::Offer(offered()));
    let orders = Orders::read(clock, output.clone())?;
    beat(output.clone())?;
    let ended = serve(clock, allowed, &output, &orders);
    if let Err(words) = ended {
        output.say(&FromAgent::Refused(words));
        // The coordinator reads the refusal before the stream ends.
        while orders.next().is_some_and(|order| !matches!(order, ToAgent::Leave)) {}
    }
    output.flush();
    Ok(())
}

fn beat(output: Output) -> io::Result<()> {
    let beating = std::thread::Builder::new().name("beat".into()).spawn(move || {
        loop {
            if !output.is_full() {
                output.say(&FromAgent::Alive);
            }
            std::thread::sleep(BEAT);
        }
    });
    beating.map(drop)
}

/// Opens the file store of this user.
fn store() -> io::Result<Store> {
    Store::open()
        .map_err(|error| io::Error::other(format!("cannot open the agent's cache folder: {error}")))
}

fn serve(clock: Instant, allowed: &str, output: &Output, orders: &Orders) -> Result<(), String> {
    let store = store().map_err(|error| error.to_string())?;
    // While a relay connects to its agents, the only order that it can receive is to leave.
    let ended =
        || matches!(orders.try_next(), Ok(ToAgent::Leave) | Err(TryRecvError::Disconnected));
    let (place, mut assignment, below) = match prepare(store, (output, &ended, allowed), orders)? {
        Task::Run(place, assignment, below) => (place, assignment, below),
        Task::Deliver(place, results) => return left(&place, &results, (output, allowed), orders),
        Task::None => return Ok(()),
    };
    assignment.share.allowed = (!allowed.is_empty()).then(|| allowed.to_owned());
    let results = assignment.results.clone();
    if let Err(error) = takeover_socket::listen(&place.root, orders.reader()) {
        output.note(&format!("another coordinator cannot take over this agent: {error}"));
    }
    let is_relay = below.is_some();
    let bus: Box<dyn Bus> = match below {
        Some(below) => Box::new(below.into_agents(&place, &assignment)?),
        None => {
            let processes = Processes::of_agent(assignment.shares.len() as u32);
            let words = |error| format!("cannot start the agent's processes: {error}");
            Box::new(processes.map_err(words)?)
        }
    };
    let mut working = Working::start(clock, output.clone(), (&place, bus), *assignment)?;
    let heard = working.run(orders)?;
    // A relay fetches its agents' rows even without a coordinator, because its agents end with it.
    if heard || (is_relay && working.relay.has_ended()) {
        for words in working.relay.collect() {
            output.note(&words);
        }
    }
    // Without users there are no files to keep.
    let (started, stand) = (working.started, std::mem::take(&mut working.stand));
    drop(working);
    if !started || (heard && deliver(&place, &results, (output, &stand, allowed), orders)) {
        let _ = std::fs::remove_dir_all(&place.root);
    }
    Ok(())
}

/// The task that an agent receives from its coordinator.
enum Task<'a> {
    /// Run the agent's shares, or have the agents of its region run them.
    Run(RunFolder, Box<Assignment>, Option<RelayAgents<'a>>),
    /// Deliver the files of a run whose process has ended.
    Deliver(RunFolder, Vec<Results>),
    None,
}

/// Delivers the remaining records and files of a run whose process has ended.
fn left(
    place: &RunFolder,
    results: &[Results],
    (output, allowed): (&Output, &str),
    orders: &Orders,
) -> Result<(), String> {
    let Some(stand) = recover::recover(place, output, orders)? else { return Ok(()) };
    output.say(&FromAgent::RunState(Box::new(stand.clone())));
    if deliver(place, results, (output, &stand, allowed), orders) {
        let _ = std::fs::remove_dir_all(&place.root);
    }
    Ok(())
}

/// Receives the files of the run and the agent's assignment. Returns the task.
fn prepare<'a>(
    mut store: Store,
    (output, ended, allowed): (&Output, &'a dyn Fn() -> bool, &str),
    orders: &Orders,
) -> Result<Task<'a>, String> {
    let mut wanted: Option<(String, u32, Vec<Named>)> = None;
    let mut below: Option<RelayAgents<'a>> = None;
    let note = &mut |words: &str| output.note(words);
    let (mut missing, mut place) = (Vec::new(), None::<RunFolder>);
    loop {
        match orders.next() {
            Some(ToAgent::Files { run, depth, files }) => {
                missing = store.missing(&files)?;
                output.say(&FromAgent::Missing(missing.clone()));
                wanted = Some((run, depth, files));
            }
            Some(ToAgent::Piece { hash, bytes }) => {
                store.piece(&hash, &unpack(&bytes)?)?;
                if bytes.is_empty() {
                    missing.retain(|other| *other != hash);
                }
            }
            Some(ToAgent::Gather(region)) => {
                let reached = below.insert(RelayAgents::reach(*region, (ended, allowed), note)?);
                output.say(&FromAgent::Gathered(reached.met()));
            }
            Some(ToAgent::Serve(serve)) => below.iter_mut().for_each(|of| of.serve(&serve)),
            Some(ToAgent::Begin(assignment)) => {
                let place = place.take().ok_or("the run began before its files were complete")?;
                return Ok(Task::Run(place, assignment, below));
            }
            Some(ToAgent::Resume(left)) if place.is_none() && wanted.is_none() => {
                if let Some(place) = store.left(&left.run, left.depth) {
                    return Ok(Task::Deliver(place, left.results));
                }
                let torn = Some("the agent has no data of the run".to_owned());
                output
                    .say(&FromAgent::RunState(Box::new(RunState { torn, ..RunState::default() })));
            }
            Some(ToAgent::Resume(_)) => output.say(&FromAgent::RunState(Box::default())),
            Some(ToAgent::Leave) | None => {
                if let Some(RunFolder { root, .. }) = place {
                    let _ = std::fs::remove_dir_all(root);
                }
                return Ok(Task::None);
            }
            Some(_) => {}
        }
        if missing.is_empty()
            && let Some((run, depth, files)) = wanted.take()
        {
            if let Some(below) = &mut below {
                below.pass_on((&run, depth), &store, note)?;
            }
            // A relay stores files only for its agents.
            let own: &[Named] = if below.is_some() { &[] } else { &files };
            place = Some(store.place(&run, depth, own)?);
            output.say(&FromAgent::FilesStored);
        }
    }
}

/// An agent with running processes.
struct Working {
    clock: Instant,
    output: Output,
    relay: Relay,
    sender: Sender,
    spool: Disk,
    /// The time that is second 0 of the run, on the agent's clock.
    zero: i64,
    /// Highest number of a record that was sent.
    sent: u64,
    /// Time of the last resend of unacknowledged records.
    resent: Instant,
    beaten: Instant,
    /// Time at which the totals of a relay's agents were last sent.
    figured: Instant,
    /// True if users were started.
    started: bool,
    /// True if users are held because the samples of the grant are used up.
    held: bool,
    /// True if the user of the run has paused the virtual users.
    paused: bool,
    /// True if the coordinator's stream has ended.
    alone: bool,
    /// Time at which users were stopped because the grant had expired; `None` before.
    stopped: Option<Instant>,
    done: Option<FromWorker>,
    stand: RunState,
}

impl Working {
    fn start(
        clock: Instant,
        output: Output,
        (place, bus): (&RunFolder, Box<dyn Bus>),
        assignment: Assignment,
    ) -> Result<Self, String> {
        let Assignment { sender, mut share, shares, results, .. } = assignment;
        let words = |what: &str, error: io::Error| format!("{what}: {error}");
        // Files that the plan names without a folder are in the working directory.
        std::env::set_current_dir(&place.plan)
            .map_err(|error| words("the plan's folder", error))?;
        for listener in &results {
            for path in paths(place, listener) {
                let folder = path.parent().unwrap_or(&place.root);
                std::fs::create_dir_all(folder)
                    .map_err(|error| words("a result file's folder", error))?;
            }
        }
        share.folder = place.plan.clone().into_os_string();
        let all = |number| place.root.join(format!("rows-{number}")).into_os_string();
        share.results = (0..share.results.len()).map(all).collect();
        let zero = nanos(clock) - (wall_ns() - share.zero);
        let mut spool = Disk::create(&place.root.join("spool"))
            .map_err(|error| words("the agent's spool file", error))?;
        let (sender, entries) = Sender::begin(sender, &[]);
        for entry in &entries {
            spool.write(entry).map_err(|error| words("the agent's spool file", error))?;
        }
        let now = Instant::now();
        Ok(Self {
            clock,
            output,
            relay: Relay::new(bus, share, shares),
            sender,
            spool,
            zero,
            sent: 0,
            resent: now,
            beaten: now,
            figured: now,
            started: false,
            held: false,
            paused: false,
            alone: false,
            stopped: None,
            done: None,
            stand: RunState { begun: true, ..RunState::default() },
        })
    }

    /// Works until the coordinator has all records and files, or until no coordinator can receive them any more.
    /// Returns true if the coordinator has everything.
    fn run(&mut self, orders: &Orders) -> Result<bool, String> {
        self.output.say(&FromAgent::Up(self.sender.here()));
        loop {
            loop {
                match orders.try_next() {
                    Ok(ToAgent::Leave) => return Ok(false),
                    Ok(order) => self.execute(order)?,
                    Err(error) => {
                        // Another coordinator may still connect.
                        self.alone = error == TryRecvError::Disconnected;
                        break;
                    }
                }
            }
            if let Some(out) = self.relay.next(PATIENCE) {
                self.take(out)?;
            } else if self.relay.has_ended() {
                std::thread::sleep(PATIENCE);
            }
            self.keep_to_grant();
            if self.beaten.elapsed() >= BEAT {
                self.beaten = Instant::now();
                self.output.say(&FromAgent::Up(self.sender.here()));
            }
            if self.figured.elapsed() >= FIGURES {
                self.say_figures();
            }
            self.send();
            if self.relay.has_ended() {
                if let Some(entry) = self.sender.finish() {
                    self.write(&entry)?;
                }
                if self.alone && orders.leave() {
                    return Ok(false);
                }
                if self.sender.is_clear() {
                    self.say_figures();
                    if let Some(done) = self.done.take() {
                        self.stand.record_end(&done);
                        self.output.say(&FromAgent::Message(done));
                    }
                    return Ok(true);
                }
            }
            let overdue = |since: Instant| since.elapsed() > LAST_SAMPLES * 2;
            let is_over = !self.started || self.stopped.is_some_and(overdue);
            if self.alone && is_over && orders.leave() {
                return Ok(false);
            }
        }
    }

    /// Sends the totals of each agent behind a relay.
    fn say_figures(&mut self) {
        self.figured = Instant::now();
        let figures = self.relay.figures();
        if !figures.is_empty() && !self.output.is_full() {
            self.output.say(&FromAgent::Figures(figures));
        }
    }

    fn execute(&mut self, order: ToAgent) -> Result<(), String> {
        match order {
            // Users that were stopped must not be restarted.
            ToAgent::Order(ToWorker::Start { .. }) if self.stopped.is_some() => {}
            ToAgent::Order(order) => {
                if let ToWorker::Start { at, .. } = &order {
                    self.started = true;
                    self.late(nanos(self.clock) - self.zero - at);
                }
                if let ToWorker::Change(changes) = &order {
                    for change in changes {
                        if let Live::Pause(paused) = change {
                            self.paused = *paused;
                        }
                    }
                }
                self.stand.record_order(&order);
                self.relay.execute(order);
            }
            ToAgent::Resume(_) => {
                self.output.say(&FromAgent::RunState(Box::new(self.stand.clone())));
                // Resends what may have been lost in transit, and requests a grant at once.
                self.sent = 0;
                self.output.say(&FromAgent::Up(self.sender.here()));
            }
            ToAgent::Down(down) => {
                if let Some(entry) = self.sender.handle(&down) {
                    self.write(&entry)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn take(&mut self, out: Out) -> Result<(), String> {
        self.stand.record_output(&out);
        match out {
            Out::Message(FromWorker::Done { aborted, samples }) => {
                // The coordinator returned after more than the grace time: report this as the reason.
                let ended = self.stopped.map(|_| ALONE.to_owned());
                self.done = Some(FromWorker::Done { aborted: aborted.or(ended), samples });
            }
            Out::Message(message) => {
                // An earlier order to end would drop samples in flight.
                if self.stopped.is_some() && matches!(message, FromWorker::BatchDone { .. }) {
                    self.relay.execute(ToWorker::End);
                }
                self.output.say(&FromAgent::Message(message));
            }
            Out::Lost(part) => self.output.say(&FromAgent::Lost(part)),
            Out::Second(report) => {
                self.sender.count(report.samples());
                if let Some(entry) = self.sender.cut(self.slot(), wire::body(&report)) {
                    self.write(&entry)?;
                }
            }
        }
        Ok(())
    }

    /// Logs if the start order arrived after the start time.
    fn late(&self, late: i64) {
        if late > 0 {
            let words = format!("an agent received the start order {} ms late", late / 1_000_000);
            self.output.say(&FromAgent::Message(FromWorker::Log(words.into())));
        }
    }

    /// Returns the number of the current second of the run.
    fn slot(&self) -> u64 {
        u64::try_from((nanos(self.clock) - self.zero) / SECOND).unwrap_or(0)
    }

    /// Writes an entry to the spool file, and then applies it to the account.
    fn write(&mut self, entry: &Entry) -> Result<(), String> {
        let written = self.spool.write(entry);
        written.map_err(|error| format!("cannot write the agent's spool file: {error}"))?;
        self.sender.written(entry);
        Ok(())
    }

    /// Sends new records, and from time to time resends all unacknowledged records.
    fn send(&mut self) {
        let again = self.resent.elapsed() >= RESEND && !self.output.is_full();
        if again {
            self.resent = Instant::now();
        }
        for record in self.sender.due() {
            if again || record.number > self.sent {
                self.sent = self.sent.max(record.number);
                self.output.say(&FromAgent::Up(crate::account::Up::Record(record.clone())));
            }
        }
    }

    /// Holds users while the samples of the grant are used up, and stops them when the grant's time has expired.
    fn keep_to_grant(&mut self) {
        if !self.started || self.relay.has_ended() {
            return;
        }
        let grant = self.sender.grant();
        let counted = self.sender.counted() + self.relay.open_samples();
        if self.slot() >= grant.until {
            match self.stopped {
                None => {
                    self.stopped = Some(Instant::now());
                    self.output.say(&FromAgent::Message(FromWorker::Log(ALONE.to_owned().into())));
                    self.relay.execute(ToWorker::Stop { now: false });
                    if !self.relay.has_users() {
                        self.relay.execute(ToWorker::End);
                    }
                }
                Some(since) if since.elapsed() > LAST_SAMPLES => {
                    self.relay.execute(ToWorker::Stop { now: true });
                }
                Some(_) => {}
            }
        }
        let beyond = counted >= grant.ceiling;
        if beyond != self.held {
            self.held = beyond;
            self.output.say(&FromAgent::Up(self.sender.here()));
            if !self.paused {
                self.relay.execute(ToWorker::Change(vec![Live::Pause(beyond)]));
            }
        }
    }
}

/// Sends result files on the coordinator's requests. Returns true if the coordinator releases the agent.
fn deliver(
    place: &RunFolder,
    results: &[Results],
    (output, stand, allowed): (&Output, &RunState, &str),
    orders: &Orders,
) -> bool {
    loop {
        match orders.next_within(UNREAD * 5) {
            Ok(ToAgent::Fetch { file }) => {
                let found =
                    results.get(file as usize).into_iter().flat_map(|file| paths(place, file));
                for path in found {
                    if let Err(error) = send_file(&path, output)
                        && error.kind() != io::ErrorKind::NotFound
                    {
                        let words = format!("cannot send the rows in {}: {error}", path.display());
                        output.say(&FromAgent::Message(FromWorker::Log(words.into())));
                    }
                }
                output.say(&FromAgent::Rows(Vec::new()));
            }
            Ok(ToAgent::Push(push)) => {
                let files: Vec<PathBuf> = results
                    .get(push.number as usize)
                    .into_iter()
                    .flat_map(|file| paths(place, file))
                    .collect();
                let sent = push.carry_out(&files, allowed, &place.root.join("pushed"));
                output.say(&FromAgent::Pushed(sent));
            }
            Ok(ToAgent::Resume(_)) => output.say(&FromAgent::RunState(Box::new(stand.clone()))),
            Ok(ToAgent::Leave) => return true,
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn send_file(path: &Path, output: &Output) -> io::Result<()> {
    let mut file = std::fs::File::open(path)?;
    loop {
        let mut bytes = vec![0; PIECE];
        let n = file.read(&mut bytes)?;
        if n == 0 {
            return Ok(());
        }
        bytes.truncate(n);
        if !output.has_room() {
            return Err(io::Error::other("the coordinator does not receive them"));
        }
        output.say(&FromAgent::Rows(pack(&bytes)));
    }
}

/// Returns the paths at which a result file may be; at most one of them exists.
fn paths(place: &RunFolder, results: &Results) -> Vec<PathBuf> {
    match results {
        Results::All(number) => vec![place.root.join(format!("rows-{number}"))],
        Results::Listener(paths) => paths.iter().map(|path| place.plan.join(path)).collect(),
    }
}

fn wall_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}

#[cfg(test)]
mod tests {
    use super::super::hosts::{Choice, Way};
    use super::super::wire::Region;
    use super::*;

    #[test]
    fn an_agent_whose_targets_are_limited_is_no_relay() {
        let root = std::env::temp_dir().join(format!("throng-limited-{}", std::process::id()));
        let way = Way::read("ssh:elsewhere", Choice::default(), 0).expect("a machine");
        let region = Region { way, credentials: Vec::new(), grace: 5 };
        let orders = Orders::of([ToAgent::Gather(Box::new(region))]);
        let (output, ended) = (Output::new().expect("a thread"), || false);
        let store = Store::at(root.clone()).expect("a folder");
        let prepared = prepare(store, (&output, &ended, "10.0.0.0/8"), &orders);
        assert!(prepared.is_err_and(|words| words.contains("only certain targets")));
        let _ = std::fs::remove_dir_all(root);
    }
}
