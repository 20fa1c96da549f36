//! The total load that a run plans: users, starts per second, duration.
//!
//! A rate from timers is a rate of samples, and a conservative estimate. A group keeps the lowest of its rates, and
//! samples in branches that may never run are not counted. Values that are unknown before samples run are omitted.
//! A rate that follows a schedule is known only if its group has no other rate.

use plan::load::{self, Rate};
use plan::plan::{Group, Phase, Plan, Profile};

use crate::run::evaluated::{Evaluated, Numbers};
use crate::run::load::NEVER_MS;
use crate::run::paces::{Paces, Sharing};
use crate::time::clock::MS;

/// The load that a run plans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TotalLoad {
    /// Number of concurrent users of all main groups.
    pub users: u64,
    /// Maximum of starts per second: of iterations if the load is open, otherwise of samples.
    pub rate: Option<f64>,
    /// Changes of the rate of samples since the start of the run; empty if it is constant.
    pub schedule: Vec<load::Phase>,
    /// Time from the start of the run to the planned end of the last group, in milliseconds. `None` if some group ends
    /// by its loop count, or if setUp groups run first, whose end is not known in advance.
    pub length_ms: Option<i64>,
    /// Time from the start of the main groups to the planned end of the last group, in milliseconds. This time is also
    /// known with setUp groups.
    pub main_length_ms: Option<i64>,
    /// True if iterations start independently of the responses.
    pub open: bool,
    /// True if users of a main group loop until the run is stopped.
    pub endless: bool,
    /// Number of concurrent users of groups with a rate, if other groups have no rate.
    pub rate_users: Option<u64>,
}

impl Evaluated {
    /// Returns the load that the run plans.
    pub fn asked(&self, plan: &Plan) -> TotalLoad {
        let groups = plan.groups.iter().zip(&self.groups).zip(&self.paces);
        let groups: Vec<Loaded<'_>> = groups
            .filter(|((group, numbers), _)| group.phase == Phase::Main && numbers.at_once > 0)
            .map(|((group, numbers), paces)| Loaded {
                numbers,
                paces,
                is_open: is_open(group, numbers),
                is_endless: numbers.is_endless(),
            })
            .collect();
        let open = !groups.is_empty() && groups.iter().all(|group| group.is_open);
        let rates: Vec<f64> = if open {
            groups.iter().map(|group| group.numbers.most_starts()).collect()
        } else if plan.serialize_groups && groups.len() > 1 {
            Vec::new()
        } else {
            groups.iter().filter_map(|group| group.rate(&groups)).collect()
        };
        let is_setup = |(group, numbers): (&Group, &Numbers)| {
            group.phase == Phase::Setup && numbers.at_once > 0
        };
        let later = plan.groups.iter().zip(&self.groups).any(is_setup);
        // If the start of the schedule is not known, its times cannot be compared with seconds of the run.
        let schedule = if open || later { Vec::new() } else { schedule(&groups) };
        let most = Rate::new(schedule.clone()).most();
        let length = |group: &Loaded<'_>| Some(group.numbers.delay + group.numbers.length()?);
        let lengths: Option<Vec<i64>> = groups.iter().map(length).collect();
        let main_length_ms = lengths
            .and_then(|all| {
                let behind_each_other = plan.serialize_groups.then(|| all.iter().sum());
                behind_each_other.or_else(|| all.into_iter().max())
            })
            .map(|length| length / MS)
            .filter(|ms| *ms > 0 && *ms < NEVER_MS);
        let is_paced = |group: &&Loaded<'_>| group.is_open || group.rate(&groups).is_some();
        let (paced, others): (Vec<&Loaded<'_>>, Vec<_>) = groups.iter().partition(is_paced);
        let of_rate = || paced.iter().map(|group| group.users()).sum::<f64>() as u64;
        let rate_users = (!paced.is_empty() && !others.is_empty()).then(of_rate);
        TotalLoad {
            rate_users,
            users: groups.iter().map(Loaded::users).sum::<f64>() as u64,
            rate: (!rates.is_empty())
                .then(|| if schedule.is_empty() { rates.iter().sum() } else { most }),
            schedule: if rates.is_empty() { Vec::new() } else { schedule },
            length_ms: main_length_ms.filter(|_| !later),
            main_length_ms,
            open,
            endless: groups.iter().any(|group| group.is_endless),
        }
    }
}

/// A main group with its load.
struct Loaded<'a> {
    numbers: &'a Numbers,
    paces: &'a Paces,
    is_open: bool,
    is_endless: bool,
}

impl Loaded<'_> {
    fn users(&self) -> f64 {
        f64::from(self.numbers.at_once)
    }

    /// Returns the samples per second that the group's timers keep.
    fn rate(&self, all: &[Self]) -> Option<f64> {
        let users = |with: &dyn Fn(&Self) -> bool| -> f64 {
            all.iter().filter(|group| with(group)).map(Self::users).sum()
        };
        let own = self.users();
        let rate = |(rate, sharing): &(f64, Sharing)| match sharing {
            Sharing::User => rate * own,
            Sharing::Group => *rate,
            Sharing::All => rate * own / users(&|_| true),
            Sharing::Shared(_) => rate * own / users(&|group| group.paces.shares(*sharing)),
        };
        self.paces.0.iter().map(rate).reduce(f64::min).filter(|_| !self.is_open)
    }
}

/// Returns the summed rate of all groups over time, if a rate changes.
fn schedule(groups: &[Loaded<'_>]) -> Vec<load::Phase> {
    let of = |group: &Loaded<'_>| {
        let rate = group.rate(groups)?;
        let own = &group.paces.1;
        if own.is_empty() {
            return Some(vec![(i64::MAX, rate, rate)]);
        }
        let share = rate / Rate::new(own.clone()).most().max(f64::MIN_POSITIVE);
        let later = (group.numbers.delay, 0.0, 0.0);
        let lines = own.iter().map(|(length, from, to)| (*length, from * share, to * share));
        Some(std::iter::once(later).chain(lines).filter(|(length, ..)| *length > 0).collect())
    };
    if groups.iter().all(|group| group.paces.1.is_empty()) {
        return Vec::new();
    }
    sum(&groups.iter().filter_map(of).collect::<Vec<_>>())
}

/// Adds up rates until the last changing rate ends. A rate that has ended counts as 0.
fn sum(all: &[Vec<load::Phase>]) -> Vec<load::Phase> {
    let ends = |phases: &[load::Phase]| -> Vec<i64> {
        let add = |at: &mut i64, phase: &load::Phase| {
            *at = at.saturating_add(phase.0);
            Some(*at)
        };
        phases.iter().scan(0, add).collect()
    };
    let mut cuts: Vec<i64> = all.iter().flat_map(|phases| ends(phases)).collect();
    cuts.retain(|end| *end < i64::MAX);
    cuts.sort_unstable();
    cuts.dedup();
    let between = |(from, to): (i64, i64)| {
        // The rates at both ends of a part are sufficient, because they change linearly within it.
        let at = |phases: &Vec<load::Phase>, time: i64| {
            let ends = ends(phases);
            let Some(nth) = ends.iter().position(|end| *end > from) else { return 0.0 };
            let (length, begin, end) = phases[nth];
            let into = time - (ends[nth] - length);
            begin + (end - begin) * into as f64 / length as f64
        };
        let rate = |time| all.iter().map(|phases| at(phases, time)).sum::<f64>();
        (to - from, rate(from), rate(to))
    };
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(cuts.iter().copied()).filter(|(from, to)| from < to).map(between).collect()
}

fn is_open(group: &Group, numbers: &Numbers) -> bool {
    numbers.arrivals.is_some()
        || numbers.rate.is_some()
        || !numbers.given && matches!(group.profile, Profile::Open { .. })
}

/// Number of equal parts of a schedule in which starts are counted.
const PARTS: i64 = 20;

impl Numbers {
    /// Returns the highest number of starts per second of a schedule.
    pub(super) fn most_starts(&self) -> f64 {
        if let Some(phases) = &self.rate {
            return Rate::new(phases.clone()).most();
        }
        let spans = self.spans.as_deref().unwrap_or_default();
        let end = spans.iter().map(|(start, _)| *start + 1).max().unwrap_or(1).max(1000);
        let part = (end / PARTS).max(1000);
        let mut starts = vec![0_u32; (end / part) as usize + 1];
        // The rest at the end is too short to compute a rate.
        let whole = (end / part) as usize;
        for (start, _) in spans {
            starts[(start / part).max(0) as usize] += 1;
        }
        let most = starts[..whole].iter().max().copied().unwrap_or(0);
        f64::from(most) * 1000.0 / part as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(groups: &[(u32, &[(f64, Sharing)])]) -> Vec<Option<f64>> {
        let numbers: Vec<Numbers> = groups
            .iter()
            .map(|(users, _)| Numbers { at_once: *users, ..Numbers::default() })
            .collect();
        let paces: Vec<Paces> =
            groups.iter().map(|(_, paces)| Paces(paces.to_vec(), Vec::new())).collect();
        let loaded = numbers.iter().zip(&paces);
        let loaded: Vec<Loaded<'_>> = loaded
            .map(|(numbers, paces)| Loaded { numbers, paces, is_open: false, is_endless: false })
            .collect();
        loaded.iter().map(|group| group.rate(&loaded)).collect()
    }

    #[test]
    fn a_rate_is_that_of_those_who_keep_it() {
        let of = |sharing| rates(&[(30, &[(10.0, sharing)]), (10, &[])]);
        assert_eq!(of(Sharing::User), [Some(300.0), None]);
        assert_eq!(of(Sharing::Group), [Some(10.0), None]);
        // The rate is shared by all 40 users, and 10 of them never run this timer.
        assert_eq!(of(Sharing::All), [Some(7.5), None]);
        assert_eq!(of(Sharing::Shared(None)), [Some(10.0), None]);
    }

    #[test]
    fn a_timer_of_several_groups_keeps_one_rate() {
        let of = |sharing| rates(&[(30, &[(10.0, sharing)]), (10, &[(10.0, sharing)])]);
        assert_eq!(of(Sharing::Shared(Some(1))), [Some(7.5), Some(2.5)]);
        assert_eq!(of(Sharing::All), [Some(7.5), Some(2.5)]);
        assert_eq!(of(Sharing::Group), [Some(10.0), Some(10.0)]);
    }

    #[test]
    fn of_several_timers_the_slowest_counts() {
        let timers = [(10.0, Sharing::Group), (0.1, Sharing::User)];
        assert_eq!(rates(&[(30, &timers)]), [Some(3.0)]);
    }

    #[test]
    fn rates_that_change_are_added_up() {
        const S: i64 = 1_000_000_000;
        let one = vec![(10 * S, 0.0, 100.0), (10 * S, 100.0, 100.0)];
        let other = vec![(5 * S, 0.0, 0.0), (10 * S, 10.0, 10.0)];
        let always = vec![(i64::MAX, 1.0, 1.0)];
        let expected = [
            (5 * S, 1.0, 51.0),
            (5 * S, 61.0, 111.0),
            (5 * S, 111.0, 111.0),
            (5 * S, 101.0, 101.0),
        ];
        assert_eq!(sum(&[one, other, always]), expected);
    }

    #[test]
    fn the_rate_of_a_schedule_is_its_highest() {
        let spans = (0..600_i64).map(|nth| (10_000 + nth * 100, 70_000)).collect();
        let numbers = Numbers { spans: Some(spans), ..Numbers::default() };
        assert_eq!(numbers.most_starts().round(), 10.0);
    }
}
