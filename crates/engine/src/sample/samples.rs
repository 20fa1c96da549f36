//! State of a core's samples: labels, branches, time limits.

use plan::plan::{Needs, Plan, Sampler, SamplerKind};
use stats::{LabelId, Recorder};

use crate::sample::interrupt::Watch;
use crate::settings::series::{Series, Source};
use crate::time::clock::Nanos;

/// Places of series and the variables that these are of.
type Extracted = Box<[(usize, String)]>;

/// State of a core's samples.
pub(crate) struct Samples {
    /// Labels of samplers whose name is fixed.
    pub(crate) labels: Vec<Option<LabelId>>,
    /// The series whose variables a sampler's post-processors set: place and variable, by sampler. Empty without series.
    pub(crate) series: Box<[Extracted]>,
    /// Samples that a Sample Timeout may interrupt, by user.
    pub(crate) watch: Watch,
    /// Samples in a row that got no connection, where the run is stopped after a number of them.
    pub(crate) unconnected: u32,
}

impl Samples {
    pub(crate) fn new(plan: &Plan, now: Nanos, recorder: &mut Recorder, series: &Series) -> Self {
        let names = plan.samplers.iter().map(|sampler| sampler.name.fixed());
        Self {
            labels: names.map(|name| name.map(|name| recorder.intern(name))).collect(),
            series: extracted(plan, series),
            watch: Watch::new(now),
            unconnected: 0,
        }
    }
}

/// The series whose variables each sampler's post-processors set.
fn extracted(plan: &Plan, series: &Series) -> Box<[Extracted]> {
    let variables = || {
        series.0.iter().enumerate().filter_map(|(at, source)| match source {
            Source::Variable(name) => Some((at, name)),
            Source::Header(_) | Source::Timing(_) => None,
        })
    };
    if variables().next().is_none() {
        return Box::default();
    }
    let of = |sampler: &Sampler| {
        let sets = |(_, name): &(usize, &String)| {
            sampler.after.iter().any(|extractor| extractor.may_set(name))
        };
        variables().filter(sets).map(|(at, name)| (at, name.clone())).collect()
    };
    plan.samplers.iter().map(of).collect()
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
