//! The machines that sent a run's load, each with what it has measured, and the zones that they are in.

/// One machine, or all of a zone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agent {
    /// Of a machine or of a zone; the zone of machines without one has none.
    pub name: String,
    /// The zone of a machine.
    pub zone: String,
    /// Machines: 1, or those of the zone.
    pub agents: u64,
    /// Users that were started.
    pub users: u64,
    /// Requests, without transactions.
    pub samples: u64,
    pub failed: u64,
    pub rate_per_s: f64,
    /// Response times from the intended start, µs; without samples there are none.
    pub mean_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub max_us: Option<f64>,
    /// Bound of the error of the machine's clock, ms.
    pub clock_bound_ms: Option<f64>,
}

/// The machines of a run, and its zones where there are several.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    pub agents: Vec<Agent>,
    pub zones: Vec<Agent>,
}
