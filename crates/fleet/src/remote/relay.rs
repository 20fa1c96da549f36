//! The processes of an agent, or the agents of a relay, combined into one worker: orders go to all of them, and their
//! messages are combined into one.
//!
//! The reports of a second, of every thread of the processes or of every agent, are merged by [`OpenSecond`], as in a
//! run on one machine.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use engine::Live;
use stats::grouped::things;
use stats::open_second::Closed;
use stats::{Counter, OpenSecond};

use super::wire::Part;
use crate::batch_properties::BatchProperties;
use crate::bus::{Bus, WorkerEvent};
use crate::figures::{ByWorker, Figures};
use crate::loss::{self, Loss, Missed};
use crate::member::{self, Member, Stage};
use crate::message::{FromWorker, Report, Share, ToWorker, VERSION};

/// Combined output of all processes of the agent.
#[derive(Debug)]
pub(crate) enum Out {
    Message(FromWorker),
    /// A second of all processes.
    Second(Box<Report>),
    Lost(Part),
}

/// The workers of an agent.
#[derive(Debug)]
pub(crate) struct Relay {
    bus: Box<dyn Bus>,
    share: Share,
    /// Numbers of the processes' shares.
    shares: Vec<u32>,
    members: Vec<Member>,
    out: VecDeque<Out>,
    open: OpenSecond,
    /// Number of users of each group that run in other agents.
    elsewhere: Vec<u32>,
    properties: Vec<(String, String)>,
    /// Used if this host runs the whole plan: properties shared among its processes, but not with other hosts.
    own: BatchProperties,
    /// Number of load changes so far.
    changes: u32,
    aborted: Option<String>,
    /// Number of samples in the completed seconds.
    samples: u64,
    /// The totals of each agent of a relay.
    figures: ByWorker,
    ready: bool,
    /// True if a batch was started whose end was not reported yet.
    owes: bool,
    ended: bool,
}

impl Relay {
    /// Creates the worker. `share` is common to all processes; process *i* of the bus gets share number `shares[i]`.
    pub(crate) fn new(bus: Box<dyn Bus>, share: Share, shares: Vec<u32>) -> Self {
        let members = (0..bus.workers()).map(|_| Member::default()).collect();
        let open = OpenSecond::new(bus.transport().part_kind(), 0);
        Self {
            bus,
            share,
            shares,
            members,
            out: VecDeque::new(),
            open,
            elsewhere: Vec::new(),
            properties: Vec::new(),
            own: BatchProperties::default(),
            changes: 0,
            aborted: None,
            samples: 0,
            figures: ByWorker::default(),
            ready: false,
            owes: false,
            ended: false,
        }
    }

    /// Executes an order of the coordinator.
    pub(crate) fn execute(&mut self, order: ToWorker) {
        match order {
            ToWorker::Plan(_) => {}
            ToWorker::Arm if self.bus.transport().is_machines() => {
                self.stage(Stage::Ready, Stage::Arming);
                self.broadcast(&order);
            }
            // No confirmation is needed from processes on the agent's own machine.
            ToWorker::Arm => self.out.push_back(Out::Message(FromWorker::Armed)),
            ToWorker::Start { groups, at, mut properties } => {
                self.owes = true;
                self.stage(Stage::Ready, Stage::Running);
                properties.extend(self.own.send());
                self.broadcast(&ToWorker::Start { groups, at, properties });
            }
            ToWorker::Adjust { elsewhere } => {
                self.elsewhere = elsewhere;
                self.adjust();
            }
            ToWorker::Change(ref changes) => {
                let opens =
                    changes.iter().filter(|change| !matches!(change, Live::Pause(_))).count();
                self.changes += opens as u32;
                if opens > 0 {
                    self.owes = true;
                    self.stage(Stage::Ready, Stage::Running);
                }
                self.broadcast(&order);
            }
            ToWorker::Stop { .. } | ToWorker::End => self.broadcast(&order),
        }
    }

    /// Returns the next output, waiting at most `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Option<Out> {
        if self.out.is_empty() && !self.ended {
            match self.bus.next(patience) {
                Some((child, WorkerEvent::Message(message))) => self.handle(child, message),
                Some((child, WorkerEvent::Silent(words))) => {
                    let pid = self.members.get(child as usize).map_or(0, |member| member.pid);
                    self.log(match self.bus.name(child) {
                        Some(_) => words,
                        None => format!("process {pid} of an agent: {words}"),
                    });
                }
                Some((child, WorkerEvent::Ended(words))) => self.gone(child, &words),
                Some((_, WorkerEvent::PartLost(loss))) => self.out.push_back(Out::Lost(part(loss))),
                Some((child, WorkerEvent::Figures(figures))) => self.figures.behind(child, figures),
                Some((_, WorkerEvent::TakenOver { .. })) | None => {}
            }
            if let Some(closed) = self.open.overdue(Instant::now()) {
                self.out(closed);
            }
            self.end();
        }
        self.out.pop_front()
    }

    /// True if all processes have ended and all output was returned.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended && self.out.is_empty()
    }

    /// True if users of a batch run, because its end was not reported yet.
    pub(crate) fn has_users(&self) -> bool {
        self.owes
    }

    /// Returns the totals of each agent in order; empty if the workers are processes.
    pub(crate) fn figures(&self) -> Vec<Figures> {
        if self.bus.transport().is_machines() {
            self.figures.of((0..self.bus.workers()).map(|_| 1))
        } else {
            Vec::new()
        }
    }

    /// Called after all workers have ended: fetches their files and releases them. Returns messages about problems.
    pub(crate) fn collect(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.bus.collect()).flatten().collect()
    }

    /// Returns the number of samples in the open second.
    pub(crate) fn open_samples(&self) -> u64 {
        self.open.so_far().brief(false).count
    }

    fn handle(&mut self, child: u32, message: FromWorker) {
        let Some(member) = self.members.get_mut(child as usize) else { return };
        if !member.is_alive() {
            return;
        }
        match message {
            FromWorker::Offer { version, .. } if version != VERSION => {
                self.fail(format!(
                    "a process uses protocol version {version}; {VERSION} is required"
                ));
            }
            FromWorker::Offer { pid, .. } => {
                member.pid = pid;
                let index = self.shares.get(child as usize).copied().unwrap_or(0);
                let share = Box::new(Share { index, ..self.share.clone() });
                self.bus.send(child, &ToWorker::Plan(share));
            }
            FromWorker::Ready { cores } => {
                (member.cores, member.stage) = (cores, Stage::Ready);
                self.all_ready();
            }
            FromWorker::Armed => {
                if member.stage == Stage::Arming {
                    member.stage = Stage::Armed;
                }
                self.armed();
            }
            FromWorker::Report(mut report) => {
                self.report(child, &mut report);
                self.bus.recycle(report.snapshot);
            }
            FromWorker::BatchDone { properties, changes } => {
                if member.stage == Stage::Running && changes == self.changes {
                    member.stage = Stage::Ready;
                }
                if self.share.host.is_some() {
                    self.own.add(properties);
                } else {
                    self.properties.extend(properties);
                }
                self.batch_done();
            }
            FromWorker::Alive => {}
            FromWorker::StopAsked { .. } | FromWorker::Figures(_) | FromWorker::Log(_) => {
                self.out.push_back(Out::Message(message));
            }
            FromWorker::Done { aborted, samples } => {
                member.stage = Stage::Done;
                member.active.clear();
                let agent = self.bus.name(child);
                let differs =
                    member.sample_mismatch(child, samples).map(|loss| Loss { agent, ..loss });
                self.out.extend(differs.map(|loss| Out::Lost(part(loss))));
                if let Some(reason) = aborted {
                    self.fail(reason);
                }
                self.batch_done();
            }
        }
    }

    fn gone(&mut self, child: u32, reason: &str) {
        let Some(member) = self.members.get_mut(child as usize) else { return };
        if !member.is_alive() {
            return;
        }
        member.stage = Stage::Lost;
        let part = Part {
            pid: member.pid,
            reason: reason.to_owned(),
            users: member.users(),
            connections: loss::held(&member.counters),
            last_ms: member.last_ms,
            missed: Missed::About(member.last_samples.values().sum()),
            agent: self.bus.name(child),
            at_most: self.bus.at_most(child),
        };
        let lost = loss::snapshot(&member.counters, member.last_ms);
        self.out.push_back(Out::Lost(part));
        self.open.add_loss(&lost);
        self.batch_done();
    }

    /// Reports once that the agent is ready, when all its processes are.
    fn all_ready(&mut self) {
        let waits = |member: &Member| member.is_alive() && member.stage != Stage::Ready;
        let none = !self.members.iter().any(Member::is_alive);
        if self.ready || none || self.members.iter().any(waits) {
            return;
        }
        self.ready = true;
        let cores = self.members.iter().map(|member| member.cores).sum();
        self.out.push_back(Out::Message(FromWorker::Ready { cores }));
    }

    /// Reports that all agents of a relay are reachable, when the last one has confirmed or is lost.
    fn armed(&mut self) {
        let any = |stage| self.members.iter().any(|member| member.stage == stage);
        if any(Stage::Armed) && !any(Stage::Arming) {
            self.stage(Stage::Armed, Stage::Ready);
            self.out.push_back(Out::Message(FromWorker::Armed));
        }
    }

    /// Reports the end of the batch when it has ended in all remaining processes.
    fn batch_done(&mut self) {
        if !self.ready {
            return self.all_ready();
        }
        self.armed();
        let alive = || self.members.iter().filter(|member| member.is_alive());
        let waits = alive().any(|member| member.stage != Stage::Ready);
        // A second report would count as the end of the next batch.
        if waits || alive().next().is_none() || !std::mem::take(&mut self.owes) {
            return;
        }
        let (properties, changes) = (std::mem::take(&mut self.properties), self.changes);
        self.out.push_back(Out::Message(FromWorker::BatchDone { properties, changes }));
    }

    /// Adds a thread's report of a second.
    fn report(&mut self, child: u32, report: &mut Report) {
        let Some(member) = self.members.get_mut(child as usize) else { return };
        let (counts, missing) = member.apply(report);
        if missing > 0 {
            self.log(format!("a process of an agent: {} missing", things(missing, "report")));
        }
        if !counts {
            return;
        }
        if self.bus.transport().is_machines() {
            self.figures.add(child, report);
        }
        let ended = self.open.add((child, report.snapshot.core), &mut report.snapshot);
        if let Some(closed) = ended {
            self.out(closed);
        }
        let parts = member::parts(&self.members, self.bus.transport());
        if let Some(closed) = self.open.complete(parts) {
            self.out(closed);
            self.adjust();
        }
    }

    /// Outputs a second, with the numbers of users.
    fn out(&mut self, Closed { mut snapshot, stall }: Closed) {
        // The sum over threads would have no meaning.
        snapshot.counters.set(Counter::StallTime, stall);
        let usage = member::usage(&self.members);
        let mut report = Report { usage, snapshot, ..Report::default() };
        for member in self.members.iter().filter(|member| member.is_alive()) {
            let length = report.active.len().max(member.active.len());
            report.active.resize(length, 0);
            report.active.iter_mut().zip(&member.active).for_each(|(sum, own)| *sum += own);
        }
        for member in &self.members {
            report.started += member.started;
            let active = if member.stage == Stage::Lost { 0 } else { member.users() };
            report.finished += member.started.saturating_sub(active).max(member.finished);
        }
        self.samples += report.samples();
        self.out.push_back(Out::Second(Box::new(report)));
    }

    /// When no process is left, outputs the last second and the end of the worker.
    fn end(&mut self) {
        if self.ended || self.members.iter().any(Member::is_alive) {
            return;
        }
        self.ended = true;
        if let Some(closed) = self.open.finish() {
            self.out(closed);
        }
        if self.aborted.is_none() && self.members.iter().all(|member| member.stage == Stage::Lost) {
            self.aborted = Some("all processes of the agent were lost".into());
        }
        let (aborted, samples) = (self.aborted.take(), self.samples);
        self.out.push_back(Out::Message(FromWorker::Done { aborted, samples }));
    }

    fn fail(&mut self, reason: String) {
        self.aborted.get_or_insert(reason);
        self.broadcast(&ToWorker::Stop { now: true });
        self.broadcast(&ToWorker::End);
    }

    fn log(&mut self, text: String) {
        self.out.push_back(Out::Message(FromWorker::Log(text.into())));
    }

    fn stage(&mut self, from: Stage, to: Stage) {
        for member in self.members.iter_mut().filter(|member| member.stage == from) {
            member.stage = to;
        }
    }

    fn broadcast(&mut self, order: &ToWorker) {
        for (child, member) in (0..).zip(&self.members) {
            if member.is_alive() {
                self.bus.send(child, order);
            }
        }
    }

    /// Sends each process the number of users that run in all others.
    fn adjust(&mut self) {
        let groups = self.members.iter().map(|member| member.active.len()).max().unwrap_or(0);
        let groups = groups.max(self.elsewhere.len());
        for child in 0..self.members.len() {
            let mut elsewhere = self.elsewhere.clone();
            elsewhere.resize(groups, 0);
            for (other, member) in self.members.iter().enumerate() {
                if other != child && member.is_alive() {
                    elsewhere.iter_mut().zip(&member.active).for_each(|(sum, own)| *sum += own);
                }
            }
            let member = &mut self.members[child];
            if member.is_alive() && elsewhere != member.sent_elsewhere {
                self.bus.send(child as u32, &ToWorker::Adjust { elsewhere: elsewhere.clone() });
                member.sent_elsewhere = elsewhere;
            }
        }
    }
}

/// Returns the lost part: a process or an agent, also if it only counted other samples than it reported.
fn part(loss: Loss) -> Part {
    let Loss { agent, pid, reason, users, connections, last_ms, samples, at_most, .. } = loss;
    Part { pid, reason, users, connections, last_ms, missed: samples, agent, at_most }
}

#[cfg(test)]
mod tests;
