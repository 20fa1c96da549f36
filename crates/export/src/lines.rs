//! InfluxDB's line protocol, with the measurement, tags and fields of JMeter's InfluxdbBackendListenerClient.
//!
//! The text itself is written by `stats::backend`, as for plans that contain the listener. Only the source differs:
//! the metrics here come from complete seconds of all cores, so percentiles cover all samples of the interval and
//! not only the last hundred. Metrics that JMeter does not have go into a separate measurement, `throng`, once a
//! second.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use record::Part;
use stats::Checks;
use stats::backend::{Fields, LineFormat, Target, UserFields, escape_tag};
use stats::hist::{Bins, Hist, layout};
use stats::recorder::OTHER_LABELS;

use crate::sums::{MOST_LABELS, Tick};

/// Percentiles in each line, as the dashboards query them.
const PERCENTILES: [f32; 4] = [50.0, 90.0, 95.0, 99.0];
/// Maximum number of error lines in an interval.
const MOST_ERRORS: usize = 100;

/// Collects the seconds of an interval and encodes them.
#[derive(Debug)]
pub struct Lines {
    format: LineFormat,
    application: String,
    labels: BTreeMap<String, Part>,
    /// Measurements of all samples including transactions.
    all: Part,
    /// Measurements of requests alone, without transactions.
    requests: Part,
    /// Number of failures by label, response code and message.
    errors: BTreeMap<(String, String, String), u64>,
    users: Option<UserFields>,
    /// Sum of the numbers of users in all seconds of the interval, and number of seconds.
    user_seconds: (u64, u64),
    /// Finished lines of the interval: events, and the measurement `throng`.
    more: String,
}

impl Lines {
    /// Creates an empty interval. `application` and `title` become the tag and the text of each line, by which
    /// dashboards distinguish runs.
    pub fn new(application: &str, title: &str) -> Self {
        let application = clean(application);
        let target = Target {
            measurement: "jmeter".into(),
            application: application.clone(),
            title: clean(title),
            percentiles: PERCENTILES.into(),
            ..Target::default()
        };
        Self {
            format: LineFormat::new(&target),
            application: escape_tag(&application),
            labels: BTreeMap::new(),
            all: Part::default(),
            requests: Part::default(),
            errors: BTreeMap::new(),
            users: None,
            user_seconds: (0, 0),
            more: String::new(),
        }
    }

    /// Adds a line for an event of the run: its start, its end or a mark.
    pub fn event(&mut self, words: &str, at_ms: i64) {
        self.format.event(&clean(words), at_ms, &mut self.more);
    }

    /// Adds the metrics of one second.
    pub fn add(&mut self, tick: &Tick) {
        for (name, transaction, part) in &tick.labels {
            let mut name = clean_label(name);
            if !self.labels.contains_key(&name) && self.labels.len() >= MOST_LABELS {
                OTHER_LABELS.clone_into(&mut name);
            }
            self.labels.entry(name).or_default().merge(part);
            self.all.merge(part);
            if !transaction {
                self.requests.merge(part);
            }
        }
        for (cause, count) in &tick.causes {
            let or = |text: &str, other: &str| {
                if text.trim().is_empty() { other.to_owned() } else { clean(text) }
            };
            let key =
                (clean_label(&cause.first_label), or(&cause.code, "0"), or(&cause.message, "None"));
            if self.errors.len() < MOST_ERRORS || self.errors.contains_key(&key) {
                *self.errors.entry(key).or_default() += count;
            }
        }
        let line = &tick.line;
        let active = line.users as i64;
        let users =
            self.users.get_or_insert(UserFields { active: [active; 3], ..UserFields::default() });
        users.active[0] = users.active[0].min(active);
        users.active[1] = users.active[1].max(active);
        (users.started, users.ended) = (line.started, line.finished);
        self.user_seconds = (self.user_seconds.0 + line.users, self.user_seconds.1 + 1);
        for mark in &line.marks {
            self.event(&mark.what, mark.at_ms);
        }
        self.add_own(tick);
    }

    /// Adds the line of the measurement `throng`: metrics that JMeter does not have. Times are in ms.
    fn add_own(&mut self, tick: &Tick) {
        let line = &tick.line;
        let checks = line.checks.map_or_else(String::new, |checks| {
            let Checks { checked, unexpected, failed } = checks;
            format!(",failed_requests={failed},checked={checked},unexpected={unexpected}")
        });
        let _ = writeln!(
            self.more,
            "throng,application={} users={},samples={},errors={}{checks},p50={},p90={},p95={},p99={},max={},response_p50={},\
             response_p99={},overhead_p99={},cpu_s={},memory={} {}000000",
            self.application,
            line.users,
            line.samples,
            line.errors,
            line.p50_ms,
            line.p90_ms,
            line.p95_ms,
            line.p99_ms,
            line.max_ms,
            line.response_p50_ms,
            line.response_p99_ms,
            line.lag_p99_ms,
            line.cpu_s,
            line.rss,
            tick.at_ms,
        );
        for (name, number) in tick.numbers.iter().filter(|(_, number)| number.count > 0) {
            let _ = writeln!(
                self.more,
                "throng_series,application={},series={} mean={},min={},max={},values={} {}000000",
                self.application,
                escape_tag(&clean_label(name)),
                number.mean().unwrap_or_default(),
                number.least,
                number.most,
                number.count,
                tick.at_ms,
            );
        }
    }

    /// Returns the text of the interval and starts the next interval.
    pub fn end_interval(&mut self, at_ms: i64) -> String {
        let mut out = std::mem::take(&mut self.more);
        for (name, part) in std::mem::take(&mut self.labels) {
            self.label(&name, &part, at_ms, &mut out);
        }
        for ((label, code, message), count) in std::mem::take(&mut self.errors) {
            self.format.error(&label, &code, &message, count, at_ms, &mut out);
        }
        let (all, requests) = (std::mem::take(&mut self.all), std::mem::take(&mut self.requests));
        if all.count > 0 {
            let (times, passed) = (hist(&all.service), Times::of(&passed(&all)));
            let percentiles = |percent| percentile(&times, percent);
            let fields = Fields {
                count: all.count,
                count_error: Some(all.errors),
                hits: requests.count,
                sent: requests.sent,
                received: requests.received,
                ..passed.fields(&percentiles)
            };
            self.format.figures("all", "all", &fields, at_ms, &mut out);
        }
        if let Some(mut users) = self.users.take() {
            let (sum, seconds) = std::mem::take(&mut self.user_seconds);
            users.active[2] = sum.checked_div(seconds).unwrap_or(0) as i64;
            self.format.users(users, at_ms, &mut out);
        }
        out
    }

    fn label(&self, name: &str, part: &Part, at_ms: i64, out: &mut String) {
        let ok = part.count.saturating_sub(part.errors);
        let statuses = [
            ("all", part.count, hist(&part.service)),
            ("ok", ok, passed(part)),
            ("ko", part.errors, hist(&part.failed)),
        ];
        for (status, count, times) in statuses.into_iter().filter(|status| status.1 > 0) {
            let percentiles = |percent| percentile(&times, percent);
            let fields = Fields {
                count,
                hits: part.count,
                sent: part.sent,
                received: part.received,
                ..Times::of(&times).fields(&percentiles)
            };
            self.format.figures(name, status, &fields, at_ms, out);
        }
    }
}

/// Mean, minimum and maximum of times in ms; NaN without samples.
struct Times([f64; 3]);

impl Times {
    fn of(hist: &Hist) -> Self {
        let mut bins = hist.iter().map(|bin| bin.0);
        let Some(first) = bins.next() else { return Self([f64::NAN; 3]) };
        let last = bins.last().unwrap_or(first);
        let ms = |micros: u64| micros as f64 / 1e3;
        Self([hist.mean() / 1e3, ms(layout::lowest_of(first)), ms(layout::highest_of(last))])
    }

    fn fields<'a>(&self, percentile: &'a dyn Fn(f64) -> f64) -> Fields<'a> {
        let Self([avg, min, max]) = *self;
        Fields {
            count: 0,
            count_error: None,
            avg,
            min,
            max,
            hits: 0,
            sent: 0,
            received: 0,
            percentile,
        }
    }
}

fn hist(bins: &Bins) -> Hist {
    let mut hist = Hist::new();
    hist.add(bins);
    hist
}

/// Returns the times of passed samples: the histogram of all samples minus the histogram of the failed samples.
fn passed(part: &Part) -> Hist {
    let mut failed = part.failed.iter().peekable();
    let mut bins = Bins::default();
    for (bin, n) in part.service.iter() {
        while failed.next_if(|other| other.0 < bin).is_some() {}
        let less = failed.next_if(|other| other.0 == bin).map_or(0, |other| other.1);
        bins.add(bin, n.saturating_sub(less));
    }
    hist(&bins)
}

/// Returns a percentile of times in ms; 0 without samples.
fn percentile(hist: &Hist, percent: f64) -> f64 {
    hist.quantile(percent / 100.0) as f64 / 1e3
}

/// Cleans a string so that it cannot break its line: removes control characters, and backslashes that would escape
/// the next character. Returns a non-empty text, as tags must not be empty.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek();
        out.push(match c {
            '\\' if next.is_none_or(|next| {
                matches!(next, ',' | '=' | ' ' | '"' | '\\') || next.is_control()
            }) =>
            {
                '/'
            }
            c if c.is_control() => ' ',
            c => c,
        });
    }
    let out = out.trim();
    if out.is_empty() { "-".into() } else { out.into() }
}

/// Cleans a label's name. Names that JMeter uses for other lines (`all`, `internal`) get a suffix.
fn clean_label(name: &str) -> String {
    let mut name = clean(name);
    if name == "all" || name == "internal" {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stats::snapshot_file::Mark;

    use super::*;

    fn part(ok_ms: &[u64], failed_ms: &[u64]) -> Part {
        let mut part = Part { sent: 5, received: 7, ..Part::default() };
        for ms in ok_ms.iter().chain(failed_ms) {
            part.count += 1;
            part.service.add(layout::index_of(ms * 1000), 1);
        }
        for ms in failed_ms {
            part.errors += 1;
            part.failed.add(layout::index_of(ms * 1000), 1);
        }
        part
    }

    fn tick(label: &str, part: &Part) -> Tick {
        let mut tick = Tick { at_ms: 1000, ..Tick::default() };
        tick.labels = vec![(label.into(), false, part.clone()), ("Tx".into(), true, part.clone())];
        (tick.line.users, tick.line.started) = (3, 4);
        tick
    }

    #[test]
    fn an_interval_has_the_lines_of_jmeters_listener() {
        let mut lines = Lines::new("a b", "plan");
        lines.event("started", 1);
        let mut first = tick("GET /", &part(&[1, 2], &[]));
        let load = stats::Number { count: 2, sum: 5.0, least: 1.0, most: 4.0, odd: 0 };
        first.numbers.push(("the load".into(), load));
        first.line.marks.push(Mark { at_ms: 9, what: "users: 3 instead of 2".into() });
        lines.add(&first);
        lines.add(&tick("GET /", &part(&[], &[1])));
        let text = lines.end_interval(42);
        let head = "jmeter,application=a\\ b,transaction=";
        let starts = [
            "events,application=a\\ b,title=ApacheJMeter text=\"plan started\" 1000000\n"
                .to_owned(),
            "text=\"plan users: 3 instead of 2\" 9000000\n".to_owned(),
            format!("{head}GET\\ /,statut=all count=3,avg=1.333"),
            format!(
                "{head}GET\\ /,statut=ok count=2,avg=1.5,min=1.0,max=2.0,hit=3,sb=10,rb=14,pct50.0=1.0,pct90.0=2.0,pct95.0=2.0,pct99.0=2.0 42000000\n"
            ),
            format!("{head}GET\\ /,statut=ko count=1,avg=1.0,min=1.0,max=1.0,hit=3,sb=10,rb=14,"),
            format!("{head}Tx,statut=all count=3,"),
            format!(
                "{head}all,statut=all count=6,countError=2,avg=1.5,min=1.0,max=2.0,hit=3,sb=10,rb=14,pct50.0=1.0,"
            ),
            format!("{head}internal minAT=3,maxAT=3,meanAT=3,startedT=4,endedT=0 42000000\n"),
            "throng,application=a\\ b users=3,samples=0,".to_owned(),
            "throng_series,application=a\\ b,series=the\\ load mean=2.5,min=1,max=4,values=2 1000000000\n".to_owned(),
        ];
        for start in starts {
            assert!(text.contains(&start), "{start}\nis not in\n{text}");
        }
        assert_eq!(lines.end_interval(43), "", "the next interval is empty");
    }

    #[test]
    fn texts_keep_their_line_in_one_piece() {
        for (text, cleaned) in [
            ("", "-"),
            (" \n", "-"),
            ("a\\", "a/"),
            ("a\\,b", "a/,b"),
            ("C:\\temp", "C:\\temp"),
            ("a\r\nb", "a  b"),
        ] {
            assert_eq!(clean(text), cleaned);
        }
        assert_eq!(
            (clean_label("all"), clean_label("all of it")),
            ("all_".into(), "all of it".into())
        );
    }

    /// Parses the tags of a line as InfluxDB does: a backslash escapes a comma, an equal sign or a space.
    fn tags(line: &str) -> Vec<String> {
        let (mut parts, mut part, mut escaped) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                ',' | '=' | ' ' if escaped => {
                    part.pop();
                    part.push(c);
                }
                ' ' => break,
                ',' | '=' => parts.push(std::mem::take(&mut part)),
                _ => part.push(c),
            }
            escaped = c == '\\' && !escaped;
        }
        parts.push(part);
        parts
    }

    proptest! {
        #[test]
        fn hostile_labels_are_one_tag(label in "[a\\\\\"=,# \n\t\r\u{e9}\u{4e2d}]{0,12}") {
            let mut lines = Lines::new("app", "t");
            lines.add(&tick(&label, &part(&[1], &[])));
            let text = lines.end_interval(1);
            prop_assert_eq!(text.lines().count(), 7, "{}", text);
            let expected = clean_label(&label);
            let ours = text.lines().map(tags).any(|tags| {
                tags.len() == 7 && tags[4] == expected && tags[5] == "statut" && tags[6] == "ok"
            });
            prop_assert!(ours, "{:?} is not in\n{}", expected, text);
        }

        /// Checks that an event with any text stays one quoted field in one line.
        #[test]
        fn hostile_marks_are_one_line(text in "[a\\\\\"=,# \n]{0,12}") {
            let mut lines = Lines::new(&text, "t");
            lines.event(&text, 1);
            let line = lines.end_interval(1);
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert!(line.ends_with("\" 1000000\n") && !line.ends_with("\\\" 1000000\n"), "{}", line);
        }
    }
}
