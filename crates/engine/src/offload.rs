//! The seam to whoever runs what cores may not: scripts and elements of a Java machine.
//!
//! A core hands over a [`Job`], a message of bytes, and goes on with other users; the reply comes back through the core's inbox. Handing over
//! never blocks.

use std::fmt::Debug;
use std::sync::Arc;

use crate::run::{Inbox, Message};
use crate::wheel::Index;

/// Runs jobs on threads of its own.
pub trait Offload: Send + Sync + Debug {
    /// Takes a job; [`Job::finish`] is called once it is done, on any thread.
    fn submit(&self, job: Job);

    /// Carries out a message and waits for its reply. Only before the first user starts, and after the last has ended.
    ///
    /// # Errors
    ///
    /// Why there is no reply, in words.
    fn call(&self, message: Vec<u8>) -> Result<Vec<u8>, String>;

    /// The run ends at once: what runs for this user is to be interrupted.
    fn interrupt(&self, user: u64);
}

/// Something to be done for a user that waits meanwhile.
#[derive(Debug)]
pub struct Job {
    /// What is to be done.
    pub message: Vec<u8>,
    /// The user's number in messages.
    pub user: u64,
    /// What runs, for people: the path of an element, or a text.
    pub what: Arc<str>,
    pub(crate) index: Index,
    pub(crate) ticket: u64,
    pub(crate) reply_to: Inbox,
}

impl Job {
    /// Hands the reply back, or says why there is none.
    pub fn finish(self, reply: Result<Vec<u8>, String>) {
        let (user, ticket) = (self.index, self.ticket);
        self.reply_to.send(Message::Job { user, ticket, reply });
    }
}
