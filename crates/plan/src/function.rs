//! Functions in expressions: the table of JMeter's functions, and the calls in compiled templates.
//!
//! Each function is a plain `fn` that reads the parameters of its [`Call`] and appends its value. The state of
//! functions is separate from the compiled template: per user in [`Memory`], per core in [`Cache`], for the whole
//! process in [`Shared`]. Parameters are evaluated into reused buffers of the core, so that repeated calls allocate
//! nothing.

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
pub use shared::{OutputLine, Shared, UNLISTED};
pub(crate) use table::find;

use std::fmt::Write;

use crate::condition::Dialect;
use crate::env::Env;
use crate::evaluation;
use crate::script::{Language, Script};
use crate::template::{Outcome, Template, Thrown};
use crate::vars::VarId;

/// Implementation of script functions such as `__groovy`, for scripts that run without a JVM.
pub(crate) const SCRIPT: Run = script::run;

/// Implementation of a function: appends the value of a call to the string.
pub(crate) type Run = fn(&Call, &mut Env<'_>, &mut String) -> Outcome;

/// A compile-time check of a call's parameters: returns the reason why they are not supported, or `None`.
pub(crate) type Check = fn(&[Template]) -> Option<String>;

/// The way in which a function runs: natively or in Java.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Support {
    Native(Run),
    /// Java runs the function's script or XML library.
    Jvm,
    /// Runs a script in Java, or natively if it is a comparison.
    Script(Dialect, Run),
    /// A JEXL 3 script runs natively if [`lang::jexl`] supports it, otherwise in Java.
    Jexl(Run),
}

/// Static description of a function.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) min: u8,
    /// Maximum number of parameters, or [`Spec::ANY`].
    pub(crate) max: u8,
    pub(crate) support: Support,
    /// Index of the parameter that names a variable, which gets a slot at compile time.
    variable: Option<u8>,
    property: bool,
    state: bool,
    check: Option<Check>,
    /// Language of the function's simple scripts, which run natively, in addition to `support`.
    pub(crate) simple: Option<Language>,
    /// True if the function accesses files or other machines, or runs code. Such functions never run while a plan
    /// is only inspected.
    acts: bool,
}

impl Spec {
    /// Value of [`Spec::max`] for an unlimited number of parameters.
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

    /// Declares that simple scripts in `language` run natively.
    const fn simple(mut self, language: Language) -> Self {
        self.simple = Some(language);
        self
    }

    /// Declares that the function has effects besides computing a value.
    const fn acts(mut self) -> Self {
        self.acts = true;
        self
    }

    /// Declares that parameter `n` names a variable, which gets a slot at compile time.
    const fn variable(mut self, n: u8) -> Self {
        self.variable = Some(n);
        self
    }

    /// Declares that the first parameter names a property, which the function reads.
    const fn reads_property(mut self) -> Self {
        self.property = true;
        self
    }

    /// Declares that each call in the plan has its own state.
    const fn stateful(mut self) -> Self {
        self.state = true;
        self
    }

    /// Sets a function that checks parameters for unsupported values at compile time.
    const fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    pub(crate) fn keeps_state(&self) -> bool {
        self.state
    }

    /// Returns the reason why parameters are not supported, if they are not.
    pub(crate) fn complaint(&self, args: &[Template]) -> Option<String> {
        self.check.and_then(|check| check(args))
    }
}

/// A function call in a compiled template.
#[derive(Debug)]
pub(crate) struct Call {
    spec: &'static Spec,
    run: Run,
    args: Box<[Template]>,
    /// Compiled script of the call, if it is simple.
    pub(crate) script: Option<Box<Script>>,
    /// Number of the call's state in [`Shared`] or [`Memory`]; `None` if the call has no state or was compiled at run
    /// time.
    pub(crate) site: Option<u32>,
    /// Slot of the variable that a parameter names; `None` if the name is not constant.
    pub(crate) target: Option<VarId>,
    /// True if the call is part of a string that was built at run time.
    pub(crate) late: bool,
}

impl Call {
    pub(crate) fn new(spec: &'static Spec, run: Run, args: Vec<Template>) -> Self {
        Self { spec, run, args: args.into(), script: None, site: None, target: None, late: false }
    }

    pub(crate) fn run(&self, env: &mut Env<'_>, out: &mut String) -> Outcome {
        if self.spec.acts && env.shared.is_inert() {
            env.shared.pass_over();
            // A call that must not run evaluates to its own source, like a reference to an undefined variable.
            let _ = write!(out, "${{{}}}", self.spec.name);
            return Ok(());
        }
        evaluation::watched(self.spec.name, env, |env| (self.run)(self, env, out)).0
    }

    pub(crate) fn args(&self) -> &[Template] {
        &self.args
    }

    /// Returns true if the function always has the same value natively and in Java.
    pub(crate) fn is_same_in_java(&self) -> bool {
        ["__P", "__property", "__threadNum"].contains(&self.spec.name)
    }

    /// Returns the name of the variable that the call uses, if it is constant.
    pub(crate) fn variable_name(&self) -> Option<&str> {
        let name = self.args.get(usize::from(self.spec.variable?))?.fixed()?;
        (!name.is_empty() && trim(name) == name).then_some(name)
    }

    /// Returns the name of the property that the call reads.
    pub(crate) fn property(&self) -> Option<&Template> {
        self.args.first().filter(|_| self.spec.property)
    }

    fn has(&self, n: usize) -> bool {
        n < self.args.len()
    }

    /// Returns the value of parameter `n`, empty if it is missing. The buffer must be returned with
    /// [`Scratch::give`].
    ///
    /// [`Scratch::give`]: crate::env::Scratch::give
    fn arg(&self, n: usize, env: &mut Env<'_>) -> Result<String, Thrown> {
        let mut value = env.core.take();
        if let Some(arg) = self.args.get(n) {
            arg.run(env, &mut value)?;
        }
        Ok(value)
    }

    /// Sets the variable that parameter `n` names, if the parameter exists.
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

/// Removes the characters that Java's `String.trim` removes.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// Parses a Boolean like Java's `Boolean.parseBoolean`.
fn is_true(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}
