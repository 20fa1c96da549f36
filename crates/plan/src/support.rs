//! Support level of each JMeter element: runs natively, needs a JVM, is ignored without harm, or cannot run.
//!
//! One table lists the level of each class; the documentation is generated from it, and the compiler reads it.
//! Properties of a single element may lower its level, but never raise it. JMeter's own classes are identified by
//! their simple name and plug-in classes by their full name, so that a plug-in's `JSONPathAssertion` is not
//! mistaken for JMeter's.

mod classes;

use crate::support::classes::CLASSES;

/// Plug-in classes that run if they are available in Java, and are ignored otherwise.
pub const OF_PLUGINS: [&str; 1] = ["kg.apc.jmeter.reporters.FlexibleFileWriter"];

/// Support level of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The element runs natively.
    Native,
    /// The element is ignored. This changes neither the load nor its checks.
    Ignored,
    /// The element needs a Java virtual machine.
    Jvm,
    /// The element cannot run, although the load or its checks depend on it.
    Unsupported,
}

impl Level {
    /// Returns the name of the level for messages and documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Ignored => "ignored",
            Self::Jvm => "jvm",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Kind of an element in the plan's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Test Plan.
    Plan,
    /// Thread group.
    Group,
    /// Controller.
    Controller,
    /// Sampler.
    Sampler,
    /// Config element: configures samplers in its scope.
    Config,
    /// Timer: delays samplers in its scope.
    Timer,
    /// Pre-processor: runs before samplers in its scope.
    Before,
    /// Post-processor: runs after samplers in its scope.
    After,
    /// Assertion: checks results in its scope.
    Assertion,
    /// Listener: receives results in its scope.
    Listener,
    /// Any other element, which has no effect in a run.
    Other,
}

/// Kinds of children of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The element has no children.
    Nothing,
    /// Samplers or controllers, possibly with other elements.
    Samplers,
    /// Neither samplers nor controllers.
    Others,
}

/// Entry of the support table for one class of elements.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Class name: the simple name for JMeter's own classes, the full name for plug-ins.
    pub name: &'static str,
    /// Kind of the class's elements in the tree.
    pub kind: Kind,
    /// Support level of the class.
    pub level: Level,
    /// A sentence about the level of this class; empty for full native support.
    pub note: &'static str,
}

/// Support level of one element of a plan, with the element's position and the consequence for the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// Support level of the element.
    pub level: Level,
    /// Class name as in the support table.
    pub class: String,
    /// Name of the element.
    pub name: String,
    /// Included file that contains the element; `None` for the plan's own file.
    pub file: Option<String>,
    /// Line of the element in its file, from 1.
    pub line: u32,
    /// Names from the root of the plan to the element, such as `Test Plan > Users > Login`.
    pub path: String,
    /// Consequence for the run; empty for full native support.
    pub consequence: String,
}

/// Returns the support table, in the order of the documentation.
pub fn table() -> &'static [Class] {
    CLASSES
}

/// Returns the table's entry for a name that [`class_name`] has returned.
pub fn find(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

/// Returns the name of a class as written in the table: without JMeter's own packages, and with aliases resolved.
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

/// Guesses the kind of an unknown class from its name, then from the name of its window and of its package. An
/// element with children can only be a sampler, controller or group, and an element with samplers only a controller
/// or group.
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

/// Returns the full name of one of JMeter's own classes that runs in Java.
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
