//! Checks before a run: the Java that the plan needs, elements that cannot run, and the limits of this machine.
//!
//! All problems are reported here, before the run creates any file.

use engine::Evaluated;
use fleet::remote::Way;
use plan::plan::Plan;
use plan::support::{self, Kind, Level, Support};
use stats::grouped::count;

use crate::args::request::{OVERCOMMIT, Request};
use crate::checks::check;
use crate::checks::preflight::demand::Given;
use crate::checks::preflight::{self, Host, Look};
use crate::exit::Exit;
use crate::inputs::java::{self, Needed};
use crate::inputs::load::{self, Loaded, Prepared};
use crate::inputs::properties::Properties;
use crate::judge::criteria::{unknown_labels, unknown_series};
use crate::operator::console::Console;
use crate::print::tty;

/// A plan that may run, with its properties.
pub(crate) struct Admitted {
    /// Properties of the run, for its console, files and processes.
    pub(crate) properties: Properties,
    /// Properties that the plan reads. They differ from those of the run if each host runs the whole plan.
    pub(crate) of_plan: Properties,
    pub(crate) loaded: Loaded,
    /// Java installation for the elements that need one.
    pub(crate) java: Option<Needed>,
}

/// Loads the properties and the plan, and reports their problems. `former` are the properties of a run that is
/// taken over. `Err` is the exit code for a plan that may not run.
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
    // If each host runs the whole plan, the saved properties are those of the hosts.
    if let Some(values) = former.filter(|_| whole) {
        of_plan.restore(values);
    }
    if let Some(words) = of_plan.complaint() {
        return Err(console.fail(&words, Exit::Usage));
    }
    java::note_plugins(&mut properties, bytes);
    let prepared = load::prepare(&request.plan, bytes, &mut of_plan);
    let Prepared { mut loaded, java, no_java } = prepared;
    if no_java.is_some() {
        properties.leave_java_out();
    }
    if let (Some(plan), Some(java)) = (&loaded.plan, &java) {
        // The JVM itself reports missing classes that the plan does not require.
        let missing = check::missing_classes(plan, java).into_iter();
        loaded.diags.extend(missing.filter(|diag| diag.severity == jmx::Severity::Error));
    }
    // If each host runs the whole plan, the plan's files are on the hosts.
    if !whole {
        let all = of_plan.to_map();
        let missing = check::missing_files(&loaded, bytes.to_vec(), &all, &request.folder());
        loaded.diags.extend(missing);
    }
    if !may_run(&loaded, request.skip_unsupported, no_java.as_deref(), console) {
        return Err(Exit::Plan);
    }
    let labels = loaded.plan.as_ref().map(|plan| unknown_labels(&request.criteria, plan));
    let labels = labels.unwrap_or_default();
    let series = unknown_series(&request.criteria, &of_plan);
    // A criterion that no sample can meet counts as missed, even without a run.
    let exit = if labels.is_empty() { Exit::Usage } else { Exit::Criteria };
    match [labels, series].concat() {
        unknown if unknown.is_empty() => Ok(Admitted { properties, of_plan, loaded, java }),
        unknown => Err(console.fail(&unknown.join("\n"), exit)),
    }
}

/// Warns about properties and options that have no effect.
pub(crate) fn warn_of_unheeded(
    request: &Request,
    Admitted { properties, of_plan, loaded, .. }: &Admitted,
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

/// Returns true if an element is a listener that is left out, although the user may expect its file or metrics.
fn leaves_output_out(element: &Support) -> bool {
    const SHOWN_ELSEWHERE: [&str; 2] = ["only draws", "the console shows its own status"];
    element.level == Level::Ignored
        && support::find(&element.class).is_some_and(|class| class.kind == Kind::Listener)
        && !SHOWN_ELSEWHERE.contains(&&*element.consequence)
}

/// Compares the plan's demand with the limits of this machine.
pub(crate) struct Room<'a> {
    pub(crate) request: &'a Request,
    pub(crate) properties: &'a Properties,
    /// Requested number of worker processes.
    pub(crate) workers: Option<u32>,
    pub(crate) host: &'a Host,
}

impl Room<'_> {
    /// Compares the plan's demand with the limits of this machine. For some thread groups, the number of users is known
    /// only if `evaluated` is given. `Err` is the exit code of a run that is too large.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        evaluated: Option<&Evaluated>,
        console: &mut Console,
    ) -> Result<Look, Exit> {
        let given = Given {
            properties: self.properties.to_map(),
            folder: self.request.folder(),
            by_group: evaluated.map(|evaluated| evaluated.at_once_by_group().collect()),
            workers: self.workers.map(u64::from),
            ..Given::default()
        };
        let found = preflight::look(plan, &given, self.host);
        // With agents, this machine only coordinates, and the agents check their own limits.
        let elsewhere = self.request.fleet.is_some();
        match refusal(&found, elsewhere || self.properties.flag(OVERCOMMIT, false)) {
            Some(message) => Err(console.fail(&message, Exit::TooSmall)),
            None => Ok(found),
        }
    }
}

/// Returns the reason for not starting a run: this machine is too small, and `--overcommit` is not set.
fn refusal(found: &Look, overcommits: bool) -> Option<String> {
    if overcommits || found.refusals.is_empty() {
        return None;
    }
    let lines = found.refusals.join("\n  ");
    Some(format!(
        "this machine cannot hold {} users, and the run was not started:\n  {lines}\n  throng preflight shows the calculation; --overcommit \
         ({OVERCOMMIT}=true) starts the run anyway",
        count(found.users)
    ))
}

/// Prints the problems of the plan. Returns true if the plan can run nevertheless.
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
