//! Numbers that a plan extracts from responses: their sums over an interval.
//!
//! A series is identified by its index in the run's list. Merging is commutative and associative up to the rounding of
//! sums.

use serde::{Deserialize, Serialize};

/// Sums of one series' values in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Number {
    pub count: u64,
    pub sum: f64,
    /// Smallest value; 0 without values.
    pub least: f64,
    /// Largest value; 0 without values.
    pub most: f64,
    /// Number of values that are not numbers. These values are counted in no other field.
    pub odd: u64,
}

impl Number {
    /// Adds a value; `None` stands for a value that is not a number.
    #[inline]
    pub fn add(&mut self, value: Option<f64>) {
        match value.filter(|value| value.is_finite()) {
            Some(value) => {
                self.merge(&Self { count: 1, sum: value, least: value, most: value, odd: 0 });
            }
            None => self.odd += 1,
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.odd += other.odd;
        if other.count == 0 {
            return;
        }
        let is_first = self.count == 0;
        self.least = if is_first { other.least } else { self.least.min(other.least) };
        self.most = if is_first { other.most } else { self.most.max(other.most) };
        self.count += other.count;
        self.sum += other.sum;
    }

    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.odd == 0
    }
}

/// Merges the sums of each series; both lists are in the order of the series.
pub fn merge(all: &mut Vec<Number>, other: &[Number]) {
    if all.len() < other.len() {
        all.resize(other.len(), Number::default());
    }
    for (mine, theirs) in all.iter_mut().zip(other) {
        mine.merge(theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_merge_in_any_order_and_what_is_none_is_counted() {
        let of = |values: &[Option<f64>]| {
            let mut number = Number::default();
            for value in values {
                number.add(*value);
            }
            number
        };
        let (a, b) = (of(&[Some(-3.0), None]), of(&[Some(5.0), Some(1.0), Some(f64::NAN)]));
        let (mut one, mut other) = (vec![a], vec![b, of(&[Some(7.0)])]);
        merge(&mut one, &[b, of(&[Some(7.0)])]);
        merge(&mut other, &[a]);
        assert_eq!(one, other);
        assert_eq!(one[0], Number { count: 3, sum: 3.0, least: -3.0, most: 5.0, odd: 2 });
        assert_eq!((one[0].mean(), Number::default().mean()), (Some(1.0), None));
    }
}
