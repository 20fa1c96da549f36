//! The time between two probes, in which the target works off what the last one has left.
//!
//! A target that got more than it can do goes on for as long as its queue is, though nobody waits for the answers any
//! more; near the limit such a rest lasts through the whole next probe. So it is left alone for a while, by the response
//! times that were seen, and then looked at: with the lightest load, for a moment each time, until its answers take no
//! longer than in the light probe. A target at which the criteria do not hold even so is waited for as long as the failed
//! requests of the last probe may be worked on; if that is in vain, no further probe can say anything.

use std::fs;
use std::time::{Duration, Instant};

use answers::criterion::{Criterion, Figure};
use answers::search::Purpose;
use record::Record;
use stats::grouped::seconds;

use super::probe::Done;
use super::{Search, judge};
use crate::interrupt::Interrupt;
use crate::questions::child::{self, Asked};
use crate::terminal;

/// Time of a look, beyond that of an answer.
const LOOK: Duration = Duration::from_secs(2);
/// Looks at a target that meets the criteria end after the time of so many probes: it may have become slower for good.
const PATIENCE: u32 = 3;
/// Looks at one that does not end after that time at the latest.
const LONGEST: Duration = Duration::from_secs(300);
/// A mean up to so many times the p95 of the light probe is one of requests that do not wait.
const AS_LIGHT: f64 = 2.0;

/// The answers of the target to the lightest load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// They come as quickly as in the light probe.
    AsLight,
    /// They are slower, and the criteria hold.
    Slower,
    /// The criteria do not hold.
    Failing,
    /// The look could not be made.
    Nothing,
}

impl Search<'_> {
    /// Waits until the target has worked off the last probe, as far as can be seen. Returns false where the criteria did
    /// not hold at the lightest load any more.
    pub(super) fn rest(&self, interrupt: &Interrupt) -> bool {
        let Some(last) = self.done.last() else { return true };
        let most = self.settle + self.length;
        wait(ms(last.p99 * 2.0).min(most), interrupt);
        let is_light = |done: &&Done| done.probe.purpose == Purpose::Light && done.probe.holds;
        let light = self.done.iter().find(is_light).and_then(|done| done.p95);
        // What held has left no queue that matters.
        let Some(alone) = light.filter(|_| !last.probe.holds) else { return true };
        let begin = Instant::now();
        let soon = most * PATIENCE;
        // One after the other, as a target does that works on one at a time; with those before and behind the measured
        // part.
        let all = 2.0 * most.as_secs_f64() / last.seconds.max(1.0);
        // Those that failed at once left nothing.
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
                        "the target still works on requests of the last probe: the next one waits for it, {most} at most\n"
                    ));
                }
                Seen::Slower | Seen::Failing => {}
            }
            if interrupt.asked() > 0 {
                return true;
            }
        }
    }

    /// Looks at the answers to the lightest load; `alone`: the p95 of the light probe, ms.
    fn look(&self, alone: f64, length: Duration, interrupt: &Interrupt) -> Seen {
        let asked = Asked {
            plan: &self.plan,
            options: self.options,
            folder: self.folder.join("between"),
            load: self.load(self.settings.least),
            ramp: Some(Duration::ZERO),
            duration: Some(length),
            name: "between two probes, until the target has worked off the last one".to_owned(),
            after: self.after(),
        };
        let made = child::run(&asked, interrupt, |_| false);
        // It is no part of the answer.
        let _ = fs::remove_dir_all(&asked.folder);
        let Ok(made) = made else { return Seen::Nothing };
        // A look is too short for rates and counts.
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

/// Mean time of the samples of a run, ms; `None` of none.
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
