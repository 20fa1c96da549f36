//! Reads, formats, edits and merges every plan of a corpus in a folder next to the repository, if there is one.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::path::Path;

use author::diff::diff;
use author::layout::format;
use author::merge::merge;
use author::{Op, Plan, list};
use jmx::ElementId;

/// Returns the plans of the corpus with their bytes; none without a corpus.
fn plans() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/jmx");
    let Ok(files) = std::fs::read_dir(&folder) else {
        skipped::skip(format!("no corpus at {}", folder.display()));
        return Vec::new();
    };
    let mut plans = Vec::new();
    for file in files {
        let path = file.expect("a readable folder").path();
        if path.extension().is_some_and(|end| end == "jmx") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            plans.push((name, std::fs::read(&path).expect("a readable file")));
        }
    }
    assert!(!plans.is_empty(), "an empty corpus");
    plans.sort();
    plans
}

fn read(name: &str, bytes: &[u8]) -> Plan {
    Plan::read(name, bytes.to_vec()).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Returns the last property of a plan with text on one line: element and path.
fn last_prop(plan: &Plan) -> Option<(ElementId, String, String)> {
    let ids: Vec<_> = plan.document().ids().collect();
    ids.iter().rev().find_map(|id| {
        let entries = list::entries(plan, *id);
        let found = entries.into_iter().rev().find(|one| {
            one.tag == "stringProp" && !one.value.is_empty() && !one.value.contains('\n')
        })?;
        Some((*id, found.prop, found.value))
    })
}

#[test]
fn plans_are_saved_as_they_were_read() {
    let plans = plans();
    for (name, bytes) in &plans {
        assert_eq!(*read(name, bytes).bytes(), **bytes, "{name}");
    }
    eprintln!("{} plans", plans.len());
}

#[test]
fn a_changed_property_is_one_changed_line_and_is_undone() {
    for (name, bytes) in &plans() {
        let mut plan = read(name, bytes);
        let Some((element, prop, value)) = last_prop(&plan) else { continue };
        let before = plan.text().to_owned();
        let value = format!("{value}<1>");
        let applied = plan.apply(&Op::Set { element, prop: prop.clone(), value, create: None });
        let applied = applied.unwrap_or_else(|refusal| panic!("{name}: {prop}: {refusal}"));
        let after = plan.text().to_owned();
        assert_eq!(before.lines().count(), after.lines().count(), "{name}");
        let changed = before.lines().zip(after.lines()).filter(|(old, new)| old != new).count();
        assert_eq!(changed, 1, "{name}: {prop}");
        plan.undo(applied.undo).expect("an undo");
        assert_eq!(*plan.bytes(), **bytes, "{name}");
    }
}

#[test]
fn formatting_keeps_the_meaning_and_is_done_once() {
    let (mut count, mut same) = (0, 0);
    for (name, bytes) in &plans() {
        let plan = read(name, bytes);
        let tidy = format(&plan).unwrap_or_else(|refusal| panic!("{refusal}"));
        let formatted = read(name, tidy.as_bytes());
        let changes = diff(&plan, &formatted);
        assert!(changes.is_empty(), "{name}: {}", changes.text());
        same_meaning(name, &plan, &formatted);
        assert_eq!(format(&formatted).as_deref(), Ok(&*tidy), "{name}");
        let (off, on) = (" enabled=\"true\"", String::from_utf8_lossy(bytes).into_owned());
        count += 1;
        same += usize::from(tidy == on.replace(off, ""));
    }
    eprintln!("{same} of {count} plans differ only in enabled=\"true\"");
}

/// Compares elements and properties as the plan reader sees them, except white space in unknown XML.
fn same_meaning(name: &str, old: &Plan, new: &Plan) {
    assert_eq!(old.document().len(), new.document().len(), "{name}");
    for (left, right) in old.document().ids().zip(new.document().ids()) {
        let (left, right) = (old.document().element(left), new.document().element(right));
        assert_eq!(
            (&left.tag, &left.name, left.enabled, &left.gui_class, &left.children),
            (&right.tag, &right.name, right.enabled, &right.gui_class, &right.children),
            "{name}"
        );
        assert_eq!(left.props.len(), right.props.len(), "{name}: {}", left.name);
        for (one, other) in left.props.iter().zip(right.props.iter()) {
            if one.tagged().is_none() {
                let lines =
                    |prop: &jmx::Prop| format!("{:?}", prop.value).replace(char::is_numeric, "");
                assert_eq!((&one.name, lines(one)), (&other.name, lines(other)), "{name}");
            }
        }
    }
}

#[test]
fn disjoint_edits_of_plans_merge_without_conflict() {
    let mut merged_plans = 0;
    for (name, bytes) in &plans() {
        let base = read(name, bytes);
        let Some((element, prop, value)) = last_prop(&base) else { continue };
        let first = base.document().roots()[0];
        if element == first || base.text().contains("reference=") {
            continue;
        }
        let set = |plan: &mut Plan| {
            let value = format!("{value}<1>");
            plan.apply(&Op::Set { element, prop: prop.clone(), value, create: None })
                .expect("a set");
        };
        let rename = |plan: &mut Plan| {
            plan.apply(&Op::Rename { element: first, name: "Other".into() }).expect("a rename");
            let new = jmx::writer::NewElement::new("ConstantTimer", "ConstantTimerGui", "New 1");
            plan.apply(&Op::insert(Some(first), 99, &new)).expect("an insertion");
        };
        let (mut ours, mut theirs, mut both) = (base.clone(), base.clone(), base.clone());
        set(&mut ours);
        rename(&mut theirs);
        set(&mut both);
        rename(&mut both);
        for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
            let merged = merge(&base, ours, theirs).expect("a merge");
            assert_eq!(merged.conflicts, [], "{name}");
            assert_eq!(merged.plan.text(), both.text(), "{name}");
        }
        merged_plans += 1;
    }
    eprintln!("{merged_plans} plans merged");
}
