//! A job goes out: what Java must know of the user is written into one message.
//!
//! Messages are written into buffers that replies came in. All of a user's variables go along; a result, cookies and the sampler only where something in the
//! job looks at them.

use std::sync::Arc;

use plan::hosted::{Job, Reads, TextRange};
use plan::plan::SamplerId;
use plan::vars::VarId;

use super::apply::cookie_manager;
use super::reply::NAMED;
use super::result::{self, About};
use super::writer::Writer;
use super::{Act, Addressee, Java, Then, UnderWay, cookies};
use crate::core::Core;
use crate::ids::UserId;
use crate::inbox::Message;
use crate::users::{User, Wait};

/// First byte of a job.
const JOB: u8 = 3;
/// First byte of what tells of a user's end.
const USER_END: u8 = 4;
/// It is the first job of an iteration.
const FIRST: u8 = 1;
/// Something has made JMeter trust all servers.
const TRUSTS: u8 = 2;

impl Core<'_> {
    /// The user waits while Java runs elements, or evaluates texts.
    pub(crate) fn hand_over_run(
        &mut self,
        index: UserId,
        then: Then,
        act: Act,
        jobs: impl Iterator<Item = Job>,
    ) {
        let mut ids = std::mem::take(&mut self.jobs.ids);
        ids.clear();
        ids.extend(jobs.filter_map(|job| match job {
            Job::Run(id) => Some(id.0),
            Job::Evaluate(_) => None,
        }));
        self.wait_for(index, then, act, &ids, TextRange::default());
        self.jobs.ids = ids;
    }

    /// The user waits while Java evaluates texts.
    pub(crate) fn hand_over_texts(&mut self, index: UserId, then: Then, range: TextRange) {
        let mut ids = std::mem::take(&mut self.jobs.ids);
        ids.clear();
        ids.extend((0..range.count).map(|nth| range.first + nth));
        self.wait_for(index, then, Act::Evaluate, &ids, range);
        self.jobs.ids = ids;
    }

    /// The user waits while Java does something that is said in numbers, of which the first is an element.
    pub(super) fn hand_over_words(&mut self, index: UserId, then: Then, act: Act, words: &[u32]) {
        self.wait_for(index, then, act, words, TextRange::default());
    }

    fn wait_for(&mut self, index: UserId, then: Then, act: Act, ids: &[u32], range: TextRange) {
        let message = self.message(index, &then, act, ids);
        let ticket = self.send_job(index, message, act, ids.first().copied(), range);
        let has_result = act == Act::Listener || matches!(then, Then::Close(_) | Then::Ended(..));
        let kept = has_result.then(|| {
            let fresh = self.cx.spare_results.pop().unwrap_or_default();
            std::mem::replace(&mut self.cx.result, fresh)
        });
        let user = &mut self.cx.users[index];
        user.wait = Wait::Java;
        let java = user.java();
        java.ticket = ticket;
        java.then = Some(then);
        java.result = kept;
    }

    /// Whether Java is to be asked what a sampler sends, because scripts have changed headers that others share.
    pub(crate) fn asks_for_headers(&self, index: UserId, id: SamplerId) -> bool {
        self.jobs.asking.get(id.0 as usize) == Some(&true)
            && self.cx.users[index]
                .extra
                .as_ref()
                .and_then(|extra| extra.parts.get::<Java>())
                .is_some_and(|java| java.lasting)
    }

    /// Tells Java's listeners of the core's result, which its user does not wait for.
    pub(crate) fn tell_listeners(&mut self, index: UserId, ids: &[u32]) {
        let then = Then::Pull(None);
        let message = self.message(index, &then, Act::Listener, ids);
        self.send_job(index, message, Act::Listener, ids.first().copied(), TextRange::default());
    }

    /// Tells Java that a user has ended.
    pub(super) fn say_goodbye(&mut self, index: UserId, number: u64, what: Arc<str>) {
        let mut message = self.jobs.buffer();
        let mut out = Writer(&mut message);
        out.byte(USER_END);
        out.long(number);
        self.send(index, message, None, number, what, TextRange::default());
    }

    fn send_job(
        &mut self,
        index: UserId,
        message: Vec<u8>,
        act: Act,
        first: Option<u32>,
        range: TextRange,
    ) -> u64 {
        let names = if act == Act::Evaluate { &self.jobs.texts } else { &self.jobs.elements };
        let what = first.and_then(|id| names.get(id as usize)).cloned().unwrap_or_default();
        let number = self.cx.users[index].java().number;
        self.send(index, message, Some(act), number, what, range)
    }

    #[allow(clippy::too_many_arguments)] // One letter with its address.
    pub(super) fn send(
        &mut self,
        index: UserId,
        message: Vec<u8>,
        act: Option<Act>,
        number: u64,
        what: Arc<str>,
        range: TextRange,
    ) -> u64 {
        self.cx.users.tickets += 1;
        let ticket = self.cx.users.tickets;
        let reply_to = self.cx.run.inbox(self.cx.index);
        let under_way = UnderWay {
            act,
            range,
            user: number,
            what: Arc::clone(&what),
            since: self.cx.clock.now(),
            abandoned: false,
        };
        self.jobs.under_way.insert(ticket, under_way);
        self.goes_informed(act.is_some());
        let to = Addressee { index, ticket };
        match &self.jobs.shared.offload {
            Some(offload) => {
                offload.submit(crate::offload::Job { message, user: number, what, to, reply_to });
            }
            None => reply_to.send(Message::Job {
                to,
                reply: Err("there is no Java machine".into()),
                done: std::time::Instant::now(),
            }),
        }
        ticket
    }

    /// Writes a job.
    fn message(&mut self, index: UserId, then: &Then, act: Act, ids: &[u32]) -> Vec<u8> {
        let plan = self.cx.plan;
        let mut message = self.jobs.buffer();
        if self.cx.users[index].java().number == 0 {
            let number =
                self.jobs.shared.next_user.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.cx.users[index].java().number = number;
        }
        let iteration = self.cx.users.of(index).iteration;
        let java = self.cx.users[index].java();
        let first = std::mem::replace(&mut java.iteration, iteration) != iteration;
        let mut thread = self.cx.texts.take();
        let active = self.cx.write_thread_name(index, &mut thread);
        let now_ms = self.cx.clock.wall_ms(self.cx.clock.now());
        let sampler = then.sampler();
        let reads = self.reads(act, ids);
        let jar = sampler.filter(|_| reads.contains(Reads::COOKIES)).and_then(|id| {
            let manager = cookie_manager(&plan.samplers[id.0 as usize].kind)?;
            let index = self.cx.jar_around(index, manager);
            Some((index, self.cx.jar(index, manager)?))
        });
        let user = &self.cx.users[index];
        let root = &self.cx.users[self.cx.users.root(index)];
        let java = user.extra.as_ref().and_then(|extra| extra.parts.get::<Java>());
        let label = sampler.map_or("", |id| self.cx.sampler_name(index, id));
        let trusts = if self.cx.run.trust.holds() { TRUSTS } else { 0 };
        let flags = if first { FIRST } else { 0 } | trusts;
        let mut out = Writer(&mut message);
        out.byte(JOB);
        out.long(java.map_or(0, |java| java.number));
        out.int(root.group);
        out.int(user.number);
        out.int(iteration);
        out.byte(flags);
        out.text(&thread);
        out.text(label);
        out.signed(now_ms);
        out.int(active.0);
        out.int(active.1);
        for count in self.cx.run.counts.so_far() {
            out.int(count);
        }
        write_variables(root, plan, &mut out);
        (self.jobs.properties, _) = out.properties(&self.cx.run.shared, self.jobs.properties);
        out.int(java.map_or(0, |java| java.sample));
        let is_own = act.has_result() || matches!(then, Then::Close(_) | Then::Ended(..));
        let previous = java.and_then(|java| java.previous.as_deref());
        let seen = if is_own { Some(&*self.cx.result) } else { previous };
        let seen = seen.filter(|_| reads.intersects(Reads::RESULT | Reads::BODY));
        // JMeter's thread does not count a transaction's sample among those that were before.
        let of_transaction = act == Act::Listener && !matches!(then, Then::Close(_))
            || matches!(then, Then::Ended(..));
        let before = previous.filter(|_| of_transaction && reads.contains(Reads::PREVIOUS));
        for seen in [seen, before] {
            out.flag(seen.is_some());
            if let Some(seen) = seen {
                let body = reads.contains(Reads::BODY);
                result::write(seen, &About { thread: &thread, active, body }, 0, &mut out);
            }
        }
        let owner = sampler.filter(|id| self.jobs.owned.get(id.0 as usize) == Some(&true));
        out.flag(owner.is_some());
        if let Some(owner) = owner {
            out.int(owner.0);
        }
        let before = java.and_then(|java| java.before).filter(|_| self.jobs.previous_sampler);
        out.flag(before.is_some());
        if let Some(before) = before {
            out.int(before.0);
        }
        let jar =
            jar.and_then(|(index, at)| self.cx.users[index].extra.as_ref()?.jars[at].as_deref());
        out.flag(jar.is_some());
        if let Some(jar) = jar {
            cookies::write(jar, &mut out);
        }
        out.byte(act as u8);
        out.ids(ids.iter().copied());
        self.cx.texts.give(thread);
        message
    }

    /// What something in a job may look at.
    fn reads(&self, act: Act, ids: &[u32]) -> Reads {
        let kept = if self.jobs.keeps_previous { Reads::RESULT } else { Reads::empty() };
        match act {
            Act::Evaluate if self.jobs.keeps_previous => Reads::all(),
            Act::Evaluate => Reads::SAMPLER | Reads::COOKIES,
            _ => {
                let ids = if act == Act::Controller { &ids[..1] } else { ids };
                let elements =
                    ids.iter().filter_map(|id| self.cx.plan.hosted.elements.get(*id as usize));
                elements.fold(kept, |reads, element| reads | element.reads)
            }
        }
    }
}

fn write_variables(user: &User, plan: &plan::plan::Plan, out: &mut Writer<'_>) {
    let mut list = out.begin();
    for slot in 0..plan.names.len() as u32 {
        if let Some(value) = user.vars.get(VarId(slot)) {
            list.count += 1;
            out.int(slot);
            out.text(value);
        }
    }
    for (name, value) in user.vars.unslotted() {
        list.count += 1;
        out.int(NAMED);
        out.text(name);
        out.text(value);
    }
    out.end(list);
}

impl User {
    /// What it has for jobs; made at its first.
    pub(crate) fn java(&mut self) -> &mut Java {
        self.extra().parts.or_default()
    }
}
