//! Processes of a run that are stopped or killed, and a terminal that closes.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use stats::jtl::Columns;
use stats::jtl::read::Table;

use crate::trial::{JTL, Trial, number};

/// Waits until the condition holds; fails the test after one minute.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(process: Pid, signal: Signal) {
    kill_process(process, signal).expect("it lives");
}

fn start(trial: &Trial, more: &str) -> Child {
    let program = env!("CARGO_BIN_EXE_throng");
    let line = format!("{program} run plan.jmx -l {JTL} -Jusers=4 -Jms=20 {more}");
    trial.spawn(&line.split_ascii_whitespace().collect::<Vec<_>>())
}

/// Returns the worker processes of a run once its first second is recorded.
fn workers(trial: &Trial, child: &Child) -> Vec<Pid> {
    until("a second", || !trial.seconds().is_empty());
    let id = child.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.expect("the kernel says so");
    children.split_ascii_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}

/// True if a process has ended, also if it is still a zombie.
fn is_gone(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z')))
}

fn rows(trial: &Trial) -> Table {
    let text = trial.program.read(JTL);
    Table::read(text.as_bytes(), &Columns::default()).expect("whole rows")
}

#[test]
fn a_stopped_worker_is_told_and_given_up() {
    let trial = Trial::new();
    let child = start(&trial, "-Jloops=100 --workers 2");
    let workers = workers(&trial, &child);
    signal(workers[1], Signal::STOP);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 7, "{ended:?}");
    for words in
        [": no message for ", "(stopped by SIGSTOP); it will be killed after 30 s", "it was killed"]
    {
        assert!(ended.err.contains(words), "{words}: {ended:?}");
    }
    assert!(workers.into_iter().all(is_gone));
    let summary = trial.summary();
    assert_eq!(summary["workers_lost"].as_array().map(Vec::len), Some(1), "{summary}");
    assert!(number(&summary, "requests") >= 200, "those of the other are all there: {summary}");
}

#[test]
fn ended_at_once_a_run_does_not_wait_for_a_stopped_worker() {
    let trial = Trial::new();
    let child = start(&trial, "-Jloops=-1 --workers 2");
    let workers = workers(&trial, &child);
    signal(workers[0], Signal::STOP);
    signal(Pid::from_child(&child), Signal::INT);
    until("the first word", || trial.program.read("stderr").contains("stopping: "));
    signal(Pid::from_child(&child), Signal::INT);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_eq!(trial.summary()["workers_lost"].as_array().map(Vec::len), Some(1));
    assert!(workers.into_iter().all(is_gone));
}

/// Workers keep running while the coordinator is stopped; their reports wait.
#[test]
fn a_run_that_was_stopped_goes_on() {
    for more in ["", "--workers 2"] {
        let trial = Trial::new();
        let child = start(&trial, &format!("-Jloops=100 {more}"));
        until("a second", || !trial.seconds().is_empty());
        signal(Pid::from_child(&child), Signal::STOP);
        std::thread::sleep(Duration::from_millis(1500));
        signal(Pid::from_child(&child), Signal::CONT);
        let ended = trial.finish(child);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(number(&trial.summary(), "requests"), 400);
        assert_eq!(rows(&trial).rows.len(), 400);
    }
}

#[test]
fn after_a_killed_worker_the_document_is_whole() {
    let trial = Trial::new();
    let xml = "-Jjmeter.save.saveservice.output_format=xml";
    let child = start(&trial, &format!("-Jloops=100 --workers 2 {xml}"));
    let workers = workers(&trial, &child);
    signal(workers[0], Signal::KILL);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 7, "{ended:?}");
    let text = trial.program.read(JTL);
    assert!(text.ends_with("\n</testResults>\n") && text.matches("</testResults>").count() == 1);
    let (rows, requests) = (rows(&trial).rows.len() as u64, number(&trial.summary(), "requests"));
    // The killed worker may have written rows of its last second without having reported their count.
    assert!(rows >= requests && requests >= 200, "{rows} rows of {requests}");
}

#[test]
fn after_a_killed_run_there_are_rows_seconds_and_no_process() {
    for more in ["", "--workers 2", "--workers 2 -Jjmeter.save.saveservice.output_format=xml"] {
        let trial = Trial::new();
        let mut child = start(&trial, &format!("-Jloops=-1 {more}"));
        let workers = workers(&trial, &child);
        until("rows", || !rows(&trial).rows.is_empty());
        child.kill().expect("it lives");
        child.wait().expect("a child");
        until("the workers have ended", || workers.iter().all(|worker| is_gone(*worker)));
        assert!(rows(&trial).values("label").all(|label| label == "Sleep"));
        let folder = trial.program.run_folder();
        let has = |name: &str| folder.join(name).exists();
        assert!(has("plan.jmx") && has("properties.txt") && has("throng.log"));
        assert!(!has("summary.json"), "no summary rather than an empty one");
    }
}

#[test]
fn a_terminal_that_goes_ends_a_run_in_order() {
    let trial = Trial::new();
    // The caller of the tests may ignore SIGHUP, and child processes inherit that.
    let program = env!("CARGO_BIN_EXE_throng");
    let line = format!(
        "env --default-signal=HUP {program} run plan.jmx -l {JTL} -Jusers=4 -Jms=20 -Jloops=-1"
    );
    let child = trial.spawn(&line.split_ascii_whitespace().collect::<Vec<_>>());
    until("a second", || !trial.seconds().is_empty());
    signal(Pid::from_child(&child), Signal::HUP);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_eq!(rows(&trial).rows.len() as u64, number(&trial.summary(), "requests"));
}

#[test]
fn nohup_is_heeded() {
    let trial = Trial::new();
    let line = format!("trap '' HUP; exec \"$0\" run plan.jmx -l {JTL} -Jms=20 -Jloops=100");
    let child = trial.spawn(&["sh", "-c", &line, env!("CARGO_BIN_EXE_throng")]);
    until("a second", || !trial.seconds().is_empty());
    signal(Pid::from_child(&child), Signal::HUP);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(number(&trial.summary(), "requests"), 100);
}
