//! The JVM of a run: determines whether the plan needs one, its settings, and the elements that run in it.
//!
//! For a plan without such elements, Java is neither started nor searched for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use engine::offload::Offload;
use jvm::{Ready, Settings};
use plan::plan::{Plan, SamplerKind};

use crate::inputs::properties::{Properties, Setting, Sources};
use crate::inputs::setenv;

/// Largest number of elements that the message about the start of Java names.
const NAMED: usize = 3;

/// A running JVM, and the messages about its start.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) offload: Arc<dyn Offload>,
    /// Path of JMeter's folder.
    pub(crate) home: String,
    /// Warnings about the Java class path.
    pub(crate) warnings: Vec<String>,
}

/// The Java and JMeter installations that a plan needs. They were found, but the JVM is not started yet.
#[derive(Debug)]
pub(crate) struct Needed {
    ready: Ready,
    /// Message that tells the user which elements run in Java.
    pub(crate) words: String,
    /// Description for `throng check` of the elements that run in Java, and of the Java that runs them.
    pub(crate) place: String,
}

/// Searches for the Java and JMeter that the plan needs. Returns `None` if it needs none. The error names the missing
/// part and the elements that need it.
pub(crate) fn needed(
    plan: &Plan,
    get: impl Fn(&str) -> Option<String>,
) -> Result<Option<Needed>, String> {
    if plan.java_backed.is_empty() {
        return Ok(None);
    }
    let settings = Settings::from_properties(get)?;
    let what = what(plan);
    let ready = jvm::ready(&settings).map_err(|no| format!("Java is needed for {what}: {no}"))?;
    let (java, home) = (&ready.java, &ready.home);
    let jars = format!("JMeter's jars from {} ({})", home.folder.display(), home.origin.words());
    let words = format!("starting Java {} for {what}; {jars}", java.version);
    let place = format!("{what}, on Java {} in {}, with {jars}", java.version, java.home.display());
    Ok(Some(Needed { ready, words, place }))
}

/// Stores in the properties which plug-in classes of the plan are available in Java, so that elements of other plug-ins
/// are left out. Does nothing if the plan names no plug-in class, or if Java is not available.
pub(crate) fn note_plugins(properties: &mut Properties, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let named = plan::support::OF_PLUGINS.iter().filter(|class| text.contains(**class));
    let named: Vec<&str> = named.copied().collect();
    if named.is_empty() {
        return;
    }
    let settings = Settings::from_properties(|key| properties.get(key).map(str::to_owned));
    let Ok(ready) =
        settings.and_then(|settings| jvm::ready(&settings).map_err(|no| no.to_string()))
    else {
        return;
    };
    let missing = ready.missing_classes(&[], named.clone());
    let found: Vec<&str> = named.into_iter().filter(|class| !missing.contains(class)).collect();
    properties.set_plugins(&found.join(","));
}

impl Needed {
    /// Returns the plan's classes that the JVM would not find, without starting the JVM. JMeter's own classes are not
    /// checked.
    pub(crate) fn missing_classes<'a>(&self, plan: &'a Plan) -> Vec<&'a str> {
        let classes = plan.java_backed.elements.iter().map(|element| element.class.as_str());
        // Names without a dot are JMeter's own, and some of JMeter's classes have moved. Both are left out.
        let of_others =
            |class: &&str| class.contains('.') && !class.starts_with("org.apache.jmeter.");
        self.ready.missing_classes(&plan.class_path, classes.filter(of_others).collect())
    }

    /// Returns warnings about faults of the Java class path.
    pub(crate) fn class_path_warnings(&self, plan: &Plan) -> Vec<String> {
        self.ready.class_path_warnings(&plan.class_path)
    }

    /// Returns the path of JMeter's folder.
    pub(crate) fn home(&self) -> String {
        self.ready.home.folder.display().to_string()
    }

    /// Starts the JVM. If Java crashes, it writes its report to `crash_report`.
    pub(crate) fn start(self, plan: &Plan, crash_report: Option<&Path>) -> Result<Machine, String> {
        let path = self.ready.class_path(&plan.class_path)?;
        let offload = self.ready.start(&path, crash_report)?;
        let home = self.home();
        Ok(Machine { offload, home, warnings: path.warnings })
    }
}

/// Starts the JVM of a worker process, with the properties of its run.
pub(crate) fn for_worker(
    plan: &Plan,
    properties: &HashMap<String, String>,
) -> Result<Option<fleet::Java>, String> {
    let needed = needed(plan, |key| properties.get(key).cloned())?;
    let allowed = properties.get(fleet::ALLOWED).is_some_and(|text| !text.trim().is_empty());
    let program = |sampler: &plan::plan::Sampler| matches!(sampler.kind, SamplerKind::Process(_));
    if allowed && (needed.is_some() || plan.samplers.iter().any(program)) {
        return Err("the machine limits the targets of plans, and this one needs Java or starts programs, which open \
                    connections by themselves"
            .into());
    }
    let Some(needed) = needed else { return Ok(None) };
    let machine = needed.start(plan, None)?;
    Ok(Some(fleet::Java { offload: machine.offload, home: machine.home }))
}

/// Environment variables with Java options, in the order in which JMeter's start script passes them to Java.
const OPTIONS: [&str; 6] =
    ["HEAP", "VERBOSE_GC", "GC_ALGO", "JMETER_LANGUAGE", "JVM_ARGS", "JMETER_OPTS"];

/// Applies the environment variables and the variables of `bin/setenv.sh`, as JMeter's start script does. Returns a
/// warning about `setenv.sh`, if there is one.
pub(crate) fn heed_start_script(sources: &mut Sources) -> Option<String> {
    let outside = |name: &str| std::env::var(name).ok();
    let file = sources.home.as_ref().map(|home| home.join("bin/setenv.sh"));
    let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let script = text.map(|text| setenv::read(&text, &outside)).unwrap_or_default();
    let given = |name: &str| script.variables.get(name).cloned().or_else(|| outside(name));
    let given_options: Vec<String> = OPTIONS.iter().filter_map(|name| given(name)).collect();
    let options: Vec<&str> =
        given_options.iter().flat_map(|text| text.split_whitespace()).collect();
    if !options.is_empty() {
        let options = options.join(&jvm::SEPARATOR.to_string());
        sources.settings.insert(0, Setting::Jmeter(jvm::OPTIONS.into(), options));
    }
    if let Some(java) = script.variables.get("JAVA_HOME").filter(|java| !java.is_empty()) {
        sources.settings.insert(0, Setting::Jmeter("throng.java.home".into(), java.clone()));
    }
    let file = file.filter(|_| !script.strange.is_empty())?;
    let lines: Vec<_> = script.strange.iter().map(ToString::to_string).collect();
    let (file, lines) = (file.display(), lines.join(", "));
    Some(format!(
        "{file} is read, not run: lines other than assignments have no effect (line {lines})"
    ))
}

/// Describes the numbers of elements and expressions that run in Java, and names the first elements.
fn what(plan: &Plan) -> String {
    // Elements that run natively are only passed to elements in Java, so they are not counted.
    let elements: Vec<_> =
        plan.java_backed.elements.iter().filter(|element| !element.native).collect();
    let count = |n: usize, one: &str, many: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    };
    let mut parts = Vec::new();
    if !elements.is_empty() {
        let mut names: Vec<_> =
            elements.iter().take(NAMED).map(|element| element.name.as_str()).collect();
        if elements.len() > NAMED {
            names.push("…");
        }
        let names = names.join(", ");
        parts.push(format!("{} ({names})", count(elements.len(), "element", "elements")));
    }
    if !plan.java_backed.texts.is_empty() {
        parts.push(count(plan.java_backed.texts.len(), "text with scripts", "texts with scripts"));
    }
    parts.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_start_script_would_set_is_set() {
        let home = tempfile::tempdir().expect("a folder");
        let bin = home.path().join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        let text = "HEAP=\"-Xms1g -Xmx3g\"\nJAVA_HOME=/opt/java\nulimit -n 100\nGC_ALGO=\n";
        std::fs::write(bin.join("setenv.sh"), text).expect("a file");
        let mut sources = Sources { home: Some(home.path().to_owned()), ..Sources::default() };
        let warning = heed_start_script(&mut sources).expect("a warning");
        assert!(warning.contains("setenv.sh") && warning.ends_with("(line 3)"), "{warning}");
        let set = |name: &str| {
            sources.settings.iter().find_map(|setting| match setting {
                Setting::Jmeter(key, value) if key == name => Some(value.as_str()),
                _ => None,
            })
        };
        assert_eq!(set("throng.java.home"), Some("/opt/java"));
        let options = set("throng.jvm.options").expect("options");
        let first: Vec<&str> = options.split(jvm::SEPARATOR).take(2).collect();
        assert_eq!(first, ["-Xms1g", "-Xmx3g"]);
    }
}
