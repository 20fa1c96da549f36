//! A histogram in the structure that pages read: classes on a logarithmic scale, and the value at each percentile.

use serde::Serialize;
use stats::hist::{Hist, layout};

/// Numbers of samples in classes, each a twentieth of a power of ten wide; `edges_us` has one element more than
/// `counts`.
#[derive(Debug, Serialize)]
pub struct Distribution {
    pub edges_us: Vec<f64>,
    pub counts: Vec<u64>,
}

/// The time at each percentile, given as a fraction of the samples.
#[derive(Debug, Serialize)]
pub struct Tail {
    pub p: Vec<f64>,
    pub us: Vec<u64>,
}

const CLASSES: f64 = 20.0;

/// Returns the number of the class that contains a value in µs.
pub(super) fn class(us: u64) -> i32 {
    ((us.max(1) as f64).log10() * CLASSES).floor() as i32
}

pub(super) fn edge(class: i32) -> f64 {
    let value = 10f64.powf(f64::from(class) / CLASSES);
    if value < 1000.0 { (value * 10.0).round() / 10.0 } else { value.round() }
}

/// Counts the samples of a histogram in classes; `None` for an empty histogram.
pub(super) fn distribution(hist: &Hist) -> Option<Distribution> {
    let bins: Vec<(i32, u64)> =
        hist.iter().map(|(bin, n)| (class(layout::middle_of(bin)), n)).collect();
    let (low, high) = (bins.first()?.0, bins.last()?.0);
    let mut counts = vec![0; (high - low + 1) as usize];
    for (class, n) in bins {
        counts[(class - low) as usize] += n;
    }
    Some(Distribution { edges_us: (low..=high + 1).map(edge).collect(), counts })
}

/// Returns the percentiles that the samples support: the highest has ten samples above it. `None` for fewer than 20
/// samples.
pub(super) fn tail(hist: &Hist) -> Option<Tail> {
    let total = hist.total();
    if total < 20 {
        return None;
    }
    let least = (10.0 / total as f64).max(1e-6);
    // The steps between percentiles are equal on a logarithmic axis of 1/(1-p).
    let steps = (-least.log10() * 8.0).floor() as usize;
    let p: Vec<f64> = (0..=steps).map(|i| round(1.0 - 10f64.powf(-(i as f64) / 8.0))).collect();
    let us = p.iter().map(|p| hist.quantile(*p)).collect();
    Some(Tail { p, us })
}

fn round(p: f64) -> f64 {
    (p * 1e7).round() / 1e7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let mut hist = Hist::new();
        for us in [1, 5, 900, 1000, 1001, 5_000_000] {
            hist.record(us, 7);
        }
        let found = distribution(&hist).unwrap();
        assert_eq!(found.counts.iter().sum::<u64>(), 42);
        assert_eq!(found.edges_us.len(), found.counts.len() + 1);
        assert!(found.edges_us.is_sorted() && found.edges_us[0] <= 1.0);
        assert!(found.edges_us.last().is_some_and(|edge| *edge >= 5_000_000.0));
        assert!(distribution(&Hist::new()).is_none());
    }

    #[test]
    fn a_tail_goes_as_far_as_ten_samples_carry() {
        let mut hist = Hist::new();
        for us in 1..=1000 {
            hist.record(us, 1);
        }
        let found = tail(&hist).unwrap();
        assert!(found.p.last().is_some_and(|p| (0.985..=0.99).contains(p)), "{:?}", found.p);
        assert!(found.us.is_sorted());
        assert!(tail(&Hist::new()).is_none());
    }
}
