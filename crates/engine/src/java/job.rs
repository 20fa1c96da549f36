//! Builds the message of a job, with everything that Java must know about the user.
//!
//! A job contains all variables of its user. It contains a result, cookies or the sampler only if an element of the
//! job reads them.

use std::sync::atomic::Ordering;

use plan::java_backed::Reads;
use plan::plan::{Plan, SamplerId};
use plan::result::SampleResult;
use plan::vars::VarId;

use super::apply::cookie_manager;
use super::message::{JobFlags, JobHead, Kind, NAMED};
use super::result::{self, About};
use super::writer::Writer;
use super::{Act, Java, Jobs, Then, cookies};
use crate::context::Context;
use crate::ids::UserId;
use crate::users::User;

impl Jobs {
    /// Builds the message of a job. A job that processes a result works on `result`, or else on the user's undelivered
    /// sample.
    pub(super) fn message(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: &Then,
        result: Option<&SampleResult>,
        act: Act,
        ids: &[u32],
    ) -> Vec<u8> {
        let mut message = self.buffer();
        self.number_user(cx, index);
        let first = begins_iteration(cx, index);
        let mut thread = cx.texts.take();
        let active = cx.write_thread_name(index, &mut thread);
        let now_ms = cx.clock.wall_ms(cx.clock.now());
        let sampler = then.sampler();
        let reads = self.reads(cx, act, ids);
        let jar = sampler.filter(|_| reads.contains(Reads::COOKIES));
        let jar = jar.and_then(|id| jar_of(cx, index, id));
        let user = &cx.users[index];
        let java = user.extra.as_ref().and_then(|extra| extra.parts.get::<Java>());
        let about = About { thread: &thread, active, body: reads.contains(Reads::BODY) };
        let mut out = Writer(&mut message);
        out.byte(Kind::Job as u8);
        let label = sampler.map_or("", |id| cx.sampler_name(index, id));
        head(cx, index, &about, label, first, now_ms).write(&mut out);
        write_variables(&cx.users[cx.users.root(index)], cx.plan, &mut out);
        (self.properties, _) = out.properties(&cx.run.shared, self.properties);
        out.int(java.map_or(0, |java| java.sample));
        for seen in seen(java, then, act, result, reads) {
            out.flag(seen.is_some());
            if let Some(seen) = seen {
                result::write(seen, &about, 0, &mut out);
            }
        }
        let owner = sampler.filter(|id| self.owned.get(id.0 as usize) == Some(&true));
        let before = java.and_then(|java| java.before).filter(|_| self.previous_sampler);
        for known in [owner, before] {
            out.flag(known.is_some());
            if let Some(known) = known {
                out.int(known.0);
            }
        }
        let jar = jar.and_then(|(index, at)| cx.users[index].extra.as_ref()?.jars[at].as_deref());
        out.flag(jar.is_some());
        if let Some(jar) = jar {
            cookies::write(jar, &mut out);
        }
        out.byte(act as u8);
        out.ids(ids.iter().copied());
        cx.texts.give(thread);
        message
    }

    /// Assigns a user its number in messages, before its first job.
    fn number_user(&self, cx: &mut Context<'_>, index: UserId) {
        let java = cx.users[index].java();
        if java.number == 0 {
            java.number = self.shared.next_user.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the kinds of data that the elements of a job read, apart from variables and properties.
    fn reads(&self, cx: &Context<'_>, act: Act, ids: &[u32]) -> Reads {
        let kept = if self.keeps_previous { Reads::RESULT } else { Reads::empty() };
        match act {
            Act::Evaluate if self.keeps_previous => Reads::all(),
            Act::Evaluate => Reads::SAMPLER | Reads::COOKIES,
            _ => {
                let ids = if act == Act::Controller { &ids[..1] } else { ids };
                let elements =
                    ids.iter().filter_map(|id| cx.plan.java_backed.elements.get(*id as usize));
                elements.fold(kept, |reads, element| reads | element.reads)
            }
        }
    }
}

/// Returns true if a job is the first job in its user's iteration.
fn begins_iteration(cx: &mut Context<'_>, index: UserId) -> bool {
    let iteration = cx.users.of(index).iteration;
    std::mem::replace(&mut cx.users[index].java().iteration, iteration) != iteration
}

/// Returns the owner and the index of the cookie jar that a sampler uses.
fn jar_of(cx: &mut Context<'_>, index: UserId, id: SamplerId) -> Option<(UserId, usize)> {
    let manager = cookie_manager(&cx.plan.samplers[id.0 as usize].kind)?;
    let index = cx.jar_around(index, manager);
    Some((index, cx.jar(index, manager)?))
}

/// Builds the head of a job's message.
fn head<'a>(
    cx: &Context<'_>,
    index: UserId,
    about: &About<'a>,
    label: &'a str,
    first: bool,
    now_ms: i64,
) -> JobHead<'a> {
    let user = &cx.users[index];
    let root = &cx.users[cx.users.root(index)];
    let java = user.extra.as_ref().and_then(|extra| extra.parts.get::<Java>());
    let trusts = if cx.run.trust.holds() { JobFlags::TRUSTS } else { 0 };
    let [started, finished] = cx.run.counts.user_counts();
    JobHead {
        user: java.map_or(0, |java| java.number),
        group: root.group.0,
        number: user.number,
        iteration: root.iteration,
        flags: if first { JobFlags::FIRST } else { 0 } | trusts,
        thread: about.thread,
        label,
        now_ms,
        group_active: about.active.0,
        all_active: about.active.1,
        started,
        finished,
    }
}

/// Returns two results that a job reads: the result of the current or the previous sample; and, if the job works on a
/// transaction's sample, the result of the sample before the transaction.
fn seen<'a>(
    java: Option<&'a Java>,
    then: &Then,
    act: Act,
    result: Option<&'a SampleResult>,
    reads: Reads,
) -> [Option<&'a SampleResult>; 2] {
    let is_own = act.has_result() || matches!(then, Then::Close(_) | Then::Ended(..));
    let previous = java.and_then(|java| java.previous.as_deref());
    let undelivered = java.and_then(|java| Some(&*java.untold.front()?.result));
    let seen = if is_own { result.or(undelivered) } else { previous };
    let seen = seen.filter(|_| reads.intersects(Reads::RESULT | Reads::BODY));
    // A JMeter thread never makes a transaction's sample the previous result.
    let of_transaction =
        act == Act::Listener && !matches!(then, Then::Close(_)) || matches!(then, Then::Ended(..));
    [seen, previous.filter(|_| of_transaction && reads.contains(Reads::PREVIOUS))]
}

fn write_variables(user: &User, plan: &Plan, out: &mut Writer<'_>) {
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
