//! The transport between the coordinator and its workers, as the coordinator sees it.
//!
//! Sending never blocks: messages that a worker does not read are kept in memory. Events of a worker come in the order in
//! which it sent them, and [`News::Gone`] is the last one.

use std::time::Duration;

use stats::Snapshot;

use crate::figures::Figures;
use crate::loss::Loss;
use crate::message::{FromWorker, ToWorker};
use crate::remote::Stand;

/// Carries messages to workers and back.
pub trait Bus: std::fmt::Debug {
    /// Number of workers; they are numbered from 0.
    fn workers(&self) -> u32;

    /// Sends a message to a worker. One that is gone does not get it.
    fn send(&mut self, worker: u32, message: &ToWorker);

    /// The next event, or `None` when none comes within `patience`.
    fn next(&mut self, patience: Duration) -> Option<(u32, News)>;

    /// Ends a worker by force.
    fn kill(&mut self, worker: u32);

    /// Time from the order to start to the start: every worker must have got the order by then.
    fn lead(&self) -> Duration {
        LEAD + LEAD_EACH * self.workers()
    }

    /// The name of the machine that a worker is on, if it is another one.
    fn name(&self, _worker: u32) -> Option<String> {
        None
    }

    /// Machines that are behind a worker, each with figures of its own; 1 where it is one itself.
    fn parts(&self, _worker: u32) -> u32 {
        1
    }

    /// Samples of a worker that are missing at most, by its grant; `None` where there are no grants.
    fn at_most(&self, _worker: u32) -> Option<u64> {
        None
    }

    /// Time for which a worker may be out of reach and still counts.
    fn grace(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether a report has all threads of a worker.
    fn merges(&self) -> bool {
        false
    }

    /// Whether workers are asked before each start if they are there. The way to another machine may have ended, unnoticed,
    /// since the worker was ready.
    fn arms(&self) -> bool {
        false
    }

    /// Whether each worker runs the whole plan, and knows of no other.
    fn is_whole(&self) -> bool {
        false
    }

    /// Whether what comes was measured before this coordinator has begun.
    fn replays(&self) -> bool {
        false
    }

    /// Takes a snapshot back that was counted.
    fn recycle(&mut self, _snapshot: Box<Snapshot>) {}

    /// When all workers are done: takes some of what they keep for the end, and in the end lets them go. Returns sentences
    /// for the user; `None` when nothing is left.
    fn collect(&mut self) -> Option<Vec<String>> {
        None
    }
}

/// Lead on one machine, and the addition for each worker.
const LEAD: Duration = Duration::from_millis(50);
const LEAD_EACH: Duration = Duration::from_millis(4);

/// An event of a worker.
#[derive(Debug)]
pub enum News {
    /// It sent a message.
    Said(FromWorker),
    /// No message has arrived for a while, not even a sign of life; with what is known about the process.
    Silent(String),
    /// The worker has ended; with the reason.
    Gone(String),
    /// A part of the worker was lost; the others of it go on.
    Part(Loss),
    /// The sums of each machine behind the worker, in their order.
    Figures(Vec<Figures>),
    /// Where the run stands in a worker that was taken over from another coordinator; its process, and the parts that it
    /// has lost.
    Found { pid: u32, stand: Box<Stand>, lost: Vec<Loss> },
}
