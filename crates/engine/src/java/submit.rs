//! Sends messages to Java: jobs, for which a user waits, and notices, for which no user waits.
//!
//! Each message reuses the buffer of an earlier reply.

use std::sync::Arc;

use plan::java_backed::{JavaBackedId, Job, TextRange};
use plan::plan::SamplerId;
use plan::result::SampleResult;

use super::message::Kind;
use super::writer::Writer;
use super::{Act, InFlight, Java, JobUser, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::inbox::Message;
use crate::users::{User, Wait};

/// A message to Java, with the facts that are needed to handle its reply.
#[derive(Debug)]
pub(super) struct JobMessage {
    pub(super) message: Vec<u8>,
    /// Work of the job; `None` for a notice.
    pub(super) act: Option<Act>,
    /// The user's number in messages; 0 is the test itself.
    pub(super) user: u64,
    /// Name of the element or expression that Java runs, for log lines.
    pub(super) what: Arc<str>,
    /// The expressions that the job evaluates.
    pub(super) range: TextRange,
}

impl Jobs {
    /// Sends a job that runs elements; the user waits for it.
    pub(crate) fn hand_over_run(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: Then,
        act: Act,
        jobs: impl Iterator<Item = Job>,
    ) {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        ids.extend(jobs.filter_map(|job| match job {
            Job::Run(id) => Some(id.0),
            Job::Evaluate(_) => None,
        }));
        self.wait_for(cx, index, then, act, &ids, TextRange::default());
        self.ids = ids;
    }

    /// Sends a job that runs the user's Java sampler; the user waits for it.
    pub(crate) fn run_sampler(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        element: JavaBackedId,
    ) {
        let run = std::iter::once(Job::Run(element));
        self.hand_over_run(cx, index, Then::Sampled(id), Act::Sampler, run);
    }

    /// Sends a job that evaluates expressions; the user waits for it.
    pub(crate) fn hand_over_texts(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: Then,
        range: TextRange,
    ) {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        ids.extend((0..range.count).map(|nth| range.first + nth));
        self.wait_for(cx, index, then, Act::Evaluate, &ids, range);
        self.ids = ids;
    }

    /// Sends a job whose content is a list of numbers, the first of which is the number of an element. The user waits
    /// for it.
    pub(super) fn hand_over_words(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: Then,
        act: Act,
        words: &[u32],
    ) {
        self.wait_for(cx, index, then, act, words, TextRange::default());
    }

    fn wait_for(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: Then,
        act: Act,
        ids: &[u32],
        range: TextRange,
    ) {
        let message = self.message(cx, index, &then, then.result(), act, ids);
        let ticket = self.send_job(cx, index, message, act, ids.first().copied(), range);
        let user = &mut cx.users[index];
        user.wait = Wait::Java;
        let java = user.java();
        java.ticket = ticket;
        java.then = Some(then);
    }

    /// Returns true if the sampler's headers must be requested from Java, because scripts have changed headers that
    /// samplers share.
    pub(crate) fn asks_for_headers(&self, cx: &Context<'_>, index: UserId, id: SamplerId) -> bool {
        self.asking.get(id.0 as usize) == Some(&true)
            && cx.users[index]
                .extra
                .as_ref()
                .and_then(|extra| extra.parts.get::<Java>())
                .is_some_and(|java| java.lasting)
    }

    /// Sends a result to listeners in Java; the user does not wait for them.
    pub(crate) fn send_to_listeners(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        ids: &[u32],
        result: &SampleResult,
    ) {
        let message = self.message(cx, index, &Then::Pull(None), Some(result), Act::Listener, ids);
        self.send_job(
            cx,
            index,
            message,
            Act::Listener,
            ids.first().copied(),
            TextRange::default(),
        );
    }

    /// Notifies Java that a user has ended.
    pub(super) fn notify_user_ended(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        number: u64,
        what: Arc<str>,
    ) {
        let mut message = self.buffer();
        let mut out = Writer(&mut message);
        out.byte(Kind::UserEnd as u8);
        out.long(number);
        let range = TextRange::default();
        self.send(cx, index, JobMessage { message, act: None, user: number, what, range });
    }

    fn send_job(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        message: Vec<u8>,
        act: Act,
        first: Option<u32>,
        range: TextRange,
    ) -> u64 {
        let names = if act == Act::Evaluate { &self.texts } else { &self.elements };
        let what = first.and_then(|id| names.get(id as usize)).cloned().unwrap_or_default();
        let user = cx.users[index].java().number;
        let act = Some(act);
        self.send(cx, index, JobMessage { message, act, user, what, range })
    }

    pub(super) fn send(&mut self, cx: &mut Context<'_>, index: UserId, letter: JobMessage) -> u64 {
        let JobMessage { message, act, user, what, range } = letter;
        cx.users.tickets += 1;
        let ticket = cx.users.tickets;
        let reply_to = cx.run.inbox(cx.index);
        let in_flight = InFlight {
            act,
            range,
            user,
            what: Arc::clone(&what),
            since: cx.clock.now(),
            abandoned: false,
        };
        self.in_flight.insert(ticket, in_flight);
        self.count_in_flight(act.is_some());
        let to = JobUser { index, ticket };
        match &self.shared.offload {
            Some(offload) => {
                offload.submit(crate::offload::Job { message, user, what, to, reply_to });
            }
            None => reply_to.send(Message::Job {
                to,
                reply: Err("no JVM is running".into()),
                done: std::time::Instant::now(),
            }),
        }
        ticket
    }
}

impl User {
    /// Returns the user's state for jobs, which is created on first use.
    pub(crate) fn java(&mut self) -> &mut Java {
        self.extra().parts.or_default()
    }
}
