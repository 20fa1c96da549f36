//! The answer of a controller that its own class is: a sampler, nothing more, or a question in return.

use plan::plan::ControllerKind;

use super::message::{Need, SaidKind};
use super::reader::{Malformed, Reader};

/// The answer of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It has nothing (more) in this iteration; whether it never has again.
    Nothing(bool),
    Sampler(u32),
    /// The sample of a transaction below it that is complete.
    Transaction(u32),
    /// It asks for something first.
    Asks(Ask),
}

/// The question of a controller before it can say which sampler is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A child for its next sampler.
    Next(u32),
    Initialize(u32),
    EndOfLoop(u32),
    IsDone(u32),
    /// That its iteration with this number begins be known; whether it counts from one.
    Begins(i32, bool),
}

impl Said {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match SaidKind::read(reader)? {
            SaidKind::Nothing => Self::Nothing(reader.byte()? != 0),
            SaidKind::Sampler => Self::Sampler(reader.int()?),
            SaidKind::Transaction => Self::Transaction(reader.int()?),
            SaidKind::Asks => {
                let need = Need::read(reader)?;
                let number = reader.int()?;
                Self::Asks(match need {
                    Need::Next => Ask::Next(number),
                    Need::Initialize => Ask::Initialize(number),
                    Need::EndOfLoop => Ask::EndOfLoop(number),
                    Need::IsDone => Ask::IsDone(number),
                    Need::Begins => Ask::Begins(number as i32, false),
                    Need::BeginsFromOne => Ask::Begins(number as i32, true),
                })
            }
        })
    }

    /// Whether it speaks of what the plan has, and asks for children of such controllers: those that are told something may ask for theirs.
    pub(super) fn fits(self, plan: &plan::plan::Plan) -> bool {
        let controller = |at: u32| plan.controllers.get(at as usize);
        match self {
            Self::Nothing(_) | Self::Asks(Ask::Begins(..)) => true,
            Self::Sampler(at) => (at as usize) < plan.samplers.len(),
            Self::Transaction(at) => {
                controller(at).is_some_and(|one| matches!(one.kind, ControllerKind::Transaction(_)))
            }
            Self::Asks(
                Ask::Next(at) | Ask::Initialize(at) | Ask::EndOfLoop(at) | Ask::IsDone(at),
            ) => {
                let around = controller(at).and_then(|one| one.parent);
                around
                    .and_then(|around| controller(around.0))
                    .is_some_and(|around| matches!(around.kind, ControllerKind::JavaBacked(_)))
            }
        }
    }
}
