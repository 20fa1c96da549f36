//! Lines of the run's log about users and, if enabled, about samples, with JMeter's logger names.
//!
//! The number of lines is limited: starts and ends of users per run (`throng.log.threads`), samples per second
//! ([`SAMPLES_PER_SECOND`]), and one line about omitted lines. If samples are not logged, a user costs two lines at
//! most, and a sample nothing.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use crate::reports::line::{Line, LogLevel};

use crate::time::clock::{Nanos, SECOND};

/// Property for the maximum number of users per process whose start and end are logged.
const THREADS: &str = "throng.log.threads";
/// Property that enables a log line at level DEBUG for every sample. `-L DEBUG` sets it.
pub const LOG_SAMPLES: &str = "throng.log.samples";
const THREADS_DEFAULT: u32 = 1000;
/// Maximum number of logged samples per second.
const SAMPLES_PER_SECOND: u32 = 1000;

const USERS_LOGGER: &str = "org.apache.jmeter.threads.JMeterThread";

/// Counters for the limits of log lines, shared by all cores of the process.
#[derive(Debug)]
pub(crate) struct Diary {
    starts: AtomicU32,
    ends: AtomicU32,
    samples: bool,
    /// The second of the run's clock in which samples are counted.
    second: AtomicI64,
    /// Number of samples in the current `second` so far.
    count: AtomicU32,
}

impl Diary {
    pub(crate) fn new(property: impl Fn(&str) -> Option<String>) -> Self {
        let number = |text: String| text.trim().parse().ok();
        let users = property(THREADS).and_then(number).unwrap_or(THREADS_DEFAULT);
        let samples = property(LOG_SAMPLES).is_some_and(|text| text.eq_ignore_ascii_case("true"));
        Self {
            starts: AtomicU32::new(users),
            ends: AtomicU32::new(users),
            samples,
            second: AtomicI64::new(-1),
            count: AtomicU32::new(0),
        }
    }

    /// Returns the log line about a user that starts, or `None` if the limit is reached. `name` is called only if
    /// the line is logged.
    pub(crate) fn started(&self, name: impl FnOnce() -> String) -> Option<Line> {
        user(&self.starts, "Thread started", "started", name)
    }

    /// Returns the log line about a user that has ended, or `None` if the limit is reached.
    pub(crate) fn finished(&self, name: impl FnOnce() -> String) -> Option<Line> {
        user(&self.ends, "Thread finished", "finished", name)
    }

    /// Returns true if samples are logged in this run.
    pub(crate) fn has_samples(&self) -> bool {
        self.samples
    }

    /// Returns the log line about a sample that ended at `now`, if the limit of this second is not reached.
    pub(crate) fn sample(&self, now: Nanos, line: impl FnOnce() -> String) -> Option<Line> {
        let second = now.div_euclid(SECOND);
        if self.second.swap(second, Ordering::Relaxed) != second {
            self.count.store(0, Ordering::Relaxed);
        }
        let text = match self.count.fetch_add(1, Ordering::Relaxed) {
            ..SAMPLES_PER_SECOND => line(),
            SAMPLES_PER_SECOND => {
                format!(
                    "more than {SAMPLES_PER_SECOND} samples in this second: the others are not logged"
                )
            }
            _ => return None,
        };
        Some(Line::log(LogLevel::Debug, Some(USERS_LOGGER), text))
    }
}

fn user(left: &AtomicU32, what: &str, verb: &str, name: impl FnOnce() -> String) -> Option<Line> {
    let counted =
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    let left = counted.ok()?;
    let text = match left {
        1 => format!("{what}: {}; users that {verb} later are not logged ({THREADS})", name()),
        _ => format!("{what}: {}", name()),
    };
    Some(Line::log(LogLevel::Info, Some(USERS_LOGGER), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_users_are_logged_and_the_last_says_that_more_are_not() {
        let diary = Diary::new(|key| (key == THREADS).then(|| "2".into()));
        let names = ["a", "b", "c"].map(|name| diary.started(|| name.to_owned()));
        let [Some(first), Some(last), None] = names else { panic!("two lines: {names:?}") };
        assert!(matches!(first, Line::Log { level: LogLevel::Info, .. }), "{first:?}");
        assert_eq!(first.to_string(), "Thread started: a");
        assert!(
            last.to_string()
                .ends_with("b; users that started later are not logged (throng.log.threads)"),
            "{last}"
        );
        assert!(
            diary
                .finished(|| "a".into())
                .is_some_and(|line| line.to_string() == "Thread finished: a")
        );
        assert!(!diary.has_samples());
    }

    #[test]
    fn samples_of_a_second_are_bounded() {
        let diary = Diary::new(|key| (key == LOG_SAMPLES).then(|| "true".into()));
        assert!(diary.has_samples());
        let at = |second: i64| second * SECOND;
        let logged = (0..5000).filter_map(|_| diary.sample(at(7), || "s".into())).count();
        assert_eq!(logged, SAMPLES_PER_SECOND as usize + 1);
        assert!(diary.sample(at(8), || "s".into()).is_some_and(|line| line.to_string() == "s"));
    }
}
