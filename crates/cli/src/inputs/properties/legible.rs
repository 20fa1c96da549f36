//! Checks of properties whose values cannot be parsed.
//!
//! If a property of Throng has such a value, this is an error before the run starts, because the limit or switch
//! that its user wanted would be missing. If JMeter cannot parse a number, it uses its default. Throng does the
//! same and prints a warning.

use super::Properties;

/// Type of a property's value.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// An integer within this range, both ends included.
    Whole(i64, i64),
    /// A number of 0 or more, with decimals.
    Number,
    Flag,
    Word(&'static [&'static str]),
}

const MOST: i64 = i64::MAX;

/// Throng's own properties. The engine checks those that name addresses, series or tags; the module `jvm` checks
/// those of Java.
#[rustfmt::skip]
const OWN: &[(&str, Kind)] = &[
    ("throng.connect.rate", Kind::Number),
    ("throng.dns.port", Kind::Whole(1, 65_535)),
    ("throng.dns.timeout_ms", Kind::Whole(1, MOST)),
    ("throng.evaluation.steps", Kind::Whole(1, MOST)),
    ("throng.fleet.grace", Kind::Whole(1, 3600)),
    ("throng.http.reset_state_every_iteration", Kind::Flag),
    ("throng.http.retry_stale", Kind::Flag),
    ("throng.jvm.isolated", Kind::Flag),
    ("throng.log.samples", Kind::Flag),
    ("throng.log.short_names", Kind::Flag),
    ("throng.log.threads", Kind::Whole(0, MOST)),
    ("throng.overcommit", Kind::Flag),
    ("throng.processes.allowed", Kind::Flag),
    ("throng.response.most_bytes", Kind::Whole(0, MOST)),
    ("throng.save.anywhere", Kind::Flag),
    ("throng.scripts.native", Kind::Flag),
    ("throng.stop.grace", Kind::Whole(0, MOST)),
    ("throng.stop.unconnected", Kind::Whole(0, MOST)),
    ("throng.throughput_timer.rounded", Kind::Flag),
    ("throng.tls.check_signature", Kind::Flag),
    ("throng.websocket.inbox.bytes", Kind::Whole(0, MOST)),
    ("throng.websocket.inbox.full", Kind::Word(&["stop", "drop_oldest", "fail"])),
    ("throng.websocket.reconnect.first_ms", Kind::Whole(0, MOST)),
    ("throng.websocket.reconnect.most_ms", Kind::Whole(0, MOST)),
    ("throng.workers", Kind::Whole(0, 1000)),
];

/// JMeter properties whose values are numbers.
const OF_JMETER: &[&str] = &[
    "aggregate_rpt_pct1",
    "aggregate_rpt_pct2",
    "aggregate_rpt_pct3",
    "backend_graphite.send_interval",
    "backend_influxdb.connection_timeout",
    "backend_influxdb.send_interval",
    "backend_influxdb.socket_timeout",
    "backend_metrics_large_window",
    "backend_metrics_window",
    "http.proxyPort",
    "httpclient.socket.http.cps",
    "httpclient.socket.https.cps",
    "httpclient4.idletimeout",
    "httpclient4.retrycount",
    "httpclient4.time_to_live",
    "httpclient4.validate_after_inactivity",
    "https.proxyPort",
    "httpsampler.max_bytes_to_store_per_request",
    "httpsampler.max_frame_depth",
    "httpsampler.max_redirects",
    "jmeterengine.nongui.maxport",
    "jmeterengine.nongui.port",
    "summariser.interval",
    "timer.factor",
];

/// Returns the reason why a value is invalid for a property of Throng.
pub(crate) fn wrong(name: &str, value: &str) -> Option<String> {
    let value = value.trim();
    let (_, kind) = OWN.iter().find(|(own, _)| *own == name).filter(|_| !value.is_empty())?;
    let (is_right, wanted) = match *kind {
        Kind::Whole(from, to) => {
            let range = if to == MOST { "or more".to_owned() } else { format!("to {to}") };
            let is_within = |number: i64| (from..=to).contains(&number);
            (value.parse().is_ok_and(is_within), format!("a whole number, {from} {range}"))
        }
        Kind::Number => {
            let is_number = |number: f64| number.is_finite() && number >= 0.0;
            (value.parse().is_ok_and(is_number), "a number, 0 or more".to_owned())
        }
        Kind::Flag => {
            let is_flag = ["true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word));
            (is_flag, "true or false".to_owned())
        }
        Kind::Word(words) => (words.contains(&value), words.join(", ")),
    };
    (!is_right).then(|| format!("{name} is {value:?}; it must be {wanted}"))
}

impl Properties {
    /// Returns an error message for the first property with an invalid value, with its source.
    pub(super) fn illegible(&self) -> Option<String> {
        self.origins.iter().find_map(|(name, origin)| {
            let words = wrong(name, self.get(name)?)?;
            Some(format!("{words} ({origin})"))
        })
    }

    /// Returns warnings about numbers that cannot be parsed, for which JMeter's default is used.
    pub(super) fn defaulted(&self) -> Vec<String> {
        let odd = OF_JMETER.iter().filter_map(|name| {
            let (value, origin) = (self.get(name)?.trim(), self.origins.get(*name)?);
            let is_number = value.parse::<f64>().is_ok_and(f64::is_finite);
            let words = format!(
                "the property {name} ({origin}) is {value:?}, which is not a number: the default is used, as in JMeter"
            );
            (!is_number && !value.is_empty()).then_some(words)
        });
        odd.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_own_properties_are_understood_or_refused() {
        for (name, value, words) in [
            ("throng.stop.unconnected", "many", "it must be a whole number, 0 or more"),
            ("throng.dns.port", "70000", "a whole number, 1 to 65535"),
            ("throng.connect.rate", "-1", "a number, 0 or more"),
            ("throng.log.samples", "yes", "true or false"),
            ("throng.websocket.inbox.full", "drop", "stop, drop_oldest, fail"),
        ] {
            let found = wrong(name, value);
            assert!(found.as_ref().is_some_and(|found| found.contains(words)), "{name}: {found:?}");
        }
        for (name, value) in [
            ("throng.stop.unconnected", " 100 "),
            ("throng.connect.rate", "0.5"),
            ("throng.log.samples", "TRUE"),
            ("throng.stop.grace", ""),
            ("host", "many"),
        ] {
            assert_eq!(wrong(name, value), None, "{name}");
        }
    }
}
