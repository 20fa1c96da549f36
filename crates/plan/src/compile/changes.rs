//! Pre-processors in a sampler's scope that change its request.

use jmx::ElementId;

use super::Walk;
use super::scope::class;
use crate::http::{self, Change};
use crate::plan::Needs;

impl Walk<'_> {
    /// Compiles the pre-processors among `before` that change a sampler's requests, in JMeter's order.
    pub(super) fn changes(&mut self, before: &[ElementId]) -> Vec<Change> {
        let mut found = Vec::new();
        for id in before {
            match class(self.ctx.doc, *id) {
                "URLRewritingModifier" => {
                    let place = self.tabled(
                        *id,
                        |ctx, id| Some(http::session(ctx, id)),
                        |plan| &mut plan.sessions,
                    );
                    let session = http::session(&mut self.ctx, *id);
                    found.extend(place.map(|at| Change::Session(at, session)));
                }
                "RegExUserParameters" => {
                    found.push(Change::Fields(http::fields(&mut self.ctx, *id)));
                }
                "AnchorModifier" => {
                    self.plan.follows_links = true;
                    found.push(Change::Link);
                }
                _ => {}
            }
        }
        found
    }

    /// Makes all samplers keep their response text if the plan has a URL Re-writing Modifier or an HTML Link Parser,
    /// because both elements read the previous response.
    pub(super) fn read_sessions(&mut self) {
        if !self.plan.sessions.is_empty() || self.plan.follows_links {
            for sampler in &mut self.plan.samplers {
                sampler.needs |= Needs::TEXT;
            }
        }
    }
}
