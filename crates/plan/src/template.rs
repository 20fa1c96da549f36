//! Template of a plan with `${…}` in it: compiled once, evaluated by users.
//!
//! The language is JMeter's: `${name}` is a variable, `${__name(a,b)}` a function whose parameters are texts
//! themselves; `\` protects `$`, `,` and `\`, but only in a text that holds an expression at all. An undefined
//! variable evaluates to its own reference. Known variable names are slots, so that evaluating copies bytes and
//! allocates nothing once the buffers have grown.

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

/// Compiled text.
#[derive(Clone, Debug)]
pub enum Template {
    /// Has nothing to evaluate.
    Fixed(Box<str>),
    /// Holds at least one expression.
    Compound(Arc<Compound>),
}

/// Template with expressions in it.
#[derive(Debug)]
pub struct Compound {
    source: Box<str>,
    parts: Box<[Part]>,
}

/// A piece of a compound text.
#[derive(Debug)]
pub(crate) enum Part {
    /// As it stands.
    Literal(Box<str>),
    /// A variable with a slot.
    Variable(VarId),
    /// A variable that only came up at run time.
    Named(Box<str>),
    /// A function.
    Call(Box<Call>),
    /// A function that cannot run natively: evaluates to its source.
    Foreign(Box<str>),
    /// A function that Java has evaluated before.
    Java(TextId),
}

impl Default for Template {
    fn default() -> Self {
        Self::Fixed("".into())
    }
}

/// A sentence about a text that cannot be read as what it should be, `what` being that in one word.
pub(crate) fn unreadable(what: &str, text: &str, why: &dyn std::fmt::Display) -> String {
    if text.trim().is_empty() {
        return format!("its {what} is blank: {why}");
    }
    format!("{text} cannot be read: {why}")
}

/// The outcome of an evaluation.
pub(crate) type Outcome = Result<(), Thrown>;

/// Something about an expression that the plan's author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the function, with its underscores.
    pub function: String,
    /// The kind of problem.
    pub reason: Reason,
    /// The expression, or the whole text if it cannot be read.
    pub source: String,
}

/// A kind of problem with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The function runs scripts or classes of a Java machine; it evaluates to its own source.
    NeedsJvm,
    /// There is no such function in JMeter itself (it may belong to a plug-in); it evaluates to its own source.
    Unknown,
    /// A parameter asks for something that is not supported, in words.
    Unsupported(String),
    /// JMeter cannot read the text, in its words. It then leaves all properties of the element unevaluated.
    Invalid(String),
}

/// The compiler of texts, with what it needs and learns.
#[derive(Debug, Default)]
pub struct TemplateCompiler {
    /// Variable names found.
    pub names: Names,
    /// Problems that were found, in the order of compilation.
    pub problems: Vec<Problem>,
    /// Names of the properties that expressions read.
    pub properties: BTreeSet<String>,
    /// Some expression makes up the name of a property while it runs, so that any property may be read.
    pub any_property: bool,
    /// Whether functions that need Java are left to it; otherwise they stay as they are.
    hosts: bool,
    /// The calls that are left to Java ([`Part::Java`]).
    pub(crate) java_backed: Vec<Box<str>>,
    /// Scripts are left to Java even where they are simple.
    pub(crate) leaves_scripts: bool,
    /// Scripts that run in Java may have put objects among the properties.
    pub(crate) property_objects: bool,
    /// An assertion may be about a transaction, of which `prev` is not the sample.
    pub(crate) checks_transactions: bool,
    /// Sub-results keep their labels: the plan is run in functional mode.
    pub(crate) functional: bool,
    /// Some expression asks for the sampler's name.
    pub(crate) asks_for_sampler: bool,
    /// All expressions have been evaluated: texts are what they say.
    pub(crate) literal: bool,
    /// Function calls with a state of their own.
    sites: u32,
    /// Those of elements that several samplers have, by element.
    shared: HashMap<usize, Vec<u32>>,
    /// The element of which texts are compiled, and how many calls of it have been met.
    sharing: Option<(usize, usize)>,
}

impl TemplateCompiler {
    /// A compiler that leaves to Java what only Java can do, if it may, and even simple scripts, if it is to.
    pub(crate) fn of(hosts: bool, leaves_scripts: bool) -> Self {
        Self { hosts, leaves_scripts, ..Self::default() }
    }

    /// A number for a function call that keeps state between evaluations.
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

    /// Compiles texts of an element that is compiled for each sampler it applies to: its calls have one state, as the element is one.
    pub(crate) fn of_element<R>(&mut self, id: ElementId, work: impl FnOnce(&mut Self) -> R) -> R {
        let around = self.enter(id);
        let made = work(self);
        self.leave(around);
        made
    }

    /// The same in two steps: gives what [`leave`](Self::leave) is to be told.
    pub(crate) fn enter(&mut self, id: ElementId) -> Option<(usize, usize)> {
        self.sharing.replace((id.index(), 0))
    }

    pub(crate) fn leave(&mut self, around: Option<(usize, usize)>) {
        self.sharing = around;
    }
}

impl Template {
    /// Compiles a property of the plan. Never fails: what JMeter cannot read it takes literally, and a
    /// [`Problem`] says so.
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

    /// A text that is all Java's, as which it is told `java_backed`.
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

    /// A property is left as it stands, with its escapes, unless there is more to it than one piece of text.
    fn property(source: &str, parts: Vec<Part>) -> Self {
        match parts[..] {
            [] | [Part::Literal(_)] => Self::Fixed(source.into()),
            _ => Self::Compound(Arc::new(Compound { source: source.into(), parts: merged(parts) })),
        }
    }

    /// A parameter, or text made at run time: always unescaped.
    fn parameter(source: &str, parts: Vec<Part>) -> Self {
        let mut parts = merged(parts).into_vec();
        match parts[..] {
            [] => Self::default(),
            [Part::Literal(ref mut text)] => Self::Fixed(std::mem::take(text)),
            _ => Self::Compound(Arc::new(Compound { source: source.into(), parts: parts.into() })),
        }
    }

    /// Compiles text made at run time. What JMeter cannot read there evaluates to nothing.
    pub(crate) fn compile_late(source: &str, names: &Names, problems: &mut Vec<Problem>) -> Self {
        let parts = Build::new(Scope::Run { names, problems }).parts(source);
        Self::parameter(source, parts.unwrap_or_default())
    }

    /// Appends the value to `out`. What JMeter would throw is left in
    /// [`Scratch::thrown`](crate::env::Scratch::thrown), and nothing is appended.
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

    /// Appends the value to `out`; on an exception nothing is appended.
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
                    // Where the plan is only looked at, nobody has asked Java.
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

    /// The value of the beginning that no sample has a hand in: what is written there, variables that are set, and
    /// properties, up to the first part that is anything else.
    pub fn known_start(&self, env: &mut Env<'_>) -> String {
        self.start_by(env, Vars::get)
    }

    /// The whole value, if no sample has a hand in any part of it.
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

    /// The beginning that is known while the run goes on: variables have the values that all users begin with.
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

    /// The text, if there is nothing to evaluate in it.
    pub fn fixed(&self) -> Option<&str> {
        match self {
            Self::Fixed(text) => Some(text),
            Self::Compound(compound) => match &compound.parts[..] {
                [Part::Literal(text)] => Some(text),
                _ => None,
            },
        }
    }

    /// Whether functions are called, whose calls may count.
    pub fn calls(&self) -> bool {
        let Self::Compound(compound) = self else { return false };
        compound.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }

    /// The text as the plan has it.
    pub fn raw(&self) -> &str {
        match self {
            Self::Fixed(text) => text,
            Self::Compound(compound) => &compound.source,
        }
    }

    /// The slots of all variables that are mentioned, parameters of functions included, in the order of the text.
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

/// The reference that an undefined variable evaluates to.
fn reference(name: &str, out: &mut String) {
    out.push_str("${");
    out.push_str(name);
    out.push('}');
}

/// Whether a text is to be evaluated by Java from its first part to its last: what a script does to variables is seen by
/// the references behind it, and not by those before it.
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

/// Neighbouring literals become one.
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
