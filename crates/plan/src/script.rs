//! Scripts of a plan that run without a JVM: the elements with scripts, and a user's [`Env`] as the scripts'
//! environment.
//!
//! The languages themselves are in the crate `script`, which does not depend on plans.

mod element;
mod scripted;
#[cfg(test)]
mod tests;
mod world;

pub use scripted::Scripted;
pub(crate) use scripted::{SWITCH, puts_objects, scripted};

pub(crate) use ::script::{Language, NotSimple, Role, ScriptKind};

use crate::env::Env;
use crate::plan::Needs;
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler, Thrown};
use ::script::Outcome;

/// A compiled script of the plan.
#[derive(Debug)]
pub(crate) struct Script {
    code: ::script::Script,
    place: ScriptKind,
    /// Parts of the sample result that the script reads.
    pub(crate) needs: Needs,
}

/// Context of one execution of a script: its element and the sample.
#[derive(Debug)]
pub(crate) struct ScriptContext<'a> {
    /// Sample result that the script processes or, for a sampler, fills.
    pub(crate) result: Option<&'a mut SampleResult>,
    /// Result of the assertion, if the script is an assertion.
    pub(crate) finding: Option<&'a mut AssertionResult>,
    /// Name of the element.
    pub(crate) name: &'a str,
    /// Template of the parameters that the element passes to the script.
    pub(crate) parameters: &'a Template,
}

/// Compiles a script. `source` is the text that JMeter would pass to the interpreter of the language.
pub(crate) fn compile(
    source: &str,
    place: ScriptKind,
    compiler: &mut TemplateCompiler,
) -> Result<Script, NotSimple> {
    let code = ::script::compile(source, place, compiler)?;
    let needs = world::needs(code.reads());
    Ok(Script { code, place, needs })
}

impl Script {
    /// Runs the script. Changes that the script made before an exception persist.
    fn run(&self, env: &mut Env<'_>, stage: ScriptContext<'_>) -> Result<Outcome, Thrown> {
        let mut parameters = env.core.take();
        if self.code.reads_parameters() {
            stage.parameters.run(env, &mut parameters)?;
        }
        let ScriptContext { result, finding, name, .. } = stage;
        let stage = ::script::Execution { result, finding, name, parameters: &parameters };
        let outcome = self.code.run(env, stage);
        env.core.give(parameters);
        outcome
    }
}
