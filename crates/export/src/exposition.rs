//! The text formats that Prometheus scrapes: its own format 0.0.4, and OpenMetrics 1.0.

use std::fmt::Write as _;

use crate::metrics::{Family, Kind, Series, Value, number};

/// The two text formats of metrics that Prometheus scrapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    OpenMetrics,
}

impl Format {
    /// Returns the format for an `Accept` header: OpenMetrics only if the header names it.
    pub fn accepted(accept: &str) -> Self {
        let names = |part: &str| part.trim().starts_with("application/openmetrics-text");
        if accept.split(',').any(names) { Self::OpenMetrics } else { Self::Text }
    }

    /// Returns the content type of the format.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Returns all families of metrics as text. Families without series are omitted.
pub fn text(families: &[Family], format: Format) -> String {
    let mut out = String::new();
    for family in families.iter().filter(|family| !family.series.is_empty()) {
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        // OpenMetrics names a counter's family without the suffix `_total` of its samples.
        let name = match format {
            Format::OpenMetrics => family.name.strip_suffix("_total").unwrap_or(family.name),
            Format::Text => family.name,
        };
        let _ = writeln!(out, "# HELP {name} {}", escape_help(family.help, format));
        let _ = writeln!(out, "# TYPE {name} {kind}");
        for series in &family.series {
            add(family.name, series, &mut out);
        }
    }
    if format == Format::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn add(name: &str, series: &Series, out: &mut String) {
    match &series.value {
        Value::Number(value) => line(name, "", &series.labels, None, &number(*value), out),
        Value::Buckets(buckets) => {
            for (bound, count) in buckets.cumulative() {
                line(name, "_bucket", &series.labels, Some(bound), &count.to_string(), out);
            }
            line(name, "_sum", &series.labels, None, &number(buckets.sum), out);
            line(name, "_count", &series.labels, None, &buckets.count().to_string(), out);
        }
    }
}

fn line(
    name: &str,
    end: &str,
    labels: &[(&'static str, String)],
    bound: Option<f64>,
    value: &str,
    out: &mut String,
) {
    let _ = write!(out, "{name}{end}");
    let mut open = '{';
    for (name, value) in labels {
        let _ = write!(out, "{open}{name}=\"{}\"", escape(value));
        open = ',';
    }
    if let Some(bound) = bound {
        let _ = write!(out, "{open}le=\"{}\"", number(bound));
        open = ',';
    }
    if open == ',' {
        out.push('}');
    }
    let _ = writeln!(out, " {value}");
}

/// Escapes the value of a label for its quotes. A carriage return becomes a space, because some readers end a line
/// there.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

fn escape_help(text: &str, format: Format) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if format == Format::OpenMetrics { text.replace('"', "\\\"") } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::Buckets;

    fn family(kind: Kind, name: &'static str, label: &str, value: Value) -> Family {
        let series = vec![Series { labels: vec![("label", label.into())], value }];
        Family { name, help: "Of \"a\".", kind, unit: "s", series }
    }

    #[test]
    fn both_formats_are_as_documented() {
        let mut buckets = Box::new(Buckets { sum: 0.5, ..Buckets::default() });
        buckets.add(0.5, 1);
        let families = [
            family(Kind::Counter, "t_total", "a \"b\\\n", Value::Number(3.0)),
            family(Kind::Histogram, "t_seconds", "x", Value::Buckets(buckets)),
            Family { series: Vec::new(), ..family(Kind::Gauge, "g", "", Value::Number(0.0)) },
        ];
        let plain = text(&families, Format::Text);
        let start = "# HELP t_total Of \"a\".\n# TYPE t_total counter\nt_total{label=\"a \\\"b\\\\\\n\"} 3\n";
        assert!(plain.starts_with(start), "{plain}");
        assert!(plain.contains("t_seconds_bucket{label=\"x\",le=\"0.25\"} 0\nt_seconds_bucket{label=\"x\",le=\"0.5\"} 1\n"));
        assert!(plain.ends_with(
            "le=\"+Inf\"} 1\nt_seconds_sum{label=\"x\"} 0.5\nt_seconds_count{label=\"x\"} 1\n"
        ));
        let open = text(&families, Format::OpenMetrics);
        assert!(open.starts_with("# HELP t Of \\\"a\\\".\n# TYPE t counter\nt_total{"), "{open}");
        assert!(open.ends_with("# EOF\n"));
    }

    #[test]
    fn a_scraper_gets_the_format_it_names() {
        let accept = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert_eq!(Format::accepted(accept), Format::OpenMetrics);
        assert_eq!(Format::accepted("text/plain"), Format::Text);
        assert_eq!(Format::accepted(""), Format::Text);
    }

    proptest! {
        /// Checks that a parser of the text format reads any label unchanged, and that each series takes exactly one
        /// line.
        #[test]
        fn hostile_labels_come_back(label in "[a\\\\\"{}=,# \n\t\u{e9}\u{4e2d}\u{2028}]{0,12}") {
            let text = text(&[family(Kind::Gauge, "g", &label, Value::Number(1.5))], Format::Text);
            let samples: Vec<_> = watch::exposition::samples(&text).collect();
            prop_assert_eq!(samples.len(), 1, "{}", text);
            prop_assert_eq!(samples[0].value, 1.5);
            let found = samples[0].labels.get("label");
            prop_assert_eq!(found.as_deref(), Some(&*label));
        }
    }
}
