//! JMeter's `summary +` and `summary =` lines, which scripts search in the output.
//!
//! The [`Summariser`] receives the sums of an interval and the time, and returns finished lines; it prints nothing.
//! Formulas and format are those of Summariser and SummariserRunningSample in JMeter 5.6.3. The `=` line counts from
//! the first sample on, so that its rate equals the rate in the table and in criteria. A `+` line counts from the
//! previous `+` line on.
use lang::decimal_format::{fixed, percent};

use crate::snapshot::Brief;

/// Time in seconds after the start of an interval in which a report may be returned; later, the report waits for the
/// next interval.
const WINDOW_S: i64 = 5;

/// Numbers of users in the `+` line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Users {
    pub active: u64,
    pub started: u64,
    pub finished: u64,
}

pub struct Summariser {
    name: String,
    interval_s: i64,
    last_s: i64,
    delta: Running,
    total: Running,
}

#[derive(Clone, Copy)]
struct Running {
    sums: Brief,
    start_ms: i64,
    end_ms: i64,
}

impl Summariser {
    /// Creates a summariser. `name` is the property `summariser.name`; `interval_s` is the property
    /// `summariser.interval` in seconds, 30 by default.
    pub fn new(name: &str, interval_s: u32, now_ms: i64) -> Self {
        let empty = Running { sums: Brief::default(), start_ms: now_ms, end_ms: now_ms };
        Self {
            name: name.to_owned(),
            interval_s: i64::from(interval_s.max(1)),
            last_s: 0,
            delta: empty,
            total: empty,
        }
    }

    /// Sets the start of the test, from which both kinds of lines count.
    pub fn start(&mut self, now_ms: i64) {
        for running in [&mut self.delta, &mut self.total] {
            (running.start_ms, running.end_ms) = (now_ms, now_ms);
        }
    }

    /// Moves the start of the test to the start of the first sample. Later calls have no effect.
    pub fn begin(&mut self, first_ms: i64) {
        if self.total.sums.count == 0 && self.delta.sums.count == 0 {
            self.start(first_ms);
        }
    }

    /// Adds the sums since the last call: `Snapshot::brief`, without transactions unless
    /// `summariser.ignore_transaction_controller_sample_result` is off. Returns the lines that are due: none, `+`, or
    /// `+` and `=`. Without samples no line is due.
    pub fn add(&mut self, sums: &Brief, now_ms: i64, users: Users) -> Vec<String> {
        if sums.count == 0 {
            return Vec::new();
        }
        self.delta.sums.merge(sums);
        self.delta.end_ms = now_ms;
        let now_s = now_ms.div_euclid(1000);
        if now_s <= self.last_s + WINDOW_S || now_s.rem_euclid(self.interval_s) > WINDOW_S {
            return Vec::new();
        }
        self.last_s = now_s;
        let delta = self.delta;
        self.move_delta(now_ms);
        let mut lines = vec![self.delta_line(&delta, users)];
        if self.total.sums.count != delta.sums.count {
            lines.push(self.total.line(&self.name, '='));
        }
        lines
    }

    /// Returns the lines at the end of the test, after the last sample: `+` for the samples since the last report, if
    /// there was a report, and always `=`.
    pub fn finish(&mut self, now_ms: i64, users: Users) -> Vec<String> {
        self.delta.end_ms = now_ms;
        let mut lines = Vec::new();
        if self.delta.sums.count > 0 && self.total.sums.count > 0 {
            lines.push(self.delta_line(&self.delta, users));
        }
        self.move_delta(now_ms);
        lines.push(self.total.line(&self.name, '='));
        lines
    }

    fn move_delta(&mut self, now_ms: i64) {
        self.total.sums.merge(&self.delta.sums);
        self.total.end_ms = now_ms;
        self.delta = Running { sums: Brief::default(), start_ms: now_ms, end_ms: now_ms };
    }

    fn delta_line(&self, delta: &Running, users: Users) -> String {
        let Users { active, started, finished } = users;
        let line = delta.line(&self.name, '+');
        format!("{line} Active: {active} Started: {started} Finished: {finished}")
    }
}

impl Running {
    fn line(&self, name: &str, sign: char) -> String {
        let Brief { count, errors, sum_ms, min_max_ms } = self.sums;
        let elapsed_ms = if count == 0 { 0 } else { self.end_ms - self.start_ms };
        let seconds = (elapsed_ms + 500) / 1000;
        let (h, m, s) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
        let rate = if elapsed_ms > 0 {
            fixed(count as f64 / elapsed_ms as f64 * 1000.0, 1)
        } else {
            "******".to_owned()
        };
        let average = sum_ms.checked_div(count).unwrap_or(0);
        // JMeter initializes minimum and maximum with the largest and smallest long, and prints these without samples.
        let (min, max) =
            min_max_ms.map_or((i64::MAX, i64::MIN), |(min, max)| (min as i64, max as i64));
        let share = if count == 0 { 0.0 } else { errors as f64 / count as f64 };
        let share = percent(share, 2);
        format!(
            "{name} {sign} {count:>6} in {h:02}:{m:02}:{s:02} = {rate:>6}/s Avg: {average:>5} \
             Min: {min:>5} Max: {max:>5} Err: {errors:>5} ({share})"
        )
    }
}

#[cfg(test)]
mod tests;
