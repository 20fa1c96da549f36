//! Names of metrics in other load testers and in everyday speech, with the names that a criterion uses.

/// Names without blanks in lower case, with the metric to write instead.
const NAMES: &[(&[&str], &str)] = &[
    (
        &[
            "http_req_duration",
            "http_req_waiting",
            "iteration_duration",
            "http.response_time",
            "response_time",
            "response-time",
            "responsetime",
            "avg_response_time",
            "avg-rt",
            "latency",
            "duration",
            "elapsed",
            "time",
            "rt",
            "ttfb",
            "percentile",
            "p",
            "apdex",
        ],
        "p95, mean or max, of response times, as in p95 < 500ms",
    ),
    (
        &[
            "http_req_failed",
            "failed",
            "fail",
            "failures",
            "failure",
            "fail%",
            "failed%",
            "failrate",
            "failurerate",
            "failure_rate",
            "fail_ratio",
            "failedrequests",
            "errorrate",
            "error_rate",
            "error-rate",
            "errorsrate",
            "errorratio",
            "errorpercentage",
            "errorpercent",
            "maxerrorrate",
            "error",
        ],
        "error%, the share of failed requests, as in error% < 1, or errors, their number",
    ),
    (
        &[
            "success",
            "success%",
            "successrate",
            "success_rate",
            "successfulrequests",
            "successratio",
            "succ",
            "ok",
            "ok%",
            "availability",
            "uptime",
            "passed",
        ],
        "error%, the share of failed requests: error% < 1 is a success of more than 99 %",
    ),
    (
        &["http_reqs", "requests", "reqs", "hits", "iterations", "samplecount", "total"],
        "count, the number of requests, or rate, those per second",
    ),
    (
        &[
            "qps",
            "tps",
            "req/s",
            "reqs/s",
            "requests/s",
            "requestspersec",
            "requestspersecond",
            "requestrate",
            "http.request_rate",
            "hps",
        ],
        "rate, the requests per second, as in rate > 100",
    ),
    (&["check", "checks"], "checks%, the share of checked answers whose assertions held"),
    (
        &["min", "minimum", "stddev", "std", "variance"],
        "p50, p95, mean or max: times have no other figures",
    ),
    (
        &["vus", "users", "threads", "concurrency", "concurr", "active"],
        "a metric of answers, like p95 or error%; --users N sets the number of users",
    ),
    (
        &["cpu", "memory", "mem", "load"],
        "a metric of answers, like p95 or error%; --watch NAME=URL shows processors and memory of hosts",
    ),
];

/// Words next to the number of a percentile in other notations.
const AROUND: &[&str] =
    &["percentile", "percent", "quantile", "perc", "pct", "line", "th", "p", "q"];

/// Returns the metric to write instead of a name that is not a metric of a criterion.
pub(super) fn meant(name: &str) -> Option<String> {
    if let Some(percent) = percentile(name) {
        return Some(format!("p{percent}"));
    }
    // k6 writes tags and statistics after the metric: http_req_duration{name:Login}, http_req_duration: p95.
    let ends = |c: char| matches!(c, '{' | ':' | '(');
    let bare = name.split(ends).next().unwrap_or(name);
    let of = |name: &str| NAMES.iter().find(|(names, _)| names.contains(&name));
    of(name).or_else(|| of(bare)).map(|(_, words)| (*words).to_owned())
}

/// Returns the number of a percentile in another notation: `95th`, `p95%`, `pct95`, `90%line`, `percentile95`.
fn percentile(name: &str) -> Option<f64> {
    let mut rest = name;
    loop {
        let trimmed =
            rest.trim_matches(|c: char| matches!(c, '%' | '_' | '-' | '(' | ')' | '.' | '='));
        let trimmed = AROUND.iter().fold(trimmed, |rest, word| {
            let rest = rest.strip_prefix(word).unwrap_or(rest);
            rest.strip_suffix(word).unwrap_or(rest)
        });
        if trimmed == rest {
            break;
        }
        rest = trimmed;
    }
    let is_plain = rest.starts_with(|c: char| c.is_ascii_digit());
    let number = rest.parse::<f64>().ok().filter(|_| is_plain && rest != name)?;
    (number > 1.0 && number < 100.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_other_tools_are_named_as_here() {
        for (name, percent) in [
            ("95th", Some("p95")),
            ("p95%", Some("p95")),
            ("pct99.9", Some("p99.9")),
            ("90%line", Some("p90")),
            ("percentile(95)", Some("p95")),
            ("95thpercentile", Some("p95")),
            ("p_95", Some("p95")),
            ("p100", None),
            ("95", None),
            ("speed", None),
        ] {
            assert_eq!(meant(name).as_deref(), percent, "{name}");
        }
    }

    #[test]
    fn a_name_stands_in_one_row_and_no_row_names_a_metric_that_is_read() {
        let all: Vec<&str> = NAMES.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        for name in &all {
            assert_eq!(all.iter().filter(|other| *other == name).count(), 1, "{name}");
            let criterion = format!("{name} > 5");
            let error = crate::criterion::Criterion::parse(&criterion).expect_err(name);
            assert!(error.contains(&format!("unknown metric {name}: write ")), "{error}");
        }
        let of = |name| meant(name).unwrap_or_default();
        assert!(of("http_req_duration{name:login}").starts_with("p95"));
        assert!(of("http_req_duration:p95").starts_with("p95"));
        assert!(of("http_req_failed").starts_with("error%"));
    }
}
