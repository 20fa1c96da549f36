//! State of a core's samples: labels, user-defined series, time limits.

use plan::plan::{Needs, Plan, Sampler, SamplerKind};
use stats::{LabelId, Recorder};

use crate::sample::interrupt::Watch;
use crate::settings::series::{Series, Source};
use crate::time::clock::Nanos;

/// Series whose values come from variables: index of the series, and name of the variable.
type Extracted = Box<[(usize, String)]>;

/// State of a core for its samples: labels, series, and time limits.
pub(crate) struct Samples {
    /// Labels of samplers with a constant name.
    pub(crate) labels: Vec<Option<LabelId>>,
    /// For each sampler: the series whose variables its post-processors set. Empty if there are none.
    pub(crate) series: Box<[Extracted]>,
    /// Users whose samples a Sample Timeout may interrupt.
    pub(crate) watch: Watch,
    /// Number of consecutive samples that got no connection, if the run has a limit for them.
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

/// Returns, for each sampler, the series whose variables its post-processors set.
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

/// Returns, for each sampler, true if an element, a listener or a script reads its results in addition to the
/// statistics. `all`: the results of all samplers are read.
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

/// Returns true if a response of a mobile gateway fails the sample when it cannot be decrypted, whether or not its body
/// is read.
fn decrypts_always(plan: &Plan, sampler: &Sampler) -> bool {
    let SamplerKind::Http(http) = &sampler.kind else { return false };
    http.gateway.is_some_and(|at| plan.gateways[at as usize].may_decrypt_always())
}
