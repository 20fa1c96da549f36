//! Result Collector: writes results to a file if it names one. Its charts and tables are not displayed.
//!
//! All listeners of JMeter that show results use this class with different user interfaces.

use jmx::{ElementId, Props};

use crate::compile::{Context, Settings, scope};
use crate::plan::{FileWriter, Needs};
use crate::support::Level;

/// Compiles the listener; `None` if it only displays results.
pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<FileWriter> {
    if !matches!(scope::class(ctx.doc, id), "ResultCollector" | CORRECTED) {
        return None;
    }
    writer(ctx, id)
}

/// Compiles the file settings of a listener; `None` if it names no file.
pub(super) fn writer(ctx: &mut Context<'_>, id: ElementId) -> Option<FileWriter> {
    let props = ctx.props(id);
    if props.str("filename").unwrap_or("").is_empty() {
        return None;
    }
    Some(FileWriter {
        file: ctx.prop(id, "filename"),
        errors_only: ctx.flag(id, "ResultCollector.error_logging", false),
        successes_only: ctx.flag(id, "ResultCollector.success_only_logging", false),
        options: options(props),
    })
}

/// Class of a jp@gc listener that writes result files like a Result Collector.
const CORRECTED: &str = "kg.apc.jmeter.vizualizers.CorrectedResultCollector";

fn options(props: &Props) -> Option<Vec<(String, String)>> {
    let saved = props.iter().find(|prop| prop.name == "saveConfig").and_then(|prop| prop.tagged());
    let entries = &saved?.child("value")?.children;
    Some(entries.iter().map(|entry| (entry.tag.clone(), entry.text.clone())).collect())
}

/// Returns the parts of a sample that the rows of a file contain.
pub(super) fn needs(file: &FileWriter, settings: &Settings, functional: bool) -> Needs {
    match &file.options {
        None => needs_by_properties(settings, functional),
        Some(options) => needs_of(functional, |saved, _| {
            options
                .iter()
                .any(|(name, value)| name == saved && value.trim().eq_ignore_ascii_case("true"))
        }),
    }
}

/// Returns the parts of a sample that rows contain if the properties configure them, as for the command line's
/// result file.
pub(crate) fn needs_by_properties(settings: &Settings, functional: bool) -> Needs {
    const FAMILY: &str = "jmeter.save.saveservice.";
    needs_of(functional, |saved, property| match saved {
        "xml" => settings.property(&format!("{FAMILY}{property}"), "csv") == "xml",
        _ => settings.is(&format!("{FAMILY}{property}"), false),
    })
}

/// Returns the parts of a sample that rows contain. `is` looks up an option by its name in a listener and its name
/// in the properties.
fn needs_of(functional: bool, is: impl Fn(&str, &str) -> bool) -> Needs {
    let mut needs = Needs::ROW | Needs::URL;
    // An HTML page may declare its encoding in the body.
    needs.set(Needs::BODY, is("encoding", "encoding"));
    if is("xml", "output_format") {
        let on_error = functional || is("responseDataOnError", "response_data.on_error");
        let text = on_error || is("responseData", "response_data");
        needs.set(Needs::TEXT, text);
        needs.set(Needs::SAMPLER_DATA, on_error || is("samplerData", "samplerData"));
        needs.set(Needs::HEADERS, is("responseHeaders", "responseHeaders"));
        needs.set(Needs::REQUEST_HEADERS, is("requestHeaders", "requestHeaders"));
    }
    needs
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    if ctx.props(id).str("filename").unwrap_or("").is_empty() {
        ctx.remark(id, Level::Ignored, "only draws");
    }
}
