//! Start of the Java side of a run: first the search for Java and JMeter, without starting anything, then the machine.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::carrier::Carrier;
use crate::child::Child;
use crate::class_path::ClassPath;
use crate::home::{self, Home, NoHome};
use crate::java::{self, Java, NoJava, Surroundings};
use crate::machine::Machine;
use crate::settings::{Settings, THREADS};
use crate::workers::Workers;
use crate::{bridge, cache, listing, options};

/// Everything that a machine needs, found.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The Java.
    pub java: Java,
    /// The JMeter whose jars are used.
    pub home: Home,
    settings: Settings,
}

/// The missing part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No Java.
    Java(NoJava),
    /// No jars of JMeter.
    Home(NoHome),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Java(no) => no.fmt(out),
            Self::Home(no) => no.fmt(out),
        }
    }
}

/// Looks for what the settings ask for.
///
/// # Errors
///
/// The missing part.
pub fn ready(settings: &Settings) -> Result<Ready, Refusal> {
    let java = java(settings).map_err(Refusal::Java)?;
    let home = home(settings).map_err(Refusal::Home)?;
    Ok(Ready { java, home, settings: settings.clone() })
}

/// Looks for a Java only.
///
/// # Errors
///
/// The candidates that were found and rejected.
pub fn java(settings: &Settings) -> Result<Java, NoJava> {
    java::find(settings.java_home.as_deref(), &Surroundings::here())
}

/// Looks for the jars only.
///
/// # Errors
///
/// The path that was named and is not a JMeter home.
pub fn home(settings: &Settings) -> Result<Home, NoHome> {
    home::find_here(settings.jmeter_home.as_deref())
}

impl Ready {
    /// The class path that a machine would get, for a test plan that names those entries.
    ///
    /// # Errors
    ///
    /// The reason why our own jar cannot be written.
    pub fn class_path(&self, of_plan: &[String]) -> Result<ClassPath, String> {
        // Without a home of the user, and where that cannot be written, a private folder will do.
        let jar = match cache::folder().map(|cache| bridge::jar(&cache)) {
            Some(Ok(jar)) => jar,
            _ => bridge::jar(&bridge::private_folder())?,
        };
        Ok(self.path(Some(&jar), of_plan))
    }

    /// Those of the classes, by their full names, that a machine would not find. Nothing is loaded or run.
    pub fn missing_classes<'a>(&self, of_plan: &[String], classes: Vec<&'a str>) -> Vec<&'a str> {
        if classes.is_empty() {
            return classes;
        }
        listing::missing(&self.path(None, of_plan), classes)
    }

    /// Faults of the class path that a machine would get.
    pub fn class_path_warnings(&self, of_plan: &[String]) -> Vec<String> {
        self.path(None, of_plan).warnings
    }

    fn path(&self, bridge: Option<&Path>, of_plan: &[String]) -> ClassPath {
        ClassPath::new(bridge, &self.home.folder, &self.settings, of_plan)
    }

    /// Starts the machine and its workers. Java's report of a crash of its own goes to `crash_report`.
    ///
    /// # Errors
    ///
    /// The reason why it did not start.
    pub fn start(
        &self,
        class_path: &ClassPath,
        crash_report: Option<&Path>,
    ) -> Result<Arc<Workers>, String> {
        let crash_report = crash_report
            .map(|file| std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file)));
        let options = options::options(&self.settings, &self.home.folder, crash_report.as_deref());
        let class_path = class_path.joined();
        let carrier: Box<dyn Carrier> = if self.settings.isolated {
            Box::new(Child::start(&self.java, &class_path, &options)?)
        } else {
            Box::new(Machine::start(&self.java, &class_path, &options)?)
        };
        let most = if self.settings.threads == 0 { THREADS } else { self.settings.threads };
        let workers = Workers::start(carrier, most, options::stack(&self.settings))?;
        let watching = workers.watch_exit().and_then(|()| workers.watch_memory());
        watching.map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(workers)
    }
}
