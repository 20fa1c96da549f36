//! Facts about a plan that are not part of it: the support level of each enabled element, and hashes.

use jmx::{Document, ElementId};

use super::scope::{self, children, class};
use super::{Context, Settings, numbers};
use crate::element;
use crate::plan::Needs;
use crate::script::scripted;
use crate::support::{self, Kind, Level, Support};

/// Returns the support level of each enabled element, in the order of the file.
pub(super) fn support(ctx: &mut Context<'_>, root: ElementId) -> Vec<Support> {
    let mut found = Vec::new();
    let mut open: Vec<_> =
        ctx.doc.roots().iter().copied().filter(|id| ctx.doc.element(*id).enabled).collect();
    // The Test Plan itself runs whether it is enabled or not.
    if !open.contains(&root) {
        open.push(root);
    }
    open.reverse();
    while let Some(id) = open.pop() {
        found.push(of_element(ctx, id));
        if scope_runs(ctx.doc, id) {
            open.extend(children(ctx.doc, id).into_iter().rev());
        }
    }
    found
}

/// Returns false for elements in a Test Fragment or in the Work Bench, which do not run.
fn scope_runs(doc: &Document, id: ElementId) -> bool {
    !scope::is_unused_fragment(doc, id)
        && support::find(class(doc, id)).is_none_or(|class| class.kind != Kind::Other)
}

fn of_element(ctx: &mut Context<'_>, id: ElementId) -> Support {
    let doc = ctx.doc;
    let element = doc.element(id);
    let name = class(doc, id);
    let java_backing = ctx.settings.java_backing;
    let (mut level, mut consequence) = match support::find(name) {
        _ if ctx.is_java_backed(id) => (Level::Jvm, runs_in_java(name)),
        Some(class) if class.level == Level::Native => (Level::Native, String::new()),
        Some(_) if scripted(ctx, id, &mut Needs::empty()).is_some() => {
            (Level::Native, String::new())
        }
        Some(class) if class.level == Level::Jvm && java_backing => {
            (Level::Ignored, UNUSED.to_string())
        }
        Some(class) => (class.level, class.note.to_string()),
        None if java_backing => unknown(doc, id),
        None => (Level::Unsupported, "unknown element".to_string()),
    };
    element::review(ctx, id);
    numbers::review(ctx, id);
    if scope::is_unused_fragment(doc, id) {
        let what = "runs only if a Module or Include Controller points to it";
        ctx.remark(id, Level::Ignored, what);
    }
    for (lower, what) in ctx.remarks(id) {
        level = level.max(*lower);
        if !consequence.is_empty() {
            consequence.push_str("; ");
        }
        consequence.push_str(what);
    }
    Support {
        level,
        class: name.to_string(),
        name: element.name.clone(),
        file: doc.file(id).map(str::to_owned),
        line: element.line,
        path: doc.path(id),
        consequence,
    }
}

/// Remark on elements that would run in Java but apply to no sampler.
const UNUSED: &str = "no sampler is in its scope";

/// Returns the remark of the support table on an element that its Java class runs.
fn runs_in_java(name: &str) -> String {
    match support::find(name) {
        Some(_) if !name.contains('.') => format!("runs in Java: {}", support::full_name(name)),
        Some(_) => format!("runs in Java: {name}, a plug-in"),
        None => {
            format!("runs in Java: {name}, an unknown class; its jar must be on the class path")
        }
    }
}

/// Returns the level and the remark for an element of an unknown class that Java does not run.
fn unknown(doc: &Document, id: ElementId) -> (Level, String) {
    match scope::kind(doc, id) {
        Kind::Group => (
            Level::Unsupported,
            "this plug-in's thread group is not supported and starts no users: move its children into another thread \
            group".into(),
        ),
        Kind::Controller => (Level::Unsupported, "it does not run at this position".into()),
        _ => (Level::Ignored, UNUSED.into()),
    }
}

/// Returns two hashes (FNV-1a, 64 bits): of the plan's XML together with all properties, and of the XML alone. Both
/// hashes are the same on every machine.
pub(super) fn hashes(doc: &Document, settings: &Settings) -> (u64, u64) {
    let mut properties: Vec<_> = settings.properties.iter().collect();
    properties.sort();
    let add = |hash: u64, bytes: &[u8]| {
        let step =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        bytes.iter().chain(&[0xff]).fold(hash, step)
    };
    let mut text = add(0xcbf2_9ce4_8422_2325, doc.source().as_bytes());
    for file in doc.included() {
        text = add(text, file.source.as_bytes());
    }
    let with =
        |hash, (name, value): (&String, &String)| add(add(hash, name.as_bytes()), value.as_bytes());
    (properties.into_iter().fold(text, with), text)
}
