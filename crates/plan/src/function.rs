//! Functions in expressions: the table of JMeter's functions, and what a call in a compiled text is.
//!
//! Each function is one plain `fn` that reads the parameters of its [`Call`] and appends its value. What functions
//! remember is kept apart from the compiled text: for a user in [`Memory`], for a core in [`Cache`], for the whole
//! process in [`Shared`]. Parameters are evaluated into buffers lent by the core, so a warm call allocates nothing.

mod cache;
mod catalogue;
mod comparison;
mod counter;
mod csv_read;
mod digest;
mod draw;
mod escape;
mod fifo;
mod file;
pub(crate) mod jexl;
mod jpgc;
mod letters;
mod log;
mod memory;
mod property;
mod queues;
mod regex_function;
mod script;
mod shared;
mod split;
mod string_from_file;
mod sum;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod url;
mod user;
mod variable;
mod xpath;

pub(crate) use cache::Cache;
pub use catalogue::{Entry, Level as SupportLevel, catalogue};
pub(crate) use draw::write_uuid;
pub use lang::log::Level;
pub use memory::Memory;
pub use shared::{Said, Shared, UNLISTED};
pub(crate) use table::find;

use std::fmt::Write;

use crate::condition::Dialect;
use crate::env::Env;
use crate::evaluation;
use crate::script::{Language, Script};
use crate::template::{Outcome, Template, Thrown};
use crate::vars::VarId;

/// The runner of calls whose script is simple.
pub(crate) const SCRIPT: Run = script::run;

/// A function at work: appends the value of the call.
pub(crate) type Run = fn(&Call, &mut Env<'_>, &mut String) -> Outcome;

/// Finds parameters that cannot be honoured and says why.
pub(crate) type Check = fn(&[Template]) -> Option<String>;

/// How a function is carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Support {
    Native(Run),
    /// Runs a script or an XML library of the Java machine.
    Jvm,
    /// Runs a script of the Java machine, natively where that is a comparison.
    Script(Dialect, Run),
    /// Runs a script in JEXL 3, natively as far as [`lang::jexl`] knows it.
    Jexl(Run),
}

/// Facts about a function that are known before it is called.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) min: u8,
    /// Most parameters, or [`Spec::ANY`].
    pub(crate) max: u8,
    pub(crate) support: Support,
    /// The parameter that names a variable.
    variable: Option<u8>,
    property: bool,
    state: bool,
    check: Option<Check>,
    /// The language of which it runs scripts that are simple, beside what its support says.
    pub(crate) simple: Option<Language>,
    /// It reads or writes files, asks other machines or runs code: never where a plan is only looked at.
    acts: bool,
}

impl Spec {
    /// No upper bound to the number of parameters.
    pub(crate) const ANY: u8 = u8::MAX;

    const fn native(name: &'static str, min: u8, max: u8, run: Run) -> Self {
        let support = Support::Native(run);
        Self {
            name,
            min,
            max,
            support,
            variable: None,
            property: false,
            state: false,
            check: None,
            simple: None,
            acts: false,
        }
    }

    const fn jvm(name: &'static str, min: u8, max: u8) -> Self {
        Self {
            name,
            min,
            max,
            support: Support::Jvm,
            variable: None,
            property: false,
            state: false,
            check: None,
            simple: None,
            acts: false,
        }
    }

    const fn jexl(name: &'static str, run: Run) -> Self {
        Self { support: Support::Jexl(run), ..Self::script(name, Dialect::Jexl, run) }
    }

    const fn script(name: &'static str, dialect: Dialect, run: Run) -> Self {
        let support = Support::Script(dialect, run);
        Self {
            name,
            min: 1,
            max: 2,
            support,
            variable: Some(1),
            property: false,
            state: false,
            check: None,
            simple: None,
            acts: true,
        }
    }

    /// Scripts in a language run natively where they are simple.
    const fn simple(mut self, language: Language) -> Self {
        self.simple = Some(language);
        self
    }

    /// It does more than to work out a value.
    const fn acts(mut self) -> Self {
        self.acts = true;
        self
    }

    /// Parameter `n` names a variable, which gets a slot when the plan is compiled.
    const fn variable(mut self, n: u8) -> Self {
        self.variable = Some(n);
        self
    }

    /// The first parameter names a property that is read.
    const fn reads_property(mut self) -> Self {
        self.property = true;
        self
    }

    /// Each call in the plan has a state of its own.
    const fn stateful(mut self) -> Self {
        self.state = true;
        self
    }

    /// Parameters that ask for too much are found when the plan is compiled.
    const fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    pub(crate) fn keeps_state(&self) -> bool {
        self.state
    }

    /// A complaint about parameters that cannot be honoured, in words.
    pub(crate) fn complaint(&self, args: &[Template]) -> Option<String> {
        self.check.and_then(|check| check(args))
    }
}

/// A function call in a compiled text.
#[derive(Debug)]
pub(crate) struct Call {
    spec: &'static Spec,
    run: Run,
    args: Box<[Template]>,
    /// Its script, if that is simple.
    pub(crate) script: Option<Box<Script>>,
    /// Number of the call among those that keep state; none if it was compiled at run time.
    pub(crate) site: Option<u32>,
    /// Slot of the variable that a parameter names.
    pub(crate) target: Option<VarId>,
    /// It is not of the plan, but of text made at run time.
    pub(crate) late: bool,
}

impl Call {
    pub(crate) fn new(spec: &'static Spec, run: Run, args: Vec<Template>) -> Self {
        Self { spec, run, args: args.into(), script: None, site: None, target: None, late: false }
    }

    pub(crate) fn run(&self, env: &mut Env<'_>, out: &mut String) -> Outcome {
        if self.spec.acts && env.shared.is_inert() {
            env.shared.pass_over();
            // As a reference that nothing is known about.
            let _ = write!(out, "${{{}}}", self.spec.name);
            return Ok(());
        }
        evaluation::watched(self.spec.name, env, |env| (self.run)(self, env, out)).0
    }

    pub(crate) fn args(&self) -> &[Template] {
        &self.args
    }

    /// Whether Java makes the same of it whenever it is asked.
    pub(crate) fn is_same_in_java(&self) -> bool {
        ["__P", "__property", "__threadNum"].contains(&self.spec.name)
    }

    /// The variable that the call names, if that is known before it runs.
    pub(crate) fn variable_name(&self) -> Option<&str> {
        let name = self.args.get(usize::from(self.spec.variable?))?.fixed()?;
        (!name.is_empty() && trim(name) == name).then_some(name)
    }

    /// The name of the property that the call reads.
    pub(crate) fn property(&self) -> Option<&Template> {
        self.args.first().filter(|_| self.spec.property)
    }

    fn has(&self, n: usize) -> bool {
        n < self.args.len()
    }

    /// The value of parameter `n`, empty if it is absent, in a buffer that goes back by [`Scratch::give`].
    ///
    /// [`Scratch::give`]: crate::env::Scratch::give
    fn arg(&self, n: usize, env: &mut Env<'_>) -> Result<String, Thrown> {
        let mut value = env.core.take();
        if let Some(arg) = self.args.get(n) {
            arg.run(env, &mut value)?;
        }
        Ok(value)
    }

    /// Sets the variable that parameter `n` names, if there is one.
    fn store(&self, n: usize, env: &mut Env<'_>, value: &str) -> Outcome {
        if !self.has(n) {
            return Ok(());
        }
        if let (Some(id), true) = (self.target, self.spec.variable == Some(n as u8)) {
            env.vars.set(id, value);
            return Ok(());
        }
        let name = self.arg(n, env)?;
        if !trim(&name).is_empty() {
            env.vars.set_named(env.names, trim(&name), value);
        }
        env.core.give(name);
        Ok(())
    }
}

/// Without the characters that Java's `String.trim` takes away.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// Java's `Boolean.parseBoolean`.
fn is_true(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}
