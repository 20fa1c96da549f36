//! The figures of the last ten seconds.

use record::{Part, Record};
use serde::Serialize;
use stats::hist::Hist;

/// Length of the part of the run that the row of numbers is about, ms.
const WINDOW_MS: i64 = 10_000;

/// The row of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Figures {
    at_ms: i64,
    elapsed_ms: i64,
    remaining_ms: Option<i64>,
    users: Option<u64>,
    users_wanted: Option<u64>,
    offered_per_s: Option<f64>,
    rate_per_s: f64,
    p50_us: Option<f64>,
    p95_us: Option<f64>,
    p99_us: Option<f64>,
    error_share: f64,
    in_flight: Option<f64>,
    own_share: Option<f64>,
    cpu: Option<f64>,
    paused: bool,
    stopping: bool,
}

impl Figures {
    /// `users`: as many are asked for by now.
    pub(super) fn new(record: &Record, users: Option<u64>, state: record::State) -> Self {
        let frame = &record.frame;
        let Some(newest) = record.seconds.last() else {
            let remaining_ms = frame.load.length_ms;
            return Self { at_ms: frame.start_ms, remaining_ms, ..Self::default() };
        };
        let (mut all, mut hist) = (Part::default(), Hist::new());
        let (mut ms, mut due, mut cpu_s) = (0, 0, 0.0);
        for second in record.seconds.iter().rev() {
            if ms > 0 && ms + i64::from(second.ms) > WINDOW_MS + 500 {
                break;
            }
            ms += i64::from(second.ms);
            all.merge(&second.all);
            hist.add(&second.all.service);
            due += second.due;
            cpu_s += second.generator.cpu_s;
        }
        let length = ms.max(1) as f64 / 1000.0;
        let quantile = |p| (hist.total() > 0).then(|| hist.quantile(p) as f64);
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
            p50_us: quantile(0.5),
            p95_us: quantile(0.95),
            p99_us: quantile(0.99),
            error_share: share(all.errors, all.count),
            in_flight: Some(all.elapsed as f64 / 1e9 / length),
            own_share: (all.elapsed > 0).then(|| share(all.phases.lag, all.elapsed)),
            cpu: Some(cpu_s / length / f64::from(frame.processors.max(1))),
            paused: state == record::State::Paused,
            stopping: state == record::State::Stopping,
        }
    }
}
