//! The Java machine of a run: whether the plan needs one, what it is started with, and for what.
//!
//! A plan that hosts nothing starts none and looks for none.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use engine::offload::Offload;
use jvm::{Ready, Settings};
use plan::plan::Plan;

use crate::properties::{Setting, Sources};

/// Elements that are named where the machine is announced.
const NAMED: usize = 3;

/// A machine that runs, and what is to be told of it.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) offload: Arc<dyn Offload>,
    /// JMeter's folder.
    pub(crate) home: String,
    pub(crate) warnings: Vec<String>,
}

/// What a plan needs, found and not yet started.
#[derive(Debug)]
pub(crate) struct Needed {
    ready: Ready,
    /// What is about to be done, for the user.
    pub(crate) words: String,
    /// What runs where.
    pub(crate) place: String,
}

/// Looks for what the plan needs; `None` if that is nothing. The error says what is missing, and what needs it.
pub(crate) fn needed(
    plan: &Plan,
    get: impl Fn(&str) -> Option<String>,
) -> Result<Option<Needed>, String> {
    if plan.hosted.is_empty() {
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

impl Needed {
    /// Starts the machine. If Java itself crashes, its report goes to that file.
    pub(crate) fn start(self, plan: &Plan, crash_report: Option<&Path>) -> Result<Machine, String> {
        let path = self.ready.class_path(&plan.class_path)?;
        let offload = self.ready.start(&path, crash_report)?;
        let home = self.ready.home.folder.display().to_string();
        Ok(Machine { offload, home, warnings: path.warnings })
    }
}

/// The machine of a worker process, with the properties of its run.
pub(crate) fn for_worker(
    plan: &Plan,
    properties: &HashMap<String, String>,
) -> Result<Option<fleet::Java>, String> {
    let Some(needed) = needed(plan, |key| properties.get(key).cloned())? else { return Ok(None) };
    let machine = needed.start(plan, None)?;
    Ok(Some(fleet::Java { offload: machine.offload, home: machine.home }))
}

/// `HEAP` and `JVM_ARGS` are options of Java to JMeter's start script, and to its command line here.
pub(crate) fn heed_start_script(sources: &mut Sources) {
    let given = ["HEAP", "JVM_ARGS"].map(|name| std::env::var(name).unwrap_or_default());
    let options: Vec<&str> = given.iter().flat_map(|text| text.split_whitespace()).collect();
    if !options.is_empty() {
        let options = options.join(&jvm::SEPARATOR.to_string());
        sources.settings.insert(0, Setting::Jmeter("throng.jvm.options".into(), options));
    }
}

/// How many elements and texts there are, and the names of the first.
fn what(plan: &Plan) -> String {
    let elements = &plan.hosted.elements;
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
    if !plan.hosted.texts.is_empty() {
        parts.push(count(plan.hosted.texts.len(), "text with scripts", "texts with scripts"));
    }
    parts.join(" and ")
}
