//! A core: one thread that runs its share of the users. A core is the only owner of all its data. Hot.
//!
//! The loop starts users that are due, fires timers, runs users that are ready, reads the sockets, and once a second
//! hands over a snapshot. It blocks only in the wait for events, which lasts until the next due time at most.

pub(crate) mod arrivals;
pub(crate) mod branches;
pub(crate) mod connections;
pub(crate) mod exchanges;
pub(crate) mod interrupts;
pub(crate) mod java;
pub(crate) mod lifecycle;
pub(crate) mod live;
pub(crate) mod requests;
pub(crate) mod samples;
pub(crate) mod stepped;
pub(crate) mod turns;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use plan::env::Scratch;
use plan::plan::Plan;
use stats::{Counter, Recorder};

use crate::completions::{Completions, Done, Sampled};
use crate::context::tags::Tags;
use crate::context::{Context, Stop};
use crate::core::turns::Turn;
use crate::flow::barriers::release_waiter;
use crate::flow::owner::owner_of;
use crate::flow::schedule::Start;
use crate::flow::{Classes, Flow};
use crate::http::requests::Requests;
use crate::http::{dns_cache, file};
use crate::ids::UserId;
use crate::inbox::{Message, Wake};
use crate::net::Net;
use crate::net::driver::{Driver, Events, INBOX, Ready};
use crate::net::outcome::Failure;
use crate::net::slot::Slot;
use crate::process;
use crate::reports::Report;
use crate::results::Sinks;
use crate::results::rows::Rows;
use crate::sample::samples::{Samples, observed};
use crate::sample::step::Step;
use crate::session::held::Bounds;
use crate::session::{self, Around, Sessions};
use crate::shared::RunShared;
use crate::time::clock::{Clock, MS, Nanos, TURN, second_after};
use crate::time::wheel::Wheel;
use crate::users::timers::Timers;
use crate::users::{Users, Wait};
use crate::websocket::{On, WebSockets};

/// Maximum number of operations (samplers, transactions) that a user runs in one turn.
const BUDGET: u32 = 4096;
/// Maximum time that all users of the ready queue together may run before the sockets are polled, in nanoseconds.
const ROUND: Nanos = 10 * MS;
/// Maximum duration of one wait for events. A wait that ends late shows how long the operating system suspended
/// this process.
const WATCHED: Nanos = 100 * MS;
/// Minimum delay after which a late poll of the sockets counts as a stall of the core, in nanoseconds.
pub(crate) const STALL: Nanos = 200 * MS;
/// Number of operations in a turn between two readings of the clock.
const UNTIMED: u32 = 64;

/// A core: the shared context, and the state of each module.
pub(crate) struct Core<'p> {
    pub(crate) cx: Context<'p>,
    pub(crate) flow: Flow,
    pub(crate) samples: Samples,
    pub(crate) http: Requests,
    pub(crate) websocket: WebSockets,
    pub(crate) sessions: Sessions,
    /// Jobs that Java runs for the users of this core.
    pub(crate) jobs: crate::java::Jobs,
    pub(crate) sinks: Sinks,
    inbox: Mailbox,
    /// True while the run is paused and no sample begins.
    paused: bool,
    /// Users that wait for the end of the pause.
    parked: Vec<UserId>,
}

/// The core's mailbox: the receiver of messages from other threads.
struct Mailbox {
    messages: Receiver<Message>,
    wake: Arc<Wake>,
}

/// Arguments from which a core is built.
pub(crate) struct Parts<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) run: &'p RunShared,
    pub(crate) java: Arc<crate::java::Shared>,
    pub(crate) index: u32,
    /// The event poller (epoll). The poller is created before any core starts, because a running core could use up the
    /// file descriptors.
    pub(crate) driver: Driver,
    pub(crate) inbox: Receiver<Message>,
    pub(crate) wake: Arc<Wake>,
    pub(crate) reports: Sender<Report>,
    pub(crate) rows: Rows,
    /// Result feeds to the plan's Backend Listeners.
    pub(crate) feeds: Vec<(plan::plan::ListenerId, crate::results::feed::Feed)>,
}

impl<'p> Core<'p> {
    pub(crate) fn new(parts: Parts<'p>) -> Self {
        let Parts { plan, run, java, index, driver, inbox, wake, reports, rows, feeds } = parts;
        let hearing = &java.hearing;
        let (counting, breaking) = (hearing.counting.clone(), hearing.breaking.clone());
        let classes = Classes { counting, breaking };
        let clock = Clock::new(run.zero);
        let now = clock.now();
        let mut recorder = Recorder::new();
        recorder.begin(clock.run_ms(now));
        let sinks = Sinks { rows, feeds, snapshots: Vec::new() };
        let jobs = crate::java::Jobs::new(plan, java);
        let seed = run.seed ^ u64::from(run.rank(index)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bounds = Bounds {
            push: run.settings.bodies.max_response,
            inbox: run.settings.websocket.inbox_bytes,
            when_full: run.settings.websocket.inbox_full,
        };
        let most_of_body = [false, true].map(|md5| run.settings.bodies.most_of_body(md5).1);
        Self {
            samples: Samples::new(plan, now, &mut recorder, &run.settings.series),
            cx: Context {
                plan,
                run,
                index,
                random: plan::random::Random::new(
                    run.seed.rotate_left(17) ^ u64::from(run.rank(index)),
                ),
                users: Users::default(),
                timers: Timers {
                    wheel: Wheel::new(now),
                    due: Vec::new(),
                    next_second: second_after(now, run.shard),
                },
                net: Net::new(run.connections(index), driver, now),
                tags: Tags::new(&run.settings.tags),
                spare_results: Vec::new(),
                texts: Scratch::new(seed),
                recorder,
                reports,
                queue: Completions::default(),
                stop: Stop::default(),
                observed: observed(plan, sinks.reports_results() || jobs.observe()),
                clock,
            },
            flow: Flow::new(plan, classes),
            http: Requests::new(plan),
            websocket: WebSockets::new(plan),
            sessions: Sessions::new(bounds, most_of_body, run.settings.http.cps, now),
            jobs,
            sinks,
            inbox: Mailbox { messages: inbox, wake },
            paused: false,
            parked: Vec::new(),
        }
    }

    /// Runs the loop of the core until the coordinator ends the core.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        lang::work::limit(lang::work::Limits {
            steps: self.cx.run.settings.evaluation_steps,
            stop: Arc::clone(&self.cx.run.hurry),
        });
        let mut events = Events::new();
        let run = self.cx.run;
        loop {
            let now = self.cx.clock.now();
            if self.cx.stop.latest.is_some_and(|latest| now >= latest || !self.jobs.are_open()) {
                break;
            }
            self.connect_queued();
            self.carry_out_done();
            self.start_users(now);
            self.fire_timers(now);
            self.run_ready(now);
            self.sessions.held.read_resumed(&mut self.cx.around());
            self.carry_out_done();
            self.read_unfinished();
            if now >= self.cx.timers.next_second {
                self.tick(now);
            }
            self.jobs.sync_properties(&mut self.cx);
            self.carry_out_done();
            let timeout = self.timeout(now);
            match &run.steps {
                None => {
                    let timeout = timeout.min(WATCHED);
                    self.cx.net.driver.wait(&mut events, Some(timeout))?;
                    self.note_stall(timeout);
                }
                Some(steps) => {
                    self.wait_stepped(steps, &mut events, timeout)?;
                    self.cx.net.woke = self.cx.clock.now();
                    self.cx.net.stalled_since = self.cx.net.woke;
                }
            }
            for ready in events.iter() {
                if ready.token == INBOX {
                    self.read_inbox();
                } else {
                    self.on_event(ready);
                }
            }
        }
        let now = self.cx.clock.now();
        self.hand_over(now);
        self.flush_results();
        Ok(())
    }

    /// Reads and writes a connection for which the poller has reported an event.
    fn on_event(&mut self, ready: Ready) {
        let slab = Slot::of(ready.token).slab;
        if slab == session::held::SLAB {
            let held = &mut self.sessions.held;
            if let Some(line) = held.by_token(ready.token) {
                held.on_ready(&mut self.cx.around(), line, ready);
            }
        } else if let Some(line) = self.sessions.lines.by_token(ready.token) {
            let (sessions, mut around) = self.sessions();
            sessions.on_ready(&mut around, line, ready);
        }
        self.carry_out_done();
    }

    /// Continues reading connections that had more data than could be read in the time of one turn. Edge-triggered
    /// events do not report such data a second time.
    fn read_unfinished(&mut self) {
        for _ in 0..self.cx.net.unfinished.len() {
            let Some((token, hangup)) = self.cx.net.unfinished.pop_front() else { return };
            self.on_event(Ready { token, readable: true, writable: false, hangup });
        }
    }

    /// Counts a stall if the wait for events took much longer than `timeout`.
    fn note_stall(&mut self, timeout: Nanos) {
        let before = std::mem::replace(&mut self.cx.net.woke, self.cx.clock.now());
        let beyond = self.cx.net.woke - before - timeout;
        self.cx.net.stalled_since = self.cx.net.woke;
        if beyond >= STALL {
            self.cx.net.stalled_since = before;
            self.cx.net.stall = (before, self.cx.net.woke);
            self.cx.recorder.add(Counter::Stalls, 1);
            self.cx.recorder.add(Counter::StallTime, beyond as u64);
        }
    }

    fn timeout(&self, now: Nanos) -> Nanos {
        let waits = self.cx.queue.later.is_empty() && !self.sessions.held.has_resumed();
        if !waits || !self.cx.net.unfinished.is_empty() || !self.cx.net.to_connect.is_empty() {
            return 0;
        }
        let mut until = self.cx.timers.next_second;
        if let Some(due) = self.cx.timers.wheel.next_due() {
            until = until.min(due);
        }
        if let Some(due) = self.sessions.held.next_due() {
            until = until.min(due);
        }
        if let Some(due) = self.samples.watch.wheel.next_due() {
            until = until.min(due);
        }
        if let Some(due) = self.sessions.slow.as_ref().and_then(|slow| slow.next_due()) {
            until = until.min(due);
        }
        for start in self.flow.starts.iter().filter(|start| !self.paused || start.is_open()) {
            until = until.min(start.next_at());
        }
        (until - now).max(0)
    }

    fn fire_timers(&mut self, now: Nanos) {
        let mut due = std::mem::take(&mut self.cx.timers.due);
        self.cx.timers.wheel.expire(now, &mut self.cx.users, &mut due);
        for index in due.drain(..) {
            match self.cx.users[index].wait {
                Wait::Session(ticket) => {
                    let (sessions, mut around) = self.sessions();
                    sessions.check_limit(&mut around, ticket, now);
                }
                Wait::WebSocket(_) => {
                    if self.sessions.held.is_late(&mut self.cx.around(), index, now) {
                        self.carry_out_done();
                        let (websocket, mut on) = self.websocket();
                        websocket.on_late(&mut on, index, now);
                    }
                }
                _ => self.resume(index),
            }
            self.carry_out_done();
        }
        let mut beats = std::mem::take(&mut self.sessions.held.due);
        self.sessions.held.take_due(now, &mut beats);
        for line in beats.drain(..) {
            self.sessions.held.on_beat(&mut self.cx.around(), line, now);
            self.carry_out_done();
        }
        self.sessions.held.due = beats;
        self.resume_paced_lines(now);
        self.samples.watch.expire(now, &mut due);
        for index in due.drain(..) {
            self.interrupt(index);
            self.carry_out_done();
        }
        self.cx.timers.due = due;
    }

    /// Resumes the connections with a bandwidth limit that may send or receive now.
    fn resume_paced_lines(&mut self, now: Nanos) {
        while let Some(token) = self.sessions.slow.as_mut().and_then(|slow| slow.take_due(now)) {
            let (sessions, mut around) = self.sessions();
            sessions.resume_line(&mut around, token);
            self.carry_out_done();
        }
    }

    /// Returns the sessions, and the parts of the context that sessions use.
    pub(crate) fn sessions(&mut self) -> (&mut Sessions, Around<'_>) {
        (&mut self.sessions, self.cx.around())
    }

    /// Returns the state of WebSocket samplers, and the parts of the core that they use.
    pub(crate) fn websocket(&mut self) -> (&mut WebSockets, On<'_, 'p>) {
        (&mut self.websocket, On { cx: &mut self.cx, held: &mut self.sessions.held })
    }

    /// Resumes a user that has finished waiting, and gives the user a turn. During a pause of the run the user is
    /// parked instead.
    pub(crate) fn resume(&mut self, index: UserId) {
        let user = &mut self.cx.users[index];
        if !user.alive {
            return;
        }
        if self.paused && self.park(index) {
            return;
        }
        let user = &mut self.cx.users[index];
        match std::mem::replace(&mut user.wait, Wait::Ready) {
            Wait::Ready | Wait::Queued => {}
            Wait::Delay(sampler) => {
                user.intended = user.links.deadline;
                self.end_delay(index, sampler);
            }
            Wait::Barrier(sampler) => self.leave_barrier(index, sampler, false),
            Wait::Met(sampler) => self.leave_barrier(index, sampler, true),
            wait @ (Wait::Lock | Wait::Arrival) => {
                user.wait = wait;
                return;
            }
            Wait::Pause(sampler) => self.after_action(index, sampler),
            Wait::Branches(sampler) => {
                user.wait = Wait::Branches(sampler);
                if !self.check_branches(index) {
                    return;
                }
            }
            Wait::Sleep(sampler) => self.wake_sampler(index, sampler),
            wait @ (Wait::Done
            | Wait::Session(_)
            | Wait::WebSocket(_)
            | Wait::Page(_)
            | Wait::File(_)
            | Wait::Java
            | Wait::Job(_)) => {
                user.wait = wait;
                return;
            }
        }
        self.take_turn(index);
    }

    /// Queues a user behind the users that are ready.
    pub(crate) fn queue_user(&mut self, index: UserId) {
        self.cx.queue.later.push_user(index);
    }

    /// Puts a user into the ready queue, if the user is not waiting.
    fn enqueue(&mut self, index: UserId) {
        let user = &mut self.cx.users[index];
        if user.alive && user.wait == Wait::Ready {
            user.wait = Wait::Queued;
            self.cx.queue.later.push_user(index);
        }
    }

    /// Handles each entry of the ready queue once, for at most [`ROUND`], so that sockets and messages are not
    /// delayed longer.
    fn run_ready(&mut self, now: Nanos) {
        for _ in 0..self.cx.queue.later.len() {
            let Some(done) = self.cx.queue.later.pop() else { return };
            self.carry_out(done);
            self.carry_out_done();
            if self.cx.clock.now() - now >= ROUND {
                return;
            }
        }
    }

    /// Handles all completions of the loop's previous step.
    pub(crate) fn carry_out_done(&mut self) {
        loop {
            if let Some(ticket) = self.cx.queue.pop_exchange() {
                self.end_exchange(ticket);
            } else if let Some(done) = self.cx.queue.now.pop() {
                self.carry_out(done);
            } else {
                return;
            }
        }
    }

    /// Handles a completion. A user whose sample or wait is over gets a turn.
    #[inline]
    fn carry_out(&mut self, mut done: Done) {
        match done {
            Done::Sample(ref mut sampled) => {
                let index = sampled.user;
                self.end_sampled(sampled);
                self.take_turn(index);
            }
            Done::Thrown(user, thrown) => self.end_thrown(user, thrown),
            Done::Exchange(ticket) => self.end_exchange(ticket),
            Done::Proxied(ticket) => self.ask_for_tunnel(ticket),
            Done::Unsecured(ticket) => self.secure(ticket),
            Done::Held(user, heard) => {
                let (websocket, mut on) = self.websocket();
                websocket.on_held_event(&mut on, user, heard);
            }
            Done::User(index) => self.resume(index),
        }
    }

    /// Ends the sample of a sampler that has finished its work.
    #[inline]
    fn end_sampled(&mut self, sampled: &mut Sampled) {
        let result = sampled.result.take();
        let Sampled { user, sampler, ref timing, outcome, whole, .. } = *sampled;
        let entry = &mut self.cx.users[user];
        if !entry.alive || entry.wait != Wait::Done {
            return self.cx.spare_results.extend(result);
        }
        entry.wait = Wait::Ready;
        if whole {
            self.close_sample(user, sampler, timing, outcome, result);
        } else {
            self.end_work(user, sampler, timing, outcome, result);
        }
    }

    /// Gives a user its turn. A user that can continue afterwards is queued behind other users; during a pause of the
    /// run the user is parked instead.
    fn take_turn(&mut self, index: UserId) {
        if self.paused && self.cx.users[index].wait == Wait::Ready && self.park(index) {
            return;
        }
        let before = self.cx.queue.mark();
        let over = self.run_user(index);
        // Completions of this turn are handled after the turns of other users.
        self.cx.queue.move_to_end(before);
        if !self.cx.users[index].alive || self.cx.users[index].wait != Wait::Ready {
            return;
        }
        // Samplers check the clock. A loop without samplers, also one in a branch, must be stopped here.
        if over && (self.cx.stop.asked || self.cx.time_is_up(self.cx.users.root(index))) {
            return self.end_user(index);
        }
        self.enqueue(index);
    }

    /// Runs a user until the user must wait or the turn is over. Returns true if the user used up the turn in a search
    /// for a sampler and found no sampler.
    fn run_user(&mut self, index: UserId) -> bool {
        let mut until = Nanos::MAX;
        for operation in 1..=BUDGET {
            if !self.cx.users[index].alive || self.cx.users[index].wait != Wait::Ready {
                return false;
            }
            match self.operate(index) {
                Turn::On => {}
                // After a failed sample, other users run first.
                Turn::Waits => match self.cx.queue.now.pop_passed(index) {
                    Some(mut sampled) => self.end_sampled(&mut sampled),
                    None => return false,
                },
                Turn::Over => return true,
            }
            if operation % UNTIMED == 0 {
                let now = self.cx.clock.now();
                if now >= until {
                    return false;
                }
                until = until.min(now + TURN);
            }
        }
        false
    }

    fn read_inbox(&mut self) {
        self.inbox.wake.lower();
        while let Ok(message) = self.inbox.messages.try_recv() {
            match message {
                Message::Start { group, at } => {
                    let settings = &self.cx.run.groups[group.at()];
                    let start = if settings.arrivals.is_some() {
                        let has_it = owner_of(group, self.cx.run.cores) == self.cx.index;
                        Start::of_arrivals(group, settings, at, has_it.then_some(self.cx.run.shard))
                    } else {
                        let (rank, ranks) = (self.cx.run.rank(self.cx.index), self.cx.run.ranks());
                        Start::new(group, settings, at, rank, ranks)
                    };
                    self.flow.starts.push(start);
                }
                Message::Resolved { user, route, host, found } => {
                    let known = self.cx.net.learn(route, &host, found, self.cx.clock.now());
                    self.cx.net.record_addresses(route, &mut self.cx.recorder);
                    match self.cx.users[user].wait {
                        Wait::WebSocket(_) => {
                            let (held, around) = (&mut self.sessions.held, &mut self.cx.around());
                            held.on_resolved(around, user, route, known);
                        }
                        Wait::Session(ticket) => self.on_resolved(ticket, route, known),
                        _ => {}
                    }
                }
                Message::Process { user, done } => process::end(&mut self.cx, user, *done),
                Message::File { user, content } => file::on_file(&mut self.cx, user, *content),
                Message::Job { to, reply, done } => self.on_job(to, reply, done),
                Message::Looked { user, route, addresses } => {
                    let found = Ok(addresses);
                    dns_cache::on_named(&mut self.cx, &mut self.sessions, user, route, found);
                }
                Message::Named { user, route, found } => {
                    dns_cache::on_named(&mut self.cx, &mut self.sessions, user, route, found);
                }
                Message::Recycle(snapshot) => self.sinks.snapshots.push(snapshot),
                Message::OwnerRequest(ask) => self.flow.answer(&mut self.cx, ask),
                Message::LetGo(waiter) => release_waiter(&mut self.cx, waiter),
                Message::Arrival(group, waiter, at) => self.on_arrival(group, waiter, at),
                Message::NoArrivals(group) => self.close_arrivals(group),
                Message::Users { group, users, change } => self.set_level(group, users, change),
                Message::Rate { group, rate, change } => self.set_rate(group, rate, change),
                Message::Pause(paused) => self.pause(paused),
                Message::Stop => self.stop(false),
                Message::StopNow => self.stop(true),
                Message::End => {
                    self.cx.stop.latest = Some(self.cx.clock.now() + crate::java::PATIENCE);
                }
            }
            self.carry_out_done();
        }
    }

    /// Ends all users: after their current sample, or immediately if `now` is true.
    fn stop(&mut self, now: bool) {
        self.cx.stop.asked = true;
        self.cx.stop.now |= now;
        self.paused = false;
        self.parked.clear();
        let groups: Vec<_> = self.flow.starts.drain(..).map(|start| start.group).collect();
        for index in (0..self.cx.users.all.len() as u32).map(UserId::from) {
            if !self.cx.users[index].alive {
                continue;
            }
            self.stop_user(index, now);
        }
        for group in groups {
            self.group_may_be_done(group);
        }
    }

    /// Ends a user after its current sample while the run continues.
    pub(crate) fn end_soon(&mut self, index: UserId) {
        self.stop_user(index, false);
    }

    fn stop_user(&mut self, index: UserId, now: bool) {
        self.cx.users[index].stopping = true;
        match self.cx.users[index].wait {
                Wait::Arrival | Wait::Lock => self.end_user(index),
                // The user is searching for its next sampler, and handles the end in that search.
                Wait::Ready if !self.cx.users.is_download(index) => self.enqueue(index),
                Wait::Delay(_) | Wait::Pause(_) | Wait::Barrier(_) | Wait::Met(_) => {
                    self.end_wait(index);
                }
                Wait::Session(ticket) if now => {
                    let (sessions, mut around) = self.sessions();
                    sessions.fail(&mut around, ticket, Failure::Cut);
                }
                Wait::Sleep(_) if now => self.end_wait(index),
                Wait::Job(_) if now => process::cut(&mut self.cx, index),
                Wait::File(sampler) if now => file::cut_file(&mut self.cx, index, sampler),
                Wait::Java if now => self.cut_java(index),
                // A sampler that holds a connection open only waits. Like a pause, it ends when the run is asked to
                // stop.
                Wait::WebSocket(_)
                    if now || self.websocket.holds(&self.cx, index) =>
                {
                    let (websocket, mut on) = self.websocket();
                    if !websocket.cut(&mut on, index) {
                        self.end_wait(index);
                    }
                }
                Wait::Ready
                | Wait::Queued
                | Wait::Done
                | Wait::Session(_)
                | Wait::Sleep(_)
                | Wait::WebSocket(_)
                | Wait::Job(_)
                | Wait::File(_)
                | Wait::Java
                // The branches end by themselves.
                | Wait::Page(_)
                | Wait::Branches(_) => {}
            }
    }

    /// Ends a user that waits before a sampler, or in a sampler without work that could be cancelled, such as a sleep.
    /// No sample is recorded.
    pub(crate) fn end_wait(&mut self, index: UserId) {
        self.cx.timers.wheel.remove(index, &mut self.cx.users);
        self.samples.watch.remove(index);
        self.flow.leave_meeting(&mut self.cx, index);
        self.cx.users[index].wait = Wait::Ready;
        self.take(index, Step::Stop { cut: true });
        self.enqueue(index);
    }

    fn tick(&mut self, now: Nanos) {
        self.cx.timers.next_second = second_after(now, self.cx.run.shard);
        self.cx.clock.sync();
        // Other threads return used snapshots without waking the core. Without this read, they would accumulate in
        // an inbox that receives nothing else.
        self.read_inbox();
        self.forget_routes();
        self.sessions.held.probe_unread(&mut self.cx.around());
        self.jobs.watch_jobs(&self.cx, now);
        if self.paused {
            self.end_parked();
        }
        self.hand_over(now);
        self.flush_results();
    }

    fn flush_results(&mut self) {
        self.sinks.rows.flush();
        for feed in &mut self.sinks.feeds {
            feed.1.flush();
        }
    }

    fn hand_over(&mut self, now: Nanos) {
        let mut snapshot = self.sinks.snapshots.pop().unwrap_or_default();
        self.cx.recorder.add(Counter::RowsDropped, self.sinks.rows.take_dropped());
        let retries = std::mem::take(&mut self.cx.net.retries);
        self.cx.recorder.add(Counter::ConnectRetries, retries);
        self.cx.recorder.drain(&mut snapshot);
        snapshot.at_ms = self.cx.clock.run_ms(now);
        self.cx.recorder.begin(snapshot.at_ms);
        let _ = self.cx.reports.send(Report::Snapshot { core: self.cx.index, snapshot });
    }
}
