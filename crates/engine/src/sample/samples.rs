//! State of a core's samples: the result under work, texts being evaluated, labels.

use plan::env::Scratch;
use plan::plan::{Plan, SamplerKind};
use plan::result::SampleResult;
use stats::{LabelId, Recorder};

use crate::ids::UserId;
use crate::run::RunShared;
use crate::sample::interrupt::Watch;
use crate::time::clock::Nanos;

#[allow(clippy::vec_box)] // Results and exchanges move between pools and owners by their pointer.
/// Results and texts of a core's samples.
pub(crate) struct Samples {
    /// The result being processed.
    pub(crate) result: Box<SampleResult>,
    pub(crate) results: Vec<Box<SampleResult>>,
    pub(crate) texts: Scratch,
    /// Labels of samplers whose name is fixed.
    pub(crate) labels: Vec<Option<LabelId>>,
    /// Branches of users that have nothing to load.
    pub(crate) branches: Vec<UserId>,
    /// Samples that a Sample Timeout may interrupt, by user.
    pub(crate) watch: Watch,
    /// The plan has Parallel Controllers.
    pub(crate) has_lanes: bool,
}

impl Samples {
    pub(crate) fn new(
        plan: &Plan,
        run: &RunShared,
        core: u32,
        now: Nanos,
        recorder: &mut Recorder,
    ) -> Self {
        let names = plan.samplers.iter().map(|sampler| sampler.name.fixed());
        let is_parallel = |kind: &SamplerKind| matches!(kind, SamplerKind::Parallel(_));
        Self {
            result: Box::default(),
            results: Vec::new(),
            texts: Scratch::new(
                run.seed ^ u64::from(run.rank(core)).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ),
            labels: names.map(|name| name.map(|name| recorder.intern(name))).collect(),
            branches: Vec::new(),
            watch: Watch::new(now),
            has_lanes: plan.samplers.iter().any(|sampler| is_parallel(&sampler.kind)),
        }
    }
}
