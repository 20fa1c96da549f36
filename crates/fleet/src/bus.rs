//! The transport between the coordinator and its workers, as the coordinator sees it.
//!
//! Sending never blocks: messages that a worker does not read are kept in memory. Events of a worker come in the order in
//! which it sent them, and [`News::Gone`] is the last one.

use std::time::Duration;

use crate::message::{FromWorker, ToWorker};

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
}

/// An event of a worker.
#[derive(Debug)]
pub enum News {
    /// It sent a message.
    Said(FromWorker),
    /// No message has arrived for a while, not even a sign of life; with what is known about the process.
    Silent(String),
    /// The worker has ended; with the reason.
    Gone(String),
}
