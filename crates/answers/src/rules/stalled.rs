//! The effect of pauses of the generator on response times: the same metrics without the affected samples.

use record::Record;
use stats::hist::{Bins, Hist};

use super::figures::{hist, ms, requests, sum};

/// Response times with and without the samples that a pause of the generator delayed.
pub(super) struct Effect {
    pub(super) count: u64,
    /// Mean and p95 of all samples in ms.
    pub(super) with: (f64, f64),
    /// Mean and p95 in ms of the samples that were not delayed; `None` if there are none.
    pub(super) without: Option<(f64, f64)>,
}

/// Computes the effect of pauses; `None` if no sample was in flight during a pause.
pub(super) fn effect(record: &Record) -> Option<Effect> {
    let seconds = &record.seconds;
    let count = sum(seconds, |s| s.stalled.count);
    if count == 0 {
        return None;
    }
    let all = hist(seconds, |s| s.all.response());
    let stalled = hist(seconds, |s| &s.stalled.response);
    let time = sum(seconds, |s| s.all.elapsed + s.all.phases.late) as f64 / 1e6;
    let time_stalled = sum(seconds, |s| s.stalled.sum) as f64 / 1e6;
    let requests = requests(seconds);
    let others = requests.saturating_sub(count);
    let without = (others > 0)
        .then(|| ((time - time_stalled).max(0.0) / others as f64, ms(&less(&all, &stalled), 0.95)));
    Some(Effect { count, with: (time / requests.max(1) as f64, ms(&all, 0.95)), without })
}

/// Returns a histogram minus the counts of another one.
fn less(all: &Hist, part: &Hist) -> Hist {
    let mut bins = Bins::default();
    let mut part = part.iter().peekable();
    for (bin, n) in all.iter() {
        while part.next_if(|other| other.0 < bin).is_some() {}
        let taken = part.next_if(|other| other.0 == bin).map_or(0, |other| other.1);
        if n > taken {
            bins.add(bin, n - taken);
        }
    }
    let mut hist = Hist::new();
    hist.add(&bins);
    hist
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_less_a_part_has_the_rest() {
        let of = |bins: &[(u32, u64)]| {
            let mut hist = Hist::new();
            hist.add(&Bins::try_from(bins.to_vec()).unwrap());
            hist
        };
        let rest = less(&of(&[(1, 5), (7, 2), (900, 3)]), &of(&[(0, 1), (7, 2), (900, 1)]));
        assert_eq!(rest.iter().collect::<Vec<_>>(), [(1, 5), (900, 2)]);
    }
}
