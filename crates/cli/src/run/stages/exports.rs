//! `--out`: sends metrics of the run to other systems during the run.

use export::{Exports, Facts};

use super::traces::Traces;
use crate::args::request::Request;
use crate::exit::Exit;
use crate::print::log::Level;

/// Prepares the targets of `--out` and starts sending to them. `Err` is the exit code of a run that is not started.
pub(super) fn start(request: &Request, start_ms: i64, traces: &mut Traces<'_>) -> Result<(), Exit> {
    if request.out.is_empty() {
        return Ok(());
    }
    let stem = request.plan.file_stem().unwrap_or_default().to_string_lossy();
    let facts = Facts {
        application: stem.into_owned(),
        plan: request.plan.display().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        start_ms,
    };
    let exports = Exports::start(&request.out, &facts, &|name| std::env::var(name).ok())
        .map_err(|message| traces.console.fail(&message, Exit::Usage))?;
    for shown in exports.shown() {
        let words = format!("figures: {shown}");
        traces.note(Level::Info, "export", &words);
        traces.console.line(&words);
    }
    traces.followers.push(exports.follower());
    traces.exports = Some(exports);
    Ok(())
}

/// Ends sending after the run. The last metrics are sent while the report is written.
pub(super) fn end(traces: &mut Traces<'_>) {
    if let Some(exports) = &mut traces.exports {
        exports.end();
    }
}

/// Waits for the targets for a limited time, and reports the data that they did not accept.
pub(super) fn finish(traces: &mut Traces<'_>) {
    let Some(exports) = traces.exports.take() else { return };
    for line in exports.finish() {
        traces.warn("export", &line);
    }
}
