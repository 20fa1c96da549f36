//! Sample rates that the plan's timers keep.

use plan::element::RateScope;
use plan::env::Env;
use plan::load;
use plan::plan::{Child, ControllerKind, Group, Plan};
use serde::{Deserialize, Serialize};

/// Rates of a group's timers: each rate with the users that share it, and the schedule of a rate that changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Paces(pub(super) Vec<(f64, Sharing)>, pub(super) Vec<load::Phase>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Sharing {
    User,
    Group,
    All,
    Shared(Option<u32>),
}

impl Paces {
    /// Returns the rates of a group's timers.
    pub(super) fn of(plan: &Plan, group: &Group, env: &mut Env<'_>) -> Self {
        let (mut paces, mut schedule) = (Vec::new(), Vec::new());
        let mut open = vec![Child::Controller(group.main)];
        while let Some(child) = open.pop() {
            let id = match child {
                Child::Sampler(id) => id,
                Child::Controller(id) => {
                    let controller = &plan.controllers[id.0 as usize];
                    if runs_always(&controller.kind) {
                        open.extend(&controller.children);
                    }
                    continue;
                }
            };
            for timer in &plan.samplers[id.0 as usize].timers {
                match timer.pace(env) {
                    None => {}
                    Some(Err(_)) => return Self::default(),
                    Some(Ok(pace)) => {
                        if !pace.schedule.is_empty() {
                            schedule = pace.schedule;
                        }
                        paces.push((pace.per_second, pace.of.into()));
                    }
                }
            }
        }
        let is_only = paces.windows(2).all(|pair| pair[0] == pair[1]);
        if schedule.is_empty() || is_only { Self(paces, schedule) } else { Self::default() }
    }

    pub(super) fn shares(&self, timer: Sharing) -> bool {
        self.0.iter().any(|(_, sharing)| *sharing == timer)
    }
}

impl From<RateScope> for Sharing {
    fn from(of: RateScope) -> Self {
        match of {
            RateScope::User => Self::User,
            RateScope::Group => Self::Group,
            RateScope::All => Self::All,
            RateScope::Shared(timer) => Self::Shared(timer),
        }
    }
}

/// Returns true if all children run at some time, provided that the controller runs.
fn runs_always(kind: &ControllerKind) -> bool {
    matches!(
        kind,
        ControllerKind::Simple
            | ControllerKind::Loop { .. }
            | ControllerKind::Transaction(_)
            | ControllerKind::Interleave(_)
            | ControllerKind::RandomOrder
            | ControllerKind::Parameterized(_)
            | ControllerKind::Critical(_)
    )
}
