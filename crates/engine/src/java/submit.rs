//! A job goes out, and its user waits; or Java is told what nobody waits for.
//!
//! Messages are written into buffers that replies came in.

use std::sync::Arc;

use plan::java_backed::{JavaBackedId, Job, TextRange};
use plan::plan::SamplerId;

use super::message::Kind;
use super::writer::Writer;
use super::{Act, Addressee, InFlight, Java, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::inbox::Message;
use crate::users::{User, Wait};

/// A message to Java, and what is to be known of it when its reply comes.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) message: Vec<u8>,
    /// `None`: it asks for nothing.
    pub(super) act: Option<Act>,
    /// The user's number in messages.
    pub(super) user: u64,
    /// The element or text that runs, for people.
    pub(super) what: Arc<str>,
    /// The texts that it evaluates.
    pub(super) range: TextRange,
}

impl Jobs {
    /// The user waits while Java runs elements, or evaluates texts.
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

    /// The user waits while Java runs its sampler.
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

    /// The user waits while Java evaluates texts.
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

    /// The user waits while Java does something that is said in numbers, of which the first is an element.
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
        let message = self.message(cx, index, &then, act, ids);
        let ticket = self.send_job(cx, index, message, act, ids.first().copied(), range);
        let has_result = act == Act::Listener || matches!(then, Then::Close(_) | Then::Ended(..));
        let kept = has_result.then(|| {
            let fresh = cx.spare_results.pop().unwrap_or_default();
            std::mem::replace(&mut cx.result, fresh)
        });
        let user = &mut cx.users[index];
        user.wait = Wait::Java;
        let java = user.java();
        java.ticket = ticket;
        java.then = Some(then);
        java.result = kept;
    }

    /// Whether Java is to be asked what a sampler sends, because scripts have changed headers that others share.
    pub(crate) fn asks_for_headers(&self, cx: &Context<'_>, index: UserId, id: SamplerId) -> bool {
        self.asking.get(id.0 as usize) == Some(&true)
            && cx.users[index]
                .extra
                .as_ref()
                .and_then(|extra| extra.parts.get::<Java>())
                .is_some_and(|java| java.lasting)
    }

    /// Tells Java's listeners of the core's result, which its user does not wait for.
    pub(crate) fn tell_listeners(&mut self, cx: &mut Context<'_>, index: UserId, ids: &[u32]) {
        let then = Then::Pull(None);
        let message = self.message(cx, index, &then, Act::Listener, ids);
        self.send_job(
            cx,
            index,
            message,
            Act::Listener,
            ids.first().copied(),
            TextRange::default(),
        );
    }

    /// Tells Java that a user has ended.
    pub(super) fn say_goodbye(
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
        self.send(cx, index, Letter { message, act: None, user: number, what, range });
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
        self.send(cx, index, Letter { message, act, user, what, range })
    }

    pub(super) fn send(&mut self, cx: &mut Context<'_>, index: UserId, letter: Letter) -> u64 {
        let Letter { message, act, user, what, range } = letter;
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
        self.goes_informed(act.is_some());
        let to = Addressee { index, ticket };
        match &self.shared.offload {
            Some(offload) => {
                offload.submit(crate::offload::Job { message, user, what, to, reply_to });
            }
            None => reply_to.send(Message::Job {
                to,
                reply: Err("there is no Java machine".into()),
                done: std::time::Instant::now(),
            }),
        }
        ticket
    }
}

impl User {
    /// The user's state for jobs; made at its first.
    pub(crate) fn java(&mut self) -> &mut Java {
        self.extra().parts.or_default()
    }
}
