//! The reply to a job comes in: what it changes is carried out, and the user goes on where it was.
//!
//! A job that failed, or whose reply cannot be read, fails the sample it belongs to; behind a sampler it fails as an assertion would. Outside of samples it is
//! told in the log. Replies for users that are gone change properties and are heard in the log.

use std::time::Instant;

use plan::plan::SamplerId;
use plan::result::Request;
use stats::Outcome;

use super::reply::{Failed, Out};
use super::result::Found;
use super::{Act, Addressee, Reply, Then, UnderWay, session};
use crate::core::Core;
use crate::ids::UserId;
use crate::reports::Report;
use crate::sample::Asked;
use crate::time::clock::{MS, Nanos};
use crate::time::timing::Timing;
use crate::users::Wait;

impl Core<'_> {
    /// A job is done, or why it is not.
    pub(crate) fn on_job(&mut self, to: Addressee, reply: Result<Vec<u8>, String>, done: Instant) {
        let Some(job) = self.jobs.under_way.remove(&to.ticket) else { return };
        self.jobs.shared.news.under_way.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        let done = self.cx.clock.of_instant(done).min(self.cx.clock.now());
        let (message, error) = match reply {
            Ok(message) => (message, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let Some(act) = job.act else {
            let said = error.map_or_else(|| session::farewell(&message), Err);
            match said {
                Ok(lines) => self.log_lines(&lines),
                // When the run ends at once, nothing more is begun for its users.
                Err(_) if self.cx.stop.asked => {}
                Err(failed) => self.cx.log(format!("{}: {failed}", job.what)),
            }
            return self.jobs.recycle(message);
        };
        let read = error.map_or_else(|| Reply::read(&message, act), Err);
        if let Ok(Reply { fatal: Some(words), .. }) = &read {
            self.cx.log(format!("Ended: {words} in {}", job.what));
        }
        match (self.take_then(to), read) {
            (Some(then), read) => self.resume_with(to.index, then, &job, read, done),
            // Nobody waits for it.
            (None, Ok(reply)) => self.apply_everywhere(&reply),
            (None, Err(_)) if job.abandoned => {}
            (None, Err(failed)) => self.cx.log(format!("{}: {failed}", job.what)),
        }
        if job.abandoned {
            self.say_goodbye(to.index, job.user, job.what);
        }
        self.jobs.recycle(message);
    }

    /// Where the user goes on, if it still waits for that job.
    fn take_then(&mut self, to: Addressee) -> Option<Then> {
        let user = self.cx.users.all.get_mut(to.index.at())?;
        if !user.alive || user.wait != Wait::Java {
            return None;
        }
        let java = user.extra.as_mut()?.parts.get_mut::<super::Java>()?;
        if java.ticket != to.ticket {
            return None;
        }
        user.wait = Wait::Ready;
        java.then.take()
    }

    fn resume_with(
        &mut self,
        index: UserId,
        then: Then,
        job: &UnderWay,
        read: Result<Reply<'_>, Failed>,
        done: Nanos,
    ) {
        // What came before has lasted until now; what the reply waited for is this process's delay.
        let user = &mut self.cx.users[index];
        user.intended = user.intended.max(done);
        let read = read.and_then(|reply| {
            reply.check(job.range.count)?;
            Ok(reply)
        });
        if let Ok(reply) = &read {
            self.apply(index, &then, reply);
            self.apply_texts(index, job.range.first, reply);
        }
        let gives_up = read.as_ref().is_ok_and(|reply| reply.gives_up);
        match then {
            Then::Close(closing) if gives_up => {
                self.take_kept(index);
                self.had_no_result(index, closing.id);
            }
            Then::Close(mut closing) => {
                self.take_kept(index);
                self.put(&mut closing.timing, &read, job);
                closing.since = done;
                self.close_on(index, closing);
            }
            Then::Ended(mut ended, next) => {
                self.take_kept(index);
                self.put(&mut ended.timing, &read, job);
                self.check_in_turn(index, ended, next);
                if self.cx.users[index].wait == Wait::Ready {
                    self.must_end(index);
                    self.after_transaction(index);
                }
            }
            Then::Started => {
                if let Err(failed) = read {
                    self.cx.log(format!("{}: {failed}", job.what));
                }
                if self.must_end(index) {
                    self.end_user(index);
                } else {
                    self.tell_iteration(index);
                }
            }
            Then::Pull(controller) => {
                if let Err(failed) = read {
                    self.cx.log(format!("{}: {failed}", job.what));
                }
                // One that must end does so when it has its next sampler.
                self.must_end(index);
                if let Some(controller) = controller {
                    self.cx.users[index].java().fresh.push(controller);
                }
            }
            Then::Controller(id) => self.hear_controller(index, id, read, job),
            then if job.act == Some(Act::Listener) => {
                self.take_told(index, &read, job);
                if self.must_end(index) && !matches!(then, Then::Pull(_)) {
                    return self.end_user(index);
                }
                match then {
                    Then::Start(id) => {
                        self.sample(index, id);
                    }
                    Then::End => self.end_of_plan(index),
                    _ => {}
                }
            }
            then => match read {
                Err(failed) => {
                    if let Some(id) = then.sampler() {
                        self.fail_for_java(index, id, job, &failed, done);
                    }
                }
                Ok(reply) => self.proceed(index, &then, job, &reply, done),
            },
        }
        self.cx.go_on(index);
    }

    /// Goes on before or at a sampler.
    fn proceed(
        &mut self,
        index: UserId,
        then: &Then,
        job: &UnderWay,
        reply: &Reply<'_>,
        done: Nanos,
    ) {
        if let Then::Sampled(id) = *then
            && !reply.gives_up
        {
            return match &reply.result {
                Some(found) => self.take_sample(index, id, found, job, done),
                None => self.had_no_result(index, id),
            };
        }
        if let Some(id) = then.sampler().filter(|_| reply.gives_up) {
            return self.had_no_result(index, id);
        }
        // What is left before the sampler still comes; the sampler does not.
        self.must_end(index);
        match *then {
            Then::Before(id, next) => self.run_before(index, id, next),
            Then::Timers(id, next, delay) => {
                let more = match reply.out {
                    Out::Delay(ms) => u64::try_from(ms).unwrap_or(0).saturating_mul(MS as u64),
                    _ => 0,
                };
                self.run_timers(index, id, next, delay.saturating_add(more));
            }
            Then::Begin(_) if self.cx.users[index].stopping => self.stop_before(index, true),
            Then::Begin(id) => self.begin_now(index, id),
            _ => {}
        }
    }

    /// Carries out what changed for the user, but for the result.
    fn apply(&mut self, index: UserId, then: &Then, reply: &Reply<'_>) {
        self.apply_everywhere(reply);
        self.apply_variables(index, &reply.changes);
        if let Some(id) = then.sampler() {
            self.apply_cookies(index, id, reply);
            self.apply_sampler(index, id, reply);
        }
        self.apply_ask(index, reply.ask);
    }

    /// A script asked the user to end, or everybody was told to: it is stopping.
    pub(super) fn must_end(&mut self, index: UserId) -> bool {
        let asked = self.cx.users[index].java().asked;
        let user = &mut self.cx.users[index];
        user.stopping |= asked >= Request::StopUser;
        user.stopping
    }

    /// Whether a user that looks for a sampler does not wait for Java any more, because the run ends at once.
    pub(crate) fn gives_up(&self, index: UserId) -> bool {
        self.cx.stop.now && self.cx.users[index].stopping
    }

    /// Puts what Java says of the result under work into it; a job that failed fails it as an assertion.
    pub(super) fn put(
        &mut self,
        timing: &mut Timing,
        read: &Result<Reply<'_>, Failed>,
        job: &UnderWay,
    ) {
        let mut result = self.cx.lend_result();
        let reply = match read {
            Ok(reply) => reply,
            Err(failed) => {
                result.success = false;
                result.add_assertion(&job.what).go_wrong(failed);
                return self.cx.return_result(result);
            }
        };
        if let Some(found) = &reply.result {
            let start_ms = result.start_ms;
            let times = (result.elapsed, result.idle);
            found.put_into(&mut result, &self.cx.run.settings.default_encoding);
            timing.start += (result.start_ms - start_ms).saturating_mul(MS);
            if result.start_ms != start_ms || (result.elapsed, result.idle) != times {
                timing.idle = result.idle;
                timing.end = timing.start + result.idle.saturating_add_unsigned(result.elapsed);
            }
            (timing.latency, timing.connect) = (result.latency, result.connect);
            (timing.received, timing.sent) = (result.bytes, result.sent);
        }
        if let Out::Verdicts(verdicts) = &reply.out {
            for verdict in verdicts {
                verdict.add_to(&mut result);
                result.success &= !(verdict.failure || verdict.error);
            }
        }
        self.cx.return_result(result);
    }

    /// Takes the sample that Java has made.
    fn take_sample(
        &mut self,
        index: UserId,
        id: SamplerId,
        found: &Found<'_>,
        job: &UnderWay,
        done: Nanos,
    ) {
        let mut result = self.cx.lend_result();
        result.clear();
        found.put_into(&mut result, &self.cx.run.settings.default_encoding);
        // As JMeter's thread does, when the sampler is through.
        result.thread = None;
        let subs = result.sub_count;
        result.subs[..subs].iter_mut().for_each(|sub| sub.thread = None);
        // Java's clock has milliseconds; the sample cannot have begun before it was asked for.
        let (start_ms, _, elapsed) = found.span();
        let start = self.cx.clock.of_wall(start_ms.saturating_mul(MS));
        let start = start.clamp(job.since.min(done), done);
        let length = elapsed.saturating_add_signed(result.idle);
        let timing = Timing {
            start,
            end: start.saturating_add(Nanos::try_from(length).unwrap_or(Nanos::MAX / 4)),
            idle: result.idle,
            latency: result.latency,
            connect: result.connect,
            lag: (self.cx.clock.now() - done).max(0) as u64,
            wait: (start - self.cx.users[index].intended.min(start)) as u64,
            sent: result.sent,
            received: result.bytes,
        };
        let outcome = if result.success { Outcome::Ok } else { Outcome::Status };
        self.cx.return_result(result);
        self.cx.conclude(index, id, timing, outcome);
    }

    /// The sampler gave nothing, which nobody is told of.
    fn had_no_result(&mut self, index: UserId, id: SamplerId) {
        if !self.cx.plan.samplers[id.0 as usize].timeouts.is_empty() {
            self.unwatch(index);
        }
        let mut asked = Asked::default();
        asked.add(std::mem::take(&mut self.cx.users[index].java().asked));
        self.after_sample(index, id, true, asked);
    }

    /// A job before or at a sampler has failed, and the sample with it.
    fn fail_for_java(
        &mut self,
        index: UserId,
        id: SamplerId,
        job: &UnderWay,
        why: &str,
        done: Nanos,
    ) {
        let mut timing = self.cx.begin_plain(index, id);
        self.cx.result.success = false;
        self.cx.result.code.push_str("500");
        self.cx.result.message.push_str(why);
        self.cx.result.data_type = "text";
        timing.start = if job.act == Some(Act::Sampler) { job.since } else { done };
        timing.end = done.max(timing.start);
        self.cx.result.start_ms = self.cx.clock.wall_ms(timing.start);
        self.cx.conclude(index, id, timing, Outcome::Other);
    }

    /// What a script asked of its user or of all.
    fn apply_ask(&mut self, index: UserId, ask: Request) {
        if matches!(ask, Request::StopTest | Request::StopTestNow) {
            let _ = self.cx.reports.send(Report::StopTest { now: ask == Request::StopTestNow });
        }
        let asked = &mut self.cx.users[index].java().asked;
        *asked = (*asked).max(ask);
    }
}
