//! Elements in a sampler's scope that configure WebSocket connections: frame filters and heartbeats.
//!
//! JMeter does not add a filter to a sampler that already has an equal filter, wherever they are in the plan.
//! Elements are equal if all their properties are.

use jmx::ElementId;

use super::Walk;
use super::scope::class;
use crate::plan::Plan;
use crate::support::{self, Kind};
use crate::websocket::{self, Around, FilterId, HeartbeatId};

impl Walk<'_> {
    /// Returns the frame filters and the heartbeat for a sampler with these elements in its scope, nearest first.
    pub(super) fn around(&mut self, configs: &[ElementId], cookies: Option<u32>) -> Around {
        let mut around = Around { cookies, ..Around::default() };
        let mut taken: Vec<ElementId> = Vec::new();
        for id in configs {
            if around.heartbeat.is_none() {
                around.heartbeat = self.heartbeat(*id);
            }
            let known = |other: &ElementId| self.is_equal(*id, *other);
            if is_filter(class(self.ctx.doc, *id)) && !taken.iter().any(known) {
                around.filters.extend(self.filter(*id));
                taken.push(*id);
            }
        }
        around
    }

    fn filter(&mut self, id: ElementId) -> Option<FilterId> {
        self.tabled(id, websocket::filter, |plan| &mut plan.frame_filters).map(FilterId)
    }

    fn heartbeat(&mut self, id: ElementId) -> Option<HeartbeatId> {
        websocket::is_heartbeat(&self.ctx, id)
            .then(|| self.tabled(id, websocket::heartbeat, |plan| &mut plan.heartbeats))?
            .map(HeartbeatId)
    }

    /// Returns the index of an element in a table of the plan. Compiles the element at its first use.
    pub(super) fn tabled<T>(
        &mut self,
        id: ElementId,
        compile: fn(&mut super::Context<'_>, ElementId) -> Option<T>,
        table: fn(&mut Plan) -> &mut Vec<T>,
    ) -> Option<u32> {
        if let Some(at) = self.places.get(&id) {
            return Some(*at);
        }
        let made = compile(&mut self.ctx, id)?;
        let table = table(&mut self.plan);
        table.push(made);
        let at = table.len() as u32 - 1;
        self.places.insert(id, at);
        Some(at)
    }

    /// True if JMeter considers two elements equal.
    fn is_equal(&self, one: ElementId, other: ElementId) -> bool {
        let (one, other) = (self.ctx.doc.element(one), self.ctx.doc.element(other));
        one.test_class == other.test_class
            && one.name == other.name
            && one.props.iter().count() == other.props.iter().count()
            && one.props.iter().all(|prop| {
                other.props.get(&prop.name).is_some_and(|same| same.text() == prop.text())
            })
    }
}

fn is_filter(name: &str) -> bool {
    name.ends_with("FrameFilter")
        && support::find(name).is_some_and(|class| class.kind == Kind::Config)
}
