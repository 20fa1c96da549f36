//! Completions: the queue of finished work in a core. Hot.
//!
//! A part that finishes something (an answer, a failure, the work of another thread) pushes a completion and returns;
//! it steps no user. Only the core's loop takes completions and gives users their turns. So no part is called from
//! within its own work, and there is no recursion: a sample that fails immediately a million times is a million
//! iterations of the loop.

use std::collections::VecDeque;

use plan::plan::SamplerId;
use plan::result::SampleResult;
use plan::template::Thrown;
use stats::Outcome;
use wire::session::Ticket;

use crate::ids::UserId;
use crate::time::timing::Timing;

/// Finished work that the core's loop handles.
#[derive(Debug)]
pub(crate) enum Done {
    /// A sampler has finished its work; the completion holds its result.
    Sample(Sampled),
    /// A function has thrown an exception that no sampler catches. The user ends.
    Thrown(UserId, Thrown),
    /// An exchange of a session has ended, with a response or a failure.
    Exchange(Ticket),
    /// The exchange has a TCP connection to a proxy, which must now be asked for a tunnel.
    Proxied(Ticket),
    /// The exchange has a TCP connection and needs the TLS settings before the handshake.
    Unsecured(Ticket),
    /// An event on a held connection, with its user.
    Held(UserId, HeldEvent),
    /// A user that waits for nothing and can run.
    User(UserId),
}

/// An event on a held connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldEvent {
    /// The held connection is open.
    Opened,
    /// All output has been passed to the kernel.
    Sent,
    /// The peer has sent a message that no request asked for.
    Push,
    /// The connection ended or could not be opened: nothing more will arrive.
    Over,
    /// The connection is no longer read, because its inbox is full. Reported for the first such connection of a core
    /// only.
    Stopped,
}

/// The result of a sampler's work.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) user: UserId,
    pub(crate) sampler: SamplerId,
    pub(crate) timing: Timing,
    pub(crate) outcome: Outcome,
    /// The sample's result; may be absent if nothing reads it.
    pub(crate) result: Option<Box<SampleResult>>,
    /// True if the sample is a page whose embedded resources are all loaded. False for a sample whose embedded
    /// resources may still have to be loaded.
    pub(crate) whole: bool,
}

/// Completions in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Done>);

/// All completions that wait in a core.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    /// Ended exchanges of sessions, which are handled first. They have a separate list, because nearly every sample has
    /// an exchange.
    exchanges: VecDeque<Ticket>,
    /// Completions of the loop's current step, handled after the ended exchanges.
    pub(crate) now: Queue,
    /// Completions that are handled after everything else that is ready.
    pub(crate) later: Queue,
}

impl Completions {
    /// Adds an ended exchange of a session.
    #[inline]
    pub(crate) fn push_exchange(&mut self, ticket: Ticket) {
        self.exchanges.push_back(ticket);
    }

    /// Takes the exchange that ended first.
    #[inline]
    pub(crate) fn pop_exchange(&mut self) -> Option<Ticket> {
        self.exchanges.pop_front()
    }

    /// Returns the current lengths of the lists of exchanges and of other completions, for
    /// [`Completions::move_to_end`].
    #[inline]
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.exchanges.len(), self.now.0.len())
    }

    /// Moves all completions that were added after the mark to the list that is handled last.
    #[inline]
    pub(crate) fn move_to_end(&mut self, (exchanges, others): (usize, usize)) {
        if self.exchanges.len() > exchanges {
            self.later.0.extend(self.exchanges.drain(exchanges..).map(Done::Exchange));
        }
        if self.now.0.len() > others {
            self.later.0.extend(self.now.0.drain(others..));
        }
    }
}

impl Queue {
    #[inline]
    pub(crate) fn push(&mut self, done: Done) {
        self.0.push_back(done);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Done> {
        self.0.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a user that is ready to run.
    pub(crate) fn push_user(&mut self, index: UserId) {
        self.push(Done::User(index));
    }

    /// Takes the last completion if it is a successful sample of this user.
    pub(crate) fn pop_passed(&mut self, index: UserId) -> Option<Sampled> {
        let passed = |done: &Done| matches!(done, Done::Sample(one) if one.user == index && one.outcome == Outcome::Ok);
        match self.0.back().is_some_and(passed).then(|| self.0.pop_back()).flatten() {
            Some(Done::Sample(sampled)) => Some(sampled),
            _ => None,
        }
    }
}
