//! Cost of a finished run, computed from its summary, for the text and the JSON of the summary.

use plan::plan::{Plan, SamplerKind};
use report::model::{Cost, Known, Prices, Taken};
use stats::summary::Summary;

/// Returns the facts that determine the cost of a run of this plan.
pub(crate) fn known(plan: &Plan, prices: Option<&Prices>) -> Known {
    let mut kinds = plan.samplers.iter().map(|sampler| &sampler.kind);
    let is_http =
        !plan.samplers.is_empty() && kinds.all(|kind| matches!(kind, SamplerKind::Http(_)));
    Known { prices: prices.cloned(), is_http }
}

pub(crate) fn of(summary: &Summary, known: &Known) -> Cost {
    let taken = Taken {
        core_seconds: summary.generator.user_s + summary.generator.system_s,
        memory_byte_s: summary.course.as_ref().map_or(0.0, |course| course.memory_byte_s),
        sent_bytes: summary.sent_bytes,
        received_bytes: summary.received_bytes,
        succeeded: summary.requests.saturating_sub(summary.failed),
    };
    Cost::new(&taken, known)
}
