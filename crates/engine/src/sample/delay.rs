//! A sampler's timers: the delay before the sampler begins. Hot.

use plan::element::{SyncTimer, Timer};
use plan::java_backed::Job;
use plan::plan::SamplerId;

use crate::context::Context;
use crate::ids::UserId;
use crate::java::{Act, Jobs, Then};
use crate::sample::begin;
use crate::sample::step::{Arrival, Step};
use crate::time::clock::{MS, Nanos, SECOND};
use crate::users::Wait;

/// The summed delay of timers so far.
#[derive(Clone, Copy, Debug)]
struct Delay {
    nanos: u64,
    /// True if a Throughput Shaping Timer assigned a start time. The user waits for it even beyond its group's
    /// duration.
    shaped: bool,
}

/// The result of running several timers.
enum Timed {
    /// All timers have run. Contains their summed delay.
    All(Delay),
    /// The next timer runs in Java.
    Java { at: usize, delay: u64, job: Job },
    /// The user arrives at the barrier of a Synchronizing Timer.
    Barrier(Arrival),
    /// The Throughput Shaping Timer has no more time slots. The user waits until this time.
    Until(Nanos),
}

/// Runs a sampler's timers from index `from`, then the sampler. `delay` is the delay of the earlier timers, in
/// nanoseconds.
#[inline]
pub(crate) fn run_timers(
    cx: &mut Context<'_>,
    jobs: &mut Jobs,
    index: UserId,
    id: SamplerId,
    from: usize,
    delay: u64,
) -> Step {
    if delay == 0 && from >= cx.plan.samplers[id.0 as usize].timers.len() {
        return begin::begin(cx, jobs, index, id);
    }
    run_rest(cx, jobs, index, id, from, delay)
}

fn run_rest(
    cx: &mut Context<'_>,
    jobs: &mut Jobs,
    index: UserId,
    id: SamplerId,
    from: usize,
    delay: u64,
) -> Step {
    let timers = &cx.plan.samplers[id.0 as usize].timers;
    let mut delay = Delay { nanos: delay, shaped: false };
    if from < timers.len() {
        let name = cx.take_name(index, id);
        let timed = run_native(cx, index, id, &name, from, delay);
        cx.give_name(name);
        match timed {
            Timed::All(all) => delay = all,
            Timed::Java { at, delay, job } => {
                hand_over(cx, jobs, index, id, at, delay, job);
                return Step::Done;
            }
            Timed::Barrier(arrival) => return Step::Arrive(arrival),
            Timed::Until(end) => return await_end(cx, index, id, end),
        }
        if cx.has_thrown() {
            return Step::Lose(id);
        }
    }
    if delay.nanos == 0 {
        return begin::begin(cx, jobs, index, id);
    }
    wait(cx, index, id, delay)
}

/// Runs timers from index `from` up to the first timer at which the user must wait.
fn run_native(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    name: &str,
    from: usize,
    mut delay: Delay,
) -> Timed {
    let timers = &cx.plan.samplers[id.0 as usize].timers;
    for (at, timer) in timers.iter().enumerate().skip(from) {
        match timer {
            Timer::Sync(sync) => {
                if let Some(arrival) = arrival(cx, index, id, sync, at + 1, delay.nanos) {
                    return Timed::Barrier(arrival);
                }
            }
            Timer::Shaping(shaping) => {
                let turn = shaping.turn(&mut cx.env(index, name));
                let end = cx.clock.now() + turn.end.saturating_mul(MS);
                cx.run.close(cx.users[index].group, end);
                let Some(wait) = turn.wait else { return Timed::Until(end) };
                delay.shaped = true;
                delay.nanos = delay.nanos.saturating_add(wait.saturating_mul(MS as u64));
                continue;
            }
            Timer::Job(job) => return Timed::Java { at, delay: delay.nanos, job: *job },
            _ => {
                let more = timer.delay(&mut cx.env(index, name));
                delay.nanos = delay.nanos.saturating_add(more);
            }
        }
        if cx.has_thrown() {
            break;
        }
    }
    Timed::All(delay)
}

/// Returns the arrival of a user at a Synchronizing Timer, or `None` if the user continues at once.
fn arrival(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    sync: &SyncTimer,
    timer: usize,
    delay: u64,
) -> Option<Arrival> {
    let users = cx.run.groups[cx.users[index].group.at()].users;
    let env = &mut cx.env(index, "");
    let (size, timeout) = (sync.size(users, env), sync.timeout_ms(env));
    // A user that ends does not wait for others.
    let size = size.filter(|_| !cx.users[index].stopping)?;
    Some(Arrival { sampler: id, barrier: sync.at, size, timeout, timer, delay })
}

/// Sends timers to Java, from index `at` on, to get their delay.
fn hand_over(
    cx: &mut Context<'_>,
    jobs: &mut Jobs,
    index: UserId,
    id: SamplerId,
    at: usize,
    delay: u64,
    job: Job,
) {
    if let Job::Evaluate(range) = job {
        return jobs.hand_over_texts(cx, index, Then::Timers(id, at + 1, delay), range);
    }
    let timers = cx.plan.samplers[id.0 as usize].timers[at..].iter();
    let runs = timers.map_while(|one| match one {
        Timer::Job(job @ Job::Run(_)) => Some(*job),
        _ => None,
    });
    let then = Then::Timers(id, at + runs.clone().count(), delay);
    jobs.hand_over_run(cx, index, then, Act::Timer, runs);
}

/// Makes the user wait for the summed delay of its timers.
fn wait(cx: &mut Context<'_>, index: UserId, id: SamplerId, delay: Delay) -> Step {
    let now = cx.clock.now();
    let user = &mut cx.users[index];
    // Delays count from the end of the previous operation, not from the time at which this process handles the
    // user.
    let from = user.intended.clamp(now - SECOND, now);
    let until = from.saturating_add(Nanos::try_from(delay.nanos).unwrap_or(Nanos::MAX));
    let ends_at = if user.parallel { None } else { cx.run.wait_deadline(user.group, user.number) };
    // A time assigned by a Throughput Shaping Timer is not cut by the group's duration.
    let is_over = !delay.shaped && ends_at.is_some_and(|end| until > end);
    if user.stopping || is_over {
        return Step::Stop { cut: is_over || cx.stop.asked };
    }
    user.wait = Wait::Delay(id);
    cx.timers.wheel.insert(index, until, &mut cx.users);
    Step::Done
}

/// Makes the user wait until its end, because the Throughput Shaping Timer has no more time slots.
fn await_end(cx: &mut Context<'_>, index: UserId, id: SamplerId, end: Nanos) -> Step {
    let now = cx.clock.now();
    if end <= now {
        return Step::Stop { cut: true };
    }
    let user = &mut cx.users[index];
    user.stopping = true;
    user.wait = Wait::Pause(id);
    cx.timers.wheel.insert(index, end, &mut cx.users);
    Step::Done
}
