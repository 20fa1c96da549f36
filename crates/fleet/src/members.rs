//! The workers of a coordinator, or of an agent or relay: the bus, and the state of each worker.
//!
//! The transitions of a worker's state, and the orders that cause them, are the same at both ends and are here. Their
//! consequences differ: a coordinator starts the next batch, and a relay reports to its own coordinator.

use engine::{Live, Users};
use stats::Snapshot;
use stats::process::Usage;

use crate::bus::{Bus, Transport};
use crate::figures::{ByWorker, Figures};
use crate::loss::{self, Loss, Missed};
use crate::member::{self, Member, Stage};
use crate::message::{FromWorker, Report, ToWorker, VERSION, opening};

/// All workers of a bus.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) bus: Box<dyn Bus>,
    pub(crate) all: Vec<Member>,
    /// Number of changes to users or rates that the workers were sent so far; pauses do not count.
    pub(crate) changes: u32,
    figures: ByWorker,
}

/// The consequence of a message, left to the coordinator or relay.
#[derive(Debug)]
pub(crate) enum Handled {
    /// The worker uses another version of the protocol.
    WrongVersion(u32),
    /// The worker waits for its share.
    NeedsShare,
    /// The worker is ready, or has confirmed that it is reachable.
    Waits,
    /// The worker has ended the batch, and its users have set these properties.
    BatchDone(Vec<(String, String)>),
    /// A report that is not a duplicate, and the number of missing reports before it.
    Report(Box<Report>, u64),
    /// A message that does not change the worker's state.
    Other(FromWorker),
    /// The worker has ended: the reason for an early end, and the number of its samples. [`Members::end`] follows.
    Done(Option<String>, u64),
}

impl Members {
    pub(crate) fn new(bus: Box<dyn Bus>) -> Self {
        let all = (0..bus.workers()).map(|_| Member::default()).collect();
        Self { bus, all, changes: 0, figures: ByWorker::default() }
    }

    pub(crate) fn transport(&self) -> Transport {
        self.bus.transport()
    }

    /// Returns a worker that has neither ended nor died.
    pub(crate) fn alive(&mut self, worker: u32) -> Option<&mut Member> {
        self.all.get_mut(worker as usize).filter(|member| member.is_alive())
    }

    /// Returns the workers that have neither ended nor died, with their numbers.
    pub(crate) fn all_alive(&self) -> impl Iterator<Item = (u32, &Member)> {
        (0..).zip(&self.all).filter(|(_, member)| member.is_alive())
    }

    pub(crate) fn is_any_alive(&self) -> bool {
        self.all_alive().next().is_some()
    }

    /// True if all workers that are alive are in this stage.
    pub(crate) fn all_are(&self, stage: Stage) -> bool {
        self.all_alive().all(|(_, member)| member.stage == stage)
    }

    pub(crate) fn is_any(&self, stage: Stage) -> bool {
        self.all.iter().any(|member| member.stage == stage)
    }

    /// Returns the process ID of a worker; 0 before its first message.
    pub(crate) fn pid(&self, worker: u32) -> u32 {
        self.all.get(worker as usize).map_or(0, |member| member.pid)
    }

    /// Applies a worker's message to its state. Returns `None` if nothing follows from the message.
    pub(crate) fn handle(&mut self, worker: u32, message: FromWorker) -> Option<Handled> {
        let sent = self.changes;
        let member = self.alive(worker)?;
        Some(match message {
            FromWorker::Offer { version, .. } if version != VERSION => {
                Handled::WrongVersion(version)
            }
            FromWorker::Offer { pid, .. } => {
                member.pid = pid;
                Handled::NeedsShare
            }
            FromWorker::Ready { cores } => {
                (member.cores, member.stage) = (cores, Stage::Ready);
                Handled::Waits
            }
            FromWorker::Armed => {
                if member.stage == Stage::Arming {
                    member.stage = Stage::Armed;
                }
                Handled::Waits
            }
            FromWorker::BatchDone { properties, changes } => {
                if member.stage == Stage::Running && changes + member.missed_changes == sent {
                    member.stage = Stage::Ready;
                }
                Handled::BatchDone(properties)
            }
            FromWorker::Report(report) => return self.count(worker, report),
            FromWorker::Alive => return None,
            FromWorker::Done { aborted, samples } => Handled::Done(aborted, samples),
            FromWorker::StopAsked { .. } | FromWorker::Figures(_) | FromWorker::Log(_) => {
                Handled::Other(message)
            }
        })
    }

    /// Counts a report once.
    fn count(&mut self, worker: u32, report: Box<Report>) -> Option<Handled> {
        let (counts, missing) = self.alive(worker)?.apply(&report);
        if !counts {
            self.bus.recycle(report.snapshot);
            return None;
        }
        if self.transport().is_machines() {
            self.figures.add(worker, &report);
        }
        Some(Handled::Report(report, missing))
    }

    /// Marks a worker as ended, which counted `samples` in total. Returns a loss if another number was received.
    pub(crate) fn end(&mut self, worker: u32, samples: u64) -> Option<Loss> {
        let member = self.all.get_mut(worker as usize)?;
        member.stage = Stage::Done;
        member.active.clear();
        let loss = member.sample_mismatch(worker, samples)?;
        Some(Loss { agent: self.bus.name(worker), ..loss })
    }

    /// Marks a worker as lost if its connection ended before its last message. Returns the loss, and the snapshot in
    /// which its connections count as ended.
    pub(crate) fn lose(&mut self, worker: u32, reason: &str) -> Option<(Loss, Box<Snapshot>)> {
        let (agent, at_most) = (self.bus.name(worker), self.bus.at_most(worker));
        let member = self.alive(worker)?;
        member.stage = Stage::Lost;
        let loss = Loss {
            worker,
            agent,
            pid: member.pid,
            reason: reason.to_owned(),
            users: member.users(),
            connections: loss::held(&member.counters),
            last_ms: member.last_ms,
            samples: Missed::About(member.last_samples.values().sum()),
            at_most,
        };
        let mut snapshot = loss::snapshot(&member.counters, member.last_ms);
        snapshot.seq = worker.into();
        Some((loss, snapshot))
    }

    /// Sends an order to all workers. Sets the stage of the workers that are between two batches to `stage`.
    pub(crate) fn order(&mut self, stage: Stage, order: &ToWorker) {
        for from in [Stage::Ready, Stage::Arming, Stage::Armed] {
            self.restage(from, stage);
        }
        self.broadcast(order);
    }

    /// Changes the load. Returns true if workers will report once more that their batch is done.
    pub(crate) fn change(&mut self, changes: Vec<Live>) -> bool {
        let opening = opening(&changes);
        self.changes += opening;
        if opening > 0 {
            self.restage(Stage::Ready, Stage::Running);
        }
        self.broadcast(&ToWorker::Change(changes));
        opening > 0
    }

    /// Moves all workers in the stage `from` to the stage `to`.
    pub(crate) fn restage(&mut self, from: Stage, to: Stage) {
        for member in self.all.iter_mut().filter(|member| member.stage == from) {
            member.stage = to;
        }
    }

    pub(crate) fn broadcast(&mut self, order: &ToWorker) {
        for (worker, member) in (0..).zip(&self.all) {
            if member.is_alive() {
                self.bus.send(worker, order);
            }
        }
    }

    /// Sends each worker the number of users of each group that run in the other workers, if a number has changed.
    /// `around` has the number of users of each group that run outside of this bus.
    pub(crate) fn adjust(&mut self, around: &[u32]) {
        let mut all = self.active_by_group();
        all.resize(all.len().max(around.len()), 0);
        all.iter_mut().zip(around).for_each(|(sum, around)| *sum += around);
        for (worker, member) in (0..).zip(&mut self.all) {
            if !member.is_alive() {
                continue;
            }
            let own = member.active.iter().copied().chain(std::iter::repeat(0));
            let elsewhere: Vec<u32> =
                all.iter().zip(own).map(|(all, own)| all.saturating_sub(own)).collect();
            if elsewhere != member.sent_elsewhere {
                self.bus.send(worker, &ToWorker::Adjust { elsewhere: elsewhere.clone() });
                member.sent_elsewhere = elsewhere;
            }
        }
    }

    /// Returns the last reported number of users of each group in all workers that are alive.
    pub(crate) fn active_by_group(&self) -> Vec<u32> {
        let groups = self.all.iter().map(|member| member.active.len()).max().unwrap_or(0);
        let mut all = vec![0; groups];
        for (_, member) in self.all_alive() {
            all.iter_mut().zip(&member.active).for_each(|(sum, own)| *sum += own);
        }
        all
    }

    /// Returns the last reported numbers of users. Users of workers that died count as ended.
    pub(crate) fn users(&self) -> Users {
        let mut users = Users::default();
        for member in &self.all {
            let active = if member.stage == Stage::Lost { 0 } else { member.users() };
            users.active += active;
            users.started += member.started;
            users.finished += member.started.saturating_sub(active).max(member.finished);
        }
        users
    }

    /// Returns the number of reports that make up one second.
    pub(crate) fn parts(&self) -> u32 {
        member::parts(&self.all, self.transport())
    }

    /// Returns the last reported resource usage of all workers.
    pub(crate) fn usage(&self) -> Usage {
        member::usage(&self.all)
    }

    /// Stores the totals that a worker reported for the machines behind it.
    pub(crate) fn set_figures_behind(&mut self, worker: u32, figures: Vec<Figures>) {
        self.figures.behind(worker, figures);
    }

    /// Returns the totals of each machine in order; empty if the workers are local.
    pub(crate) fn figures(&self) -> Vec<Figures> {
        let parts = (0..self.bus.workers()).map(|worker| self.bus.parts(worker));
        if self.transport().is_machines() { self.figures.of(parts) } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::threads::Threads;

    /// Returns two workers, and the orders sent to them.
    fn two() -> (Members, Receiver<(u32, ToWorker)>) {
        let (to, orders) = channel();
        let bus = Threads::start(2, move |number, from, _| {
            for order in from {
                drop(to.send((number, order)));
            }
        });
        (Members::new(Box::new(bus)), orders)
    }

    fn stages(members: &Members) -> Vec<Stage> {
        members.all.iter().map(|member| member.stage).collect()
    }

    fn done(changes: u32) -> FromWorker {
        FromWorker::BatchDone { properties: Vec::new(), changes }
    }

    #[test]
    fn a_batch_leads_each_worker_from_ready_to_ready() {
        let (mut members, _orders) = two();
        let both = |members: &mut Members, message: fn() -> FromWorker| {
            (0..2).for_each(|worker| drop(members.handle(worker, message())));
            members.all[0].stage
        };
        assert_eq!(both(&mut members, || FromWorker::Ready { cores: 1 }), Stage::Ready);
        assert!(members.all_are(Stage::Ready));
        members.order(Stage::Arming, &ToWorker::Arm);
        assert_eq!(stages(&members), [Stage::Arming; 2]);
        // A worker whose batch has not started cannot end it.
        members.handle(0, done(0));
        members.handle(0, FromWorker::Armed);
        assert_eq!(stages(&members), [Stage::Armed, Stage::Arming]);
        members.handle(1, FromWorker::Armed);
        let start = ToWorker::Start { groups: vec![0], at: 0, properties: Vec::new() };
        members.order(Stage::Running, &start);
        assert_eq!(stages(&members), [Stage::Running; 2]);
        assert_eq!(both(&mut members, || done(0)), Stage::Ready);
    }

    #[test]
    fn a_batch_is_done_after_all_load_changes_that_the_worker_has_received() {
        let (mut members, _orders) = two();
        for worker in 0..2 {
            members.handle(worker, FromWorker::Ready { cores: 1 });
        }
        assert!(!members.change(vec![Live::Pause(true)]), "a pause starts nobody");
        assert_eq!((members.changes, stages(&members)), (0, vec![Stage::Ready; 2]));
        assert!(members.change(vec![Live::Users { group: 0, users: 3 }]));
        members.handle(0, done(0));
        members.handle(1, done(1));
        assert_eq!(stages(&members), [Stage::Running, Stage::Ready]);
        // A takeover does not repeat the change for a worker that has not received it.
        members.all[0].missed_changes = 1;
        members.handle(0, done(0));
        assert!(members.all_are(Stage::Ready));
    }

    #[test]
    fn a_worker_receives_the_users_of_the_others_when_they_change() {
        let (mut members, orders) = two();
        let report =
            |seq, active| FromWorker::Report(Box::new(Report { seq, active, ..Report::default() }));
        members.handle(0, report(1, vec![2, 3]));
        members.handle(1, report(1, vec![4]));
        members.adjust(&[10, 0, 1]);
        let next = || match orders.recv_timeout(std::time::Duration::from_secs(60)) {
            Ok((worker, ToWorker::Adjust { elsewhere })) => (worker, elsewhere),
            other => panic!("{other:?}"),
        };
        let mut sent = [next(), next()];
        sent.sort();
        assert_eq!(sent, [(0, vec![14, 0, 1]), (1, vec![12, 3, 1])]);
        // The users of a lost worker are gone. The same numbers are sent once.
        let (loss, _) = members.lose(1, "killed").expect("a loss");
        assert_eq!((loss.users, members.users().active), (4, 5));
        members.adjust(&[10, 0, 1]);
        members.adjust(&[10, 0, 1]);
        members.adjust(&[0, 0, 0]);
        assert_eq!([next(), next()], [(0, vec![10, 0, 1]), (0, vec![0, 0, 0])]);
        assert!(members.lose(1, "killed").is_none() && members.handle(1, done(0)).is_none());
    }

    #[test]
    fn a_report_counts_once_and_missing_ones_are_counted() {
        let (mut members, _orders) = two();
        let report = |seq| FromWorker::Report(Box::new(Report { seq, ..Report::default() }));
        let missing = |seq| match members.handle(0, report(seq)) {
            Some(Handled::Report(_, missing)) => Some(missing),
            _ => None,
        };
        assert_eq!([1, 1, 4, 3].map(missing), [Some(0), None, Some(2), None]);
        let loss = members.end(0, 7).expect("samples that did not arrive");
        assert_eq!((loss.samples, members.is_any_alive()), (Missed::Exactly(7), true));
        assert!(members.end(1, 0).is_none() && !members.is_any_alive());
    }
}
