//! The number of requests that a target processes at the same time, from two runs: one with a light load, and one with
//! an overload.
// Each test binary uses only a part of the module `situations`.
mod situations;

use answers::rules;
use answers::verdict::{About, Confidence, Finding, Verdict, Words};
use record::Record;
use situations::{MS, Users, Workers, about, good, run, users};

/// Returns a load whose users all start at the same time, so that the run itself has no light load.
fn at_once(n: u64) -> Users {
    Users { at_once: n, ..users(n) }
}

fn served(workers: usize, load: &Users) -> Record {
    let mut workers = Workers::new(workers);
    run(load, move |request, random| good(workers.work(request.at, about(10 * MS, random))))
}

fn together(light: &Record, heavy: &Record) -> Verdict {
    let mut verdict = rules::verdict(heavy);
    rules::add_light_run(&mut verdict, light, heavy);
    verdict
}

fn limit(verdict: &Verdict) -> Option<&Finding> {
    verdict.findings.iter().find(|finding| finding.id == "concurrency_limit")
}

#[test]
fn the_number_is_that_of_the_workers() {
    for workers in [1, 2, 4, 16, 50] {
        let heavy = served(workers, &at_once(200));
        assert!(limit(&rules::verdict(&heavy)).is_none(), "{workers}: it has no light load");
        let verdict = together(&served(workers, &at_once(1)), &heavy);
        let found = limit(&verdict).expect("a limit");
        let noun = if workers == 1 { "request" } else { "requests" };
        let words = format!("The target works on about {workers} {noun} at once");
        assert!(found.words.en.starts_with(&words), "{}", found.words.en);
        assert_eq!(verdict.findings[0].id, "concurrency_limit", "first of all");
        assert!(!verdict.silent.contains(&"concurrency_limit"));
        let weaker = |finding: &&Finding| matches!(finding.id, "plateau" | "constant_load");
        assert!(!verdict.findings.iter().any(|finding| weaker(&finding)), "the number says more");
    }
}

/// Moves a run to a machine of two processors that the target shares; all programs together use `used` processors.
fn on_machine(mut record: Record, used: f64) -> Record {
    record.frame.target_is_here = true;
    for second in &mut record.seconds {
        second.generator.cpu_s = 0.1 * f64::from(second.ms) / 1000.0;
        let machine =
            stats::machine::Machine { cpu: used / 2.0, processors: 2, ..Default::default() };
        second.machine = Some(machine);
    }
    record
}

#[test]
fn one_thread_that_never_rests_is_named() {
    let (light, heavy) = (served(1, &at_once(1)), served(1, &at_once(200)));
    let says = |heavy: &Record| {
        let verdict = together(&light, heavy);
        let found = limit(&verdict).expect("a limit");
        (found.words.en.clone(), found.words.zh.clone(), found.advice.en.clone())
    };
    // The 0.1 processors of the generator do not count for the target.
    let (en, zh, advice) = says(&on_machine(heavy.clone(), 1.1));
    let one = "Programs beside the generator use one processor all the time (1.00), like a single thread that never rests.";
    assert!(en.ends_with(one), "{en}");
    assert!(zh.ends_with("如同一个从不空闲的线程。"), "{zh}");
    assert!(advice.starts_with("Find the thread"), "{advice}");
    // A lock leaves processors idle, two threads use two processors, and processors of another machine are unknown.
    let mut elsewhere = on_machine(heavy.clone(), 1.1);
    elsewhere.frame.target_is_here = false;
    for other in [on_machine(heavy.clone(), 0.4), on_machine(heavy, 1.9), elsewhere] {
        let (en, _, advice) = says(&other);
        assert!(!en.contains("one processor") && advice.starts_with("Look for a lock"), "{en}");
    }
}

#[test]
fn the_process_of_a_watched_host_says_the_same() {
    let (light, mut heavy) = (served(1, &at_once(1)), served(1, &at_once(200)));
    let mut watched = |used: f64| {
        let [host, metric] = ["redis", "process_cpu"].map(std::sync::Arc::from);
        heavy.series = vec![record::Series { host, metric, unit: record::Unit::Share }];
        heavy.seconds.iter_mut().for_each(|second| second.watched = vec![(0, used)]);
        together(&light, &heavy)
    };
    let (full, idle) = (watched(0.97), watched(0.3));
    let words = |verdict: &Verdict| limit(verdict).expect("a limit").words.en.clone();
    assert!(
        words(&full).contains(" The process on redis uses one processor all the time (0.97)"),
        "{}",
        words(&full)
    );
    assert!(!words(&idle).contains("redis"), "{}", words(&idle));
}

#[test]
fn a_rate_that_does_not_grow_names_the_thread_too() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/plateau.record");
    let mut record = Record::read(std::path::Path::new(path)).expect("a record");
    let words = |record: &Record| {
        let verdict = rules::verdict(record);
        let found = verdict.findings.iter().find(|finding| finding.id == "plateau");
        found.expect("a plateau").words.en.clone()
    };
    assert!(!words(&record).contains("one processor"), "{}", words(&record));
    let [host, metric] = ["redis", "process_cpu"].map(std::sync::Arc::from);
    let at = record.series.len() as u32;
    record.series.push(record::Series { host, metric, unit: record::Unit::Share });
    record.seconds.iter_mut().for_each(|second| second.watched.push((at, 0.97)));
    let end = ", and the process on redis uses one processor all the time (0.97), like a single thread that never rests.";
    assert!(words(&record).ends_with(end), "{}", words(&record));
}

#[test]
fn a_load_that_may_wait_says_nothing() {
    // Five users on four workers wait a little; the metrics look like five workers without waits.
    for (workers, light) in [(4, 5), (1, 2), (1, 20)] {
        let heavy = served(workers, &at_once(200));
        let verdict = together(&served(workers, &at_once(light)), &heavy);
        let wrong = limit(&verdict).map(|found| &found.words.en);
        assert_eq!(wrong, None, "{workers} workers, {light} users");
    }
}

#[test]
fn a_target_that_keeps_up_has_no_limit() {
    let light = served(50, &at_once(1));
    assert!(limit(&together(&light, &served(50, &at_once(40)))).is_none());
}

#[test]
fn a_finding_on_the_generator_hides_it_and_a_plateau_follows_from_it() {
    let (light, heavy) = (served(2, &at_once(1)), served(2, &at_once(200)));
    let finding = |id: &'static str, about: About| {
        let words = || Words { en: "it".into(), zh: "它".into() };
        let (confidence, advice) = (Confidence::Certain, words());
        let (evidence, exonerates, doc) = (Vec::new(), Vec::new(), String::new());
        let words = words();
        let (explains, subjects) = (&[], Vec::new());
        Finding {
            id,
            about,
            confidence,
            words,
            evidence,
            exonerates,
            advice,
            doc,
            explains,
            subjects,
        }
    };
    let mut verdict = rules::verdict(&heavy);
    verdict.findings = vec![finding("plateau", About::Target)];
    rules::add_light_run(&mut verdict, &light, &heavy);
    assert_eq!(verdict.findings.iter().map(|f| f.id).collect::<Vec<_>>(), ["concurrency_limit"]);
    assert!(verdict.silent.contains(&"plateau"));
    let mut verdict = rules::verdict(&heavy);
    verdict.findings = vec![finding("generator_limit", About::Generator)];
    rules::add_light_run(&mut verdict, &light, &heavy);
    assert_eq!(verdict.findings.len(), 1);
    assert_eq!(verdict.hidden.iter().map(|f| f.id).collect::<Vec<_>>(), ["concurrency_limit"]);
}
