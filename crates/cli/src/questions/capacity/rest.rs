//! The pause between two probes, in which the target finishes the requests of the previous probe.
//!
//! An overloaded target keeps working on its queue although no client waits for the answers any more. Near the
//! limit, this work can last through the whole next probe. So the search first waits for a time that depends on the
//! measured response times. Then it checks the target with the lightest load, for a moment each time, until the
//! answers are as fast as in the light probe. If the criteria do not hold even at the lightest load, the search
//! waits for as long as the target may still work on the failed requests of the last probe. If the criteria still
//! do not hold, further probes would be useless.

use std::fs;
use std::time::{Duration, Instant};

use answers::criterion::{Criterion, Figure};
use answers::search::Purpose;
use record::Record;
use stats::grouped::seconds;

use super::probe::Done;
use super::{Search, judge};
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;
use crate::questions::child::{self, Asked};

/// Duration of a check of the target, in addition to the time of a response.
const LOOK: Duration = Duration::from_secs(2);
/// Number of probe durations after which the checks end if the target meets the criteria, because it may have
/// become slower permanently.
const PATIENCE: u32 = 3;
/// Longest time for checking a target that does not meet the criteria.
const LONGEST: Duration = Duration::from_secs(300);
/// Factor by which the mean may exceed the light probe's p95 and still count as the mean of requests that do not
/// queue.
const AS_LIGHT: f64 = 2.0;

/// Behaviour of the target at the lightest load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Answers are as fast as in the light probe.
    AsLight,
    /// Answers are slower than in the light probe, but the criteria hold.
    Slower,
    /// The criteria do not hold at the lightest load.
    Failing,
    /// The check of the target could not be run.
    Nothing,
}

impl Search<'_> {
    /// Waits until the target seems to have finished the requests of the last probe. Returns false if the criteria no
    /// longer hold at the lightest load.
    pub(super) fn rest(&self, interrupt: &Interrupt) -> bool {
        let Some(last) = self.done.last() else { return true };
        let most = self.settle + self.length;
        wait(ms(last.p99 * 2.0).min(most), interrupt);
        let is_light =
            |done: &&Done| done.probe.purpose == Purpose::Light && done.probe.is_within();
        let light = self.done.iter().find(is_light).and_then(|done| done.p95);
        // A probe in which the criteria held leaves no queue that matters.
        let Some(alone) = light.filter(|_| !last.probe.is_within()) else { return true };
        let begin = Instant::now();
        let soon = most * PATIENCE;
        // Assumes that the target works on one request at a time. The requests before and after the measured part
        // are included.
        let all = 2.0 * most.as_secs_f64() / last.seconds.max(1.0);
        // Requests that failed immediately leave no queue.
        let has_queue = last.p99 > AS_LIGHT * alone;
        let failed = if has_queue { last.samples as f64 * last.errors * all } else { 0.0 };
        let left = ms(failed * alone);
        let late = soon.max(left.min(LONGEST));
        let mut is_said = false;
        loop {
            match self.look(alone, (LOOK + ms(alone)).min(most), interrupt) {
                Seen::AsLight | Seen::Nothing => return true,
                Seen::Slower if begin.elapsed() >= soon => return true,
                Seen::Failing if begin.elapsed() >= late => return false,
                Seen::Failing if !is_said => {
                    is_said = true;
                    let most = seconds(late.as_millis() as u64);
                    terminal::err(&format!(
                        "the target is still working on requests of the last probe: the next probe waits for up to {most}\n"
                    ));
                }
                Seen::Slower | Seen::Failing => {}
            }
            if interrupt.asked() > 0 {
                return true;
            }
        }
    }

    /// Runs the lightest load for a moment and judges the response times. `alone` is the p95 of the light probe in
    /// milliseconds.
    fn look(&self, alone: f64, length: Duration, interrupt: &Interrupt) -> Seen {
        let asked = Asked {
            plan: &self.plan,
            options: self.options,
            folder: self.folder.join("between"),
            load: self.load(self.settings.least),
            ramp: Some(Duration::ZERO),
            duration: Some(length),
            name: "between two probes: waiting until the target has finished the last probe's requests".to_owned(),
            after: self.after(),
        };
        let made = child::run(&asked, interrupt, |_| false);
        // The run of a check is not part of the search's result.
        let _ = fs::remove_dir_all(&asked.folder);
        let Ok(made) = made else { return Seen::Nothing };
        // A check is too short to judge rates and counts.
        let of_each = |one: &&Criterion| !matches!(one.figure, Figure::Rate | Figure::Count);
        let criteria: Vec<Criterion> = self.criteria.iter().filter(of_each).cloned().collect();
        let (holds, _) = judge::whole(&criteria, &made.record, &made.record.seconds);
        match mean(&made.record) {
            Some(mean) if holds && mean <= AS_LIGHT * alone => Seen::AsLight,
            _ if holds => Seen::Slower,
            _ => Seen::Failing,
        }
    }
}

/// Returns the mean response time of a run's samples in milliseconds, or `None` without samples.
fn mean(record: &Record) -> Option<f64> {
    let sum = |of: fn(&record::Second) -> u64| record.seconds.iter().map(of).sum::<u64>();
    let (count, elapsed) = (sum(|second| second.all.count), sum(|second| second.all.elapsed));
    (count > 0).then(|| elapsed as f64 / count as f64 / 1e6)
}

fn ms(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

fn wait(time: Duration, interrupt: &Interrupt) {
    let end = Instant::now() + time;
    while Instant::now() < end && interrupt.asked() == 0 {
        std::thread::sleep(Duration::from_millis(50));
    }
}
