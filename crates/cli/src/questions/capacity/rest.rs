//! The time between two probes, in which the target works off what the last one has left.
//!
//! A target that got more than it can do goes on for as long as its queue is, though nobody waits for the answers any
//! more; near the limit such a rest lasts through the whole next probe. So it is left alone for a while, by the response
//! times that were seen, and then looked at: with the lightest load, for a moment each time, until its answers take no
//! longer than in the light probe.

use std::fs;
use std::time::{Duration, Instant};

use answers::search::Purpose;
use record::Record;

use super::Search;
use super::probe::Done;
use crate::interrupt::Interrupt;
use crate::questions::child::{self, Asked};

/// Time of a look, beyond that of an answer.
const LOOK: Duration = Duration::from_secs(2);
/// Looks end after the time of so many probes: a target may have become slower for good.
const PATIENCE: u32 = 3;
/// A mean up to so many times the p95 of the light probe is one of requests that do not wait.
const AS_LIGHT: f64 = 2.0;

impl Search<'_> {
    /// Waits until the target has worked off the last probe, as far as can be seen.
    pub(super) fn rest(&self, interrupt: &Interrupt) {
        let Some(last) = self.done.last() else { return };
        let most = self.settle + self.length;
        wait(ms(last.p99 * 2.0).min(most), interrupt);
        let is_light = |done: &&Done| done.probe.purpose == Purpose::Light && done.probe.holds;
        let light = self.done.iter().find(is_light).and_then(|done| done.p95);
        // What held has left no queue that matters.
        let Some(alone) = light.filter(|_| !last.probe.holds) else { return };
        let end = Instant::now() + most * PATIENCE;
        while Instant::now() < end && interrupt.asked() == 0 {
            match self.look(alone, (LOOK + ms(alone)).min(most), interrupt) {
                Some(false) => {}
                Some(true) | None => return,
            }
        }
    }

    /// Whether answers come as quickly as alone, ms; `None` where nothing can be seen.
    fn look(&self, alone: f64, length: Duration, interrupt: &Interrupt) -> Option<bool> {
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
        made.ok().map(|made| mean(&made.record).is_some_and(|mean| mean <= AS_LIGHT * alone))
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
