//! The reply of a Java-backed controller: a sampler, the end of its iteration, or a request that must be answered
//! first.

use plan::plan::ControllerKind;

use super::message::{Need, SaidKind};
use super::reader::{Malformed, Reader};

/// The reply of a Java-backed controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControllerReply {
    /// The controller has no more samplers in this iteration. The flag is true if the controller is done
    /// permanently.
    Nothing(bool),
    Sampler(u32),
    /// The controller has chosen the complete sample of a transaction below it.
    Transaction(u32),
    /// The controller requests something before it can choose.
    Asks(ControllerRequest),
}

/// A request of a controller that must be answered before it can choose its next sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControllerRequest {
    /// A request for the next sampler of a child.
    Next(u32),
    Initialize(u32),
    EndOfLoop(u32),
    IsDone(u32),
    /// Notice that the controller begins an iteration. Contains the iteration's number, and true if iterations
    /// count from one.
    Begins(i32, bool),
}

impl ControllerReply {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match SaidKind::read(reader)? {
            SaidKind::Nothing => Self::Nothing(reader.byte()? != 0),
            SaidKind::Sampler => Self::Sampler(reader.int()?),
            SaidKind::Transaction => Self::Transaction(reader.int()?),
            SaidKind::Asks => {
                let need = Need::read(reader)?;
                let number = reader.int()?;
                Self::Asks(match need {
                    Need::Next => ControllerRequest::Next(number),
                    Need::Initialize => ControllerRequest::Initialize(number),
                    Need::EndOfLoop => ControllerRequest::EndOfLoop(number),
                    Need::IsDone => ControllerRequest::IsDone(number),
                    Need::Begins => ControllerRequest::Begins(number as i32, false),
                    Need::BeginsFromOne => ControllerRequest::Begins(number as i32, true),
                })
            }
        })
    }

    /// Returns true if the reply names existing elements of the plan. Children that the controller calls or notifies
    /// must be inside a Java-backed controller.
    pub(super) fn fits(self, plan: &plan::plan::Plan) -> bool {
        let controller = |at: u32| plan.controllers.get(at as usize);
        match self {
            Self::Nothing(_) | Self::Asks(ControllerRequest::Begins(..)) => true,
            Self::Sampler(at) => (at as usize) < plan.samplers.len(),
            Self::Transaction(at) => {
                controller(at).is_some_and(|one| matches!(one.kind, ControllerKind::Transaction(_)))
            }
            Self::Asks(
                ControllerRequest::Next(at)
                | ControllerRequest::Initialize(at)
                | ControllerRequest::EndOfLoop(at)
                | ControllerRequest::IsDone(at),
            ) => {
                let around = controller(at).and_then(|one| one.parent);
                around
                    .and_then(|around| controller(around.0))
                    .is_some_and(|around| matches!(around.kind, ControllerKind::JavaBacked(_)))
            }
        }
    }
}
