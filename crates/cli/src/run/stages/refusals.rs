//! Detects users whose samples all fail immediately and who continue without a pause, for example in an endless loop
//! around a sampler that gets no connection. The run prints one warning as soon as it detects them: such a load says
//! nothing about the target, and no error ends it.

use answers::rules;
use record::{CauseName, Now, Second};
use stats::grouped::{count, things};

/// Number of consecutive seconds with only failed samples after which the run prints the warning.
const SECONDS: u32 = 3;
/// Minimum number of samples per second of a user who does not pause. Pauses or slow responses keep users below this
/// number.
const PER_USER: f64 = 50.0;
/// Minimum length in ms of a recorded second. Shorter, incomplete seconds are ignored.
const WHOLE_MS: u32 = 900;

/// The latest consecutive seconds in which all samples failed and users did not pause.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// End of the last second that was checked, in epoch ms.
    at_ms: i64,
    /// Number of consecutive seconds with only failed samples.
    seconds: u32,
    /// Number of samples in the consecutive seconds with only failed samples.
    samples: u64,
    /// Sum of the response times of the counted failed samples, in ns.
    elapsed: u64,
    /// True if the warning was printed.
    was_said: bool,
}

impl Refusals {
    /// Returns the warning about users that fail without a pause, once per run: after [`SECONDS`] consecutive seconds
    /// with only failed samples.
    pub(super) fn words(&mut self, now: &Now<'_>) -> Option<String> {
        self.look(now.second, now.causes)
    }

    fn look(&mut self, second: &Second, causes: &[CauseName]) -> Option<String> {
        if self.was_said || second.at_ms == self.at_ms || second.ms < WHOLE_MS {
            return None;
        }
        self.at_ms = second.at_ms;
        let least = PER_USER * second.users.max(1) as f64 * f64::from(second.ms) / 1000.0;
        let all = &second.all;
        if all.errors < all.count || (all.count as f64) < least {
            (self.seconds, self.samples, self.elapsed) = (0, 0, 0);
            return None;
        }
        self.seconds += 1;
        self.samples += all.count;
        self.elapsed += all.elapsed;
        if self.seconds < SECONDS {
            return None;
        }
        self.was_said = true;
        let most = second.causes.iter().max_by_key(|(_, n)| *n);
        let cause = most.and_then(|(cause, _)| causes.get(*cause as usize)).map(rules::words_of);
        let cause = cause.filter(|text| !text.is_empty());
        let cause = cause.map_or_else(String::new, |text| format!(" ({text})"));
        let each = self.elapsed as f64 / self.samples as f64 / 1e6;
        Some(format!(
            "all {} samples of the last {} failed{cause}, after {each:.2} ms each, and {} without a pause: \
             correct the plan or start the target; --abort-if 'error% > 50 over 10s' ends such a run",
            count(self.samples),
            things(self.seconds.into(), "second"),
            if second.users == 1 {
                "1 user goes on".to_owned()
            } else {
                format!("{} users go on", count(second.users))
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use record::Part;
    use stats::Outcome;

    use super::*;

    /// Returns a second of 2 users with `samples` samples, of which `errors` failed.
    fn second(n: i64, (samples, errors): (u64, u64)) -> Second {
        let all = Part { count: samples, errors, elapsed: samples * 50_000, ..Part::default() };
        Second {
            at_ms: n * 1000,
            ms: 1000,
            users: 2,
            all,
            causes: vec![(0, errors)],
            ..Second::default()
        }
    }

    fn causes() -> Vec<CauseName> {
        vec![CauseName {
            outcome: Outcome::Refused,
            code: "Non HTTP response code: org.apache.http.conn.HttpHostConnectException".into(),
            message: "Non HTTP response message: Connection refused".into(),
            first_label: "get".into(),
        }]
    }

    /// Returns the warnings for seconds with these samples, each with the index of the second that caused the
    /// warning.
    fn said(seconds: &[(u64, u64)]) -> Vec<(usize, String)> {
        let mut refusals = Refusals::default();
        let words = seconds.iter().enumerate().flat_map(|(n, of)| {
            let second = second(n as i64 + 1, *of);
            // Between two seconds, events of the run cause several checks of the same second.
            let twice = [refusals.look(&second, &causes()), refusals.look(&second, &causes())];
            twice.into_iter().flatten().map(move |words| (n, words))
        });
        words.collect()
    }

    #[test]
    fn failures_without_end_are_said_once() {
        let said = said(&[(9000, 9000); 8]);
        let words = "all 27 000 samples of the last 3 seconds failed (HttpHostConnectException: Connection refused), \
             after 0.05 ms each, and 2 users go on without a pause: correct the plan or start the target; \
             --abort-if 'error% > 50 over 10s' ends such a run";
        assert_eq!(said, [(2, words.to_owned())]);
    }

    #[test]
    fn users_that_pause_and_samples_that_succeed_are_no_failures_without_end() {
        assert!(said(&[(90, 90); 8]).is_empty(), "45 a second for each user");
        assert!(said(&[(9000, 8999); 8]).is_empty());
        let between = [(9000, 9000), (9000, 9000), (9000, 8999), (9000, 9000), (9000, 9000)];
        assert!(said(&between).is_empty());
    }
}
