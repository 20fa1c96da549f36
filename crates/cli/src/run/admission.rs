//! Whether a plan may run: what it needs of Java, what of it cannot run, and what this machine can hold.
//!
//! Everything wrong is said here, before the run leaves a trace.

use std::path::Path;

use engine::Evaluated;
use fleet::remote::Way;
use plan::plan::Plan;
use plan::support::{self, Kind, Level, Support};
use stats::grouped::count;

use crate::console::Console;
use crate::criteria::{unknown_labels, unknown_series};
use crate::exit::Exit;
use crate::load::{self, Loaded};
use crate::preflight::{self, About, Host, Look};
use crate::properties::Properties;
use crate::request::{OVERCOMMIT, Request};
use crate::{check, java, tty};

/// A plan that may run, and its properties.
pub(crate) struct Admitted {
    /// Those of the run: its console, files and processes.
    pub(crate) properties: Properties,
    /// Those that the plan reads. They are others where hosts run the whole plan.
    pub(crate) of_plan: Properties,
    pub(crate) loaded: Loaded,
}

/// Reads properties and plan, and says what is wrong with them. `former`: the properties of a run that goes on. `Err` is
/// the exit code of a plan that may not run.
pub(crate) fn admit(
    request: &Request,
    bytes: &[u8],
    (now_ms, former): (i64, Option<&[(String, String)]>),
    console: &mut Console,
) -> Result<Admitted, Exit> {
    let (mut properties, warnings) = Properties::load(&request.sources, now_ms)
        .map_err(|message| console.fail(&message, Exit::Usage))?;
    for warning in &warnings {
        console.warn(warning);
    }
    properties.hand_on_levels(&request.levels);
    let whole = matches!(request.fleet, Some(Way::Whole(_)));
    if let Some(values) = former.filter(|_| !whole) {
        properties.restore(values);
    }
    let of_plan =
        if whole { properties.of_hosts(&request.sources, now_ms) } else { Ok(properties.clone()) };
    let mut of_plan = of_plan.map_err(|message| console.fail(&message, Exit::Usage))?;
    // Those that were kept are the hosts'.
    if let Some(values) = former.filter(|_| whole) {
        of_plan.restore(values);
    }
    if let Some(words) = of_plan.complaint() {
        return Err(console.fail(&words, Exit::Usage));
    }
    java::note_plugins(&mut properties, bytes);
    java::note_plugins(&mut of_plan, bytes);
    let mut loaded = load::load(&request.plan, bytes.to_vec(), &of_plan);
    let mut missing = None;
    match loaded.plan.as_ref().map(|plan| missing_classes(plan, &of_plan)) {
        Some(Ok(diags)) => loaded.diags.extend(diags),
        Some(Err(words)) => {
            // What needs it is then named as what cannot run.
            properties.leave_java_out();
            of_plan.leave_java_out();
            loaded = load::load(&request.plan, bytes.to_vec(), &of_plan);
            missing = Some(words);
        }
        None => {}
    }
    // Hosts that run the whole plan have its files.
    if !whole {
        let all = of_plan.all().map(|(key, value)| (key.into(), value.into())).collect();
        let folder = request.plan.parent().unwrap_or(Path::new(""));
        let missing = check::missing_files(&loaded, bytes.to_vec(), &all, folder);
        loaded.diags.extend(missing);
    }
    if !may_run(&loaded, request.skip_unsupported, missing.as_deref(), console) {
        return Err(Exit::Plan);
    }
    let labels = loaded.plan.as_ref().map(|plan| unknown_labels(&request.criteria, plan));
    let labels = labels.unwrap_or_default();
    let series = unknown_series(&request.criteria, &of_plan);
    // A criterion that no sample can meet is not met, whether the run is made or not.
    let exit = if labels.is_empty() { Exit::Usage } else { Exit::Criteria };
    match [labels, series].concat() {
        unknown if unknown.is_empty() => Ok(Admitted { properties, of_plan, loaded }),
        unknown => Err(console.fail(&unknown.join("\n"), exit)),
    }
}

/// Classes without which the plan cannot run and that no jar has. The error says why there is no Java machine.
fn missing_classes(plan: &Plan, properties: &Properties) -> Result<Vec<jmx::Diag>, String> {
    let needed = java::needed(plan, |key| properties.get(key).map(str::to_owned))?;
    let mut diags = needed.map_or(Vec::new(), |needed| check::missing_classes(plan, &needed));
    // The Java machine itself tells what the plan can do without.
    diags.retain(|diag| diag.severity == jmx::Severity::Error);
    Ok(diags)
}

/// Warns of properties and options that have no effect.
pub(crate) fn warn_of_unheeded(
    request: &Request,
    Admitted { properties, of_plan, loaded }: &Admitted,
    console: &mut Console,
) {
    let mut lines = check::unheeded(properties, loaded);
    if request.fleet.as_ref().is_some_and(|way| matches!(way, Way::Whole(_))) {
        lines.extend(check::unheeded(of_plan, loaded));
        lines.sort_unstable();
        lines.dedup();
        lines.extend(check::not_on_hosts(properties, of_plan, loaded));
    }
    for line in lines {
        console.warn(&line);
    }
    for element in loaded.support.iter().filter(|element| leaves_output_out(element)) {
        let words = format!("{}: {}", element.path, element.consequence);
        console.warn(&record::mask::source(&words));
    }
    if let Some(file) = &request.log_config {
        let file = file.display();
        console.warn(&format!(
            "{file} is not read: -i (--jmeterlogconf) configures log4j; use -L LEVEL and -j FILE"
        ));
    }
}

/// Whether an element is a listener that is left out, and with it a file or figures that somebody may wait for.
fn leaves_output_out(element: &Support) -> bool {
    const SHOWN_ELSEWHERE: [&str; 2] = ["only draws", "the console shows its own status"];
    element.level == Level::Ignored
        && support::find(&element.class).is_some_and(|class| class.kind == Kind::Listener)
        && !SHOWN_ELSEWHERE.contains(&&*element.consequence)
}

/// Compares what a plan asks of this machine with what it has.
pub(crate) struct Room<'a> {
    pub(crate) request: &'a Request,
    pub(crate) properties: &'a Properties,
    /// Processes that were asked for.
    pub(crate) workers: Option<u32>,
    pub(crate) host: &'a Host,
}

impl Room<'_> {
    /// Of some groups it is only known with `evaluated` how many users they have. `Err` is the exit code of a run that is too large.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        evaluated: Option<&Evaluated>,
        console: &mut Console,
    ) -> Result<Look, Exit> {
        let properties = self.properties.all();
        let about = About {
            properties: properties.map(|(key, value)| (key.into(), value.into())).collect(),
            folder: self.request.folder(),
            users: evaluated.map(|evaluated| evaluated.at_once_by_group().collect()),
            workers: self.workers.map(u64::from),
        };
        let found = preflight::look(plan, about, self.host);
        // Agents offer what they have; this machine only coordinates.
        let elsewhere = self.request.fleet.is_some();
        match refusal(&found, elsewhere || self.properties.flag(OVERCOMMIT, false)) {
            Some(message) => Err(console.fail(&message, Exit::TooSmall)),
            None => Ok(found),
        }
    }
}

/// The reason why a run is not started, if this machine is too small for it and `--overcommit` is not set.
fn refusal(found: &Look, overcommits: bool) -> Option<String> {
    if overcommits || found.refusals.is_empty() {
        return None;
    }
    let lines = found.refusals.join("\n  ");
    Some(format!(
        "this machine cannot hold {} users, and the run was not started:\n  {lines}\n  throng preflight has the sums; --overcommit \
         ({OVERCOMMIT}=true) starts the run all the same",
        count(found.users)
    ))
}

/// Prints the problems of the plan, and says whether it can be run nevertheless.
fn may_run(loaded: &Loaded, skip: bool, no_java: Option<&str>, console: &mut Console) -> bool {
    console.report(&loaded.findings(tty::error_colour()));
    if let Some(words) = no_java {
        console.warn(words);
    }
    let obstacles: Vec<_> = loaded.obstacles().collect();
    if !obstacles.is_empty() {
        let heading =
            if skip { "left out, because they cannot run:" } else { "these elements cannot run:" };
        let lines = check::elements_lines(&loaded.name, obstacles.iter().copied());
        console.warn(&format!("{heading}\n{}", lines.trim_end()));
    }
    if !loaded.is_valid() {
        console.fail("the plan has errors and was not run", Exit::Plan);
        return false;
    }
    if !obstacles.is_empty() && !skip {
        console.fail(
            "the plan was not run; --skip-unsupported (throng run) runs it without these elements",
            Exit::Plan,
        );
        return false;
    }
    true
}
