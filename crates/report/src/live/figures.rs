//! The metrics of the last ten seconds, which the live page shows in its first row.

use answers::criterion::Times;
use record::{Part, Record, Second};
use serde::Serialize;
use stats::Checks;
use stats::hist::Hist;

/// Length of the window that the metrics cover, ms.
const WINDOW_MS: i64 = 10_000;

/// The current metrics of a running test.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Figures {
    at_ms: i64,
    elapsed_ms: i64,
    remaining_ms: Option<i64>,
    users: Option<u64>,
    users_wanted: Option<u64>,
    offered_per_s: Option<f64>,
    rate_per_s: f64,
    /// The kind of times in the percentiles; criteria judge the same kind.
    times: Times,
    p50_us: Option<f64>,
    p95_us: Option<f64>,
    p99_us: Option<f64>,
    service_p95_us: Option<f64>,
    /// Share of the requests that failed. Transactions are not counted.
    error_share: f64,
    /// True if the plan has transactions.
    transactions: bool,
    /// Share of the requests that succeeded by transport and status.
    succeeded_share: Option<f64>,
    /// Share of the checked responses for which all assertions held.
    as_expected_share: Option<f64>,
    in_flight: Option<f64>,
    own_share: Option<f64>,
    /// The generator's part of the mean time, and the mean time, both in µs.
    own_us: Option<(f64, f64)>,
    cpu: Option<f64>,
    /// The CPU quota of the generator; `None` without a quota.
    quota: Option<Quota>,
    paused: bool,
    stopping: bool,
}

/// Smallest number of throttled periods that the start of the run alone does not explain.
const QUOTA_STOPS: u64 = 5;

/// A CPU quota of the generator's control group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Quota {
    /// Number of processors that the quota allows.
    processors: f64,
    /// Share of the scheduler periods in which the quota throttled the generator.
    stopped_share: f64,
    /// True if the quota throttles the generator so often that the metrics are doubtful.
    is_limit: bool,
}

impl Quota {
    /// Returns the CPU quota and how often it throttled the generator in these seconds; `None` without a quota.
    fn during(seconds: &[Second]) -> Option<Self> {
        let (mut processors, mut periods, mut stopped) = (0.0, 0, 0);
        for Second { generator, .. } in seconds {
            processors = f64::max(processors, generator.quota);
            periods += generator.quota_periods;
            stopped += generator.quota_stopped;
        }
        Self::new(processors, periods, stopped)
    }

    fn new(processors: f64, periods: u64, stopped: u64) -> Option<Self> {
        let stopped_share = stopped as f64 / periods.max(1) as f64;
        let is_limit = stopped >= QUOTA_STOPS && stopped_share >= 0.1;
        (processors > 0.0).then_some(Self { processors, stopped_share, is_limit })
    }
}

/// Returns true if a CPU quota throttles the generator so often that the figures are doubtful.
pub(super) fn is_quota_limit(seconds: &[Second]) -> bool {
    Quota::during(window(seconds)).is_some_and(|quota| quota.is_limit)
}

/// Returns the seconds that the window covers, and always the last one if there is any.
pub(super) fn window(seconds: &[Second]) -> &[Second] {
    let mut ms = 0;
    let fits = |second: &&Second| {
        ms += i64::from(second.ms);
        ms <= WINDOW_MS + 500
    };
    let n = seconds.iter().rev().take_while(fits).count().max(1);
    &seconds[seconds.len().saturating_sub(n)..]
}

impl Figures {
    /// Computes the metrics from the last seconds. `users` is the currently requested number of users.
    pub(super) fn new(record: &Record, users: Option<u64>, state: record::State) -> Self {
        let frame = &record.frame;
        let Some(newest) = record.seconds.last() else {
            let remaining_ms = frame.load.length_ms;
            return Self { at_ms: frame.start_ms, remaining_ms, ..Self::default() };
        };
        let times = Times::judged(record);
        let (mut all, mut checks) = (Part::default(), Checks::default());
        let (mut ms, mut due, mut cpu_s) = (0, 0, 0.0);
        for second in window(&record.seconds) {
            ms += i64::from(second.ms);
            all.merge(&second.all);
            checks.merge(&second.checks_of(None, &record.labels));
            due += second.due;
            cpu_s += second.generator.cpu_s;
        }
        let (own, of) = all.overhead();
        let of_each = |ns: u64| ns as f64 / 1000.0 / all.count.max(1) as f64;
        let length = ms.max(1) as f64 / 1000.0;
        let quantile = |times: Times, p| {
            let mut hist = Hist::new();
            hist.add(times.of(&all));
            // A bin may extend beyond the largest value.
            (hist.total() > 0).then(|| (hist.quantile(p) as f64).min(times.longest(&all)))
        };
        let share = |of: u64, all: u64| of as f64 / all.max(1) as f64;
        let elapsed_ms = (newest.at_ms - frame.start_ms).max(0);
        Self {
            at_ms: newest.at_ms,
            elapsed_ms,
            remaining_ms: frame.load.length_ms.map(|length| (length - elapsed_ms).max(0)),
            users: Some(newest.users),
            users_wanted: users,
            offered_per_s: (due > 0).then(|| due as f64 / length),
            rate_per_s: all.count as f64 / length,
            times,
            p50_us: quantile(times, 0.5),
            p95_us: quantile(times, 0.95),
            p99_us: quantile(times, 0.99),
            service_p95_us: quantile(Times::Service, 0.95),
            error_share: share(all.errors, all.count),
            transactions: record.labels.iter().any(|label| label.transaction),
            succeeded_share: (checks.checked > 0 || frame.has_assertions())
                .then(|| share(all.count.saturating_sub(checks.failed), all.count)),
            as_expected_share: checks.percent().map(|percent| percent / 100.0),
            in_flight: Some(all.elapsed as f64 / 1e9 / length),
            own_share: (of > 0).then(|| share(own, of)),
            own_us: (of > 0).then(|| (of_each(own), of_each(of))),
            quota: Quota::during(window(&record.seconds)),
            cpu: Some(cpu_s / length / f64::from(frame.processors.max(1))),
            paused: state == record::State::Paused,
            stopping: state == record::State::Stopping,
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Has;
    use stats::hist::{Bins, layout};

    use super::*;
    use crate::model::Totals;

    fn bins(times: &[(u64, u64)]) -> Bins {
        let mut bins: Vec<(u32, u64)> =
            times.iter().map(|(us, n)| (layout::index_of(*us), *n)).collect();
        bins.sort_unstable();
        Bins::try_from(bins).expect("in order")
    }

    /// Returns ten seconds with 100 requests of 20 ms each, ten of which start 80 ms late because of the generator.
    fn late() -> Record {
        let mut all = Part {
            count: 100,
            elapsed: 2_000_000_000,
            longest: 20_000_000,
            service: bins(&[(20_000, 100)]),
            response: bins(&[(20_000, 90), (100_000, 10)]),
            ..Part::default()
        };
        (all.phases.late, all.phases.lag) = (800_000_000, 800_000_000);
        let second =
            |n: i64| Second { at_ms: n * 1000, ms: 1000, all: all.clone(), ..Second::default() };
        let has = Has { response: true, phases: true, ..Has::default() };
        Record { seconds: (1..=10).map(second).collect(), has, ..Record::default() }
    }

    #[test]
    fn the_live_page_and_the_report_have_the_time_that_criteria_judge() {
        let record = late();
        let live = Figures::new(&record, None, record::State::Running);
        let totals = Totals::new(&record);
        let p95 =
            |of: &[crate::model::Quantile]| of.iter().find(|one| one.p == 0.95).map(|one| one.us);
        assert_eq!((live.times, totals.times), (Times::Response, Times::Response));
        assert_eq!(live.p95_us, p95(&totals.quantiles));
        assert!(live.p95_us.is_some_and(|us| (us / 100_000.0 - 1.0).abs() < 0.01), "{live:?}");
        let service = totals.service.as_ref().expect("a service time");
        assert_eq!(live.service_p95_us, p95(&service.quantiles));
        // The generator caused 8 of 28 ms of response time, not 8 of 20 ms of service time.
        assert_eq!(
            (totals.own_us, live.own_us),
            (Some((8_000.0, 28_000.0)), Some((8_000.0, 28_000.0)))
        );
        assert_eq!(totals.own_share, live.own_share);

        let mut rows = record;
        rows.has = Has::default();
        assert_eq!(Totals::new(&rows).times, Times::Service);
        assert_eq!(Totals::new(&rows).service, None);
    }

    #[test]
    fn overhead_is_never_more_than_all_of_the_time() {
        let mut part = Part { count: 1, elapsed: 1_000_000, ..Part::default() };
        part.phases.lag = 14_050_000;
        assert_eq!(part.overhead(), (14_050_000, 15_050_000));
        part.phases.lag = 400_000;
        assert_eq!(part.overhead(), (400_000, 1_000_000));
    }

    #[test]
    fn a_cpu_quota_has_a_lamp_that_is_red_when_it_stops_the_generator() {
        let mut record = late();
        assert_eq!(Figures::new(&record, None, record::State::Running).quota, None);
        for second in &mut record.seconds {
            (second.generator.quota, second.generator.quota_periods) = (1.5, 10);
        }
        let fits = Figures::new(&record, None, record::State::Running).quota.expect("a quota");
        assert!(!fits.is_limit && fits.processors == 1.5, "{fits:?}");
        record.seconds.iter_mut().for_each(|second| second.generator.quota_stopped = 2);
        let limits = Figures::new(&record, None, record::State::Running).quota.expect("a quota");
        assert!(limits.is_limit && (limits.stopped_share - 0.2).abs() < 1e-9, "{limits:?}");
    }
}
