//! Exact counts of whole milliseconds, for JMeter's formulas.
//!
//! Like JMeter, this keeps a sorted map from value to count. With many different values, the values below 16 384 ms
//! move to an array. Percentiles are computed as in JMeter's StatCalculator.
use std::collections::BTreeMap;

use super::Bins;

const DENSE: u32 = 16_384;
/// Maximum number of values that are kept in the map alone.
const FEW: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exact {
    low: Vec<u64>,
    high: BTreeMap<u32, u64>,
    total: u64,
}

impl Exact {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value in ms `n` times.
    pub fn record(&mut self, ms: u32, n: u64) {
        if ms < DENSE && !self.low.is_empty() {
            self.record_low(ms, n);
        } else {
            *self.high.entry(ms).or_default() += n;
            if self.high.len() > FEW && self.low.is_empty() {
                self.grow_dense();
            }
        }
        self.total += n;
    }

    fn record_low(&mut self, ms: u32, n: u64) {
        let at = ms as usize;
        if at >= self.low.len() {
            self.low.resize((at + 1).next_power_of_two(), 0);
        }
        self.low[at] += n;
    }

    /// Moves small values from the map to the array.
    #[cold]
    fn grow_dense(&mut self) {
        self.low.resize(FEW, 0);
        let high = self.high.split_off(&DENSE);
        let low = std::mem::replace(&mut self.high, high);
        for (ms, n) in low {
            self.record_low(ms, n);
        }
    }

    pub fn add(&mut self, bins: &Bins) {
        for (ms, n) in bins.iter() {
            self.record(ms, n);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (ms, n) in other.iter() {
            self.record(ms, n);
        }
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns values with their counts in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let low = self.low.iter().enumerate().filter(|v| *v.1 > 0).map(|(ms, n)| (ms as u32, *n));
        low.chain(self.high.iter().map(|(ms, n)| (*ms, *n)))
    }

    /// Returns JMeter's percent point (StatCalculator.getPercentPoint), with `percent` as a share of 1. The rank is
    /// `percent` times the count, rounded half up; the result is the value at that rank. Returns the largest value for
    /// 1.0 or more, and 0 without values.
    pub fn percent_point(&self, percent: f64) -> u64 {
        if self.total == 0 {
            return 0;
        }
        if percent >= 1.0 {
            return self.iter().last().map_or(0, |(ms, _)| u64::from(ms));
        }
        let mut target = (self.total as f64 * percent + 0.5).floor() as i64;
        for (ms, n) in self.iter() {
            target -= n as i64;
            if target <= 0 {
                return u64::from(ms);
            }
        }
        0
    }
}
