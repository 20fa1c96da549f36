//! Checks that `docs/elements.md` equals the tables in the code.
//!
//! The document is rendered from the tables and compared; `UPDATE_DOCS=1` rewrites it.

use std::fmt::Write;
use std::path::Path;

use plan::function::{SupportLevel, catalogue};
use plan::support::{Class, Kind, table};

const HEAD: &str = "\
# Elements and functions

<!-- Made from the tables in crates/plan by its test `support_table`: UPDATE_DOCS=1 cargo test -p throng-plan --test support_table -->

The support level of each element of a JMeter plan. `throng check PLAN.jmx` shows it for your plan, with lines and paths
([checking a plan](checking-a-plan.md)).

| level | meaning |
|---|---|
| native | Throng runs it, with JMeter 5.6.3's semantics. |
| ignored | It is left out; neither the load nor its checking changes. |
| jvm | Its own class runs it, in a Java machine within the process. Without Java, a plan that has it enabled is refused. |
| unsupported | It would change the load or its checking and cannot run yet: a plan that has it enabled is refused. |

For an element of the level `jvm`, the remark says what a run without it lacks. `--skip-unsupported` runs a plan without
the elements that cannot run, and lists them. A single element may have a lower level than its class: an If Controller
whose JavaScript does more than compare runs its condition in Java. A class that is in no table belongs to a plug-in: it
runs in Java if its jar is there, and its kind is taken from its name and its children; thread groups cannot.
";

/// Kinds of elements in the order of the document, with their headings.
const KINDS: &[(Kind, &str)] = &[
    (Kind::Plan, "Test plan"),
    (Kind::Group, "Thread groups"),
    (Kind::Controller, "Controllers"),
    (Kind::Sampler, "Samplers"),
    (Kind::Config, "Configuration"),
    (Kind::Timer, "Timers"),
    (Kind::Before, "Pre-processors"),
    (Kind::After, "Post-processors"),
    (Kind::Assertion, "Assertions"),
    (Kind::Listener, "Listeners"),
    (Kind::Other, "Others"),
];

fn render() -> String {
    let mut out = String::from(HEAD);
    for (kind, heading) in KINDS {
        let classes = table().iter().filter(|class| class.kind == *kind);
        let mut classes: Vec<&Class> = classes.collect();
        // Native classes come first; within a level, classes are in the order of the table.
        classes.sort_by_key(|class| class.level);
        let _ = write!(out, "\n## {heading}\n\n");
        out.push_str("| class | level | |\n|---|---|---|\n");
        for class in classes {
            let _ = writeln!(out, "| `{}` | {} | {} |", class.name, class.level.word(), class.note);
        }
    }
    functions(&mut out);
    out
}

fn functions(out: &mut String) {
    let (native, others): (Vec<_>, Vec<_>) =
        catalogue().partition(|entry| entry.level == SupportLevel::Native);
    out.push_str("\n## Functions\n\nThese run natively:\n\n| function | parameters |\n|---|---|\n");
    for entry in &native {
        let parameters = match (entry.min, entry.max) {
            (min, Some(max)) if min == max => min.to_string(),
            (min, Some(max)) => format!("{min} to {max}"),
            (min, None) => format!("{min} or more"),
        };
        let _ = writeln!(out, "| `{}` | {parameters} |", entry.name);
    }
    for (level, sentence) in [
        (
            SupportLevel::Comparisons,
            "These run natively where their script is a comparison, such as `${__jexl3(${n} < 3)}`; any other script runs in Java",
        ),
        (
            SupportLevel::Expressions,
            "This runs natively where its script is made of operators, ternaries, methods of texts and of `vars` and `props`; any other script runs in Java",
        ),
        (
            SupportLevel::Scripts,
            "These run natively where their script is [simple](scripts.md); any other script runs in Java",
        ),
    ] {
        let names: Vec<_> = others
            .iter()
            .filter(|entry| entry.level == level)
            .map(|entry| format!("`{}`", entry.name))
            .collect();
        let _ = write!(out, "\n{sentence}:\n\n{}.\n", names.join(", "));
    }
    assert!(others.iter().all(|entry| entry.level != SupportLevel::Jvm), "they have no line");
    out.push_str("\nFunctions of plug-ins run in Java.\n");
}

#[test]
fn the_document_says_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/elements.md");
    let rendered = render();
    for (kind, _) in KINDS {
        assert!(table().iter().any(|class| class.kind == *kind), "no class is a {kind:?}");
    }
    for class in table() {
        assert!(rendered.contains(&format!("| `{}` |", class.name)), "{} is missing", class.name);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &rendered).expect("docs/elements.md");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = rendered.lines().zip(written.lines()).find(|(now, then)| now != then);
    assert!(
        rendered == written,
        "docs/elements.md is not up to date; UPDATE_DOCS=1 writes it anew. First difference: {differs:?}"
    );
}
