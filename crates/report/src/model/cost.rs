//! The cost of a run: processor time, memory over time, bytes and, with prices, money.
//!
//! The cost includes an estimate of JMeter's processor time for the same requests, from the ratio measured by
//! `bench/realistic-plan`. The ratio applies to HTTP requests, so the estimate exists only for plans with nothing else.
//! A live page shows the cost so far.

use answers::verdict::Words;
use serde::{Deserialize, Serialize};
use stats::grouped::{bytes, bytes_zh, count};

use super::words;

/// Ratio of JMeter's processor time per request to Throng's: 218 µs to 18.2 µs in `bench/realistic-plan`.
const JMETER: f64 = 12.0;
/// The benchmark in which the ratio [`JMETER`] was measured.
const MEASURED: &str = "bench/realistic-plan";
/// Number of bytes in a GiB.
const GIB: f64 = (1_u64 << 30) as f64;

/// Prices in a currency that the user chose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    pub currency: String,
    /// Price of one processor for an hour.
    pub core_hour: f64,
    /// Price of a GiB of memory for an hour.
    pub gib_hour: f64,
    /// Price of a GiB sent.
    pub gib_sent: f64,
    /// Price of a GiB received.
    pub gib_received: f64,
}

impl Prices {
    /// Returns true if any price is above 0.
    fn has_any(&self) -> bool {
        [self.core_hour, self.gib_hour, self.gib_sent, self.gib_received]
            .iter()
            .any(|one| *one > 0.0)
    }
}

/// The facts about a run that its cost depends on and that are known before it starts.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub prices: Option<Prices>,
    /// True if all samplers of the plan send HTTP requests.
    pub is_http: bool,
}

/// The resources that a run has used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    pub core_seconds: f64,
    /// Memory multiplied by the time for which the run used it, in byte seconds.
    pub memory_byte_s: f64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// Number of requests that did not fail.
    pub succeeded: u64,
}

/// The cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    core_seconds: f64,
    memory_gib_hours: f64,
    sent_bytes: u64,
    received_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    money: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jmeter_estimate: Option<Estimate>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Money {
    currency: String,
    processors: f64,
    memory: f64,
    traffic: f64,
    total: f64,
}

impl Money {
    /// Formats an amount with the currency, if the prices name one.
    fn amount(&self, value: f64) -> String {
        format!("{} {}", digits(value), self.currency).trim_end().to_owned()
    }
}

/// An estimate of JMeter's processor time for the same requests, from a measured ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Estimate {
    core_seconds: f64,
    /// Ratio of JMeter's processor time to Throng's.
    ratio: f64,
    measured_in: String,
    /// The price of JMeter's processor time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    processors: Option<f64>,
}

impl Cost {
    pub fn new(taken: &Taken, known: &Known) -> Self {
        let Taken { core_seconds, memory_byte_s, sent_bytes, received_bytes, succeeded } = *taken;
        let memory_gib_hours = memory_byte_s / GIB / 3600.0;
        let of_processors = |prices: &Prices, seconds: f64| seconds / 3600.0 * prices.core_hour;
        let prices = known.prices.as_ref().filter(|prices| prices.has_any());
        let money = prices.map(|prices| {
            let processors = of_processors(prices, core_seconds);
            let memory = memory_gib_hours * prices.gib_hour;
            let traffic = sent_bytes as f64 / GIB * prices.gib_sent
                + received_bytes as f64 / GIB * prices.gib_received;
            let currency = prices.currency.clone();
            Money { currency, processors, memory, traffic, total: processors + memory + traffic }
        });
        let is_estimated = known.is_http && succeeded > 0 && core_seconds > 0.0;
        let jmeter_estimate = is_estimated.then(|| Estimate {
            core_seconds: core_seconds * JMETER,
            ratio: JMETER,
            measured_in: MEASURED.to_owned(),
            processors: prices
                .filter(|prices| prices.core_hour > 0.0)
                .map(|prices| of_processors(prices, core_seconds * JMETER)),
        });
        Self { core_seconds, memory_gib_hours, sent_bytes, received_bytes, money, jmeter_estimate }
    }

    /// Returns name, value and note of each metric for a page.
    pub fn figures(&self) -> Vec<(Words, String, Words)> {
        let seconds = |value: f64| format!("{} core-s", digits(value));
        let (memory, sent) = (digits(self.memory_gib_hours), bytes(self.sent_bytes));
        let received = bytes(self.received_bytes);
        let [sent_zh, received_zh] = [self.sent_bytes, self.received_bytes].map(bytes_zh);
        let amounts = words(
            format!("{memory} GiB-hours of memory, {sent} sent, {received} received"),
            format!("内存 {memory} GiB·小时，发送 {sent_zh}，接收 {received_zh}"),
        );
        let mut all = Vec::new();
        if let Some(money) = &self.money {
            let [processors, memory, traffic] =
                [money.processors, money.memory, money.traffic].map(digits);
            let note = words(
                format!("processors {processors}, memory {memory}, traffic {traffic}"),
                format!("处理器 {processors}，内存 {memory}，流量 {traffic}"),
            );
            all.push((words("Cost", "费用"), money.amount(money.total), note));
        }
        all.push((words("Taken", "消耗"), seconds(self.core_seconds), amounts));
        if let Some(estimate) = &self.jmeter_estimate {
            let (ratio, place) = (estimate.ratio, &estimate.measured_in);
            let price = estimate.processors.zip(self.money.as_ref());
            let price = price
                .map_or_else(String::new, |(price, money)| format!("; {}", money.amount(price)));
            let note = words(
                format!("an estimate: {ratio} times as many, as in {place}{price}"),
                format!("估计值：{ratio} 倍，见 {place}{price}"),
            );
            let name = words("JMeter for the same", "JMeter 完成同样请求");
            all.push((name, format!("≈ {}", seconds(estimate.core_seconds)), note));
        }
        all
    }

    /// Renders the cost as lines of the text summary.
    pub fn text(&self) -> String {
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
}

/// Formats a value with two to three significant digits.
fn digits(value: f64) -> String {
    match value {
        100.0.. => count(value.round() as u64),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        // Below 1, two digits after the leading zeros are shown.
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
        let taken = Taken {
            core_seconds: 10.0,
            memory_byte_s: 7200.0 * GIB,
            sent_bytes: 1 << 29,
            received_bytes: 3 << 20,
            succeeded: 1000,
        };
        Cost::new(&taken, known)
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
        let nothing =
            Prices { core_hour: 0.0, gib_hour: 0.0, gib_sent: 0.0, gib_received: 0.0, ..prices() };
        let nothing = self::cost(&Known { prices: Some(nothing), is_http: true });
        assert_eq!(nothing, self::cost(&Known { prices: None, is_http: true }));
        let without = Prices { currency: String::new(), ..prices() };
        let without = self::cost(&Known { prices: Some(without), is_http: true }).text();
        assert_eq!(without, text.replace(" EUR", ""));
        let json = serde_json::to_value(&cost).expect("JSON");
        assert_eq!(json["jmeter_estimate"]["core_seconds"], 120.0, "{json}");
        assert_eq!(serde_json::from_value::<Cost>(json).expect("a cost"), cost);
        let shown: Vec<_> =
            cost.figures().into_iter().map(|(name, value, _)| (name.en, value)).collect();
        let expected = [
            ("Cost", "0.070 EUR"),
            ("Taken", "10.0 core-s"),
            ("JMeter for the same", "≈ 120 core-s"),
        ];
        assert_eq!(shown, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn small_numbers_keep_two_digits() {
        let shown = [0.0, 0.000_123, 0.0123, 0.5, 1.0, 9.876, 45.67, 1234.5].map(digits);
        assert_eq!(shown, ["0", "0.00012", "0.012", "0.50", "1.00", "9.88", "45.7", "1 235"]);
    }
}
