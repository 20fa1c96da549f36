//! Watches the free ports of watched hosts during a run, and warns before they run out.

use std::collections::BTreeMap;
use std::sync::Arc;

use answers::host_ports::{Ahead, DEFAULT_PORTS, Reading};
use record::Series;

/// Forecasts of free ports on the watched hosts, by host name.
#[derive(Debug, Default)]
pub(crate) struct PortsAhead(BTreeMap<Arc<str>, (Ahead, Option<f64>)>);

impl PortsAhead {
    /// Adds the metrics of a second. Returns one warning for each host whose ports will run out.
    pub(crate) fn add(&mut self, at_ms: i64, watched: &[(Series, f64)]) -> Vec<String> {
        let waiting = watched.iter().filter(|(series, _)| &*series.metric == "time_wait");
        let told = waiting.filter_map(|(series, waiting)| {
            let of = |metric: &str| {
                let mut own = watched.iter().filter(|(one, _)| one.host == series.host);
                own.find(|(one, _)| &*one.metric == metric).map(|(_, value)| *value)
            };
            let (ahead, ports) = self.0.entry(Arc::clone(&series.host)).or_default();
            *ports = of("ports").or(*ports);
            let range = ports.unwrap_or(DEFAULT_PORTS);
            let reading = Reading {
                at_ms,
                waiting: *waiting,
                opened: of("opened"),
                accepted: of("accepted"),
            };
            let found = ahead.add(reading, range)?;
            let left_s = (found.gone_ms - at_ms) as f64 / 1000.0;
            Some(format!(
                "local ports of {} run out in about {left_s:.0} s if it goes on like this: {:.0} of {range:.0} are in \
                 TIME_WAIT, {:.0} more each second",
                series.host, found.waiting, found.per_s
            ))
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use record::Unit;

    use super::*;

    #[test]
    fn a_host_whose_ports_run_out_is_named_once_and_before() {
        let series = |metric: &str| Series {
            host: "gateway".into(),
            metric: metric.into(),
            unit: Unit::Count,
        };
        let mut ahead = PortsAhead::default();
        let told: Vec<(i64, String)> = (0..10_i64)
            .flat_map(|second| {
                let waiting = (400 * second) as f64;
                let figures = [
                    (series("time_wait"), waiting),
                    (series("opened"), 400.0),
                    (series("ports"), 5000.0),
                ];
                let told = ahead.add(second * 1000, &figures);
                told.into_iter().map(move |line| (second, line))
            })
            .collect();
        let line = "local ports of gateway run out in about 8 s if it goes on like this: 1600 of 5000 are in TIME_WAIT, 400 more each second";
        assert_eq!(told, [(4, line.to_owned())]);
    }
}
