//! The seam to whoever runs what cores may not: scripts and elements of a Java machine.
//!
//! A core hands over a [`Job`], a message of bytes, and goes on with other users; the reply comes back through the core's inbox. Handing over
//! never blocks.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::ids::Addressee;
use crate::inbox::{Inbox, Message};

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

    /// The run ends at once: what runs for this user is to be interrupted, and nothing more is begun for it.
    fn interrupt(&self, user: u64);

    /// Something to be told to the user, if there is: what runs for very long, for example. Asked now and then.
    fn complaint(&self) -> Option<String> {
        None
    }

    /// The heap of the Java machine and its collections so far, as last read; `None` while nothing is known of them. Asked once a second.
    fn memory(&self) -> Option<crate::message::Memory> {
        None
    }

    /// Why the run is to end at once, if it is: something that ran has asked for the end of the process, which waits until [`leave`](Self::leave) allows it, or nothing
    /// can run any more. Asked now and then.
    fn ending(&self) -> Option<String> {
        None
    }

    /// The run is over: gives what else was started a moment to end. What still runs then, in words.
    fn linger(&self) -> Option<String> {
        None
    }

    /// The run is over and all is written. Mostly does not come back: what is registered for the end of the process is done, and the process ends with this
    /// code, or the one that something asked for that ran.
    fn leave(&self, code: u8) {
        let _ = code;
    }

    /// A sample takes longer than a Sample Timeout allows: the sampler that runs for this user is to be interrupted, and the user goes on. By default
    /// samplers cannot be.
    fn interrupt_sample(&self, user: u64) {
        let _ = user;
    }
}

/// Something to be done for a user that waits meanwhile.
#[derive(Debug)]
pub struct Job {
    /// The work that is to be done.
    pub message: Vec<u8>,
    /// The user's number in messages.
    pub user: u64,
    /// The name of what runs, for people: the path of an element, or a text.
    pub what: Arc<str>,
    pub(crate) to: Addressee,
    pub(crate) reply_to: Inbox,
}

impl Job {
    /// Hands the reply back, or says why there is none.
    pub fn finish(self, reply: Result<Vec<u8>, String>) {
        self.reply_to.send(Message::Job { to: self.to, reply, done: Instant::now() });
    }

    /// Hands the reply back without waking its core, by one who does that in a moment. Should it be kept from it, the core looks after a millisecond.
    pub fn leave(self, reply: Result<Vec<u8>, String>, unread: &mut Unread) {
        let Self { to, reply_to, .. } = self;
        reply_to.leave(Message::Job { to, reply, done: Instant::now() });
        if !unread.0.iter().any(|core| core.is(&reply_to)) {
            reply_to.wake_soon();
            unread.0.push(reply_to);
        }
    }
}

/// Cores that were not woken for replies that were left for them.
#[derive(Debug, Default)]
pub struct Unread(Vec<Inbox>);

impl Unread {
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Wakes them.
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

/// Surroundings of a run that Java machines are told of, beside the plan and the properties.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// JMeter's own folder, empty if there is none.
    pub home: String,
    /// System properties.
    pub system: Vec<(String, String)>,
    /// The plan's file.
    pub plan: PathBuf,
}

/// Something that a Java machine has to say of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// It will not run.
    pub is_error: bool,
    /// The element it is about: its place in [`JavaBacked::elements`](plan::java_backed::JavaBacked::elements).
    pub element: Option<u32>,
    /// The text it is about: its place in [`JavaBacked::texts`](plan::java_backed::JavaBacked::texts).
    pub text: Option<u32>,
    /// Line within the script; 0 is unknown.
    pub line: u32,
    /// The finding in words.
    pub message: String,
}
