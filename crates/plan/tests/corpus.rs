//! All plans of a folder of real ones compile without a panic; how many run how is printed.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::collections::BTreeMap;
use std::path::Path;

use plan::compile::{Settings, compile};
use plan::support::Level;

#[test]
fn real_plans_compile() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/jmx");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return skipped::skip(format!("no corpus at {}", folder.display()));
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let (mut scripts, mut reasons) = ((0, 0), BTreeMap::new());
    let (mut levels, mut causes, mut unread) = (BTreeMap::new(), BTreeMap::new(), 0);
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(bytes) = std::fs::read(file) else { continue };
        let Ok((doc, _)) = jmx::parse(&name, bytes) else {
            unread += 1;
            continue;
        };
        let compiled = compile(&doc, &Settings { hosting: true, ..Settings::default() });
        let Some(plan) = compiled.plan else {
            unread += 1;
            println!("{name}: {:?}", compiled.diags);
            continue;
        };
        let worst = compiled.support.iter().map(|support| support.level).max();
        let worst = worst.expect("at least the Test Plan");
        *levels.entry(worst).or_insert(0) += 1;
        for support in compiled.support.iter().filter(|support| support.level >= Level::Jvm) {
            let cause = format!("{} {}", support.level.word(), support.class);
            *causes.entry(cause).or_insert(0) += 1;
        }
        if worst == Level::Unsupported {
            for support in compiled.support.iter().filter(|one| one.level == worst) {
                println!("{name}: {} {}", support.class, support.consequence);
            }
        }
        for support in compiled.support.iter().filter(|support| runs_script(&support.class)) {
            scripts.0 += usize::from(support.level == Level::Native);
            scripts.1 += 1;
            for reason in
                support.consequence.split("; ").filter(|one| one.starts_with("its script"))
            {
                *reasons.entry(reason.to_string()).or_insert(0) += 1;
            }
        }
        if worst <= Level::Ignored {
            assert!(
                !plan.groups.is_empty()
                    || compiled.diags.iter().any(|diag| diag.line > 0)
                    || plan.samplers.is_empty()
            );
        }
        // A plan says the same each time it is compiled.
        let again =
            compile(&doc, &Settings { hosting: true, ..Settings::default() }).plan.expect("a plan");
        assert_eq!(format!("{:?}", plan.controllers), format!("{:?}", again.controllers));
        assert_eq!(plan.hash, again.hash);
    }
    println!("{} plans, {unread} of them no plans", files.len());
    for (level, count) in &levels {
        println!("{count:4} {}", level.word());
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (cause, count) in causes.iter().take(40) {
        println!("{count:6} {cause}");
    }
    println!("{} of {} scripts are simple; what others have:", scripts.0, scripts.1);
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in &reasons {
        println!("{count:6} {reason}");
    }
    let native: i32 = levels.range(..=Level::Ignored).map(|(_, count)| *count).sum();
    println!("{native} plans run natively, {} with Java", levels.get(&Level::Jvm).unwrap_or(&0));
}

fn runs_script(class: &str) -> bool {
    class.starts_with("JSR223") || class.starts_with("BeanShell")
}
