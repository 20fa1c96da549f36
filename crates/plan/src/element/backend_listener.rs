//! Backend Listener: sends metrics of the run to a server, through one of JMeter's own clients. Java runs other
//! clients.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::{BackendKind, BackendListener};
use crate::support::Level;

/// Compiles the listener; `None` if its client needs Java.
pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<BackendListener> {
    let client = client(ctx.props(id).str("classname").unwrap_or(""))?;
    let props = ctx.props(id);
    let mut parameters = Vec::new();
    if let Some(object) = props.object("arguments") {
        for argument in object.props.collection("Arguments.arguments") {
            let Some(argument) = argument.object() else { continue };
            let name = ctx.text(id, argument.props.str("Argument.name").unwrap_or(""));
            let value = ctx.text(id, argument.props.str("Argument.value").unwrap_or(""));
            parameters.push((name, value));
        }
    }
    Some(BackendListener { client, parameters })
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let class = ctx.props(id).str("classname").unwrap_or("");
    if ctx.is_java_backed(id) {
        ctx.remark_class(id, "the client", class);
    } else if client(class).is_none() {
        let what = format!("the client {class} needs a JVM; no metrics are sent");
        ctx.remark(id, Level::Ignored, what);
    }
}

fn client(class: &str) -> Option<BackendKind> {
    const FAMILY: &str = "org.apache.jmeter.visualizers.backend.";
    Some(match class.trim().strip_prefix(FAMILY)? {
        "influxdb.InfluxdbBackendListenerClient" => BackendKind::Influx,
        "influxdb.InfluxDBRawBackendListenerClient" => BackendKind::InfluxRaw,
        "graphite.GraphiteBackendListenerClient" => BackendKind::Graphite,
        _ => return None,
    })
}
