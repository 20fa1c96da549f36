//! Result Collector: writes results to a file, if it names one. What it draws is left out.
//!
//! All listeners of JMeter that show results are this class with different faces.

use jmx::{ElementId, Props};

use crate::compile::{Context, scope};
use crate::plan::{Listener, Needs};
use crate::support::Level;

/// The listener; `None` if it only draws.
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<Listener> {
    if !matches!(scope::class(ctx.doc, id), "ResultCollector" | CORRECTED) {
        return None;
    }
    let props = ctx.props(id);
    if props.str("filename").unwrap_or("").is_empty() {
        return None;
    }
    Some(Listener {
        name: ctx.doc.element(id).name.clone(),
        file: ctx.prop(id, "filename"),
        errors_only: ctx.flag(id, "ResultCollector.error_logging", false),
        successes_only: ctx.flag(id, "ResultCollector.success_only_logging", false),
        options: options(props),
    })
}

/// The listener by jp@gc, which writes files just the same.
const CORRECTED: &str = "kg.apc.jmeter.vizualizers.CorrectedResultCollector";

fn options(props: &Props) -> Vec<(String, String)> {
    let saved = props.iter().find(|prop| prop.name == "saveConfig").and_then(|prop| prop.tagged());
    let value = saved.and_then(|saved| saved.child("value"));
    let entries = value.map_or(&[][..], |value| &value.children);
    entries.iter().map(|entry| (entry.tag.clone(), entry.text.clone())).collect()
}

/// What of a sample its rows show.
pub(crate) fn needs(listener: &Listener) -> Needs {
    let mut needs = Needs::ROW | Needs::URL;
    let is =
        |name: &str| listener.options.iter().any(|(key, value)| key == name && value == "true");
    if is("xml") {
        for (option, need) in [
            ("responseHeaders", Needs::HEADERS),
            ("requestHeaders", Needs::REQUEST_HEADERS),
            ("samplerData", Needs::SAMPLER_DATA),
            ("responseData", Needs::TEXT),
        ] {
            needs.set(need, needs.contains(need) || is(option));
        }
    }
    needs
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    if ctx.props(id).str("filename").unwrap_or("").is_empty() {
        ctx.remark(id, Level::Ignored, "only draws");
    }
}
