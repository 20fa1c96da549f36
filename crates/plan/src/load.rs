//! Load settings from outside the plan, which override the settings of its thread groups; and rates of starts.
//!
//! Pure data: the engine applies the settings to the thread groups.

use std::time::Duration;

/// Load settings for a run that override the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOverrides {
    /// Settings for all main groups together. Numbers are divided among the groups without individual settings.
    pub all: LoadSettings,
    /// Settings for single groups, by group name; `None` excludes a group from the run.
    pub groups: Vec<(String, Option<LoadSettings>)>,
    /// Group names, each with the file and line of the group's load settings. An empty name stands for all groups.
    /// Load settings from the command line have no entry.
    pub places: Vec<(String, String)>,
}

/// Load settings of one group or of all groups; `None` keeps the plan's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadSettings {
    pub users: Option<u32>,
    /// Iterations started per second, independent of how fast responses arrive.
    pub rate: Option<f64>,
    /// Maximum number of concurrent users; only valid with `rate`.
    pub max_users: Option<u32>,
    pub ramp: Option<Duration>,
    /// Duration of the full load after the ramp-up.
    pub hold: Option<Duration>,
    /// Number of equal steps of the ramp-up; `None` means a linear ramp-up.
    pub steps: Option<u32>,
    /// Total time, including the ramp-up.
    pub duration: Option<Duration>,
    /// Iterations per user; with `rate`, the total number of iterations of all users.
    pub iterations: Option<u32>,
}

/// Maximum number of concurrent users for a rate without the setting `max_users`.
pub const MAX_USERS: u32 = 10_000;

impl LoadOverrides {
    /// Returns true if no setting overrides the plan.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.groups.is_empty()
    }

    /// Returns the file and line of this group's load settings as the prefix of a message; empty for load settings
    /// from the command line.
    pub fn place(&self, group: &str) -> String {
        let has_own = self.groups.iter().any(|(name, _)| name == group);
        let name = if has_own { group } else { "" };
        let place = self.places.iter().find(|(of, _)| of == name);
        place.map_or_else(String::new, |(_, place)| format!("{place}: "))
    }

    /// Returns the total number of requested users and the total requested rate; `None` if no setting requests one.
    pub fn most(&self) -> (Option<u64>, Option<f64>) {
        let asks = || self.groups.iter().filter_map(|(_, ask)| ask.as_ref()).chain([&self.all]);
        let users = asks().filter_map(|ask| ask.users).map(u64::from).reduce(|a, b| a + b);
        (users, asks().filter_map(|ask| ask.rate).reduce(|a, b| a + b))
    }
}

impl LoadSettings {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the total time including the ramp-up, if set.
    pub fn length(&self) -> Option<Duration> {
        self.duration.or_else(|| Some(self.ramp.unwrap_or_default() + self.hold?))
    }

    /// Rejects contradictory settings. The error is a message for the user.
    pub fn check(&self) -> Result<(), String> {
        if self.users.is_some() && self.rate.is_some() {
            return Err(
                "set either users or rps, not both: users send the next request after a response, a rate starts users \
                regardless of responses"
                    .into(),
            );
        }
        if self.max_users.is_some() && self.rate.is_none() {
            return Err("max-users limits the users of a rate: set rps too".into());
        }
        if self.hold.is_some() && self.duration.is_some() {
            return Err("set either duration or hold, not both: duration includes the ramp, hold begins after it"
                .into());
        }
        if self.steps.is_some() && self.ramp.is_none() {
            return Err("steps divide a ramp: set its length too, for example ramp 1m".into());
        }
        match (self.ramp, self.duration) {
            (Some(ramp), Some(duration)) if ramp > duration => {
                Err("the ramp is longer than the whole duration".into())
            }
            _ => Ok(()),
        }
    }
}

/// Divides a number in proportion to weights. The remainder goes to the entries with the largest fractional parts.
pub fn shares(number: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum::<u128>().max(1);
    let exact = |weight: &u64| u128::from(number) * u128::from(*weight);
    let mut shares: Vec<u64> = weights.iter().map(|weight| (exact(weight) / sum) as u64).collect();
    let left = number - shares.iter().sum::<u64>().min(number);
    let mut order: Vec<usize> = (0..weights.len()).filter(|at| weights[*at] > 0).collect();
    order.sort_by_key(|at| std::cmp::Reverse(exact(&weights[*at]) % sum));
    for at in order.into_iter().take(left as usize) {
        shares[at] += 1;
    }
    shares
}

/// Phase of a rate: length in ns, and the rates per second at its start and at its end.
pub type Phase = (i64, f64, f64);

/// Rate of starts that changes piecewise linearly over time. Start `k` is due when the integral of the rate reaches
/// `k`, so that rounding errors do not accumulate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rate {
    phases: Vec<Phase>,
}

/// Nanoseconds per second.
const SECOND: f64 = 1e9;

impl Rate {
    pub fn new(phases: Vec<Phase>) -> Self {
        Self { phases }
    }

    /// Builds a rate that rises during the ramp-up, linearly or in equal steps, and then stays constant. Times in
    /// ns.
    pub fn rising(rate: f64, ramp: i64, steps: Option<u32>, length: i64) -> Self {
        let mut phases = Vec::new();
        match steps {
            None | Some(0) => phases.push((ramp, 0.0, rate)),
            Some(steps) => phases.extend((1..=i64::from(steps)).map(|step| {
                let n = i64::from(steps);
                let height = rate * step as f64 / n as f64;
                (ramp * step / n - ramp * (step - 1) / n, height, height)
            })),
        }
        phases.push((length.saturating_sub(ramp), rate, rate));
        phases.retain(|(length, ..)| *length > 0);
        Self { phases }
    }

    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Returns the highest rate, per second.
    pub fn most(&self) -> f64 {
        self.phases.iter().map(|(_, begin, end)| begin.max(*end)).fold(0.0, f64::max)
    }

    /// Returns the time of start number `nth`, counted from 0, in ns after the beginning; `None` if the rate ends
    /// earlier.
    pub fn at(&self, nth: u64) -> Option<i64> {
        let (mut before, mut from) = (0_i64, 0.0_f64);
        for (length, begin, end) in &self.phases {
            let seconds = *length as f64 / SECOND;
            let number = f64::midpoint(*begin, *end) * seconds;
            let left = nth as f64 - from;
            // A start that is due exactly at the end of a phase belongs to the next phase.
            if left < number - 1e-9 * number.max(1.0) {
                let change = (end - begin) / seconds;
                let at = if left <= 0.0 {
                    0.0
                } else {
                    // Solution of change/2 t² + begin t = left for t, in a form that is also valid if the change is
                    // 0.
                    2.0 * left / (begin + (begin * begin + 2.0 * change * left).max(0.0).sqrt())
                };
                return Some(before + ((at * SECOND).round() as i64).clamp(0, *length));
            }
            from += number;
            before = before.saturating_add(*length);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn times(rate: &Rate) -> Vec<i64> {
        (0..).map_while(|nth| rate.at(nth)).collect()
    }

    #[test]
    fn a_constant_rate_has_exact_times() {
        let rate = Rate::rising(4.0, 0, None, 2 * S);
        let expected: Vec<i64> = (0..8).map(|n| n * S / 4).collect();
        assert_eq!(times(&rate), expected);
        // A rate of 333/s over an hour: rounding errors do not accumulate.
        let rate = Rate::rising(333.0, 0, None, 3600 * S);
        assert_eq!(times(&rate).len(), 333 * 3600);
        assert_eq!(rate.at(333 * 3599), Some(3599 * S));
    }

    #[test]
    fn a_ramp_has_half_the_starts_of_the_full_rate() {
        let rate = Rate::rising(100.0, 10 * S, None, 20 * S);
        let times = times(&rate);
        assert_eq!(times.len(), 500 + 1000);
        assert!(times.is_sorted());
        assert_eq!(times.iter().filter(|at| **at < 10 * S).count(), 500);
        // Half-way through the ramp-up, 125 of its 500 starts are due.
        assert_eq!(times.iter().filter(|at| **at < 5 * S).count(), 125);
    }

    #[test]
    fn steps_are_equal_and_the_first_is_at_once() {
        let rate = Rate::rising(30.0, 3 * S, Some(3), 4 * S);
        let times = times(&rate);
        let in_second =
            |s: i64| times.iter().filter(|at| (s * S..(s + 1) * S).contains(*at)).count();
        assert_eq!([0, 1, 2, 3].map(in_second), [10, 20, 30, 30]);
        assert_eq!(rate.most(), 30.0);
    }

    #[test]
    fn a_rate_falls_too_and_may_be_nothing() {
        let rate = Rate::new(vec![(S, 10.0, 0.0), (S, 0.0, 0.0), (S, 2.0, 2.0)]);
        let times = times(&rate);
        assert_eq!(times.len(), 7);
        assert_eq!(times[5], 2 * S);
        assert_eq!(Rate::default().at(0), None);
    }

    #[test]
    fn contradictions_are_refused() {
        let ask = LoadSettings { users: Some(1), rate: Some(1.0), ..LoadSettings::default() };
        assert!(ask.check().unwrap_err().contains("set either users or rps"));
        let ask = LoadSettings { steps: Some(2), ..LoadSettings::default() };
        assert!(ask.check().unwrap_err().contains("set its length"));
        let second = Some(Duration::from_secs(1));
        let ask = LoadSettings { hold: second, duration: second, ..LoadSettings::default() };
        assert!(ask.check().is_err());
        let ask = LoadSettings {
            ramp: second,
            duration: Some(Duration::ZERO),
            ..LoadSettings::default()
        };
        assert!(ask.check().is_err());
        assert!(LoadSettings { max_users: Some(1), ..LoadSettings::default() }.check().is_err());
        assert!(
            LoadSettings { rate: Some(1.0), max_users: Some(1), ..LoadSettings::default() }
                .check()
                .is_ok()
        );
    }
}
