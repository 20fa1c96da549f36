//! Detects responses that arrive too regularly for users that do not wait for each other. A limit that the users share
//! causes such regularity.
//!
//! The number of responses that one user gets in a time slot is an integer. If its mean is m, its variance is at least
//! {m}(1 − {m}), where {m} is the fractional part of m. The variances of independent users add up, however regular each
//! user is. If the total number of responses varies less than this lower bound, the responses depend on each other. The
//! bound is small relative to m if users get many responses in a slot: then the rule cannot decide.

use record::Second;
use record::second::SLOTS;

use super::figures::{in_flight, mean, median};

/// Numbers of adjacent 100 ms slots that are combined into one slot.
const WIDTHS: [usize; 3] = [1, 2, 5];
/// Smallest lower bound of the variance of completions per slot, as a share of their mean, at which the rule decides.
const BOUND: f64 = 0.3;
/// Largest observed variance of completions per slot, as a share of its lower bound, at which responses depend on each
/// other.
const SHARE: f64 = 0.6;
/// Smallest number of independent values for a mean of variances. With them, the standard error is a fifth of the
/// variance.
const VALUES: usize = 60;
/// Smallest number of independent values for a median of variances.
const VALUES_OF_MEDIAN: usize = 100;
/// Smallest number of independent values from which one variance is estimated: those of the slots of one second.
const OF_VARIANCE: usize = SLOTS - 1;
/// Smallest ratio of requests in flight to users at which the rule decides. If users pause more, their timers may make
/// the requests regular.
const FLYING: f64 = 0.7;
/// Lengths in ms of seconds that are used: in shorter or longer seconds, the slots do not have the usual length.
const MS: std::ops::RangeInclusive<u32> = 900..=1100;

/// True if a label's responses in the given seconds are more regular than responses to independent users can be.
pub(super) fn are_regular(seconds: &[Second], label: u32) -> bool {
    let users = mean(&seconds.iter().map(|second| second.users as f64).collect::<Vec<_>>());
    let flying = mean(&seconds.iter().map(in_flight).collect::<Vec<_>>());
    if users < 2.0 || flying < FLYING * users {
        return false;
    }
    let slots = |second: &Second| {
        second.labels.get(label).map_or([0; SLOTS], |part| part.slots).map(f64::from)
    };
    let whole = seconds.iter().filter(|second| MS.contains(&second.ms));
    let slots: Vec<[f64; SLOTS]> = whole.map(slots).collect();
    let known = WIDTHS.iter().filter_map(|width| {
        let (of_bound, share) = share_of_bound(&slots, *width, users)?;
        (of_bound >= BOUND).then_some((of_bound, share))
    });
    let best = known.max_by(|a, b| a.0.total_cmp(&b.0));
    best.is_some_and(|(_, share)| share <= SHARE)
}

/// Returns the lower bound of the variance as a share of the mean, and the observed variance as a share of that bound;
/// `None` for too few values. Each variance comes from a few neighbouring seconds. The median of the variances counts
/// if there are enough of them, because a stop of the target increases some of them.
fn share_of_bound(slots: &[[f64; SLOTS]], width: usize, users: f64) -> Option<(f64, f64)> {
    let of_second = SLOTS / width - 1;
    let values = slots.len() * of_second;
    if values < VALUES {
        return None;
    }
    let group = OF_VARIANCE.div_ceil(of_second);
    let (mut means, mut shares) = (Vec::new(), Vec::new());
    for seconds in slots.chunks_exact(group) {
        // The variance within each second does not include changes of the rate from second to second.
        let (mut squares, mut bounds) = (0.0, 0.0);
        for second in seconds {
            let values: Vec<f64> = second.chunks(width).map(|of| of.iter().sum()).collect();
            let middle = mean(&values);
            squares += values.iter().map(|value| (value - middle).powi(2)).sum::<f64>();
            bounds += least_variance(middle, users) * of_second as f64;
            means.push(middle);
        }
        // Seconds without responses are not regular.
        shares.push(if bounds > 0.0 { squares / bounds } else { f64::INFINITY });
    }
    let usual = median(&means);
    let of_bound = least_variance(usual, users) / usual.max(f64::MIN_POSITIVE);
    if values < VALUES_OF_MEDIAN {
        return Some((of_bound, mean(&shares)));
    }
    // The median of variances of normal values is below their mean (Wilson and Hilferty).
    let below = (1.0 - 2.0 / (9.0 * (group * of_second) as f64)).powi(3);
    Some((of_bound, median(&shares) / below))
}

/// Returns the smallest possible variance of the number of responses in a slot to independent users. `mean`: the mean
/// number of responses in a slot.
fn least_variance(mean: f64, users: f64) -> f64 {
    let rest = (mean / users).fract();
    rest * (1.0 - rest) * users
}

#[cfg(test)]
mod tests {
    use record::Part;

    use super::*;
    use crate::random::Random;

    /// Simulates `users` users that each send the next request right after a response. `takes` returns a random service
    /// time in ms. `limit`: number of workers that serve all users; `None` for no limit.
    fn seconds(
        users: usize,
        limit: Option<usize>,
        takes: impl Fn(&mut Random) -> f64,
    ) -> Vec<Second> {
        const LENGTH: usize = 30;
        let mut random = Random::new(3);
        let mut slots = vec![[0u32; SLOTS]; LENGTH];
        let mut done = |at: f64| {
            let slot = (at / 100.0) as usize;
            if slot < LENGTH * SLOTS {
                slots[slot / SLOTS][slot % SLOTS] += 1;
            }
        };
        // End times, in ms, of the requests that workers process; the other requests wait.
        let mut working: Vec<f64> = Vec::new();
        let mut waiting = users;
        let mut now = 0.0;
        while now < LENGTH as f64 * 1000.0 {
            while waiting > 0 && limit.is_none_or(|limit| working.len() < limit) {
                working.push(now + takes(&mut random));
                waiting -= 1;
            }
            let first = (0..working.len()).min_by(|a, b| working[*a].total_cmp(&working[*b]));
            now = working.swap_remove(first.expect("users ask"));
            done(now);
            waiting += 1;
        }
        let second = |slots: [u32; SLOTS]| {
            let count = slots.iter().map(|n| u64::from(*n)).sum();
            let part = Part { count, slots, ..Part::default() };
            let all = Part { elapsed: users as u64 * 1_000_000_000, ..part.clone() };
            Second {
                ms: 1000,
                users: users as u64,
                all,
                labels: vec![(0, part)].into(),
                ..Second::default()
            }
        };
        slots.into_iter().map(second).collect()
    }

    #[test]
    fn answers_of_few_workers_are_regular_and_those_of_independent_users_are_not() {
        let about = |ms: f64| move |random: &mut Random| ms * (0.8 + 0.4 * random.uniform());
        let spread = |ms: f64| move |random: &mut Random| 2.0 * ms * random.uniform();
        for users in [15, 40, 200] {
            assert!(are_regular(&seconds(users, Some(1), about(12.0)), 0), "{users}");
            // 15 users get more than one response each in a slot: then the rule cannot decide.
            let few = are_regular(&seconds(users, Some(4), about(20.0)), 0);
            assert_eq!(few, users > 15, "{users}");
            assert!(!are_regular(&seconds(users, None, spread(200.0)), 0), "{users}");
            assert!(!are_regular(&seconds(users, None, about(220.0)), 0), "{users}");
            let kinds = |random: &mut Random| if random.uniform() < 0.2 { 20.0 } else { 230.0 };
            assert!(!are_regular(&seconds(users, None, kinds), 0), "{users}");
        }
        // If each request takes exactly as long as a slot, the lower bound is 0.
        assert!(!are_regular(&seconds(40, None, |_| 100.0), 0));
        // The target stops for a second: then the waiting requests still do not get independent responses.
        let mut stopped = seconds(40, Some(1), about(12.0));
        for second in &mut stopped[14..16] {
            second.labels =
                vec![(0, Part { slots: [9, 9, 0, 0, 0, 0, 0, 0, 0, 0], ..Part::default() })].into();
        }
        assert!(are_regular(&stopped, 0));
        // All users send their requests at the same moments, so most seconds have no response.
        let mut in_step = seconds(40, None, |_| 100.0);
        for (n, second) in in_step.iter_mut().enumerate() {
            let slots = if n % 3 == 0 { [0, 0, 0, 0, 40, 0, 0, 0, 0, 0] } else { [0; SLOTS] };
            second.labels = vec![(0, Part { slots, ..Part::default() })].into();
        }
        assert!(!are_regular(&in_step, 0));
        // The users pause.
        let mut idle = seconds(40, Some(4), about(20.0));
        for second in &mut idle {
            second.all.elapsed /= 2;
        }
        assert!(!are_regular(&idle, 0));
    }
}
