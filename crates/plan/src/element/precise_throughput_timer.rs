//! Precise Throughput Timer: random sample times, like the request times of independent people, but with an exact
//! number of samples per interval.
//!
//! For each interval of `duration` seconds, sample times are drawn from a uniform distribution with Java's
//! generator, so that a seed gives the same times as in JMeter. As in JMeter, the first timer that a group reaches
//! draws the times for all timers of the group.
//!
//! All users of a group take times from one list under a lock; once per interval, the lock also covers drawing the
//! next interval. Times are sorted lazily by incremental quicksort (R. Paredes and G. Navarro, ALENEX 2006). If the
//! run has several processes, each takes the times of its own users.

use jmx::ElementId;

use super::pace::{Pace, RateScope};
use crate::compile::Context;
use crate::env::Env;
use crate::function::Level;
use crate::state::Deal;
use crate::template::Template;

/// Maximum number of sample times per interval. This number of times takes 400 MB of memory, and drawing the times
/// blocks a core for some seconds.
const MOST: f64 = 50e6;
/// Maximum number of sample times in one sorting step; longer parts are first divided.
const PART: usize = 256;

/// A compiled Precise Throughput Timer.
#[derive(Debug)]
pub struct PreciseTimer {
    element: ElementId,
    throughput: Template,
    /// Period of the throughput in seconds.
    period: Template,
    /// Length of an interval in seconds.
    duration: Template,
    batch: Template,
    seed: Template,
}

/// Scheduled sample times of a group.
#[derive(Debug)]
pub(crate) struct Moments {
    owner: ElementId,
    batch: i32,
    duration: i64,
    random: JavaDoubles,
    /// Position of the next sample within its batch.
    item: i32,
    /// Rate in samples per second for which the times were drawn.
    throughput: f64,
    /// End of the last interval, in seconds after the start of the run.
    finish: f64,
    drawn: Vec<f64>,
    next: usize,
    /// Number of sorted times at the start of the list. `ends` has the ends of the unsorted parts behind them, the
    /// nearest end last. All times of a part are later than all times of the previous part.
    sorted: usize,
    ends: Vec<usize>,
    /// Number of sample times that this process has taken.
    taken: u64,
    /// True if the last interval would have had more than [`MOST`] sample times.
    too_many: bool,
    /// True if the warning about too many sample times was logged.
    told: bool,
}

/// The part of `java.util.Random` that `nextDouble` uses.
#[derive(Debug)]
pub(crate) struct JavaDoubles(u64);

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> PreciseTimer {
    PreciseTimer {
        element: id,
        throughput: ctx.prop_or(id, "throughput", "100"),
        period: ctx.prop_or(id, "throughputPeriod", "3600"),
        duration: ctx.prop_or(id, "duration", "3600"),
        batch: ctx.prop_or(id, "batchSize", "1"),
        seed: ctx.prop_or(id, "randomSeed", "0"),
    }
}

impl PreciseTimer {
    /// Returns the rate that the timer keeps; `None` if it is unknown before samples run.
    pub(super) fn pace(&self, env: &mut Env<'_>) -> Option<Pace> {
        let throughput: f64 = self.throughput.known(env)?.trim().parse().ok()?;
        let period: f64 = self.period.known(env)?.trim().parse().ok()?;
        let per_second = throughput / period;
        (period > 0.0).then_some(Pace { per_second, schedule: Vec::new(), of: RateScope::Group })
    }

    /// Returns the time in nanoseconds until the next sample may start.
    pub(crate) fn delay(&self, env: &mut Env<'_>) -> u64 {
        let throughput = self.throughput.double(env) / f64::from(self.period.int(env));
        let group = env.notes.group();
        let run = env.run;
        let Some((moments, deal)) = run.moments(group) else { return 0 };
        let mut held = moments.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let moments = held.get_or_insert_with(|| {
            let seed = match self.seed.long(env) {
                // JMeter checks only the lower 32 bits of the seed.
                seed if seed as i32 != 0 => seed as u64,
                _ => env.core.random.bits(),
            };
            let (batch, duration) = (self.batch.int(env), self.duration.long(env));
            Moments::new(self.element, batch, duration, seed)
        });
        let wanted = if moments.owner == self.element { throughput } else { moments.throughput };
        let dealt = moments.dealt(wanted, deal);
        if moments.too_many && !std::mem::replace(&mut moments.told, true) {
            let words = format!(
                "Precise Throughput Timer: {wanted} samples a second for {} s are more than {MOST} scheduled samples: \
                no sample after it runs. Shorten the timer's test duration",
                moments.duration
            );
            env.shared.log(Level::Error, words);
        }
        let Some(moment) = dealt else {
            // The throughput is 0, so the user waits until the group ends.
            return u64::MAX >> 2;
        };
        let delay = (moment * 1000.0 + (run.started_ms() - env.run_ms()) as f64) as i64;
        u64::try_from(delay).unwrap_or(0).saturating_mul(1_000_000)
    }
}

impl Moments {
    fn new(owner: ElementId, batch: i32, duration: i64, seed: u64) -> Self {
        Self {
            owner,
            batch,
            duration,
            random: JavaDoubles::new(seed),
            item: 0,
            throughput: 0.0,
            finish: 0.0,
            drawn: Vec::new(),
            next: 0,
            sorted: 0,
            ends: Vec::new(),
            taken: 0,
            too_many: false,
            told: false,
        }
    }

    /// Returns the next sample time for users of this process, in seconds after the start of the run. Skips the times
    /// of other processes.
    fn dealt(&mut self, throughput: f64, deal: Deal) -> Option<f64> {
        for _ in 0..deal.gap(self.taken) {
            self.take(throughput)?;
        }
        self.taken += 1;
        self.take(throughput)
    }

    fn take(&mut self, throughput: f64) -> Option<f64> {
        let is_same = (throughput - self.throughput).abs() < 0.000_01;
        if (self.item == 0 && self.next >= self.drawn.len()) || !is_same {
            self.draw(throughput);
        }
        if self.batch != 1 {
            self.item = self.item.wrapping_add(1);
            if self.item != 1 {
                if self.item == self.batch {
                    self.item = 0;
                }
                return self.drawn.get(self.next.checked_sub(1)?).copied();
            }
        }
        if self.next >= self.sorted {
            self.sort_on();
        }
        let moment = self.drawn.get(self.next).copied()?;
        self.next += 1;
        Some(moment)
    }

    /// Sorts at most [`PART`] of the smallest unsorted sample times.
    fn sort_on(&mut self) {
        while let Some(end) = self.ends.last().copied() {
            let part = &mut self.drawn[self.sorted..end];
            if part.len() <= PART {
                part.sort_unstable_by(f64::total_cmp);
                self.sorted = end;
                self.ends.pop();
                return;
            }
            let half = part.len() / 2;
            part.select_nth_unstable_by(half, f64::total_cmp);
            self.ends.push(self.sorted + half);
        }
    }

    /// Draws the sample times of the next interval.
    fn draw(&mut self, throughput: f64) {
        self.throughput = throughput;
        let rate = if self.batch > 1 { throughput / f64::from(self.batch) } else { throughput };
        let duration = self.duration as f64;
        // An infinite or invalid count becomes 0.
        let count = (rate * duration).ceil().max(0.0);
        self.too_many = count > MOST;
        let count = if self.too_many { 0 } else { count as usize };
        self.drawn.clear();
        for _ in 0..count {
            self.drawn.push(self.finish + self.random.next_double() * duration);
        }
        (self.item, self.next, self.sorted) = (0, 0, 0);
        self.ends.clear();
        self.ends.push(count);
        self.finish += duration;
    }
}

impl JavaDoubles {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    pub(crate) fn new(seed: u64) -> Self {
        Self((seed ^ Self::MULTIPLIER) & Self::MASK)
    }

    fn bits(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(11) & Self::MASK;
        self.0 >> (48 - bits)
    }

    pub(crate) fn next_double(&mut self) -> f64 {
        let high = self.bits(26) << 27;
        (high + self.bits(27)) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Shard;

    fn moments(batch: i32, duration: i64) -> Moments {
        let (doc, _) = jmx::parse(
            "a.jmx",
            b"<jmeterTestPlan><hashTree><A/><hashTree/></hashTree></jmeterTestPlan>".to_vec(),
        )
        .expect("a plan");
        Moments::new(doc.roots()[0], batch, duration, 42)
    }

    #[test]
    fn numbers_are_those_of_java() {
        let mut random = JavaDoubles::new(42);
        // Results of new java.util.Random(42).nextDouble(), called three times.
        let drawn: Vec<f64> = (0..3).map(|_| random.next_double()).collect();
        assert_eq!(drawn, [0.7275636800328681, 0.6832234717598454, 0.30871945533265976]);
    }

    #[test]
    fn each_stretch_has_exactly_its_number_in_order() {
        let mut moments = moments(1, 10);
        let taken: Vec<f64> = (0..40).map(|_| moments.take(2.0).expect("a moment")).collect();
        assert!(taken.is_sorted());
        assert_eq!(taken.iter().filter(|moment| **moment < 10.0).count(), 20);
        assert!(taken.iter().all(|moment| *moment < 20.0));
    }

    #[test]
    fn moments_put_in_order_by_and_by_are_those_sorted_at_once() {
        let mut random = JavaDoubles::new(42);
        let mut expected: Vec<f64> = (0..10_000).map(|_| random.next_double() * 100.0).collect();
        expected.sort_unstable_by(f64::total_cmp);
        let mut moments = moments(1, 100);
        let first = moments.take(100.0).expect("a moment");
        assert!(moments.sorted <= PART, "{} are in order before they are wanted", moments.sorted);
        let rest = (1..10_000).map(|_| moments.take(100.0).expect("a moment"));
        assert_eq!(std::iter::once(first).chain(rest).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn batches_share_a_moment() {
        let mut moments = moments(3, 10);
        let taken: Vec<f64> = (0..12).map(|_| moments.take(0.6).expect("a moment")).collect();
        assert!(taken.chunks(3).all(|batch| batch.iter().all(|moment| *moment == batch[0])));
        // Two batches of three samples in ten seconds.
        assert!(taken[3] < 10.0 && taken[6] > 10.0 && taken[0] < taken[3]);
    }

    #[test]
    fn a_new_rate_begins_a_new_stretch_and_none_has_no_moment() {
        let mut moments = moments(1, 5);
        assert!(moments.take(2.0).expect("a moment") < 5.0);
        assert!(moments.take(4.0).expect("a moment") >= 5.0);
        assert_eq!(moments.take(0.0), None);
    }

    #[test]
    fn processes_take_turns() {
        let deal = |index| Shard { index, count: 2 }.deal(4);
        let mut all = moments(1, 10);
        let all: Vec<f64> = (0..6).map(|_| all.take(1.0).expect("a moment")).collect();
        let mut both = Vec::new();
        for index in 0..2 {
            let mut own = moments(1, 10);
            both.extend((0..3).map(|_| own.dealt(1.0, deal(index)).expect("a moment")));
        }
        both.sort_unstable_by(f64::total_cmp);
        assert_eq!(both, all);
    }
}
