//! Groovy and BeanShell, as far as they compile to native code: compiled once into operations that do exactly what Groovy
//! 3.0.20 or BeanShell 2.0b6 would do. Nothing here knows of plans, elements or users: the surroundings of a script are
//! traits, [`Surroundings`] while it is compiled and [`World`] while it runs.
//!
//! A script is simple if every operation in it is certain when it is compiled, by what is known of every value at every
//! point ([`compile`]); any other is refused with its reason and runs in a Java machine. What a script may throw while it runs
//! comes out as [`Thrown`], in Groovy's words; where words that are not known would be seen in results, the script is not
//! simple. Warm runs take their texts from buffers of the world; nothing is kept from one run to the next.

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
pub use surroundings::{Finding, Reads, Request, Sample, Stage, Surroundings, World};

use code::Step;

/// Languages whose simple scripts are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Groovy 3.
    Groovy,
    /// BeanShell 2.
    BeanShell,
}

/// The kind of element that a script is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
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
pub struct Place {
    /// Its language.
    pub language: Language,
    /// The kind of element that it is part of.
    pub role: Role,
    /// It is that of a JSR223 element, which binds other names than BeanShell's elements do.
    pub jsr223: bool,
}

impl Place {
    /// The class of JMeter's that runs it.
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

    /// The logger that a script has by the name `log`, in the element of that name.
    pub fn logger(self, name: &str) -> String {
        match self.role {
            Role::Function => self.class(),
            _ if self.jsr223 => format!("{}.{name}", self.class()),
            _ => "org.apache.jmeter.util.BeanShellTestElement".to_owned(),
        }
    }
}

/// Why a script is not simple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSimple {
    /// The part of it that is not known here, as in “there is …”.
    pub reason: String,
}

impl NotSimple {
    /// A refusal with its reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// A compiled script.
#[derive(Debug)]
pub struct Script {
    place: Place,
    steps: Vec<Step>,
    /// Places of variables that the element around it reads in the end.
    outputs: Vec<(&'static str, usize)>,
    /// Parts of the sample result that it reads.
    reads: Reads,
    /// It reads its parameters.
    parameters: bool,
}

/// The outcome of a script: its value as Java writes it, and the variables that are read after it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The value; `None` is `null`.
    pub value: Option<String>,
    outputs: Vec<(&'static str, String)>,
}

impl Outcome {
    /// A variable that the element reads, if the script mentions it.
    pub fn output(&self, name: &str) -> Option<&str> {
        self.outputs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Compiles a script; its text is that which the language gets.
pub fn compile(
    source: &str,
    place: Place,
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
    /// Language and element of the script.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Parts of the sample result that the script reads.
    pub fn reads(&self) -> Reads {
        self.reads
    }

    /// Whether the script reads its parameters: else [`Stage::parameters`] need not be there.
    pub fn reads_parameters(&self) -> bool {
        self.parameters
    }

    /// Runs the script. Its effects before an exception stay.
    pub fn run<W: World>(&self, world: &mut W, stage: Stage<'_, W>) -> Result<Outcome, Thrown> {
        run::run(self, world, stage)
    }
}
