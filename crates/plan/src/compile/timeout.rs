//! The Sample Timeouts that apply to a sampler. In JMeter they have no scope: each applies to all samplers of its
//! thread.

use jmx::ElementId;

use super::Walk;
use super::scope::{children, class};
use crate::action::Action;
use crate::plan::SamplerKind;

impl Walk<'_> {
    /// Returns the indexes of the Sample Timeouts among the elements and their descendants.
    pub(super) fn timeouts_below(&mut self, elements: Vec<ElementId>) -> Vec<u32> {
        let (mut found, mut open) = (Vec::new(), elements);
        while let Some(id) = open.pop() {
            if class(self.ctx.doc, id) == "SampleTimeout" {
                let limit =
                    |ctx: &mut super::Context<'_>, id| Some(ctx.prop(id, "InterruptTimer.timeout"));
                found.extend(self.tabled(id, limit, |plan| &mut plan.timeouts));
            }
            open.extend(children(self.ctx.doc, id));
        }
        found
    }
}

/// Returns true if Sample Timeouts apply to this kind of sampler, because it can be interrupted.
pub(super) fn applies(kind: &SamplerKind) -> bool {
    match kind {
        SamplerKind::Http(_)
        | SamplerKind::Tcp(_)
        | SamplerKind::HttpRaw(_)
        | SamplerKind::Udp(_)
        | SamplerKind::Java(_)
        | SamplerKind::JavaBacked(_)
        | SamplerKind::Action(Action::Pause(_))
        | SamplerKind::Parallel(_) => true,
        SamplerKind::Debug(_)
        | SamplerKind::Action(_)
        | SamplerKind::Process(_)
        | SamplerKind::Dummy(_)
        | SamplerKind::Script(_)
        | SamplerKind::Sse(_)
        | SamplerKind::WebSocket(_) => false,
    }
}
