//! Scripts of a plan that run without a Java machine: the elements around them, and a user's [`Env`] as their world.
//!
//! The languages themselves are in the crate `script`, which knows no plan.

mod element;
mod scripted;
#[cfg(test)]
mod tests;
mod world;

pub use scripted::Scripted;
pub(crate) use scripted::{SWITCH, puts_objects, scripted};

pub(crate) use ::script::{Language, NotSimple, Place, Role};

use crate::env::Env;
use crate::plan::Needs;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler, Thrown};
use ::script::Outcome;

/// A compiled script of the plan.
#[derive(Debug)]
pub(crate) struct Script {
    code: ::script::Script,
    place: Place,
    /// Parts of the sample result that it reads.
    pub(crate) needs: Needs,
}

/// The element around a script in one run.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    /// The result that the script stands behind or makes.
    pub(crate) result: Option<&'a mut SampleResult>,
    /// The result of the assertion that the script is.
    pub(crate) finding: Option<&'a mut AssertionResult>,
    /// Name of the element.
    pub(crate) name: &'a str,
    /// Parameters of the element.
    pub(crate) parameters: &'a Template,
}

/// Compiles a script; its text is that which the language gets.
pub(crate) fn compile(
    source: &str,
    place: Place,
    compiler: &mut TemplateCompiler,
) -> Result<Script, NotSimple> {
    let code = ::script::compile(source, place, compiler)?;
    let needs = world::needs(code.reads());
    Ok(Script { code, place, needs })
}

impl Script {
    /// Runs the script. Its effects before an exception stay.
    fn run(&self, env: &mut Env<'_>, stage: Stage<'_>) -> Result<Outcome, Thrown> {
        let mut parameters = env.core.take();
        if self.code.reads_parameters() {
            stage.parameters.run(env, &mut parameters)?;
        }
        let Stage { result, finding, name, .. } = stage;
        let stage = ::script::Stage { result, finding, name, parameters: &parameters };
        let outcome = self.code.run(env, stage);
        env.core.give(parameters);
        outcome
    }
}
