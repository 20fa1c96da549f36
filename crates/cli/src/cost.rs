//! The cost of a run: processor time, memory over time, bytes; with prices of throng.toml, in money.
//!
//! Beside it stands what JMeter takes for the same requests: an estimate, by the ratio that `bench/realistic-plan` measured,
//! and only for plans of HTTP requests alone, since the ratio is theirs.

use plan::plan::{Plan, SamplerKind};
use serde::Serialize;
use serde_json::Value;
use stats::grouped::{bytes, count};
use stats::summary::Summary;

/// Processor time of JMeter for a request, in that of Throng: 218 and 18.2 µs in `bench/realistic-plan`.
const JMETER: f64 = 12.0;
/// Where that was measured.
const MEASURED: &str = "bench/realistic-plan";
const GIB: f64 = (1_u64 << 30) as f64;

/// Prices, in a currency of the user's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Prices {
    pub(crate) currency: String,
    /// Of a processor and of a GiB of memory for an hour.
    pub(crate) core_hour: f64,
    pub(crate) gib_hour: f64,
    /// Of a GiB of traffic.
    pub(crate) gib_sent: f64,
    pub(crate) gib_received: f64,
}

/// The facts for a run's cost that are known before it starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) prices: Option<Prices>,
    /// All of its samplers send HTTP requests.
    pub(crate) is_http: bool,
}

impl Known {
    pub(crate) fn of(plan: &Plan, prices: Option<&Prices>) -> Self {
        let mut kinds = plan.samplers.iter().map(|sampler| &sampler.kind);
        let is_http =
            !plan.samplers.is_empty() && kinds.all(|kind| matches!(kind, SamplerKind::Http(_)));
        Self { prices: prices.cloned(), is_http }
    }
}

/// The cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Cost {
    core_seconds: f64,
    memory_gib_hours: f64,
    sent_bytes: u64,
    received_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    money: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jmeter_estimate: Option<Estimate>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Money {
    currency: String,
    processors: f64,
    memory: f64,
    traffic: f64,
    total: f64,
}

impl Money {
    /// An amount with the currency, where one is named.
    fn amount(&self, value: f64) -> String {
        format!("{} {}", digits(value), self.currency).trim_end().to_owned()
    }
}

/// An estimate of JMeter's processor time for the same requests, by a measured ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Estimate {
    core_seconds: f64,
    /// Times Throng's processor time.
    ratio: f64,
    measured_in: &'static str,
    /// The price of the processor time.
    #[serde(skip_serializing_if = "Option::is_none")]
    processors: Option<f64>,
}

impl Cost {
    pub(crate) fn new(summary: &Summary, known: &Known) -> Self {
        let core_seconds = summary.generator.user_s + summary.generator.system_s;
        let memory = summary.course.as_ref().map_or(0.0, |course| course.memory_byte_s);
        let memory_gib_hours = memory / GIB / 3600.0;
        let (sent_bytes, received_bytes) = (summary.sent_bytes, summary.received_bytes);
        let of_processors = |prices: &Prices, seconds: f64| seconds / 3600.0 * prices.core_hour;
        let money = known.prices.as_ref().map(|prices| {
            let processors = of_processors(prices, core_seconds);
            let memory = memory_gib_hours * prices.gib_hour;
            let traffic = sent_bytes as f64 / GIB * prices.gib_sent
                + received_bytes as f64 / GIB * prices.gib_received;
            let currency = prices.currency.clone();
            Money { currency, processors, memory, traffic, total: processors + memory + traffic }
        });
        let is_estimated = known.is_http && summary.requests > summary.failed && core_seconds > 0.0;
        let jmeter_estimate = is_estimated.then(|| Estimate {
            core_seconds: core_seconds * JMETER,
            ratio: JMETER,
            measured_in: MEASURED,
            processors: known
                .prices
                .as_ref()
                .map(|prices| of_processors(prices, core_seconds * JMETER)),
        });
        Self { core_seconds, memory_gib_hours, sent_bytes, received_bytes, money, jmeter_estimate }
    }

    /// Lines of the summary's text.
    pub(crate) fn text(&self) -> String {
        let money = self
            .money
            .as_ref()
            .map_or(String::new(), |money| format!(": {}", money.amount(money.total)));
        let mut out = format!(
            "Cost            {} core-seconds, {} GiB-hours of memory, {} sent, {} received{money}\n",
            digits(self.core_seconds),
            digits(self.memory_gib_hours),
            bytes(self.sent_bytes),
            bytes(self.received_bytes)
        );
        if let Some(estimate) = &self.jmeter_estimate {
            let money = match (estimate.processors, &self.money) {
                (Some(processors), Some(money)) => format!(
                    ", {} of processors instead of {}",
                    money.amount(processors),
                    digits(money.processors)
                ),
                _ => String::new(),
            };
            out.push_str(&format!(
                "                JMeter: about {} core-seconds{money} (an estimate: {} times as many, as in {})\n",
                digits(estimate.core_seconds),
                estimate.ratio,
                estimate.measured_in
            ));
        }
        out
    }

    /// The summary's JSON with `cost`.
    pub(crate) fn add_to_json(&self, json: String) -> String {
        let Ok(Value::Object(mut summary)) = serde_json::from_str(&json) else { return json };
        summary.insert("cost".into(), serde_json::to_value(self).unwrap_or_default());
        serde_json::to_string_pretty(&summary).unwrap_or(json)
    }
}

/// Two to three significant digits.
fn digits(value: f64) -> String {
    match value {
        100.0.. => count(value.round() as u64),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        // Two digits behind the zeros.
        _ if value >= 1e-9 => format!("{value:.*}", (1.0 - value.log10().floor()) as usize),
        _ => "0".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        Prices {
            currency: "EUR".into(),
            core_hour: 0.036,
            gib_hour: 0.01,
            gib_sent: 0.1,
            gib_received: 0.0,
        }
    }

    fn cost(known: &Known) -> Cost {
        let frame = stats::summary::Frame {
            usage: stats::process::Usage { user_s: 9.0, system_s: 1.0, ..Default::default() },
            ..Default::default()
        };
        let totals = stats::Totals::default();
        let mut summary = Summary::new(&totals, &frame, &stats::aggregate::Percentages::default());
        let mut course = stats::Timeline::new(1, 1, 0);
        course.memory_byte_s = 7200.0 * GIB;
        summary.course = Some(course);
        (summary.requests, summary.sent_bytes, summary.received_bytes) = (1000, 1 << 29, 3 << 20);
        Cost::new(&summary, known)
    }

    #[test]
    fn a_run_says_what_it_took_and_with_prices_what_that_costs() {
        let bare = cost(&Known::default()).text();
        let line = "Cost            10.0 core-seconds, 2.00 GiB-hours of memory, 512 MiB sent, 3.0 MiB received\n";
        assert_eq!(bare, line);
        let known = Known { prices: Some(prices()), is_http: true };
        let cost = cost(&known);
        let money = cost.money.as_ref().expect("money");
        let parts = [money.processors, money.memory, money.traffic, money.total];
        for (part, expected) in parts.iter().zip([0.0001, 0.02, 0.05, 0.0701]) {
            assert!((part - expected).abs() < 1e-9, "{money:?}");
        }
        let text = cost.text();
        assert!(text.contains("3.0 MiB received: 0.070 EUR\n"), "{text}");
        let jmeter = "JMeter: about 120 core-seconds, 0.0012 EUR of processors instead of 0.00010 (an estimate: 12 times as many, as in bench/realistic-plan)\n";
        assert!(text.contains(jmeter), "{text}");
        let without = Prices { currency: String::new(), ..prices() };
        let without = self::cost(&Known { prices: Some(without), is_http: true }).text();
        assert_eq!(without, text.replace(" EUR", ""));
        let json: Value = serde_json::from_str(&cost.add_to_json("{}".into())).expect("JSON");
        assert_eq!(json["cost"]["jmeter_estimate"]["core_seconds"], 120.0, "{json}");
    }

    #[test]
    fn small_numbers_keep_two_digits() {
        let shown = [0.0, 0.000_123, 0.0123, 0.5, 1.0, 9.876, 45.67, 1234.5].map(digits);
        assert_eq!(shown, ["0", "0.00012", "0.012", "0.50", "1.00", "9.88", "45.7", "1 235"]);
    }
}
