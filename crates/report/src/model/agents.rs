//! The machines that sent the load of a run, with the metrics of each, and their zones.

/// The metrics of one machine, or of all machines of a zone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agent {
    /// Name of the machine or of the zone; empty for the zone of machines without a zone.
    pub name: String,
    /// The zone of the machine.
    pub zone: String,
    /// Number of machines: 1 for a machine, or the number in the zone.
    pub agents: u64,
    /// Number of users started.
    pub users: u64,
    /// Number of requests, without transactions.
    pub samples: u64,
    pub failed: u64,
    pub rate_per_s: f64,
    /// Mean response time from the intended start, µs; `None` without samples.
    pub mean_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub max_us: Option<f64>,
    /// Upper limit for the error of the machine's clock, ms.
    pub clock_bound_ms: Option<f64>,
}

/// The machines of a run, and its zones if there are several.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    pub agents: Vec<Agent>,
    pub zones: Vec<Agent>,
}
