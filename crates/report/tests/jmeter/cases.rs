//! Test cases for JMeter's dashboard metrics. A case is a result file with properties.

use crate::made;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) rows: fn() -> String,
    pub(crate) properties: &'static [(&'static str, &'static str)],
}

impl Case {
    /// Returns names and values of the properties. A date, given in ms since 1970, is formatted in the time zone of
    /// this machine.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&'static str, String)> {
        let date = |text: &str| {
            let form = stats::jtl::Pattern::new("yyyy-MM-dd'T'HH:mm:ss").expect("a pattern");
            form.format(text.parse().expect("milliseconds"))
        };
        let value = move |text: &str| text.strip_prefix('@').map_or_else(|| text.to_owned(), date);
        self.properties.iter().map(move |(key, text)| (*key, value(text)))
    }
}

const ODD: &str = include_str!("rows/odd.jtl");

fn lines<'l>(of: impl Iterator<Item = &'l str>) -> String {
    of.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the rows that do not span several lines.
fn plain() -> String {
    let whole = |row: &&str| !row.contains("quoted") && !row.starts_with("line");
    lines(ODD.lines().filter(whole))
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "odd", rows: || ODD.to_owned(), properties: &[] },
    Case { name: "long", rows: made::long, properties: &[] },
    Case {
        name: "long-r3",
        rows: made::long,
        properties: &[
            ("backend_metrics_percentile_estimator", "R_3"),
            ("aggregate_rpt_pct1", "50.5"),
            ("aggregate_rpt_pct2", "99.9"),
            ("aggregate_rpt_pct3", "100"),
            ("jmeter.reportgenerator.statistic_window", "501"),
        ],
    },
    Case {
        name: "filtered",
        rows: made::long,
        properties: &[
            ("jmeter.reportgenerator.sample_filter", "T|often|rare.*|part"),
            ("jmeter.reportgenerator.apdex_satisfied_threshold", "100"),
            ("jmeter.reportgenerator.apdex_tolerated_threshold", "300"),
            (
                "jmeter.reportgenerator.apdex_per_transaction",
                "T:1000|2000;r.*:50|60; often :1|2;nonsense;of.en:200|250",
            ),
            ("jmeter.reportgenerator.exclude_tc_from_top5_errors_by_sampler", "false"),
            ("jmeter.reportgenerator.statistic_window", "-1"),
        ],
    },
    Case {
        name: "dated",
        rows: || made::dated(&plain()),
        properties: &[
            ("jmeter.save.saveservice.timestamp_format", "yyyy/MM/dd HH:mm:ss.SSS"),
            ("sampleresult.timestamp.start", "false"),
            ("jmeter.reportgenerator.start_date", "20231101000000"),
            ("jmeter.reportgenerator.end_date", "20301101000000"),
        ],
    },
    Case {
        name: "late",
        rows: made::long,
        properties: &[
            ("jmeter.reportgenerator.date_format", "yyyy-MM-dd'T'HH:mm:ss"),
            ("jmeter.reportgenerator.start_date", "@1700000060000"),
            ("jmeter.reportgenerator.end_date", "@1700000300000"),
            ("jmeter.reportgenerator.statistic_window", "not a number"),
        ],
    },
    Case { name: "no-heading", rows: || lines(plain().lines().skip(1)), properties: &[] },
    Case { name: "narrow", rows: || made::narrow(&plain()), properties: &[] },
    Case {
        name: "total",
        rows: || ODD.replace(",zero,", ",Total,"),
        properties: &[("jmeter.save.saveservice.assertion_results_failure_message", "false")],
    },
];
