//! The processes of an agent, or the agents of a relay, combined into one worker: orders go to all of them, and their
//! messages are combined into one.
//!
//! The reports of a second, of every thread of the processes or of every agent, are merged by [`OpenSecond`], as in a
//! run on one machine.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use engine::Users;
use stats::grouped::things;
use stats::open_second::Closed;
use stats::{Counter, OpenSecond};

use super::wire::Part;
use crate::batch_properties::BatchProperties;
use crate::bus::{Bus, WorkerEvent};
use crate::figures::Figures;
use crate::loss::Loss;
use crate::member::Stage;
use crate::members::{Handled, Members};
use crate::message::{FromWorker, Report, Share, ToWorker, VERSION};

/// Combined output of all processes of an agent, or of all agents of a relay.
#[derive(Debug)]
pub(crate) enum Out {
    Message(FromWorker),
    /// The merged measurements of one second.
    Second(Box<Report>),
    Lost(Part),
}

/// The workers of an agent (processes) or of a relay (agents), combined into one worker.
#[derive(Debug)]
pub(crate) struct Relay {
    members: Members,
    share: Share,
    /// For each process: the number of its share.
    shares: Vec<u32>,
    out: VecDeque<Out>,
    open: OpenSecond,
    /// Number of users of each group that run in other agents of the run.
    elsewhere: Vec<u32>,
    properties: Vec<(String, String)>,
    /// Properties that the users of this host have set. Used if each host runs the whole plan: then hosts do not share
    /// properties.
    own: BatchProperties,
    aborted: Option<String>,
    /// Number of samples in all completed seconds.
    samples: u64,
    ready: bool,
    /// True if a batch was started whose end has not been reported to the coordinator.
    owes: bool,
    ended: bool,
}

impl Relay {
    /// Combines the workers of a bus into one worker. `share` is common to all; process *i* of the bus gets share
    /// number `shares[i]`.
    pub(crate) fn new(bus: Box<dyn Bus>, share: Share, shares: Vec<u32>) -> Self {
        let open = OpenSecond::new(bus.transport().part_kind(), 0);
        Self {
            members: Members::new(bus),
            share,
            shares,
            out: VecDeque::new(),
            open,
            elsewhere: Vec::new(),
            properties: Vec::new(),
            own: BatchProperties::default(),
            aborted: None,
            samples: 0,
            ready: false,
            owes: false,
            ended: false,
        }
    }

    /// Executes an order of the coordinator, mostly by sending the order to all workers.
    pub(crate) fn execute(&mut self, order: ToWorker) {
        match order {
            ToWorker::Plan(_) => {}
            ToWorker::Arm if self.members.transport().is_machines() => {
                self.members.order(Stage::Arming, &order);
            }
            // No confirmation is needed from processes on the agent's own machine.
            ToWorker::Arm => self.out.push_back(Out::Message(FromWorker::Armed)),
            ToWorker::Start { groups, at, mut properties } => {
                self.owes = true;
                properties.extend(self.own.send());
                let start = ToWorker::Start { groups, at, properties };
                self.members.order(Stage::Running, &start);
            }
            ToWorker::Adjust { elsewhere } => {
                self.elsewhere = elsewhere;
                self.members.adjust(&self.elsewhere);
            }
            ToWorker::Change(changes) => self.owes |= self.members.change(changes),
            ToWorker::Stop { .. } | ToWorker::End => self.members.broadcast(&order),
        }
    }

    /// Returns the next combined output; `None` if there is none within `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Option<Out> {
        if self.out.is_empty() && !self.ended {
            match self.members.bus.next(patience) {
                Some((child, WorkerEvent::Message(message))) => self.handle(child, message),
                Some((child, WorkerEvent::Silent(words))) => {
                    let pid = self.members.pid(child);
                    self.log(match self.members.bus.name(child) {
                        Some(_) => words,
                        None => format!("process {pid} of an agent: {words}"),
                    });
                }
                Some((child, WorkerEvent::Ended(words))) => self.gone(child, &words),
                Some((_, WorkerEvent::PartLost(loss))) => self.out.push_back(Out::Lost(part(loss))),
                Some((child, WorkerEvent::Figures(figures))) => {
                    self.members.set_figures_behind(child, figures);
                }
                Some((_, WorkerEvent::TakenOver { .. })) | None => {}
            }
            if let Some(closed) = self.open.overdue(Instant::now()) {
                self.out(closed);
            }
            self.end();
        }
        self.out.pop_front()
    }

    /// True if all workers have ended and all output was returned.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended && self.out.is_empty()
    }

    /// True if users of a batch run: the end of the batch was not reported yet.
    pub(crate) fn has_users(&self) -> bool {
        self.owes
    }

    /// Returns the totals of each agent of a relay, in order; empty if the workers are processes.
    pub(crate) fn figures(&self) -> Vec<Figures> {
        self.members.figures()
    }

    /// Fetches the files that workers keep, and releases the workers. Called after all workers have ended. Returns
    /// messages about problems.
    pub(crate) fn collect(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.members.bus.collect()).flatten().collect()
    }

    /// Returns the number of samples in the second that is not complete yet.
    pub(crate) fn open_samples(&self) -> u64 {
        self.open.so_far().brief(false).count
    }

    fn handle(&mut self, child: u32, message: FromWorker) {
        match self.members.handle(child, message) {
            Some(Handled::WrongVersion(version)) => self
                .fail(format!("a process uses protocol version {version}; {VERSION} is required")),
            Some(Handled::NeedsShare) => {
                let index = self.shares.get(child as usize).copied().unwrap_or(0);
                let share = Box::new(Share { index, ..self.share.clone() });
                self.members.bus.send(child, &ToWorker::Plan(share));
            }
            Some(Handled::Waits) => {
                self.all_ready();
                self.armed();
            }
            Some(Handled::BatchDone(properties)) => {
                if self.share.host.is_some() {
                    self.own.add(properties);
                } else {
                    self.properties.extend(properties);
                }
                self.batch_done();
            }
            Some(Handled::Report(mut report, missing)) => {
                self.report(child, &mut report, missing);
                self.members.bus.recycle(report.snapshot);
            }
            Some(Handled::Done(aborted, samples)) => {
                let differs = self.members.end(child, samples);
                self.out.extend(differs.map(|loss| Out::Lost(part(loss))));
                if let Some(reason) = aborted {
                    self.fail(reason);
                }
                self.batch_done();
            }
            Some(Handled::Other(message)) => self.out.push_back(Out::Message(message)),
            None => {}
        }
    }

    fn gone(&mut self, child: u32, reason: &str) {
        if let Some((loss, snapshot)) = self.members.lose(child, reason) {
            self.out.push_back(Out::Lost(part(loss)));
            self.open.add_loss(child, &snapshot);
            self.batch_done();
        }
    }

    /// Reports to the coordinator that this worker is ready, once all processes or agents are.
    fn all_ready(&mut self) {
        if self.ready || !self.members.is_any_alive() || !self.members.all_are(Stage::Ready) {
            return;
        }
        self.ready = true;
        let cores = self.members.all.iter().map(|member| member.cores).sum();
        self.out.push_back(Out::Message(FromWorker::Ready { cores }));
    }

    /// Reports to the coordinator that all agents of a relay are reachable, once each has confirmed or is lost.
    fn armed(&mut self) {
        if self.members.is_any(Stage::Armed) && !self.members.is_any(Stage::Arming) {
            self.members.restage(Stage::Armed, Stage::Ready);
            self.out.push_back(Out::Message(FromWorker::Armed));
        }
    }

    /// Reports the end of the batch to the coordinator, once the batch has ended in all remaining workers.
    fn batch_done(&mut self) {
        if !self.ready {
            return self.all_ready();
        }
        self.armed();
        let are_ready = self.members.is_any_alive() && self.members.all_are(Stage::Ready);
        // A second report would count as the end of the next batch.
        if !are_ready || !std::mem::take(&mut self.owes) {
            return;
        }
        let (properties, changes) = (std::mem::take(&mut self.properties), self.members.changes);
        self.out.push_back(Out::Message(FromWorker::BatchDone { properties, changes }));
    }

    /// Adds a thread's report of a second, before which `missing` reports are missing.
    fn report(&mut self, child: u32, report: &mut Report, missing: u64) {
        if missing > 0 {
            self.log(format!("a process of an agent: {} missing", things(missing, "report")));
        }
        let ended = self.open.add((child, report.snapshot.core), &mut report.snapshot);
        if let Some(closed) = ended {
            self.out(closed);
        }
        if let Some(closed) = self.open.complete(self.members.parts()) {
            self.out(closed);
            self.members.adjust(&self.elsewhere);
        }
    }

    /// Outputs a second, with the numbers of users.
    fn out(&mut self, Closed { mut snapshot, stall }: Closed) {
        // The sum over threads would have no meaning.
        snapshot.counters.set(Counter::StallTime, stall);
        let Users { started, finished, .. } = self.members.users();
        let (usage, active) = (self.members.usage(), self.members.active_by_group());
        let report = Report { usage, active, started, finished, snapshot, ..Report::default() };
        self.samples += report.samples();
        self.out.push_back(Out::Second(Box::new(report)));
    }

    /// Outputs the last second and the end of the combined worker, if no worker is left.
    fn end(&mut self) {
        if self.ended || self.members.is_any_alive() {
            return;
        }
        self.ended = true;
        if let Some(closed) = self.open.finish() {
            self.out(closed);
        }
        if self.aborted.is_none() && !self.members.is_any(Stage::Done) {
            self.aborted = Some("all processes of the agent were lost".into());
        }
        let (aborted, samples) = (self.aborted.take(), self.samples);
        self.out.push_back(Out::Message(FromWorker::Done { aborted, samples }));
    }

    fn fail(&mut self, reason: String) {
        self.aborted.get_or_insert(reason);
        self.members.broadcast(&ToWorker::Stop { now: true });
        self.members.broadcast(&ToWorker::End);
    }

    fn log(&mut self, text: String) {
        self.out.push_back(Out::Message(FromWorker::Log(text.into())));
    }
}

/// Converts the loss of a process or agent to the form that is sent to the coordinator.
fn part(loss: Loss) -> Part {
    let Loss { agent, pid, reason, users, connections, last_ms, samples, at_most, .. } = loss;
    Part { pid, reason, users, connections, last_ms, missed: samples, agent, at_most }
}

#[cfg(test)]
mod tests;
