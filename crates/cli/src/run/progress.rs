//! Merges the snapshots of the cores into seconds of the whole run.
//!
//! Each core sends a snapshot per second, which [`OpenSecond`] merges. A second that ends becomes a line of
//! `seconds.jsonl`, a line of the summariser and a status for displays.

mod here;
mod retransmits;

use std::collections::BTreeMap;
use std::time::Instant;

use record::{Around, Change, Frame, Generator, Lamp, Now, Recording, Series, State};
use stats::flow::Flow;
use stats::machine::{Machine, Watch};
use stats::open_second::{Closed, LOST, PartKind};
use stats::process::Usage;
use stats::snapshot::Brief;
use stats::snapshot_file::{Mark, Second};
use stats::summariser::Users;
use stats::totals::Totals;
use stats::{Counter, OpenSecond, Snapshot, Timeline};

use self::here::Here;
use self::retransmits::Followed;
use crate::run::ahead::PortsAhead;

/// Collects the snapshots of a run.
pub(crate) struct Progress {
    /// Number of threads that run users.
    cores: u32,
    /// Number of snapshots in a complete second: one for each thread, or one for each machine.
    parts: u32,
    /// Number of processors of the machines that run the users.
    processors: u32,
    totals: Totals,
    /// The second for which snapshots are being collected.
    open: OpenSecond,
    /// The last closed second.
    last: Box<Snapshot>,
    line: Second,
    /// The state of the criteria, for displays.
    criteria: Vec<Lamp>,
    /// The state of the run, for displays.
    state: State,
    /// Requested number of users, if the number can be changed.
    users_wanted: Option<u64>,
    /// Marks of changes in the open second, and in the last closed second.
    moments: [Vec<record::Mark>; 2],
    /// Resources used by all processes so far.
    now: Usage,
    /// Resources used by all processes up to the end of the last closed second.
    usage: Usage,
    /// Current number of worker processes.
    workers: u32,
    users: Users,
    pub(crate) start_ms: i64,
    with_transactions: bool,
    machine: Watch,
    timeline: Timeline,
    /// Number of local ports available to the run's connections, if it was computed.
    ports: Option<u64>,
    /// Number of processes that run the threads of users.
    processes: u32,
    recording: Recording,
    /// Detects whether requests are sent to this machine.
    here: Here,
    /// True if the incoming snapshots were measured before this process started, so that they must not be combined
    /// with this machine's state.
    replays: bool,
    /// Changes of the run since the last second, for `seconds.jsonl`.
    marks: Vec<Mark>,
    /// The watched hosts, whose metrics are part of each second.
    hosts: watch::Watch,
    /// Count of retransmitted TCP segments by destination.
    retransmits: Followed,
    /// Forecast of the time at which the watched hosts run out of ports.
    ports_ahead: PortsAhead,
    /// Messages for the user that [`Self::said`] has not returned yet.
    said: Vec<String>,
}

impl Progress {
    /// Creates the collector. `usage` is the resource use at the start. With `with_transactions`, the summariser's sums
    /// include transactions.
    pub(crate) fn new(cores: u32, usage: Usage, start_ms: i64, with_transactions: bool) -> Self {
        Self {
            cores,
            parts: cores,
            processors: processors(),
            totals: Totals::new(),
            open: OpenSecond::new(PartKind::Core, start_ms),
            last: Box::default(),
            line: Second::default(),
            criteria: Vec::new(),
            state: State::Running,
            users_wanted: None,
            moments: Default::default(),
            now: usage,
            usage,
            workers: 0,
            users: Users::default(),
            start_ms,
            with_transactions,
            machine: Watch::start(),
            timeline: Timeline::new(cores, processors(), start_ms),
            ports: None,
            processes: 1,
            here: Here::default(),
            recording: Recording::new(Frame { start_ms, ..Frame::default() }),
            replays: false,
            marks: Vec::new(),
            hosts: watch::Watch::default(),
            retransmits: Followed::default(),
            ports_ahead: PortsAhead::default(),
            said: Vec::new(),
        }
    }

    /// Sets the watched hosts. Their metrics are part of each second from now on.
    pub(crate) fn set_hosts(&mut self, hosts: watch::Watch) {
        self.hosts = hosts;
    }

    /// Starts counting retransmitted segments by destination. From now on, the counts are part of each second.
    pub(crate) fn follow_retransmits(&mut self) {
        self.retransmits.start();
    }

    /// Returns the log message about missing retransmission counts, on the first call only.
    pub(crate) fn word(&mut self) -> Option<String> {
        self.retransmits.word()
    }

    pub(crate) fn hosts(&self) -> &watch::Watch {
        &self.hosts
    }

    /// Returns the messages for the user since the last call.
    pub(crate) fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    /// Records a change in the run with the current time: in the record, and in the line of its second.
    pub(crate) fn mark(&mut self, change: Change, words: &str) {
        self.mark_at(stats::clock::now_ms(), change, words);
    }

    /// Records a change in the run with the given time.
    pub(crate) fn mark_at(&mut self, at_ms: i64, change: Change, words: &str) {
        let mark = record::Mark { at_ms, change };
        self.recording.mark(&mark);
        self.moments[0].push(mark);
        self.marks.push(Mark { at_ms, what: words.to_owned() });
    }

    /// Returns the record of the run, for adding data that is not part of a second.
    pub(crate) fn recording(&mut self) -> &mut Recording {
        &mut self.recording
    }

    /// Sets the current number of threads, snapshots per second and worker processes, and the resources used so far by
    /// all processes.
    pub(crate) fn set_processes(&mut self, (cores, parts): (u32, u32), workers: u32, usage: Usage) {
        (self.cores, self.parts, self.workers, self.now) = (cores, parts, workers, usage);
        self.timeline.set_threads(cores, self.processors);
    }

    /// Sets whether the incoming snapshots were measured before this process started.
    pub(crate) fn set_replays(&mut self, replays: bool) {
        self.replays = replays;
    }

    pub(crate) fn set_users(&mut self, active: u32, started: u32, finished: u32) {
        self.users =
            Users { active: active.into(), started: started.into(), finished: finished.into() };
    }

    pub(crate) fn users(&self) -> Users {
        self.users
    }

    /// Sets the current state of the criteria for displays.
    pub(crate) fn set_criteria(&mut self, criteria: Vec<Lamp>) {
        self.criteria = criteria;
    }

    /// Sets the state of the run. `users` is the requested number of users, if that number can be changed.
    pub(crate) fn set_state(&mut self, state: State, users: Option<u64>) {
        (self.state, self.users_wanted) = (state, users);
    }

    /// Returns the measurements of the last closed second.
    pub(crate) fn last(&self) -> &Snapshot {
        &self.last
    }

    /// Returns the last closed second for displays that follow the run.
    pub(crate) fn now(&self) -> Now<'_> {
        let recording = &self.recording;
        Now {
            frame: recording.frame(),
            second: recording.last(),
            labels: recording.labels(),
            causes: recording.causes(),
            classes: recording.classes(),
            series: recording.series_names(),
            line: &self.line,
            snapshot: &self.last,
            totals: &self.totals,
            criteria: &self.criteria,
            state: self.state,
            marks: &self.moments[1],
            users: self.users_wanted,
        }
    }

    /// Returns the end of the last second in epoch milliseconds, or the run's start if there is no second yet.
    pub(crate) fn ended_ms(&self) -> i64 {
        self.open.ended_ms()
    }

    /// Returns the sums of all closed seconds.
    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Sets the number of workers at the start of the run, and whether they are machines. 0 means that the run is in
    /// this process.
    pub(crate) fn set_workers(&mut self, workers: u32, are_machines: bool) {
        self.processes = workers.max(1);
        self.open.set_kind(match (self.processes, are_machines) {
            (1, _) => PartKind::Core,
            (_, false) => PartKind::Process,
            (_, true) => PartKind::Machine,
        });
    }

    /// Sets the number of processors of the machines that run the users.
    pub(crate) fn set_processors(&mut self, processors: u32) {
        self.processors = processors;
    }

    /// Sets the number of ports that are available to the run's connections.
    pub(crate) fn set_ports(&mut self, ports: Option<u64>) {
        self.ports = ports;
        self.timeline.ports = ports;
    }

    /// Returns the number of free ports: the available ones, without this run's open connections and without
    /// connections in TIME_WAIT. Both numbers are limited to those of the machine, because a connection may have
    /// ended unnoticed.
    fn ports_left(&self, machine: &Machine) -> Option<u64> {
        let n = |counter| self.totals.counters.get(counter);
        let ended = n(Counter::ConnClosedByPeer) + n(Counter::ConnClosedByUs);
        let open = n(Counter::ConnOpened).saturating_sub(ended).min(machine.sockets.established);
        let waiting = n(Counter::ConnClosedByUs).min(machine.sockets.time_wait);
        self.ports.map(|ports| ports.saturating_sub(open + waiting))
    }

    /// Returns the timeline of the run so far, condensed to a few numbers.
    pub(crate) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Adds a core's snapshot and takes the kept samples out of it, or adds the losses of a worker. Returns a second
    /// that has ended.
    pub(crate) fn add(&mut self, snapshot: &mut Snapshot) -> Option<(Second, Brief)> {
        if snapshot.core == LOST {
            self.open.add_loss(snapshot.seq as u32, snapshot);
            return None;
        }
        let ended = self.open.add((snapshot.core % self.processes, snapshot.core), snapshot);
        let ended = ended.or_else(|| self.open.complete(self.parts));
        ended.map(|ended| self.publish(ended))
    }

    /// Closes and returns the open second if all its parts are there. After [`Self::add`] has returned the previous
    /// second, the added snapshot may be a whole second: that of the only remaining worker.
    pub(crate) fn complete(&mut self) -> Option<(Second, Brief)> {
        self.open.complete(self.parts).map(|ended| self.publish(ended))
    }

    /// Closes and returns the open second if a core's snapshot is overdue.
    pub(crate) fn overdue(&mut self, now: Instant) -> Option<(Second, Brief)> {
        self.open.overdue(now).map(|ended| self.publish(ended))
    }

    /// Adds a closed second to the run's record.
    fn record(&mut self, closed: &Closed, second: &Second, watched: Vec<(Series, f64)>) {
        let machine = second.machine.as_ref();
        let throttling = second.throttling.unwrap_or_default();
        let generator = Generator {
            cpu_s: second.cpu_s,
            memory: second.rss,
            threads: self.cores,
            workers: self.workers,
            run_queue_s: (self.now.run_queue_s - self.usage.run_queue_s).max(0.0),
            connect_retries: second.counters.get(Counter::ConnectRetries),
            rows_waiting: second.rows_waiting,
            write_s: second.write_s,
            heap: second.java.map(|java| (java.heap, java.heap_most)),
            collections: second.java.map_or(0, |java| java.collections),
            collection_s: second.java.map_or(0.0, |java| java.pause_ms / 1000.0),
            quota: throttling.processors,
            quota_periods: throttling.periods,
            quota_stopped: throttling.stopped,
            stolen: machine.map_or(0.0, |machine| machine.stolen),
            stall: closed.stall,
            ports_left: second.ports_left,
            time_wait: machine.map_or(0, |machine| machine.sockets.time_wait),
        };
        let around = Around {
            users: second.users,
            started: second.started,
            due: second.counters.get(Counter::StartsDue),
            missed: second.counters.get(Counter::StartsMissed),
            generator,
            machine: second.machine.clone(),
            watched,
            classes: second.retransmits.iter().flatten().map(retransmits::class).collect(),
        };
        self.recording.second(&closed.snapshot, around);
        if self.here.look(&closed.snapshot.classes) {
            self.recording.set_target_is_here();
        }
    }

    /// Closes and returns the last second of the run, if one is open or samples remain for it.
    pub(crate) fn finish(&mut self) -> Option<(Second, Brief)> {
        self.open.finish().map(|ended| self.publish(ended))
    }

    /// Adds a closed second to the totals and to the record, and makes it the last one.
    fn publish(&mut self, closed: Closed) -> (Second, Brief) {
        let snapshot = &*closed.snapshot;
        // The merged snapshot is added once. This is cheaper than adding the snapshot of each core, because all
        // have the same labels.
        self.totals.add(snapshot);
        let now = self.now;
        let Users { active, started, finished } = self.users;
        let machine = self.machine.look();
        let watched = self.hosts.take();
        for fact in self.hosts.take_facts() {
            self.recording.fact(fact);
        }
        self.said.extend(self.ports_ahead.add(snapshot.at_ms, &watched));
        let second = Second {
            users: active,
            started,
            finished,
            connections: Flow::new(snapshot, &self.totals.counters),
            ports_left: self.ports_left(&machine),
            retransmits: self.retransmits.take(&self.recording),
            machine: (!self.replays).then_some(machine),
            workers: self.workers,
            watched: by_host(&watched),
            marks: std::mem::take(&mut self.marks),
            ..Second::new(snapshot, &self.usage, &now)
        };
        self.timeline.add(&second);
        self.record(&closed, &second, watched);
        let sums = closed.snapshot.brief(self.with_transactions);
        self.usage = now;
        self.open.recycle(std::mem::replace(&mut self.last, closed.snapshot));
        self.line.clone_from(&second);
        self.moments[1] = std::mem::take(&mut self.moments[0]);
        (second, sums)
    }
}

/// Groups the metrics of watched hosts by host, in the structure of `seconds.jsonl`.
fn by_host(watched: &[(Series, f64)]) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut hosts: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for (series, value) in watched {
        let host = hosts.entry(series.host.to_string()).or_default();
        host.insert(series.metric.to_string(), *value);
    }
    hosts
}

/// Returns the number of processors that the system allows this process to use.
fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(core: u32, at_ms: i64) -> Snapshot {
        let mut snapshot = Snapshot::new();
        (snapshot.core, snapshot.at_ms) = (core, at_ms);
        snapshot
    }

    fn loss(worker: u64, at_ms: i64) -> Snapshot {
        let mut snapshot = snapshot(LOST, at_ms);
        snapshot.seq = worker;
        snapshot
    }

    fn progress() -> Progress {
        Progress::new(2, Usage::default(), 1_000, false)
    }

    #[test]
    fn a_second_is_complete_when_every_core_has_come() {
        let mut progress = progress();
        progress.set_users(3, 4, 1);
        assert!(progress.add(&mut snapshot(0, 2_000)).is_none());
        let (second, _) = progress.add(&mut snapshot(1, 2_001)).expect("complete");
        assert_eq!((second.at_ms, second.users, second.started, second.finished), (2_001, 3, 4, 1));
        assert!(progress.finish().is_none(), "nothing is left");
    }

    #[test]
    fn followers_get_the_second_that_was_closed_last() {
        let mut progress = progress();
        progress.recording().set_frame(Frame {
            start_ms: 1_000,
            load: record::Load { length_ms: Some(60_000), ..record::Load::default() },
            ..Frame::default()
        });
        for (n, at_ms) in [(0, 2_000), (1, 2_004), (0, 3_000)] {
            let mut one = snapshot(n, at_ms);
            one.counters.add(Counter::ConnOpened, 5);
            progress.add(&mut one);
        }
        progress.set_criteria(vec![Lamp { holds: Some(true), ..Lamp::default() }]);
        let now = progress.now();
        assert_eq!((now.second.at_ms, now.line.at_ms, now.snapshot.at_ms), (2_004, 2_004, 2_004));
        assert_eq!(now.second.counters.get(Counter::ConnOpened), 10, "of both cores");
        assert_eq!(now.totals.counters.get(Counter::ConnOpened), 10, "of all seconds");
        assert_eq!((now.elapsed_ms(), now.remaining_ms()), (1_004, Some(58_996)));
        assert_eq!(now.criteria[0].is_good(), Some(true));
    }

    #[test]
    fn a_core_that_comes_twice_or_not_at_all_does_not_hold_the_others_up() {
        let mut progress = progress();
        progress.add(&mut snapshot(0, 2_000));
        let before = Instant::now();
        let (second, _) = progress.add(&mut snapshot(0, 3_000)).expect("the first second");
        assert_eq!(second.at_ms, 2_000);
        assert!(progress.overdue(before).is_none());
        let after = Instant::now() + std::time::Duration::from_secs(2);
        assert_eq!(progress.overdue(after).expect("overdue").0.at_ms, 3_000);
    }

    #[test]
    fn the_losses_of_a_worker_do_not_complete_a_second() {
        let mut progress = progress();
        progress.set_workers(3, false);
        progress.add(&mut snapshot(0, 2_000));
        assert!(progress.add(&mut loss(2, 2_100)).is_none());
        assert!(progress.add(&mut snapshot(1, 2_001)).is_some());
    }

    #[test]
    fn the_seconds_of_the_only_remaining_worker_end_when_they_arrive() {
        let mut progress = progress();
        progress.set_workers(2, true);
        progress.add(&mut snapshot(0, 2_000));
        progress.set_processes((1, 1), 1, Usage::default());
        assert!(progress.add(&mut loss(1, 2_900)).is_none());
        let at = |second: Option<(Second, Brief)>| second.map(|(second, _)| second.at_ms);
        assert_eq!(at(progress.add(&mut snapshot(0, 3_000))), Some(2_000));
        assert_eq!(at(progress.complete()), Some(3_000));
        assert_eq!(at(progress.complete()), None);
        assert_eq!(at(progress.add(&mut snapshot(0, 4_000))), Some(4_000));
    }

    #[test]
    fn a_late_second_of_an_agent_stays_itself() {
        let mut progress = progress();
        progress.set_workers(2, true);
        let mut add = |core, began_ms| {
            let mut snapshot = snapshot(core, began_ms + 1_000);
            snapshot.began_ms = began_ms;
            progress.add(&mut snapshot).map(|(second, _)| second.at_ms)
        };
        assert_eq!([add(0, 10_000), add(1, 4_000)], [None, Some(5_000)]);
        assert_eq!(add(1, 10_000), Some(11_000));
        assert_eq!(progress.ended_ms(), 11_000);
    }

    #[test]
    fn last_seconds_that_come_in_any_order_have_their_samples_where_they_ended() {
        // The seconds of the two cores start 0.3 s apart. At the end of all users, the core that started later ends
        // first.
        let of = |core: u32, (from_ms, to_ms): (i64, i64), ends_ms: &[i64]| {
            let mut recorder = stats::Recorder::new();
            let label = recorder.intern("a");
            recorder.begin(from_ms);
            for end in ends_ms {
                recorder.record(&stats::Sample::new(label, *end));
            }
            let mut snapshot = snapshot(core, to_ms);
            recorder.drain(&mut snapshot);
            snapshot
        };
        let mut progress = progress();
        progress.set_workers(2, false);
        let mut seconds = Vec::new();
        let mut add = |mut snapshot: Snapshot| {
            let closed = progress.add(&mut snapshot);
            seconds.extend(closed.map(|_| progress.last().labels[0].slots));
        };
        add(of(0, (10_000, 11_000), &[10_050]));
        add(of(1, (10_300, 11_300), &[10_350, 11_250]));
        add(of(0, (11_000, 12_000), &[11_050]));
        add(of(0, (12_000, 12_280), &[12_050, 12_250]));
        add(of(1, (11_300, 12_290), &[11_950, 12_150, 12_250]));
        assert_eq!(
            seconds,
            [
                [1, 0, 0, 1, 0, 0, 0, 0, 0, 0],
                [1, 0, 1, 0, 0, 0, 0, 0, 0, 0],
                [2, 1, 2, 0, 0, 0, 0, 0, 0, 0]
            ]
        );
    }

    #[test]
    fn ports_left_are_those_without_open_and_waiting_connections() {
        let mut progress = progress();
        let mut machine = Machine::default();
        machine.sockets.established = 60;
        machine.sockets.time_wait = 1000;
        assert_eq!(progress.ports_left(&machine), None);
        progress.set_ports(Some(100));
        for (counter, n) in [(Counter::ConnOpened, 90), (Counter::ConnClosedByUs, 20)] {
            progress.totals.counters.add(counter, n);
        }
        // 70 connections are open by count, but the machine has only 60. All 20 closed by this side may be in
        // TIME_WAIT.
        assert_eq!(progress.ports_left(&machine), Some(20));
        machine.sockets.time_wait = 5;
        assert_eq!(progress.ports_left(&machine), Some(35));
    }
}
