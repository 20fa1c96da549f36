//! Lines for InfluxDB, as JMeter's InfluxdbBackendListenerClient writes them: measurement, tags, fields, time.

use std::fmt::Write as _;

use lang::java::double_to_string;

use super::metric::{Metrics, SamplerMetric, Taken, Windows, short};
use super::window::Window;

/// The label for the total of all samples.
const ALL: &str = "all";

/// The measurement, tags and other strings that all lines of a run share.
#[derive(Clone, Debug, Default)]
pub struct Target {
    pub measurement: String,
    pub application: String,
    pub title: String,
    /// Tags of event lines.
    pub event_tags: String,
    /// Tags that the user added to the lines: pairs of name and value.
    pub tags: Vec<(String, String)>,
    pub percentiles: Vec<f32>,
}

/// Writer of lines for InfluxDB, with the measurement and the tags that all lines have.
#[derive(Clone, Debug)]
pub struct LineFormat {
    measurement: String,
    application: String,
    title: String,
    event_tags: String,
    user_tags: String,
    percentiles: Vec<f32>,
}

/// The fields for one label and status in an interval. Times are in ms; NaN values are omitted.
pub struct Fields<'a> {
    pub count: u64,
    /// Number of failed samples, only for the line of all labels; `None` for other lines.
    pub count_error: Option<u64>,
    pub avg: f64,
    pub min: f64,
    pub max: f64,
    pub hits: u64,
    pub sent: u64,
    pub received: u64,
    /// Function that returns the percentile for a percentage: the value below which that percentage of all values lies.
    pub percentile: &'a dyn Fn(f64) -> f64,
}

/// Users: minimum, maximum and mean number of active users in an interval; number of users started and ended so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserFields {
    pub active: [i64; 3],
    pub started: u64,
    pub ended: u64,
}

impl LineFormat {
    pub fn new(target: &Target) -> Self {
        let mut user_tags = String::new();
        for (name, value) in &target.tags {
            let _ = write!(user_tags, ",{}={}", escape_tag(name), escape_tag(value));
        }
        let mut percentiles: Vec<f32> = Vec::new();
        for percent in &target.percentiles {
            // If several percentages have the same two-digit text, only the last percentage is kept.
            percentiles.retain(|other| short(*other) != short(*percent));
            percentiles.push(*percent);
        }
        Self {
            measurement: escape_tag(&target.measurement),
            application: escape_tag(&target.application),
            title: target.title.clone(),
            event_tags: escape_tag(&target.event_tags),
            user_tags,
            percentiles,
        }
    }

    /// Appends the line of a run event: `started` or `ended`.
    pub fn event(&self, word: &str, now_ms: i64, out: &mut String) {
        let text = escape_field(&format!("{} {word}", self.title));
        let _ = write!(
            out,
            "events,application={},title=ApacheJMeter{}",
            self.application, self.user_tags
        );
        if !self.event_tags.is_empty() {
            let _ = write!(out, ",tags={}", self.event_tags);
        }
        let _ = writeln!(out, " text=\"{text}\" {now_ms}000000");
    }

    /// Appends the line of a label with one status: `all`, `ok` or `ko`.
    pub fn figures(
        &self,
        transaction: &str,
        status: &str,
        fields: &Fields<'_>,
        now_ms: i64,
        out: &mut String,
    ) {
        self.head(transaction, out);
        let _ = write!(out, ",statut={status}{} count={}", self.user_tags, fields.count);
        if let Some(errors) = fields.count_error {
            let _ = write!(out, ",countError={errors}");
        }
        let times = [("avg", fields.avg), ("min", fields.min), ("max", fields.max)];
        for (name, value) in times.iter().filter(|time| !time.1.is_nan()) {
            let _ = write!(out, ",{name}={}", double_to_string(*value));
        }
        let _ = write!(out, ",hit={},sb={},rb={}", fields.hits, fields.sent, fields.received);
        for percent in &self.percentiles {
            let value = (fields.percentile)(f64::from(*percent));
            let _ = write!(out, ",pct{percent:?}={}", double_to_string(value));
        }
        let _ = writeln!(out, " {now_ms}000000");
    }

    /// Appends the line that counts a label's errors with one code and message.
    pub fn error(
        &self,
        transaction: &str,
        code: &str,
        message: &str,
        count: u64,
        now_ms: i64,
        out: &mut String,
    ) {
        self.head(transaction, out);
        let (code, message) = (escape_tag(code), escape_tag(message));
        let _ = writeln!(
            out,
            ",responseCode={code},responseMessage={message}{} count={count} {now_ms}000000",
            self.user_tags
        );
    }

    /// Appends the line with the numbers of users.
    pub fn users(&self, users: UserFields, now_ms: i64, out: &mut String) {
        let UserFields { active: [min, max, mean], started, ended } = users;
        self.head("internal", out);
        let _ = writeln!(
            out,
            "{} minAT={min},maxAT={max},meanAT={mean},startedT={started},endedT={ended} {now_ms}000000",
            self.user_tags
        );
    }

    fn head(&self, transaction: &str, out: &mut String) {
        let (measurement, application) = (&self.measurement, &self.application);
        let transaction = escape_tag(transaction);
        let _ = write!(out, "{measurement},application={application},transaction={transaction}");
    }
}

/// Collects the metrics of the current interval and writes their text.
#[derive(Debug)]
pub struct Influx {
    format: LineFormat,
    pub metrics: Metrics,
}

impl Influx {
    pub fn new(target: &Target, windows: Windows) -> Self {
        Self { format: LineFormat::new(target), metrics: Metrics::new(windows) }
    }

    /// Adds a sample. `label` is `Some` if metrics of the sample's label are sent separately.
    pub fn add(&mut self, label: Option<&str>, taken: &Taken) {
        self.metrics.add(ALL, label, taken);
    }

    /// Appends the line for the start or the end of the run.
    pub fn event(&self, started: bool, now_ms: i64, out: &mut String) {
        self.format.event(if started { "started" } else { "ended" }, now_ms, out);
    }

    /// Appends the lines of the interval and starts the next interval.
    pub fn end_interval(&mut self, now_ms: i64, out: &mut String) {
        for (label, metric) in &self.metrics.samplers {
            if label == ALL {
                self.total(metric, now_ms, out);
            } else {
                self.sampler(label, metric, now_ms, out);
            }
        }
        let users = UserFields {
            active: self.metrics.active(),
            started: self.metrics.started.into(),
            ended: self.metrics.finished.into(),
        };
        self.format.users(users, now_ms, out);
        self.metrics.end_interval();
    }

    fn sampler(&self, label: &str, metric: &SamplerMetric, now_ms: i64, out: &mut String) {
        for (status, count, window, recent) in [
            ("all", metric.total(), &metric.all, &metric.recent),
            ("ok", metric.successes, &metric.ok, &metric.ok),
            ("ko", metric.failures, &metric.ko, &metric.ko),
        ] {
            if count > 0 {
                let percentile = self.percentiles_of(recent);
                let fields = fields(metric, count, window, &percentile);
                self.format.figures(label, status, &fields, now_ms, out);
            }
        }
        for error in metric.errors.values().filter(|error| error.count > 0) {
            let count = error.count.into();
            self.format.error(label, &error.code, &error.message, count, now_ms, out);
        }
    }

    /// Appends the line of all labels. As in JMeter, the times in this line are times of passed samples only.
    fn total(&self, metric: &SamplerMetric, now_ms: i64, out: &mut String) {
        if metric.total() == 0 {
            return;
        }
        let percentile = self.percentiles_of(&metric.recent);
        let fields = Fields {
            count_error: Some(metric.failures.into()),
            ..fields(metric, metric.total(), &metric.ok, &percentile)
        };
        self.format.figures(ALL, ALL, &fields, now_ms, out);
    }

    fn percentiles_of<'a>(&self, window: &'a Window) -> impl Fn(f64) -> f64 + 'a {
        let estimator = self.metrics.windows.estimator;
        move |percent| window.percentile(percent, estimator)
    }
}

fn fields<'a>(
    metric: &SamplerMetric,
    count: u32,
    window: &Window,
    percentile: &'a dyn Fn(f64) -> f64,
) -> Fields<'a> {
    Fields {
        count: count.into(),
        count_error: None,
        avg: window.mean(),
        min: window.min(),
        max: window.max(),
        hits: metric.hits.into(),
        sent: metric.sent,
        received: metric.received,
        percentile,
    }
}

/// Escapes spaces, commas and equal signs in the name or value of a tag.
pub fn escape_tag(text: &str) -> String {
    let text = text.trim_matches(|c: char| c <= ' ');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | ',' | '=' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            _ => out.push(c),
        }
    }
    out
}

/// Trims the text of a field and escapes its quotes.
pub fn escape_field(text: &str) -> String {
    text.trim_matches(|c: char| c <= ' ').replace('"', "\\\"")
}

/// Appends the line of one sample in the format of InfluxDBRawBackendListenerClient. Times are in ms.
pub fn raw_line(
    measurement: &str,
    label: &str,
    thread_name: &str,
    failed: bool,
    [start_ms, elapsed, latency, connect]: [i64; 4],
    out: &mut String,
) {
    let status = if failed { "ko" } else { "ok" };
    let transaction = escape_tag(label.trim_matches(['"', ' ']));
    let _ = write!(out, "{measurement},status={status},transaction={transaction},threadName=");
    out.extend(thread_name.chars().filter(|c| !c.is_whitespace()));
    let _ =
        writeln!(out, " duration={elapsed},ttfb={latency},connectTime={connect} {start_ms}000000");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn influx() -> Influx {
        let target = Target {
            measurement: "j m".into(),
            application: " app, x=1 ".into(),
            title: "a \"title\"".into(),
            event_tags: "t 1".into(),
            tags: vec![("host".into(), "h 1".into())],
            percentiles: vec![90.0, 99.9],
        };
        Influx::new(&target, Windows::default())
    }

    #[test]
    fn an_interval_is_told_by_label_status_and_error() {
        let mut influx = influx();
        let ok = Taken {
            elapsed_ms: 10,
            success: true,
            count: 1,
            sent: 5,
            received: 7,
            hits: 1,
            active: 2,
            ..Taken::default()
        };
        let error = Some(Box::new(("500".to_string(), "a b".to_string())));
        let ko = Taken { elapsed_ms: 30, success: false, errors: 1, error, ..ok.clone() };
        influx.add(Some("GET /"), &ok);
        influx.add(Some("GET /"), &ko);
        influx.metrics.started = 3;
        let mut out = String::new();
        influx.end_interval(42, &mut out);
        let head = "j\\ m,application=app\\,\\ x\\=1,transaction=";
        let expected = [
            format!(
                "{head}GET\\ /,statut=all,host=h\\ 1 count=2,avg=20.0,min=10.0,max=30.0,hit=2,sb=10,rb=14,pct90.0=30.0,pct99.9=30.0 42000000"
            ),
            format!(
                "{head}GET\\ /,statut=ok,host=h\\ 1 count=1,avg=10.0,min=10.0,max=10.0,hit=2,sb=10,rb=14,pct90.0=10.0,pct99.9=10.0 42000000"
            ),
            format!(
                "{head}GET\\ /,statut=ko,host=h\\ 1 count=1,avg=30.0,min=30.0,max=30.0,hit=2,sb=10,rb=14,pct90.0=30.0,pct99.9=30.0 42000000"
            ),
            format!(
                "{head}GET\\ /,responseCode=500,responseMessage=a\\ b,host=h\\ 1 count=1 42000000"
            ),
            format!(
                "{head}all,statut=all,host=h\\ 1 count=2,countError=1,avg=10.0,min=10.0,max=10.0,hit=2,sb=10,rb=14,pct90.0=30.0,pct99.9=30.0 42000000"
            ),
            format!(
                "{head}internal,host=h\\ 1 minAT=2,maxAT=2,meanAT=2,startedT=3,endedT=0 42000000"
            ),
        ];
        assert_eq!(out.lines().collect::<Vec<_>>(), expected);
        out.clear();
        influx.end_interval(43, &mut out);
        assert_eq!(out.lines().count(), 1, "nothing but users: {out}");
    }

    #[test]
    fn events_and_single_samples() {
        let mut out = String::new();
        influx().event(true, 1, &mut out);
        raw_line("m", "\" a,b \"", "Users 1-1", true, [5, 1, 2, 3], &mut out);
        assert_eq!(
            out,
            "events,application=app\\,\\ x\\=1,title=ApacheJMeter,host=h\\ 1,tags=t\\ 1 text=\"a \\\"title\\\" started\" 1000000\n\
             m,status=ko,transaction=a\\,b,threadName=Users1-1 duration=1,ttfb=2,connectTime=3 5000000\n"
        );
    }
}
