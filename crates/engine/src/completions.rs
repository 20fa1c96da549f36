//! Completions: what the parts of a core have finished, for its loop to go on with. Hot.
//!
//! A part that finishes something (an answer, a failure, the work of another thread) pushes it here and returns; it steps
//! no user. Only the loop takes completions and gives users their turns. So no part is called again from within its own
//! work, nothing recurs, and a sample that fails at once a million times is a million turns of a loop.

use std::collections::VecDeque;

use plan::plan::SamplerId;
use plan::result::SampleResult;
use plan::template::Thrown;
use stats::Outcome;
use wire::session::Ticket;

use crate::ids::UserId;
use crate::time::timing::Timing;

/// A completion.
#[derive(Debug)]
pub(crate) enum Done {
    /// A sampler's work has ended, with its result.
    Sample(Sampled),
    /// A function has thrown what no sampler catches: its user ends.
    Thrown(UserId, Thrown),
    /// An exchange of a session has ended.
    Exchange(Ticket),
    /// The connection of an exchange stands to a proxy, which is to be asked for a tunnel.
    Proxied(Ticket),
    /// The connection of an exchange stands, but for TLS, whose settings are asked for.
    Unsecured(Ticket),
    /// Something that a user's held connection has for its listener.
    Held(UserId, Heard),
    /// A user has nothing to wait for any more.
    User(UserId),
}

/// An event on a held connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It is open.
    Opened,
    /// All output has gone to the kernel.
    Sent,
    /// The peer has pushed something.
    Push,
    /// Nothing that was waited for will come: it ended, or could not be opened.
    Over,
    /// The first inbox of the core is full, so that reading has stopped.
    Stopped,
}

/// A sampler's work that has ended.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) user: UserId,
    pub(crate) sampler: SamplerId,
    pub(crate) timing: Timing,
    pub(crate) outcome: Outcome,
    /// Its result, if anybody looks at it.
    pub(crate) result: Option<Box<SampleResult>>,
    /// Embedded resources of its result are loaded, or were not asked for.
    pub(crate) whole: bool,
}

/// Completions in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Done>);

/// Completions of a core.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    /// Exchanges of sessions that have ended; before all others, and in a list of their own, for there is one with nearly every sample.
    exchanges: VecDeque<Ticket>,
    /// Of what the loop does just now.
    pub(crate) now: Queue,
    /// To be carried out when all others had their turn.
    pub(crate) later: Queue,
}

impl Completions {
    /// An exchange of a session has ended.
    #[inline]
    pub(crate) fn push_exchange(&mut self, ticket: Ticket) {
        self.exchanges.push_back(ticket);
    }

    /// The exchange that has ended first.
    #[inline]
    pub(crate) fn pop_exchange(&mut self) -> Option<Ticket> {
        self.exchanges.pop_front()
    }

    /// The number of completions of what the loop does just now.
    #[inline]
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.exchanges.len(), self.now.0.len())
    }

    /// Puts off all that came behind a mark until the others had their turn.
    #[inline]
    pub(crate) fn put_off(&mut self, (exchanges, others): (usize, usize)) {
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

    /// A user's place among others that are ready.
    pub(crate) fn push_user(&mut self, index: UserId) {
        self.push(Done::User(index));
    }

    /// The last completion, if it is that of a user's sample which passed.
    pub(crate) fn pop_passed(&mut self, index: UserId) -> Option<Sampled> {
        let passed = |done: &Done| matches!(done, Done::Sample(one) if one.user == index && one.outcome == Outcome::Ok);
        match self.0.back().is_some_and(passed).then(|| self.0.pop_back()).flatten() {
            Some(Done::Sample(sampled)) => Some(sampled),
            _ => None,
        }
    }
}
