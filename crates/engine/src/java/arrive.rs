//! Handles the reply to a job: applies its changes and returns the next step of its user.
//!
//! A job that failed, or whose reply cannot be read, fails its sample. A job after the sampler fails the sample as
//! an assertion would. A failure of a job without a sample is logged. A reply for a user that has ended still
//! changes properties, and its log lines are still written.

use std::time::Instant;

use plan::plan::SamplerId;
use plan::result::Request;
use stats::{Outcome, Phases};

use super::amend::amend;
use super::next::must_end;
use super::reply::{Failed, Out};
use super::result::Found;
use super::{
    Act, InFlight, JobUser, Jobs, Next, Reply, Then, apply, controller, listeners, session,
};
use crate::context::Context;
use crate::ids::UserId;
use crate::reports::Report;
use crate::reports::line::Line;
use crate::time::clock::{MS, Nanos};
use crate::time::timing::Timing;
use crate::users::Wait;

impl Jobs {
    /// Handles a finished or failed job. Returns the next step of its user, if the user still waits for this job.
    pub(crate) fn on_job(
        &mut self,
        cx: &mut Context<'_>,
        to: JobUser,
        reply: Result<Vec<u8>, String>,
        done: Instant,
    ) -> Option<Next> {
        let job = self.in_flight.remove(&to.ticket)?;
        self.shared.news.in_flight.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        let done = cx.clock.of_instant(done).min(cx.clock.now());
        let (message, error) = match reply {
            Ok(message) => (message, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let Some(act) = job.act else {
            let said = error.map_or_else(|| session::read_end_reply(&message), Err);
            match said {
                Ok(lines) => apply::log_lines(cx, &lines),
                // When the run ends at once, nothing more starts for its users, so the failure is not logged.
                Err(_) if cx.stop.asked => {}
                Err(failed) => cx.log(format!("{}: {failed}", job.what)),
            }
            self.recycle(message);
            return None;
        };
        let read = error.map_or_else(|| Reply::read(&message, act), Err);
        if let Ok(Reply { fatal: Some(words), .. }) = &read {
            cx.log(Line::UserEnded(format!("{words} in {}", job.what)));
        }
        let next = match (take_then(cx, to), read) {
            (Some(then), read) => Some(self.resume_with(cx, to.index, then, &job, read, done)),
            // No user waits for this job any more.
            (None, read) => {
                match read {
                    Ok(reply) => apply::apply_everywhere(cx, &reply),
                    Err(_) if job.abandoned => {}
                    Err(failed) => cx.log(format!("{}: {failed}", job.what)),
                }
                None
            }
        };
        if job.abandoned {
            self.notify_user_ended(cx, to.index, job.user, job.what);
        }
        self.recycle(message);
        next
    }

    fn resume_with(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: Then,
        job: &InFlight,
        read: Result<Reply<'_>, Failed>,
        done: Nanos,
    ) -> Next {
        // The time until now belongs to earlier work of the core. Only the time for which the reply has waited
        // counts as generator overhead.
        let user = &mut cx.users[index];
        user.intended = user.intended.max(done);
        let read = read.and_then(|reply| {
            reply.check(job.range.count)?;
            Ok(reply)
        });
        if let Ok(reply) = &read {
            apply(cx, index, &then, reply);
            apply::apply_texts(cx, index, job.range.first, reply);
        }
        let gives_up = read.as_ref().is_ok_and(|reply| reply.gives_up);
        match then {
            Then::Close(closing) if gives_up => {
                cx.spare_results.extend(closing.result);
                Next::NoResult(closing.id)
            }
            Then::Close(mut closing) => {
                if let Some(result) = &mut closing.result {
                    amend(cx, result, &mut closing.timing, &read, job);
                }
                closing.since = done;
                Next::Close(closing)
            }
            Then::Ended(mut ended, next) => {
                amend(cx, &mut ended.result, &mut ended.timing, &read, job);
                Next::Check(ended, next)
            }
            Then::Started => {
                log_failure(cx, &read, job);
                if must_end(cx, index) {
                    return Next::EndUser;
                }
                self.notify_config_elements(cx, index);
                Next::GoOn
            }
            Then::Pull(controller) => {
                log_failure(cx, &read, job);
                // A user that must end ends at its next sampler.
                must_end(cx, index);
                if let Some(controller) = controller {
                    cx.users[index].java().fresh.push(controller);
                }
                Next::GoOn
            }
            Then::Controller(id) => controller::on_controller_reply(cx, index, id, read, job),
            then if job.act == Some(Act::Listener) => {
                listeners::take_told(cx, index, &read, job);
                told(cx, index, &then)
            }
            then => match (read, then.sampler()) {
                (_, None) => Next::GoOn,
                (Err(failed), Some(id)) => {
                    fail(cx, index, id, job, &failed, done);
                    Next::GoOn
                }
                (Ok(reply), Some(id)) if reply.gives_up => Next::NoResult(id),
                (Ok(reply), Some(_)) => proceed(cx, index, &then, job, &reply, done),
            },
        }
    }
}

/// Logs the failure of a job that belongs to no sample.
fn log_failure(cx: &Context<'_>, read: &Result<Reply<'_>, Failed>, job: &InFlight) {
    if let Err(failed) = read {
        cx.log(format!("{}: {failed}", job.what));
    }
}

/// Returns the next step of a user after its Java listeners have received the earlier samples.
fn told(cx: &mut Context<'_>, index: UserId, then: &Then) -> Next {
    if must_end(cx, index) {
        return Next::EndUser;
    }
    match then {
        Then::Start(id) => Next::Start(*id),
        Then::End => Next::EndOfPlan,
        _ => Next::GoOn,
    }
}

/// Returns the point at which the user continues, if the user still waits for this job.
fn take_then(cx: &mut Context<'_>, to: JobUser) -> Option<Then> {
    let user = cx.users.all.get_mut(to.index.at())?;
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

/// Continues a user whose job ran before a sampler or was the sampler itself.
fn proceed(
    cx: &mut Context<'_>,
    index: UserId,
    then: &Then,
    job: &InFlight,
    reply: &Reply<'_>,
    done: Nanos,
) -> Next {
    if let Then::Sampled(id) = *then {
        let Some(found) = &reply.result else { return Next::NoResult(id) };
        take_sample(cx, index, id, found, job, done);
        return Next::GoOn;
    }
    // The remaining pre-processors and timers of the sampler still run; the sampler itself does not.
    must_end(cx, index);
    match *then {
        Then::Before(id, next) => Next::Before(id, next),
        Then::Timers(id, next, delay) => {
            let more = match reply.out {
                Out::Delay(ms) => u64::try_from(ms).unwrap_or(0).saturating_mul(MS as u64),
                _ => 0,
            };
            Next::Timers(id, next, delay.saturating_add(more))
        }
        Then::Begin(_) if cx.users[index].stopping => Next::Stop,
        Then::Begin(id) => Next::Begin(id),
        _ => Next::GoOn,
    }
}

/// Applies a reply's changes for the user, except changes of the result.
fn apply(cx: &mut Context<'_>, index: UserId, then: &Then, reply: &Reply<'_>) {
    apply::apply_everywhere(cx, reply);
    apply::apply_variables(cx, index, &reply.changes);
    if let Some(id) = then.sampler() {
        apply::apply_cookies(cx, index, id, reply);
        apply::apply_sampler(cx, index, id, reply);
    }
    apply_ask(cx, index, reply.ask);
}

/// Completes the sample that Java returned.
fn take_sample(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    found: &Found<'_>,
    job: &InFlight,
    done: Nanos,
) {
    let mut result = cx.take_result();
    found.put_into(&mut result, &cx.run.settings.bodies.default_encoding);
    // JMeter's thread also sets the thread name only after the sampler has returned.
    result.thread = None;
    let subs = result.sub_count;
    result.subs[..subs].iter_mut().for_each(|sub| sub.thread = None);
    // Java's clock has milliseconds. The sample cannot have begun before the job was sent.
    let (start_ms, _, elapsed) = found.span();
    let start = cx.clock.of_wall(start_ms.saturating_mul(MS));
    let start = start.clamp(job.since.min(done), done);
    let length = elapsed.saturating_add_signed(result.idle);
    let timing = Timing {
        start,
        end: start.saturating_add(Nanos::try_from(length).unwrap_or(Nanos::MAX / 4)),
        idle: result.idle,
        latency: result.latency,
        connect: result.connect,
        lag: (cx.clock.now() - done).max(0) as u64,
        wait: (start - cx.users[index].intended.min(start)) as u64,
        sent: result.sent,
        received: result.bytes,
        phases: Phases::of_times(result.elapsed, result.latency, result.connect),
        classes: Default::default(),
        ..Timing::default()
    };
    let outcome = if result.success { Outcome::Ok } else { Outcome::Status };
    cx.conclude(index, id, timing, outcome, Some(result));
}

/// Fails a sample because a job before or at its sampler has failed.
fn fail(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    job: &InFlight,
    why: &str,
    done: Nanos,
) {
    let mut timing = cx.begin_timing(index);
    timing.start = if job.act == Some(Act::Sampler) { job.since } else { done };
    timing.end = done.max(timing.start);
    let mut result = cx.begin_result(index, id, &timing);
    result.success = false;
    result.code.push_str("500");
    result.message.push_str(why);
    result.data_type = "text";
    cx.conclude(index, id, timing, Outcome::Other, Some(result));
}

/// Stores a script's request, such as to leave a loop or to stop the user, unless a higher-ranking request is stored.
/// Reports a request to stop the test.
fn apply_ask(cx: &mut Context<'_>, index: UserId, ask: Request) {
    if matches!(ask, Request::StopTest | Request::StopTestNow) {
        let _ = cx.reports.send(Report::StopTest { now: ask == Request::StopTestNow });
    }
    let asked = &mut cx.users[index].java().asked;
    *asked = (*asked).max(ask);
}
