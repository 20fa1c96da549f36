//! The samples of a page that were kept as evidence.

use record::Record;
use record::kept::Why;
use serde::Serialize;
use stats::Outcome;
use stats::kept::EXCERPT;

use super::labels::Order;

/// Largest number of samples on a page: errors first, then the slowest, then random ones.
const MOST: usize = 300;

#[derive(Debug, Serialize)]
pub struct Sample {
    pub why: &'static str,
    /// Index of the label on the page.
    pub label: usize,
    pub at_ms: i64,
    pub ok: bool,
    pub code: String,
    pub message: String,
    pub cause: Option<u32>,
    pub address: String,
    /// Trace id of the sample, as sent in `traceparent`.
    pub trace: Option<String>,
    /// Times of the sample's phases in µs, in the order of a label's phases.
    pub phases: Vec<Option<f64>>,
    pub elapsed_us: f64,
    pub request: Option<String>,
    pub response: Option<String>,
    /// True if the excerpt of the request or of the response is truncated.
    pub cut: bool,
}

pub(super) fn samples(record: &Record, order: &Order) -> Vec<Sample> {
    let mut kept: Vec<_> =
        record.kept.iter().filter(|kept| order.place(kept.label).is_some()).collect();
    let rank = |why: Why| match why {
        Why::Error => 0,
        Why::Slow => 1,
        Why::Random => 2,
    };
    kept.sort_by_key(|kept| (rank(kept.why), std::cmp::Reverse(kept.elapsed)));
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let one = |kept: &&record::Kept| Sample {
        why: ["error", "slowest", "random"][rank(kept.why)],
        label: order.place(kept.label).unwrap_or_default(),
        at_ms: kept.start_ms,
        ok: kept.outcome == Outcome::Ok,
        code: kept.code.to_string(),
        message: kept.message.to_string(),
        cause: kept.cause,
        address: kept.address.to_string(),
        trace: (kept.trace != 0).then(|| format!("{:032x}", kept.trace)),
        phases: kept.phases.to_array().map(|ns| (ns > 0).then_some(ns as f64 / 1000.0)).to_vec(),
        elapsed_us: kept.elapsed as f64 / 1000.0,
        request: text(&kept.request),
        response: text(&kept.response),
        cut: kept.request.len() >= EXCERPT || kept.response.len() >= EXCERPT,
    };
    // Each reason for keeping samples gets an equal share, so that many errors leave room for the slowest samples.
    let mut found: Vec<Sample> = Vec::new();
    for why in [Why::Error, Why::Slow, Why::Random] {
        found.extend(kept.iter().filter(|kept| kept.why == why).take(MOST / 3).map(one));
    }
    found
}
