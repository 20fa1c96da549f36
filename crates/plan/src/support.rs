//! What becomes of each JMeter element: runs natively, needs a JVM, is left out without harm, or cannot run.
//!
//! One table says it for whole classes; documentation is generated from it and the compiler reads it. Properties of
//! a single element may lower its level, never raise it. Classes of JMeter itself are known by their last name,
//! plug-ins by their full one, so that a plug-in's `JSONPathAssertion` is not taken for JMeter's.

mod classes;

use crate::support::classes::CLASSES;

/// How an element runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// By this program itself.
    Native,
    /// Left out; neither the load nor its checking changes.
    Ignored,
    /// Needs a Java virtual machine.
    Jvm,
    /// Cannot run, though it would change the load or its checking.
    Unsupported,
}

impl Level {
    /// The word for people and documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Ignored => "ignored",
            Self::Jvm => "jvm",
            Self::Unsupported => "unsupported",
        }
    }
}

/// What an element is to the tree around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The Test Plan.
    Plan,
    /// A thread group.
    Group,
    /// A controller.
    Controller,
    /// A sampler.
    Sampler,
    /// Configures samplers in its scope.
    Config,
    /// Delays samplers in its scope.
    Timer,
    /// Runs before samplers in its scope.
    Before,
    /// Runs after samplers in its scope.
    After,
    /// Checks results in its scope.
    Assertion,
    /// Is told of results in its scope.
    Listener,
    /// Takes no part in a run.
    Other,
}

/// One class of elements.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Name: without package for JMeter's own, full for plug-ins.
    pub name: &'static str,
    /// What it is to the tree.
    pub kind: Kind,
    /// How it runs.
    pub level: Level,
    /// What that means, in a sentence; empty where it is native without a reserve.
    pub note: &'static str,
}

/// How one element of a plan runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// How it runs.
    pub level: Level,
    /// Class as in the table.
    pub class: String,
    /// Name of the element.
    pub name: String,
    /// The file it was read from; `None` is the plan's own.
    pub file: Option<String>,
    /// Line in the file, from 1.
    pub line: u32,
    /// Path of the element.
    pub path: String,
    /// What that means for the run; empty for a native element without a reserve.
    pub consequence: String,
}

/// All classes known, in the order of documents.
pub fn table() -> &'static [Class] {
    CLASSES
}

/// The class of that name, as [`class_name`] gives it.
pub fn find(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

/// The name of a class for the table: JMeter's own packages are cut off and its aliases resolved.
pub fn class_name(class: &str) -> &str {
    let own = class.starts_with("org.apache.jmeter.") && !class.contains(".plugins.");
    let name = if own { class.rsplit('.').next().unwrap_or(class) } else { class };
    match name {
        "HTTPSampler" | "HTTPSampler2" | "HTTPSampler3" | "HTTPSampler_" | "HTTPSamplerFull" => {
            "HTTPSamplerProxy"
        }
        "Assertion" => "ResponseAssertion",
        "ForEachController" => "ForeachController",
        "RecordController" => "RecordingController",
        _ => name,
    }
}

/// What an unknown class is to the tree, judged by its name.
pub fn guess(name: &str) -> Kind {
    let last = name.rsplit('.').next().unwrap_or(name);
    let ends = |endings: &[&str]| endings.iter().any(|ending| last.ends_with(ending));
    if ends(&["ThreadGroup"]) {
        Kind::Group
    } else if ends(&["Sampler", "Sample", "Request", "Action"]) {
        Kind::Sampler
    } else if ends(&["Controller"]) {
        Kind::Controller
    } else if ends(&["Timer"]) {
        Kind::Timer
    } else if ends(&["Assertion"]) {
        Kind::Assertion
    } else if ends(&["PreProcessor", "Modifier"]) {
        Kind::Before
    } else if ends(&["PostProcessor", "Extractor"]) {
        Kind::After
    } else if ends(&["Listener", "Collector", "Visualizer", "Writer"]) {
        Kind::Listener
    } else {
        Kind::Config
    }
}
