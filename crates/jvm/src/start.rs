//! Starts the Java side of a run: first finds Java and JMeter, without starting anything, then starts the JVM.

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

/// Everything that is needed to start a JVM.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The Java that was found.
    pub java: Java,
    /// The JMeter whose jars are used.
    pub home: Home,
    settings: Settings,
}

/// The missing part (Java or JMeter), because of which no JVM can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No suitable Java was found.
    Java(NoJava),
    /// No jars of JMeter were found.
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

/// Finds the Java and the JMeter that the settings ask for.
///
/// # Errors
///
/// The part that is missing.
pub fn ready(settings: &Settings) -> Result<Ready, Refusal> {
    let java = java(settings).map_err(Refusal::Java)?;
    let home = home(settings).map_err(Refusal::Home)?;
    Ok(Ready { java, home, settings: settings.clone() })
}

/// Finds a Java, without looking for JMeter.
///
/// # Errors
///
/// The candidates that were found and rejected.
pub fn java(settings: &Settings) -> Result<Java, NoJava> {
    java::find(settings.java_home.as_deref(), &Surroundings::here())
}

/// Finds the jars of JMeter, without looking for Java.
///
/// # Errors
///
/// The path that was named and is not a JMeter home, or that none was found.
pub fn home(settings: &Settings) -> Result<Home, NoHome> {
    home::find_here(settings.jmeter_home.as_deref())
}

impl Ready {
    /// Returns the JVM's class path for a test plan with these class path entries.
    ///
    /// # Errors
    ///
    /// The reason why the bridge's jar cannot be written.
    pub fn class_path(&self, of_plan: &[String]) -> Result<ClassPath, String> {
        // If the user has no home folder, or it is not writable, a private temporary folder is used.
        let jar = match cache::folder().map(|cache| bridge::jar(&cache)) {
            Some(Ok(jar)) => jar,
            _ => bridge::jar(&bridge::private_folder())?,
        };
        Ok(self.path(Some(&jar), of_plan))
    }

    /// Returns the `classes`, given by full names, that the JVM would not find. No class is loaded or run.
    pub fn missing_classes<'a>(&self, of_plan: &[String], classes: Vec<&'a str>) -> Vec<&'a str> {
        if classes.is_empty() {
            return classes;
        }
        listing::missing(&self.path(None, of_plan), classes)
    }

    /// Returns warnings about the JVM's class path.
    pub fn class_path_warnings(&self, of_plan: &[String]) -> Vec<String> {
        self.path(None, of_plan).warnings
    }

    fn path(&self, bridge: Option<&Path>, of_plan: &[String]) -> ClassPath {
        ClassPath::new(bridge, &self.home.folder, &self.settings, of_plan)
    }

    /// Starts the JVM and its workers. If Java crashes, it writes its report to `crash_report`.
    ///
    /// # Errors
    ///
    /// The reason why the JVM did not start.
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
