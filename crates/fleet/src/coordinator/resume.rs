//! Takes over workers that another coordinator has started: they report the state of the run, and the run continues
//! from there.
//!
//! The previous coordinator may have been killed while it sent an order to all workers. A worker that has not received
//! the order to start a batch receives it now. A load change that only some workers have received is not repeated.

use std::time::{Duration, Instant};

use plan::plan::Plan;

use super::{Event, Fleet, Job, StartError, wall_ns};
use crate::bus::Bus;
use crate::loss::Loss;
use crate::member::Stage;
use crate::message::{FromWorker, Share, ToWorker};
use crate::remote::RunState;

/// The states of the run that workers have reported during a takeover; `None` for workers whose state is still awaited.
#[derive(Debug)]
pub(super) struct Takeover {
    stands: Vec<Option<RunState>>,
}

impl Takeover {
    /// Applies a message that changes the state of the run in a worker. Returns false for other messages. The worker's
    /// state includes all messages that arrived earlier.
    pub(super) fn handle(&mut self, worker: u32, message: &FromWorker) -> bool {
        let changes = matches!(
            message,
            FromWorker::Ready { .. } | FromWorker::BatchDone { .. } | FromWorker::StopAsked { .. }
        );
        if changes && let Some(Some(stand)) = self.stands.get_mut(worker as usize) {
            stand.record_message(message);
        }
        changes
    }
}

impl Fleet {
    /// Takes over the run that another coordinator started with this share. The workers are on the bus.
    pub fn resume(
        bus: Box<dyn Bus>,
        plan: &Plan,
        job: Job,
        share: Share,
    ) -> Result<Self, StartError> {
        let mut fleet = Self::start(bus, plan, job)?;
        if plan.hash != share.hash {
            let words =
                "the compiled plan differs from the one of the run: an included file has changed";
            return Err(StartError(words.into()));
        }
        let passed = u64::try_from(wall_ns() - share.zero).unwrap_or(0);
        let now = Instant::now();
        fleet.zero = now.checked_sub(Duration::from_nanos(passed)).unwrap_or(now);
        fleet.share = share;
        fleet.taking = Some(Takeover { stands: vec![None; fleet.members.all.len()] });
        Ok(fleet)
    }

    /// Stores the state of the run that a worker has reported during a takeover.
    pub(super) fn found(&mut self, worker: u32, pid: u32, stand: RunState, lost: Vec<Loss>) {
        let Some(taking) = &mut self.taking else { return };
        let Some(member) = self.members.alive(worker) else { return };
        member.pid = pid;
        taking.stands[worker as usize] = Some(stand);
        self.events.extend(lost.into_iter().map(Event::Lost));
        self.advance();
    }

    /// Returns true while some worker has not reported its state. Once the last worker has reported, sends missed
    /// orders and lets the run continue.
    pub(super) fn waits_for_states(&mut self) -> bool {
        let Some(taking) = &self.taking else { return false };
        let unknown = |(member, stand): (&crate::member::Member, &Option<RunState>)| {
            member.is_alive() && stand.is_none()
        };
        if self.members.all.iter().zip(&taking.stands).any(unknown) {
            return true;
        }
        if let Some(taking) = self.taking.take() {
            self.settle(&taking.stands);
        }
        false
    }

    /// Sends workers the orders that they missed, once all states are known.
    fn settle(&mut self, stands: &[Option<RunState>]) {
        let known = || stands.iter().flatten();
        let last = known().max_by_key(|stand| stand.starts);
        let starts = last.map_or(0, |stand| stand.starts);
        (0..starts).for_each(|_| drop(self.batches.start_next()));
        let start = last.and_then(|stand| stand.start.clone());
        if let Some(start) = &start {
            self.batch.clone_from(&start.groups);
            self.properties.restore(&start.properties);
        }
        self.members.changes = known().map(|stand| stand.changes).max().unwrap_or(0);
        for (worker, stand) in (0..).zip(stands) {
            let Some(stand) = stand else { continue };
            if stand.starts == starts {
                self.properties.add(stand.properties.clone());
            }
            let member = &mut self.members.all[worker as usize];
            if !member.is_alive() || stand.done.is_some() {
                continue;
            }
            member.cores = stand.cores.unwrap_or(member.cores);
            member.missed_changes = self.members.changes - stand.changes;
            member.stage = match stand.cores {
                None => Stage::Starting,
                Some(_) if stand.starts < starts || stand.owes => Stage::Running,
                Some(_) => Stage::Ready,
            };
            if stand.starts < starts
                && let Some(start) = start.clone()
            {
                let (groups, at, properties) = (start.groups, start.at, start.properties);
                self.members.bus.send(worker, &ToWorker::Start { groups, at, properties });
            }
            self.open |= member.stage == Stage::Running;
        }
        self.continue_end(stands);
    }

    /// Resumes ending the run if the previous coordinator, a user or a worker had begun to end it.
    fn continue_end(&mut self, stands: &[Option<RunState>]) {
        let known = || stands.iter().flatten();
        let asked = known().filter_map(|stand| stand.stop_asked).max();
        self.stopped_by_plan |= asked.is_some();
        if self.stopped || known().any(|stand| stand.stopped) || asked.is_some() {
            self.halt(asked.unwrap_or(false));
        }
        if known().any(|stand| stand.ending) {
            self.end();
        }
        for (worker, stand) in (0..).zip(stands) {
            let done = stand.as_ref().and_then(|stand| stand.done.clone());
            if let Some((aborted, samples)) = done {
                self.done(worker, aborted, samples);
            }
        }
    }
}

#[cfg(test)]
mod tests;
