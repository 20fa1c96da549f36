//! Users that end or are cut while Java works for them, and warnings about jobs that take long.
//!
//! When the run ends at once, no user waits for a job any more: Java is asked to interrupt the job, and the user ends
//! with its sample cut. A core waits, for a limited time, until Java has received the ends of its users.

use std::sync::Arc;

use stats::Outcome;

use super::{Jobs, Next, Then};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::clock::{Nanos, SECOND};
use crate::users::Wait;

/// Maximum time for which a core waits for Java after its users have ended, in nanoseconds.
pub(crate) const PATIENCE: Nanos = 10 * SECOND;

/// Running time of a job after which a warning is logged, in nanoseconds. The next warning follows at twice the
/// time.
const LONG: Nanos = 10 * SECOND;

/// State of the warnings about long jobs that run the same element or expression.
#[derive(Debug)]
pub(crate) struct Slow {
    what: Arc<str>,
    /// Running time of a job at which the next warning is logged, in nanoseconds.
    next: Nanos,
}

impl Jobs {
    /// Returns true if the previous sample's result is kept.
    pub(super) fn keeps(&self) -> bool {
        self.keeps_previous || self.previous_of_transactions
    }

    /// Returns true if a job is in flight that the core must wait for at its end.
    pub(crate) fn are_open(&self) -> bool {
        self.in_flight.values().any(|job| !job.abandoned)
    }

    /// Returns warnings about jobs that take long, one for each element or expression.
    fn slow_lines(&mut self, now: Nanos) -> Vec<String> {
        let mut long: Vec<(Arc<str>, Nanos, u32)> = Vec::new();
        for job in self.in_flight.values().filter(|job| now - job.since >= LONG) {
            let age = now - job.since;
            match long.iter_mut().find(|(what, ..)| *what == job.what) {
                Some((_, oldest, count)) => (*oldest, *count) = (age.max(*oldest), *count + 1),
                None => long.push((Arc::clone(&job.what), age, 1)),
            }
        }
        self.slow.retain(|slow| long.iter().any(|(what, ..)| *what == slow.what));
        let mut lines = Vec::new();
        for (what, age, count) in long {
            let slow = self.slow.iter_mut().find(|slow| slow.what == what);
            if slow.as_ref().is_some_and(|slow| age < slow.next) {
                continue;
            }
            let mut next = LONG;
            while next <= age {
                next *= 2;
            }
            match slow {
                Some(slow) => slow.next = next,
                None => self.slow.push(Slow { what: Arc::clone(&what), next }),
            }
            let seconds = age / SECOND;
            lines.push(match count {
                1 => format!("{what} has been running in the JVM for {seconds} s"),
                _ => format!(
                    "{what} has been running or queued in the JVM for {seconds} s, for {count} users"
                ),
            });
        }
        lines
    }
}

impl Jobs {
    /// Logs warnings about jobs that take long.
    pub(crate) fn watch_jobs(&mut self, cx: &Context<'_>, now: Nanos) {
        if self.in_flight.is_empty() {
            return;
        }
        for line in self.slow_lines(now) {
            cx.log(line);
        }
    }

    /// Notifies Java that a user has ended, if Java knows the user. The user's listeners have received all its
    /// samples by now.
    pub(crate) fn end_user(&mut self, cx: &mut Context<'_>, index: UserId) {
        let Some(java) =
            cx.users[index].extra.as_mut().and_then(|extra| extra.parts.take::<super::Java>())
        else {
            return;
        };
        cx.spare_results.extend(java.previous);
        if java.number == 0 {
            return;
        }
        // If Java still works for the user, the notice follows after that job's reply.
        if let Some(job) = self.in_flight.get_mut(&java.ticket) {
            job.abandoned = true;
            return;
        }
        let group = cx.users[index].group;
        let what = Arc::from(&*cx.run.groups[group.at()].name);
        self.notify_user_ended(cx, index, java.number, what);
    }

    /// Interrupts the job that Java runs for a user, because the run ends at once.
    pub(crate) fn cut(&mut self, cx: &mut Context<'_>, index: UserId) -> Next {
        let number = cx.users[index].java().number;
        if let Some(offload) = &self.shared.offload {
            offload.interrupt(number);
        }
        let then = cx.users[index].java().then.take();
        let ticket = cx.users[index].java().ticket;
        let since = self.in_flight.get(&ticket).map(|job| job.since);
        cx.users[index].wait = Wait::Ready;
        match then {
            Some(Then::Sampled(id)) => {
                let mut timing = cx.begin_timing(index);
                timing.start = since.unwrap_or(timing.start);
                let mut result = cx.begin_result(index, id, &timing);
                result.success = false;
                result.code.push_str("500");
                result.message.push_str("Interrupted: the run has ended");
                Next::Cut(id, timing, result)
            }
            Some(Then::Close(mut closing)) => {
                closing.outcome = Outcome::CutByEnd;
                Next::Close(closing)
            }
            Some(Then::Ended(ended, _)) => Next::Checked(ended),
            Some(Then::Before(..) | Then::Timers(..) | Then::Begin(_)) => Next::Stop,
            _ => Next::EndUser,
        }
    }

    /// Interrupts a Java sampler that takes longer than its Sample Timeout allows.
    pub(crate) fn interrupt_sample(&self, cx: &mut Context<'_>, index: UserId) {
        let java = cx.users[index].java();
        if matches!(java.then, Some(Then::Sampled(_))) {
            let number = java.number;
            if let Some(offload) = &self.shared.offload {
                offload.interrupt_sample(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::java_backed::TextRange;

    use super::super::InFlight;
    use super::*;

    #[test]
    fn jobs_that_take_long_are_told_of_at_each_doubling() {
        let mut jobs = Jobs::default();
        let job = |what: &str, since| InFlight {
            act: None,
            range: TextRange::default(),
            user: 1,
            what: what.into(),
            since,
            abandoned: false,
        };
        jobs.in_flight.insert(1, job("loops", 0));
        jobs.in_flight.insert(2, job("loops", 5 * SECOND));
        jobs.in_flight.insert(3, job("short", 9 * SECOND));
        let told = |jobs: &mut Jobs, seconds| jobs.slow_lines(seconds * SECOND).len();
        let counts = [9, 10, 11, 19, 20, 39, 40, 41].map(|seconds| told(&mut jobs, seconds));
        // The second name joins at 19 s; its next warning is due after 20 s of running time.
        assert_eq!(counts, [0, 1, 0, 1, 1, 1, 1, 0]);
        jobs.in_flight.clear();
        assert_eq!(told(&mut jobs, 80), 0);
        jobs.in_flight.insert(4, job("loops", 80 * SECOND));
        assert_eq!(told(&mut jobs, 90), 1, "another job of that name begins anew");
    }
}
