//! `throng check`: lists the elements of a plan that run natively, run in Java, are left out, or cannot run.
//!
//! Everything is reported at once, each finding with line, path and consequence. The exit code is 0 if `throng run`
//! would run the plan, and 3 if not. No part of the plan is run. Questions that only Java could answer are listed
//! as unknown, unless `--run-java` allows starting Java. `files` finds plans in folders, and missing files that
//! plans name; `several` formats the results of several plans.

mod files;
mod several;

pub(crate) use self::files::{MissingFiles, missing as missing_files, missing_in};

use std::path::{Path, PathBuf};

use engine::offload::Finding;
use jmx::{Diag, Severity};
use plan::load::LoadOverrides;
use plan::plan::Plan;
use plan::support::{Level, Support};
use record::mask::source;
use serde::Serialize;
use serde_json::Value;
use stats::grouped::things;

use crate::args::flags::CheckFlags;
use crate::args::outputs::{self, Promised};
use crate::args::project;
use crate::args::request::Request;
use crate::checks::preflight::demand::{self, Demand, Given};
use crate::exit::Exit;
use crate::inputs::load::{self, Loaded, Prepared};
use crate::inputs::properties::{Meant, Properties, Readers, honoured, why_not};
use crate::inputs::{asked_load, java, plugins};
use crate::judge::criteria;
use crate::print::render::{self, JsonDiag};
use crate::print::{terminal, tty};

/// Support levels in the order of the report. Those that prevent a run come first.
const ORDER: [Level; 4] = [Level::Unsupported, Level::Jvm, Level::Ignored, Level::Native];

pub(crate) fn run(flags: CheckFlags) -> Exit {
    let name = "throng check".to_owned();
    let promised = Promised { name, junit: flags.junit.clone(), ..Promised::default() };
    // Lists the plans of a folder. If the folder cannot be read, uses the folder's own path.
    let of = |given: &PathBuf| {
        files::plans(std::slice::from_ref(given)).unwrap_or_else(|_| vec![given.clone()])
    };
    let plans: Vec<PathBuf> = flags.plans.iter().flat_map(of).collect();
    promised.around(plans.iter().map(|plan| ("a plan", &**plan)), || check_all(flags))
}

/// Checks all plans that the flags name.
fn check_all(mut flags: CheckFlags) -> Exit {
    let is_one = matches!(&flags.plans[..], [plan] if !plan.is_dir());
    let load = std::mem::take(&mut flags.load).given();
    let listed = load.and_then(|load| Ok((load, files::plans(&flags.plans)?)));
    let (load, paths) = match listed {
        Ok(listed) => listed,
        Err(message) => return fail(&message),
    };
    let read = paths.iter().map(|path| ("a plan", &**path));
    if let Some(message) = outputs::clash(read, flags.junit.iter().map(|file| ("--junit", &**file)))
    {
        return fail(&message);
    }
    let check = |path: &PathBuf| match std::fs::metadata(path) {
        // A pipe that is found in a folder could block forever. A pipe that the user has named is read.
        Ok(about) if !about.is_file() && !flags.plans.contains(path) => {
            Err(format!("cannot read {}: not a regular file", path.display()))
        }
        _ => Checked::of(&flags, path, load.clone()),
    };
    let checks: Vec<(String, Result<Checked, String>)> =
        paths.iter().map(|path| (path.display().to_string(), check(path))).collect();
    for (_, result) in &checks {
        if let Err(message) = result {
            terminal::error(message);
        }
    }
    match &checks[..] {
        [(_, Ok(checked))] if is_one => checked.tell(&flags),
        _ if is_one => {}
        _ if flags.json => {
            let list = checks.iter().map(|(name, result)| several::data(name, result));
            let list: Vec<_> = list.collect();
            terminal::json(&serde_json::to_string_pretty(&list).unwrap_or_default());
        }
        _ => terminal::out(&several::text(&checks, flags.quiet)),
    }
    let exit = Exit::first(checks.iter().map(|(_, result)| match result {
        Ok(checked) if checked.loaded.runs() => Exit::Ok,
        Ok(_) => Exit::Plan,
        Err(_) => Exit::Usage,
    }));
    let Some(file) = &flags.junit else { return exit };
    match std::fs::write(file, several::junit(&checks)) {
        Ok(()) => exit,
        Err(error) => {
            terminal::error(&format!("cannot write {}: {error}", file.display()));
            Exit::first([exit, Exit::Lost])
        }
    }
}

fn fail(message: &str) -> Exit {
    terminal::error(message);
    Exit::Usage
}

/// A plan with the results of its check.
pub(crate) struct Checked {
    loaded: Loaded,
    /// Properties with which the plan was checked. If no Java is available, they say so to the plan.
    properties: Properties,
    /// Resources that a run of the plan needs. `None` if the plan cannot be compiled. The error is the reason why the
    /// source addresses cannot be used.
    pub(crate) demand: Option<Result<Demand, String>>,
    /// Findings about the part of the plan that runs in Java.
    java: Option<OfJava>,
    /// Messages about properties without effect.
    unheeded: Vec<String>,
    /// Lines about the load that replaces the plan's load.
    load: Vec<String>,
}

impl Checked {
    /// Checks a plan. The error is a message for the user.
    fn of(flags: &CheckFlags, plan: &Path, load: LoadOverrides) -> Result<Self, String> {
        let mut sources = flags.properties.sources();
        flags.machine.clone().add_to(&mut sources);
        let mut request = Request { plan: plan.to_owned(), sources, load, ..Request::default() };
        project::apply(&mut request)?;
        // The plan is read only once, because a pipe cannot be read a second time.
        let (path, bytes) = load::read_quietly(&request.plan)?;
        let given = Given::default();
        let mut checked = Self::of_bytes(&request, (&path, bytes.clone()), given, flags.run_java)?;
        checked.look_at_data(&path, bytes);
        Ok(checked)
    }

    /// Adds a finding if no run of the plan would produce samples, because its data files are missing.
    fn look_at_data(&mut self, path: &Path, bytes: Vec<u8>) {
        let Self { loaded, properties, .. } = self;
        // If the plan has a setUp group, that group may create the file.
        if loaded.plan.as_ref().is_some_and(|plan| !plan.has_groups_aside) {
            let (all, folder) = (properties.to_map(), load::folder(path));
            loaded.diags.extend(files::without_data(&loaded.name, bytes, &all, &folder));
        }
    }

    /// Checks the plan of a request, whose project file was already read, and computes its demand with the given
    /// options. The error is a message for the user.
    pub(crate) fn of_request(request: &Request, given: Given) -> Result<Self, String> {
        let (path, bytes) = load::read_quietly(&request.plan)?;
        Self::of_bytes(request, (&path, bytes), given, false)
    }

    /// Checks the plan of a request, given the path and content of the plan.
    fn of_bytes(
        request: &Request,
        (path, bytes): (&Path, Vec<u8>),
        given: Given,
        run_java: bool,
    ) -> Result<Self, String> {
        let now_ms = jiff::Timestamp::now().as_millisecond();
        let (mut properties, warnings) = Properties::load(&request.sources, now_ms)?;
        for warning in &warnings {
            terminal::warning(warning);
        }
        properties.complaint().map_or(Ok(()), Err)?;
        let Prepared { mut loaded, java, no_java } = load::prepare(path, &bytes, &mut properties);
        loaded.diags.extend(no_java.map(|words| Diag::warning("java", words)));
        let given = Given {
            properties: properties.to_map(),
            folder: load::folder(path),
            workers: properties.workers(request.workers).map(u64::from),
            ..given
        };
        let missing = files::missing(&loaded, bytes, &given.properties, &given.folder);
        loaded.diags.extend(missing);
        let load = asked_load::of_plan(&loaded, &properties, path, &request.load)?;
        let (evaluated, load) = load.unzip();
        let by_group = evaluated.as_ref().map(|evaluated| evaluated.at_once_by_group().collect());
        let given = Given { by_group, ..given };
        let mut demand = loaded.plan.as_ref().map(|plan| demand::of_plan(plan, &given));
        if let (Some(plan), Some(Ok(demand))) = (&loaded.plan, &mut demand) {
            let mut odd = std::mem::take(&mut demand.odd_numbers);
            if let Some(evaluated) = &evaluated {
                odd.retain(|one| !asked_load::voids(&request.load, plan, evaluated, one));
            }
            let odd = odd.into_iter().map(|one| Diag::warning("bad-number", one.message));
            loaded.diags.extend(odd);
        }
        let java =
            java.and_then(|java| look_at_java(&mut loaded, java, &properties, path, run_java));
        if let Some(plan) = &loaded.plan {
            let labels = criteria::unknown_labels(&request.criteria, plan);
            let series = criteria::unknown_series(&request.criteria, &properties);
            let unknown = [labels, series].concat().into_iter();
            loaded.diags.extend(unknown.map(|words| Diag::error("criterion", words)));
        }
        let unheeded = unheeded(&properties, &loaded);
        let load = load.unwrap_or_default();
        Ok(Self { loaded, properties, demand, java, unheeded, load })
    }

    /// Prints the report of a single plan.
    fn tell(&self, flags: &CheckFlags) {
        let Self { loaded, java, unheeded, load, .. } = self;
        if flags.json {
            self.tell_json();
            return;
        }
        if flags.quiet {
            terminal::out(&loaded.findings(tty::output_colour()));
            if !loaded.runs() {
                terminal::out(&verdict(loaded));
            }
        } else {
            terminal::out(&text(loaded, java.as_ref()));
            for line in load {
                terminal::out(&format!("{line}\n"));
            }
        }
        for line in unheeded {
            terminal::warning(line);
        }
    }

    fn tell_json(&self) {
        terminal::json(&serde_json::to_string_pretty(&self.data()).unwrap_or_default());
    }

    /// Returns the report as JSON.
    pub(crate) fn data(&self) -> Value {
        let Self { loaded, java, unheeded, load, .. } = self;
        let report = json(loaded, java.as_ref(), unheeded, load);
        serde_json::to_value(report).unwrap_or_default()
    }

    /// Returns true if `throng run` would run the plan, with or without --skip-unsupported. Prints the findings
    /// unless the output is JSON, and the reasons why the plan would not run.
    pub(crate) fn admits(&self, as_json: bool, skip_unsupported: bool) -> bool {
        let loaded = &self.loaded;
        let runs = if skip_unsupported { loaded.is_valid() } else { loaded.runs() };
        if as_json {
            return runs;
        }
        terminal::err(&loaded.findings(tty::error_colour()));
        if !runs {
            terminal::err(&elements_lines(&loaded.name, loaded.obstacles()));
            terminal::err(&verdict(loaded));
        }
        runs
    }
}

/// Returns messages about properties that have no effect.
pub(crate) fn unheeded(properties: &Properties, loaded: &Loaded) -> Vec<String> {
    // Classes in Java may read properties that Throng does not know, and JMeter properties that only matter in Java.
    let hosts = loaded.plan.as_ref().is_some_and(|plan| !plan.java_backed.is_empty());
    let by_nobody = |key: &str| why_not(key).is_some_and(|why| !why.but_in_java);
    let mut unheeded = properties.unheeded();
    unheeded.retain(|(key, _)| !hosts || by_nobody(key));
    if unheeded.is_empty() {
        return Vec::new();
    }
    let readers = readers(loaded);
    let mut unknown = Vec::new();
    let mut lines = Vec::new();
    for (key, origin) in unheeded.into_iter().filter(|(key, _)| !readers.reads(key)) {
        let reads_none = format!("the plan reads no property {key} ({origin})");
        lines.push(match (why_not(key), readers.meant(key, honoured())) {
            (Some(why), _) => {
                format!("the property {key} ({origin}) has no effect: {}", why.words)
            }
            (None, Some(Meant::Property(name))) => format!("{reads_none}: did you mean {name}?"),
            (None, Some(Meant::Variable(name))) => {
                let meant = if name == key {
                    format!(", only the variable {name}")
                } else {
                    format!(": did you mean {name}? It is a variable")
                };
                format!("{reads_none}{meant}: write ${{__P({name})}} where -J{name} should set it")
            }
            // Plug-ins and later versions of JMeter define further properties with this prefix.
            (None, None) if key.starts_with("jmeter.") => continue,
            (None, None) => {
                unknown.push(format!("{key} ({origin})"));
                continue;
            }
        });
    }
    match unknown.as_slice() {
        [] => {}
        [one] => lines.push(format!(
            "the property {one} has no effect: Throng does not use it, and the plan does not read it"
        )),
        _ => lines.push(format!(
            "the properties {} have no effect: Throng does not use them, and the plan does not read them",
            unknown.join(", ")
        )),
    }
    lines
}

/// Returns the names of the properties that the plan reads. If an included file is missing, the plan may read any
/// property.
fn readers(loaded: &Loaded) -> Readers {
    let mut readers = Readers::of(loaded.sources());
    if !missing_in(loaded).included.is_empty() {
        readers.open();
    }
    readers
}

/// Returns messages about properties that are set on this machine only, although the plan or the engine reads them on
/// the hosts of `-R`.
pub(crate) fn not_on_hosts(
    properties: &Properties,
    of_hosts: &Properties,
    loaded: &Loaded,
) -> Vec<String> {
    let kept: Vec<_> = properties.not_on(of_hosts).collect();
    if kept.is_empty() {
        return Vec::new();
    }
    let readers = readers(loaded);
    let read = |key: &str| engine::PROPERTIES.contains(&key) || readers.reads(key);
    let kept = kept.into_iter().filter(|(key, _)| read(key));
    let line = |(key, origin)| {
        format!(
            "the property {key} ({origin}) is not set on the hosts of -R and -r, as in JMeter: -G{key}=… sets it there"
        )
    };
    kept.map(line).collect()
}

/// Findings about the part of a plan that runs in Java.
struct OfJava {
    /// Names of the elements that run in Java, with the Java installation and jars that run them.
    place: String,
    /// True if Java was started for the check.
    looked: bool,
}

/// Message about the questions that only Java could answer, with the option that starts Java.
const UNKNOWN: &str = "whether its classes can be loaded and its scripts compile is unknown: --run-java has Java look, which loads the plan's jars \
                       and compiles its scripts";

/// Checks the elements that run in Java. Adds their problems to the findings.
fn look_at_java(
    loaded: &mut Loaded,
    needed: java::Needed,
    properties: &Properties,
    path: &Path,
    run: bool,
) -> Option<OfJava> {
    let plan = loaded.plan.as_ref()?;
    let known = OfJava { place: needed.place.clone(), looked: run };
    let diags = if run {
        ask_java(plan, needed, properties, path)
            .unwrap_or_else(|words| vec![Diag::error("java", words)])
    } else {
        look_for_classes(plan, &needed)
    };
    loaded.diags.extend(diags);
    Some(known)
}

/// Returns findings about the plan's classes without starting Java: classes that no jar contains, and errors in the
/// class path.
fn look_for_classes(plan: &Plan, needed: &java::Needed) -> Vec<Diag> {
    let warnings = needed.class_path_warnings(plan);
    let warnings = warnings.into_iter().map(|text| Diag::warning("class-path", text));
    warnings.chain(missing_classes(plan, needed)).collect()
}

/// Returns findings about classes that no jar contains.
pub(crate) fn missing_classes(plan: &Plan, needed: &java::Needed) -> Vec<Diag> {
    let missing = needed.missing_classes(plan);
    let elements = (0..).zip(&plan.java_backed.elements);
    let elements = elements.filter(|(_, element)| missing.contains(&element.class.as_str()));
    let diag = |(id, element): (u32, &plan::java_backed::Element)| {
        let so = if element.native { plan::java_backed::WITHOUT_OBJECT } else { "" };
        let message = format!("class {} is not in the class path{so}", element.class);
        let is_error = !element.native;
        let finding = Finding { is_error, element: Some(id), text: None, line: 0, message };
        of_java(plan, &needed.home(), finding)
    };
    elements.map(diag).collect()
}

/// Starts a JVM and returns its findings about the plan.
fn ask_java(
    plan: &Plan,
    needed: java::Needed,
    properties: &Properties,
    path: &Path,
) -> Result<Vec<Diag>, String> {
    let machine = needed.start(plan, None)?;
    let mut diags: Vec<_> =
        machine.warnings.into_iter().map(|text| Diag::warning("class-path", text)).collect();
    let mut options = engine::Options {
        properties: properties.to_map(),
        offload: Some(machine.offload),
        ..engine::Options::default()
    };
    options.surroundings.home = machine.home;
    path.clone_into(&mut options.surroundings.plan);
    let (findings, _) = engine::set_up(plan, &options)?;
    let home = options.surroundings.home.as_str();
    diags.extend(findings.into_iter().map(|finding| of_java(plan, home, finding)));
    Ok(diags)
}

/// Converts a finding of Java to a finding at its element.
fn of_java(plan: &Plan, home: &str, finding: Finding) -> Diag {
    let element = finding.element.and_then(|id| plan.java_backed.elements.get(id as usize));
    let text = finding.text.and_then(|id| plan.java_backed.texts.get(id as usize));
    let at = match finding.line {
        0 => String::new(),
        line => format!("line {line} of the script: "),
    };
    let of = text.map(|text| format!("{text}: ")).unwrap_or_default();
    let severity = if finding.is_error { Severity::Error } else { Severity::Warning };
    let mut diag = Diag::new("java", severity, format!("{of}{at}{}", finding.message));
    if let Some(advice) = plugins::advice(&finding.message, home) {
        diag = diag.help(advice);
    }
    if let Some(element) = element {
        diag.line = element.line;
        diag.element = Some(element.path.clone());
    }
    diag
}

fn text(loaded: &Loaded, java: Option<&OfJava>) -> String {
    let mut out = loaded.findings(tty::output_colour());
    for level in ORDER {
        let elements: Vec<_> =
            loaded.support.iter().filter(|element| element.level == level).collect();
        if elements.is_empty() {
            continue;
        }
        let heading = heading(level, loaded.has_java());
        out.push_str(&format!("\n{heading} ({})\n", elements.len()));
        out.push_str(&elements_lines(&loaded.name, elements));
    }
    out.push('\n');
    if let Some(OfJava { place, looked }) = java {
        out.push_str(&format!("In Java: {}\n", source(place)));
        if !looked {
            out.push_str(&format!("  {UNKNOWN}\n"));
        }
    }
    out.push_str(&verdict(loaded));
    out
}

/// Largest number of elements with the same class and consequence that are listed.
const FEW_ELEMENTS: usize = 20;

/// Formats elements, each with its position, path, class and consequence for the run. Of many elements of a class, only
/// the first are listed.
pub(crate) fn elements_lines<'a>(
    file: &str,
    elements: impl IntoIterator<Item = &'a Support>,
) -> String {
    let kind =
        |element: &Support| render::alike(&format!("{} {}", element.class, element.consequence));
    render::folded(elements, FEW_ELEMENTS, kind, |element| element_lines(file, element))
}

/// Formats an element with its position, path, class and consequence for the run.
fn element_lines(file: &str, element: &Support) -> String {
    let file = element.file.as_deref().unwrap_or(file);
    let path = render::path(&element.path);
    let mut out = format!("  {file}:{}: {path} [{}]\n", element.line, element.class);
    if !element.consequence.is_empty() {
        out.push_str(&format!("      {}\n", source(&element.consequence)));
    }
    out
}

fn heading(level: Level, has_java: bool) -> &'static str {
    match level {
        Level::Unsupported => "Cannot run",
        Level::Jvm if !has_java => "Cannot run without Java",
        Level::Jvm => "Runs in Java",
        Level::Ignored => "Left out, without effect on the load or its checking",
        Level::Native => "Runs natively",
    }
}

fn verdict(loaded: &Loaded) -> String {
    let obstacles = loaded.obstacles().count();
    if !loaded.is_valid() {
        return "The plan does not run: it has errors.\n".to_string();
    }
    match obstacles {
        0 => {
            let with = with_warnings(loaded);
            format!("The plan runs{with}.\n")
        }
        1 => "The plan does not run: an element cannot run. --skip-unsupported runs it without.\n"
            .to_string(),
        _ => format!(
            "The plan does not run: {obstacles} elements cannot run. --skip-unsupported runs it without.\n"
        ),
    }
}

/// Returns a message with the number of warnings, for a plan that runs.
fn with_warnings(loaded: &Loaded) -> String {
    match loaded.diags.iter().filter(|diag| diag.severity == Severity::Warning).count() {
        0 => String::new(),
        warnings => format!(", with {}", things(warnings as u64, "warning")),
    }
}

/// The report of a plan in the structure of its JSON.
#[derive(Serialize)]
struct JsonReport<'a> {
    file: &'a str,
    runs: bool,
    native: usize,
    ignored: usize,
    jvm: usize,
    unsupported: usize,
    elements: Vec<JsonElement<'a>>,
    findings: Vec<JsonDiag<'a>>,
    /// Names of the elements that run in Java, with the Java installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    java: Option<String>,
    /// Questions that only a run could answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'static str>,
    /// Messages about properties without effect.
    warnings: &'a [String],
    /// Lines about the load that replaces the plan's load.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    load: &'a [String],
}

#[derive(Serialize)]
struct JsonElement<'a> {
    level: &'static str,
    class: &'a str,
    name: String,
    file: &'a str,
    line: u32,
    path: String,
    consequence: String,
}

fn json<'a>(
    loaded: &'a Loaded,
    java: Option<&'a OfJava>,
    warnings: &'a [String],
    load: &'a [String],
) -> JsonReport<'a> {
    let count = |level| loaded.support.iter().filter(|element| element.level == level).count();
    JsonReport {
        file: &loaded.name,
        runs: loaded.runs(),
        native: count(Level::Native),
        ignored: count(Level::Ignored),
        jvm: count(Level::Jvm),
        unsupported: count(Level::Unsupported),
        elements: loaded
            .support
            .iter()
            .map(|element| json_element(&loaded.name, element))
            .collect(),
        findings: loaded
            .diags
            .iter()
            .map(|diag| render::json(diag, loaded.file(diag.file.as_deref()).0))
            .collect(),
        java: java.map(|java| source(&java.place)),
        unknown: java.filter(|java| !java.looked).map(|_| UNKNOWN),
        warnings,
        load,
    }
}

fn json_element<'a>(file: &'a str, element: &'a Support) -> JsonElement<'a> {
    let Support { level, class, name, file: own, line, path, consequence } = element;
    let file = own.as_deref().unwrap_or(file);
    let (name, path, consequence) = (source(name), source(path), source(consequence));
    JsonElement { level: level.word(), class, name, file, line: *line, path, consequence }
}
