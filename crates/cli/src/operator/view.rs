//! The view of a running test on a terminal: its state, updated once a second.
//!
//! The state is updated from seconds of the record, which is the source for every display of a test
//! ([`record::now`]). So a sweep can show the run of another process by reading its record. `frame` formats the
//! state as lines, a pure function of the state and the terminal's size and abilities. `screen` writes the lines to
//! the terminal.

mod answers;
mod chart;
mod findings;
mod frame;
mod screen;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use record::{CauseName, Frame, Label, Lamp, Now, Record, Second, State};
use stats::hist::{Bins, Hist};

use answers::Answers;
use findings::Findings;
pub(crate) use screen::Screen;
pub(crate) use text::Look;

/// Number of seconds that charts can show.
const CHARTED: usize = 600;
/// Number of seconds over which metrics of labels and of the generator are computed.
const RECENT: usize = 10;
/// Minimum length in milliseconds of an interval from which a rate is computed. The last second of a run can be
/// shorter.
const LEAST_MS: u32 = 500;

/// Values of one second of a running test in the charts.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    users: f64,
    /// Samples per second.
    rate: f64,
    /// Failed samples per second.
    errors: f64,
    /// 95th percentile of response times in milliseconds; `None` without samples.
    p95: Option<f64>,
}

/// Metrics of a label in one second.
#[derive(Clone, Debug)]
struct Piece {
    label: u32,
    count: u64,
    errors: u64,
    response: Bins,
}

/// State of the generator and its machine in one second.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    /// Length of the second in milliseconds.
    ms: u32,
    /// Processor time of the generator in seconds.
    cpu_s: f64,
    /// Used share of the machine's processor time, by all its processes.
    machine: f64,
    /// Median service time in milliseconds.
    median_ms: f64,
    /// 99th percentile of the generator overhead in milliseconds.
    lag_p99_ms: f64,
    /// Time in milliseconds in which the generator polled no socket.
    stall_ms: u64,
    /// Number of iteration starts that a rate required.
    due: u64,
    /// Number of iteration starts that were skipped.
    missed: u64,
    /// Number of result rows that wait to be written.
    rows_waiting: u64,
    /// Number of free local ports, if it is known.
    ports_left: Option<u64>,
    /// Number of scheduler periods under a CPU quota, and number of those in which the quota stopped the generator.
    quota: (u64, u64),
}

/// A cause of errors with its number of errors so far.
#[derive(Clone, Debug)]
struct Errors {
    number: u32,
    count: u64,
    words: String,
    first_label: Arc<str>,
}

/// The displayed state of a running test.
#[derive(Debug, Default)]
pub(crate) struct View {
    title: String,
    /// Description of this run's position in a series: `point 2 of 8, 40 users`.
    heading: String,
    /// Description of the runs that follow this one.
    after: String,
    state: State,
    elapsed_ms: i64,
    length_ms: Option<i64>,
    /// Planned duration of the run in milliseconds, if the run is part of a series and its duration is limited.
    length_given: Option<i64>,
    users_asked: u64,
    rate_asked: Option<f64>,
    processors: u32,
    ports: u64,
    users: u64,
    started: u64,
    workers: u32,
    samples: u64,
    errors: u64,
    /// Values of the latest seconds, the newest last.
    moments: VecDeque<Moment>,
    /// Length in milliseconds and metrics by label of the latest seconds.
    recent: VecDeque<(u32, Vec<Piece>)>,
    /// State of the generator and its machine in the latest seconds, the newest last.
    own: VecDeque<Own>,
    labels: Vec<Label>,
    /// Number of samples of each label so far. Labels are sorted by this number.
    counts: Vec<u64>,
    causes: Vec<Errors>,
    lamps: Vec<Lamp>,
    answers: Answers,
    /// Sentences of the verdict's findings so far.
    findings: Vec<String>,
    /// True if the run is too young to report that there are no findings.
    early: bool,
    /// End of the last second that was added, in epoch milliseconds.
    at_ms: i64,
    rules: Option<Findings>,
}

/// A label with its metrics over the last seconds.
#[derive(Clone, Debug)]
struct Row<'a> {
    label: &'a Label,
    count: u64,
    errors: u64,
    per_s: f64,
    hist: Hist,
}

impl View {
    /// Marks this run as one of a series: sets the description of its position, the description of the following
    /// runs, and its duration.
    pub(crate) fn set_heading(&mut self, heading: &str, after: &str, length: Option<Duration>) {
        (self.heading, self.after) = (heading.to_owned(), after.to_owned());
        self.length_given = length.map(|length| length.as_millis() as i64);
        self.length_ms = self.length_given;
    }

    /// Adds the second that has just ended.
    pub(crate) fn follow(&mut self, now: &Now<'_>) {
        self.set_frame(now.frame);
        self.add(now.second, now.labels, now.causes);
        (self.state, self.elapsed_ms) = (now.state, now.elapsed_ms());
        self.lamps.clear();
        self.lamps.extend_from_slice(now.criteria);
        // The first second starts the thread that evaluates the verdict's rules. If the thread cannot start, the view
        // has no findings.
        if self.rules.is_none() && self.moments.len() < 2 {
            self.rules = Findings::start();
        }
        if let Some(rules) = &self.rules {
            rules.tell(now);
            let said = rules.said();
            (self.early, self.findings) = (said.early, said.findings);
        }
    }

    /// Adds the seconds of a record that are new since the last call.
    pub(crate) fn follow_record(&mut self, record: &Record) {
        self.set_frame(&record.frame);
        let seen = record.seconds.partition_point(|second| second.at_ms <= self.at_ms);
        for second in &record.seconds[seen..] {
            self.add(second, &record.labels, &record.causes);
        }
        self.elapsed_ms = (self.at_ms - record.frame.start_ms).max(0);
    }

    fn set_frame(&mut self, frame: &Frame) {
        let name = std::path::Path::new(&frame.plan).file_name();
        self.title = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        self.length_ms = self.length_given.or(frame.load.length_ms);
        self.users_asked = frame.load.users;
        self.rate_asked = frame.load.rate;
        (self.processors, self.ports) = (frame.processors.max(1), frame.ports);
        self.answers.set_frame(frame);
    }

    fn add(&mut self, second: &Second, labels: &[Label], causes: &[CauseName]) {
        self.at_ms = second.at_ms;
        (self.users, self.started) = (second.users, second.started);
        self.workers = second.generator.workers;
        self.samples += second.all.count;
        self.errors += second.all.errors;
        // Copying is cheap: a record merges labels above a limit, so there are few labels.
        self.labels.clear();
        self.labels.extend_from_slice(labels);
        self.counts.resize(labels.len(), 0);
        for (label, samples, _) in second.labels.counts() {
            if let Some(count) = self.counts.get_mut(label as usize) {
                *count += samples;
            }
        }
        self.add_causes(second, causes);
        self.answers.add(second, labels);
        if second.ms < LEAST_MS && !self.moments.is_empty() {
            return;
        }
        self.add_moment(second);
        let piece = |(label, part): (u32, Cow<'_, record::Part>)| Piece {
            label,
            count: part.count,
            errors: part.errors,
            response: part.response().clone(),
        };
        push(&mut self.recent, (second.ms, second.labels.iter().map(piece).collect()), RECENT);
    }

    fn add_moment(&mut self, second: &Second) {
        let per_s = |number: u64| number as f64 * 1000.0 / f64::from(second.ms.max(1));
        let (mut response, mut service, mut lag) = (Hist::new(), Hist::new(), Hist::new());
        response.add(second.all.response());
        service.add(&second.all.service);
        lag.add(&second.lag);
        let ms = |hist: &Hist, quantile| hist.quantile(quantile) as f64 / 1000.0;
        let moment = Moment {
            users: second.users as f64,
            rate: per_s(second.all.count),
            errors: per_s(second.all.errors),
            p95: (response.total() > 0).then(|| ms(&response, 0.95)),
        };
        push(&mut self.moments, moment, CHARTED);
        let generator = &second.generator;
        let own = Own {
            ms: second.ms.max(1),
            cpu_s: generator.cpu_s,
            machine: second.machine.as_ref().map_or(0.0, |machine| machine.cpu),
            median_ms: ms(&service, 0.5),
            lag_p99_ms: ms(&lag, 0.99),
            stall_ms: generator.stall / 1_000_000,
            due: second.due,
            missed: second.missed,
            rows_waiting: generator.rows_waiting,
            ports_left: generator.ports_left,
            quota: (generator.quota_periods, generator.quota_stopped),
        };
        push(&mut self.own, own, RECENT);
    }

    fn add_causes(&mut self, second: &Second, causes: &[CauseName]) {
        for (number, count) in &second.causes {
            if let Some(known) = self.causes.iter_mut().find(|known| known.number == *number) {
                known.count += count;
            } else if let Some(name) = causes.get(*number as usize) {
                self.causes.push(Errors {
                    number: *number,
                    count: *count,
                    words: words(name),
                    first_label: Arc::clone(&name.first_label),
                });
            }
        }
        self.causes.sort_by(|a, b| b.count.cmp(&a.count).then(a.number.cmp(&b.number)));
    }

    /// Returns the labels with the most samples so far, among those with recent samples. Includes the label with the
    /// most recent errors. Also returns the number of labels with recent samples.
    fn rows(&self, most: usize) -> (Vec<Row<'_>>, usize) {
        let mut sums: Vec<(u64, u64)> = vec![(0, 0); self.labels.len()];
        let mut ms = 0;
        for (length, pieces) in &self.recent {
            ms += u64::from(*length);
            for piece in pieces {
                if let Some(sum) = sums.get_mut(piece.label as usize) {
                    *sum = (sum.0 + piece.count, sum.1 + piece.errors);
                }
            }
        }
        let mut order: Vec<usize> = (0..sums.len()).filter(|label| sums[*label].0 > 0).collect();
        let all = order.len();
        order.sort_by_key(|label| (Reverse(self.counts[*label]), *label));
        if all > most && most > 0 {
            // The last row is reserved for the label with the most errors.
            let worst = (0..all).max_by_key(|at| (sums[order[*at]].1, Reverse(*at)));
            if let Some(at) = worst.filter(|at| *at >= most && sums[order[*at]].1 > 0) {
                order.swap(most - 1, at);
            }
            order.truncate(most);
        }
        let row = |label: usize| {
            let mut hist = Hist::new();
            let of = |piece: &&Piece| piece.label as usize == label;
            for piece in self.recent.iter().flat_map(|(_, pieces)| pieces).filter(of) {
                hist.add(&piece.response);
            }
            let (count, errors) = sums[label];
            let per_s = count as f64 * 1000.0 / ms.max(1) as f64;
            Row { label: &self.labels[label], count, errors, per_s, hist }
        };
        (order.into_iter().take(most).map(row).collect(), all)
    }

    /// True if the plan has transactions, which are not counted as requests.
    fn has_transactions(&self) -> bool {
        self.labels.iter().any(|label| label.transaction)
    }

    /// Returns descriptions of the generator's state over the last seconds. The Boolean is true for a state that makes
    /// the metrics doubtful.
    fn generator(&self) -> Vec<(bool, String)> {
        let Some(last) = self.own.back() else { return Vec::new() };
        let ms: f64 = self.own.iter().map(|own| f64::from(own.ms)).sum();
        let used = self.own.iter().map(|own| own.cpu_s).sum::<f64>() * 1000.0 / ms.max(1.0);
        let share = used / f64::from(self.processors.max(1));
        let machine = self.own.iter().map(|own| own.machine).sum::<f64>() / self.own.len() as f64;
        let lag = self.own.iter().map(|own| own.lag_p99_ms).fold(0.0, f64::max);
        let median = self.own.iter().map(|own| own.median_ms).fold(0.0, f64::max);
        let due: u64 = self.own.iter().map(|own| own.due).sum();
        let missed: u64 = self.own.iter().map(|own| own.missed).sum();
        let stall = self.own.iter().map(|own| own.stall_ms).max().unwrap_or(0);
        let mut out = Vec::new();
        let mut doubt = |words: String| out.push((true, words));
        if stall >= STALL_MS {
            doubt(format!("stood still for {}", text::time(stall as f64)));
        }
        let periods: u64 = self.own.iter().map(|own| own.quota.0).sum();
        let stopped: u64 = self.own.iter().map(|own| own.quota.1).sum();
        if stopped >= QUOTA_STOPS && stopped * 10 >= periods {
            doubt(format!(
                "stopped by the CPU quota in {} of its periods",
                text::percent(stopped, periods)
            ));
        }
        if missed >= 10 && missed * 100 > due {
            doubt(format!("{} of starts missed", text::percent(missed, due)));
        }
        if let Some(left) = last.ports_left.filter(|left| *left * 20 < self.ports) {
            doubt(format!("{} ports left", text::count(left)));
        }
        if last.rows_waiting >= ROWS_WAITING {
            doubt(format!("{} rows wait for the disk", text::count(last.rows_waiting)));
        }
        if machine >= MACHINE_FULL && share < FULL {
            doubt(format!("machine CPU {:.0} %", machine * 100.0));
        }
        let cpu = format!("CPU {:.0} %", share * 100.0);
        out.push((share >= FULL, cpu));
        let is_late = lag >= LAG_MS && lag >= median / 4.0;
        out.push((is_late, format!("overhead p99 {}", text::time(lag))));
        out.sort_by_key(|(doubtful, _)| !doubtful);
        out
    }
}

/// Used share of the generator's processors from which the view shows a problem.
const FULL: f64 = 0.85;
/// Used share of the machine's processors from which the view shows a problem, unless the generator itself uses its
/// processors fully.
const MACHINE_FULL: f64 = 0.98;
/// 99th percentile of the generator overhead in milliseconds from which the view shows a problem, if the overhead is
/// also at least a quarter of the median response time.
const LAG_MS: f64 = 10.0;
/// Length of a stall in milliseconds from which the view shows a problem.
const STALL_MS: u64 = 200;
/// Number of rows that wait for the disk from which the view shows a problem.
const ROWS_WAITING: u64 = 100_000;
/// Number of stops by a CPU quota from which the view shows a problem, if the quota stopped the generator in at least a
/// tenth of the scheduler periods. A few stops are normal at the start of a run.
const QUOTA_STOPS: u64 = 5;

/// Appends a value to a list and removes the oldest one if the list has more than `most`.
fn push<T>(to: &mut VecDeque<T>, one: T, most: usize) {
    if to.len() >= most {
        to.pop_front();
    }
    to.push_back(one);
}

/// Returns a description of a cause of errors.
fn words(cause: &CauseName) -> String {
    let CauseName { outcome, code, message, .. } = cause;
    match (&**code, &**message) {
        ("", "") => outcome.as_str().to_owned(),
        (code, "") => code.to_owned(),
        ("", message) => message.to_owned(),
        // If a request has no answer, JMeter's code is the name of a Java class, and the message has the address
        // and the cause.
        (code, message) if code.starts_with("Non HTTP response code") => {
            message.trim_start_matches("Non HTTP response message: ").to_owned()
        }
        (code, message) => format!("{code}: {message}"),
    }
}
