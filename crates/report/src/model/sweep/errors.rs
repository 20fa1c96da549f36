//! Errors that begin between two points of a sweep: a limit above which the target rejects requests instead of letting
//! them wait.
//!
//! Such a limit needs points without errors below it, and errors at all loads above it. A target that fails in the
//! middle of a sweep is not such a limit, and neither are errors of the generator.

use answers::verdict::Words;

use super::{Axis, Point, words};
use crate::captions::numbers::{load, percent, whole};

/// Largest share of failed requests at a point without errors.
const NONE: f64 = 0.0005;
/// Smallest share of failed requests at a point with errors.
const SOME: f64 = 0.001;
/// Smallest number of failures at the first point with errors.
const FAILURES: f64 = 20.0;
/// Smallest number of failures that the last point without errors would have with the share of errors at the next
/// point. If it would have fewer, it does not show that errors are absent.
const EXPECTED: f64 = 10.0;
/// Smallest rate of successful requests at the first point with errors, relative to the rate at the last point without
/// errors. A lower rate is an outage, not a limit.
const STILL_GOOD: f64 = 0.5;
/// Smallest ratio of the requests in flight from which throughput stops growing to the requests in flight at the last
/// point without errors. With a smaller ratio, throughput reached its limit before the errors began.
const NEAR: f64 = 0.8;

/// The load at which errors begin.
pub(super) struct Begin {
    pub(super) words: Words,
    /// True if throughput still grew up to the load at which errors begin.
    pub(super) is_knee: bool,
}

/// Finds the load at which errors begin. `knee` is the number of requests in flight from which throughput does not
/// grow, if known.
pub(super) fn begin(points: &[Point], knee: Option<f64>, axis: Axis) -> Option<Begin> {
    let mut points: Vec<&Point> = points.iter().collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    let first = points.iter().position(|point| point.error_share >= SOME)?;
    let (below, above) = points.split_at(first);
    let (clean, failing) = (*below.last()?, *above.first()?);
    let is_clean = |point: &&Point| point.error_share <= NONE;
    let is_failing = |point: &&Point| point.error_share >= SOME;
    if failing.is_generator || !below.iter().all(is_clean) || !above.iter().all(is_failing) {
        return None;
    }
    let requests = |point: &Point| point.rate_per_s * point.length_s;
    let is_enough = requests(failing) * failing.error_share >= FAILURES
        && requests(clean) * failing.error_share >= EXPECTED;
    let good = |point: &Point| point.rate_per_s * (1.0 - point.error_share);
    if !is_enough || good(failing) < STILL_GOOD * good(clean) {
        return None;
    }
    let is_knee = knee.is_none_or(|knee| knee >= NEAR * clean.in_flight);
    Some(Begin { words: sentence(clean, failing, axis), is_knee })
}

fn sentence(clean: &Point, failing: &Point, axis: Axis) -> Words {
    let (at, beyond) = (axis.at(clean.load), axis.at(failing.load));
    let share = percent(clean.error_share);
    let (few, few_zh) = if clean.error_share == 0.0 {
        ("none".to_owned(), "无失败".to_owned())
    } else {
        (share.clone(), format!("失败 {share}"))
    };
    let many = percent(failing.error_share);
    // Failures that are faster than successful responses can reduce the requests in flight at the heavier point.
    let (from, to) = (whole(clean.in_flight.floor()), whole(failing.in_flight.ceil()));
    let (begin, begin_zh) = if failing.in_flight > clean.in_flight && from != to {
        (
            format!("between {from} and {to} requests in flight"),
            format!("在途请求数介于 {from} 与 {to} 之间时"),
        )
    } else {
        (
            format!("between {} and {}", load(clean.load), beyond.en),
            format!("负载介于 {} 与 {} 之间时", load(clean.load), beyond.zh),
        )
    };
    words(
        format!(
            "Errors begin {begin}: of the requests {few} failed at {}, {many} at {}.",
            at.en, beyond.en
        ),
        format!("{begin_zh}开始出现错误：{}时{few_zh}，{}时失败 {many}。", at.zh, beyond.zh),
    )
}

#[cfg(test)]
mod tests {
    use super::super::{StoppedBy, sentences};
    use super::*;
    use answers::scaling::{Choice, Fit, Model};

    /// Builds points of 60 s from users, requests in flight, requests per second, share of errors.
    fn points(of: &[(f64, f64, f64, f64)]) -> Vec<Point> {
        let point = |(load, in_flight, rate_per_s, error_share): &(f64, f64, f64, f64)| Point {
            load: *load,
            in_flight: *in_flight,
            rate_per_s: *rate_per_s,
            rate_low: None,
            rate_high: None,
            mean_us: 1e6 * in_flight / rate_per_s,
            mean_low: None,
            mean_high: None,
            quantiles: Vec::new(),
            error_share: *error_share,
            length_s: 60.0,
            ramp_s: 0.0,
            warmup_s: 0.0,
            steady: None,
            stopped_by: StoppedBy::Time,
            excluded: (*error_share > 0.01).then(|| words("errors", "错误")),
            notes: Vec::new(),
            run: String::new(),
            is_generator: false,
        };
        of.iter().map(point).collect()
    }

    fn told(points: &[Point]) -> Option<String> {
        begin(points, None, Axis::Users).map(|begin| begin.words.en)
    }

    #[test]
    fn the_loads_between_which_errors_begin_are_named() {
        let semaphore =
            [(50.0, 49.0, 490.0, 0.0), (90.0, 89.5, 890.0, 0.0), (150.0, 140.0, 1500.0, 0.063)];
        assert_eq!(
            told(&points(&semaphore)).as_deref(),
            Some(
                "Errors begin between 89 and 140 requests in flight: of the requests none failed at 90 users, 6.3 % at 150 users."
            )
        );
        // Users that retry at once leave fewer requests in flight.
        let retries = [(90.0, 89.5, 890.0, 0.0002), (150.0, 80.0, 9000.0, 0.88)];
        assert_eq!(
            told(&points(&retries)).as_deref(),
            Some(
                "Errors begin between 90 and 150 users: of the requests 0.02 % failed at 90 users, 88 % at 150 users."
            )
        );
    }

    #[test]
    fn errors_that_are_no_limit_begin_nowhere() {
        for (why, of) in [
            ("everywhere", vec![(1.0, 1.0, 100.0, 0.02), (10.0, 10.0, 900.0, 0.02)]),
            ("nowhere", vec![(1.0, 1.0, 100.0, 0.0), (10.0, 10.0, 900.0, 0.0)]),
            (
                "at one point",
                vec![(1.0, 1.0, 100.0, 0.0), (10.0, 10.0, 900.0, 0.05), (20.0, 20.0, 950.0, 0.0)],
            ),
            ("an outage", vec![(1.0, 1.0, 100.0, 0.0), (10.0, 10.0, 900.0, 0.97)]),
            ("by chance", vec![(1.0, 1.0, 10.0, 0.0), (10.0, 10.0, 100.0, 0.002)]),
            ("in between", vec![(1.0, 1.0, 100.0, 0.0008), (10.0, 10.0, 900.0, 0.02)]),
        ] {
            assert_eq!(told(&points(&of)), None, "{why}");
        }
        let loads = [(1.0, 1.0, 100.0, 0.0), (10.0, 10.0, 900.0, 0.05), (20.0, 20.0, 950.0, 0.5)];
        let mut own = points(&loads);
        own[2].is_generator = true;
        assert!(told(&own).is_some(), "it is the lightest load with errors that tells");
        own[1].is_generator = true;
        assert_eq!(told(&own), None, "errors of the generator");
    }

    #[test]
    fn errors_are_told_first_where_they_are_the_knee() {
        let of = points(&[
            (50.0, 50.0, 500.0, 0.0),
            (90.0, 90.0, 900.0, 0.0),
            (150.0, 140.0, 1500.0, 0.063),
        ]);
        let place = |choice: &Choice| {
            let told = sentences(&of, choice, Axis::Users);
            told.iter().position(|words| words.en.starts_with("Errors begin"))
        };
        assert_eq!(place(&Choice::default()), Some(0));
        let plateau = |limit: f64| {
            let model = Model::Plateau { slope: 10.0, limit };
            Choice { chosen: Some(Fit { model, error: 0.01, aicc: 0.0 }), ..Choice::default() }
        };
        assert_eq!(place(&plateau(900.0)), Some(0));
        let last = sentences(&of, &plateau(500.0), Axis::Users).len() - 1;
        assert_eq!(place(&plateau(500.0)), Some(last), "throughput stopped growing before");
        assert!(last > 0);
    }
}
