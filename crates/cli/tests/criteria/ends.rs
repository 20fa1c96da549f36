//! Criteria that a run's end leaves open: samples in flight, stops by errors, errors that no criterion judges, runs
//! without a record.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::program::{self, Program};
use super::{asks, failing_plan, summary};

/// Number of requests that the target answers before it stops answering.
const ANSWERED: u32 = 60;
/// Number of recorded seconds in which the target answers no request.
const QUIET: usize = 4;

/// Starts a target that answers the first requests, and then accepts requests without answering. Returns its port and
/// the count of all requests.
fn hanging_target() -> (u16, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let taken = Arc::new(AtomicU32::new(0));
    let serve = move |mut stream: TcpStream, taken: &AtomicU32| {
        let mut buffer = [0; 4096];
        while stream.read(&mut buffer).is_ok_and(|n| n > 0) {
            if taken.fetch_add(1, Ordering::Relaxed) < ANSWERED {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            }
        }
    };
    let counted = Arc::clone(&taken);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let taken = Arc::clone(&taken);
            std::thread::spawn(move || serve(stream, &taken));
        }
    });
    (port, counted)
}

/// Waits until the condition holds; fails the test after one minute.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "a minute was not enough");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A thread group that stops the test immediately, with samples in flight, once the file `more` contains "false".
const STOPPER: &str = r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Stop" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
</ThreadGroup><hashTree>
  <WhileController guiclass="WhileControllerGui" testclass="WhileController" testname="Wait" enabled="true"><stringProp name="WhileController.condition">${__FileToString(more)}</stringProp></WhileController><hashTree>
    <TestAction guiclass="TestActionGui" testclass="TestAction" testname="Pause" enabled="true"><intProp name="ActionProcessor.action">1</intProp><intProp name="ActionProcessor.target">0</intProp><stringProp name="ActionProcessor.duration">50</stringProp></TestAction><hashTree/>
  </hashTree>
  <TestAction guiclass="TestActionGui" testclass="TestAction" testname="Stop now" enabled="true"><intProp name="ActionProcessor.action">2</intProp><intProp name="ActionProcessor.target">2</intProp><stringProp name="ActionProcessor.duration">0</stringProp></TestAction><hashTree/>
</hashTree>"#;

#[test]
fn a_target_that_hangs_until_the_end_meets_no_criterion() {
    let program = Program::new();
    let (port, taken) = hanging_target();
    let plan = asks(port);
    let plan = plan.replacen("<ThreadGroup ", &format!("{STOPPER}<ThreadGroup "), 1);
    program.write("plan.jmx", &plan);
    program.write("more", "true");
    let line = ["run", "plan.jmx", "-Jusers=10", "-Jloops=-1", "--no-report", "--junit", "t.xml"];
    let fail = ["p95 < 500ms", "service max < 1h", "error% < 1", "count = 60"];
    let fail = fail.map(|criterion| ["--fail", criterion]).concat();
    let child = program.start(&[&line[..], &fail].concat());
    // Number of seconds that the run has recorded.
    let seconds = || {
        let text = std::fs::read_to_string(program.run_folder().join("seconds.jsonl"));
        text.map_or(0, |text| text.lines().count())
    };
    wait_until(|| taken.load(Ordering::Relaxed) >= ANSWERED + 10);
    let before = seconds();
    wait_until(|| seconds() >= before + QUIET);
    program.write("less", "false");
    std::fs::rename(program.path("less"), program.path("more")).expect("a file");
    let ended = program::ended(child.wait_with_output().expect("its output"));
    assert_eq!(ended.code, 4, "{ended:?}");
    for words in [
        "NOT MET    response p95 < 500ms: ",
        "s with 10 samples in flight at the end)",
        "UNDECIDED  service max < ",
        "(of those answered; 10 samples in flight at the end had waited much longer than any answer took)",
        "UNDECIDED  error% < 1%: 0% of requests (met so far; the target answered nothing from ",
        "UNDECIDED  count = 60: 60 (met so far; the target answered nothing from ",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(program.read("t.xml").contains("failures=\"1\" errors=\"3\""));
}

#[test]
fn a_run_that_an_error_stops_is_green_nowhere() {
    for (on_error, words) in [
        ("stoptest", "it was to stop after an error"),
        ("stoptestnow", "it was to stop after an error"),
        ("stopthread", "1 of 1 user was stopped after an error"),
    ] {
        let program = Program::new();
        program.write("plan.jmx", &failing_plan(on_error, ""));
        let line = ["run", "plan.jmx", "--users", "1", "--duration", "50m", "--junit", "t.xml"];
        let ended = program.run(&[&line[..], &["--markdown", "s.md"]].concat());
        assert_eq!(ended.code, 6, "{on_error}: {ended:?}");
        assert!(ended.err.contains(words), "{on_error}: {}", ended.err);
        let xml = program.read("t.xml");
        assert!(xml.contains("failures=\"0\" errors=\"1\"") && xml.contains(words), "{xml}");
        let markdown = program.read("s.md");
        assert!(markdown.starts_with("## ⚠️") && markdown.contains(words), "{markdown}");
        let reason = summary(&program)["end"]["reason"].to_string();
        assert!(reason.contains(words), "{reason}");
        // A run of endless loops that the first error stops has no planned end, so it is undecided (6) too.
        let ended = program.run(&["run", "plan.jmx", "-Jloops=-1", "--no-report"]);
        assert_eq!(ended.code, 6, "{on_error}: {ended:?}");
        assert!(ended.err.contains(words), "{on_error}: {}", ended.err);
        // JMeter's command line exits with 0, also after a stop by an error.
        let as_jmeter = program.run(&["-n", "-t", "plan.jmx", "-Jloops=-1", "-j", "log"]);
        assert_eq!(as_jmeter.code, 0, "{as_jmeter:?}");
    }
}

#[test]
fn an_error_of_the_last_sample_of_all_cuts_nothing() {
    for on_error in ["stoptest", "stoptestnow", "stopthread"] {
        let program = Program::new();
        program.write("plan.jmx", &failing_plan(on_error, ""));
        let line = ["run", "plan.jmx", "--junit", "t.xml", "--fail", "error% = 50"];
        let ended = program.run(&line);
        assert_eq!(ended.code, 0, "{on_error}: {ended:?}");
        let xml = program.read("t.xml");
        assert!(xml.contains("failures=\"0\" errors=\"0\""), "{xml}");
    }
}

#[test]
fn errors_that_no_criterion_is_about_are_named_beside_one_that_is_met() {
    let program = Program::new();
    program.write("plan.jmx", &failing_plan("continue", ""));
    let line = ["run", "plan.jmx", "-Jloops=5", "--junit", "t.xml", "--markdown", "s.md"];
    let words =
        "5 of 10 samples failed, and no criterion is about errors: add &apos;error% &lt; 1&apos;";
    let plain = words.replace("&apos;", "'").replace("&lt;", "<");
    let ended = program.run(&[&line[..], &["--fail", "service p90 < 1h"]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("met      service p90 < ") && ended.out.contains(&plain));
    let xml = program.read("t.xml");
    assert!(xml.contains("failures=\"0\" errors=\"0\"") && xml.contains("<system-out>"), "{xml}");
    assert!(program.read("s.md").contains("5 of 10 samples failed"));
    let judged = &summary(&program)["criteria"]["judged"][0];
    assert!(judged["reason"]["en"].as_str().is_some_and(|reason| *reason == plain), "{judged}");
    let asked = ["--fail", "service p90 < 1h", "--fail", "error% < 51", "--runs", "asked"];
    let ended = program.run(&[&line[..], &asked].concat());
    assert!(ended.code == 0 && !ended.out.contains("samples failed, and"), "{ended:?}");
    assert!(!program.read("t.xml").contains("<system-out>"));
}

#[test]
fn a_run_without_a_file_that_its_plan_includes_meets_its_criteria_only_without_it() {
    let program = Program::new();
    let include = r#"<IncludeController guiclass="IncludeControllerGui" testclass="IncludeController" testname="Login" enabled="true"><stringProp name="IncludeController.includepath">gone.jmx</stringProp></IncludeController><hashTree/>"#;
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", include));
    let line = ["run", "plan.jmx", "-Jloops=3", "--junit", "t.xml", "--markdown", "s.md"];
    let why = "the plan ran without gone.jmx: an Include Controller could not include it";
    for (runs, criteria) in [("none", &[][..]), ("runs", &["error% < 1", "count < 9"])] {
        let fail: Vec<&str> = criteria.iter().flat_map(|one| ["--fail", one]).collect();
        let ended = program.run(&[&line[..], &fail, &["--runs", runs]].concat());
        assert_eq!(ended.code, if criteria.is_empty() { 0 } else { 6 }, "{ended:?}");
        let all = format!("{}{}", ended.out, ended.err);
        assert!(all.contains(why) && !all.contains("  met "), "{ended:?}");
        let xml = program.read("t.xml");
        let errors = format!("failures=\"0\" errors=\"{}\"", criteria.len());
        assert!(xml.contains(&errors), "{xml}");
        assert_eq!(xml.contains(why), !criteria.is_empty(), "{xml}");
        let markdown = program.read("s.md");
        assert!(markdown.contains(why) && !markdown.contains('✅'), "{markdown}");
    }
    assert_eq!(summary(&program)["criteria"]["outcome"], "undecided");
    // A criterion that is not met stays not met, and JMeter's command line ends with JMeter's exit code.
    assert_eq!(program.run(&[&line[..], &["--fail", "count > 9"]].concat()).code, 4);
    assert_eq!(program.run(&["-n", "-t", "plan.jmx"]).code, 0);
    let search = ["capacity", "plan.jmx", "--fail", "p95 < 1h", "--at-most", "2"];
    let ended = program.run(&[&search[..], &["--probe", "2s", "--settle", "1s"]].concat());
    assert!(ended.code == 6 && ended.err.contains(why), "{ended:?}");
}

#[test]
fn a_run_without_a_folder_does_not_say_that_the_plans_rate_was_reached() {
    let program = Program::new();
    let timer = r#"<ConstantThroughputTimer guiclass="TestBeanGUI" testclass="ConstantThroughputTimer" testname="Rate" enabled="true">
    <doubleProp><name>throughput</name><value>6000.0</value><savedValue>0.0</savedValue></doubleProp><intProp name="calcMode">0</intProp>
    </ConstantThroughputTimer><hashTree/>"#;
    program.write("paced.jmx", &program::PLAN.replace("<!--more-->", timer));
    // `plan.jmx` is a file, so the run's folder cannot be created below it.
    let line = ["run", "paced.jmx", "-Jms=200", "--users", "2", "--duration", "3s"];
    let line = [&line[..], &["--runs", "plan.jmx", "--fail", "p95 < 1h"]].concat();
    let ended = program.run(&line);
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.out.contains("of the starts were not made ("), "{}", ended.out);
    assert!(ended.out.contains("* The rate was not reached: "), "{}", ended.out);
}

#[test]
fn loops_that_an_error_stops_leave_work_unless_it_was_their_last_sample() {
    let in_transaction = |parent: &str, on_error: &str| {
        let transaction = format!(
            r#"<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="T" enabled="true"><boolProp name="TransactionController.parent">{parent}</boolProp></TransactionController><hashTree>"#
        );
        let plan = failing_plan(on_error, "");
        let plan = plan.replacen("<JavaSampler", &format!("{transaction}<JavaSampler"), 1);
        let end = plan.rfind("</hashTree>").and_then(|at| plan[..at].rfind("</hashTree>"));
        let end = end.and_then(|at| plan[..at].rfind("</hashTree>")).expect("the group's end");
        format!("{}</hashTree>{}", &plan[..end], &plan[end..])
    };
    let plans = |on_error: &str| {
        [
            failing_plan(on_error, ""),
            in_transaction("false", on_error),
            in_transaction("true", on_error),
        ]
    };
    for (on_error, users, loops, code) in [
        ("stoptest", "1", "200", 6),
        ("stoptest", "10", "200", 6),
        ("stoptestnow", "10", "200", 6),
        ("stopthread", "10", "200", 6),
        ("stoptest", "1", "1", 0),
        ("stopthread", "10", "1", 0),
    ] {
        for (n, plan) in plans(on_error).into_iter().enumerate() {
            let program = Program::new();
            program.write("plan.jmx", &plan);
            let (users, loops) = (format!("-Jusers={users}"), format!("-Jloops={loops}"));
            let line =
                ["run", "plan.jmx", &users, &loops, "--fail", "error% <= 100", "--junit", "t.xml"];
            let ended = program.run(&line);
            assert_eq!(ended.code, code, "{on_error} {users} {loops}, plan {n}: {ended:?}");
            let passed = program.read("t.xml").contains("failures=\"0\" errors=\"0\"");
            assert_eq!(passed, code == 0, "{}", program.read("t.xml"));
        }
    }
}

#[test]
fn a_guard_on_a_label_without_samples_is_undecided() {
    let program = Program::new();
    let plan = program::PLAN.replace("<!--more-->", "");
    let never = plan.replace("<JavaSampler", r#"<IfController guiclass="IfControllerPanel" testclass="IfController" testname="Never" enabled="true"><stringProp name="IfController.condition">false</stringProp><boolProp name="IfController.useExpression">true</boolProp></IfController><hashTree><DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="Fallback" enabled="true"/><hashTree/></hashTree><JavaSampler"#);
    program.write("plan.jmx", &never);
    let run = |guard: &str| program.run(&["run", "plan.jmx", "--abort-if", guard]);
    let ended = run("error% > 1 for label Fallback");
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.out.contains("UNDECIDED  abort if error% > 1%"), "{}", ended.out);
    assert_eq!(run("count > 5 for label Fallback").code, 0);
}
