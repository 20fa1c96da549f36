//! `throng ctl`: changing a running test from another process.

mod program;

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use program::{Ended, Program, ended};
use serde_json::Value;

/// Waits until the condition holds; fails the test after one minute.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn seconds(program: &Program) -> Vec<Value> {
    let text = std::fs::read_to_string(program.run_folder().join("seconds.jsonl"));
    text.unwrap_or_default().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn last(program: &Program, key: &str) -> u64 {
    seconds(program).last().and_then(|second| second[key].as_u64()).unwrap_or_default()
}

fn ctl(program: &Program, words: &[&str]) -> Ended {
    program.run(&[&["ctl"], words].concat())
}

fn done(program: &Program, words: &[&str]) -> String {
    let ended = ctl(program, words);
    assert_eq!(ended.code, 0, "{words:?}: {ended:?}");
    ended.out
}

/// Starts a run and waits until its control socket answers.
fn start(program: &Program, options: &[&str]) -> Child {
    let child = program.start(&[&["run", "plan.jmx", "-Jms=20"], options].concat());
    until("a run that answers", || ctl(program, &["status"]).code == 0);
    child
}

fn change_users(workers: &str) {
    let program = Program::new();
    let child = start(&program, &["--users", "4", "--duration", "50m", "--workers", workers]);
    until("4 users", || last(&program, "users") == 4);
    assert_eq!(done(&program, &["users", "+8"]), "users: 12 instead of 4\n");
    until("12 users", || last(&program, "users") == 12);
    assert_eq!(done(&program, &["users", "3"]), "users: 3 instead of 12\n");
    until("3 users", || last(&program, "users") == 3);
    assert_eq!(done(&program, &["mark", "cache", "cleared"]), "marked: cache cleared\n");
    done(&program, &["pause"]);
    assert!(ctl(&program, &["pause"]).err.contains("paused already"));
    until("a second without samples", || last(&program, "samples") == 0);
    assert_eq!(last(&program, "users"), 3, "who waits stays");
    done(&program, &["resume"]);
    until("samples again", || last(&program, "samples") > 0);
    assert!(done(&program, &["status"]).contains("running, 3 users asked for; 3 users active"));
    // Users that were removed do not return; the run starts new users instead.
    done(&program, &["users", "5"]);
    until("5 users", || last(&program, "users") == 5);

    let socket = program.run_folder().join("ctl.sock");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(&program.run_folder())), (0o600, 0o700));
    done(&program, &["stop"]);
    let ended = ended(child.wait_with_output().expect("an end"));
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(!socket.exists());

    let marks =
        seconds(&program).into_iter().filter_map(|second| second["marks"].as_array().cloned());
    let marks: Vec<String> =
        marks.flatten().map(|mark| mark["what"].as_str().expect("a text").to_string()).collect();
    let expected = [
        "users: 12 instead of 4",
        "users: 3 instead of 12",
        "mark: cache cleared",
        "paused: samples in flight finish, and no other begins",
        "the test goes on",
        "users: 5 instead of 3",
        "stop",
    ];
    assert_eq!(marks, expected);
    let log = std::fs::read_to_string(program.run_folder().join("throng.log")).expect("a log");
    for mark in &expected[..6] {
        assert!(log.contains(mark), "{mark}: {log}");
    }
    let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
    let summary: Value = serde_json::from_str(&text.expect("a summary")).expect("JSON");
    assert_eq!(summary["failed"], 0);
}

#[test]
fn users_come_and_go_at_once() {
    change_users("1");
}

#[test]
fn users_come_and_go_in_several_processes() {
    change_users("3");
}

#[test]
fn a_rate_is_changed_and_the_test_ends_when_it_would_have() {
    for workers in ["1", "2"] {
        let program = Program::new();
        let options = ["--rps", "5", "--duration", "9s", "--workers", workers];
        let child = start(&program, &options);
        assert_eq!(done(&program, &["rps", "100"]), "rate: 100 starts/s instead of 5\n");
        assert!(ctl(&program, &["users", "5"]).err.contains("throng ctl rps"));
        let ended = ended(child.wait_with_output().expect("an end"));
        assert_eq!(ended.code, 0, "{ended:?}");
        let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
        let summary: Value = serde_json::from_str(&text.expect("a summary")).expect("JSON");
        let requests = summary["requests"].as_u64().expect("a number");
        assert!((60..900).contains(&requests), "{requests}");
        assert_eq!(summary["starts"]["due"].as_u64(), Some(requests));
    }
}

#[test]
fn a_paused_test_ends_in_time_and_mistakes_are_sentences() {
    let program = Program::new();
    assert!(ctl(&program, &["users", "5"]).err.contains("no test runs in runs"));
    let child = start(&program, &["--users", "2", "--duration", "5s"]);
    for (words, said) in [
        (&["users", "many"][..], "is not a valid number"),
        (&["users", "0"], "throng ctl stop"),
        (&["rps", "5"], "throng ctl users"),
        (&["resume"], "is not paused"),
        (&["elsewhere", "status"], "neither a request nor the folder of a run"),
        (&["go"], "there is no request \"go\""),
    ] {
        let ended = ctl(&program, words);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.err.contains(said), "{words:?}: {}", ended.err);
    }
    let folder = program.run_folder();
    let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
    done(&program, &[name, "pause"]);
    let ended = ended(child.wait_with_output().expect("an end"));
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn clients_that_are_silent_flood_send_rubbish_or_never_read_disturb_nobody() {
    let program = Program::new();
    let child = start(&program, &["--users", "2", "--duration", "50m"]);
    let socket = program.run_folder().join("ctl.sock");
    let connect = || UnixStream::connect(&socket).expect("the socket");
    let silent: Vec<UnixStream> = (0..30).map(|_| connect()).collect();
    // If the server handled clients one after the other, the silent clients would delay this answer too long.
    done(&program, &["status"]);
    let answer = |bytes: &[u8]| {
        let mut client = connect();
        let _ = client.write_all(bytes);
        let mut text = String::new();
        let _ = client.read_to_string(&mut text);
        text
    };
    assert!(answer(&[0, 255, 27, b'[', b'\n']).starts_with('-'));
    assert!(answer(b"GET / HTTP/1.1\r\n\r\n").starts_with("-there is no"));
    let long = answer(&b"mark ".repeat(1_000_000));
    assert!(long.is_empty() || long.starts_with('-') || long.starts_with("+marked"), "{long:.100}");
    assert!(answer(b"mark a\x1b[31mb\n").contains("marked: a[31mb"));
    // 500 clients send requests and never read the answers.
    let flood: Vec<UnixStream> = (0..500)
        .map(|_| {
            let mut client = connect();
            let _ = client.write_all(b"status\n");
            client
        })
        .collect();
    let before = last(&program, "samples");
    until("an answer", || ctl(&program, &["status"]).code == 0);
    until("samples as before", || last(&program, "samples") > before / 2);
    drop((silent, flood));
    until("an end", || ctl(&program, &["stop"]).code == 0);
    let ended = ended(child.wait_with_output().expect("an end"));
    assert_eq!(ended.code, 130, "{ended:?}");
}

#[test]
fn a_folder_in_the_place_of_the_runs_is_left_alone() {
    let program = Program::new();
    let child = start(&program, &["--users", "1", "--duration", "50m"]);
    let (own, moved) = (program.run_folder(), program.path("moved"));
    std::fs::rename(&own, &moved).expect("a rename");
    std::fs::create_dir(&own).expect("a folder");
    std::fs::write(own.join("ctl.sock"), "somebody's").expect("a file");
    let moved = moved.to_str().expect("a name");
    done(&program, &[moved, "stop"]);
    let _ = child.wait_with_output();
    assert_eq!(std::fs::read_to_string(own.join("ctl.sock")).expect("it stays"), "somebody's");
    assert!(!std::path::Path::new(moved).join("ctl.sock").exists());
}

const ARRIVALS: &str = r#"<com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup guiclass="x" testclass="x" testname="Comers" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <stringProp name="TargetLevel">5</stringProp><stringProp name="RampUp"></stringProp><stringProp name="Steps"></stringProp>
  <stringProp name="Hold">12</stringProp><stringProp name="Unit">S</stringProp>
</com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup>"#;
const OPEN: &str = r#"<OpenModelThreadGroup guiclass="x" testclass="OpenModelThreadGroup" testname="Comers" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>
  <stringProp name="OpenModelThreadGroup.schedule">rate(5/s) even_arrivals(9 s)</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
</OpenModelThreadGroup>"#;
const ULTIMATE: &str = r#"<kg.apc.jmeter.threads.UltimateThreadGroup guiclass="x" testclass="x" testname="Comers" enabled="true">
  <collectionProp name="ultimatethreadgroupdata"><collectionProp name="1">
    <stringProp name="1">4</stringProp><stringProp name="2">0</stringProp><stringProp name="3">0</stringProp>
    <stringProp name="4">9</stringProp><stringProp name="5">0</stringProp>
  </collectionProp></collectionProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp></elementProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
</kg.apc.jmeter.threads.UltimateThreadGroup>"#;
const CONCURRENCY: &str = r#"<com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup guiclass="x" testclass="x" testname="Comers" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <stringProp name="TargetLevel">4</stringProp><stringProp name="RampUp"></stringProp><stringProp name="Steps"></stringProp>
  <stringProp name="Hold">9</stringProp><stringProp name="Unit">S</stringProp>
</com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup>"#;

/// Returns a program whose plan has `group` instead of its thread group.
fn with_group(group: &str) -> Program {
    let program = Program::new();
    let (from, to) = ("<ThreadGroup ", "</ThreadGroup>");
    let (from, to) =
        (program::PLAN.find(from).unwrap(), program::PLAN.find(to).unwrap() + to.len());
    let plan = [&program::PLAN[..from], group, &program::PLAN[to..]].concat();
    program.write("plan.jmx", &plan);
    program
}

fn requests(program: &Program) -> u64 {
    let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
    let summary: Value = serde_json::from_str(&text.expect("a summary")).expect("JSON");
    summary["requests"].as_u64().expect("a number")
}

#[test]
fn groups_with_a_schedule_of_their_own_change_too() {
    let program = with_group(ARRIVALS);
    let child = start(&program, &[]);
    assert_eq!(done(&program, &["rps", "100"]), "rate: 100 starts/s instead of 5\n");
    assert!(ctl(&program, &["users", "5"]).err.contains("throng ctl rps"));
    let end = ended(child.wait_with_output().expect("an end"));
    assert_eq!(end.code, 0, "{end:?}");
    assert!(requests(&program) > 150, "{}", requests(&program));
    for group in [ULTIMATE, CONCURRENCY] {
        let program = with_group(group);
        let child = start(&program, &[]);
        until("4 users", || last(&program, "users") == 4);
        assert_eq!(done(&program, &["users", "9"]), "users: 9 instead of 4\n");
        until("9 users", || last(&program, "users") == 9);
        done(&program, &["users", "2"]);
        until("2 users", || last(&program, "users") == 2);
        assert!(ctl(&program, &["rps", "5"]).err.contains("throng ctl users"));
        // After `throng ctl users`, the run still ends at its planned time.
        let end = ended(child.wait_with_output().expect("an end"));
        assert_eq!(end.code, 0, "{end:?}");
    }
}

#[test]
fn a_group_that_cannot_change_is_named_with_what_to_do() {
    let program = with_group(OPEN);
    let child = start(&program, &[]);
    for words in [&["rps", "50"], &["users", "5"]] {
        let refused = ctl(&program, words);
        assert_eq!(refused.code, 2, "{refused:?}");
        let all = ["\"Comers\"", "Open Model", "--scenario 'Comers=rps:N'"];
        assert!(all.iter().all(|part| refused.err.contains(part)), "{}", refused.err);
    }
    let end = ended(child.wait_with_output().expect("an end"));
    assert_eq!(end.code, 0, "{end:?}");
    assert_eq!(requests(&program), 45);
}

#[test]
fn groups_with_a_schedule_of_their_own_are_left_out_or_get_another_load() {
    for group in [ARRIVALS, OPEN, ULTIMATE, CONCURRENCY] {
        for (load, expected) in [
            ("Comers=off", 0),
            ("Comers=users:2,iterations:3", 6),
            ("Comers=rps:50,iterations:7", 7),
        ] {
            let program = with_group(group);
            let end = program.run(&["run", "plan.jmx", "--scenario", load]);
            assert!(!end.err.contains("panicked"), "{end:?}");
            let made = if end.code == 0 { requests(&program) } else { 0 };
            assert_eq!(made, expected, "{load}: {group}: {end:?}");
        }
    }
}
