//! Samples in flight when the run ended. The time that a sample has waited by then is a lower bound of its response
//! time.
//!
//! A run that ends normally leaves one sample per user in flight. Most of them have waited for less time than
//! completed samples took, and they change no metric. A target that hangs leaves samples that waited much longer
//! than any response took.

use stats::hist::{Hist, layout};

use crate::criterion::{Bounds, Stat, of_hist};

/// Multiple of the slowest response after which a waiting sample counts as stuck.
const STUCK: u64 = 2;
/// Share of stuck samples from which a mean is no longer meaningful.
const MOST_STUCK: f64 = 0.01;

/// Returns the bounds of a metric of completed samples if the samples in flight are included; `None` if none was in
/// flight. Histograms are in µs.
pub fn bounds(answered: &Hist, unanswered: &Hist, stat: Stat) -> Option<Bounds> {
    let samples = unanswered.total();
    if samples == 0 {
        return None;
    }
    let mut all = answered.clone();
    all.merge(unanswered);
    let longest = answered.quantile(1.0).saturating_mul(STUCK);
    let waited = unanswered.iter().filter(|(bin, _)| layout::lowest_of(*bin) > longest);
    let stuck: u64 = waited.map(|(_, n)| n).sum();
    let share = stuck as f64 / all.total() as f64;
    let most = match stat {
        Stat::Mean => MOST_STUCK,
        Stat::Max => 0.0,
        Stat::Percentile(percent) => 1.0 - percent / 100.0,
    };
    Some(Bounds { least_ms: of_hist(&all, stat)?, is_open: share > most, samples })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hist(values: impl IntoIterator<Item = (u64, u64)>) -> Hist {
        let mut hist = Hist::new();
        values.into_iter().for_each(|(ms, n)| hist.record(ms * 1000, n));
        hist
    }

    #[test]
    fn samples_that_a_run_leaves_in_flight_change_no_figure() {
        let answered = hist((90..110).map(|ms| (ms, 5)));
        let in_flight = hist((0..50).map(|n| (n * 2, 1)));
        for stat in [Stat::Mean, Stat::Max, Stat::Percentile(95.0)] {
            let bounds = bounds(&answered, &in_flight, stat).expect("samples in flight");
            assert!(!bounds.is_open && bounds.least_ms < 110.0, "{stat:?}: {bounds:?}");
        }
        assert_eq!(bounds(&answered, &Hist::new(), Stat::Mean), None);
    }

    #[test]
    fn samples_that_waited_for_long_are_the_slowest_of_all() {
        let answered = hist([(5, 900)]);
        let of = |n, ms, stat| {
            let bounds = bounds(&answered, &hist([(ms, n)]), stat).expect("samples in flight");
            (bounds.least_ms > 500.0, bounds.is_open)
        };
        assert_eq!(of(100, 20_000, Stat::Percentile(95.0)), (true, true));
        assert_eq!(of(10, 20_000, Stat::Percentile(95.0)), (false, false));
        assert_eq!(
            of(100, 300, Stat::Percentile(95.0)),
            (false, true),
            "not long enough to be sure"
        );
        assert_eq!(of(1, 20_000, Stat::Max), (true, true));
        assert_eq!(of(100, 20_000, Stat::Mean), (true, true));
        assert_eq!(of(5, 20, Stat::Mean), (false, false));
    }
}
