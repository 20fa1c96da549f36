//! The interface to work that cores may not run themselves: scripts and elements in a JVM.
//!
//! A core submits a [`Job`], a message of bytes, and continues with other users. The reply returns through the core's
//! inbox. Submitting never blocks.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::ids::JobUser;
use crate::inbox::{Inbox, Message};

/// Runs jobs for cores, on separate threads.
pub trait Offload: Send + Sync + Debug {
    /// Submits a job. [`Job::finish`] is called when it is done, on any thread.
    fn submit(&self, job: Job);

    /// Sends a message and waits for its reply. Used only before the first user starts and after the last user has
    /// ended.
    ///
    /// # Errors
    ///
    /// The reason why there is no reply, as a message.
    fn call(&self, message: Vec<u8>) -> Result<Vec<u8>, String>;

    /// Interrupts the jobs of this user and starts no more jobs for it, because the run ends at once.
    fn interrupt(&self, user: u64);

    /// Returns a message for the person who runs the test, if there is one: for example about a job that takes very
    /// long. Called from time to time.
    fn complaint(&self) -> Option<String> {
        None
    }

    /// Returns the heap size of the JVM and its garbage collections so far; `None` before they are known. Called once a
    /// second.
    fn memory(&self) -> Option<crate::message::Memory> {
        None
    }

    /// Returns the reason why the run must end at once, if there is one. Either a job has asked to end the process,
    /// which waits until [`leave`](Self::leave) allows it, or no further job can run. Called from time to time.
    fn ending(&self) -> Option<String> {
        None
    }

    /// Waits a moment after the run until threads that the plan has started end. Returns a message about the
    /// threads that still run.
    fn linger(&self) -> Option<String> {
        None
    }

    /// Ends the process after the run, when all results are written. The shutdown hooks run, and the process ends with
    /// `code`, or with the code that a job has asked for. In most cases this call does not return.
    fn leave(&self, code: u8) {
        let _ = code;
    }

    /// Interrupts the sampler that runs for this user, because it takes longer than a Sample Timeout allows. The user
    /// continues. By default, samplers cannot be interrupted.
    fn interrupt_sample(&self, user: u64) {
        let _ = user;
    }
}

/// Work for a user, which waits until the work is done.
#[derive(Debug)]
pub struct Job {
    /// The job as an encoded message.
    pub message: Vec<u8>,
    /// The user's number in messages.
    pub user: u64,
    /// The name of the element or expression that runs, for messages to people.
    pub what: Arc<str>,
    pub(crate) to: JobUser,
    pub(crate) reply_to: Inbox,
}

impl Job {
    /// Sends the core the reply to the job, or the reason why there is no reply.
    pub fn finish(self, reply: Result<Vec<u8>, String>) {
        self.reply_to.send(Message::Job { to: self.to, reply, done: Instant::now() });
    }

    /// Queues the reply. The caller wakes the core soon with [`Unread::wake`]. Otherwise the core reads the reply
    /// after a millisecond.
    pub fn leave(self, reply: Result<Vec<u8>, String>, unread: &mut Unread) {
        let Self { to, reply_to, .. } = self;
        reply_to.leave(Message::Job { to, reply, done: Instant::now() });
        if !unread.0.iter().any(|core| core.is(&reply_to)) {
            reply_to.wake_soon();
            unread.0.push(reply_to);
        }
    }
}

/// Cores with queued replies that have not been woken yet.
#[derive(Debug, Default)]
pub struct Unread(Vec<Inbox>);

impl Unread {
    /// Returns true if no core waits for its wake-up.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Wakes all cores with queued replies.
    pub fn wake(&mut self) {
        for core in self.0.drain(..) {
            core.wake();
        }
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.wake();
    }
}

/// Data about a run that JVMs get, besides the plan and the properties.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// JMeter's own folder, empty if there is none.
    pub home: String,
    /// Java's system properties: names and values.
    pub system: Vec<(String, String)>,
    /// Path of the plan's file.
    pub plan: PathBuf,
}

/// A finding of the JVM about the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// True if the plan cannot run because of the finding.
    pub is_error: bool,
    /// The affected element: its index in [`JavaBacked::elements`](plan::java_backed::JavaBacked::elements).
    pub element: Option<u32>,
    /// The affected expression: its index in [`JavaBacked::texts`](plan::java_backed::JavaBacked::texts).
    pub text: Option<u32>,
    /// Line within the script; 0 is unknown.
    pub line: u32,
    /// Message of the finding.
    pub message: String,
}
