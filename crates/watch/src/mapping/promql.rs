//! The metrics of the tables as PromQL queries to a Prometheus that scrapes the same exporters.

use super::{How, Row, TABLES, Term};

/// Range over which the queries compute rates: at least four scrapes at an interval of up to 30 s.
const RANGE: &str = "[2m]";

/// Returns the queries for a metric by its common name: one query per exporter, each with one value per `instance`.
pub fn promql(metric: &str) -> Vec<String> {
    let mut queries: Vec<String> = Vec::new();
    for row in TABLES.into_iter().flatten().filter(|row| row.metric == metric) {
        let query = row.promql();
        if !queries.contains(&query) {
            queries.push(query);
        }
    }
    queries
}

impl Row {
    fn promql(&self) -> String {
        let now = |term: &Term| sum(&term.selector());
        let rate = |term: &Term| sum(&format!("rate({}{RANGE})", term.selector()));
        let all = |terms: &[Term], one: &dyn Fn(&Term) -> String| {
            terms.iter().map(one).collect::<Vec<_>>().join(" + ")
        };
        match self.how {
            How::Now(terms) => all(terms, &now),
            How::Rate(terms) => all(terms, &rate),
            How::RateOfNanoseconds(terms) => format!("({}) / 1e9", all(terms, &rate)),
            How::MeanPercent(terms) => {
                let mean = |term: &Term| format!("avg by (instance) ({})", term.selector());
                format!("({}) / 100", all(terms, &mean))
            }
            How::Share(part, whole) => format!("{} / {}", now(&part), now(&whole)),
            How::Rest(part, whole) => format!("1 - {} / {}", now(&part), now(&whole)),
            How::ShareOfRates(part, whole) => format!("{} / {}", rate(&part), rate(&whole)),
            How::RestOfRates(part, whole) => format!("1 - {} / {}", rate(&part), rate(&whole)),
            How::Lost(all, taken) => format!("{} - {}", rate(&all), rate(&taken)),
            How::Span(first, last) => format!("{} - {} + 1", now(&last), now(&first)),
            How::Product(one, other) => format!("{} * {}", now(&one), now(&other)),
        }
    }
}

fn sum(of: &str) -> String {
    format!("sum by (instance) ({of})")
}

impl Term {
    fn selector(&self) -> String {
        let named = match self.name.split_once('*') {
            None => Vec::new(),
            Some((begin, end)) => vec![format!("__name__=~\"{begin}.*{end}\"")],
        };
        // Names of states may contain parentheses, which must be escaped in regular expressions.
        let quoted = |values: &str| values.replace('(', "\\\\(").replace(')', "\\\\)");
        let with = self.with.iter().map(|(name, values)| format!("{name}=~\"{}\"", quoted(values)));
        let without =
            self.without.iter().map(|(name, values)| format!("{name}!~\"{}\"", quoted(values)));
        let matchers: Vec<String> = named.into_iter().chain(with).chain(without).collect();
        let name = if self.name.contains('*') { "" } else { self.name };
        if matchers.is_empty() {
            name.to_owned()
        } else {
            format!("{name}{{{}}}", matchers.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_query_for_each_exporter() {
        assert_eq!(
            promql("cpu")[0],
            "1 - sum by (instance) (rate(node_cpu_seconds_total{mode=~\"idle|iowait\"}[2m])) / sum by (instance) (rate(node_cpu_seconds_total[2m]))"
        );
        assert_eq!(promql("cpu_stolen").len(), 1);
        assert_eq!(promql("pool_waiting").len(), 2);
        assert!(
            promql("pool_used")[1]
                .contains("{__name__=~\"com_zaxxer_hikari_Pool_.*_ActiveConnections\"}")
        );
        assert!(promql("connections_in_idle_transactions")[0].contains("\\\\(aborted\\\\)"));
        assert_eq!(promql("no_such_figure"), Vec::<String>::new());
    }
}
