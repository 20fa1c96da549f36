//! Scripts that are simple enough to run without a Java machine: compiled once into operations that do exactly what Groovy 3.0.20 or
//! BeanShell 2.0b6 would do.
//!
//! What is simple is decided when a plan is compiled, by what is known of every value at every point ([`compile`]); anything that
//! is not certain is refused with its reason and runs in a Java machine. What a script may throw while it runs comes out as
//! [`Thrown`], in Groovy's words; where words that are not known would be seen in results, the script is not simple. Warm runs
//! take their texts from buffers of the core; nothing is kept from one run to the next.

mod act;
mod chain;
mod check;
mod code;
mod element;
mod express;
mod kind;
mod lex;
mod method;
mod parse;
mod run;
mod scripted;
mod string;
#[cfg(test)]
mod tests;
mod tree;
mod value;
mod world;

pub use scripted::Scripted;
pub(crate) use scripted::{SWITCH, puts_objects, scripted};

use crate::env::Env;
use crate::plan::Needs;
use crate::result::{AssertionResult, SampleResult};
use crate::text::{Text, TextCompiler, Thrown};
use code::Step;

/// Languages whose simple scripts are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Groovy 3.
    Groovy,
    /// BeanShell 2.
    BeanShell,
}

/// What a script is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A pre-processor.
    Before,
    /// A timer.
    Timer,
    /// A sampler.
    Sampler,
    /// A post-processor.
    After,
    /// An assertion.
    Assertion,
    /// A listener.
    Listener,
    /// A function in a text.
    Function,
}

impl Role {
    /// Whether somebody gets the value of the script.
    fn reads_value(self) -> bool {
        matches!(self, Self::Timer | Self::Sampler | Self::Function)
    }
}

/// Where a script stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its language.
    pub(crate) language: Language,
    /// What it is part of.
    pub(crate) role: Role,
    /// It is that of a JSR223 element, which binds other names than BeanShell's elements do.
    pub(crate) jsr223: bool,
}

impl Place {
    /// The class of JMeter's that runs it.
    pub(crate) fn class(self) -> String {
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

    /// The logger that a script has by the name `log`, in the element of that name.
    pub(crate) fn logger(self, name: &str) -> String {
        match self.role {
            Role::Function => self.class(),
            _ if self.jsr223 => format!("{}.{name}", self.class()),
            _ => "org.apache.jmeter.util.BeanShellTestElement".to_owned(),
        }
    }
}

/// Why a script is not simple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotSimple {
    /// What in it is not known here, as in “there is …”.
    pub(crate) reason: String,
}

impl NotSimple {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// A compiled script.
#[derive(Debug)]
pub(crate) struct Script {
    place: Place,
    steps: Vec<Step>,
    /// Places of variables that the element around it reads in the end.
    outputs: Vec<(&'static str, usize)>,
    /// What of the result it reads.
    pub(crate) needs: Needs,
    /// It reads its parameters.
    parameters: bool,
}

/// What a script sees and changes beside the user's world.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    /// The result that it stands behind or makes.
    pub(crate) result: Option<&'a mut SampleResult>,
    /// What an assertion finds.
    pub(crate) finding: Option<&'a mut AssertionResult>,
    /// Name of the element.
    pub(crate) name: &'a str,
    /// Its parameters.
    pub(crate) parameters: &'a Text,
}

/// What a script came to: its value as Java writes it, and the variables that are read after it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The value; `None` is `null`.
    pub(crate) value: Option<String>,
    outputs: Vec<(&'static str, String)>,
}

impl Outcome {
    /// A variable that the element reads, if the script mentions it.
    pub(crate) fn output(&self, name: &str) -> Option<&str> {
        self.outputs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Compiles a script; its text is that which the language gets.
pub(crate) fn compile(
    source: &str,
    place: Place,
    compiler: &mut TextCompiler,
) -> Result<Script, NotSimple> {
    let words = lex::words(source, place.language)?;
    let body = parse::script(&words, place.language)?;
    let checked = check::check(&body, &words, place, compiler)?;
    let mut outputs: Vec<_> = checked.outputs.into_iter().collect();
    outputs.sort_unstable();
    Ok(Script {
        place,
        steps: checked.steps,
        outputs,
        needs: checked.needs,
        parameters: checked.parameters,
    })
}

impl Script {
    /// Runs it. What was done before something threw stays done.
    pub(crate) fn run(&self, env: &mut Env<'_>, stage: Stage<'_>) -> Result<Outcome, Thrown> {
        run::run(self, env, stage)
    }
}
