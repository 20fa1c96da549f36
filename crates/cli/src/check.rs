//! `throng check`: what of a plan runs natively, what needs a JVM, what is left out, what cannot run.
//!
//! Everything is shown at once, each with line, path and consequence. Ends with 0 where `run` would run the plan and
//! with 3 where it would not.

use std::io::IsTerminal;
use std::path::Path;

use plan::support::{Level, Support};
use serde::Serialize;

use crate::exit::Exit;
use crate::flags::CheckFlags;
use crate::load::{self, Loaded};
use crate::properties::Properties;
use crate::render::{self, Colour, JsonDiag};

/// Levels in the order of the report: what stops a run first.
const ORDER: [Level; 4] = [Level::Unsupported, Level::Jvm, Level::Ignored, Level::Native];

pub(crate) fn run(flags: CheckFlags) -> Exit {
    let mut sources = flags.properties.sources();
    flags.machine.add_to(&mut sources);
    let (properties, warnings) =
        Properties::load(&sources, jiff::Timestamp::now().as_millisecond());
    for warning in &warnings {
        eprint!("{}", render::warning(warning, Colour::Plain));
    }
    let Some(bytes) = read(&flags.plan) else { return Exit::Usage };
    let mut loaded = load::load(&flags.plan, bytes, &properties);
    if let Some(complaint) = engine::complaint(|key| properties.get(key).map(str::to_owned)) {
        loaded.diags.push(jmx::Diag::error("property", complaint));
    }
    let unheeded: Vec<String> = unheeded(&properties, &loaded);
    if flags.json {
        println!("{}", json(&loaded, &unheeded));
    } else {
        print!("{}", text(&loaded));
        for line in &unheeded {
            eprint!("{}", render::warning(line, Colour::Plain));
        }
    }
    if runs(&loaded) { Exit::Ok } else { Exit::Plan }
}

/// The plan file, or a word to the user why not.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| {
            let message =
                format!("the file {} doesn't exist or can't be opened: {error}", path.display());
            eprint!("{}", render::error(&message, Colour::Plain));
        })
        .ok()
}

/// Sentences about properties that have no effect.
pub(crate) fn unheeded(properties: &Properties, loaded: &Loaded) -> Vec<String> {
    // Classes that run in Java read properties that nobody here knows, and all of JMeter's that are for them.
    let hosts = loaded.plan.as_ref().is_some_and(|plan| !plan.hosted.is_empty());
    let by_nobody =
        |key: &str| crate::properties::why_not(key).is_some_and(|why| !why.starts_with("only "));
    let unheeded = properties.unheeded(loaded.sources());
    let unheeded = unheeded.into_iter().filter(|(key, _)| !hosts || by_nobody(key));
    let line = |(key, origin)| match crate::properties::why_not(key) {
        Some(why) => format!("the property {key} ({origin}) has no effect: {why}"),
        None => format!(
            "the property {key} ({origin}) has no effect: it is not honoured here, and the plan does not read it"
        ),
    };
    unheeded.map(line).collect()
}

fn runs(loaded: &Loaded) -> bool {
    loaded.is_valid() && loaded.obstacles().next().is_none()
}

fn text(loaded: &Loaded) -> String {
    let colour = if std::io::stdout().is_terminal() { Colour::Ansi } else { Colour::Plain };
    let mut out = findings(loaded, colour);
    for level in ORDER {
        let elements: Vec<_> =
            loaded.support.iter().filter(|element| element.level == level).collect();
        if elements.is_empty() {
            continue;
        }
        out.push_str(&format!("\n{} ({})\n", heading(level), elements.len()));
        for element in elements {
            out.push_str(&element_lines(&loaded.name, element));
        }
    }
    out.push('\n');
    out.push_str(&verdict(loaded));
    out
}

/// The findings, rendered like a compiler's.
pub(crate) fn findings(loaded: &Loaded, colour: Colour) -> String {
    loaded
        .diags
        .iter()
        .map(|diag| {
            let (file, source) = loaded.file(diag.file.as_deref());
            render::diag(diag, file, source, colour) + "\n"
        })
        .collect()
}

/// An element: place, path, class and what follows for the run.
pub(crate) fn element_lines(file: &str, element: &Support) -> String {
    let file = element.file.as_deref().unwrap_or(file);
    let mut out = format!("  {file}:{}: {} [{}]\n", element.line, element.path, element.class);
    if !element.consequence.is_empty() {
        out.push_str(&format!("      {}\n", element.consequence));
    }
    out
}

fn heading(level: Level) -> &'static str {
    match level {
        Level::Unsupported => "Cannot run",
        Level::Jvm => "Needs a JVM",
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
        0 => "The plan runs.\n".to_string(),
        1 => "The plan does not run: an element cannot. --skip-unsupported runs it without.\n"
            .to_string(),
        _ => format!(
            "The plan does not run: {obstacles} elements cannot. --skip-unsupported runs it without.\n"
        ),
    }
}

/// The report as JSON.
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
    warnings: &'a [String],
}

#[derive(Serialize)]
struct JsonElement<'a> {
    level: &'static str,
    class: &'a str,
    name: &'a str,
    file: &'a str,
    line: u32,
    path: &'a str,
    consequence: &'a str,
}

fn json(loaded: &Loaded, warnings: &[String]) -> String {
    let count = |level| loaded.support.iter().filter(|element| element.level == level).count();
    let report = JsonReport {
        file: &loaded.name,
        runs: runs(loaded),
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
        warnings,
    };
    serde_json::to_string_pretty(&report).unwrap_or_default()
}

fn json_element<'a>(file: &'a str, element: &'a Support) -> JsonElement<'a> {
    let Support { level, class, name, file: own, line, path, consequence } = element;
    let file = own.as_deref().unwrap_or(file);
    JsonElement { level: level.word(), class, name, file, line: *line, path, consequence }
}
