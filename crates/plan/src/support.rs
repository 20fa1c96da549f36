//! The fate of each JMeter element: runs natively, needs a JVM, is left out without harm, or cannot run.
//!
//! One table says it for whole classes; documentation is generated from it and the compiler reads it. Properties of
//! a single element may lower its level, never raise it. Classes of JMeter itself are known by their last name,
//! plug-ins by their full one, so that a plug-in's `JSONPathAssertion` is not taken for JMeter's.

mod classes;

use crate::support::classes::CLASSES;

/// Classes of plug-ins that run where Java has them, and are left out where it has not.
pub const OF_PLUGINS: [&str; 1] = ["kg.apc.jmeter.reporters.FlexibleFileWriter"];

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

/// The kind that an element is to the tree around it.
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

/// The content of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing.
    Nothing,
    /// Samplers or controllers, maybe beside others.
    Samplers,
    /// Other elements alone.
    Others,
}

/// One class of elements.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Name: without package for JMeter's own, full for plug-ins.
    pub name: &'static str,
    /// Its kind in the tree.
    pub kind: Kind,
    /// How it runs.
    pub level: Level,
    /// The meaning of the level, in a sentence; empty where it is native without a reserve.
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
    /// The consequence for the run; empty for a native element without a reserve.
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
        "DataSourceElement" => "JDBCDataSource",
        "SMIMEAssertion" => "SMIMEAssertionTestElement",
        _ => name,
    }
}

/// The kind of an unknown class in the tree, judged by its name, then by that of its window and of its package. What holds other elements
/// can only be a sampler or a controller, and what holds samplers only a controller.
pub fn guess(name: &str, gui: &str, holds: Holds) -> Kind {
    let last = |name: &str| name.rsplit('.').next().unwrap_or("").to_owned();
    let gui = last(gui);
    let gui = ["GUI", "Gui", "Panel", "UI"].iter().find_map(|end| gui.strip_suffix(end));
    let found = by_name(&last(name)).or_else(|| by_name(gui?)).or_else(|| by_package(name));
    match found.unwrap_or(Kind::Config) {
        kind @ (Kind::Group | Kind::Controller | Kind::Sampler) => kind,
        kind => match holds {
            Holds::Nothing => kind,
            Holds::Others => Kind::Sampler,
            Holds::Samplers => Kind::Controller,
        },
    }
}

fn by_name(name: &str) -> Option<Kind> {
    const ENDS: &[(&[&str], Kind)] = &[
        (&["ThreadGroup"], Kind::Group),
        (&["Sampler", "Sample", "Request", "Action"], Kind::Sampler),
        (&["Controller"], Kind::Controller),
        (&["Timer"], Kind::Timer),
        (&["Assertion"], Kind::Assertion),
        (&["PreProcessor", "Modifier"], Kind::Before),
        (&["PostProcessor", "Extractor"], Kind::After),
        (&["Listener", "Collector", "Visualizer", "Writer", "Reporter"], Kind::Listener),
        (&["Config", "ConfigElement", "DataSet", "Manager", "Defaults"], Kind::Config),
    ];
    let fits = |(ends, _): &&(&[&str], Kind)| ends.iter().any(|end| name.ends_with(end));
    ENDS.iter().find(fits).map(|(_, kind)| *kind)
}

fn by_package(name: &str) -> Option<Kind> {
    const PACKAGES: &[(&[&str], Kind)] = &[
        (&["sampler", "samplers"], Kind::Sampler),
        (&["control", "controller", "controllers"], Kind::Controller),
        (&["timer", "timers"], Kind::Timer),
        (&["assertion", "assertions"], Kind::Assertion),
        (&["modifier", "modifiers", "preprocessor"], Kind::Before),
        (&["extractor", "extractors", "postprocessor"], Kind::After),
        (&["listener", "listeners", "visualizers", "reporters"], Kind::Listener),
    ];
    let (package, _) = name.rsplit_once('.')?;
    let folders = package.rsplit('.');
    folders.into_iter().find_map(|folder| {
        PACKAGES.iter().find(|(names, _)| names.contains(&folder)).map(|(_, kind)| *kind)
    })
}

/// The full name of one of JMeter's own classes that run in Java.
pub fn full_name(name: &str) -> String {
    let package = match name {
        "JavaSampler" | "JSR223Sampler" | "BeanShellSampler" | "BSFSampler" | "JUnitSampler" => {
            "protocol.java.sampler"
        }
        "JSR223PreProcessor" | "BeanShellPreProcessor" | "BSFPreProcessor" => "modifiers",
        "JSR223PostProcessor" | "BeanShellPostProcessor" | "BSFPostProcessor" => "extractor",
        "JSR223Timer" | "BeanShellTimer" | "BSFTimer" => "timers",
        "JSR223Listener" | "BeanShellListener" | "BSFListener" | "MailerResultCollector" => {
            "visualizers"
        }
        "BackendListener" => "visualizers.backend",
        "JDBCSampler" => "protocol.jdbc.sampler",
        "JDBCDataSource" => {
            return "org.apache.jmeter.protocol.jdbc.config.DataSourceElement".into();
        }
        "JDBCPreProcessor" | "JDBCPostProcessor" => "protocol.jdbc.processor",
        "TCPSampler" => "protocol.tcp.sampler",
        "FTPSampler" => "protocol.ftp.sampler",
        "AjpSampler" | "AccessLogSampler" | "HTTPSamplerProxy" => "protocol.http.sampler",
        "SmtpSampler" => "protocol.smtp.sampler",
        "LDAPSampler" | "LDAPExtSampler" => "protocol.ldap.sampler",
        "JMSSampler" | "PublisherSampler" | "SubscriberSampler" => "protocol.jms.sampler",
        "MailReaderSampler" => "protocol.mail.sampler",
        "MongoScriptSampler" => "protocol.mongodb.sampler",
        "MongoSourceElement" => "protocol.mongodb.config",
        "BoltSampler" => "protocol.bolt.sampler",
        "BoltConnectionElement" => "protocol.bolt.config",
        "RegexExtractor" | "HtmlExtractor" | "XPathExtractor" | "XPath2Extractor"
        | "BoundaryExtractor" => "extractor",
        name if name.contains("Assertion") => "assertions",
        name => return name.into(),
    };
    format!("org.apache.jmeter.{package}.{name}")
}
