//! Native execution of Groovy and BeanShell scripts. A script is compiled once into operations that do exactly what
//! Groovy 3.0.20 or BeanShell 2.0b6 would do. This crate does not depend on plans, elements or users: it accesses them
//! through the traits [`Surroundings`] at compile time and [`World`] at run time.
//!
//! A script is simple if the effect of each of its operations is known at compile time, from the possible kinds of its
//! operands ([`compile`]). Any other script is refused with a reason and runs in a JVM. An exception at run time is a
//! [`Thrown`] with Groovy's message. If the message is not known and results would show it, the script is not simple.
//! Strings at run time are in buffers that the world reuses. No state is kept from one run to the next.

mod act;
mod chain;
mod check;
mod code;
mod express;
mod kind;
mod lex;
mod method;
mod parse;
mod run;
mod string;
mod surroundings;
mod tree;
mod value;
mod world;

pub use lang::thrown::Thrown;
pub use surroundings::{Execution, Finding, Reads, Request, Sample, Surroundings, World};

use code::Step;

/// A scripting language whose simple scripts compile to native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The language Groovy 3.0.20.
    Groovy,
    /// The language BeanShell 2.0b6.
    BeanShell,
}

/// The kind of element to which a script belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The script belongs to a pre-processor.
    Before,
    /// The script belongs to a timer.
    Timer,
    /// The script belongs to a sampler.
    Sampler,
    /// The script belongs to a post-processor.
    After,
    /// The script belongs to an assertion.
    Assertion,
    /// The script belongs to a listener.
    Listener,
    /// The script is an argument of a function such as `__groovy`.
    Function,
}

impl Role {
    /// Returns true if the element uses the value of the script.
    fn reads_value(self) -> bool {
        matches!(self, Self::Timer | Self::Sampler | Self::Function)
    }
}

/// Language of a script, and the kind of element to which it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptKind {
    /// Language of the script.
    pub language: Language,
    /// Kind of element to which the script belongs.
    pub role: Role,
    /// True for a JSR223 element, whose scripts have other predefined names than scripts of BeanShell elements.
    pub jsr223: bool,
}

impl ScriptKind {
    /// Returns the full name of the JMeter class that runs the script.
    pub fn class(self) -> String {
        let (package, what) = match self.role {
            Role::Before => ("modifiers", "PreProcessor"),
            Role::Timer => ("timers", "Timer"),
            Role::Sampler => ("protocol.java.sampler", "Sampler"),
            Role::After => ("extractor", "PostProcessor"),
            Role::Assertion => ("assertions", "Assertion"),
            Role::Listener => ("visualizers", "Listener"),
            Role::Function if self.language == Language::Groovy => ("functions", "Groovy"),
            Role::Function => ("functions", "BeanShell"),
        };
        let kind = match self.role {
            Role::Function => "",
            _ if self.jsr223 => "JSR223",
            _ => "BeanShell",
        };
        format!("org.apache.jmeter.{package}.{kind}{what}")
    }

    /// Returns the name of the logger behind the script's variable `log`. `name` is the name of the script's element.
    pub fn logger(self, name: &str) -> String {
        match self.role {
            Role::Function => self.class(),
            _ if self.jsr223 => format!("{}.{name}", self.class()),
            _ => "org.apache.jmeter.util.BeanShellTestElement".to_owned(),
        }
    }
}

/// Error: the script is not simple, so it needs a JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSimple {
    /// Name of the unsupported part of the script, which completes a sentence that begins with “there is”.
    pub reason: String,
}

impl NotSimple {
    /// Creates the error from its reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// A script that is compiled to native code.
#[derive(Debug)]
pub struct Script {
    place: ScriptKind,
    steps: Vec<Step>,
    /// Slots of the variables that the element reads after the script.
    outputs: Vec<(&'static str, usize)>,
    /// Parts of the sample result that the script reads.
    reads: Reads,
    /// True if the script reads its parameters.
    parameters: bool,
}

/// The outcome of a script: its value as Java prints it, and the variables that the element reads after it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The script's value; `None` means `null`.
    pub value: Option<String>,
    outputs: Vec<(&'static str, String)>,
}

impl Outcome {
    /// Returns a variable that the element reads after the script, if the script mentions it.
    pub fn output(&self, name: &str) -> Option<&str> {
        self.outputs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Compiles a script. `source` is the text that JMeter would pass to the interpreter of the language.
pub fn compile(
    source: &str,
    place: ScriptKind,
    surroundings: &mut dyn Surroundings,
) -> Result<Script, NotSimple> {
    let words = lex::words(source, place.language)?;
    let body = parse::script(&words, place.language)?;
    let checked = check::check(&body, &words, place, surroundings)?;
    let mut outputs: Vec<_> = checked.outputs.into_iter().collect();
    outputs.sort_unstable();
    Ok(Script {
        place,
        steps: checked.steps,
        outputs,
        reads: checked.reads,
        parameters: checked.parameters,
    })
}

impl Script {
    /// Returns the language and the kind of element of the script.
    pub fn place(&self) -> ScriptKind {
        self.place
    }

    /// Returns the parts of the sample result that the script reads.
    pub fn reads(&self) -> Reads {
        self.reads
    }

    /// Returns true if the script reads its parameters. Otherwise [`Execution::parameters`] may be empty.
    pub fn reads_parameters(&self) -> bool {
        self.parameters
    }

    /// Runs the script. Changes that the script made before an exception persist.
    pub fn run<W: World>(&self, world: &mut W, stage: Execution<'_, W>) -> Result<Outcome, Thrown> {
        run::run(self, world, stage)
    }
}
