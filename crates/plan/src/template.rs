//! Templates: strings of the plan with `${…}`, compiled once and evaluated by users.
//!
//! The language is JMeter's: `${name}` is a variable, `${__name(a,b)}` a function with templates as parameters. `\`
//! escapes `$`, `,` and `\`, but only in a string that contains an expression. An undefined variable evaluates to
//! its own reference. Known variable names have slots, so that evaluation only copies bytes and allocates nothing
//! once the buffers have grown.

pub(crate) mod flag;
pub(crate) mod number_format;
mod parse;
#[cfg(test)]
mod tests;
pub(crate) mod variable;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jmx::ElementId;
pub use lang::thrown::Thrown;

use crate::env::Env;
use crate::function::Call;
use crate::java_backed::TextId;
use crate::vars::{Names, VarId, Vars};
use parse::{Build, Scope};

/// A compiled template.
#[derive(Clone, Debug)]
pub enum Template {
    /// A string without expressions.
    Fixed(Box<str>),
    /// A string with at least one expression.
    Compound(Arc<Compound>),
}

/// A template with expressions.
#[derive(Debug)]
pub struct Compound {
    source: Box<str>,
    parts: Box<[Part]>,
}

/// Part of a compound template.
#[derive(Debug)]
pub(crate) enum Part {
    /// A literal string.
    Literal(Box<str>),
    /// A variable with a slot.
    Variable(VarId),
    /// A variable without a slot, because its name appeared only at run time.
    Named(Box<str>),
    /// A function call.
    Call(Box<Call>),
    /// A function that cannot run natively and evaluates to its source.
    Foreign(Box<str>),
    /// A function call that Java has evaluated beforehand.
    Java(TextId),
}

impl Default for Template {
    fn default() -> Self {
        Self::Fixed("".into())
    }
}

/// Returns a message that says why a string could not be parsed. `what` names the kind of string, in one word.
pub(crate) fn unreadable(what: &str, text: &str, why: &dyn std::fmt::Display) -> String {
    if text.trim().is_empty() {
        return format!("its {what} is blank: {why}");
    }
    format!("cannot parse {text}: {why}")
}

/// Result of evaluating a template or function: `Ok` after the value was appended to a buffer, or the exception.
pub(crate) type Outcome = Result<(), Thrown>;

/// Problem with an expression, reported to the plan's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the function, with its underscores.
    pub function: String,
    /// The kind of problem.
    pub reason: Reason,
    /// Source of the expression, or the whole string if it cannot be parsed.
    pub source: String,
}

/// A kind of problem with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The function runs scripts or Java classes. Without Java, the call evaluates to its own source.
    NeedsJvm,
    /// JMeter itself has no such function, although a plug-in may have it. Without Java, the call evaluates to its own
    /// source.
    Unknown,
    /// A parameter requests an unsupported feature, which the string describes.
    Unsupported(String),
    /// JMeter cannot parse the expression; the string is JMeter's message. JMeter then evaluates no property of the
    /// element.
    Invalid(String),
}

/// Compiler of templates, with its settings and the facts that it collects.
#[derive(Debug, Default)]
pub struct TemplateCompiler {
    /// Names of all variables in expressions, with their slots.
    pub names: Names,
    /// Problems in the order of compilation.
    pub problems: Vec<Problem>,
    /// Names of the properties that expressions read.
    pub properties: BTreeSet<String>,
    /// True if an expression builds a property name at run time, so that any property may be read.
    pub any_property: bool,
    /// True if functions that need Java are passed to Java; otherwise they evaluate to their source.
    hosts: bool,
    /// Source of each call that Java evaluates ([`Part::Java`]).
    pub(crate) java_backed: Vec<Box<str>>,
    /// True if even simple scripts run in Java.
    pub(crate) leaves_scripts: bool,
    /// True if scripts in Java may have stored objects in the properties.
    pub(crate) property_objects: bool,
    /// True if the plan has a Transaction Controller with a parent sample. An assertion may then check a transaction,
    /// but `prev` is the result of another sample.
    pub(crate) checks_transactions: bool,
    /// True if sub-results keep their labels, because the plan runs in functional mode.
    pub(crate) functional: bool,
    /// True if an expression reads the sampler's name.
    pub(crate) asks_for_sampler: bool,
    /// True if all expressions have been evaluated already, so that strings are literal.
    pub(crate) literal: bool,
    /// Number of function calls so far that keep state between evaluations.
    sites: u32,
    /// Numbers of the states of function calls in elements that apply to several samplers, by index of the element.
    shared: HashMap<usize, Vec<u32>>,
    /// Index of the element whose templates are being compiled, and the number of its stateful calls so far.
    sharing: Option<(usize, usize)>,
}

impl TemplateCompiler {
    /// Creates a compiler. `hosts` is true if Java runs the functions that need it, `leaves_scripts` if Java also
    /// runs simple scripts.
    pub(crate) fn of(hosts: bool, leaves_scripts: bool) -> Self {
        Self { hosts, leaves_scripts, ..Self::default() }
    }

    /// Returns the state number of a function call that keeps state between evaluations.
    fn site(&mut self) -> u32 {
        let known = self.sharing.as_mut().map(|(element, met)| {
            *met += 1;
            (self.shared.entry(*element).or_default(), *met - 1)
        });
        if let Some((sites, nth)) = &known
            && let Some(site) = sites.get(*nth)
        {
            return *site;
        }
        if let Some((sites, _)) = known {
            sites.push(self.sites);
        }
        self.sites += 1;
        self.sites - 1
    }

    /// Compiles the templates of an element that is compiled once per sampler in its scope. Each function call in
    /// the element has one state, which all these samplers share.
    pub(crate) fn of_element<R>(&mut self, id: ElementId, work: impl FnOnce(&mut Self) -> R) -> R {
        let around = self.enter(id);
        let made = work(self);
        self.leave(around);
        made
    }

    /// Begins compiling an element like [`of_element`](Self::of_element). The caller must pass the returned value to
    /// [`leave`](Self::leave) afterwards.
    pub(crate) fn enter(&mut self, id: ElementId) -> Option<(usize, usize)> {
        self.sharing.replace((id.index(), 0))
    }

    pub(crate) fn leave(&mut self, around: Option<(usize, usize)>) {
        self.sharing = around;
    }
}

impl Template {
    /// Compiles a property of the plan. Never fails: if JMeter cannot parse the string, it becomes literal, and the
    /// compiler gets a [`Problem`].
    pub fn compile(source: &str, compiler: &mut TemplateCompiler) -> Self {
        if compiler.literal || !source.contains("${") {
            return Self::Fixed(source.into());
        }
        let mark = compiler.java_backed.len();
        match Build::new(Scope::Plan(compiler)).parts(source) {
            Ok(parts) if read_in_order(&parts) => {
                compiler.java_backed.truncate(mark);
                Self::in_java(source, source.into(), compiler)
            }
            Ok(parts) => Self::property(source, parts),
            Err(invalid) => {
                compiler.problems.push(Problem {
                    function: invalid.function,
                    reason: Reason::Invalid(invalid.message),
                    source: source.into(),
                });
                Self::Fixed(source.into())
            }
        }
    }

    /// Creates a template that Java evaluates as a whole. `java_backed` is the source passed to Java.
    pub(crate) fn in_java(
        source: &str,
        java_backed: Box<str>,
        compiler: &mut TemplateCompiler,
    ) -> Self {
        let id = TextId(compiler.java_backed.len() as u32);
        compiler.java_backed.push(java_backed);
        let parts = [Part::Java(id)].into();
        Self::Compound(Arc::new(Compound { source: source.into(), parts }))
    }

    /// Builds the template of a property. A property without expressions keeps its escape characters.
    fn property(source: &str, parts: Vec<Part>) -> Self {
        match parts[..] {
            [] | [Part::Literal(_)] => Self::Fixed(source.into()),
            _ => Self::Compound(Arc::new(Compound { source: source.into(), parts: merged(parts) })),
        }
    }

    /// Builds the template of a function parameter or of a string that was built at run time. Escape sequences are
    /// always resolved.
    fn parameter(source: &str, parts: Vec<Part>) -> Self {
        let mut parts = merged(parts).into_vec();
        match parts[..] {
            [] => Self::default(),
            [Part::Literal(ref mut text)] => Self::Fixed(std::mem::take(text)),
            _ => Self::Compound(Arc::new(Compound { source: source.into(), parts: parts.into() })),
        }
    }

    /// Compiles a string that was built at run time. If JMeter cannot parse it, it evaluates to an empty string.
    pub(crate) fn compile_late(source: &str, names: &Names, problems: &mut Vec<Problem>) -> Self {
        let parts = Build::new(Scope::Run { names, problems }).parts(source);
        Self::parameter(source, parts.unwrap_or_default())
    }

    /// Appends the template's value to `out`. If JMeter would throw an exception, appends nothing and stores the
    /// exception in [`Scratch::thrown`](crate::env::Scratch::thrown).
    pub fn eval(&self, env: &mut Env<'_>, out: &mut String) {
        match self {
            Self::Fixed(text) => out.push_str(text),
            Self::Compound(_) => {
                if let Err(thrown) = self.run(env, out) {
                    env.core.thrown.get_or_insert(thrown);
                }
            }
        }
    }

    /// Appends the template's value to `out`. On an exception, appends nothing and returns the exception.
    pub(crate) fn run(&self, env: &mut Env<'_>, out: &mut String) -> Outcome {
        let compound = match self {
            Self::Fixed(text) => {
                out.push_str(text);
                return Ok(());
            }
            Self::Compound(compound) => compound,
        };
        let start = out.len();
        for part in &compound.parts {
            match part {
                Part::Literal(text) | Part::Foreign(text) => out.push_str(text),
                Part::Java(id) => {
                    let own = env.notes.java().and_then(|java| java.get(*id));
                    // While a plan is only inspected, Java has not evaluated anything.
                    let none = || if env.shared.is_inert() { "${}" } else { "" };
                    out.push_str(own.or_else(|| env.run.java(*id)).unwrap_or_else(none));
                }
                Part::Variable(id) => match env.vars.get(*id) {
                    Some(value) => out.push_str(value),
                    None => reference(env.names.name(*id), out),
                },
                Part::Named(name) => match env.vars.get_named(env.names, name) {
                    Some(value) => out.push_str(value),
                    None => reference(name, out),
                },
                Part::Call(call) => {
                    if let Err(thrown) = call.run(env, out) {
                        out.truncate(start);
                        return Err(thrown);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the beginning of the value that does not depend on samples: literals, defined variables and properties,
    /// up to the first part of another kind.
    pub fn known_start(&self, env: &mut Env<'_>) -> String {
        self.start_by(env, Vars::get)
    }

    /// Returns the whole value if no part of it depends on samples.
    pub fn known(&self, env: &mut Env<'_>) -> Option<String> {
        let Self::Compound(compound) = self else { return Some(self.raw().to_owned()) };
        let is_known = |part: &Part| match part {
            Part::Literal(_) => true,
            Part::Variable(id) => env.vars.get(*id).is_some(),
            Part::Call(call) => call.property().is_some(),
            Part::Named(_) | Part::Foreign(_) | Part::Java(_) => false,
        };
        compound.parts.iter().all(is_known).then(|| self.known_start(env))
    }

    /// Returns the beginning of the value that stays constant during the run. Variables have their initial values.
    pub(crate) fn initial_start(&self, env: &mut Env<'_>) -> String {
        self.start_by(env, Vars::initial)
    }

    fn start_by(
        &self,
        env: &mut Env<'_>,
        known: impl for<'v> Fn(&'v Vars, VarId) -> Option<&'v str>,
    ) -> String {
        let mut out = String::new();
        let Self::Compound(compound) = self else { return self.raw().to_owned() };
        for part in &compound.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Variable(id) => match known(env.vars, *id) {
                    Some(value) => out.push_str(value),
                    None => break,
                },
                Part::Call(call) if call.property().is_some() => {
                    if call.run(env, &mut out).is_err() {
                        break;
                    }
                }
                Part::Call(_) | Part::Named(_) | Part::Foreign(_) | Part::Java(_) => break,
            }
        }
        out
    }

    /// Returns the string if the template has no expressions.
    pub fn fixed(&self) -> Option<&str> {
        match self {
            Self::Fixed(text) => Some(text),
            Self::Compound(compound) => match &compound.parts[..] {
                [Part::Literal(text)] => Some(text),
                _ => None,
            },
        }
    }

    /// True if the template calls functions that run natively. Such calls may have side effects.
    pub fn calls(&self) -> bool {
        let Self::Compound(compound) = self else { return false };
        compound.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }

    /// Returns the source as written in the plan.
    pub fn raw(&self) -> &str {
        match self {
            Self::Fixed(text) => text,
            Self::Compound(compound) => &compound.source,
        }
    }

    /// Returns the slots of all variables in the template, including variables in function parameters, in the order of
    /// the source.
    pub fn variables(&self) -> Vec<VarId> {
        let mut found = Vec::new();
        self.find_variables(&mut found);
        found
    }

    fn find_variables(&self, found: &mut Vec<VarId>) {
        let Self::Compound(compound) = self else { return };
        for part in &compound.parts {
            match part {
                Part::Variable(id) => found.push(*id),
                Part::Call(call) => call.args().iter().for_each(|arg| arg.find_variables(found)),
                Part::Literal(_) | Part::Named(_) | Part::Foreign(_) | Part::Java(_) => {}
            }
        }
    }
}

/// Appends the reference `${name}`, the value of an undefined variable.
fn reference(name: &str, out: &mut String) {
    out.push_str("${");
    out.push_str(name);
    out.push('}');
}

/// Returns true if Java must evaluate the whole template from left to right, because a script's changes of variables
/// must be visible to later references, and not to earlier references.
fn read_in_order(parts: &[Part]) -> bool {
    let (mut scripts, mut references) = (false, false);
    for part in parts {
        match part {
            Part::Java(_) => scripts = true,
            Part::Variable(_) => references = true,
            Part::Literal(_) => {}
            Part::Call(call) if call.is_same_in_java() => {}
            Part::Call(_) | Part::Named(_) | Part::Foreign(_) => return false,
        }
    }
    scripts && references
}

/// Merges adjacent literals.
fn merged(parts: Vec<Part>) -> Box<[Part]> {
    let mut out: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (out.last_mut(), part) {
            (Some(Part::Literal(before)), Part::Literal(text)) => {
                *before = [&**before, &*text].concat().into();
            }
            (_, part) => out.push(part),
        }
    }
    out.into()
}
