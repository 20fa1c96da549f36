//! State of a core's samples: labels, branches, time limits.

use plan::plan::{Needs, Plan, Sampler, SamplerKind};
use stats::{LabelId, Recorder};

use crate::sample::interrupt::Watch;
use crate::time::clock::Nanos;

/// State of a core's samples.
pub(crate) struct Samples {
    /// Labels of samplers whose name is fixed.
    pub(crate) labels: Vec<Option<LabelId>>,
    /// Samples that a Sample Timeout may interrupt, by user.
    pub(crate) watch: Watch,
    /// Samples in a row that got no connection, where the run is stopped after a number of them.
    pub(crate) unconnected: u32,
}

impl Samples {
    pub(crate) fn new(plan: &Plan, now: Nanos, recorder: &mut Recorder) -> Self {
        let names = plan.samplers.iter().map(|sampler| sampler.name.fixed());
        Self {
            labels: names.map(|name| name.map(|name| recorder.intern(name))).collect(),
            watch: Watch::new(now),
            unconnected: 0,
        }
    }
}

/// Whether anybody looks at results beyond their measurements, by sampler. `all`: somebody looks at those of whatever samplers.
pub(crate) fn observed(plan: &Plan, all: bool) -> Box<[bool]> {
    let looked_at = |sampler: &Sampler| {
        all || sampler.needs.intersects(Needs::all().difference(Needs::ROW))
            || !sampler.after.is_empty()
            || !sampler.checks.is_empty()
            || decrypts_always(plan, sampler)
            || !matches!(sampler.kind, SamplerKind::Http(_) | SamplerKind::WebSocket(_))
    };
    plan.samplers.iter().map(looked_at).collect()
}

/// Whether an answer of a mobile gateway fails the sample where it cannot be decrypted, whoever reads it.
fn decrypts_always(plan: &Plan, sampler: &Sampler) -> bool {
    let SamplerKind::Http(http) = &sampler.kind else { return false };
    http.gateway.is_some_and(|at| plan.gateways[at as usize].may_decrypt_always())
}
