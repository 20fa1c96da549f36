//! Parallel Controllers: each becomes a sampler with its own scope, and a branch for each child.
//!
//! Direct children of a Parallel Controller receive no events at the start of an iteration, because the plug-in
//! does not register listeners. JMeter runs a branch as a separate thread, so only the Sample Timeouts inside the
//! branch apply to it.

use jmx::ElementId;

use super::Walk;
use super::scope::{self, children};
use crate::element::parallel_controller;
use crate::plan::{ControllerId, ControllerKind, SamplerKind};
use crate::support::Kind;

impl Walk<'_> {
    pub(super) fn parallel(&mut self, id: ElementId, around: ControllerId) {
        let own = children(self.ctx.doc, id);
        self.levels.push(scope::level(self.ctx.doc, own.iter().copied()));
        let scope = scope::collect(&self.levels);
        let on_failure = self.on_failure(around);
        let mut parallel = parallel_controller::compile(&mut self.ctx, id);
        let silent = std::mem::replace(&mut self.silent, parallel.parent);
        for child in own {
            if matches!(scope::kind(self.ctx.doc, child), Kind::Controller | Kind::Sampler) {
                let timeouts = self.timeouts_below(vec![child]);
                let timeouts = std::mem::replace(&mut self.timeouts, timeouts);
                let branch_mark = self.ctx.mark();
                let branch = self.open(child, ControllerKind::Branch, Some(around), branch_mark);
                self.body(&[child], branch);
                self.timeouts = timeouts;
                parallel.branches.push(branch);
            }
        }
        let mark = self.ctx.mark();
        self.silent = silent;
        self.levels.pop();
        self.put(id, around, SamplerKind::Parallel(Box::new(parallel)), &scope, on_failure, mark);
    }
}
